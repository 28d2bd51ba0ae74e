//! An answer with all that an agent's model says: thoughts, text, tool calls. Every API has it in its own bytes,
//! streamed and whole.

mod anthropic;
mod chat;
mod gemini;
mod ollama;
mod responses;

use serde_json::Value;

use super::{Api, End, Framing, Received, Reply, Script, Step};

/// One part of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Said {
    /// Sealed with [`SEAL`] where the API has seals.
    Thinks(&'static str),
    Text(&'static str),
    /// The id (not in every API), the name, and the arguments' text as its fragments come.
    Call(&'static str, &'static str, &'static [&'static str]),
    /// A call of a free-form tool; only Responses has them.
    Custom(&'static str, &'static str, &'static [&'static str]),
}

/// The signature, or the encrypted form, of every thought. Base64, as one API wants it.
pub const SEAL: &str = "c2VhbC1vZi1pdHMtbWFrZXI=";

/// What every one of these answers is said to have cost: in (of which read from a cache), out, of which reasoning.
pub const COST: Cost = Cost { input: 40, cached: 16, output: 9, reasoning: 4 };

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cost {
    /// The cached ones included.
    pub input: u64,
    pub cached: u64,
    /// The reasoning included.
    pub output: u64,
    pub reasoning: u64,
}

impl Api {
    /// Streams these parts, each piece in its own write.
    pub fn tells(self, said: &[Said], end: End) -> Reply {
        match self {
            Api::Chat => chat::stream(said, end),
            Api::Responses => responses::stream(said, end),
            Api::Anthropic => anthropic::stream(said, end),
            Api::Gemini => gemini::stream(said, end),
            Api::Ollama => ollama::stream(said, end),
        }
    }

    /// The same in one JSON value: broken off in its middle, or the error in its place.
    pub fn tells_whole(self, said: &[Said], end: End) -> Reply {
        let whole = match self {
            Api::Chat => chat::whole(said),
            Api::Responses => responses::whole(said),
            Api::Anthropic => anthropic::whole(said),
            Api::Gemini => gemini::whole(said),
            Api::Ollama => ollama::whole(said),
        }
        .to_string();
        match end {
            End::Proper => Reply::whole(200, "application/json", whole),
            End::BrokenOff => Reply::new("application/json")
                .send(whole[..whole.len() / 2].to_owned())
                .framed(Framing::Chunked)
                .step(Step::Close),
            End::Error(message) => Reply { status: 200, ..self.fails(503, message) },
        }
    }
}

impl Script {
    /// Tells these parts in the API it is asked in, streamed or whole as it is asked.
    pub fn tells(said: &'static [Said], end: End<'static>) -> Script {
        Script::in_any(move |api, request| request.told(api, said, end))
    }
}

impl Received {
    /// These parts in the API it is asked in, streamed or whole as it is asked.
    pub fn told(&self, api: Api, said: &[Said], end: End) -> Reply {
        match (self.wants_stream(), api) {
            (_, Api::Ollama) if self.path.starts_with("/api/generate") => {
                let reply =
                    if self.wants_stream() { api.tells(said, end) } else { api.tells_whole(said, end) };
                ollama::generated(reply)
            }
            (false, _) => api.tells_whole(said, end),
            (true, Api::Gemini) if !self.path.contains("alt=sse") => {
                gemini::array(gemini::stream(said, end), end)
            }
            (true, _) => api.tells(said, end),
        }
    }

    /// A stream is asked for, as the API has it.
    pub fn wants_stream(&self) -> bool {
        match self.api() {
            Some(Api::Gemini) => self.path.contains(":streamGenerateContent"),
            Some(Api::Ollama) => self.json()["stream"] != Value::Bool(false),
            _ => self.json()["stream"] == Value::Bool(true),
        }
    }
}

/// A call's arguments as JSON.
fn value(fragments: &[&str]) -> Value {
    serde_json::from_str(&fragments.concat()).expect("arguments are JSON")
}

fn calls(said: &[Said]) -> bool {
    said.iter().any(|part| matches!(part, Said::Call(..) | Said::Custom(..)))
}
