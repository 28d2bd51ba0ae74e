//! The official SDKs against the real gateway, with members of every dialect: each case of
//! `tests/clients/matrix.json` is a test, `sdk::upstream::scenario`.
//!
//! All cases share one upstream and one gateway, and run at once: one process a language is given the names of its
//! cases and tells each outcome as a JSON line.
#![expect(clippy::expect_used, clippy::panic, reason = "a test binary fails by panicking")]

mod matrix;
mod members;

use std::{
    collections::HashMap,
    path::{Path, PathBuf},
    process::Command,
    time::Duration,
};

use bench_tests::{Gateway, process::repository};
use libtest_mimic::{Arguments, Failed, Trial};
use serde_json::Value;
use tokio::task::JoinSet;

/// For all cases of a language; each has a limit of its own. Reached only when its process hangs.
const LIMIT: Duration = Duration::from_secs(600);

/// By a case's name: what went wrong, or nothing.
type Outcomes = HashMap<String, Result<(), String>>;

fn main() {
    let mut arguments = Arguments::from_args();
    // The cases have all run when the first is told: threads would only reorder the lines.
    arguments.test_threads = Some(1);
    let mut cases = matrix::cases();
    if let Some(filter) = &arguments.filter {
        cases.retain(|_, names| {
            names.retain(|name| name.contains(filter));
            !names.is_empty()
        });
    }
    let outcomes = if arguments.list || cases.is_empty() { Outcomes::new() } else { run(&cases) };
    let trials = cases.into_values().flatten().map(|name| {
        let outcome = outcomes.get(&name).cloned().unwrap_or(Err("its process ended before it".to_owned()));
        Trial::test(name, move || outcome.map_err(Failed::from))
    });
    libtest_mimic::run(&arguments, trials.collect()).exit();
}

/// Runs every case, the languages side by side.
fn run(cases: &matrix::Cases) -> Outcomes {
    let installed = install();
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    runtime.block_on(async {
        let (_upstream, gateway) = members::gateway().await;
        let mut running = JoinSet::new();
        for (language, names) in cases {
            let mut command = client(language, &installed, &gateway);
            command.args(names);
            let language = language.clone();
            running.spawn(async move {
                let ran = tokio::time::timeout(LIMIT, command.output()).await;
                let ran =
                    ran.unwrap_or_else(|_| panic!("{language} runs on after {LIMIT:?}")).expect("it runs");
                told(&language, &String::from_utf8_lossy(&ran.stdout), &String::from_utf8_lossy(&ran.stderr))
            });
        }
        running.join_all().await.into_iter().flatten().collect()
    })
}

/// A process of this language that runs the cases named by its arguments.
fn client(language: &str, installed: &Path, gateway: &Gateway) -> tokio::process::Command {
    let clients = repository().join("tests/clients");
    let (program, script) = match language {
        "python" => (installed.join("python/bin/python"), clients.join("python/main.py")),
        "node" => (PathBuf::from("node"), clients.join("node/main.mjs")),
        other => panic!("matrix.json: no client is written in {other}"),
    };
    let mut command = tokio::process::Command::new(program);
    command.arg(script);
    gateway.home.dress(&mut command);
    command.env("BENCH_URL", &gateway.http.url).env("BENCH_PACKAGES", installed.join(language));
    // Compiled files would land in the source tree.
    command.env("PYTHONDONTWRITEBYTECODE", "1");
    command
}

fn told(language: &str, stdout: &str, stderr: &str) -> Outcomes {
    let mut outcomes = HashMap::new();
    for line in stdout.lines() {
        let told: Value = serde_json::from_str(line)
            .unwrap_or_else(|error| panic!("{language}: {error}: {line}\n{stderr}"));
        let name = told["case"].as_str().unwrap_or_default().to_owned();
        let detail = told["detail"].as_str().unwrap_or_default().to_owned();
        outcomes.insert(name, if told["ok"] == true { Ok(()) } else { Err(detail) });
    }
    assert!(!outcomes.is_empty(), "{language} said nothing: {stderr}");
    outcomes
}

/// Where the clients are, installed if they were not.
fn install() -> PathBuf {
    let test = std::env::current_exe().expect("this test's path");
    let target = test.ancestors().nth(3).expect("target/<profile>/deps/<test>");
    let into = target.join("clients");
    let script = repository().join("tests/clients/setup.sh");
    let ran = Command::new("sh").arg(script).arg(&into).status().expect("setup.sh runs");
    assert!(ran.success(), "tests/clients/setup.sh failed");
    into
}
