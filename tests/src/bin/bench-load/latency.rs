//! Latency to the last byte: the same streamed question sent every way in turn.
//!
//! The direct call is the floor: what it takes is the client, the upstream and the machine. A way's _added_
//! latency is its time less the direct time of the same turn; for a panel of four the direct time is that of
//! four calls at once, so it is what stands over the slowest seat.

use std::{
    fmt::Write,
    time::{Duration, Instant},
};

use bench_tests::{Gateway, Upstream, http::Http};
use serde_json::{Value, json};
use tokio::task::JoinSet;

use crate::{
    MEMBERS,
    nginx::Nginx,
    numbers::{median, milliseconds, percentile},
};

/// Turns of a round, after a few that are not counted.
const TURNS: usize = 200;
const WARM_UP: usize = 20;

/// A way to the answer, and all that was measured of it.
struct Way {
    name: &'static str,
    /// The way whose time is the floor of this one; its own for the floors.
    floor: usize,
    /// Per round, per turn, milliseconds.
    rounds: Vec<Vec<f64>>,
}

/// Measures every way and lays out the table.
pub async fn measure(upstream: &Upstream, gateway: &Gateway, nginx: Option<&Nginx>, rounds: u32) -> String {
    let upstream = Http::new(&upstream.root());
    let way = |name, floor| Way { name, floor, rounds: Vec::new() };
    let mut ways = [
        way("direct", 0),
        way("nginx", 0),
        way("panel of one", 0),
        way("direct, four at once", 3),
        way("nginx, four at once", 3),
        way("panel of four", 3),
    ];
    for _ in 0..rounds {
        for way in &mut ways {
            way.rounds.push(Vec::with_capacity(TURNS));
        }
        for turn in 0..WARM_UP + TURNS {
            let times = [
                Some(direct(&upstream).await),
                through(nginx, 1).await,
                Some(panel(&gateway.http, "bench/one").await),
                Some(at_once(&upstream, MEMBERS).await),
                through(nginx, MEMBERS.len()).await,
                Some(panel(&gateway.http, "bench/four").await),
            ];
            if turn < WARM_UP {
                continue;
            }
            for (way, time) in ways.iter_mut().zip(times) {
                if let (Some(round), Some(time)) = (way.rounds.last_mut(), time) {
                    round.push(milliseconds(time));
                }
            }
        }
    }
    table(&ways, rounds)
}

/// One call to an upstream, or to what stands before it.
pub async fn direct(http: &Http) -> Duration {
    ask(http, MEMBERS[0]).await
}

/// One panel.
pub async fn panel(http: &Http, collection: &str) -> Duration {
    ask(http, collection).await
}

async fn through(nginx: Option<&Nginx>, calls: usize) -> Option<Duration> {
    match nginx {
        Some(nginx) if calls == 1 => Some(direct(&nginx.http).await),
        Some(nginx) => Some(at_once(&nginx.http, MEMBERS.into_iter().take(calls)).await),
        None => None,
    }
}

/// Calls side by side, till the slowest is done.
pub async fn at_once(http: &Http, models: impl IntoIterator<Item = impl Into<String>>) -> Duration {
    let began = Instant::now();
    let mut tasks = JoinSet::new();
    for model in models {
        let (http, model) = (http.clone(), model.into());
        tasks.spawn(async move { ask(&http, &model).await });
    }
    tasks.join_all().await;
    began.elapsed()
}

/// A streamed question, read to its last byte.
async fn ask(http: &Http, model: &str) -> Duration {
    let question = json!({
        "model": model,
        "stream": true,
        "messages": [{"role": "user", "content": "Count to twenty."}],
    });
    let began = Instant::now();
    let answer = http.chat(&question).await;
    let took = began.elapsed();
    check(&answer.text(), answer.status.as_u16(), model);
    took
}

/// A fast refusal must not pass for a fast answer.
fn check(body: &str, status: u16, model: &str) {
    let said = |data: &str| {
        let event: Value = serde_json::from_str(data).unwrap_or_default();
        event["choices"][0]["delta"]["content"].as_str().unwrap_or_default().to_owned()
    };
    let text: String = body.lines().filter_map(|line| line.strip_prefix("data: ")).map(said).collect();
    assert!(status == 200 && text.contains("twenty"), "{model} answered {status}: {body}");
}

fn table(ways: &[Way], rounds: u32) -> String {
    let mut table = format!("latency, ms, of {rounds} rounds of {TURNS}: medians over the rounds\n");
    let _ = writeln!(table, "                          p50       p99   added p50   added p99   × direct");
    for way in ways.iter().filter(|way| way.rounds.iter().all(|round| !round.is_empty())) {
        let of_rounds =
            |figure: &dyn Fn(usize) -> f64| median(&(0..way.rounds.len()).map(figure).collect::<Vec<f64>>());
        let p50 = of_rounds(&|round| median(&way.rounds[round]));
        let p99 = of_rounds(&|round| percentile(&way.rounds[round], 0.99));
        let _ = write!(table, "{:<20}  {p50:>7.2}   {p99:>7.2}", way.name);
        let floor = &ways[way.floor];
        if floor.name != way.name {
            let added = |round: usize| -> Vec<f64> {
                way.rounds[round].iter().zip(&floor.rounds[round]).map(|(time, floor)| time - floor).collect()
            };
            let added50 = of_rounds(&|round| median(&added(round)));
            let added99 = of_rounds(&|round| percentile(&added(round), 0.99));
            let ratio = of_rounds(&|round| median(&way.rounds[round]) / median(&floor.rounds[round]));
            let _ = write!(table, "     {added50:>7.2}     {added99:>7.2}    {ratio:>7.2}");
        }
        table.push('\n');
    }
    table
}
