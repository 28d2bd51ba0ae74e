//! A stream, event by event: read from a member, written for a caller, and relayed as it is. The table's items are
//! events, so 1,000 Mitem/s is a nanosecond an event.

use divan::{
    AllocProfiler, Bencher, black_box,
    counter::{BytesCount, ItemsCount},
};
use samples::MEMBERS;
use wire::{Dialect, Event, Member, Request, Restore, Usage, format, relay::Relay};

#[path = "../tests/samples/mod.rs"]
#[expect(dead_code, reason = "each program measures some of them")]
mod samples;

#[global_allocator]
static ALLOCATOR: AllocProfiler = AllocProfiler::system();

/// Events in the streams that are measured.
const EVENTS: usize = 2_000;

/// As a transport delivers them.
const CHUNK: usize = 1024;

fn main() {
    divan::main();
}

#[divan::bench(args = MEMBERS)]
fn decode(bencher: Bencher<'_, '_>, dialect: Dialect) {
    decoding(bencher, dialect, &samples::answer(EVENTS), CHUNK);
}

/// The worst cut there is.
#[divan::bench(args = MEMBERS)]
fn decode_a_byte_at_a_time(bencher: Bencher<'_, '_>, dialect: Dialect) {
    decoding(bencher, dialect, &samples::answer(EVENTS), 1);
}

/// One call with 2 MB of arguments.
#[divan::bench(args = MEMBERS, sample_count = 10)]
fn decode_100_000_argument_deltas(bencher: Bencher<'_, '_>, dialect: Dialect) {
    decoding(bencher, dialect, &samples::call(100_000), CHUNK);
}

#[divan::bench(args = Dialect::ALL)]
fn encode(bencher: Bencher<'_, '_>, dialect: Dialect) {
    encoding(bencher, dialect, &samples::answer(EVENTS));
}

#[divan::bench(args = MEMBERS, sample_count = 10)]
fn encode_100_000_argument_deltas(bencher: Bencher<'_, '_>, dialect: Dialect) {
    encoding(bencher, dialect, &samples::call(100_000));
}

/// As a routed turn does: the model's name put back, private events left out, and once the answer has begun only what
/// counts read on the side.
#[divan::bench(args = MEMBERS)]
fn relay(bencher: Bencher<'_, '_>, dialect: Dialect) {
    relaying(bencher, dialect, true);
}

/// The same, and every piece told.
#[divan::bench(args = MEMBERS)]
fn relay_and_tell_all(bencher: Bencher<'_, '_>, dialect: Dialect) {
    relaying(bencher, dialect, false);
}

/// From a chat member to a caller of another API, as a routed turn does.
#[divan::bench(args = MEMBERS)]
fn translate_from_chat(bencher: Bencher<'_, '_>, caller: Dialect) {
    let events = samples::answer(EVENTS);
    let stream = samples::stream(Dialect::Chat, &events);
    let mut read = Vec::new();
    counted(bencher, &events, &stream).bench_local(|| {
        let mut decoder = Restore::default().over(format(Dialect::Chat).decoder());
        let mut encoder = format(caller).encoder(samples::head());
        for chunk in black_box(&stream).chunks(CHUNK) {
            let mut out = Vec::new();
            decoder.push(chunk, &mut read);
            for event in read.drain(..) {
                encoder.event_to(&event, &mut out);
            }
            black_box(out);
        }
        encoder.finish(Usage::default(), None)
    });
}

fn relaying(bencher: Bencher<'_, '_>, dialect: Dialect, only_what_counts: bool) {
    let events = samples::answer(EVENTS);
    let stream = samples::stream(dialect, &events);
    let request = Request { dialect, model: "bench/core:route".to_owned(), ..Request::default() };
    let mut read = Vec::new();
    counted(bencher, &events, &stream).bench_local(|| {
        let mut relay = Relay::new(&request, Member(1));
        for (at, chunk) in black_box(&stream).chunks(CHUNK).enumerate() {
            black_box(relay.push(chunk, &mut read));
            black_box(&read);
            read.clear();
            if at == 1 && only_what_counts {
                relay.only_what_counts();
            }
        }
        black_box((relay.end(&mut read), relay.finish(None)))
    });
}

fn decoding(bencher: Bencher<'_, '_>, dialect: Dialect, events: &[Event], chunk: usize) {
    let stream = samples::stream(dialect, events);
    let mut read = Vec::new();
    counted(bencher, events, &stream).bench_local(|| {
        let mut decoder = Restore::default().over(format(dialect).decoder());
        for chunk in black_box(&stream).chunks(chunk) {
            decoder.push(chunk, &mut read);
            black_box(&read);
            read.clear();
        }
        decoder.end(&mut read);
    });
}

fn encoding(bencher: Bencher<'_, '_>, dialect: Dialect, events: &[Event]) {
    let stream = samples::stream(dialect, events);
    counted(bencher, events, &stream).bench(|| {
        let mut encoder = format(dialect).encoder(samples::head());
        for event in black_box(events) {
            black_box(encoder.event(event));
        }
        encoder.finish(Usage::default(), None)
    });
}

fn counted<'a, 'b>(bencher: Bencher<'a, 'b>, events: &[Event], stream: &[u8]) -> Bencher<'a, 'b> {
    bencher.counter(ItemsCount::new(events.len())).counter(BytesCount::new(stream.len()))
}
