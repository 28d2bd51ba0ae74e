//! More than a person has: five hundred slow streams, and a burst of new connections.

use std::time::{Duration, Instant};

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
/// Between two looks at the memory.
const LOOK: Duration = Duration::from_millis(100);

/// Slow streams at once: what fails, and what it takes to hold them.
pub async fn slow_streams(ways: &Ways, api: Api) -> [Row; 2] {
    let mut figures = Vec::new();
    let mut of_gateway = None;
    // The direct way only shows whether the load can do it.
    for way in ways.all() {
        let asked = if way.name == "gateway" { api } else { Api::Chat };
        let before = way.pid.map(process::resident).unwrap_or_default();
        if let Some(pid) = way.pid {
            process::forget_most_resident(pid);
        }
        let (failed, most) = watched(way, together(way, Script::Slow, asked, STREAMS)).await;
        let memory = match way.pid {
            None => String::new(),
            Some(pid) => format!(
                "   before {:>6} MB, most {:>6} MB ({} MB by the kernel's mark)",
                megabytes(before),
                megabytes(most),
                megabytes(process::most_resident(pid))
            ),
        };
        let why = failed.first().map(|why| {
            format!("   first: {}", why.chars().take(160).collect::<String>().replace("\r\n", " "))
        });
        figures.push(format!(
            "{:<26} {:>4} failed{memory}{}",
            way.name,
            failed.len(),
            why.unwrap_or_default()
        ));
        if let (Some(pid), "gateway") = (way.pid, way.name) {
            of_gateway = Some((failed.len() as f64, most.max(process::most_resident(pid)) as f64 / 1e6));
        }
    }
    let how = if api == Api::Chat { "relay" } else { "translated" };
    let row = |what: &str, target, measured, figures| Row {
        what: format!("{STREAMS} slow streams at once, {how}, {what}"),
        target,
        measured,
        figures,
    };
    [
        row("failures", Target::NoFailure, of_gateway.map(|it| it.0), figures),
        row("resident in all", Target::AtMost(STREAMS_MEMORY, "MB"), of_gateway.map(|it| it.1), Vec::new()),
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
            failed[at].extend(together(way, Script::Whole, Api::Chat, BURST).await);
            times[at].push(milliseconds(began.elapsed()));
        }
    }
    let figures = all.iter().enumerate().map(|(at, way)| {
        let why = failed[at].first().map(|why| {
            format!("   first: {}", why.chars().take(160).collect::<String>().replace("\r\n", " "))
        });
        format!(
            "{:<26} {:>4} failed of {}   {:>6.1} ms a burst{}",
            way.name,
            failed[at].len(),
            BURST * BURSTS,
            median(&times[at]),
            why.unwrap_or_default()
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
async fn together(way: &Way, script: Script, api: Api, count: usize) -> Vec<String> {
    let mut tasks = JoinSet::new();
    for session in 0..count {
        let (address, request) = (way.address, way.request(api, script, Size::Short, session));
        tasks.spawn(async move {
            let mut connection = Connection::open(address).await.map_err(|error| error.to_string())?;
            connection.call(&request).await.map_err(|error| error.to_string())?;
            connection.check(script.marks(), script.is_streamed())
        });
    }
    tasks.join_all().await.into_iter().filter_map(Result::err).collect()
}

/// The most memory that the way held while `work` went on.
async fn watched<T>(way: &Way, work: impl Future<Output = T>) -> (T, u64) {
    let mut most = 0;
    let mut looks = tokio::time::interval(LOOK);
    tokio::pin!(work);
    loop {
        tokio::select! {
            done = &mut work => return (done, most),
            _ = looks.tick() => most = most.max(way.pid.map(process::resident).unwrap_or_default()),
        }
    }
}
