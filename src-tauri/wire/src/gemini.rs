//! Gemini's `generateContent`, both ways. See `docs/gemini.md` for what maps to what and what is lost.

mod answer;
mod content;
mod count;
mod error;
mod media;
mod member;
mod options;
mod piece;
mod reply;
mod request;
mod schema;
mod seal;
mod spelling;
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
    model::{Form, Reply, Request, Route, Target},
    names::Charset,
    reading::Body,
    rules::{Keeps, Rules, Sources},
};

pub struct Gemini;

const RULES: Rules = Rules {
    dialect: Dialect::Gemini,
    names: Charset { allows_first: |c| c.is_ascii_alphabetic() || c == '_', ..Charset::WORD },
    ids: Charset::ANY,
    custom_tools: false,
    namespaces: false,
    allowed_tools: true,
    tool_schema: &schema::TOOL,
    response_schema: &schema::RESPONSE,
    // Only the newest models take `functionResponse.parts`; the others refuse the request.
    media_in_results: false,
    error_flag: true,
    results_required: true,
    cache_marks: false,
    cache_key: false,
    thinking: Keeps::Sealed,
    images: Sources { url: true, ..Sources::DATA },
    documents: Sources { url: true, text: true, ..Sources::DATA },
    audio: Sources { url: true, ..Sources::DATA },
};

impl Format for Gemini {
    fn rules(&self) -> &'static Rules {
        &RULES
    }

    fn auth(&self) -> Auth {
        Auth::Header("x-goog-api-key")
    }

    fn decode(&self, body: &Json, route: &Route<'_>) -> Result<Request, ApiError> {
        request::decode(body, route)
    }

    fn encode_request(&self, request: &Request, target: &Target) -> Encoded {
        member::encode(request, target)
    }

    fn relay(&self, body: &Json, request: &Request, target: &Target) -> Result<Encoded, ApiError> {
        member::relay(body, request, target)
    }

    fn model_paths(&self) -> &'static [&'static [&'static str]] {
        &[&["modelVersion"]]
    }

    fn decoder(&self) -> Box<dyn EventDecoder> {
        Box::new(Body::<answer::Answer>::default())
    }

    fn token_count(&self) -> Option<&'static dyn TokenCount> {
        Some(&count::Count)
    }

    /// `bench` has no room in a whole reply: headers tell it.
    fn encode_reply(&self, head: &ReplyHead, reply: &Reply, _bench: Option<&Value>) -> Vec<u8> {
        reply::whole(head, reply)
    }

    fn encoder(&self, head: ReplyHead) -> Box<dyn EventEncoder> {
        Box::new(stream::ChunkWriter::new(head))
    }

    fn stream_type(&self, form: Form) -> &'static str {
        match form {
            Form::Array => "application/json",
            _ => "text/event-stream",
        }
    }

    fn encode_error(&self, error: &ApiError, request_id: &str, bench: Option<&Value>) -> Vec<u8> {
        error::write(error, request_id, bench)
    }
}
