//! What every caller gets, whichever API it speaks: our own stream is read as a client would and must say what
//! was said, in order, with the rules of streams kept.

use libtest_mimic::Trial;
use serde_json::Value;
use wire::{
    CallKind, CallStart, Content, Dialect, Event, Finish, Reply, ReplyHead, Seal, Silence, Usage, format,
};

use crate::{
    support::{decode_as, render},
    trial,
};

pub fn trials() -> Vec<Trial> {
    let mut trials = Vec::new();
    let mut add = |id: &str, what: &str, dialect: Dialect, check: fn(Dialect)| {
        trials.push(trial(format!("{id} a caller of {dialect:?}: {what}"), move || check(dialect)));
    };
    for dialect in Dialect::ALL.iter().copied() {
        add("W019", "an answer holds no comment, so that every line can be parsed", dialect, |dialect| {
            let out = stream(dialect, &[text("a"), usage(FULL), finish(Finish::Stop)]);
            for line in out.lines().filter(|line| !line.is_empty()) {
                let data = line.strip_prefix("data: ").unwrap_or(line);
                let is_json = serde_json::from_str::<Value>(data).is_ok();
                assert!(is_json || data == "[DONE]" || line.starts_with("event: "), "{line}");
            }
        });
        add("W024", "a silence is broken by something that says nothing", dialect, |dialect| {
            for silence in [Silence::Short, Silence::Long] {
                let mut encoder = encoder(dialect);
                let mut out = Vec::new();
                for event in [text("a"), text("b"), finish(Finish::Stop)] {
                    let kept = encoder.keep_alive(silence);
                    assert!(!kept.is_empty());
                    out.extend(kept);
                    out.extend(encoder.event(&event));
                }
                out.extend(encoder.finish(Usage::default(), None));
                let plain = stream(dialect, &[text("a"), text("b"), finish(Finish::Stop)]);
                assert_eq!(read(dialect, &out), read(dialect, plain.as_bytes()));
            }
        });
        add("W052", "a count comes to who asks, where that can be asked", dialect, |dialect| {
            let head = ReplyHead { include_usage: false, ..head() };
            let out = streamed(dialect, head, &[text("a"), usage(FULL), finish(Finish::Stop)]);
            let can_ask = matches!(dialect, Dialect::Chat | Dialect::Completions);
            assert_eq!(
                out.contains("tokens") || out.contains("eval_count") || out.contains("TokenCount"),
                !can_ask
            );
            assert!(!out.contains("\"choices\":[]"), "{out}");
        });
        add("W061", "counts are numbers or absent", dialect, |dialect| {
            for known in [Usage::default(), Usage { input: Some(3), output: Some(2), ..Usage::default() }] {
                let events = [text("a"), usage(known), finish(Finish::Stop)];
                let whole = format(dialect).encode_reply(&head(), &Reply::from_events(&events), None);
                let whole = String::from_utf8(whole).unwrap();
                let streamed = stream(dialect, &events);
                for out in
                    streamed.lines().filter_map(|line| line.strip_prefix("data: ")).chain([whole.as_str()])
                {
                    let Ok(value) = serde_json::from_str::<Value>(out) else { continue };
                    for at in ["/usage", "/usageMetadata", "/message/usage", "/response/usage"] {
                        let counts = value.pointer(at).map(Value::to_string).unwrap_or_default();
                        assert!(!counts.contains(":null"), "{counts}");
                    }
                }
            }
        });
        add("W174", "a stream that failed does not end like one that finished", dialect, |dialect| {
            let mut encoder = encoder(dialect);
            let mut out = encoder.event(&text("a"));
            let error = wire::ApiError::new(wire::Kind::Upstream, wire::Origin::Upstream, "x", "it broke");
            out.extend(encoder.error(&error, None));
            let out = String::from_utf8(out).unwrap();
            assert!(out.contains("it broke"), "{out}");
            let ends =
                ["message_stop", "response.completed", "\"done\":true", "finish_reason\":\"", "finishReason"];
            for end in ends {
                assert!(!out.contains(end), "{end}: {out}");
            }
        });
    }
    let with_calls = || Dialect::ALL.iter().copied().filter(|dialect| *dialect != Dialect::Completions);
    for dialect in with_calls() {
        add("W043", "arguments that never came are an empty object", dialect, |dialect| {
            let events = [start(0, "a", "now"), Event::CallEnd { index: 0 }, finish(Finish::ToolCalls)];
            for reply in both(dialect, &events) {
                assert_eq!(reply.tool_calls().next().unwrap().arguments, "{}");
            }
        });
        add("W045", "a call is the first, whatever was said before it", dialect, |dialect| {
            let mut events = vec![Event::Thinking("t".to_owned()), text("a")];
            events.extend(call(0, "a", "f", r#"{"x":1}"#));
            events.extend(call(1, "b", "g", r#"{"y":2}"#));
            events.push(finish(Finish::ToolCalls));
            for reply in both(dialect, &events) {
                let calls: Vec<(&str, &str)> =
                    reply.tool_calls().map(|call| (call.name.as_str(), call.arguments.as_str())).collect();
                assert_eq!(calls, [("f", r#"{"x":1}"#), ("g", r#"{"y":2}"#)]);
                assert_eq!(reply.text(), "a");
                assert_eq!(reply.finish, Some(Finish::ToolCalls));
            }
            let out = stream(dialect, &events);
            if dialect == Dialect::Chat {
                assert!(out.contains(r#""tool_calls":[{"index":0,"id":"a""#), "{out}");
                assert!(out.contains(r#""tool_calls":[{"index":1,"id":"b""#), "{out}");
            }
        });
        add("W048", "length outweighs a call, and half a call is none", dialect, |dialect| {
            let mut events = vec![text("a")];
            events.extend(call(0, "a", "f", r#"{"x":1}"#));
            events.extend([start(1, "b", "g"), arguments(1, "{\"y")]);
            events.push(finish(Finish::Length));
            for reply in both(dialect, &events) {
                assert_eq!(reply.finish, Some(Finish::Length));
                let whole =
                    reply.tool_calls().filter(|call| serde_json::from_str::<Value>(&call.arguments).is_ok());
                assert_eq!(whole.map(|call| call.name.as_str()).collect::<Vec<_>>(), ["f"]);
            }
        });
        add("W038", "arguments keep their keys' order and their numbers", dialect, |dialect| {
            let written = r#"{"z":1.0,"a":12345678901234567890123,"e":1e5,"m":-0.10}"#;
            let mut events = call(0, "a", "f", written);
            events.push(finish(Finish::ToolCalls));
            for reply in both(dialect, &events) {
                assert_eq!(reply.tool_calls().next().unwrap().arguments, written);
            }
        });
        add("W098", "what a free-form tool is given arrives word for word", dialect, |dialect| {
            let patch = "*** Begin Patch\n+\"x\"\n";
            let start = CallStart {
                id: "a".to_owned(),
                name: "apply_patch".to_owned(),
                kind: CallKind::Custom,
                ..CallStart::default()
            };
            let events = [
                Event::CallStart(start),
                arguments(0, patch),
                Event::CallEnd { index: 0 },
                finish(Finish::ToolCalls),
            ];
            for reply in both(dialect, &events) {
                let call = reply.tool_calls().next().unwrap();
                let given = match call.kind {
                    CallKind::Custom => call.arguments.to_string(),
                    CallKind::Function => {
                        let object: Value = serde_json::from_str(&call.arguments).unwrap();
                        object["input"].as_str().unwrap().to_owned()
                    }
                };
                assert_eq!(given, patch);
            }
        });
        add("W057", "cached tokens are counted once", dialect, |dialect| {
            if dialect == Dialect::Ollama {
                return assert!(
                    stream(dialect, &[usage(FULL), finish(Finish::Stop)])
                        .contains("\"prompt_eval_count\":100")
                );
            }
            for reply in both(dialect, &[text("a"), usage(FULL), finish(Finish::Stop)]) {
                assert_eq!((reply.usage.input, reply.usage.cache_read), (Some(100), Some(80)));
            }
            let out = stream(dialect, &[text("a"), usage(FULL), finish(Finish::Stop)]);
            let wanted: &[&str] = match dialect {
                Dialect::Anthropic => &["\"input_tokens\":20", "\"cache_read_input_tokens\":80"],
                Dialect::Gemini => &["\"promptTokenCount\":100", "\"cachedContentTokenCount\":80"],
                Dialect::Responses => &["\"input_tokens\":100", "\"cached_tokens\":80"],
                _ => &["\"prompt_tokens\":100", "\"cached_tokens\":80"],
            };
            for count in wanted {
                assert!(out.contains(count), "{count}: {out}");
            }
        });
        add("W072", "thinking, text and thinking keep their order", dialect, |dialect| {
            let thought = |text: &str| Event::Thinking(text.to_owned());
            let events = [thought("a"), text("b"), thought("c"), text("d"), finish(Finish::Stop)];
            let out = stream(dialect, &events);
            let read: Vec<Event> = read(dialect, out.as_bytes());
            let said = read.into_iter().filter(|event| matches!(event, Event::Thinking(_) | Event::Text(_)));
            assert_eq!(said.collect::<Vec<_>>(), events[..4], "{out}");
        });
        add("W076", "an empty piece says nothing", dialect, |dialect| {
            let with = [
                text(""),
                start(0, "a", "f"),
                arguments(0, "{"),
                text(""),
                arguments(0, "}"),
                Event::CallEnd { index: 0 },
                finish(Finish::ToolCalls),
            ];
            let without: Vec<Event> = with.iter().filter(|event| **event != text("")).cloned().collect();
            let (with, without) = (stream(dialect, &with), stream(dialect, &without));
            assert_eq!(read(dialect, with.as_bytes()), read(dialect, without.as_bytes()));
        });
        add("W148", "several texts are all of the answer, in order", dialect, |dialect| {
            for reply in both(
                dialect,
                &[
                    text("a"),
                    text("b"),
                    start(0, "a", "f"),
                    Event::CallEnd { index: 0 },
                    text("c"),
                    finish(Finish::ToolCalls),
                ],
            ) {
                assert_eq!(reply.text(), "abc");
            }
        });
    }
    add(
        "W042",
        "a signature is told beside what it signs, and comes back as it was",
        Dialect::Anthropic,
        |dialect| {
            let events = [
                Event::Thinking("t".to_owned()),
                Event::ThinkingSignature(Seal::new("sig")),
                text("a"),
                finish(Finish::Stop),
            ];
            for reply in both(dialect, &events) {
                let Content::Thinking(thinking) = &reply.parts[0].content else { panic!("{reply:?}") };
                assert_eq!(thinking.signature.as_ref().unwrap().data, "sig");
            }
        },
    );
    trials
}

/// A hundred tokens in, eighty of them cached.
const FULL: Usage =
    Usage { input: Some(100), output: Some(5), reasoning: None, cache_read: Some(80), cache_write: None };

fn head() -> ReplyHead {
    ReplyHead { id: "1".to_owned(), model: "bench/x".to_owned(), include_usage: true, ..ReplyHead::default() }
}

fn encoder(dialect: Dialect) -> Box<dyn wire::EventEncoder> {
    format(dialect).encoder(head())
}

fn stream(dialect: Dialect, events: &[Event]) -> String {
    streamed(dialect, head(), events)
}

fn streamed(dialect: Dialect, head: ReplyHead, events: &[Event]) -> String {
    let mut encoder = format(dialect).encoder(head);
    let mut out: Vec<u8> = events.iter().flat_map(|event| encoder.event(event)).collect();
    out.extend(encoder.finish(Usage::default(), None));
    String::from_utf8(out).unwrap()
}

/// The reply as a client reads it: streamed, and whole.
fn both(dialect: Dialect, events: &[Event]) -> [Reply; 2] {
    let whole = format(dialect).encode_reply(&head(), &Reply::from_events(events), None);
    [read(dialect, stream(dialect, events).as_bytes()), read(dialect, &whole)].map(|events| {
        assert!(matches!(events.last(), Some(Event::Finish { .. })), "{}", render(&events));
        Reply::from_events(&events)
    })
}

/// Neighbouring pieces of one thing are joined: where a dialect cuts is its own.
fn read(dialect: Dialect, body: &[u8]) -> Vec<Event> {
    let dialect = if dialect == Dialect::Completions { return completion(body) } else { dialect };
    decode_as(dialect, [body])
}

/// No member speaks legacy completions: its chunks are chat's, with the text in another place.
fn completion(body: &[u8]) -> Vec<Event> {
    let text = String::from_utf8_lossy(body);
    let mut events = Vec::new();
    for data in text.lines().filter_map(|line| line.strip_prefix("data: ")) {
        let Ok(value) = serde_json::from_str::<Value>(data) else { continue };
        let said = value.pointer("/choices/0/text").and_then(Value::as_str).filter(|said| !said.is_empty());
        events.extend(said.map(self::text));
    }
    events
}

fn text(text: &str) -> Event {
    Event::Text(text.to_owned())
}

fn usage(usage: Usage) -> Event {
    Event::Usage(usage)
}

fn finish(reason: Finish) -> Event {
    Event::Finish { reason, inferred: false }
}

fn start(index: usize, id: &str, name: &str) -> Event {
    Event::CallStart(CallStart { index, id: id.to_owned(), name: name.to_owned(), ..CallStart::default() })
}

fn arguments(index: usize, delta: &str) -> Event {
    Event::CallArguments { index, delta: delta.to_owned() }
}

fn call(index: usize, id: &str, name: &str, all: &str) -> Vec<Event> {
    vec![start(index, id, name), arguments(index, all), Event::CallEnd { index }]
}
