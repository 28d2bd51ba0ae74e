//! From a question to a seated panel: nothing is sent yet, and a refusal costs nothing.

use std::sync::Arc;

use bytes::Bytes;
use catalog::{Endpoint, Model};
use plan::{ChosenShape, Collection, Seat, Seating, SeatingError, SeatingInput, Skipped, ids};
use wire::{
    ApiError, Content, Encoded, Kind, Member, Message, Notice, Origin, Part, Request, Role, Target,
    estimate_tokens,
};

use crate::{
    gateway::Gateway,
    setup::Snapshot,
    view::{LossyView, PanelState, PanelView, SeatKind, SeatStatus, SeatView, SkippedView},
};

/// A question from the window or the command line.
#[derive(Clone, Debug)]
pub struct Ask {
    pub collection: String,
    pub prompt: String,
    pub system: String,
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
    pub request: Request,
    pub client: String,
}

/// A panel with its seats, before anybody is asked.
pub(crate) struct Seated {
    pub id: String,
    pub at_ms: i64,
    pub asking: Asking,
    pub seats: Vec<SeatPlan>,
    pub skipped: Vec<Skipped>,
    pub shape: ChosenShape,
    /// What was dropped or changed on the way to the members.
    pub notices: Vec<Notice>,
    pub practice: bool,
    pub snapshot: Arc<Snapshot>,
    /// The gateway's estimate of what the question costs a seat, in tokens.
    pub estimate: u64,
}

/// One seat and all it needs to be asked.
pub(crate) struct SeatPlan {
    pub call: String,
    pub seat: Seat,
    pub model: Model,
    pub endpoint: Endpoint,
    /// The question in the member's dialect, without its body.
    pub encoded: Encoded,
    /// The body: attempts and the connection share it.
    pub body: Bytes,
}

impl Asking {
    /// A question typed by a person.
    pub(crate) fn typed(ask: Ask) -> Asking {
        let text = |role, text: String| Message::new(role, vec![Part::text(text)]);
        let mut messages = Vec::new();
        if !ask.system.trim().is_empty() {
            messages.push(text(Role::System, ask.system));
        }
        messages.push(text(Role::User, ask.prompt));
        let request = Request { model: format!("bench/{}", ask.collection), messages, ..Request::default() };
        Asking { collection: ask.collection, request, client: ask.client }
    }
}

impl Gateway {
    /// Begins a panel asked by a person at the window or the command line; it is watched by events.
    pub fn ask(&self, ask: Ask) -> Result<Asked, ApiError> {
        let seated = self.seat(Asking::typed(ask))?;
        let panel = seated.id.clone();
        // Nobody reads the updates: whoever asked watches the events.
        let watched = super::run(self, seated);
        watched.leave_running();
        Ok(Asked { panel })
    }

    /// Seats a panel (panel.md §3), or says with every reason why it cannot.
    pub(crate) fn seat(&self, asking: Asking) -> Result<Seated, ApiError> {
        let snapshot = self.snapshot();
        let Some(collection) = snapshot.collection(&asking.collection) else {
            return Err(unknown_collection(&snapshot, &asking.collection));
        };
        let request = &asking.request;
        let has_images = request.images().next().is_some();
        let (documents, audio) = (request.has_documents(), request.has_audio());
        if request.last_user_text().trim().is_empty() && !has_images && !documents && !audio {
            // In the caller's words: `messages`, `contents`, `input`, `prompt`.
            let said = request.messages.iter().rposition(|message| message.role != Role::System);
            let place = request.message_place(said.unwrap_or_default());
            let field = place.split(['[', '.']).next().unwrap_or_default();
            let message = format!("{field}: there is no user text and no image: put the question there");
            return Err(ApiError::invalid("empty_prompt", message));
        }
        let estimate = estimate_tokens(request);
        let Seating { seats, skipped, shape } = seating(&snapshot, collection, request, estimate)?;
        let at_ms = self.clock().now_ms();
        let id = ids::panel_id(at_ms, self.random());
        let seats: Vec<SeatPlan> = seats
            .into_iter()
            .filter_map(|seat| self.seat_plan(&id, seat, &snapshot, &asking.request))
            .collect();
        let mut notices: Vec<Notice> = Vec::new();
        for notice in seats.iter().flat_map(|seat| &seat.encoded.notices) {
            if !notices.contains(notice) {
                notices.push(notice.clone());
            }
        }
        let practice = snapshot.is_practice_collection(collection);
        Ok(Seated { id, at_ms, asking, seats, skipped, shape, notices, practice, snapshot, estimate })
    }

    fn seat_plan(&self, panel: &str, seat: Seat, snapshot: &Snapshot, request: &Request) -> Option<SeatPlan> {
        let model = snapshot.model(&seat.alias)?.clone();
        let endpoint = self.resolve(snapshot.endpoint(&model.endpoint)?);
        let target = self.target(&endpoint, &model, request);
        let mut encoded = wire::format(endpoint.api).encode_request(request, &target);
        let body = Bytes::from(std::mem::take(&mut encoded.body));
        Some(SeatPlan { call: ids::call_id(panel, &seat.seat), seat, model, endpoint, encoded, body })
    }

    /// The member as its dialect's encoder must know it.
    fn target(&self, endpoint: &Endpoint, model: &Model, request: &Request) -> Target {
        let member = Member::of(&endpoint.name, &model.served);
        let own = self.origins().own(request, member, None);
        Target {
            served: model.served.clone(),
            options: model.options.clone(),
            max_output: model.facts.max_output,
            callers_options: false,
            member,
            made: own.made,
            kept: own.kept,
            quirks: catalog::quirks(endpoint, model),
        }
    }
}

/// Who sits for a question of this size.
pub(crate) fn seating(
    snapshot: &Snapshot,
    collection: &Collection,
    request: &Request,
    estimate_tokens: u64,
) -> Result<Seating, SeatingError> {
    plan::seat_members(&SeatingInput {
        collection,
        models: &snapshot.setup.models,
        settings: &snapshot.setup.settings,
        has_images: request.images().next().is_some(),
        documents: request.has_documents(),
        audio: request.has_audio(),
        barred: &barred(snapshot, request),
        estimate_tokens,
        nominees: &request.with,
    })
}

/// Models whose API cannot say what the request holds, each with why.
fn barred(snapshot: &Snapshot, request: &Request) -> Vec<(String, String)> {
    let why = |model: &Model| {
        let api = snapshot.endpoint(&model.endpoint)?.api;
        let lacking = wire::format(api).rules().first_lacking(request)?;
        Some((model.alias.clone(), format!("its API takes no {lacking}")))
    };
    if request.parts().all(|part| part.content.as_text().is_some()) {
        return Vec::new();
    }
    snapshot.setup.models.iter().filter_map(why).collect()
}

impl Seated {
    /// The panel as it begins: everybody is waiting. A key that was pasted into the question is masked in what
    /// is shown and kept; the members get the question as it is.
    pub(crate) fn view(&self, gateway: &Gateway) -> PanelView {
        let request = &self.asking.request;
        let turns =
            request.messages.iter().filter(|message| matches!(message.role, Role::User | Role::Assistant));
        PanelView {
            id: self.id.clone(),
            collection: self.asking.collection.clone(),
            at: crate::clock::rfc3339(self.at_ms),
            client: self.asking.client.clone(),
            system: gateway.scrub(&request.system_text()),
            prompt: gateway.scrub(&prompt_for_record(request)),
            turns: turns.count() as u32,
            shape: self.shape.shape.name().to_owned(),
            shape_by: self.shape.by.to_owned(),
            reply: "all".to_owned(),
            state: PanelState::Running,
            seconds: None,
            seats: self.seats.iter().map(SeatPlan::view).collect(),
            skipped: self.skipped.iter().map(skipped_view).collect(),
            lossy: self.notices.iter().map(lossy_view).collect(),
            error: None,
            practice: self.practice,
        }
    }
}

impl SeatPlan {
    fn view(&self) -> SeatView {
        SeatView {
            call: self.call.clone(),
            seat: self.seat.seat.clone(),
            kind: SeatKind::Member,
            alias: self.model.alias.clone(),
            endpoint: self.endpoint.name.clone(),
            status: SeatStatus::Waiting,
            seconds: None,
            first_token_s: None,
            tokens_in: None,
            tokens_out: None,
            answer: String::new(),
            error: String::new(),
            verdict: None,
        }
    }
}

fn skipped_view(skipped: &Skipped) -> SkippedView {
    SkippedView { seat: skipped.seat.to_owned(), alias: skipped.alias.clone(), why: skipped.why.clone() }
}

fn lossy_view(notice: &Notice) -> LossyView {
    LossyView { field: notice.field.clone(), reason: notice.reason.clone() }
}

/// The last user turn as the record keeps it: text as it is, images as placeholders.
fn prompt_for_record(request: &Request) -> String {
    let Some(message) = request.messages.iter().rev().find(|message| message.role == Role::User) else {
        return String::new();
    };
    parts_for_record(message)
}

fn parts_for_record(message: &Message) -> String {
    let texts: Vec<String> = message
        .parts
        .iter()
        .map(|part| match &part.content {
            Content::Text(text) | Content::Refusal(text) => text.clone(),
            Content::Image(image) => image.source.placeholder(),
            content => format!("[{}]", content.kind()),
        })
        .collect();
    texts.join("\n")
}

/// Every turn as the record keeps it: a JSON list of role and text.
pub(crate) fn request_for_record(request: &Request) -> String {
    let turns: Vec<serde_json::Value> = request
        .messages
        .iter()
        .map(
            |message| serde_json::json!({"role": role_name(message.role), "text": parts_for_record(message)}),
        )
        .collect();
    serde_json::Value::Array(turns).to_string()
}

fn role_name(role: Role) -> &'static str {
    match role {
        Role::System => "system",
        Role::Developer => "developer",
        Role::User => "user",
        Role::Assistant => "assistant",
        Role::Tool => "tool",
    }
}

/// 404, with every collection there is, so that a caller learns what it can ask for.
pub(crate) fn unknown_collection(snapshot: &Snapshot, name: &str) -> ApiError {
    let name = wire::redact::shorten(name, 80);
    let message = format!("no collection \"{name}\". {}", collections_in_words(snapshot));
    ApiError::new(Kind::NotFound, Origin::Client, "collection_not_found", message)
}

pub(crate) fn collections_in_words(snapshot: &Snapshot) -> String {
    if snapshot.setup.collections.is_empty() {
        return "There are no collections yet: make one in the Benchwarmers window, or with `bench import`."
            .to_owned();
    }
    let list: Vec<String> = snapshot
        .setup
        .collections
        .iter()
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
    format!("Ask for one of: {}.", list.join("; "))
}
