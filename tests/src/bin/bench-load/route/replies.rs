//! What the upstream answers, made before it is asked.

use std::time::Duration;

use bytes::Bytes;
use serde_json::{Value, json};

use super::http1;

/// What the upstream does, named by the first part of the path; also the name of the model that does it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Script {
    /// One JSON body.
    Whole,
    /// Twenty pieces, in one write.
    Stream,
    /// Two thousand pieces in big writes; each event is a chunk of its own, as of a server that flushes each.
    Long,
    /// The same in chunks of 16 KB, as of one behind a proxy.
    Packed,
    /// A wait, then the first piece, then [`REST`] at [`PACE`].
    First,
    /// Forty pieces over eight seconds.
    Slow,
}

pub const SCRIPTS: [Script; 6] =
    [Script::Whole, Script::Stream, Script::Long, Script::Packed, Script::First, Script::Slow];

/// Stands once in every piece.
pub const MARK: u8 = b'~';

pub const PACE: Duration = Duration::from_millis(5);
pub const REST: usize = 5;
pub const SLOW_PIECES: usize = 40;
pub const SLOW_PACE: Duration = Duration::from_millis(200);
const LONG: usize = 2000;
const PACKED: usize = 16 * 1024;

impl Script {
    pub fn name(self) -> &'static str {
        match self {
            Script::Whole => "whole",
            Script::Stream => "stream",
            Script::Long => "long",
            Script::Packed => "packed",
            Script::First => "first",
            Script::Slow => "slow",
        }
    }

    /// How many pieces its answer has.
    pub fn marks(self) -> usize {
        match self {
            Script::Whole => 1,
            Script::Stream => 20,
            Script::Long | Script::Packed => LONG,
            Script::First => 1 + REST,
            Script::Slow => SLOW_PIECES,
        }
    }

    pub fn is_streamed(self) -> bool {
        self != Script::Whole
    }
}

/// The bytes of every answer.
pub struct Replies {
    pub whole: Bytes,
    pub stream: Bytes,
    pub long: Bytes,
    pub packed: Bytes,
    /// A stream's head and first event, which has no content.
    pub begin: Bytes,
    /// An event with content.
    pub piece: Bytes,
    /// What comes when all was said.
    pub end: Bytes,
}

impl Replies {
    pub fn new() -> Replies {
        let begin = [STREAM_HEAD, &chunk(&event(json!({"role": "assistant", "content": ""}), None))].concat();
        let piece = event(json!({"content": " word~"}), None);
        let end = [event(json!({}), Some("stop")), usage(), b"data: [DONE]\n\n".to_vec()];
        let last: Vec<u8> = end.iter().flat_map(|event| chunk(event)).chain(*b"0\r\n\r\n").collect();
        let streamed =
            |pieces: usize| Bytes::from([&begin[..], &chunk(&piece).repeat(pieces), &last].concat());
        let events: Vec<u8> = piece.repeat(LONG).into_iter().chain(end.concat()).collect();
        let packed: Vec<u8> = events.chunks(PACKED).flat_map(chunk).collect();
        Replies {
            whole: whole().into(),
            stream: streamed(Script::Stream.marks()),
            long: streamed(LONG),
            packed: [&begin[..], &packed, b"0\r\n\r\n"].concat().into(),
            piece: chunk(&piece).into(),
            begin: begin.into(),
            end: last.into(),
        }
    }

    /// The piece that says how long the upstream took for it.
    pub fn first(own: Duration) -> Vec<u8> {
        let text = format!("own={:012}{}", own.as_nanos(), char::from(MARK));
        chunk(&event(json!({"content": text}), None))
    }
}

/// What a piece of [`Replies::first`] says, once it is there.
pub fn own_time(reply: &[u8]) -> Option<Duration> {
    let from = http1::find(reply, b"own=")? + 4;
    let digits = std::str::from_utf8(reply.get(from..from + 12)?).ok()?;
    digits.parse().ok().map(Duration::from_nanos)
}

const STREAM_HEAD: &[u8] =
    b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncache-control: no-cache\r\ntransfer-encoding: chunked\r\n\r\n";

fn whole() -> Vec<u8> {
    let body = json!({
        "id": "chatcmpl-B9MBs8CjcvOU2jLn4n570S5qMJKcT", "object": "chat.completion", "created": 1_760_000_000,
        "model": "mock", "system_fingerprint": "fp_50cad350e4",
        "choices": [{
            "index": 0, "finish_reason": "stop", "logprobs": null,
            "message": {"role": "assistant", "content": "One, two, three, and so on to twenty~", "refusal": null},
        }],
        "usage": {"prompt_tokens": 19, "completion_tokens": 10, "total_tokens": 29},
    })
    .to_string();
    let length = body.len();
    format!("HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {length}\r\n\r\n{body}")
        .into_bytes()
}

fn event(delta: Value, finish: Option<&str>) -> Vec<u8> {
    let choice = json!({"index": 0, "delta": delta, "logprobs": null, "finish_reason": finish});
    data(&json!([choice]), &Value::Null)
}

fn usage() -> Vec<u8> {
    data(&json!([]), &json!({"prompt_tokens": 19, "completion_tokens": 10, "total_tokens": 29}))
}

fn data(choices: &Value, usage: &Value) -> Vec<u8> {
    let event = json!({
        "id": "chatcmpl-B9MBs8CjcvOU2jLn4n570S5qMJKcT", "object": "chat.completion.chunk",
        "created": 1_760_000_000, "model": "mock", "system_fingerprint": "fp_50cad350e4",
        "choices": choices, "usage": usage,
    });
    format!("data: {event}\n\n").into_bytes()
}

fn chunk(bytes: &[u8]) -> Vec<u8> {
    [format!("{:x}\r\n", bytes.len()).as_bytes(), bytes, b"\r\n"].concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_answer_has_its_pieces() {
        let replies = Replies::new();
        for (script, reply) in [
            (Script::Whole, &replies.whole),
            (Script::Stream, &replies.stream),
            (Script::Long, &replies.long),
            (Script::Packed, &replies.packed),
        ] {
            let head = http1::head(reply).unwrap();
            assert!(http1::is_whole(reply, &head), "{script:?}");
            let said = http1::payload(reply, &head);
            assert_eq!(said.iter().filter(|byte| **byte == MARK).count(), script.marks(), "{script:?}");
            assert_eq!(http1::find(&said, b"[DONE]").is_some(), script.is_streamed(), "{script:?}");
        }
    }

    #[test]
    fn a_first_piece_says_how_long_it_took() {
        let own = Duration::from_micros(20_123);
        assert_eq!(own_time(&Replies::first(own)), Some(own));
        assert_eq!(own_time(b"\"own=0000"), None);
    }
}
