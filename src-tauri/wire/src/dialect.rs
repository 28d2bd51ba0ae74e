//! The one registry of dialects.

use crate::format::Format;

/// Declares [`Dialect`] and what answers for each. A dialect can be named only once its file stands here.
macro_rules! dialects {
    ($($(#[$doc:meta])* $name:ident => $format:expr,)+) => {
        /// An API that callers speak to us or that we speak to members.
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
        #[serde(rename_all = "lowercase")]
        pub enum Dialect {
            $($(#[$doc])* $name,)+
        }

        impl Dialect {
            /// Every dialect there is, in the order of the registry.
            pub const ALL: &[Dialect] = &[$(Dialect::$name,)+];
        }

        /// What reads and writes a dialect.
        pub fn format(dialect: Dialect) -> &'static dyn Format {
            match dialect {
                $(Dialect::$name => &$format,)+
            }
        }
    };
}

impl Dialect {
    /// As it is written in set-up files and records: `chat`, `anthropic`, …
    pub fn name(self) -> &'static str {
        match self {
            Dialect::Chat => "chat",
            Dialect::Anthropic => "anthropic",
            Dialect::Responses => "responses",
            Dialect::Completions => "completions",
            Dialect::Gemini => "gemini",
            Dialect::Ollama => "ollama",
        }
    }
}

dialects! {
    /// OpenAI chat completions.
    #[default]
    Chat => crate::chat::Chat,
    /// Anthropic Messages.
    Anthropic => crate::anthropic::Anthropic,
    /// OpenAI Responses.
    Responses => crate::responses::Responses,
    /// OpenAI legacy completions, for callers only.
    Completions => crate::completions::Completions,
    /// Gemini's `generateContent`.
    Gemini => crate::gemini::Gemini,
    /// Ollama.
    Ollama => crate::ollama::Ollama,
}
