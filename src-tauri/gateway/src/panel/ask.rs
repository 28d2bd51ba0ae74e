//! From a question to a seated panel: nothing is sent yet, and a refusal costs nothing.

use std::sync::Arc;

use bytes::Bytes;
use catalog::{Endpoint, Model};
use plan::{
    ChosenShape, Collection, Evidence, Registered, Seat, SeatKind, SeatingInput, Skipped, Unavailable, ids,
    picker::{self, NoAnswer},
};
use serde_json::json;
use wire::{
    ApiError, Dialect, Encoded, Kind, Member, Notice, Origin, ReplyMode, Request, Role, Route, Target,
    estimate_tokens,
};

use super::{as_text::prompt_for_record, reply::Outline};
use crate::{
    callers::{self, Caller},
    evidence::Held,
    gateway::Gateway,
    setup::Snapshot,
    view::{LossyView, PanelState, PanelView, SeatStatus, SeatView, SkippedView},
};

/// Of the name of whoever asks, in characters.
const CLIENT: usize = 60;

/// A question from the window or the command line.
#[derive(Clone, Debug, Default)]
pub struct Ask {
    pub collection: String,
    pub prompt: String,
    pub system: String,
    /// `data:image/…;base64,…` or http(s) URLs.
    pub images: Vec<String>,
    /// Nominees.
    pub with: Vec<String>,
    /// `None` is the collection's own.
    pub reply: Option<ReplyMode>,
    /// Who asks, for the record: `window`, `bench ask`.
    pub client: String,
}

/// A panel that has begun; it is watched by its events.
#[derive(Clone, Debug)]
pub struct Asked {
    pub panel: String,
}

/// A question as the gateway has read it, whatever way it came.
pub(crate) struct Asking {
    /// The collection's bare name.
    pub collection: String,
    /// `All` or `Merged`.
    pub reply: ReplyMode,
    pub request: Request,
    pub caller: Caller,
    pub client: String,
}

/// A panel: what was asked, and all that stays as it is while it runs.
pub(crate) struct Panel {
    pub id: String,
    pub at_ms: i64,
    pub asking: Asking,
    pub collection: Collection,
    pub practice: bool,
    pub snapshot: Arc<Snapshot>,
    /// The gateway's estimate of what the question costs a seat, in tokens.
    pub estimate: u64,
    /// Most questions are: any API can say those.
    only_text: bool,
}

/// A panel with its first seats, before anybody is asked.
pub(crate) struct Seated {
    pub panel: Arc<Panel>,
    pub seats: Vec<SeatPlan>,
    pub skipped: Vec<Skipped>,
    /// `None` while the shape picker is still to be asked, and explorers to be seated.
    pub shape: Option<ChosenShape>,
    /// What was dropped or changed on the way to the members.
    pub notices: Vec<Notice>,
}

/// One seat and all it needs to be asked.
pub(crate) struct SeatPlan {
    pub call: String,
    pub seat: Seat,
    /// Members in their order, then explorers; a stand-in has its member's.
    pub order: usize,
    pub stood_in_for: Option<String>,
    pub model: Model,
    pub endpoint: Endpoint,
    /// What a merger is asked; the others are asked the panel's question.
    pub merge: Option<Arc<Request>>,
    /// The question in the member's dialect, without its body.
    pub encoded: Encoded,
    /// The body: attempts and the connection share it.
    pub body: Bytes,
    pub held: Held,
}

impl Asking {
    /// A question typed by a person.
    fn typed(ask: Ask, reply: ReplyMode) -> Result<Asking, ApiError> {
        // As any client's question, so that it is held to the same rules.
        let mut parts = vec![json!({"type": "text", "text": ask.prompt})];
        // Providers refuse a text that is empty; beside an image it is not needed.
        parts.retain(|_| ask.images.is_empty() || !ask.prompt.trim().is_empty());
        parts.extend(ask.images.iter().map(|url| json!({"type": "image_url", "image_url": {"url": url}})));
        let mut messages = vec![json!({"role": "user", "content": parts})];
        if !ask.system.trim().is_empty() {
            messages.insert(0, json!({"role": "system", "content": ask.system}));
        }
        let model = format!("bench/{}", ask.collection);
        let body = json!({"model": model, "messages": messages, "with": ask.with}).to_string();
        let request = wire::format(Dialect::Chat).decode_request(body.as_bytes(), &Route::default())?;
        let caller = Caller::default();
        Ok(Asking { collection: ask.collection, reply, request, caller, client: ask.client })
    }
}

impl Gateway {
    /// Begins a panel asked by a person at the window or the command line; it is watched by events.
    pub fn ask(&self, ask: Ask) -> Result<Asked, ApiError> {
        let snapshot = self.snapshot();
        let set = snapshot.collection(&ask.collection).map(|collection| collection.reply);
        // A person has no turns for a collection to route: they see what every member says.
        let client = wire::redact::shorten(&self.scrub(&ask.client), CLIENT);
        let ask = Ask { client, ..ask };
        let reply = match ask.reply.or(set) {
            Some(ReplyMode::Merged) => ReplyMode::Merged,
            _ => ReplyMode::All,
        };
        let seated = self.seat(Asking::typed(ask, reply)?)?;
        let panel = seated.panel.id.clone();
        // Nobody reads the updates: whoever asked watches the events.
        let watched = super::run(self, seated);
        watched.leave_running();
        Ok(Asked { panel })
    }

    /// Seats a panel (panel.md §3), or says with every reason why it cannot.
    pub(crate) fn seat(&self, asking: Asking) -> Result<Seated, ApiError> {
        let snapshot = self.snapshot();
        let Some(collection) = snapshot.collection(&asking.collection) else {
            return Err(unknown_collection(&snapshot, &asking.caller, &asking.collection));
        };
        self.within_budget(&snapshot, collection, &asking.caller)?;
        let panel = Panel::new(self, asking, collection.clone(), snapshot.clone());
        if !panel.asks_something() {
            // In the caller's words: `messages`, `contents`, `input`, `prompt`.
            let request = &panel.asking.request;
            let said = request.messages.iter().rposition(|message| message.role != Role::System);
            let place = request.message_place(said.unwrap_or_default());
            let field = place.split(['[', '.']).next().unwrap_or_default();
            let message = format!("{field}: there is no user text and no image: put the question there");
            return Err(ApiError::invalid("empty_prompt", message));
        }
        let (seats, (skipped, shape)) = self.choose(&panel, |input| {
            let shape = plan::shape_without_picker(input)?;
            let pending = shape.is_none() && picker::decider(input).is_some();
            let shape =
                shape.unwrap_or_else(|| picker::chosen(input.roster.shapes(), "", Err(NoAnswer::NoDecider)));
            let mut seating = plan::seat(input, &shape)?;
            if pending {
                // Members do not depend on the shape: they are asked while the picker thinks.
                seating.seats.retain(|seat| seat.kind == SeatKind::Member);
            }
            Ok::<_, ApiError>((seating.seats, (seating.skipped, (!pending).then_some(shape))))
        })?;
        let seats = self.plan_seats(&panel, seats);
        let mut notices: Vec<Notice> = Vec::new();
        for notice in seats.iter().flat_map(|seat| &seat.encoded.notices) {
            if !notices.contains(notice) {
                notices.push(notice.clone());
            }
        }
        Ok(Seated { panel: Arc::new(panel), seats, skipped, shape, notices })
    }

    /// Lets `decide` choose seats by the evidence of now, and takes them in the same step, so that no other
    /// panel is seated in between.
    pub(crate) fn choose<T, E>(
        &self,
        panel: &Panel,
        decide: impl FnOnce(&SeatingInput<'_>) -> Result<(Vec<Seat>, T), E>,
    ) -> Result<(Vec<(Seat, Held)>, T), E> {
        let now_ms = self.clock().now_ms();
        let mut evidence = self.known().evidence();
        let (seats, rest) = self.by(&evidence, panel, now_ms, decide)?;
        let seats = seats
            .into_iter()
            .map(|seat| {
                let held = Held::take(self, &mut evidence, &seat.alias, now_ms);
                (seat, held)
            })
            .collect();
        Ok((seats, rest))
    }

    /// Looks at what seating the panel would be decided by, without taking a seat.
    pub(crate) fn look<T>(&self, panel: &Panel, look: impl FnOnce(&SeatingInput<'_>) -> T) -> T {
        let now_ms = self.clock().now_ms();
        self.by(&self.known().evidence(), panel, now_ms, look)
    }

    fn by<T>(
        &self,
        evidence: &Evidence,
        panel: &Panel,
        now_ms: i64,
        decide: impl FnOnce(&SeatingInput<'_>) -> T,
    ) -> T {
        let unavailable = |model: &Model| self.unavailable(&panel.snapshot, model, now_ms);
        let barred = |model: &Model| panel.barred(model);
        decide(&panel.input(evidence, &unavailable, &barred, now_ms))
    }

    /// The seats with the question in each one's dialect. Not to be called under the evidence's lock.
    pub(crate) fn plan_seats(&self, panel: &Panel, seats: Vec<(Seat, Held)>) -> Vec<SeatPlan> {
        seats.into_iter().filter_map(|(seat, held)| self.seat_plan(panel, seat, held, None)).collect()
    }

    /// One seat, asked the panel's question or, a merger, `merge`. `None` when its model or endpoint has just been removed.
    pub(crate) fn seat_plan(
        &self,
        panel: &Panel,
        seat: Seat,
        held: Held,
        merge: Option<Arc<Request>>,
    ) -> Option<SeatPlan> {
        let it = panel.snapshot.roster.get(&seat.alias)?;
        let model = it.model.clone();
        let endpoint = self.resolve(panel.snapshot.endpoint(&model.endpoint)?);
        let request = merge.as_deref().unwrap_or(&panel.asking.request);
        let (encoded, body) = self.encode_for(it, &endpoint, request, false);
        let call = ids::call_id(&panel.id, &seat.seat);
        let order = order(&seat);
        Some(SeatPlan { call, seat, order, stood_in_for: None, model, endpoint, merge, encoded, body, held })
    }

    /// The member as its dialect's encoder must know it; `conversation` is a routed one's id.
    pub(crate) fn target(&self, it: &Registered, request: &Request, conversation: Option<&str>) -> Target {
        let model = &it.model;
        let member = Member::of(&model.endpoint, &model.served);
        let own = self.origins().own(request, member, conversation);
        Target {
            served: model.served.clone(),
            options: self.options(it),
            max_output: model.facts.max_output,
            callers_options: false,
            member,
            made: own.made,
            foreign: own.foreign,
            kept: own.kept,
            quirks: self.quirks(it),
        }
    }
}

/// Where a seat's section stands: members by their number, then explorers, then the merger.
fn order(seat: &Seat) -> usize {
    let number = |name: &str| name.split('.').next().and_then(|digits| digits.parse().ok());
    match seat.kind {
        SeatKind::Member | SeatKind::Reserve => {
            seat.seat.strip_prefix("member").and_then(number).unwrap_or_default()
        }
        SeatKind::Explorer => 100 + seat.seat.strip_prefix("explorer").and_then(number).unwrap_or(1),
        SeatKind::Merger => 1000,
    }
}

impl Panel {
    pub(crate) fn new(
        gateway: &Gateway,
        asking: Asking,
        collection: Collection,
        snapshot: Arc<Snapshot>,
    ) -> Panel {
        let at_ms = gateway.clock().now_ms();
        let only_text = asking.request.parts().all(|part| part.content.as_text().is_some());
        Panel {
            id: ids::panel_id(at_ms, gateway.random()),
            at_ms,
            practice: snapshot.is_practice_collection(&collection),
            estimate: estimate_tokens(&asking.request),
            only_text,
            asking,
            collection,
            snapshot,
        }
    }

    fn asks_something(&self) -> bool {
        let request = &self.asking.request;
        !request.last_user_text().trim().is_empty()
            || request.images().next().is_some()
            || request.has_documents()
            || request.has_audio()
    }

    fn input<'a>(
        &'a self,
        evidence: &'a Evidence,
        unavailable: &'a dyn Fn(&Model) -> Option<Unavailable>,
        barred: &'a dyn Fn(&Model) -> Option<String>,
        now_ms: i64,
    ) -> SeatingInput<'a> {
        let request = &self.asking.request;
        let setup = &self.snapshot.setup;
        SeatingInput {
            collection: &self.collection,
            roster: &self.snapshot.roster,
            settings: &setup.settings,
            evidence,
            unavailable,
            has_images: request.images().next().is_some(),
            documents: request.has_documents(),
            audio: request.has_audio(),
            barred,
            estimate_tokens: self.estimate,
            nominees: &request.with,
            now_ms,
        }
    }

    /// Why a model's API cannot say what the question holds.
    fn barred(&self, model: &Model) -> Option<String> {
        if self.only_text {
            return None;
        }
        let api = self.snapshot.endpoint(&model.endpoint)?.api;
        let lacking = wire::format(api).rules().first_lacking(&self.asking.request)?;
        Some(format!("its API takes no {lacking}"))
    }

    /// The panel as it begins: everybody is waiting. A key that was pasted into the question is masked in what
    /// is shown and kept; the members get the question as it is.
    pub(crate) fn view(
        &self,
        gateway: &Gateway,
        shape: Option<&ChosenShape>,
        skipped: &[Skipped],
        notices: &[Notice],
    ) -> PanelView {
        let request = &self.asking.request;
        let turns =
            request.messages.iter().filter(|message| matches!(message.role, Role::User | Role::Assistant));
        PanelView {
            id: self.id.clone(),
            collection: self.asking.collection.clone(),
            at: crate::clock::rfc3339(self.at_ms),
            client: self.asking.client.clone(),
            caller: callers::shown(self.asking.caller.name()),
            system: gateway.scrub(&request.system_text()),
            prompt: gateway.scrub(&prompt_for_record(request)),
            turns: turns.count() as u32,
            shape: shape.map(|shape| shape.shape.name().to_owned()).unwrap_or_default(),
            shape_by: shape.map(|shape| shape.by.clone()).unwrap_or_default(),
            reply: reply_word(self.asking.reply).to_owned(),
            state: PanelState::Running,
            seconds: None,
            seats: Vec::new(),
            skipped: skipped_views(skipped),
            failed_over: Vec::new(),
            note: None,
            lossy: notices.iter().map(|notice| lossy_view(gateway, notice)).collect(),
            error: None,
            practice: self.practice,
        }
    }

    /// What a reply says of it.
    pub(crate) fn outline<'a>(
        &'a self,
        shape: &'a ChosenShape,
        seats: &[Seat],
        skipped: &'a [Skipped],
    ) -> Outline<'a> {
        let count = |kind: SeatKind| seats.iter().filter(|seat| seat.kind == kind).count();
        Outline {
            id: &self.id,
            collection: &self.asking.collection,
            shape: shape.shape.name(),
            shape_by: &shape.by,
            members: count(SeatKind::Member),
            explorers: count(SeatKind::Explorer),
            skipped,
        }
    }
}

pub(crate) fn reply_word(reply: ReplyMode) -> &'static str {
    match reply {
        ReplyMode::All => "all",
        ReplyMode::Merged => "merged",
        ReplyMode::Route => "route",
    }
}

pub(crate) fn skipped_views(skipped: &[Skipped]) -> Vec<SkippedView> {
    let view = |skipped: &Skipped| SkippedView {
        seat: skipped.seat.to_owned(),
        alias: skipped.alias.clone(),
        why: skipped.why.clone(),
    };
    skipped.iter().map(view).collect()
}

impl SeatPlan {
    pub(crate) fn view(&self) -> SeatView {
        SeatView {
            call: self.call.clone(),
            seat: self.seat.seat.clone(),
            kind: self.seat.kind.into(),
            alias: self.model.alias.clone(),
            endpoint: self.endpoint.name.clone(),
            why: self.why().to_owned(),
            stood_in_for: self.stood_in_for.clone(),
            status: SeatStatus::Waiting,
            seconds: None,
            first_token_s: None,
            tokens_in: None,
            tokens_out: None,
            cost: None,
            swapped_for: None,
            answer: String::new(),
            error: String::new(),
            verdict: None,
        }
    }

    /// Why it was chosen; that a member is one needs no saying.
    pub(crate) fn why(&self) -> &str {
        if self.seat.kind == SeatKind::Member { "" } else { &self.seat.why }
    }
}

/// A field that nobody knows is called what its caller called it: a key, perhaps.
pub(crate) fn lossy_view(gateway: &Gateway, notice: &Notice) -> LossyView {
    let field = gateway.mask(&notice.field).unwrap_or_else(|| notice.field.clone());
    LossyView { field, reason: notice.reason.clone() }
}

/// 404, with every collection that the caller may use, so that a caller learns what it can ask for.
pub(crate) fn unknown_collection(snapshot: &Snapshot, caller: &Caller, name: &str) -> ApiError {
    let name = wire::redact::shorten(name, 80);
    let message = format!("no collection \"{name}\". {}", collections_in_words(snapshot, caller));
    ApiError::new(Kind::NotFound, Origin::Client, "collection_not_found", message)
}

pub(crate) fn collections_in_words(snapshot: &Snapshot, caller: &Caller) -> String {
    if snapshot.setup.collections.is_empty() {
        return "There are no collections yet: make one in the Benchwarmers window, or with `bench import`."
            .to_owned();
    }
    let usable = snapshot.setup.collections.iter().filter(|it| caller.may_use(&it.name));
    let list: Vec<String> = usable
        .map(|collection| {
            let mut line = format!("bench/{}", collection.name);
            if !collection.description.is_empty() {
                line.push_str(&format!(" ({})", collection.description));
            }
            if !collection.tags.is_empty() {
                line.push_str(&format!(" [{}]", collection.tags.join(", ")));
            }
            line
        })
        .collect();
    if list.is_empty() {
        return "None of the collections that the key may use is there any more.".to_owned();
    }
    format!("Ask for one of: {}.", list.join("; "))
}
