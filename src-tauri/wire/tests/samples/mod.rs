//! Streams and bodies of any size in any dialect, for measuring. What is measured is also what is read and written
//! in earnest: streams come from the dialect's own encoder, bodies from its own request.

use wire::{CallStart, Dialect, Event, Finish, ReplyHead, Request, Route, Target, Usage, format};

/// The dialects that members speak.
pub const MEMBERS: [Dialect; 5] =
    [Dialect::Chat, Dialect::Anthropic, Dialect::Responses, Dialect::Gemini, Dialect::Ollama];

/// What a piece of text says: about as much as a token or two.
pub const PIECE: &str = " pieces of 北 \"text\"";

pub fn head() -> ReplyHead {
    ReplyHead {
        id: "p1".to_owned(),
        created: 1_795_000_000,
        model: "bench/core".to_owned(),
        include_usage: true,
        ..ReplyHead::default()
    }
}

/// An answer of that many pieces of text.
pub fn answer(pieces: usize) -> Vec<Event> {
    let mut events = vec![Event::Text(PIECE.to_owned()); pieces];
    events.push(Event::Usage(Usage { input: Some(100), output: Some(pieces as u64), ..Usage::default() }));
    events.push(Event::Finish { reason: Finish::Stop, inferred: false });
    events
}

/// One call whose arguments, one long string, come in that many pieces.
pub fn call(pieces: usize) -> Vec<Event> {
    let start =
        CallStart { index: 0, id: "call_1".to_owned(), name: "write".to_owned(), ..CallStart::default() };
    let piece = |delta: &str| Event::CallArguments { index: 0, delta: delta.to_owned() };
    let mut events = vec![Event::CallStart(start), piece("{\"text\":\"")];
    events.extend(std::iter::repeat_n(piece("twenty bytes a delta"), pieces));
    events.extend([piece("\"}"), Event::CallEnd { index: 0 }]);
    events.push(Event::Finish { reason: Finish::ToolCalls, inferred: false });
    events
}

/// The events as a member's stream.
pub fn stream(dialect: Dialect, events: &[Event]) -> Vec<u8> {
    let mut encoder = format(dialect).encoder(head());
    let mut stream: Vec<u8> = events.iter().flat_map(|event| encoder.event(event)).collect();
    stream.extend(encoder.finish(Usage::default(), None));
    stream
}

/// A conversation, about that many bytes of it, as its body in the dialect.
pub fn body(dialect: Dialect, bytes: usize) -> Vec<u8> {
    format(dialect).encode_request(&request(dialect, bytes), &target()).body
}

/// The same conversation as a request of the dialect.
pub fn request(dialect: Dialect, bytes: usize) -> Request {
    let turn =
        "A turn of a few kilobytes, with \"quotes\", lines\n and 北京. ".repeat(bytes.min(4096).div_ceil(64));
    let turns = bytes.div_ceil(turn.len()).max(1);
    let messages: Vec<serde_json::Value> = (0..turns)
        .map(|at| serde_json::json!({ "role": if at % 2 == 0 { "user" } else { "assistant" }, "content": turn }))
        .collect();
    let chat =
        serde_json::json!({ "model": "bench/core", "messages": messages, "temperature": 0.5 }).to_string();
    let request = format(Dialect::Chat).decode_request(chat.as_bytes(), &Route::default());
    let mut request = request.unwrap_or_default();
    request.dialect = dialect;
    request
}

pub fn route() -> Route<'static> {
    Route { model: Some("bench/core"), ..Route::default() }
}

pub fn target() -> Target {
    Target { served: "vendor/model-1".to_owned(), callers_options: true, ..Target::default() }
}
