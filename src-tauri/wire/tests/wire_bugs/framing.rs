//! What holds for the replies of every dialect, however their member frames them: the streams of the goldens and
//! of our own encoders, framed in the ways that were seen, give the events they gave before.

use std::{fs, path::Path};

use libtest_mimic::Trial;
use serde_json::{Value, json};
use wire::{
    ApiError, CallStart, Class, Dialect, Event, Finish, Kind, Origin, Reply, ReplyHead, Usage, format,
};

use crate::{
    support::{decode_as, decode_as_cut_everywhere, render},
    trial,
};

pub fn trials() -> Vec<Trial> {
    let members = || Dialect::ALL.iter().copied().filter(|dialect| format(*dialect).is_spoken_to_members());
    let mut trials = Vec::new();
    let mut add = |id: &str, what: &str, dialect: Dialect, check: fn(Dialect)| {
        trials.push(trial(format!("{id} {dialect:?}: {what}"), move || check(dialect)));
    };
    for dialect in members().filter(|dialect| *dialect != Dialect::Ollama) {
        add("W001", "CRLF and CR line ends", dialect, |dialect| {
            framed(dialect, |stream| stream.replace('\n', "\r\n"));
            framed(dialect, |stream| stream.replace('\n', "\r"));
        });
        add("W003", "no space after the colon", dialect, |dialect| {
            framed(dialect, |stream| stream.replace("data: {", "data:{").replace("event: ", "event:"));
        });
        add("W009", "JSON over two data lines", dialect, |dialect| {
            framed(dialect, |stream| stream.replace("data: {", "data: {\ndata: "));
        });
        add("W018", "comments and a byte order mark", dialect, |dialect| {
            framed(dialect, |stream| {
                format!("\u{feff}: ping\n\n{}", stream.replace("\n\n", "\n\n: ping\n\n:\n"))
            });
        });
        add("W180", "two events that are not JSON end the turn", dialect, |dialect| {
            let stream = format!("data: {{\"x\n\ndata: {{\"y\n\n{}", stream(dialect, &said("a")).repeat(3));
            let events = decode_as_cut_everywhere(dialect, stream.as_bytes());
            assert!(matches!(events.as_slice(), [Event::Error(_)]), "{events:?}");
        });
    }
    for dialect in members() {
        add("W004", "characters cut between chunks", dialect, |dialect| kept(dialect, "北京"));
        add("W005", "an emoji cut between chunks", dialect, |dialect| kept(dialect, "a🌍b"));
        add("W006", "1.5 MiB of arguments in one event", dialect, |dialect| {
            let arguments = json!({ "x": "y".repeat(3 << 19) }).to_string();
            let body = format(dialect).encode_reply(&head(), &Reply::from_events(&called(&arguments)), None);
            let whole = decode_as(dialect, body.chunks(4096));
            let streamed = stream(dialect, &called(&arguments));
            for events in [whole, decode_as(dialect, streamed.as_bytes().chunks(4096))] {
                let read = Reply::from_events(&events);
                assert_eq!(read.tool_calls().next().unwrap().arguments.as_str(), arguments);
            }
        });
        add("W008", "a text of 70 KB in one event", dialect, |dialect| kept(dialect, &"z".repeat(70_000)));
        add("W013", "a stream that was cut is a finish only when all was said", dialect, cut_short);
        add("W014", "a whole reply to a stream request, on one line or many", dialect, |dialect| {
            let events = [said("hi"), called(r#"{"a":1}"#)].concat();
            let body = format(dialect).encode_reply(&head(), &Reply::from_events(&events), None);
            let value: Value = serde_json::from_slice(&body).unwrap();
            let pretty = serde_json::to_string_pretty(&value).unwrap();
            let wanted = render(&decode_as_cut_everywhere(dialect, &body));
            assert!(wanted.contains("text \"hi\"") && wanted.contains("end 0\n"), "{wanted}");
            assert_eq!(render(&decode_as_cut_everywhere(dialect, pretty.as_bytes())), wanted);
        });
        add("W024", "spaces before the body", dialect, |dialect| {
            let stream = stream(dialect, &said("hi"));
            let read = decode_as_cut_everywhere(dialect, format!("  \n\r\n \t{stream}").as_bytes());
            assert_eq!(read, decode_as(dialect, [stream.as_bytes()]));
        });
        add("W070", "an error in the middle", dialect, |dialect| {
            let events = failed(dialect, &said("a"), "Internal server error");
            let [.., Event::Text(text), Event::Error(error)] = events.as_slice() else {
                panic!("{events:?}");
            };
            assert_eq!((text.as_str(), error.message.as_str()), ("a", "Internal server error"));
        });
        add("W163", "an error before anything", dialect, |dialect| {
            let events = failed(dialect, &[], "model at capacity");
            let [Event::Error(error)] = events.as_slice() else { panic!("{events:?}") };
            assert_eq!((error.class, error.message.as_str()), (Class::Capacity, "model at capacity"));
        });
        add("W107", "a 200 with an error body", dialect, |dialect| {
            let body = format(dialect).encode_error(&refusal("no such field"), "r1", None);
            let events = decode_as_cut_everywhere(dialect, &body);
            let [Event::Error(error)] = events.as_slice() else { panic!("{events:?}") };
            assert_eq!(error.message, "no such field");
        });
        add("W172", "an error body is read whatever its type", dialect, |dialect| {
            let body = format(dialect).encode_error(&refusal("no such field"), "r1", None);
            for kind in ["application/json", "text/event-stream", ""] {
                let error = format(dialect).decode_error(400, kind, &body);
                assert_eq!((error.class, error.message.as_str()), (Class::BadRequest, "no such field"));
                assert_eq!(error.status, Some(400));
            }
        });
        add("W173", "529 and an overload inside a 200", dialect, |dialect| {
            assert_eq!(format(dialect).decode_error(529, "", b"").class, Class::Capacity);
            let events = failed(dialect, &[], "Overloaded");
            let [Event::Error(error)] = events.as_slice() else { panic!("{events:?}") };
            assert_eq!(error.class, Class::Capacity);
        });
        add("W175", "a bot check is a passing fault of the network", dialect, |dialect| {
            let page = b"<!DOCTYPE html><html><head><title>Just a moment...</title></head></html>";
            let error = format(dialect).decode_error(403, "text/html", page);
            assert_eq!(
                (error.class, error.message.as_str()),
                (Class::Network, "HTTP 403, an HTML page: Just a moment...")
            );
        });
        add("W190", "a page is told by its title, as an error and as an answer", dialect, |dialect| {
            let page = format!("<html><head><title>502</title></head>{}</html>", "<p>x</p>".repeat(7_500));
            let error = format(dialect).decode_error(502, "text/html", page.as_bytes());
            assert_eq!(error.message, "HTTP 502, an HTML page: 502");
            let events = decode_as(dialect, page.as_bytes().chunks(1_000));
            let [Event::Error(error)] = events.as_slice() else { panic!("{events:?}") };
            assert!(error.message.contains("HTML page") && error.message.len() < 120, "{}", error.message);
        });
        add("W151", "half a surrogate pair is U+FFFD", dialect, |dialect| {
            let stream = stream(dialect, &said("aHALFb")).replace("HALF", "\\ud83d");
            let read = Reply::from_events(&decode_as_cut_everywhere(dialect, stream.as_bytes()));
            assert_eq!(read.text(), "a\u{fffd}b");
        });
        add("W181", "NUL is carried", dialect, |dialect| kept(dialect, "a\0b"));
    }
    trials
}

/// The golden streams of a dialect that are server-sent events, by case.
fn goldens(dialect: Dialect) -> Vec<(String, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/golden");
    let prefix = format!("{}-", json!(dialect).as_str().unwrap());
    let mut streams = Vec::new();
    for case in fs::read_dir(root).unwrap().flatten() {
        let name = case.file_name().to_string_lossy().into_owned();
        let Ok(stream) = fs::read_to_string(case.path().join("upstream.stream")) else { continue };
        if name.starts_with(&prefix) {
            streams.push((name, stream));
        }
    }
    assert!(streams.len() > 5, "{prefix}: only {} streams", streams.len());
    streams
}

/// The streams of the goldens, framed in another way, give the same events.
fn framed(dialect: Dialect, reframe: fn(&str) -> String) {
    let mut framed = 0;
    for (case, stream) in goldens(dialect) {
        let is_plain = stream.starts_with("data: ") || stream.starts_with("event: ");
        // Streams that are framed oddly already have cases of their own.
        let stream = stream.replace("\r\n", "\n");
        if !is_plain || case.contains("framing") || case.contains("glued") || !stream.ends_with("\n\n") {
            continue;
        }
        let other = reframe(&stream);
        assert_ne!(other, stream, "{case}");
        let events = decode_as(dialect, [stream.as_bytes()]);
        assert_eq!(decode_as(dialect, [other.as_bytes()]), events, "{case}:\n{other}");
        assert_eq!(decode_as(dialect, other.as_bytes().chunks(1)), events, "{case}, byte by byte");
        framed += 1;
    }
    assert!(framed >= 5, "only {framed} streams");
}

/// Wherever a stream is cut, it is a finish only once all of the answer has come: cut in every line's middle and at
/// its end.
fn cut_short(dialect: Dialect) {
    let mut finished = 0;
    for (case, stream) in goldens(dialect) {
        let whole = decode_as(dialect, [stream.as_bytes()]);
        if !matches!(whole.last(), Some(Event::Finish { .. })) {
            continue;
        }
        let ends = stream.match_indices('\n').map(|(at, _)| at);
        let starts = [0].into_iter().chain(ends.clone().map(|at| at + 1));
        let middles = starts.zip(ends.clone()).map(|(from, to)| from.midpoint(to));
        for cut in middles.chain(ends.clone()).chain(ends.map(|at| at + 1)) {
            let events = decode_as(dialect, [&stream.as_bytes()[..cut]]);
            match events.last() {
                Some(Event::Error(_)) => {}
                Some(Event::Finish { .. }) => {
                    finished += 1;
                    assert_eq!(answer(&events), answer(&whole), "{case} cut at byte {cut}");
                }
                _ => panic!("{case} cut at byte {cut}: {events:?}"),
            }
        }
    }
    assert!(finished > 5, "an end is one without what follows it");
}

/// Everything said, without how it was counted and how it ended.
fn answer(events: &[Event]) -> String {
    let said = events.iter().filter(|event| !matches!(event, Event::Usage(_) | Event::Finish { .. }));
    render(&said.cloned().collect::<Vec<_>>())
}

/// A text goes through the dialect, streamed and whole, however it is cut.
fn kept(dialect: Dialect, text: &str) {
    let body = format(dialect).encode_reply(&head(), &Reply::of_text(text, Usage::default()), None);
    for body in [stream(dialect, &said(text)).into_bytes(), body] {
        let events = match text.len() {
            0..1_000 => decode_as_cut_everywhere(dialect, &body),
            _ => decode_as(dialect, body.chunks(1_000)),
        };
        assert_eq!(Reply::from_events(&events).text(), text);
    }
}

fn said(text: &str) -> Vec<Event> {
    vec![Event::Text(text.to_owned())]
}

fn called(arguments: &str) -> Vec<Event> {
    let start = CallStart { id: "c".to_owned(), name: "f".to_owned(), ..CallStart::default() };
    let delta = arguments.to_owned();
    vec![
        Event::CallStart(start),
        Event::CallArguments { index: 0, delta },
        Event::CallEnd { index: 0 },
        Event::Finish { reason: Finish::ToolCalls, inferred: false },
    ]
}

fn refusal(message: &str) -> ApiError {
    ApiError::invalid("bad_field", message)
}

fn head() -> ReplyHead {
    ReplyHead { id: "1".to_owned(), model: "m".to_owned(), ..ReplyHead::default() }
}

/// A stream as a member of the dialect would send it: what our own encoder writes.
fn stream(dialect: Dialect, events: &[Event]) -> String {
    let mut encoder = format(dialect).encoder(head());
    let mut out: Vec<u8> = events.iter().flat_map(|event| encoder.event(event)).collect();
    out.extend(encoder.finish(Usage::default(), None));
    String::from_utf8(out).unwrap()
}

/// What is read of a stream that ends in an error.
fn failed(dialect: Dialect, events: &[Event], message: &str) -> Vec<Event> {
    let mut encoder = format(dialect).encoder(head());
    let mut out: Vec<u8> = events.iter().flat_map(|event| encoder.event(event)).collect();
    out.extend(encoder.error(&ApiError::new(Kind::Upstream, Origin::Upstream, "no_answer", message), None));
    let mut read = decode_as_cut_everywhere(dialect, &out);
    read.retain(|event| !matches!(event, Event::Model(_) | Event::Usage(_)));
    read
}
