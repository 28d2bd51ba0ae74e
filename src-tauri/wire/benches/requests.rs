//! A caller's body: read, written for a member, and edited in place for a member of its own dialect. `read_json` is
//! what reading the same bytes as JSON and keeping nothing takes.

use divan::{AllocProfiler, Bencher, black_box, counter::BytesCount};
use samples::MEMBERS;
use wire::{Dialect, format};

#[path = "../tests/samples/mod.rs"]
#[expect(dead_code, reason = "each program measures some of them")]
mod samples;

#[global_allocator]
static ALLOCATOR: AllocProfiler = AllocProfiler::system();

const SMALL: usize = 400;
const MIDDLE: usize = 400_000;
const LARGE: usize = 2_000_000;

fn main() {
    divan::main();
}

#[divan::bench(args = [SMALL, MIDDLE, LARGE])]
fn read_json(bencher: Bencher<'_, '_>, bytes: usize) {
    let body = samples::body(Dialect::Chat, bytes);
    let bencher = bencher.counter(BytesCount::new(body.len()));
    bencher.bench(|| serde_json::from_slice::<serde::de::IgnoredAny>(black_box(&body)));
}

#[divan::bench(args = MEMBERS, consts = [SMALL, MIDDLE, LARGE])]
fn decode<const BYTES: usize>(bencher: Bencher<'_, '_>, dialect: Dialect) {
    let body = samples::body(dialect, BYTES);
    let bencher = bencher.counter(BytesCount::new(body.len()));
    bencher.bench(|| format(dialect).decode_request(black_box(&body), &samples::route()));
}

#[divan::bench(args = MEMBERS, consts = [SMALL, MIDDLE, LARGE])]
fn encode<const BYTES: usize>(bencher: Bencher<'_, '_>, dialect: Dialect) {
    let (request, target) = (samples::request(dialect, BYTES), samples::target());
    let bencher = bencher.counter(BytesCount::new(samples::body(dialect, BYTES).len()));
    bencher.bench(|| format(dialect).encode_request(black_box(&request), &target));
}

#[divan::bench(args = MEMBERS, consts = [SMALL, MIDDLE, LARGE])]
fn relay<const BYTES: usize>(bencher: Bencher<'_, '_>, dialect: Dialect) {
    let body = samples::body(dialect, BYTES);
    let (request, target) = (samples::request(dialect, BYTES), samples::target());
    let bencher = bencher.counter(BytesCount::new(body.len()));
    bencher.bench(|| format(dialect).relay_request(black_box(&body), &request, &target));
}
