//! How much is held: a stream's length does not matter, and a body is not read twice.

use allocation_counter::{AllocationInfo, measure};
use samples::MEMBERS;
use wire::{Dialect, Event, Json, Member, Request, Restore, Usage, format, relay::Relay};

#[path = "samples/mod.rs"]
mod samples;

/// What a longer stream may hold more than a shorter one.
const CONSTANT: u64 = 1024;

const SHORT: usize = 2_000;
const LONG: usize = 20_000;

/// The last events of Responses tell the whole text again, so one as long as the text is in hand while it is read,
/// passed on or written; of other dialects no event is.
const fn last_event(dialect: Dialect, times: u64) -> u64 {
    if matches!(dialect, Dialect::Responses) { times } else { 0 }
}

#[test]
fn reading_a_longer_stream_holds_no_more() {
    for dialect in MEMBERS {
        let times = last_event(dialect, 6);
        does_not_grow(dialect, times, |pieces| read(dialect, &samples::answer(pieces)));
    }
}

#[test]
fn writing_a_longer_stream_holds_no_more() {
    for dialect in Dialect::ALL {
        // Four such events, in one write.
        does_not_grow(*dialect, last_event(*dialect, 18), |pieces| {
            let events = samples::answer(pieces);
            measure(|| {
                let mut encoder = format(*dialect).encoder(samples::head());
                events.iter().for_each(|event| drop(encoder.event(event)));
                encoder.finish(Usage::default(), None);
            })
        });
    }
}

#[test]
fn relaying_a_longer_stream_holds_no_more() {
    for dialect in MEMBERS {
        // What reading takes, and the event itself: held, and passed on.
        does_not_grow(dialect, last_event(dialect, 9), |pieces| {
            let stream = samples::stream(dialect, &samples::answer(pieces));
            measure(|| {
                let mut relay = Relay::new(&Request { dialect, ..Request::default() }, Member(1));
                let mut read = Vec::new();
                for chunk in stream.chunks(1024) {
                    relay.push(chunk, &mut read);
                    read.clear();
                }
                relay.end(&mut read);
            })
        });
    }
}

/// Copying what came before with each piece would be ten times as much a byte for ten times the pieces.
#[test]
fn arguments_are_not_copied_again_with_each_delta() {
    let per_byte = |total: u64, length: usize| total as f64 / length as f64;
    for dialect in MEMBERS {
        let costs = [1_000, 10_000].map(|pieces| {
            let events = samples::call(pieces);
            let length = samples::stream(dialect, &events).len();
            let written = measure(|| drop(samples::stream(dialect, &events)));
            (per_byte(read(dialect, &events).bytes_total, length), per_byte(written.bytes_total, length))
        });
        let [(read, written), (read_long, written_long)] = costs;
        assert!(read_long < read * 2.0, "{dialect:?}: {read} bytes a byte read, then {read_long}");
        assert!(
            written_long < written * 2.0,
            "{dialect:?}: {written} bytes a byte written, then {written_long}"
        );
    }
}

/// Everything allocated on the way, in bodies: a second reading or a tree of values would be several more.
#[test]
fn a_large_body_is_gone_over_once_and_copied_when_it_goes_on() {
    const BYTES: usize = 2_000_000;
    for dialect in MEMBERS {
        let body = samples::body(dialect, BYTES);
        let (route, target) = (samples::route(), samples::target());
        let bodies = |info: AllocationInfo| info.bytes_total as f64 / body.len() as f64;
        let sent = body.clone();
        let mut json = Json::default();
        let gone_over = bodies(measure(|| json = Json::read(sent).unwrap()));
        let mut request = Request::default();
        let decoded = bodies(measure(|| request = format(dialect).decode(&json, &route).unwrap()));
        let relayed = bodies(measure(|| drop(format(dialect).relay(&json, &request, &target))));
        let encoded = bodies(measure(|| drop(format(dialect).encode_request(&request, &target))));
        assert!(gone_over < 0.2, "{dialect:?}: {gone_over} bodies to go over one");
        assert!(decoded < 0.6, "{dialect:?}: {decoded} bodies to read one");
        // Edited in place: one copy.
        assert!(relayed < 1.1, "{dialect:?}: {relayed} bodies to relay one");
        // What is said is read out here, and written in a vector that grows.
        assert!(encoded < 7.0, "{dialect:?}: {encoded} bodies to write one");
    }
}

/// Compares what is held at most while a short and a long stream go through. `times`: of each further byte of text
/// as many may be held.
fn does_not_grow(dialect: Dialect, times: u64, run: impl Fn(usize) -> AllocationInfo) {
    let (short, long) = (run(SHORT).bytes_max, run(LONG).bytes_max);
    let text = ((LONG - SHORT) * samples::PIECE.len()) as u64;
    assert!(
        long <= short + CONSTANT + times * text,
        "{dialect:?}: {short} bytes held at most in {SHORT} events, {long} in {LONG}"
    );
}

fn read(dialect: Dialect, events: &[Event]) -> AllocationInfo {
    let stream = samples::stream(dialect, events);
    measure(|| {
        let mut decoder = Restore::default().over(format(dialect).decoder());
        let mut read = Vec::new();
        for chunk in stream.chunks(1024) {
            decoder.push(chunk, &mut read);
            read.clear();
        }
        decoder.end(&mut read);
    })
}
