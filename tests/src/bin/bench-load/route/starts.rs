//! What the gateway holds when nothing is asked, and how soon it is there.

use bench_tests::Home;

use super::{
    table::{Row, Target},
    ways::Ways,
};
use crate::{
    nginx,
    process::{self, Starts},
};

pub fn idle(ways: &Ways) -> Row {
    let others = ways.all().into_iter().filter(|way| way.pid != ways.gateway.pid);
    Row {
        what: "`bench serve` idle, resident".to_owned(),
        target: Target::AtMost(20.0, "MB"),
        measured: ways.gateway.pid.map(resident),
        figures: others
            .filter_map(|way| Some(format!("{:<26} {:.1} MB", way.name, resident(way.pid?))))
            .collect(),
    }
}

/// What processes still hold after all that was asked of them.
pub fn after(ways: &Ways) -> String {
    let each =
        ways.all().into_iter().filter_map(|way| Some(format!("{} {:.1} MB", way.name, resident(way.pid?))));
    format!("resident after all this: {}", each.collect::<Vec<String>>().join(", "))
}

fn resident(pid: u32) -> f64 {
    process::resident(pid) as f64 / 1e6
}

/// Stops what was measured. A folder that is set up is one of the targets; one with all its records is told beside.
pub async fn cold(ways: Ways) -> [Row; 2] {
    let (empty, set_up, used) = (Home::default(), ways.set_up().await, ways.stop().await);
    let of_empty = starts(&empty).await;
    let of_set_up = starts(&set_up).await;
    let mut figures =
        vec![said("gateway", &of_set_up), said("with the records of all this", &starts(&used).await)];
    if nginx::is_installed() {
        figures.push(said("nginx", &process::cold_starts(nginx::fresh).await));
    }
    let row = |what, starts: &Starts, figures| Row {
        what: format!("cold start to the first 200, {what}"),
        target: Target::AtMost(60.0, "ms"),
        measured: Some(starts.median()),
        figures,
    };
    [
        row("an empty folder", &of_empty, vec![said("gateway", &of_empty)]),
        row("a folder that is set up", &of_set_up, figures),
    ]
}

async fn starts(home: &Home) -> Starts {
    process::cold_starts(|port| process::serve(home, port)).await
}

fn said(name: &str, starts: &Starts) -> String {
    format!("{name:<28} median, least, most:{starts}")
}
