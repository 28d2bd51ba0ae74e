use serde_json::Value;

use super::{
    Reply,
    replies::{anthropic, chat, gemini, ollama, responses},
};

/// The API a provider speaks. Every one can say the same things, each in its own bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Api {
    Chat,
    Responses,
    Anthropic,
    Gemini,
    Ollama,
}

/// How a stream ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End<'a> {
    /// With a finish, the usage and the API's end mark.
    Proper,
    /// The body ends properly, but without any of these.
    BrokenOff,
    /// With the provider's own error event, of these words.
    Error(&'a str),
}

impl Api {
    pub const ALL: [Api; 5] = [Api::Chat, Api::Responses, Api::Anthropic, Api::Gemini, Api::Ollama];

    /// As a set-up file has it.
    pub fn name(self) -> &'static str {
        match self {
            Api::Chat => "chat",
            Api::Responses => "responses",
            Api::Anthropic => "anthropic",
            Api::Gemini => "gemini",
            Api::Ollama => "ollama",
        }
    }

    /// Streams these pieces, each in its own write.
    pub fn streams<'a>(self, pieces: impl IntoIterator<Item = &'a str>, end: End) -> Reply {
        let pieces: Vec<&str> = pieces.into_iter().collect();
        match self {
            Api::Chat => chat::stream(&pieces, end),
            Api::Responses => responses::stream(&pieces, end),
            Api::Anthropic => anthropic::stream(&pieces, end),
            Api::Gemini => gemini::stream(&pieces, end),
            Api::Ollama => ollama::stream(&pieces, end),
        }
    }

    /// Streams the text word by word, and ends as it should.
    pub fn says(self, text: &str) -> Reply {
        self.streams(text.split_inclusive(' '), End::Proper)
    }

    /// An error status with the API's own error body.
    pub fn fails(self, status: u16, message: &str) -> Reply {
        let body = match self {
            Api::Chat | Api::Responses => chat::error(status, message),
            Api::Anthropic => anthropic::error(status, message),
            Api::Gemini => gemini::error(status, message),
            Api::Ollama => ollama::error(message),
        };
        Reply::whole(status, "application/json", body.to_string())
    }

    /// The first picture of a request: its media type, where the API says one, and its base64.
    pub fn picture(self, request: &Value) -> Option<(Option<String>, String)> {
        match self {
            Api::Chat => chat::picture(request),
            Api::Responses => responses::picture(request),
            Api::Anthropic => anthropic::picture(request),
            Api::Gemini => gemini::picture(request),
            Api::Ollama => ollama::picture(request),
        }
    }

    /// What the API's paths are joined to, after the provider's root.
    pub(super) fn base(self) -> &'static str {
        match self {
            Api::Chat | Api::Responses | Api::Anthropic => "/v1",
            Api::Gemini => "/v1beta",
            Api::Ollama => "",
        }
    }

    /// The API of a path at which answers are asked for.
    pub(super) fn of_path(path: &str) -> Option<Api> {
        // A base may have a version before these, or none.
        let path = path.split('?').next()?;
        let path = path.strip_prefix("/openai").unwrap_or(path);
        let path = path.strip_prefix("/v1").unwrap_or(path);
        match path {
            "/chat/completions" => Some(Api::Chat),
            "/responses" => Some(Api::Responses),
            "/messages" | "/messages/count_tokens" => Some(Api::Anthropic),
            "/api/chat" | "/api/generate" => Some(Api::Ollama),
            path => gemini::served(path).map(|_| Api::Gemini),
        }
    }
}

/// The parts that are of `kind`, of every turn under `turns`.
pub(super) fn parts<'a>(request: &'a Value, turns: &str, kind: &str) -> impl Iterator<Item = &'a Value> {
    let content = |turn: &'a Value| turn["content"].as_array().into_iter().flatten();
    let turns = request[turns].as_array().into_iter().flatten();
    turns.flat_map(content).filter(move |part| part["type"] == kind)
}

/// `data:TYPE;base64,DATA`, taken apart.
pub(super) fn data_url(url: &Value) -> Option<(Option<String>, String)> {
    let (kind, data) = url.as_str()?.strip_prefix("data:")?.split_once(";base64,")?;
    Some((Some(kind.to_owned()), data.to_owned()))
}
