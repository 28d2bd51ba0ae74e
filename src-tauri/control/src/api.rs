use serde::{Deserialize, Serialize};
use ts_rs::TS;
use wire::Dialect;

/// An API that an endpoint can be asked in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "lowercase")]
pub enum Api {
    /// OpenAI chat completions, which most providers speak.
    Chat,
    /// OpenAI Responses.
    Responses,
    /// Anthropic Messages.
    Anthropic,
    /// Gemini's `generateContent`.
    Gemini,
    /// Ollama's own.
    Ollama,
}

impl Api {
    /// Every one, the most usual first.
    pub const ALL: [Api; 5] = [Api::Chat, Api::Responses, Api::Anthropic, Api::Gemini, Api::Ollama];

    /// As the set-up file writes it.
    pub fn name(self) -> &'static str {
        match self {
            Api::Chat => "chat",
            Api::Responses => "responses",
            Api::Anthropic => "anthropic",
            Api::Gemini => "gemini",
            Api::Ollama => "ollama",
        }
    }

    /// The API of this name.
    pub fn of_name(name: &str) -> Option<Api> {
        Api::ALL.into_iter().find(|api| api.name() == name)
    }

    pub(crate) fn of(dialect: Dialect) -> Api {
        match dialect {
            // No endpoint speaks legacy completions: its check refuses that.
            Dialect::Chat | Dialect::Completions => Api::Chat,
            Dialect::Responses => Api::Responses,
            Dialect::Anthropic => Api::Anthropic,
            Dialect::Gemini => Api::Gemini,
            Dialect::Ollama => Api::Ollama,
        }
    }

    pub(crate) fn dialect(self) -> Dialect {
        match self {
            Api::Chat => Dialect::Chat,
            Api::Responses => Dialect::Responses,
            Api::Anthropic => Dialect::Anthropic,
            Api::Gemini => Dialect::Gemini,
            Api::Ollama => Dialect::Ollama,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_dialect_that_members_speak_has_its_name_here() {
        for &dialect in Dialect::ALL {
            if wire::format(dialect).is_spoken_to_members() {
                let api = Api::of(dialect);
                assert_eq!(api.dialect(), dialect);
                assert_eq!(serde_json::to_value(dialect).expect("a name"), api.name());
                assert_eq!(serde_json::to_value(api).expect("a name"), api.name());
                assert_eq!(Api::of_name(api.name()), Some(api));
            }
        }
        assert_eq!(Api::of_name("completions"), None);
    }
}
