//! How fast a routed turn is, beside nginx as a plain proxy, `crabllm` as the peer, and the direct call.
//!
//! Everything is asked of one upstream, a process that answers with bytes made before. Rounds of the ways are
//! interleaved, and the targets are ratios: machines differ and are noisy.

mod at_once;
mod cores;
mod crowd;
mod http1;
mod one_at_a_time;
mod questions;
mod replies;
mod socket;
mod starts;
mod table;
pub mod upstream;
mod ways;

use self::{
    one_at_a_time::Measure,
    questions::{Api, Size},
    replies::Script,
    ways::Ways,
};

const KB: usize = 1000;

const ONE_AT_A_TIME: [Measure; 10] = [
    added("added time, relay, a whole answer", Script::Whole, Size::Short, Api::Chat, 2.0),
    added("added time, relay, a streamed answer", Script::Stream, Size::Short, Api::Chat, 2.0),
    added("added time, translated, a whole answer", Script::Whole, Size::Short, Api::Anthropic, 4.0),
    added("added time, translated, a streamed answer", Script::Stream, Size::Short, Api::Anthropic, 4.0),
    few("2,000 events at once, relay, an event a chunk", Script::Long, Size::Short, Api::Chat, 2.0),
    few("2,000 events at once, relay, in chunks of 16 KB", Script::Packed, Size::Short, Api::Chat, 2.0),
    few("2,000 events at once, translated, an event a chunk", Script::Long, Size::Short, Api::Anthropic, 6.0),
    few(
        "2,000 events at once, translated, in chunks of 16 KB",
        Script::Packed,
        Size::Short,
        Api::Anthropic,
        6.0,
    ),
    few("request of 400 KB", Script::Whole, Size::Conversation(400 * KB), Api::Chat, 2.0),
    few("request of 2 MB", Script::Whole, Size::Conversation(2000 * KB), Api::Chat, 2.0),
];

const fn added(what: &'static str, script: Script, size: Size, api: Api, most: f64) -> Measure {
    Measure { what, script, size, api, most, calls: 100, rounds: 15 }
}

const fn few(what: &'static str, script: Script, size: Size, api: Api, most: f64) -> Measure {
    Measure { what, script, size, api, most, calls: 10, rounds: 11 }
}

pub async fn measure() {
    let ways = Ways::start().await;
    if ways.nginx.is_none() {
        println!("nginx is not installed: nothing can be held against it");
    }
    if ways.crabllm.is_none() {
        println!("crabllm is left out: neither does $CRABLLM name it nor is it on the path");
    }
    if let Some(busy) = cores::busy() {
        println!(
            "this machine is busy ({busy}): what is measured at once, or at the 99th percentile, says little"
        );
    }
    println!("{}", table::head());
    print!("{}", starts::idle(&ways));
    for row in crowd::slow_streams(&ways).await {
        print!("{row}");
    }
    print!("{}", crowd::burst(&ways).await);
    {
        let held = cores::hold(&ways.pids());
        if held.is_none() {
            println!("(taskset is missing: not held on one core)");
        }
        for measure in &ONE_AT_A_TIME {
            print!("{}", one_at_a_time::measure(&ways, measure).await);
        }
    }
    print!("{}", at_once::throughput(&ways).await);
    for api in [Api::Chat, Api::Anthropic] {
        for row in at_once::first_content(&ways, api).await {
            print!("{row}");
        }
    }
    println!("{}", starts::after(&ways));
    for row in starts::cold(ways).await {
        print!("{row}");
    }
}
