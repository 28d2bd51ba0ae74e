//! A streamed reply relayed: the bytes of every golden stream, however they are cut; what it says on the side; and how
//! a chat stream ends.

use std::{fs, path::Path};

use proptest::prelude::*;
use serde_json::json;
use wire::{
    Dialect, Event, Member, Request, format,
    relay::{ModelName, PublicEvents, Relay, restore, whole},
};

use super::support::decode_as;

const MEMBERS: [Dialect; 5] =
    [Dialect::Chat, Dialect::Anthropic, Dialect::Responses, Dialect::Gemini, Dialect::Ollama];
const DONE: &str = "data: [DONE]\n\n";

fn asked(dialect: Dialect, include_usage: bool) -> Request {
    Request {
        dialect,
        model: "bench/\"core\":route".to_owned(),
        include_usage,
        stream: true,
        ..Request::default()
    }
}

fn relayed<'a>(request: &Request, pieces: impl IntoIterator<Item = &'a [u8]>) -> (Vec<u8>, Vec<Event>) {
    let (mut relay, mut out, mut events) = (Relay::new(request, Member(1)), Vec::new(), Vec::new());
    for piece in pieces {
        out.extend(relay.push(piece, &mut events));
    }
    out.extend(relay.end(&mut events));
    out.extend(relay.finish(None));
    (out, events)
}

fn text(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes).unwrap()
}

/// What the two jobs give that a relay does in one.
fn renamed(dialect: Dialect, body: &[u8]) -> Vec<u8> {
    let request = asked(dialect, true);
    let mut public = PublicEvents::new(format(dialect));
    let mut names = ModelName::new(format(dialect).model_paths(), &request.model);
    let bytes = [public.push(body), public.end()].concat();
    [names.push(&bytes), names.end()].concat()
}

/// The dialect, the case and the stream of every golden case that has one.
fn streams() -> Vec<(Dialect, String, Vec<u8>)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/golden");
    let mut streams = Vec::new();
    for folder in fs::read_dir(root).unwrap().flatten() {
        let name = folder.file_name().to_string_lossy().into_owned();
        let dialect = MEMBERS
            .into_iter()
            .find(|dialect| Some(json!(dialect).as_str().unwrap()) == name.split('-').next());
        if let (Some(dialect), Ok(stream)) = (dialect, fs::read(folder.path().join("upstream.stream"))) {
            streams.push((dialect, name, stream));
        }
    }
    assert!(streams.len() > 60, "{} streams", streams.len());
    streams
}

#[test]
fn every_golden_stream_goes_on_as_it_came_however_it_is_cut() {
    for (dialect, name, stream) in streams() {
        let request = asked(dialect, true);
        let said = unmarked(relayed(&request, [stream.as_slice()]).1);
        assert_eq!(said, decode_as(dialect, [stream.as_slice()]), "{name}: what it says");
        let mut wanted = renamed(dialect, &stream);
        if let Some(at) = memchr::memmem::find(&wanted, b"data: [DONE]")
            .or_else(|| memchr::memmem::find(&wanted, b"data:[DONE]"))
        {
            wanted.truncate(at);
        }
        let is_chat = dialect == Dialect::Chat && !matches!(wanted.first(), Some(b'{' | b'[' | b'<'));
        // Of a long stream the middle is all alike.
        let step = if stream.len() > 2_000 { 7 } else { 1 };
        for cut in (0..=stream.len()).step_by(step) {
            let (before, after) = stream.split_at(cut);
            let (mut out, events) = relayed(&request, [before, after]);
            if is_chat {
                out = out
                    .strip_suffix(DONE.as_bytes())
                    .unwrap_or_else(|| panic!("{name}: no end mark"))
                    .to_vec();
                if !wanted.ends_with(b"\n\n") && !wanted.ends_with(b"\r\n\r\n") && !wanted.ends_with(b"\r\r")
                {
                    out = out.strip_suffix(b"\n\n").unwrap().to_vec();
                }
            }
            assert_eq!(
                String::from_utf8_lossy(&out),
                String::from_utf8_lossy(&wanted),
                "{name} cut at {cut}"
            );
            assert_eq!(unmarked(events), said, "{name} cut at {cut}");
        }
        let (out, events) = relayed(&request, stream.chunks(1));
        assert!(out.starts_with(&wanted) && unmarked(events) == said, "{name} byte by byte");
    }
}

/// Seals as a decoder alone gives them: without their maker.
fn unmarked(mut events: Vec<Event>) -> Vec<Event> {
    for event in &mut events {
        match event {
            Event::ThinkingSignature(seal) | Event::Redacted { seal, .. } => {
                assert_eq!(seal.origin.take(), Some(Member(1)));
            }
            Event::CallStart(start) => start.signature.iter_mut().for_each(|seal| seal.origin = None),
            _ => {}
        }
    }
    events
}

/// Without what need not be told.
fn that_count(mut events: Vec<Event>) -> Vec<Event> {
    events.retain(|event| !matches!(event, Event::Text(_) | Event::Thinking(_)));
    events
}

#[test]
fn what_counts_is_told_and_the_bytes_are_the_same_when_text_is_not_read() {
    for (dialect, name, stream) in streams() {
        let request = asked(dialect, true);
        let (wanted, told) = relayed(&request, [stream.as_slice()]);
        let told = that_count(told);
        for size in [1, 7, 100, stream.len()] {
            let (mut relay, mut out, mut events) = (Relay::new(&request, Member(1)), Vec::new(), Vec::new());
            for piece in stream.chunks(size) {
                out.extend(relay.push(piece, &mut events));
                if events.iter().any(Event::is_content) {
                    relay.only_what_counts();
                }
            }
            out.extend(relay.end(&mut events));
            out.extend(relay.finish(None));
            assert_eq!(
                String::from_utf8_lossy(&out),
                String::from_utf8_lossy(&wanted),
                "{name} in pieces of {size}"
            );
            assert_eq!(that_count(events), told, "{name} in pieces of {size}");
        }
    }
}

#[test]
fn text_is_passed_over_unread_once_the_answer_has_begun() {
    let told = |text: &str| (0..9).map(|at| text.replace('@', &at.to_string())).collect::<String>();
    for (dialect, event) in [
        (
            Dialect::Chat,
            "data: {\"model\":\"m\",\"choices\":[{\"index\":0,\"delta\":{\"content\":\"@\"},\"finish_reason\":null}],\"usage\":null}\n\n",
        ),
        (
            Dialect::Chat,
            "data: {\"choices\":[{\"delta\":{\"reasoning\":\"@\"}}],\"id\":\"@\",\"model\":\"m\",\"object\":\"chat.completion.chunk\"}\r\n\r\n",
        ),
        (
            Dialect::Anthropic,
            "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\"@\"}}\n\n",
        ),
        (
            Dialect::Responses,
            "data: {\"type\":\"response.output_text.delta\",\"sequence_number\":@,\"delta\":\"@\",\"obfuscation\":\"x\"}\n\n",
        ),
        (
            Dialect::Ollama,
            "{\"model\":\"m\",\"created_at\":\"@\",\"message\":{\"content\":\"@\"},\"done\":false}\n",
        ),
    ] {
        let request = asked(dialect, true);
        let stream = told(event);
        let (mut relay, mut events) = (Relay::new(&request, Member(1)), Vec::new());
        let (begin, rest) = stream.split_at(event.len());
        let mut out = relay.push(begin.as_bytes(), &mut events);
        relay.only_what_counts();
        events.clear();
        out.extend(relay.push(rest.as_bytes(), &mut events));
        assert_eq!(events, [], "{dialect:?}");
        // A letter each.
        assert_eq!((relay.take_unread(), relay.take_unread()), (8, 0), "{dialect:?}");
        assert_eq!(text(out), stream.replace("\"m\"", "\"bench/\\\"core\\\":route\""), "{dialect:?}");
    }
}

const CHUNKS: &str = "data: {\"id\":\"c1\",\"object\":\"chat.completion.chunk\",\"created\":17,\"model\":\"m\",\"choices\":[{\"index\":0,\"delta\":{\"content\":\"[DONE]\"}}]}\n\ndata: {\"id\":\"c1\",\"model\":\"m\",\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}],\"usage\":null}\n\n";
const USAGE: &str = "data: {\"id\":\"c1\",\"choices\":[],\"usage\":{\"prompt_tokens\":3}}\n\n";

#[test]
fn a_chat_stream_ends_with_bench_and_then_its_end_mark() {
    let renamed = CHUNKS.replace("\"m\"", "\"bench/\\\"core\\\":route\"");
    let bench = "data: {\"id\":\"c1\",\"object\":\"chat.completion.chunk\",\"created\":17,\"model\":\"bench/\\\"core\\\":route\",\"choices\":[],\"bench\":{\"turn\":1}}\n\n";
    for (end, usage, wanted) in [
        ("data: [DONE]\n\n", true, format!("{renamed}{USAGE}{bench}{DONE}")),
        ("data: [DONE]\n\n", false, format!("{renamed}{bench}{DONE}")),
        ("data: [DONE]", true, format!("{renamed}{USAGE}{bench}{DONE}")),
        ("", true, format!("{renamed}{USAGE}{bench}{DONE}")),
        ("data:[DONE]\n\n: late\n\n", true, format!("{renamed}{USAGE}{bench}{DONE}")),
        (": said\n\n", true, format!("{renamed}{USAGE}: said\n\n{bench}{DONE}")),
        (": said", true, format!("{renamed}{USAGE}: said\n\n{bench}{DONE}")),
        ("data: {}\ndata: [DONE]\n\n", true, format!("{renamed}{USAGE}data: {{}}\n\n{bench}{DONE}")),
    ] {
        let body = format!("{CHUNKS}{USAGE}{end}");
        for size in [1, 7, body.len()] {
            let mut relay = Relay::new(&asked(Dialect::Chat, usage), Member(1));
            let mut events = Vec::new();
            let mut out: Vec<u8> =
                body.as_bytes().chunks(size).flat_map(|piece| relay.push(piece, &mut events)).collect();
            assert!(relay.may_end() || end.contains("DONE"));
            out.extend(relay.end(&mut events));
            out.extend(relay.finish(Some(&json!({ "turn": 1 }))));
            assert_eq!(text(out), wanted, "{end:?} in pieces of {size}");
            assert!(
                events.iter().any(|event| matches!(event, Event::Usage(usage) if usage.input == Some(3)))
            );
            assert!(matches!(events.last(), Some(Event::Finish { .. })));
        }
    }
}

#[test]
fn only_a_chat_stream_gets_an_end() {
    for dialect in MEMBERS.into_iter().filter(|dialect| *dialect != Dialect::Chat) {
        let mut relay = Relay::new(&asked(dialect, true), Member(1));
        relay.push(b"data: {}\n\n", &mut Vec::new());
        assert_eq!(text(relay.finish(Some(&json!({})))), "");
    }
    let mut relay = Relay::new(&asked(Dialect::Chat, true), Member(1));
    assert_eq!(
        text(relay.push(b"{\"model\":\"m\"}\n", &mut Vec::new())),
        "{\"model\":\"bench/\\\"core\\\":route\"}\n"
    );
    assert_eq!(text(relay.finish(Some(&json!({})))), "");
}

#[test]
fn a_whole_reply_is_renamed_and_told_bench_where_there_is_room() {
    let body = "{ \"id\":\"1\",\"model\": \"m\",\"choices\":[{\"message\":{\"content\":\"hi\"},\"finish_reason\":\"stop\"}] }\n";
    let request = asked(Dialect::Chat, false);
    let said = |body: &[u8]| restore(&request, Member(1)).events(format(Dialect::Chat).decode_reply(body));
    let out = whole(&request, body.as_bytes(), Some(&json!({ "turn": 1 })));
    assert_eq!(
        text(out),
        body.replace("\"m\"", "\"bench/\\\"core\\\":route\"").replace("] }", "] ,\"bench\":{\"turn\":1}}")
    );
    assert_eq!(said(body.as_bytes()), decode_as(Dialect::Chat, [body.as_bytes()]));
    let body = "{\"modelVersion\":\"m\",\"candidates\":[]}";
    let out = whole(&asked(Dialect::Gemini, false), body.as_bytes(), Some(&json!({})));
    assert_eq!(text(out), body.replace("\"m\"", "\"bench/\\\"core\\\":route\""));
    let out = whole(&request, b"<html>", Some(&json!({})));
    assert_eq!(text(out), "<html>");
    assert!(matches!(said(b"<html>")[..], [Event::Error(_)]));
}

/// A byte order mark, half a surrogate pair, and a number that no `f64` holds: a member may write them, and they go on.
#[test]
fn what_a_strict_reader_refuses_goes_on_in_a_whole_reply() {
    for (dialect, body) in [
        (
            Dialect::Chat,
            r#"{"model":"m","logprob":-1e400,"choices":[{"message":{"content":"a\ud83d"},"finish_reason":"stop"}]}"#,
        ),
        (
            Dialect::Responses,
            r#"{"object":"response","model":"m","n":1e400,"status":"completed","output":[{"type":"message","content":[{"type":"output_text","text":"a\ud83d"}]}]}"#,
        ),
        (
            Dialect::Anthropic,
            r#"{"model":"m","n":1e400,"type":"message","content":[{"type":"text","text":"a\ud83d"}],"stop_reason":"end_turn"}"#,
        ),
        (
            Dialect::Gemini,
            r#"{"modelVersion":"m","n":1e400,"candidates":[{"content":{"parts":[{"text":"a\ud83d"}]},"finishReason":"STOP"}]}"#,
        ),
        (
            Dialect::Ollama,
            r#"{"model":"m","n":1e400,"message":{"content":"a\ud83d"},"done":true,"done_reason":"stop"}"#,
        ),
    ] {
        let (request, body) = (asked(dialect, false), format!("\u{feff}{body}"));
        let said = restore(&request, Member(1)).events(format(dialect).decode_reply(body.as_bytes()));
        let texts: Vec<&str> = said
            .iter()
            .filter_map(|event| match event {
                Event::Text(text) => Some(text.as_str()),
                _ => None,
            })
            .collect();
        assert_eq!(texts, ["a\u{fffd}"], "{dialect:?}: {said:?}");
        assert!(matches!(said.last(), Some(Event::Finish { .. })), "{dialect:?}: {said:?}");
        let wanted = body.replace("\"m\"", "\"bench/\\\"core\\\":route\"");
        assert_eq!(text(whole(&request, body.as_bytes(), None)), wanted, "{dialect:?}");
        let told = text(whole(&request, body.as_bytes(), Some(&json!({"turn": 1}))));
        let left = told.replacen(",\"bench\":{\"turn\":1}", "", 1);
        assert_eq!(left, wanted, "{dialect:?}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 128, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_bytes_go_on_the_same_however_they_are_cut(bytes in prop::collection::vec(any::<u8>(), 0..300), size in 1usize..9, lines in any::<bool>()) {
        let bytes: Vec<u8> = if lines { [b"data: ".as_slice(), &bytes].concat() } else { bytes };
        for dialect in MEMBERS {
            let request = asked(dialect, true);
            let whole = relayed(&request, [bytes.as_slice()]);
            let cut = relayed(&request, bytes.chunks(size));
            prop_assert_eq!(&cut, &whole);
        }
    }
}
