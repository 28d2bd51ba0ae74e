//! One errand: the agent is started with a task, and what it did is looked at on disk, at the upstream and in what
//! it said.

use std::{
    fs,
    path::Path,
    process::{Output, Stdio},
    time::Duration,
};

use bench_tests::upstream::{Api, Errand, Received};
use tokio::process::Command;

use crate::{
    agent::Agent,
    lab::{self, ABLE, BUSY, IDLE, Lab},
};

/// Reached only when an agent hangs.
const LIMIT: Duration = Duration::from_secs(300);

const NOTE: &str = "first\nbefore\nlast\n";
const EDITED: &str = "first\nafter\nlast\n";

pub async fn run(lab: &Lab, agent: &Agent, api: Api) -> Result<(), String> {
    let home = tempfile::tempdir().expect("a home");
    let folder = tempfile::tempdir().expect("a folder to work in");
    fs::write(folder.path().join("note.txt"), NOTE).expect("note.txt");
    let mark = format!("errand-{}-{}", agent.name, api.name());
    let url =
        std::env::var("BENCH_DIRECT").map_or_else(|_| lab.gateway.http.url.clone(), |_| lab.upstream.root());
    let model = match std::env::var("BENCH_DIRECT") {
        Ok(_) => lab::member(agent, api, ABLE),
        Err(_) => format!("bench/{}:route", lab::name(agent, api)),
    };
    let agent = agent.filled(&[
        ("url", &url),
        ("model", &model),
        ("task", &format!("Do the {mark}: make note.txt say after instead of before.")),
        ("shell", &format!("echo {mark} >trace.txt && printf '{mark}-%d' 42")),
        ("folder", &text(folder.path())),
        ("home", &text(home.path())),
    ]);
    let errand =
        Errand { mark: mark.clone(), steps: agent.steps.clone(), answer: format!("Done: {mark}-answer.") };
    for role in [ABLE, IDLE] {
        lab.upstream.model(&lab::member(&agent, api, role), errand.clone().script());
    }
    let ran = start(lab, &agent, home.path(), folder.path()).await;
    let found = Found { lab, agent: &agent, api, errand: &errand, ran: &ran, folder: folder.path() };
    let wrong: Vec<String> = found.wrong();
    if wrong.is_empty() { Ok(()) } else { Err(found.told(&wrong)) }
}

async fn start(lab: &Lab, agent: &Agent, home: &Path, folder: &Path) -> Output {
    for (path, content) in &agent.files {
        let path = home.join(path);
        fs::create_dir_all(path.parent().expect("a file has a folder")).expect("a folder");
        fs::write(path, content).expect("a file");
    }
    let kept = ["PATH", "SystemRoot"].map(|name| (name, std::env::var_os(name).unwrap_or_default()));
    let mut path = lab.programs.clone().into_os_string();
    path.push(":");
    path.push(&kept[0].1);
    let mut command = Command::new(&agent.command[0]);
    command
        .args(&agent.command[1..])
        .env_clear()
        .envs(kept)
        .env("PATH", path)
        .env("HOME", home)
        .env("NO_COLOR", "1")
        .envs(&agent.environment)
        .current_dir(folder)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .process_group(0)
        .kill_on_drop(true);
    let child = command.spawn().unwrap_or_else(|error| panic!("{}: {error}", agent.command[0]));
    let group = format!("-{}", child.id().expect("it runs"));
    let ended = tokio::time::timeout(LIMIT, child.wait_with_output()).await;
    // What it started may outlive it.
    let _ = std::process::Command::new("kill").args(["-KILL", "--", &group]).stderr(Stdio::null()).status();
    ended.unwrap_or_else(|_| panic!("{} runs on after {LIMIT:?}", agent.name)).expect("its output")
}

/// What is there when the agent has ended.
struct Found<'a> {
    lab: &'a Lab,
    agent: &'a Agent,
    api: Api,
    errand: &'a Errand,
    ran: &'a Output,
    folder: &'a Path,
}

impl Found<'_> {
    /// Everything that is not as it should be.
    fn wrong(&self) -> Vec<String> {
        let mut wrong = Vec::new();
        let mut must = |holds: bool, what: &str| {
            if !holds {
                wrong.push(what.to_owned());
            }
        };
        let (said, complained) = (self.said(), self.complained());
        must(self.ran.status.success(), "it did not exit with 0");
        must(said.contains(&self.errand.answer), "it did not say the model's answer");
        for word in ["429", "slow down", "rate limit", "retry", "error"] {
            let all = format!("{said}{complained}").to_lowercase();
            must(!all.contains(word), &format!("it spoke of \"{word}\""));
        }
        must(self.file("trace.txt") == format!("{}\n", self.errand.mark), "the command did not run");
        must(self.file("note.txt") == EDITED, "the file was not edited");
        let turns = self.turns(ABLE);
        must(
            turns.len() == self.errand.steps.len() + 1,
            "the first able member did not have every turn, once",
        );
        must(self.turns(IDLE).is_empty(), "the second able member had a turn");
        for (at, request) in turns.iter().enumerate() {
            let results = self.api.turn(&request.json()).results;
            must(results.len() == at, &format!("turn {at} had {} results", results.len()));
            let output = format!("{}-42", self.errand.mark);
            must(
                at == 0 || results.first().is_some_and(|said| said.contains(&output)),
                &format!("turn {at} lacks the command's output"),
            );
        }
        must(
            self.lab.upstream.asked(&lab::member(self.agent, self.api, BUSY)).len() >= 1,
            "nobody was out of capacity",
        );
        wrong
    }

    /// The requests of the errand's conversation that this member had.
    fn turns(&self, role: &str) -> Vec<Received> {
        let asked = self.lab.upstream.asked(&lab::member(self.agent, self.api, role)).into_iter();
        asked.filter(|request| self.errand.is_asked(&self.api.turn(&request.json()))).collect()
    }

    fn file(&self, name: &str) -> String {
        fs::read_to_string(self.folder.join(name)).unwrap_or_default()
    }

    fn said(&self) -> String {
        String::from_utf8_lossy(&self.ran.stdout).into_owned()
    }

    fn complained(&self) -> String {
        String::from_utf8_lossy(&self.ran.stderr).into_owned()
    }

    fn told(&self, wrong: &[String]) -> String {
        let member = |role: &str| lab::member(self.agent, self.api, role);
        let mut told = format!(
            "{}\n{}\n--- it said:\n{}\n--- and beside it:\n{}\n--- the members were asked:\n",
            wrong.join("\n"),
            self.ran.status,
            self.said(),
            self.complained()
        );
        for role in [BUSY, ABLE, IDLE] {
            for request in self.lab.upstream.asked(&member(role)) {
                let turn = self.api.turn(&request.json());
                told += &format!(
                    "{role}: {} {} of {} bytes, {} tools, results {:?}\n",
                    request.method,
                    request.path,
                    request.body.len(),
                    turn.declared.len(),
                    turn.results
                );
            }
        }
        told
    }
}

fn text(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}
