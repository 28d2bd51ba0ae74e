//! What a panel takes beyond its slowest seat, alone and beside others.

use std::{
    fmt::Write,
    time::{Duration, Instant},
};

use bench_tests::{
    Gateway, Scenario, Upstream,
    http::Http,
    upstream::{Step, answers},
};
use serde_json::{Value, json};
use tokio::task::JoinSet;

use crate::{
    ANSWER, MEMBERS,
    numbers::{median, milliseconds, percentile},
};

/// How long every seat thinks, so that seats of many panels wait side by side, as real ones do.
const THINKS: Duration = Duration::from_millis(300);
const EXPLORERS: [&str; 6] = ["echo", "foxtrot", "golf", "hotel", "india", "juliet"];
/// Panels of a line, at the least.
const PANELS: usize = 128;

/// Lays out the table.
pub async fn measure() -> String {
    let mut table =
        String::from("a panel's own time, ms             beyond the slowest seat        by its own count\n");
    table.push_str("                       at once          p50       p99              p50       p99\n");
    for (name, explorers) in [("four", 0), ("four and two explorers", 2)] {
        let upstream = Upstream::start().await;
        let gateway = start(&upstream, explorers).await;
        panels(&gateway.http, 4, 4 + explorers).await;
        for at_once in [1, 16, 64] {
            let mut beyond = Vec::new();
            let mut own = Vec::new();
            // Alone, a panel takes as long as it thinks: fewer of them say as much.
            let wanted = if at_once == 1 { PANELS / 4 } else { PANELS };
            while beyond.len() < wanted {
                for (slowest, counted) in panels(&gateway.http, at_once, 4 + explorers).await {
                    beyond.push(slowest);
                    own.push(counted);
                }
            }
            let of = |values: &[f64]| format!("{:>7.2}   {:>7.2}", median(values), percentile(values, 0.99));
            let _ = writeln!(table, "{name:<22} {at_once:>7}      {}          {}", of(&beyond), of(&own));
        }
    }
    table
}

async fn start(upstream: &Upstream, explorers: usize) -> Gateway {
    let mut scenario = Scenario::new()
        .setting("max_calls", 6)
        .setting("max_explorers", explorers)
        .endpoint("fake", &upstream.base());
    for alias in MEMBERS.into_iter().chain(EXPLORERS) {
        upstream.model(alias, answers(ANSWER).at(0, Step::Pause(THINKS)));
        scenario = scenario.model(alias, "fake", alias);
    }
    scenario.collection("four", &MEMBERS).with("shape", "general").start().await
}

/// Of panels asked side by side: the time beyond the slowest seat, and what the gateway says it took.
async fn panels(http: &Http, at_once: usize, seats: usize) -> Vec<(f64, f64)> {
    let mut asking = JoinSet::new();
    for _ in 0..at_once {
        let http = http.clone();
        asking.spawn(async move {
            let question =
                json!({"model": "bench/four", "messages": [{"role": "user", "content": "Count."}]});
            let began = Instant::now();
            let answer = http.chat(&question).await;
            let took = milliseconds(began.elapsed());
            let reply = answer.json();
            let sat = reply["bench"]["seats"].as_array().cloned().unwrap_or_default();
            let seconds = |seat: &Value| seat["seconds"].as_f64().filter(|_| seat["status"] == "ok");
            let slowest =
                sat.iter().map(|seat| seconds(seat).expect("every seat answers")).fold(0.0, f64::max);
            assert_eq!(sat.len(), seats, "who sits: {reply}");
            let own = answer.header("x-bench-overhead-ms").parse().expect("milliseconds");
            (took - slowest * 1000.0, own)
        });
    }
    asking.join_all().await
}
