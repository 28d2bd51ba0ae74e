//! One object-safe trait a dialect implements once, for both directions. N dialects, never N×M pairs. How to
//! add one is told in `docs/README.md`.

use serde_json::Value;

use crate::{
    count::TokenCount,
    error::{ApiError, UpstreamError},
    json::Json,
    model::{Event, Form, Reply, Request, Route, Target},
    notice::Notice,
    raw::Fields,
    relay::Plain,
    restore::Restore,
    rules::Rules,
    usage::Usage,
};

pub trait Format: Send + Sync {
    /// What members that speak this dialect take. [`prepare`](crate::prepare) holds requests to it.
    fn rules(&self) -> &'static Rules;

    /// Whether members can speak it; a dialect that only callers speak (legacy completions) is asked nothing.
    fn is_spoken_to_members(&self) -> bool {
        true
    }

    /// How a key is sent to such a member.
    fn auth(&self) -> Auth {
        Auth::Bearer
    }

    /// Reads a caller's body. A malformed value anywhere is a 400 with the path to it
    /// (`messages[2].content: expected string or list`). What was said is not copied: it holds the body.
    fn decode(&self, body: &Json, route: &Route<'_>) -> Result<Request, ApiError>;

    /// [`decode`](Self::decode) for a body that was not gone over yet.
    fn decode_request(&self, body: &[u8], route: &Route<'_>) -> Result<Request, ApiError> {
        self.decode(&Json::read(body.to_vec())?, route)
    }

    /// Builds the body for a member. Always streamed, with a usage request. The same request and target give the
    /// same bytes. Its answer's events must go through [`Encoded::restore`].
    fn encode_request(&self, request: &Request, target: &Target) -> Encoded;

    /// A caller's body for a member of the same dialect: `model` and what the gateway must change are edited in
    /// place, every other byte stays (lone surrogate escapes aside). `request` is the same body, decoded.
    fn relay(&self, body: &Json, request: &Request, target: &Target) -> Result<Encoded, ApiError>;

    /// [`relay`](Self::relay) for a body that was not gone over yet.
    fn relay_request(&self, body: &[u8], request: &Request, target: &Target) -> Result<Encoded, ApiError> {
        self.relay(&Json::read(body.to_vec())?, request, target)
    }

    /// Where a reply or a stream's event holds the model's name, for
    /// [`relay::ModelName`](crate::relay::ModelName).
    fn model_paths(&self) -> &'static [&'static [&'static str]] {
        &[&["model"]]
    }

    /// Whether an event of a stream, by its name, is of the public protocol; `None` when all are. Others are not
    /// relayed to callers ([`relay::PublicEvents`](crate::relay::PublicEvents)).
    fn public_events(&self) -> Option<fn(&str) -> bool> {
        None
    }

    /// How events of a stream are known that say nothing but a piece of text or thinking; `None` where all have to be
    /// read ([`relay::Relay::only_what_counts`](crate::relay::Relay::only_what_counts)).
    fn plain_pieces(&self) -> Option<&'static Plain> {
        None
    }

    /// A whole answer as one body.
    fn decode_reply(&self, body: &[u8]) -> Vec<Event> {
        let mut events = Vec::new();
        let mut decoder = self.decoder();
        decoder.push(body, &mut events);
        decoder.end(&mut events);
        events
    }

    /// Reads a member's reply body: bytes as they come, cut anywhere; a stream, a whole reply, a page. Names, ids
    /// and custom tools are as the member has them: [`Restore::over`] gives them back as the caller has them.
    fn decoder(&self) -> Box<dyn EventDecoder>;

    /// A non-2xx reply from a member. `content_type` as sent. The message is redacted and as long as the
    /// provider's: who knows the keys takes them out before it is shortened.
    fn decode_error(&self, status: u16, content_type: &str, body: &[u8]) -> UpstreamError {
        crate::failure::read(status, content_type, body)
    }

    /// A caller's headers that go on with a relayed body, because they switch features of it: `anthropic-beta`.
    fn feature_headers(&self) -> &'static [&'static str] {
        &[]
    }

    /// How tokens are counted; `None` in dialects that have no request for it.
    fn token_count(&self) -> Option<&'static dyn TokenCount> {
        None
    }

    /// A whole reply to a caller; `bench` sits at the top level where the dialect has room.
    fn encode_reply(&self, head: &ReplyHead, reply: &Reply, bench: Option<&Value>) -> Vec<u8>;

    /// Writes a streamed reply to a caller.
    fn encoder(&self, head: ReplyHead) -> Box<dyn EventEncoder>;

    /// The `content-type` of a streamed reply; a whole one is `application/json`.
    fn stream_type(&self, _form: Form) -> &'static str {
        "text/event-stream"
    }

    /// An error body for a caller, with `bench` beside `error` where a panel ran and nobody answered.
    fn encode_error(&self, error: &ApiError, request_id: &str, bench: Option<&Value>) -> Vec<u8>;
}

/// How a key goes to a provider.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Auth {
    /// `authorization: Bearer …`
    Bearer,
    /// A header of its own: `x-api-key`.
    Header(&'static str),
}

/// A request built for a member.
#[derive(Debug)]
pub struct Encoded {
    /// Joined to the endpoint's base URL: `/chat/completions`. What it holds of the caller's is percent-encoded.
    pub path: String,
    /// The dialect's own headers: `anthropic-version`.
    pub headers: Vec<(&'static str, &'static str)>,
    pub body: Vec<u8>,
    pub notices: Vec<Notice>,
    /// Gives the caller's names back in the answer.
    pub restore: Restore,
}

/// What every piece of one reply to a caller repeats, and what it must know of the question.
#[derive(Clone, Debug, Default)]
pub struct ReplyHead {
    /// The reply's id in the dialect's own spelling is made from this (`chatcmpl-<id>`).
    pub id: String,
    /// Unix seconds.
    pub created: i64,
    /// `model` exactly as the caller asked.
    pub model: String,
    /// Whether a stream carries a usage chunk, where the dialect lets the caller choose.
    pub include_usage: bool,
    pub form: Form,
    /// The gateway's estimate of the input, for dialects that tell it at the start (Anthropic).
    pub input_tokens: Option<u64>,
    /// [`Request::echo`].
    pub echo: Fields,
}

impl ReplyHead {
    /// The head of the reply to this request.
    pub fn of(request: &Request, id: impl Into<String>, created: i64) -> Self {
        ReplyHead {
            id: id.into(),
            created,
            model: request.model.clone(),
            include_usage: request.include_usage,
            form: request.form,
            input_tokens: None,
            echo: request.echo.clone(),
        }
    }
}

/// `Event::Finish` or `Event::Error` is the last event of a reply: once one has come, the body need not be read
/// on, and nothing follows it.
pub trait EventDecoder: Send {
    /// Feeds bytes as they arrived; events that are complete are appended to `out`.
    fn push(&mut self, bytes: &[u8], out: &mut Vec<Event>);

    /// Bytes came that need not be read, whole events of a stream: they count towards the most that a reply may hold.
    fn pass_over(&mut self, _bytes: usize, _out: &mut Vec<Event>) {}

    /// The body ended, or will not go on (a stall, a reset): a reply whose finish reason had come is finished.
    /// Without an end mark this appends an `Event::Error` (EOF is not a finish).
    fn end(&mut self, out: &mut Vec<Event>);

    /// The finish reason has come: only usage and the end mark can follow, and `end` would give a `Finish`. A
    /// provider that now falls silent need not be waited for.
    fn may_end(&self) -> bool {
        false
    }

    /// How many frames could not be read and were passed over.
    fn skipped(&self) -> u32 {
        0
    }
}

/// How long nothing has been written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Silence {
    /// 10 s.
    Short,
    /// 60 s: a client's idle timer may not count comments.
    Long,
}

/// Writes events as the caller's stream. Each call gives the bytes that go out now, perhaps none.
pub trait EventEncoder: Send {
    /// What was said next, appended to `out`. `Usage` and `Finish` are remembered for [`finish`](Self::finish); `Model`
    /// is told by the head; `Error` is for [`error`](Self::error) and ignored here.
    fn event_to(&mut self, event: &Event, out: &mut Vec<u8>);

    /// [`event_to`](Self::event_to) for one event alone.
    fn event(&mut self, event: &Event) -> Vec<u8> {
        let mut out = Vec::new();
        self.event_to(event, &mut out);
        out
    }

    /// A piece of the answer.
    fn text(&mut self, text: &str) -> Vec<u8> {
        self.event(&Event::Text(text.to_owned()))
    }

    /// What is sent after a silence.
    fn keep_alive(&mut self, silence: Silence) -> Vec<u8>;

    /// The plain end: what is open is closed, the reason (`Finish` as it was given to `event`, else the plain
    /// one), usage when asked for, end mark. `usage` goes over what events told. `bench` rides on the last piece
    /// that has room.
    fn finish(&mut self, usage: Usage, bench: Option<&Value>) -> Vec<u8>;

    /// After [`finish`](Self::finish), once: the whole reply as its caller was told it, in a dialect whose replies
    /// can be asked for again.
    fn take_reply(&mut self) -> Option<Value> {
        None
    }

    /// An error after the 200. The connection is then closed without the final chunk of its coding.
    fn error(&mut self, error: &ApiError, bench: Option<&Value>) -> Vec<u8>;
}
