//! What providers do, by name: in chat where it is not said otherwise. What an API's bytes are is in its own file.

pub(super) mod anthropic;
pub(super) mod chat;
pub(super) mod gemini;
pub(super) mod ollama;
pub(super) mod responses;

use serde_json::{Value, json};

use super::{Api, End, Reply, Script, Step};
pub use chat::{chunk, finish};

/// Counted as the provider's own: 11 tokens in, one out for each piece.
pub const TOKENS_IN: u64 = 11;

/// Streams the text word by word, and ends as it should.
pub fn answers(text: &str) -> Reply {
    Api::Chat.says(text)
}

/// Streams these pieces, then the finish, the usage and `[DONE]`, each in its own write.
pub fn tokens<'a>(pieces: impl IntoIterator<Item = &'a str>) -> Reply {
    Api::Chat.streams(pieces, End::Proper)
}

/// Streams `n` pieces, then ends the body properly but without finish or `[DONE]`.
pub fn cut_after(n: usize) -> Reply {
    cut(n)
}

/// Streams `n` pieces, then closes in the middle of a chunk of the transfer coding.
pub fn cut_mid_chunk(n: usize) -> Reply {
    cut(n).step(Step::Raw("fff\r\ndata: {\"cho".into())).step(Step::Close)
}

/// Streams `n` pieces, then resets the connection.
pub fn resets_after(n: usize) -> Reply {
    cut(n).step(Step::Pause(std::time::Duration::from_millis(50))).step(Step::Reset)
}

fn cut(n: usize) -> Reply {
    numbered(n, End::BrokenOff)
}

fn numbered(n: usize, end: End) -> Reply {
    let pieces: Vec<String> = (0..n).map(|i| format!("piece{i} ")).collect();
    Api::Chat.streams(pieces.iter().map(String::as_str), end)
}

/// Takes the request, then resets without a head.
pub fn without_head() -> Reply {
    Reply { before: vec![Step::Reset], head: false, ..stream() }
}

/// Takes the request and says nothing until the other side hangs up.
pub fn stalls() -> Reply {
    Reply { before: vec![Step::Stall], ..stream() }
}

/// 429, with `Retry-After` when a wait is given.
pub fn rate_limited(wait_seconds: Option<u64>) -> Reply {
    let reply = fails(429, "rate_limit_exceeded", "Rate limit reached for requests");
    match wait_seconds {
        Some(seconds) => reply.header("retry-after", &seconds.to_string()),
        None => reply,
    }
}

/// 401
pub fn refuses_key() -> Reply {
    fails(401, "invalid_api_key", "Incorrect API key provided")
}

/// 401 that repeats the key it was given, as some providers do.
pub fn echoes_key() -> Script {
    Script::by(|request| {
        let sent = request.header("authorization").unwrap_or_default();
        fails(
            401,
            "invalid_api_key",
            &format!("Incorrect API key provided: {}", sent.trim_start_matches("Bearer ")),
        )
    })
}

/// An error status with an OpenAI-shaped body.
pub fn fails(status: u16, code: &str, message: &str) -> Reply {
    Reply::whole(status, "application/json", chat::error_of(code, message).to_string())
}

/// An error status with words only.
pub fn plain_text_error(status: u16, words: &str) -> Reply {
    Reply::whole(status, "text/plain", words.to_owned())
}

/// 200, `application/json`, and the body is an error.
pub fn error_in_200(message: &str) -> Reply {
    Reply::whole(200, "application/json", json!({"error": {"message": message, "code": 500}}).to_string())
}

/// Pieces, then an error event in the stream.
pub fn error_event(pieces: usize, message: &str) -> Reply {
    numbered(pieces, End::Error(message))
}

/// A web page of some size instead of an answer.
pub fn html_page(status: u16) -> Reply {
    let filler = "<p>Our engineers have been told.</p>\n".repeat(400);
    let page =
        format!("<!DOCTYPE html><html><head><title>Just a moment</title></head><body>{filler}</body></html>");
    Reply::whole(status, "text/html; charset=utf-8", page)
}

/// A whole JSON reply although a stream was asked for.
pub fn json_for_stream(text: &str) -> Reply {
    let body = json!({
        "id": "chatcmpl-1", "object": "chat.completion", "created": 1, "model": "whole",
        "choices": [{"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": TOKENS_IN, "completion_tokens": 5, "total_tokens": TOKENS_IN + 5},
    });
    Reply::whole(200, "application/json", body.to_string())
}

/// A proper stream with no text in it.
pub fn empty() -> Reply {
    tokens([])
}

/// A proper stream whose answer is only a notice that the quota is used up.
pub fn quota_notice() -> Reply {
    answers("You have exceeded your current quota, please check your plan and billing details.")
}

/// One data line of `bytes` letters in an otherwise proper stream.
pub fn huge_line(bytes: usize) -> Reply {
    stream()
        .send(chunk(json!({"content": "a".repeat(bytes)}), None))
        .send(finish("stop"))
        .send("data: [DONE]\n\n")
}

/// Pieces of a megabyte until the other side hangs up.
pub fn never_ends(megabytes: usize) -> Reply {
    let piece = chunk(json!({"content": "a".repeat(1 << 20)}), None);
    (0..megabytes).fold(stream(), |reply, _| reply.send(piece.clone())).step(Step::Stall)
}

/// An open event stream with nothing in it.
pub fn stream() -> Reply {
    Reply::new("text/event-stream")
}

/// Each event in its own write, named by its type.
pub(super) fn named_events(events: &[Value]) -> Reply {
    events.iter().fold(stream(), |reply, event| reply.send(named_event(event)))
}

/// The same, numbered in their order.
pub(super) fn numbered_events(mut events: Vec<Value>) -> Reply {
    for (number, event) in events.iter_mut().enumerate() {
        event["sequence_number"] = json!(number);
    }
    named_events(&events)
}

/// One event, named by its type.
pub(super) fn named_event(data: &Value) -> String {
    format!("event: {}\ndata: {data}\n\n", data["type"].as_str().unwrap_or_default())
}
