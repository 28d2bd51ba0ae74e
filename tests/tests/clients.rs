//! The official SDKs against the real gateway: `tests/clients/*/sdk.*`, each case a test by its name.
#![expect(clippy::expect_used, clippy::panic, reason = "a test binary fails by panicking")]

use std::{
    collections::HashMap,
    path::PathBuf,
    process::Command,
    sync::{Arc, OnceLock},
};

use bench_tests::{
    Gate, Gateway, Scenario, Upstream,
    process::repository,
    upstream::{Script, answers, cut_after, rate_limited, refuses_key},
};
use libtest_mimic::{Arguments, Failed, Trial};
use serde_json::Value;

/// A client in its own language.
struct Sdk {
    name: &'static str,
    program: PathBuf,
    script: PathBuf,
    packages: PathBuf,
    outcomes: OnceLock<HashMap<String, Result<(), String>>>,
}

fn main() {
    let arguments = Arguments::from_args();
    let installed = install();
    let clients = repository().join("tests/clients");
    let sdks = [
        (
            "openai-python",
            installed.join("python/bin/python"),
            clients.join("python/sdk.py"),
            installed.join("python"),
        ),
        (
            "apis-python",
            installed.join("python/bin/python"),
            clients.join("python/apis.py"),
            installed.join("python"),
        ),
        ("openai-node", PathBuf::from("node"), clients.join("node/sdk.mjs"), installed.join("node")),
    ];
    let mut trials = Vec::new();
    for (name, program, script, packages) in sdks {
        let sdk = Arc::new(Sdk { name, program, script, packages, outcomes: OnceLock::new() });
        for case in sdk.cases() {
            let sdk = sdk.clone();
            trials.push(Trial::test(format!("{name}::{case}"), move || sdk.outcome(&case)));
        }
    }
    libtest_mimic::run(&arguments, trials).exit();
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

impl Sdk {
    fn cases(&self) -> Vec<String> {
        let ran = Command::new(&self.program).arg(&self.script).arg("--list").output().expect(self.name);
        assert!(ran.status.success(), "{}: {}", self.name, String::from_utf8_lossy(&ran.stderr));
        String::from_utf8_lossy(&ran.stdout).lines().map(str::to_owned).collect()
    }

    /// One case's outcome; the first to ask runs them all, in one process.
    fn outcome(&self, case: &str) -> Result<(), Failed> {
        let outcomes = self.outcomes.get_or_init(|| self.run());
        match outcomes.get(case) {
            Some(Ok(())) => Ok(()),
            Some(Err(detail)) => Err(detail.into()),
            None => Err(format!("{} ended before this case: {outcomes:?}", self.name).into()),
        }
    }

    fn run(&self) -> HashMap<String, Result<(), String>> {
        let runtime = tokio::runtime::Runtime::new().expect("a runtime");
        runtime.block_on(async {
            let (_upstream, gateway) = gateway().await;
            let mut command = tokio::process::Command::new(&self.program);
            command.arg(&self.script);
            gateway.home.dress(&mut command);
            command
                .env("BENCH_BASE_URL", format!("{}/v1", gateway.http.url))
                .env("BENCH_PACKAGES", &self.packages);
            let ran = bench_tests::within(self.name, command.output()).await.expect("it runs");
            outcomes(&String::from_utf8_lossy(&ran.stdout), &String::from_utf8_lossy(&ran.stderr))
        })
    }
}

fn outcomes(stdout: &str, stderr: &str) -> HashMap<String, Result<(), String>> {
    let mut outcomes = HashMap::new();
    for line in stdout.lines() {
        let told: Value =
            serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}\n{stderr}"));
        let case = told["case"].as_str().unwrap_or_default().to_owned();
        let detail = told["detail"].as_str().unwrap_or_default().to_owned();
        outcomes.insert(case, if told["ok"] == true { Ok(()) } else { Err(detail) });
    }
    assert!(!outcomes.is_empty(), "it said nothing: {stderr}");
    outcomes
}

/// The collections that the scripts ask.
async fn gateway() -> (Upstream, Gateway) {
    let upstream = Upstream::start().await;
    let slow = Gate::shut();
    let opens = slow.clone();
    let models: [(&str, Script); 9] = [
        ("alpha", answers("Answer of alpha, word by word.").into()),
        ("beta", answers("Answer of beta.").into()),
        ("slow", answers("Answer of slow.").held(&slow).into()),
        (
            "opener",
            Script::by(move |_| {
                opens.open();
                answers("Opened.")
            }),
        ),
        ("refuser", refuses_key().into()),
        ("limit-7", rate_limited(Some(7)).into()),
        ("limit-40", rate_limited(Some(40)).into()),
        ("cut", cut_after(2).into()),
        ("once", Script::turns(vec![rate_limited(Some(1)), answers("Second time lucky.")])),
    ];
    let mut scenario = Scenario::new().endpoint("fake", &upstream.base());
    for (alias, script) in models {
        upstream.model(alias, script);
        scenario = scenario.model(alias, "fake", alias);
    }
    let gateway = scenario
        .collection("core", &["alpha", "beta"])
        .collection("slow", &["alpha", "slow"])
        .collection("opener", &["opener"])
        .collection("refused", &["refuser"])
        .collection("limited", &["limit-40", "limit-7"])
        .collection("broken", &["cut"])
        .collection("once", &["once"])
        .start()
        .await;
    (upstream, gateway)
}
