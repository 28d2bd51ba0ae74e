//! The OpenAI Responses dialect, both ways. See `docs/responses.md` for what maps to what and what is lost.

mod answer;
mod calls;
mod content;
pub mod conversation;
mod item;
mod member;
mod options;
mod piece;
mod reply;
mod request;
mod seals;
mod state;
mod stream;
mod tools;
mod turns;
mod usage;

use serde_json::Value;

use crate::{
    dialect::Dialect,
    error::ApiError,
    format::{Encoded, EventDecoder, EventEncoder, Format, ReplyHead},
    json::Json,
    model::{Reply, Request, Route, Target},
    names::Charset,
    openai,
    reading::Body,
    relay::Plain,
    rules::{Keeps, Rules, Sources},
    schema::Profile,
};

pub struct Responses;

/// What OpenAI's own API takes. Groups of tools reach a member in a relay only: servers that speak this dialect
/// mostly have none, and flat names are taken by all.
const RULES: Rules = Rules {
    dialect: Dialect::Responses,
    names: Charset::WORD,
    ids: Charset { longest: 64, ..Charset::ANY },
    custom_tools: true,
    namespaces: false,
    allowed_tools: true,
    tool_schema: &Profile::TOOL,
    response_schema: &Profile::RESPONSE,
    media_in_results: true,
    error_flag: false,
    results_required: true,
    cache_marks: false,
    cache_key: true,
    thinking: Keeps::Sealed,
    images: Sources { url: true, ..Sources::DATA },
    documents: Sources { url: true, text: true, ..Sources::DATA },
    audio: Sources::NONE,
};

const PLAIN: Plain = Plain {
    holds: &[
        "\"response.output_text.delta\"",
        "\"response.reasoning_summary_text.delta\"",
        "\"response.reasoning_text.delta\"",
    ],
    unless: &["\"response\"", "\"error\""],
    says: &["\"delta\""],
};

impl Format for Responses {
    fn rules(&self) -> &'static Rules {
        &RULES
    }

    fn decode(&self, body: &Json, _route: &Route<'_>) -> Result<Request, ApiError> {
        request::decode(body)
    }

    fn encode_request(&self, request: &Request, target: &Target) -> Encoded {
        member::encode(request, target)
    }

    fn relay(&self, body: &Json, request: &Request, target: &Target) -> Result<Encoded, ApiError> {
        member::relay(body, request, target)
    }

    fn model_paths(&self) -> &'static [&'static [&'static str]] {
        &[&["model"], &["response", "model"]]
    }

    fn public_events(&self) -> Option<fn(&str) -> bool> {
        Some(|event| event == "error" || event.starts_with("response."))
    }

    fn plain_pieces(&self) -> Option<&'static Plain> {
        Some(&PLAIN)
    }

    fn decoder(&self) -> Box<dyn EventDecoder> {
        Box::new(Body::<answer::Answer>::default())
    }

    fn feature_headers(&self) -> &'static [&'static str] {
        &["openai-beta"]
    }

    fn encode_reply(&self, head: &ReplyHead, reply: &Reply, bench: Option<&Value>) -> Vec<u8> {
        reply::whole(head, reply, bench)
    }

    fn encoder(&self, head: ReplyHead) -> Box<dyn EventEncoder> {
        Box::new(stream::EventWriter::new(head))
    }

    fn encode_error(&self, error: &ApiError, request_id: &str, bench: Option<&Value>) -> Vec<u8> {
        openai::error::write(error, request_id, bench)
    }
}
