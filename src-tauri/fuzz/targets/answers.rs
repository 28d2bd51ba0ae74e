//! A member's reply, written for a caller of any API, streamed and whole: what was said is what reads back.

#![no_main]

use libfuzzer_sys::fuzz_target;
use wire::{ApiError, CallKind, Dialect, Event, Kind, Origin, Reply, ReplyHead, Usage, format};
use wire_fuzz::{Input, Seeds, assert_in_order, decode, meaning};

fuzz_target!(init: Seeds::Replies.write_if_asked(), |bytes: &[u8]| {
    let input = Input::read(bytes);
    let (events, _) = decode(input.member(), [input.body]);
    let said = Reply::from_events(&events);
    for caller in Dialect::ALL {
        let head = ReplyHead {
            id: "1".to_owned(),
            model: "m".to_owned(),
            include_usage: input.option() % 2 == 0,
            ..ReplyHead::default()
        };
        let stream = streamed(*caller, head.clone(), &events);
        let whole = format(*caller).encode_reply(&head, &said, None);
        serde_json::from_slice::<serde_json::Value>(&whole).expect("a whole reply is JSON");
        if !format(*caller).is_spoken_to_members() {
            continue;
        }
        let (read, _) = decode(*caller, [stream.as_slice()]);
        assert_in_order(&read);
        let is_finished = said.finish.is_some();
        let read = Reply::from_events(&read);
        assert_eq!(read.finish.is_some(), is_finished, "{caller:?}: {read:?}\n{}", text(&stream));
        if is_finished && says_it_all(&events, &said) {
            assert_eq!(meaning(&read), meaning(&said), "streamed as {caller:?}\n{}", text(&stream));
            let read = Reply::from_events(&decode(*caller, [whole.as_slice()]).0);
            assert_eq!(meaning(&read), meaning(&said), "whole as {caller:?}\n{}", text(&whole));
        }
    }
});

fn streamed(caller: Dialect, head: ReplyHead, events: &[Event]) -> Vec<u8> {
    let mut encoder = format(caller).encoder(head);
    let mut stream = Vec::new();
    for event in events {
        stream.extend(encoder.event(event));
        match event {
            Event::Finish { .. } => stream.extend(encoder.finish(Usage::default(), None)),
            Event::Error(error) => {
                let message = error.message.clone();
                let error = ApiError::new(Kind::Upstream, Origin::Upstream, "no_answer", message);
                stream.extend(encoder.error(&error, None));
            }
            _ => {}
        }
    }
    stream
}

/// Whether every dialect has a place for all that was said: one without free-form tools writes their input as
/// arguments, and some have arguments that are objects only.
fn says_it_all(events: &[Event], said: &Reply) -> bool {
    let is_object = |text: &str| serde_json::from_str::<serde_json::Map<_, serde_json::Value>>(text).is_ok();
    said.tool_calls().all(|call| is_object(&call.arguments))
        && !events.iter().any(|event| match event {
            Event::Vendor { .. } | Event::Refusal(_) | Event::Image { .. } => true,
            Event::CallStart(start) => start.kind == CallKind::Custom,
            _ => false,
        })
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}
