//! Models that are taken on, and those that nobody wants to see.

use plan::onboarding::Mode;
use serde::{Deserialize, Serialize};
use ts_rs::TS;

use super::RegisterModel;

pub use gateway::view::{OnboardingItem, OnboardingLog, OnboardingOutcome, OnboardingQueue, OnboardingState};
pub use plan::onboarding::{Mode as OnboardingMode, Step as OnboardingStep};

/// Models of an endpoint that are to be registered and probed.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct Onboard {
    pub endpoint: String,
    pub models: Vec<RegisterModel>,
    pub mode: Mode,
}

#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct ClearOnboarding {
    /// Those that wait or were stopped too; else only those that are over.
    pub all: bool,
}

/// Models of an endpoint's listing, by their served ids.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct ServedModels {
    pub endpoint: String,
    pub served: Vec<String>,
}
