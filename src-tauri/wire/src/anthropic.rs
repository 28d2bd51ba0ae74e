//! The Anthropic Messages dialect, both ways. See `docs/anthropic.md` for what maps to what and what is lost.

mod answer;
mod blocks;
mod content;
mod count;
mod error;
mod member;
mod options;
mod piece;
mod reply;
mod request;
mod schema;
mod stream;
mod tools;
mod usage;

use serde_json::Value;

use crate::{
    count::TokenCount,
    dialect::Dialect,
    error::ApiError,
    format::{Auth, Encoded, EventDecoder, EventEncoder, Format, ReplyHead},
    json::Json,
    model::{Reply, Request, Route, Target},
    names::Charset,
    reading::Body,
    relay::Plain,
    rules::{Keeps, Rules, Sources},
    schema::Profile,
};

pub struct Anthropic;

const RULES: Rules = Rules {
    dialect: Dialect::Anthropic,
    names: Charset::WORD,
    // An id may be of any length, but not of any characters.
    ids: Charset { longest: usize::MAX, ..Charset::WORD },
    custom_tools: false,
    namespaces: false,
    allowed_tools: false,
    tool_schema: &Profile::TOOL,
    response_schema: &schema::RESPONSE,
    media_in_results: true,
    error_flag: true,
    results_required: true,
    cache_marks: true,
    cache_key: false,
    thinking: Keeps::Sealed,
    // Anything else is refused with the whole request.
    images: Sources {
        url: true,
        types: &["image/jpeg", "image/png", "image/gif", "image/webp"],
        ..Sources::DATA
    },
    documents: Sources { url: true, text: true, types: &["application/pdf"], ..Sources::DATA },
    audio: Sources::NONE,
};

const PLAIN: Plain = Plain {
    holds: &["\"text_delta\"", "\"thinking_delta\""],
    unless: &["\"error\"", "\"usage\"", "\"base_resp\""],
    says: &["\"text\"", "\"thinking\""],
};

impl Format for Anthropic {
    fn rules(&self) -> &'static Rules {
        &RULES
    }

    fn auth(&self) -> Auth {
        Auth::Header("x-api-key")
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
        &[&["model"], &["message", "model"]]
    }

    fn plain_pieces(&self) -> Option<&'static Plain> {
        Some(&PLAIN)
    }

    fn decoder(&self) -> Box<dyn EventDecoder> {
        Box::new(Body::<answer::Answer>::default())
    }

    fn feature_headers(&self) -> &'static [&'static str] {
        &["anthropic-version", "anthropic-beta"]
    }

    fn token_count(&self) -> Option<&'static dyn TokenCount> {
        Some(&count::Count)
    }

    fn encode_reply(&self, head: &ReplyHead, reply: &Reply, bench: Option<&Value>) -> Vec<u8> {
        reply::whole(head, reply, bench)
    }

    fn encoder(&self, head: ReplyHead) -> Box<dyn EventEncoder> {
        Box::new(stream::EventWriter::new(head))
    }

    fn encode_error(&self, error: &ApiError, request_id: &str, bench: Option<&Value>) -> Vec<u8> {
        error::write(error, request_id, bench)
    }
}
