//! Fields that shape how an answer is made.

use crate::{
    dialect::Dialect,
    raw::{Fields, Raw},
};

/// How a collection answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ReplyMode {
    All,
    Merged,
    Route,
}

/// The `"bench": {…}` object of a body.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BenchOptions {
    pub reply: Option<ReplyMode>,
    /// Pass the caller's sampling options to every seat.
    pub options: bool,
}

/// Sampling options as the caller wrote them: number text untouched.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Sampling {
    /// Field name in the chat dialect's words (`temperature`, `top_p`, `top_k`, `stop`, `seed`, …) and its raw
    /// value. `stop` is a string or a list of strings.
    pub fields: Fields,
}

#[derive(Clone, Debug, PartialEq)]
pub enum StructuredOutput {
    /// Any JSON object.
    Object,
    Schema {
        name: Option<String>,
        description: Option<String>,
        /// A JSON Schema in standard words, raw.
        schema: Raw,
        strict: Option<bool>,
    },
    /// A form only its dialect has (a server's own grammar).
    Vendor { dialect: Dialect, raw: Raw },
}

/// How much the model should think. A dialect that has one scale is given the other's nearest step
/// ([`Reasoning::as_effort`], [`Reasoning::as_mode`]).
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Reasoning {
    /// `none`, `minimal`, `low`, `medium`, `high`, `xhigh`, `max`, as sent.
    pub effort: Option<String>,
    pub mode: Option<ThinkingMode>,
    /// Whether and how the reasoning is told: `auto`, `concise`, `detailed`, `none`.
    pub summary: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ThinkingMode {
    Off,
    On,
    /// As much as the model finds right.
    Adaptive,
    /// At most so many tokens.
    Budget(u64),
}

/// Who asks, as the caller told it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Metadata {
    /// `user`, `metadata.user_id`, `safety_identifier`.
    pub user: Option<String>,
    /// A conversation's id, where the dialect has one.
    pub session: Option<String>,
    /// The `metadata` object, raw.
    pub fields: Option<Raw>,
}

impl Sampling {
    pub fn get(&self, name: &str) -> Option<&Raw> {
        self.fields.iter().find(|(known, _)| known == name).map(|(_, raw)| raw)
    }
}

impl Reasoning {
    pub fn is_empty(&self) -> bool {
        *self == Reasoning::default()
    }

    /// The effort as sent, or the step nearest to what was asked in tokens. `On` and `Adaptive` say no effort.
    pub fn as_effort(&self) -> Option<&str> {
        if let Some(effort) = &self.effort {
            return Some(effort);
        }
        match self.mode? {
            ThinkingMode::Off => Some("none"),
            ThinkingMode::Budget(tokens) => Some(match tokens {
                0 => "none",
                1..=1_024 => "minimal",
                1_025..=4_096 => "low",
                4_097..=16_384 => "medium",
                _ => "high",
            }),
            ThinkingMode::On | ThinkingMode::Adaptive => None,
        }
    }

    /// The mode as sent, or the effort as tokens. A word we do not know is `Adaptive`.
    pub fn as_mode(&self) -> Option<ThinkingMode> {
        if self.mode.is_some() {
            return self.mode;
        }
        Some(match self.effort.as_deref()? {
            "none" => ThinkingMode::Off,
            "minimal" => ThinkingMode::Budget(1_024),
            "low" => ThinkingMode::Budget(4_096),
            "medium" => ThinkingMode::Budget(16_384),
            "high" => ThinkingMode::Budget(24_576),
            "xhigh" | "max" => ThinkingMode::Budget(32_768),
            _ => ThinkingMode::Adaptive,
        })
    }
}
