//! The OpenAI chat dialect, both ways. See `docs/chat.md` for what maps to what and what is lost.

mod answer;
mod calls;
mod content;
mod member;
mod options;
mod piece;
mod reply;
mod request;
mod stream;
mod tools;

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

pub struct Chat;

/// What nearly every server that speaks chat takes; what only OpenAI's own does is left to relays.
const RULES: Rules = Rules {
    dialect: Dialect::Chat,
    names: Charset::WORD,
    ids: Charset::ANY,
    custom_tools: false,
    namespaces: false,
    allowed_tools: false,
    tool_schema: &Profile::TOOL,
    response_schema: &Profile::RESPONSE,
    media_in_results: false,
    error_flag: false,
    results_required: true,
    cache_marks: false,
    cache_key: false,
    thinking: Keeps::Nothing,
    images: Sources { url: true, ..Sources::DATA },
    documents: Sources { text: true, ..Sources::DATA },
    audio: Sources::DATA,
};

/// A delta that is no more than its text. What is not told in one is `null`.
const PLAIN: Plain = Plain {
    holds: &["\"content\"", "\"reasoning_content\"", "\"reasoning\""],
    unless: &[
        "\"finish_reason\"",
        "\"usage\"",
        "\"tool_calls\"",
        "\"function_call\"",
        "\"reasoning_details\"",
        "\"error\"",
        "\"message\"",
        "\"images\"",
        "\"annotations\"",
        "\"base_resp\"",
    ],
    says: &["\"content\"", "\"reasoning_content\"", "\"reasoning\""],
};

impl Format for Chat {
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
        Box::new(stream::ChunkWriter::new(head))
    }

    fn encode_error(&self, error: &ApiError, request_id: &str, bench: Option<&Value>) -> Vec<u8> {
        openai::error::write(error, request_id, bench)
    }
}
