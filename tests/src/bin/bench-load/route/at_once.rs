//! Many callers at once: how much a way passes on, and how soon the first content is there.

use std::time::{Duration, Instant};

use tokio::task::JoinSet;

use super::{
    questions::{Api, Size},
    replies::Script,
    socket::{Connection, Took},
    table::{Row, Target, short},
    ways::{Way, Ways},
};
use crate::{
    numbers::{median, milliseconds, percentile},
    process,
};

const CALLERS: usize = 64;
const SPAN: Duration = Duration::from_millis(1500);
const ROUNDS: usize = 5;

/// Relayed requests a second.
pub async fn throughput(ways: &Ways) -> Row {
    let all = ways.all();
    // Per way and round: requests a second, and microseconds of a core that the way took for each.
    let mut rounds = vec![Vec::new(); all.len()];
    let mut refused = vec![None; all.len()];
    for round in 0..ROUNDS {
        for turn in 0..all.len() {
            let at = (round + turn) % all.len();
            match requests(all[at]).await {
                Ok(figures) => rounds[at].push(figures),
                Err(error) => refused[at] = Some(error),
            }
        }
    }
    let a_second = |at: usize| median(&rounds[at].iter().map(|it| it.0).collect::<Vec<f64>>());
    let of_core = |at: usize| median(&rounds[at].iter().map(|it| it.1).collect::<Vec<f64>>());
    let at = |name: &str| all.iter().position(|way| way.name == name);
    let nginx = at("nginx").map(a_second);
    let figures = all.iter().enumerate().map(|(at, way)| match &refused[at] {
        Some(refused) => format!("{:<26} failed: {refused}", way.name),
        None => {
            let core = if way.pid.is_some() {
                format!("   {:>6} µs of a core each", short(of_core(at)))
            } else {
                String::new()
            };
            let ratio =
                nginx.map(|nginx| format!("   {} × nginx", short(a_second(at) / nginx))).unwrap_or_default();
            format!("{:<26} {:>7.0} /s{core}{ratio}", way.name, a_second(at))
        }
    });
    let gateway = at("gateway").filter(|at| refused[*at].is_none()).map(a_second);
    Row {
        what: format!("throughput, relay, {CALLERS} at once"),
        target: Target::AtLeast(0.5, "× nginx"),
        measured: nginx.zip(gateway).map(|(nginx, gateway)| gateway / nginx),
        figures: figures.collect(),
    }
}

async fn requests(way: &Way) -> Result<(f64, f64), String> {
    let mut callers = connections(way, Script::Whole, Api::Chat, CALLERS).await?;
    let ran = || way.pid.map(process::run_time).unwrap_or_default();
    let (began, ran_before) = (Instant::now(), ran());
    let mut tasks = JoinSet::new();
    for (mut connection, request) in callers.drain(..) {
        tasks.spawn(async move {
            let mut done = 0_u32;
            while began.elapsed() < SPAN {
                connection.call(&request).await.map_err(|error| error.to_string())?;
                done += 1;
            }
            connection.check(Script::Whole.marks(), false)?;
            Ok::<u32, String>(done)
        });
    }
    let done: u32 = tasks.join_all().await.into_iter().sum::<Result<u32, String>>()?;
    let (took, ran) = (began.elapsed(), ran() - ran_before);
    Ok((f64::from(done) / took.as_secs_f64(), milliseconds(ran) * 1000.0 / f64::from(done)))
}

/// Kept connections that have been used, and a request for each.
async fn connections(
    way: &Way,
    script: Script,
    api: Api,
    count: usize,
) -> Result<Vec<(Connection, Vec<u8>)>, String> {
    let mut tasks = JoinSet::new();
    for session in 0..count {
        let (address, request) = (way.address, way.request(api, script, Size::Short, session));
        tasks.spawn(async move {
            let mut connection = Connection::open(address).await.map_err(|error| error.to_string())?;
            connection.call(&request).await.map_err(|error| error.to_string())?;
            connection.check(script.marks(), script.is_streamed())?;
            Ok((connection, request))
        });
    }
    tasks.join_all().await.into_iter().collect()
}

const LISTENERS: usize = 16;
const WAVES: usize = 6;
const CALLS: usize = 8;

/// Time to the first content, beyond the upstream's own and beyond the direct call's.
pub async fn first_content(ways: &Ways, api: Api) -> [Row; 2] {
    let all = ways.all();
    let mut times: Vec<Vec<f64>> = vec![Vec::new(); all.len()];
    let mut refused = vec![None; all.len()];
    for wave in 0..WAVES {
        for turn in 0..all.len() {
            let at = (wave + turn) % all.len();
            let asked = if all[at].name == "gateway" { api } else { Api::Chat };
            match listened(all[at], asked).await {
                Ok(more) => times[at].extend(more),
                Err(error) => refused[at] = Some(error),
            }
        }
    }
    let p99 = |at: usize| percentile(&times[at], 0.99);
    let gateway = all.iter().position(|way| way.name == "gateway").filter(|at| refused[*at].is_none());
    let figures = all.iter().enumerate().map(|(at, way)| match &refused[at] {
        Some(refused) => format!("{:<26} failed: {refused}", way.name),
        None => format!(
            "{:<26} p50 {:.3} ms   p99 {:.3} ms   of {} calls",
            way.name,
            median(&times[at]),
            p99(at),
            times[at].len()
        ),
    });
    let how = if api == Api::Chat { "relay" } else { "translated" };
    let row = |share, target, measured, figures| Row {
        what: format!("first content, {how}, {LISTENERS} at once, {share}"),
        target: Target::AtMost(target, "ms"),
        measured,
        figures,
    };
    [
        row("p50", 0.5, gateway.map(|at| median(&times[at]) - median(&times[0])), figures.collect()),
        row("p99", 3.0, gateway.map(|at| p99(at) - p99(0)), Vec::new()),
    ]
}

async fn listened(way: &Way, api: Api) -> Result<Vec<f64>, String> {
    let mut tasks = JoinSet::new();
    for (mut connection, request) in connections(way, Script::First, api, LISTENERS).await? {
        tasks.spawn(async move {
            let mut times = Vec::with_capacity(CALLS);
            for _ in 0..CALLS {
                let took = connection.call_for_content(&request).await;
                let Took { first, .. } = took.map_err(|error| error.to_string())?;
                times.push(milliseconds(first.ok_or("no content came")?));
            }
            Ok::<Vec<f64>, String>(times)
        });
    }
    let times: Result<Vec<Vec<f64>>, String> = tasks.join_all().await.into_iter().collect();
    times.map(|times| times.concat())
}
