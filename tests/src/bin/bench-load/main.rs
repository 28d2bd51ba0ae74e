//! What the gateway costs: added latency, memory, cold start, beside nginx and the direct call; what a panel takes
//! beyond its slowest seat; what a routed turn takes beside a plain proxy; and what a long record costs.
//!
//! `bench-load gateway PANELS ROUNDS`, `bench-load route` and `bench-load records CALLS`, with the program under test
//! in `$BENCH_BIN`; `cargo xtask bench` starts it so.
//! Everything runs on this machine over loopback, a bounded number of times. Machines are noisy, so the ways are
//! interleaved, and medians and ratios are what to read.
#![expect(clippy::print_stdout, reason = "a program for a terminal")]
#![expect(clippy::expect_used, reason = "a measurement that cannot be made ends the program")]
#![expect(clippy::disallowed_methods, reason = "it measures the real clock, from outside of the gateway")]

mod latency;
mod nginx;
mod numbers;
mod process;
mod records;
mod route;
mod seats;

use bench_tests::{Scenario, Upstream, upstream::answers};
use tokio::runtime::{Builder, Runtime};

use crate::{nginx::Nginx, numbers::megabytes};

const MEMBERS: [&str; 4] = ["alpha", "beta", "gamma", "delta"];

/// What every model answers: twenty pieces, each in its own write.
const ANSWER: &str = "one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen \
     eighteen nineteen twenty";

const USAGE: &str = "usage: bench-load gateway PANELS ROUNDS | bench-load route | bench-load records CALLS";

fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let number = |at: usize| words.get(at).and_then(|word| word.parse::<u32>().ok()).expect(USAGE);
    match words.first().map(String::as_str) {
        Some("gateway") => threads().block_on(gateway(number(1), number(2))),
        Some("records") => threads().block_on(records::measure(number(1).into())),
        Some("route") => one_thread().block_on(route::measure()),
        // What `route` asks, started by it.
        Some("upstream") => one_thread().block_on(route::upstream::serve()),
        _ => println!("{USAGE}"),
    }
}

fn threads() -> Runtime {
    Runtime::new().expect("threads to run on")
}

/// A load that shares a core with what it measures.
fn one_thread() -> Runtime {
    Builder::new_current_thread().enable_all().build().expect("a thread to run on")
}

async fn gateway(panels: u32, rounds: u32) {
    let upstream = Upstream::start().await;
    let gateway = scenario(&upstream).start().await;
    let nginx = Nginx::start(&upstream.root()).await;

    let idle = process::resident(gateway.pid());
    let nginx_idle = nginx.as_ref().map(|nginx| process::resident(nginx.pid()));
    for _ in 0..panels {
        latency::panel(&gateway.http, "bench/four").await;
    }
    let after = process::resident(gateway.pid());
    if let Some(nginx) = &nginx {
        for _ in 0..panels {
            latency::direct(&nginx.http).await;
        }
    }
    println!("memory, MB       idle   after {panels}");
    println!("bench serve   {:>7}   {:>7}   (panels of four)", megabytes(idle), megabytes(after));
    if let (Some(nginx), Some(idle)) = (&nginx, nginx_idle) {
        let after = process::resident(nginx.pid());
        println!("nginx         {:>7}   {:>7}   (calls)", megabytes(idle), megabytes(after));
    }

    println!("\n{}", latency::measure(&upstream, &gateway, nginx.as_ref(), rounds).await);
    println!("{}", seats::measure(&upstream, &gateway).await);

    drop(nginx);
    let (home, _) = gateway.stop().await;
    println!("cold start, ms   median    least     most   (to the first 200, 15 starts)");
    println!("bench serve   {}", process::cold_starts(|port| process::serve(&home, port)).await);
    if nginx::is_installed() {
        println!("nginx         {}", process::cold_starts(nginx::fresh).await);
    }
}

/// `bench/one` and `bench/four`, on an upstream as fast as it can be, and beside them what [`seats`] asks.
fn scenario(upstream: &Upstream) -> Scenario {
    let mut scenario = Scenario::new().endpoint("fake", &upstream.base());
    for alias in MEMBERS {
        upstream.model(alias, answers(ANSWER));
        scenario = scenario.model(alias, "fake", alias).model_with("ad_hoc", true);
    }
    seats::scenario(upstream, scenario.collection("one", &MEMBERS[..1]).collection("four", &MEMBERS))
}
