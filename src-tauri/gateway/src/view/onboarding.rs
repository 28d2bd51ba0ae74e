//! How models are being taken on, as it looks from outside.

use plan::onboarding::{Mode, Step};
use serde::{Deserialize, Serialize};
use ts_rs::TS;

/// The models that are being taken on, in their order, and those that were until they are cleared.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, TS)]
pub struct OnboardingQueue {
    pub items: Vec<OnboardingItem>,
    /// There is a suite, so that `full` is more than `quick`.
    pub has_suite: bool,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
pub struct OnboardingItem {
    #[ts(type = "number")]
    pub id: i64,
    pub endpoint: String,
    pub served: String,
    pub alias: String,
    pub mode: Mode,
    pub state: OnboardingState,
    /// The step that is being taken, comes next, or was the last.
    pub step: Step,
    /// All of them, as it looks now.
    pub steps: Vec<Step>,
    /// Why it waits, or failed.
    pub why: Option<String>,
    /// When one that waits for something is looked at again: RFC 3339, UTC.
    pub until: Option<String>,
    pub added_at: String,
    pub started_at: Option<String>,
    pub ended_at: Option<String>,
    /// What came of each step so far.
    pub log: Vec<OnboardingLog>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum OnboardingState {
    Waiting,
    Running,
    Done,
    /// It did not answer, or could not be taken on.
    Failed,
    /// By its owner; it goes on when the queue is resumed.
    Stopped,
}

/// What came of a step.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
pub struct OnboardingLog {
    pub step: Step,
    /// RFC 3339, UTC.
    pub at: String,
    pub outcome: OnboardingOutcome,
    /// The class of failure: `not_found`, `capacity`, …
    #[ts(type = "string | null")]
    pub class: Option<wire::Class>,
    pub seconds: Option<f64>,
    pub first_token_s: Option<f64>,
    /// Tokens a second from the first one on.
    pub tokens_a_s: Option<f64>,
    /// As the provider counts them.
    #[ts(type = "number | null")]
    pub tokens_in: Option<u64>,
    #[ts(type = "number | null")]
    pub tokens_out: Option<u64>,
    /// In words: what it said, or what is wrong. Redacted.
    pub said: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum OnboardingOutcome {
    /// What was asked for was seen.
    Worked,
    /// An answer came, and not what was asked for.
    NotSeen,
    Failed,
    /// It was not taken.
    Skipped,
}
