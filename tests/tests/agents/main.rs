//! Real agents on the real gateway: each of `tests/agents/agents.json` runs an errand over members of every
//! dialect, `agent::over_dialect`. The scripted model has it run a command, then edit a file with its own tool,
//! then answers; before it a member that is out of capacity was asked.
//!
//! All errands share one upstream and one gateway, and run a few at once, each in a home and a folder of its own.
#![expect(clippy::expect_used, clippy::panic, reason = "a test binary fails by panicking")]

mod agent;
mod errand;
mod lab;

use std::{
    path::PathBuf,
    process::Command,
    sync::{Arc, OnceLock},
};

use bench_tests::process::repository;
use libtest_mimic::{Arguments, Failed, Trial};

use crate::lab::Lab;

/// How many run at once: they wait as much as they work.
const AT_ONCE: usize = 3;

fn main() {
    let mut arguments = Arguments::from_args();
    arguments.test_threads.get_or_insert(AT_ONCE);
    let cases = Arc::new(agent::cases());
    // Installed and started when the first errand runs, so that a list of them needs neither.
    let lab = Arc::new(OnceLock::new());
    let trials = (0..cases.len()).map(|number| {
        let (cases, lab) = (cases.clone(), lab.clone());
        let (agent, api) = &cases[number];
        Trial::test(format!("{}::over_{}", agent.name, api.name()), move || {
            let lab = lab.get_or_init(|| Lab::start(&cases, install()));
            lab.run(number, &cases[number]).map_err(Failed::from)
        })
    });
    let conclusion = libtest_mimic::run(&arguments, trials.collect());
    // Its gateway ends with it.
    drop(lab);
    conclusion.exit();
}

/// Where the agents' programs are, installed if they were not.
fn install() -> PathBuf {
    let test = std::env::current_exe().expect("this test's path");
    let target = test.ancestors().nth(3).expect("target/<profile>/deps/<test>");
    let into = target.join("agents");
    let script = repository().join("tests/agents/setup.sh");
    let ran = Command::new("sh").arg(script).arg(&into).status().expect("setup.sh runs");
    assert!(ran.success(), "tests/agents/setup.sh failed");
    into.join("node_modules/.bin")
}
