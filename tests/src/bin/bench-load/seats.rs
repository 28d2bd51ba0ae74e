//! What a panel takes beyond its slowest seat: members, with and without explorers, that answer at a set pace.
//!
//! The slowest seat's time is that of as many direct calls side by side, with as many such groups at once as there are
//! panels: what both take is the client, the upstream, its timers and the machine.

use std::{fmt::Write, time::Duration};

use bench_tests::{
    Gateway, Scenario, Upstream,
    http::Http,
    upstream::{Reply, Step, answers},
};
use tokio::task::JoinSet;

use crate::{
    ANSWER, latency,
    numbers::{median, milliseconds, percentile},
};

/// Members of `bench/paced`; with the explorers, what is asked directly beside it.
const MEMBERS: [&str; 4] = ["paced-a", "paced-b", "paced-c", "paced-d"];
const EXPLORERS: usize = 2;
/// Whom explorers are chosen of.
const OUTSIDERS: usize = 24;

/// Between two of an answer's twenty pieces.
const PACE: Duration = Duration::from_millis(10);

/// How many panels run at once, and how often so many are asked.
const AT_ONCE: [(usize, usize); 3] = [(1, 60), (16, 12), (64, 6)];

/// Adds what is measured here to what is set up.
pub fn scenario(upstream: &Upstream, mut scenario: Scenario) -> Scenario {
    let outsiders: Vec<String> = (0..OUTSIDERS).map(|n| format!("outsider-{n}")).collect();
    for alias in MEMBERS.into_iter().chain(outsiders.iter().map(String::as_str)) {
        upstream.model(alias, paced(answers(ANSWER)));
        scenario = scenario.model(alias, "fake", alias);
    }
    scenario.collection("paced", &MEMBERS).setting("max_calls", MEMBERS.len() + EXPLORERS)
}

fn paced(mut reply: Reply) -> Reply {
    for at in (1..reply.steps.len()).rev() {
        reply = reply.at(at, Step::Pause(PACE));
    }
    reply
}

pub async fn measure(upstream: &Upstream, gateway: &Gateway) -> String {
    let mut table = format!(
        "time beyond the slowest seat, ms (seats answer at a set pace of {} ms a piece)\n",
        PACE.as_millis()
    );
    let _ = writeln!(
        table,
        "seats   panels at once   asked   slowest seat p50    p99   panel p50    p99   added p50    p99"
    );
    let direct = Http::new(&upstream.root());
    for explorers in [0, EXPLORERS] {
        gateway.bench(&["settings", "set", &format!("max_explorers={explorers}")]).await.exits(0);
        let seats = if explorers == 0 { "4".to_owned() } else { format!("4 + {explorers}") };
        for (at_once, waves) in AT_ONCE {
            let (mut floor, mut panels) = (Vec::new(), Vec::new());
            // The first wave opens the connections.
            for wave in 0..=waves {
                let together = side_by_side(&direct, at_once, explorers).await;
                let asked = asked_at_once(&gateway.http, at_once).await;
                if wave > 0 {
                    floor.extend(together);
                    panels.extend(asked);
                }
            }
            let p99 = |times: &[f64]| percentile(times, 0.99);
            let _ = writeln!(
                table,
                "{seats:<5}   {at_once:>14}   {:>5}   {:>16.1} {:>6.1}   {:>9.1} {:>6.1}   {:>9.1} {:>6.1}",
                panels.len(),
                median(&floor),
                p99(&floor),
                median(&panels),
                p99(&panels),
                median(&panels) - median(&floor),
                p99(&panels) - p99(&floor),
            );
        }
    }
    table
}

/// Groups of direct calls; each group's time is its slowest call's.
async fn side_by_side(upstream: &Http, groups: usize, explorers: usize) -> Vec<f64> {
    let mut tasks = JoinSet::new();
    for _ in 0..groups {
        let upstream = upstream.clone();
        tasks.spawn(async move {
            let mut models: Vec<String> = MEMBERS.map(str::to_owned).to_vec();
            models.extend((0..explorers).map(|n| format!("outsider-{n}")));
            latency::at_once(&upstream, models).await
        });
    }
    tasks.join_all().await.into_iter().map(milliseconds).collect()
}

async fn asked_at_once(gateway: &Http, panels: usize) -> Vec<f64> {
    let mut tasks = JoinSet::new();
    for _ in 0..panels {
        let gateway = gateway.clone();
        tasks.spawn(async move { latency::panel(&gateway, "bench/paced").await });
    }
    tasks.join_all().await.into_iter().map(milliseconds).collect()
}
