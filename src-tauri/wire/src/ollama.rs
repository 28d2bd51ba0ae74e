//! The Ollama dialect, both ways: `/api/chat`, and `/api/generate` for callers. See `docs/ollama.md` for what
//! maps to what and what is lost.

mod answer;
mod date;
mod error;
pub(crate) mod list;
mod member;
mod message;
mod options;
mod piece;
mod reply;
pub(crate) mod request;
mod stream;
mod tools;

use serde_json::Value;

use crate::{
    dialect::Dialect,
    error::ApiError,
    format::{Encoded, EventDecoder, EventEncoder, Format, ReplyHead},
    json::Json,
    model::{Form, Reply, Request, Route, Target},
    names::Charset,
    reading::Body,
    relay::Plain,
    rules::{Keeps, Rules, Sources},
    schema::Profile,
};

pub struct Ollama;

const RULES: Rules = Rules {
    dialect: Dialect::Ollama,
    names: Charset::ANY,
    ids: Charset::ANY,
    custom_tools: false,
    namespaces: false,
    allowed_tools: false,
    tool_schema: &Profile::TOOL,
    response_schema: &Profile::RESPONSE,
    // Templates show the images of user turns only.
    media_in_results: false,
    error_flag: false,
    results_required: false,
    cache_marks: false,
    cache_key: false,
    thinking: Keeps::Text,
    images: Sources::DATA,
    documents: Sources { text: true, ..Sources::NONE },
    audio: Sources::NONE,
};

/// A line that is no more than its text.
const PLAIN: Plain = Plain {
    holds: &["\"content\"", "\"response\"", "\"thinking\""],
    unless: &["\"done\"", "\"tool_calls\"", "\"error\"", "\"images\"", "\"base_resp\""],
    says: &["\"content\"", "\"response\"", "\"thinking\""],
};

impl Format for Ollama {
    fn rules(&self) -> &'static Rules {
        &RULES
    }

    fn decode(&self, body: &Json, route: &Route<'_>) -> Result<Request, ApiError> {
        request::decode(body, route.form)
    }

    fn encode_request(&self, request: &Request, target: &Target) -> Encoded {
        member::encode(request, target)
    }

    fn relay(&self, body: &Json, request: &Request, target: &Target) -> Result<Encoded, ApiError> {
        member::relay(body, request, target)
    }

    fn plain_pieces(&self) -> Option<&'static Plain> {
        Some(&PLAIN)
    }

    fn decoder(&self) -> Box<dyn EventDecoder> {
        Box::new(Body::<answer::Answer>::default())
    }

    fn encode_reply(&self, head: &ReplyHead, reply: &Reply, bench: Option<&Value>) -> Vec<u8> {
        reply::whole(head, reply, bench)
    }

    fn encoder(&self, head: ReplyHead) -> Box<dyn EventEncoder> {
        Box::new(stream::LineWriter::new(head))
    }

    fn stream_type(&self, _form: Form) -> &'static str {
        "application/x-ndjson"
    }

    fn encode_error(&self, error: &ApiError, request_id: &str, bench: Option<&Value>) -> Vec<u8> {
        error::write(error, request_id, bench)
    }
}
