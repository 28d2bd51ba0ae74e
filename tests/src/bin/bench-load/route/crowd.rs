//! More than a person has: five hundred slow streams, and a burst of new connections.

use std::time::Instant;

use tokio::task::JoinSet;

use super::{
    questions::{Api, Size},
    replies::Script,
    socket::Connection,
    table::{Row, Target},
    ways::{Way, Ways},
};
use crate::{
    numbers::{median, megabytes, milliseconds},
    process,
};

const STREAMS: usize = 500;
const STREAMS_MEMORY: f64 = 60.0;
const BURST: usize = 256;
const BURSTS: usize = 5;

/// Slow streams at once, of processes that have done nothing else: what fails, and what it takes to hold them.
pub async fn slow_streams(ways: &Ways) -> [Row; 2] {
    let mut figures = Vec::new();
    let mut of_gateway = None;
    // The direct way only shows whether the load can do it.
    for way in ways.all() {
        let before = way.pid.map(process::resident).unwrap_or_default();
        let failed = together(way, Script::Slow, STREAMS).await;
        let most = way.pid.map(process::most_resident).unwrap_or_default();
        let memory = match way.pid {
            Some(_) => format!("   {} MB before, {} MB at most", megabytes(before), megabytes(most)),
            None => String::new(),
        };
        figures.push(format!("{:<26} {:>4} failed{memory}{}", way.name, failed.len(), first_of(&failed)));
        if way.name == ways.gateway.name {
            of_gateway = Some((failed.len(), most as f64 / 1e6));
        }
    }
    let row = |what: &str, target, measured, figures| Row {
        what: format!("{STREAMS} slow streams at once, {what}"),
        target,
        measured,
        figures,
    };
    // Streams that were refused take no memory.
    let memory = of_gateway.filter(|(failed, _)| *failed == 0).map(|(_, most)| most);
    [
        row("failures", Target::NoFailure, of_gateway.map(|(failed, _)| failed as f64), figures),
        row("resident in all", Target::AtMost(STREAMS_MEMORY, "MB"), memory, Vec::new()),
    ]
}

/// New connections at once, each with a question.
pub async fn burst(ways: &Ways) -> Row {
    let all = ways.all();
    let mut failed = vec![Vec::new(); all.len()];
    let mut times = vec![Vec::new(); all.len()];
    for _ in 0..BURSTS {
        for (at, way) in all.iter().enumerate() {
            let began = Instant::now();
            failed[at].extend(together(way, Script::Whole, BURST).await);
            times[at].push(milliseconds(began.elapsed()));
        }
    }
    let figures = all.iter().enumerate().map(|(at, way)| {
        format!(
            "{:<26} {:>4} failed of {}   {:>6.1} ms a burst{}",
            way.name,
            failed[at].len(),
            BURST * BURSTS,
            median(&times[at]),
            first_of(&failed[at])
        )
    });
    let gateway = all.iter().position(|way| way.name == "gateway");
    Row {
        what: format!("burst of {BURST} new connections, {BURSTS} times"),
        target: Target::NoFailure,
        measured: gateway.map(|at| failed[at].len() as f64),
        figures: figures.collect(),
    }
}

/// Asks so many at once, each on a connection of its own; what went wrong.
async fn together(way: &Way, script: Script, count: usize) -> Vec<String> {
    let mut tasks = JoinSet::new();
    for session in 0..count {
        let (address, request) = (way.address, way.request(Api::Chat, script, Size::Short, session));
        tasks.spawn(async move {
            let mut connection = Connection::open(address).await.map_err(|error| error.to_string())?;
            connection.call(&request).await.map_err(|error| error.to_string())?;
            connection.check(script.marks(), script.is_streamed())
        });
    }
    tasks.join_all().await.into_iter().filter_map(Result::err).collect()
}

/// The first of what went wrong, in short.
fn first_of(failed: &[String]) -> String {
    let short = |why: &String| format!("   first: {}", why.chars().take(160).collect::<String>());
    failed.first().map(short).unwrap_or_default()
}
