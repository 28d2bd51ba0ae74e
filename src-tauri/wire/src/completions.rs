//! OpenAI's legacy completions, for callers only: one prompt in, one text out. See `docs/completions.md`.

mod answer;
mod reply;
mod request;

use serde_json::{Value, json};

use crate::{
    dialect::Dialect,
    error::{ApiError, Kind, Origin},
    format::{Encoded, EventDecoder, EventEncoder, Format, ReplyHead},
    json::{self as text, Json},
    model::{Message, Reply, Request, Route, Target},
    names::Charset,
    openai,
    prepare::{Prepared, prepare},
    reading::Body,
    rules::{Keeps, Rules, Sources},
    schema::Profile,
};

pub struct Completions;

/// A prompt is text and nothing else.
const RULES: Rules = Rules {
    dialect: Dialect::Completions,
    names: Charset::WORD,
    ids: Charset::ANY,
    custom_tools: false,
    namespaces: false,
    allowed_tools: false,
    tool_schema: &Profile::TOOL,
    response_schema: &Profile::RESPONSE,
    media_in_results: true,
    error_flag: false,
    results_required: false,
    cache_marks: false,
    cache_key: false,
    thinking: Keeps::Nothing,
    images: Sources::NONE,
    documents: Sources { text: true, ..Sources::NONE },
    audio: Sources::NONE,
};

impl Format for Completions {
    fn rules(&self) -> &'static Rules {
        &RULES
    }

    fn is_spoken_to_members(&self) -> bool {
        false
    }

    fn decode(&self, body: &Json, _route: &Route<'_>) -> Result<Request, ApiError> {
        request::decode(body)
    }

    /// The words of all turns as one prompt. No member is asked in this dialect.
    fn encode_request(&self, request: &Request, target: &Target) -> Encoded {
        let Prepared { request, notices, restore, .. } = prepare(request, target, &RULES);
        let words: Vec<String> = request.messages.iter().map(Message::text).collect();
        let body = json!({ "model": target.served, "prompt": words.join("\n\n"), "stream": true });
        let body = text::to_vec(&body);
        Encoded { path: "/completions".to_owned(), headers: Vec::new(), body, notices, restore }
    }

    fn relay(&self, _body: &Json, _request: &Request, _target: &Target) -> Result<Encoded, ApiError> {
        let words = "no member speaks the legacy completions API; the question is asked in the member's own";
        Err(ApiError::new(Kind::NotImplemented, Origin::Gateway, "no_relay", words))
    }

    fn decoder(&self) -> Box<dyn EventDecoder> {
        Box::new(Body::<answer::Answer>::default())
    }

    fn encode_reply(&self, head: &ReplyHead, reply: &Reply, bench: Option<&Value>) -> Vec<u8> {
        reply::whole(head, reply, bench)
    }

    fn encoder(&self, head: ReplyHead) -> Box<dyn EventEncoder> {
        Box::new(reply::ChunkWriter::new(head))
    }

    fn encode_error(&self, error: &ApiError, request_id: &str, bench: Option<&Value>) -> Vec<u8> {
        openai::error::write(error, request_id, bench)
    }
}
