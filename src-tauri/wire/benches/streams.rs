//! A stream, event by event: read from a member, written for a caller, and relayed as it is. The table's items are
//! events, so 1,000 Mitem/s is a nanosecond an event.

use divan::{
    AllocProfiler, Bencher, black_box,
    counter::{BytesCount, ItemsCount},
};
use samples::MEMBERS;
use wire::{
    Dialect, Event, Restore, Usage, format,
    relay::{ModelName, PublicEvents},
};

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

/// The model's name put back, private events left out, and the bytes read on the side, as a routed turn does.
#[divan::bench(args = MEMBERS)]
fn relay(bencher: Bencher<'_, '_>, dialect: Dialect) {
    let events = samples::answer(EVENTS);
    let stream = samples::stream(dialect, &events);
    counted(bencher, &events, &stream).bench(|| {
        let mut names = ModelName::new(format(dialect).model_paths(), "bench/core");
        let mut public = PublicEvents::new(format(dialect));
        for chunk in black_box(&stream).chunks(CHUNK) {
            black_box(names.push(&public.push(chunk)));
        }
        black_box((public.end(), names.end()))
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
