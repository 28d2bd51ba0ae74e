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
    let memory = |pid| process::resident(pid) as f64 / 1e6;
    let others = ways.all().into_iter().filter(|way| way.pid != ways.gateway.pid);
    Row {
        what: "`bench serve` idle, resident".to_owned(),
        target: Target::AtMost(20.0, "MB"),
        measured: ways.gateway.pid.map(memory),
        figures: others
            .filter_map(|way| Some(format!("{:<26} {:.1} MB", way.name, memory(way.pid?))))
            .collect(),
    }
}

/// Stops what was measured; its folder is what a start finds that is set up.
pub async fn cold(ways: Ways) -> [Row; 2] {
    let used = ways.stop().await;
    let row = |what, starts: &Starts, figures| Row {
        what: format!("cold start to the first 200, {what}"),
        target: Target::AtMost(60.0, "ms"),
        measured: Some(starts.median()),
        figures,
    };
    let said = |name: &str, starts: &Starts| format!("{name:<26} median, least and most, ms:{starts}");
    let empty = Home::default();
    let of_empty = process::cold_starts(|port| process::serve(&empty, port)).await;
    let of_used = process::cold_starts(|port| process::serve(&used, port)).await;
    let mut figures = vec![said("gateway", &of_used)];
    if nginx::is_installed() {
        figures.push(said("nginx", &process::cold_starts(nginx::fresh).await));
    }
    [
        row("an empty folder", &of_empty, vec![said("gateway", &of_empty)]),
        row("a folder that was used", &of_used, figures),
    ]
}
