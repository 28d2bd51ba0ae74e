//! What a routed conversation looks like from outside.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

use super::{LossyView, SkippedView, VerdictView};

/// An agent's session with a collection.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, TS)]
pub struct ConversationView {
    /// `r20261129-154501-9f3a6c01`
    pub id: String,
    /// The collection's bare name; `model/<alias>` where a model was asked for by its name.
    pub collection: String,
    /// The first turn, and the newest one's beginning or end: RFC 3339, UTC.
    pub at: String,
    pub last_at: String,
    /// Who asks: a client's short name (`claude-cli`, `codex_exec`).
    pub client: String,
    /// The gateway key that it asks with; absent where it asks without one, on this machine.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub caller: Option<String>,
    /// The beginning of the first user message.
    pub title: String,
    /// Whose it is now; empty until somebody has answered.
    pub alias: String,
    /// A turn is on its way.
    pub running: bool,
    pub turns: u32,
    pub tool_calls: u32,
    /// Turns that another model took over.
    pub failed_over: u32,
    #[ts(type = "number | null")]
    pub tokens_in: Option<u64>,
    #[ts(type = "number | null")]
    pub tokens_out: Option<u64>,
    /// US dollars, of the turns whose cost is known.
    pub cost: Option<f64>,
    pub cost_unknown: u32,
    /// How the newest turn that ended did.
    pub status: TurnStatus,
    /// Its models' calls, oldest first, then shadows: what a verdict is about.
    pub calls: Vec<RoutedCall>,
    pub practice: bool,
}

impl ConversationView {
    /// Its calls are judged as those of `other` are, where `other` knows them.
    pub(crate) fn take_verdicts(&mut self, other: &ConversationView) {
        for call in &mut self.calls {
            if let Some(known) = other.calls.iter().find(|known| known.call == call.call) {
                call.verdict.clone_from(&known.verdict);
            }
        }
    }
}

/// One model's work in a conversation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
pub struct RoutedCall {
    /// `<conversation>.1`; a shadow's is `<conversation>.1.s1`.
    pub call: String,
    pub alias: String,
    pub endpoint: String,
    /// It answered in the background; its caller never saw it.
    pub shadow: bool,
    /// The turn that a shadow was put.
    pub turn: Option<u32>,
    pub status: TurnStatus,
    /// A shadow's answer; empty for the turns' own.
    pub answer: String,
    pub verdict: Option<VerdictView>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "lowercase")]
pub enum TurnStatus {
    #[default]
    Running,
    Ok,
    /// It ended with nothing said.
    Empty,
    Error,
    /// Its caller hung up.
    Cancelled,
}

/// One request of a conversation.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, TS)]
pub struct TurnView {
    pub conversation: String,
    /// From 1.
    pub turn: u32,
    /// RFC 3339, UTC.
    pub at: String,
    /// The call of the model that answered; empty when nobody did.
    pub call: String,
    /// Who answered, else who was tried last.
    pub alias: String,
    pub endpoint: String,
    pub served: String,
    /// The model the provider says answered, where it says so.
    pub served_as: Option<String>,
    /// Another model answered than was asked for, and not only under another spelling of its name.
    pub swapped: bool,
    /// The caller's API and the member's: `anthropic`, `chat`, …
    pub api: String,
    pub member_api: String,
    pub status: TurnStatus,
    /// Whole time, once ended.
    pub seconds: Option<f64>,
    pub first_token_s: Option<f64>,
    pub tool_calls: u32,
    /// `stop`, `length`, `content_filter`, `tool_calls`
    pub finish: Option<String>,
    /// Cache included.
    #[ts(type = "number | null")]
    pub tokens_in: Option<u64>,
    #[ts(type = "number | null")]
    pub tokens_out: Option<u64>,
    #[ts(type = "number | null")]
    pub tokens_reasoning: Option<u64>,
    #[ts(type = "number | null")]
    pub cache_read: Option<u64>,
    #[ts(type = "number | null")]
    pub cache_write: Option<u64>,
    /// US dollars; `null` where the price or the usage is not known.
    pub cost: Option<f64>,
    pub overhead_ms: f64,
    /// Redacted; empty when it answered.
    pub error: String,
    pub failed_over: Vec<TurnFailedOver>,
    pub skipped: Vec<SkippedView>,
    pub lossy: Vec<LossyView>,
    pub why: WhyThisModel,
    /// The caller's messages and the answer, where they are kept (setting `keep_route_text`); else empty.
    pub question: String,
    pub answer: String,
}

/// A member that could not answer, before the caller had seen anything of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct TurnFailedOver {
    pub from: String,
    /// Empty when nobody took over.
    pub to: String,
    pub why: String,
}

/// How a turn's members were ordered.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, TS)]
pub struct WhyThisModel {
    /// `the conversation's model`, `best record`, `rotation: never asked`, …
    pub by: String,
    /// In the order in which they would be tried.
    pub candidates: Vec<CandidateView>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, TS)]
pub struct CandidateView {
    pub alias: String,
    /// In words and counts; `no evidence yet` when there is none.
    pub why: String,
    /// Verdicts on this shape, then on all: useful of judged.
    pub useful: u32,
    pub judged: u32,
    pub useful_overall: u32,
    pub judged_overall: u32,
    pub offloads: u32,
}
