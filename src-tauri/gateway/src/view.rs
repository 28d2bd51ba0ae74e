//! What a panel looks like from outside: on the bus, in the window, in `bench … --json`.

mod keys;
mod limits;
mod onboarding;
mod records;
mod refresh;
mod turns;

use serde::{Deserialize, Serialize};
use ts_rs::TS;

pub use keys::{GatewayKeyView, KeySpending, KeyStanding};
pub use limits::{
    BudgetView, ConnectionLimits, CoolingView, LimitsView, QuotaView, RuleView, Spend, SpendBy, SpendRow,
    StatedView,
};
pub use onboarding::{OnboardingItem, OnboardingLog, OnboardingOutcome, OnboardingQueue, OnboardingState};
pub use records::{ModelRecord, ModelState};
pub use refresh::{CatalogSource, CatalogView};
pub use turns::{
    CandidateView, ConversationView, RoutedCall, TurnFailedOver, TurnStatus, TurnView, WhyThisModel,
};

/// A panel, running or ended.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct PanelView {
    /// `p20261129-154501-9f3a6c01`
    pub id: String,
    /// The collection's bare name: `core`.
    pub collection: String,
    /// When it was asked: RFC 3339, UTC.
    pub at: String,
    /// Who asked: a client's short name (`opencode`, `OpenAI/Python`), `window`, `bench ask`.
    pub client: String,
    /// The gateway key that it was asked with; absent where it was asked without one, on this machine.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub caller: Option<String>,
    pub system: String,
    /// The last user turn; images as placeholders.
    pub prompt: String,
    /// Turns in the conversation that was sent, system turns not counted.
    pub turns: u32,
    pub shape: String,
    pub shape_by: String,
    /// `all`, `merged`; once ended, the one that was given.
    pub reply: String,
    pub state: PanelState,
    /// Whole time, once ended.
    pub seconds: Option<f64>,
    /// In seating order, then those that joined as it ran: explorers, stand-ins, the merger.
    pub seats: Vec<SeatView>,
    pub skipped: Vec<SkippedView>,
    pub failed_over: Vec<FailedOverView>,
    /// Why the reply is not the one that was asked for.
    pub note: Option<String>,
    /// What was left out or changed on the way to the members.
    pub lossy: Vec<LossyView>,
    /// Why nobody answered, when nobody did.
    pub error: Option<String>,
    /// A panel of practice models: its record is kept apart.
    pub practice: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "lowercase")]
pub enum PanelState {
    Running,
    Done,
    /// No seat answered.
    Failed,
    /// The gateway stopped while it ran.
    Interrupted,
}

#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct SeatView {
    /// `<panel>.member1`: what a verdict is about.
    pub call: String,
    /// `member1`, `explorer`, `merger`; a stand-in's is `member1.r1`.
    pub seat: String,
    pub kind: SeatKind,
    pub alias: String,
    pub endpoint: String,
    /// Why it was chosen, in words; empty for a member.
    pub why: String,
    /// The alias whose seat it took.
    pub stood_in_for: Option<String>,
    pub status: SeatStatus,
    /// Whole time, once ended.
    pub seconds: Option<f64>,
    pub first_token_s: Option<f64>,
    #[ts(type = "number | null")]
    pub tokens_in: Option<u64>,
    #[ts(type = "number | null")]
    pub tokens_out: Option<u64>,
    /// US dollars, where the price and the usage are known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub cost: Option<f64>,
    /// The model the provider says answered, where it is another than was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub swapped_for: Option<String>,
    /// Markdown, as far as it has come.
    pub answer: String,
    /// Redacted; empty when it answered.
    pub error: String,
    pub verdict: Option<VerdictView>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "lowercase")]
pub enum SeatKind {
    Member,
    Explorer,
    Merger,
    Reserve,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "lowercase")]
pub enum SeatStatus {
    /// Asked, nothing has come.
    Waiting,
    /// Pieces are coming.
    Answering,
    Ok,
    Empty,
    Error,
    /// The panel was answered without it; it runs on.
    Late,
    /// The gateway stopped, or the caller's hang-up cancelled it.
    Cancelled,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
pub struct SkippedView {
    /// `member`
    pub seat: String,
    pub alias: String,
    pub why: String,
}

impl From<plan::SeatKind> for SeatKind {
    fn from(kind: plan::SeatKind) -> SeatKind {
        match kind {
            plan::SeatKind::Member => SeatKind::Member,
            plan::SeatKind::Explorer => SeatKind::Explorer,
            plan::SeatKind::Merger => SeatKind::Merger,
            plan::SeatKind::Reserve => SeatKind::Reserve,
        }
    }
}

/// A seat that passed to another model because the first could not answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct FailedOverView {
    /// `member1`
    pub seat: String,
    /// The call that failed.
    pub call: String,
    /// The alias that failed, and the one that took its seat.
    pub from: String,
    pub to: String,
    pub why: String,
}

/// A panel as it would be seated now, and why.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
pub struct PanelPreview {
    pub shape: String,
    pub shape_by: String,
    /// Members, then explorers.
    pub seats: Vec<PreviewSeat>,
    pub skipped: Vec<SkippedView>,
    /// Why nobody would sit, when nobody would.
    pub refused: Option<String>,
    /// Who would stand in for a member that fails, in order.
    pub reserves: Vec<PreviewModel>,
    /// The model the shape is best left to, and the one after it.
    pub primary: Option<PreviewModel>,
    pub second: Option<PreviewModel>,
    /// How many models could be picked beside the members.
    pub candidates: u32,
    /// The others, by why not; the largest group first.
    pub not_candidates: Vec<PreviewGroup>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
pub struct PreviewSeat {
    pub seat: String,
    pub kind: SeatKind,
    pub alias: String,
    pub why: String,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
pub struct PreviewModel {
    pub alias: String,
    /// With counts; `no evidence yet` when there is none.
    pub why: String,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
pub struct PreviewGroup {
    pub why: String,
    pub count: u32,
    /// The first few of them.
    pub some: Vec<String>,
}

/// One field of the question that did not reach a member as it was sent.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
pub struct LossyView {
    /// As the caller named it: `temperature`, `messages[2].content[0]`.
    pub field: String,
    /// `ignored by a panel`
    pub reason: String,
}

/// A person's judgement of a call.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
pub struct VerdictView {
    pub call: String,
    pub useful: bool,
    pub note: String,
    pub real: Vec<String>,
    #[serde(rename = "false")]
    pub false_claims: Vec<String>,
    /// RFC 3339, UTC.
    pub at: String,
}

/// Whether calls are being written down.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
pub struct Recording {
    pub ok: bool,
    /// Empty when it is ok; else what stopped it and what to do.
    pub message: String,
}

/// Something the owner should know, raised as a notification and shown in the window.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
pub struct Alert {
    pub kind: AlertKind,
    /// What it is about: an endpoint's or a collection's name. One alert a kind and subject stands at a time.
    pub subject: String,
    pub message: String,
    /// RFC 3339, UTC.
    pub at: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum AlertKind {
    /// A panel in which no seat answered.
    PanelFailed,
    /// A seat passed to a stand-in. It never stands: it is told once, as [`LiveEvent::Noticed`].
    FailedOver,
    /// A turn passed to another model. Told once too; its subject is the collection.
    TurnFailedOver,
    /// A provider refused an endpoint's key.
    KeyRefused,
    RecordingStopped,
    /// The records were damaged and were moved aside.
    RecordsMoved,
    /// The wanted port was taken; another is used.
    PortTaken,
    /// A model that was free costs money now, and is not called until its owner allows it. Its subject is the alias.
    WentPaid,
    /// A model has failed for days in a way that waiting does not mend. Its subject is the alias.
    Retiring,
}

/// What happens, as it happens. The first event of every subscription is `snapshot`, so a listener needs no
/// second question and misses nothing.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum LiveEvent {
    /// Running panels and the newest ended ones, newest first, with standing alerts.
    Snapshot {
        panels: Vec<PanelView>,
        alerts: Vec<Alert>,
        /// Routed conversations, the newest turn first.
        conversations: Vec<ConversationView>,
    },
    PanelStarted {
        panel: PanelView,
    },
    /// A piece of a seat's answer. `at` is the length in UTF-16 code units of what came before it, so that a
    /// listener can see a gap or a repeat.
    SeatDelta {
        panel: String,
        call: String,
        at: u32,
        text: String,
    },
    /// A running panel asks one more model: an explorer, a stand-in, the merger.
    SeatAdded {
        panel: String,
        seat: SeatView,
    },
    /// Explorers were chosen once the shape was known.
    PanelShaped {
        panel: String,
        shape: String,
        shape_by: String,
        skipped: Vec<SkippedView>,
    },
    /// A seat passed to a stand-in, which is added with its own event.
    SeatFailedOver {
        panel: String,
        failed_over: FailedOverView,
    },
    /// A seat changed its state: its first token, its end. A late seat's end comes after its panel's.
    SeatChanged {
        panel: String,
        seat: SeatView,
    },
    PanelEnded {
        panel: PanelView,
    },
    /// A conversation has something new that is no turn: a shadow's answer.
    ConversationChanged {
        conversation: Box<ConversationView>,
    },
    /// A turn began, passed to another model, or ended.
    TurnChanged {
        conversation: Box<ConversationView>,
        turn: Box<TurnView>,
    },
    /// A verdict was given (`verdict`) or withdrawn (`null`), by whatever way.
    VerdictChanged {
        panel: String,
        call: String,
        verdict: Option<VerdictView>,
        owed: u32,
    },
    /// A model that is being taken on has come further; `null`: many changed, ask for the queue again.
    OnboardingChanged {
        item: Option<Box<OnboardingItem>>,
    },
    /// Endpoints, models, collections, settings or keys changed: ask again.
    SetupChanged {},
    /// The listener was too slow: events were left out, and a `snapshot` follows.
    Missed {},
    AlertRaised {
        alert: Alert,
    },
    /// Something happened that does not stand: it is told once.
    Noticed {
        alert: Alert,
    },
    AlertCleared {
        kind: AlertKind,
        subject: String,
    },
}
