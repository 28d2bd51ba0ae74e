//! A long record: how soon the gateway is there with it, and how fast words are found in it.
//!
//! The records are written by the store's own verbs, as the gateway writes them, and read by what reads them there.

use std::{ops::Range, path::Path, sync::Arc, time::Instant};

use bench_tests::Home;
use plan::{Evidence, Shape, Tally};
use store::{CallRow, NewVerdict, OpenOptions, PanelEnd, PanelRow, Store};

use crate::{
    numbers::{median, milliseconds},
    process,
};

const SEATS: u64 = 4;
const MODELS: u64 = 300;
const COLLECTIONS: u64 = 20;
const SHAPES: [&str; 7] = ["general", "design", "prose", "review", "code", "enumeration", "quick"];

/// Every so manieth call was judged.
const JUDGED: u64 = 5;

/// Panels that are queued before their writing is waited for: the queue is bounded.
const BATCH: u64 = 500;

/// How often each reading is repeated.
const ROUNDS: usize = 5;

pub async fn measure(calls: u64) {
    let home = Home::default();
    let began = Instant::now();
    let opened = open(&home.data());
    write(&opened, calls / SEATS);
    println!("{calls} calls of {MODELS} models written in {:.0} s", began.elapsed().as_secs_f64());

    let rebuilt = timed(|| drop(rebuild(&opened)));
    println!("evidence rebuilt in {:.3} s", rebuilt / 1000.0);

    println!("search, ms (median of {ROUNDS}; the newest 50 panels of those in which the words stand)");
    for (what, query) in [
        ("a word of one answer", format!("only{}", calls / 2)),
        ("a word of one answer in 1000", "w997".to_owned()),
        ("a word of every third answer", "w2".to_owned()),
        ("two words", "w40 w50".to_owned()),
        ("the beginning of many words", "w9".to_owned()),
        ("a word of no answer", "nowhere".to_owned()),
    ] {
        let mut found = 0;
        let took = timed(|| found = opened.search(&query, None, 50).expect("it can be searched").len());
        println!("{what:<30} {took:>9.1}   {found} panels");
    }
    let took = timed(|| drop(opened.panels(None, 50).expect("it can be read")));
    println!("{:<30} {took:>9.1}", "the newest 50, unsearched");
    opened.close();
    println!("cold start, ms   median    least     most   (to the first 200, with these records)");
    println!("bench serve   {}", process::cold_starts(|port| process::serve(&home, port)).await);
}

fn open(folder: &Path) -> Store {
    std::fs::create_dir_all(folder).expect("a data folder");
    let now = Arc::new(|| 0);
    let options = OpenOptions { path: folder.to_owned(), now, max_pages: None };
    Store::open(options).expect("it opens").store
}

/// Whole panels, a batch at a time.
fn write(store: &Store, panels: u64) {
    let mut from = 0;
    while from < panels {
        let batch = from..panels.min(from + BATCH);
        from = batch.end;
        write_batch(store, batch);
    }
}

fn write_batch(store: &Store, panels: Range<u64>) {
    for n in panels {
        let id = format!("p20261129-154501-{n:08x}");
        let at_ms = n as i64 * 60_000;
        drop(store.panel_started(PanelRow {
            id: id.clone(),
            at_ms,
            collection: format!("c{}", n % COLLECTIONS),
            shape: SHAPES[(n / 3) as usize % SHAPES.len()].to_owned(),
            prompt: words(n * SEATS, 20),
            ..PanelRow::default()
        }));
        for seat in 0..SEATS {
            let call_number = n * SEATS + seat;
            let call = format!("{id}.member{}", seat + 1);
            drop(store.call_ended(CallRow {
                call: call.clone(),
                panel: id.clone(),
                seat: format!("member{}", seat + 1),
                kind: "member".to_owned(),
                alias: format!("model-{}", call_number * 7_919 % MODELS),
                status: "ok".to_owned(),
                started_ms: at_ms,
                seconds: 12.5,
                answer: format!("{} only{call_number}", words(call_number, 40)),
                ..CallRow::default()
            }));
            if call_number.is_multiple_of(JUDGED) {
                let useful = !call_number.is_multiple_of(3);
                drop(store.give_verdict(NewVerdict { call, useful, ..NewVerdict::default() }));
            }
        }
        drop(store.panel_ended(PanelEnd { id, seconds: 12.5, ..PanelEnd::default() }));
    }
    store.written().blocking_wait().expect("it is written");
}

/// Words as unlike each other as those of a language: a few stand everywhere, most are rare.
fn words(seed: u64, count: u64) -> String {
    let word = |at: u64| {
        let mixed = (seed * count + at).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 11;
        let share = mixed as f64 / (1u64 << 53) as f64;
        format!("w{}", (20_000f64.powf(share)) as u64)
    };
    (0..count).map(word).collect::<Vec<_>>().join(" ")
}

/// As the gateway does when it starts.
fn rebuild(store: &Store) -> Evidence {
    let mut evidence = Evidence::default();
    for it in store.record_by_shape().expect("it can be read") {
        let small = |count: u64| u32::try_from(count).unwrap_or(u32::MAX);
        let counts = Tally {
            useful: small(it.record.useful),
            judged: small(it.record.judged),
            offloads: small(it.record.offloads),
            last_offload_ms: Some(it.record.last_at_ms),
        };
        evidence.add(&it.record.alias, &Shape::new(it.shape), counts);
    }
    evidence
}

/// Milliseconds, the median of some rounds.
fn timed(mut run: impl FnMut()) -> f64 {
    let mut times = Vec::with_capacity(ROUNDS);
    for _ in 0..ROUNDS {
        let began = Instant::now();
        run();
        times.push(milliseconds(began.elapsed()));
    }
    median(&times)
}
