//! Route mode: one member takes the turn as it was sent, and its answer is the reply (route.md).

mod answering;
mod asked;
mod commit;
mod conversations;
mod failure;
mod identity;
mod record;
mod shadow;
mod stream;
mod watch;
mod whole;

use std::{sync::Arc, time::Duration};

use http::HeaderMap;
use plan::{Candidate, Collection, OnHangup, SeatingInput, TurnInput, turn_order};
use serde_json::{Value, json};
use tokio::time::Instant;
use wire::{ApiError, Json, Request, estimate_tokens};

pub(crate) use conversations::Conversations;
pub(crate) use failure::{AsItIs, Refusal};
pub(crate) use stream::{Begun, Streaming};

use self::{
    commit::{Features, Patience},
    record::{Began, Record},
};
use crate::{
    callers::{self, Caller},
    clock::rfc3339,
    facts::has_images,
    gateway::Gateway,
    panel::{HOW_TO_JUDGE, request_for_record},
    setup::Snapshot,
    view::{ConversationView, TurnStatus},
};

/// A turn as the gateway has read it.
pub(crate) struct Taking {
    /// What was asked for: a collection, or one model under its own name.
    pub collection: Collection,
    /// The model was asked for by its own name.
    pub by_name: bool,
    pub request: Request,
    /// As the caller sent it.
    pub body: Json,
    /// Behind the path's `?`, as the caller sent it.
    pub query: String,
    /// The caller's headers that switch features of its API.
    pub features: Vec<(&'static str, String)>,
    pub headers: HeaderMap,
    pub caller: Caller,
    pub client: String,
    pub begun: Instant,
}

/// A turn on its way.
pub(crate) struct Turn {
    gateway: Gateway,
    snapshot: Arc<Snapshot>,
    collection: Collection,
    caller: Caller,
    request: Request,
    body: Json,
    features: Features,
    /// The conversation's id, and its key.
    conversation: String,
    key: String,
    order: Vec<Candidate>,
    /// The gateway's estimate of what the turn holds, in tokens.
    estimate: u64,
    record: Record,
    patience: Patience,
    early: bool,
    /// Other members are put the same turn when it has been answered.
    shadowed: bool,
    /// The answer's text is kept.
    keeps_text: bool,
}

impl Turn {
    /// Orders the members and opens the record; nothing is sent yet. Keys are known by now, that none is recorded.
    pub(crate) fn begin(gateway: &Gateway, taking: Taking) -> Result<Box<Turn>, ApiError> {
        let Taking { collection, by_name, request, body, query, features, headers, caller, client, begun } =
            taking;
        let snapshot = gateway.snapshot();
        gateway.within_budget(&snapshot, &collection, &caller)?;
        let settings = &snapshot.setup.settings;
        let now_ms = gateway.clock().now_ms();
        let key = identity::key(&collection.name, caller.name(), &request, &headers);
        let new = || ConversationView {
            id: plan::ids::conversation_id(now_ms, gateway.random()),
            collection: collection.name.clone(),
            at: rfc3339(now_ms),
            last_at: rfc3339(now_ms),
            client,
            caller: callers::shown(caller.name()),
            title: identity::title(&request, |text| gateway.scrub(text)),
            status: TurnStatus::Running,
            practice: snapshot.is_practice_collection(&collection),
            ..ConversationView::default()
        };
        let estimate = estimate_tokens(&request);
        let asks = Asks {
            estimate,
            gateway,
            snapshot: &snapshot,
            collection: &collection,
            request: &request,
            by_name,
        };
        let idle_ms = i64::from(settings.conversation_minutes) * 60_000;
        // Placed in one step, so that two first turns at once are one conversation, with one model.
        let mut known = gateway.conversations().lock();
        known.end_if_over(&key, now_ms, idle_ms);
        let kept = known.get(&key).and_then(|it| it.kept().map(str::to_owned));
        let order = asks.order(kept.as_deref(), now_ms)?;
        let it = known.at_work(&key, now_ms, idle_ms, new);
        it.begin(&order.candidates[0].alias, now_ms);
        let (conversation, first_ms) = (it.view.clone(), it.at_ms);
        drop(known);

        let id = conversation.id.clone();
        let keeps_text = settings.keep_route_text;
        let question = match keeps_text {
            true => gateway.scrub(&request_for_record(&request)),
            false => String::new(),
        };
        let shadowed = collection.shadow > 0 && gateway.chance() < collection.shadow_share;
        let candidates = order.candidates.clone();
        let shape = collection.shape_or_general();
        let api = request.dialect;
        let record = Record::begin(
            gateway,
            Began {
                key: key.clone(),
                conversation,
                caller: caller.name().to_owned(),
                first_ms,
                at_ms: now_ms,
                begun,
                shape,
                api,
                order,
                question,
            },
        );
        let seconds = |seconds: u32| Duration::from_secs(seconds.into());
        Ok(Box::new(Turn {
            gateway: gateway.clone(),
            patience: Patience {
                idle: seconds(settings.idle_seconds),
                whole: seconds(settings.seat_seconds),
            },
            early: settings.show_reasoning_early,
            shadowed,
            // A shadow is judged beside it.
            keeps_text: keeps_text || shadowed,
            snapshot,
            collection,
            caller,
            request,
            body,
            features: Features::new(api, features, &query),
            conversation: id,
            key,
            order: candidates,
            estimate,
            record,
        }))
    }

    pub(crate) fn conversation(&self) -> &str {
        &self.conversation
    }

    /// A member has it: what was asked is not needed while its answer goes out, but by shadows. Many agents stream for
    /// minutes, and ask much.
    fn forget_question(&mut self) {
        if !self.shadowed {
            self.body = Json::default();
            self.request.messages = Vec::new();
            self.request.tools = Vec::new();
        }
    }

    /// What becomes of it when its caller hangs up.
    pub(crate) fn finishes_alone(&self) -> bool {
        self.snapshot.setup.settings.route_on_hangup == OnHangup::Finish
    }

    /// The `bench` object of its reply (route.md §5).
    fn bench(&self) -> Value {
        let Some(turn) = self.record.view() else { return Value::Null };
        let mut bench = json!({
            "collection": format!("bench/{}", self.collection.name),
            "reply": "route",
            "conversation": turn.conversation,
        });
        // Where nobody answered there is none.
        if !turn.call.is_empty() {
            bench["call"] = json!(turn.call);
        }
        bench["alias"] = json!(turn.alias);
        bench["turn"] = json!(turn.turn);
        if !turn.failed_over.is_empty() {
            bench["failed_over"] = json!(turn.failed_over);
        }
        if !turn.skipped.is_empty() {
            bench["skipped"] = json!(turn.skipped);
        }
        bench["verdict"] = json!(HOW_TO_JUDGE);
        bench
    }
}

impl Gateway {
    /// Whose the conversation is that this request of a caller's belongs to.
    pub(crate) fn kept_model(
        &self,
        collection: &Collection,
        caller: &Caller,
        request: &Request,
        headers: &HeaderMap,
    ) -> Option<String> {
        let key = identity::key(&collection.name, caller.name(), request, headers);
        self.conversations().lock().get(&key).and_then(|it| it.kept().map(str::to_owned))
    }
}

/// What ordering the members looks at.
struct Asks<'a> {
    gateway: &'a Gateway,
    snapshot: &'a Snapshot,
    collection: &'a Collection,
    request: &'a Request,
    by_name: bool,
    estimate: u64,
}

impl Asks<'_> {
    fn order(&self, kept: Option<&str>, now_ms: i64) -> Result<plan::TurnOrder, ApiError> {
        let Asks { gateway, snapshot, collection, request, by_name, estimate } = *self;
        let settings = &snapshot.setup.settings;
        let bound = request.bound();
        let unavailable = |model: &catalog::Model| gateway.unavailable(snapshot, model, now_ms);
        let barred = |model: &catalog::Model| {
            let api = snapshot.endpoint(&model.endpoint)?.api;
            if api == request.dialect {
                return None;
            }
            match &bound {
                Some(error) => Some(format!("it is no member of the caller's API: {}", error.message)),
                None => {
                    let lacking = wire::format(api).rules().first_lacking(request)?;
                    Some(format!("its API takes no {lacking}"))
                }
            }
        };
        let evidence = gateway.known().evidence();
        let seating = SeatingInput {
            collection,
            roster: &snapshot.roster,
            settings,
            evidence: &evidence,
            unavailable: &unavailable,
            has_images: has_images(request),
            documents: request.has_documents(),
            audio: request.has_audio(),
            barred: &barred,
            estimate_tokens: estimate,
            nominees: &[],
            now_ms,
        };
        let rotates = kept.is_none() && gateway.chance() < settings.rotate;
        let tools = request.tool_use().is_some();
        turn_order(&TurnInput { seating, tools, by_name, kept, rotates }).map_err(|error| match bound {
            // What binds the request is named with the way out.
            Some(bound) if error.code == "content_not_taken" => bound,
            _ => error.into(),
        })
    }
}
