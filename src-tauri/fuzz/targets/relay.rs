//! A reply on its way to a caller of the member's own API: the same bytes however they are cut, and but for the
//! model's name the same answer.

#![no_main]

use libfuzzer_sys::fuzz_target;
use wire::{
    Dialect, Event, Member, Request, format,
    relay::{ModelName, PublicEvents, Relay},
};
use wire_fuzz::{Input, Seeds, bounded, decode};

fuzz_target!(init: Seeds::Replies.write_if_asked(), |bytes: &[u8]| {
    let input = Input::read(bytes);
    let member = input.member();
    let renamed = bounded(input.body.len(), || rename(member, [input.body]));
    assert_eq!(rename(member, input.pieces()), renamed, "cut");
    assert_eq!(rename(member, input.body.chunks(1)), renamed, "byte by byte");
    assert_eq!(rename(member, [renamed.as_slice()]), renamed, "renamed twice");
    // What could not be read because of the name is now read: a name that holds a raw control character is no JSON.
    let (before, skipped) = decode(member, [input.body]);
    let is_raw = |byte: &u8| byte.is_ascii_control() && !b"\r\n".contains(byte);
    let readable = skipped == 0 && !input.body.iter().any(is_raw);
    if readable && !matches!(before.last(), Some(Event::Error(_))) {
        let (after, _) = decode(member, [renamed.as_slice()]);
        assert_eq!(without_models(after), without_models(before));
    }

    let public = bounded(input.body.len(), || public(member, [input.body]));
    assert_eq!(self::public(member, input.pieces()), public, "cut");
    assert_eq!(self::public(member, input.body.chunks(1)), public, "byte by byte");
    if public.1 == 0 {
        assert_eq!(public.0, input.body, "nothing left out, nothing changed");
    }

    let relayed = bounded(input.body.len(), || relay(member, [input.body], false));
    // Where the name stands in a frame that is no JSON is anybody's guess, and may depend on the cut.
    if readable {
        assert_eq!(relay(member, input.pieces(), false).0, relayed.0, "cut");
        assert_eq!(relay(member, input.body.chunks(1), false).0, relayed.0, "byte by byte");
        assert_eq!(relay(member, input.pieces(), true).0, relayed.0, "whatever is read on the side");
    }
});

/// The bytes that go on and what they say; once the answer has begun perhaps only what counts of it.
fn relay<'a>(
    member: Dialect,
    pieces: impl IntoIterator<Item = &'a [u8]>,
    only_what_counts: bool,
) -> (Vec<u8>, Vec<Event>) {
    let request = Request { dialect: member, model: "bench/\"core\"".to_owned(), ..Request::default() };
    let (mut relay, mut out, mut events) = (Relay::new(&request, Member(1)), Vec::new(), Vec::new());
    for piece in pieces {
        out.extend(relay.push(piece, &mut events));
        if only_what_counts && events.iter().any(Event::is_content) {
            relay.only_what_counts();
        }
    }
    out.extend(relay.end(&mut events));
    out.extend(relay.finish(None));
    (out, events)
}

fn rename<'a>(member: Dialect, pieces: impl IntoIterator<Item = &'a [u8]>) -> Vec<u8> {
    let mut names = ModelName::new(format(member).model_paths(), "bench/\"core\"");
    let mut out: Vec<u8> = pieces.into_iter().flat_map(|piece| names.push(piece)).collect();
    out.extend(names.end());
    out
}

fn public<'a>(member: Dialect, pieces: impl IntoIterator<Item = &'a [u8]>) -> (Vec<u8>, u32) {
    let mut events = PublicEvents::new(format(member));
    let mut out: Vec<u8> = pieces.into_iter().flat_map(|piece| events.push(piece)).collect();
    out.extend(events.end());
    (out, events.dropped())
}

fn without_models(mut events: Vec<Event>) -> Vec<Event> {
    events.retain(|event| !matches!(event, Event::Model(_)));
    events
}
