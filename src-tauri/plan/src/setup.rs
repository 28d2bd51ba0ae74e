use catalog::{Endpoint, FieldError, Model};
use serde::{Deserialize, Serialize};

use crate::{Collection, ShapeRule, Shapes};

/// Everything the owner has set up; the same shape as the set-up file (setup-file.md). Never a secret.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Setup {
    pub version: u32,
    #[serde(default)]
    pub endpoints: Vec<Endpoint>,
    #[serde(default)]
    pub models: Vec<Model>,
    #[serde(default)]
    pub collections: Vec<Collection>,
    /// Shapes that the owner added, or put in place of a built-in one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub shapes: Vec<ShapeRule>,
    #[serde(default)]
    pub settings: Settings,
}

/// Settings with their defaults and bounds (panel.md §1, §5; route.md §2–§4, §6).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ts_rs::TS)]
#[serde(deny_unknown_fields, default)]
pub struct Settings {
    /// 1–10 seats a panel.
    pub max_calls: u32,
    /// 0–2.
    pub max_explorers: u32,
    /// 0–2.
    pub reserves: u32,
    /// Seconds a seat has for its whole answer.
    pub seat_seconds: u32,
    /// Seconds a seat may stay without a byte.
    pub idle_seconds: u32,
    /// What a panel does when its caller hangs up.
    pub panel_on_hangup: OnHangup,
    /// Seconds that explorers get once every member is done.
    pub explorer_grace: u32,
    /// Days that prompts and answers are kept; verdicts and counts are kept for ever.
    pub keep_text_days: u32,
    /// Days that a response can be gone on from by its id.
    pub responses_days: u32,
    /// 0–1: the part of new conversations that begin with the member whose last work is oldest.
    pub rotate: f64,
    /// Minutes without a turn after which a conversation is over and a new one is ranked afresh.
    pub conversation_minutes: u32,
    /// Reasoning goes to the caller as it comes; a turn that has shown it cannot fail over any more.
    pub show_reasoning_early: bool,
    /// What a turn does when its caller hangs up.
    pub route_on_hangup: OnHangup,
    /// Keep the text of turns, not only their counts.
    pub keep_route_text: bool,
    /// Model lists hold each model beside the collections, as `bench/model/<alias>`.
    pub list_models: bool,
    /// Once a day two public lists of models are fetched, for their windows, abilities and prices.
    pub catalog_refresh: bool,
    /// Whoever asks must have a gateway key; this machine's window and command line need none.
    pub require_keys: bool,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ts_rs::TS)]
#[serde(rename_all = "lowercase")]
pub enum OnHangup {
    #[default]
    Finish,
    Cancel,
}

/// The version of the set-up file this program writes and reads.
pub const SETUP_VERSION: u32 = 1;

impl Settings {
    /// The first setting out of its bounds.
    pub fn check(&self) -> Result<(), FieldError> {
        let bounds = [
            ("max_calls", self.max_calls, 1, 10),
            ("max_explorers", self.max_explorers, 0, 2),
            ("reserves", self.reserves, 0, 2),
            ("seat_seconds", self.seat_seconds, 5, 3_600),
            ("idle_seconds", self.idle_seconds, 5, 3_600),
            ("explorer_grace", self.explorer_grace, 0, 3_600),
            ("keep_text_days", self.keep_text_days, 1, 36_500),
            ("responses_days", self.responses_days, 1, 36_500),
            ("conversation_minutes", self.conversation_minutes, 1, 43_200),
        ];
        if !(0.0..=1.0).contains(&self.rotate) {
            return Err(FieldError::new("rotate", format!("0 to 1, not {}", self.rotate)));
        }
        match bounds.into_iter().find(|(_, value, least, most)| !(least..=most).contains(&value)) {
            Some((name, value, least, most)) => {
                Err(FieldError::new(name, format!("{least} to {most}, not {value}")))
            }
            None => Ok(()),
        }
    }
}

impl Setup {
    /// The shape table: the built-in shapes and the owner's.
    pub fn shapes(&self) -> Shapes {
        Shapes::with(&self.shapes)
    }

    /// Whether this alias is a model of the built-in practice endpoint.
    pub fn is_practice_model(&self, alias: &str) -> bool {
        self.models.iter().any(|model| model.alias == alias && self.is_practice_endpoint(&model.endpoint))
    }

    pub fn is_practice_endpoint(&self, name: &str) -> bool {
        self.endpoints.iter().any(|endpoint| endpoint.name == name && endpoint.is_practice())
    }
}

impl Default for Setup {
    fn default() -> Self {
        Setup {
            version: SETUP_VERSION,
            endpoints: Vec::new(),
            models: Vec::new(),
            collections: Vec::new(),
            shapes: Vec::new(),
            settings: Settings::default(),
        }
    }
}

impl Default for Settings {
    fn default() -> Self {
        Settings {
            max_calls: 5,
            max_explorers: 2,
            reserves: 1,
            seat_seconds: 420,
            idle_seconds: 90,
            explorer_grace: 60,
            panel_on_hangup: OnHangup::Finish,
            keep_text_days: 90,
            responses_days: 30,
            rotate: 0.25,
            conversation_minutes: 60,
            show_reasoning_early: false,
            route_on_hangup: OnHangup::Cancel,
            keep_route_text: false,
            list_models: false,
            catalog_refresh: true,
            require_keys: false,
        }
    }
}

/// Where a set-up is wrong, and how: `models[3].endpoint: no endpoint "grok"`.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{path}: {message}")]
pub struct SetupError {
    pub path: String,
    pub message: String,
}

impl SetupError {
    pub fn new(path: impl Into<String>, message: impl Into<String>) -> SetupError {
        SetupError { path: path.into(), message: message.into() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn defaults_are_within_bounds() {
        assert_eq!(Settings::default().check(), Ok(()));
    }

    #[test]
    fn the_setting_out_of_bounds_is_named() {
        let cases = [
            (Settings { max_calls: 0, ..Settings::default() }, "max_calls: 1 to 10, not 0"),
            (Settings { max_calls: 11, ..Settings::default() }, "max_calls: 1 to 10, not 11"),
            (Settings { max_explorers: 3, ..Settings::default() }, "max_explorers: 0 to 2, not 3"),
            (Settings { reserves: 3, ..Settings::default() }, "reserves: 0 to 2, not 3"),
            (Settings { seat_seconds: 4, ..Settings::default() }, "seat_seconds: 5 to 3600, not 4"),
            (Settings { idle_seconds: 3_601, ..Settings::default() }, "idle_seconds: 5 to 3600, not 3601"),
            (Settings { keep_text_days: 0, ..Settings::default() }, "keep_text_days: 1 to 36500, not 0"),
            (Settings { responses_days: 0, ..Settings::default() }, "responses_days: 1 to 36500, not 0"),
            (Settings { rotate: 1.5, ..Settings::default() }, "rotate: 0 to 1, not 1.5"),
            (Settings { rotate: f64::NAN, ..Settings::default() }, "rotate: 0 to 1, not NaN"),
            (
                Settings { conversation_minutes: 0, ..Settings::default() },
                "conversation_minutes: 1 to 43200, not 0",
            ),
        ];
        for (settings, wanted) in cases {
            assert_eq!(settings.check().expect_err(wanted).to_string(), wanted);
        }
    }
}
