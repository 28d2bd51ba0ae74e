//! One errand: the agent is started with a task, and what it did is looked at on disk, at the upstream and in what
//! it said.

use std::{
    ffi::OsString,
    fs,
    path::Path,
    process::{Output, Stdio},
    time::Duration,
};

use bench_tests::upstream::{Api, Errand, Turn};
use tokio::process::Command;

use crate::{
    agent::{Agent, Case},
    lab::{ABLE, BUSY, IDLE, Lab, named},
};

/// Reached only when an agent hangs.
const LIMIT: Duration = Duration::from_secs(600);

/// The file to be edited.
const NOTE: &str = "note.txt";
const BEFORE: &str = "first\nbefore\nlast\n";
const AFTER: &str = "first\nafter\nlast\n";

/// What an agent would say that saw a member fail.
const TROUBLE: [&str; 5] = ["429", "slow down", "rate limit", "retry", "error"];

pub async fn run(lab: &Lab, number: usize, (agent, api): &Case) -> Result<(), String> {
    let home = tempfile::tempdir().expect("a home");
    let folder = tempfile::tempdir().expect("a folder to work in");
    fs::write(folder.path().join(NOTE), BEFORE).expect("the note");
    let mark = named("errand", number);
    let agent = agent.filled(&[
        ("url", &lab.gateway.http.url),
        ("model", &format!("bench/{}:route", named("work", number))),
        ("task", &format!("Do the {mark}: make {NOTE} say after instead of before.")),
        // What it prints is not in its own words. A terminal that closes right behind it may lose it (Qwen Code's).
        ("shell", &format!("echo {mark} >trace.txt; printf '{mark}-%d\\n' 42; sleep 1")),
        ("folder", &folder.path().to_string_lossy()),
        ("home", &home.path().to_string_lossy()),
    ]);
    let errand = Errand { answer: format!("Done, as the {mark} wanted."), mark, steps: agent.steps.clone() };
    for role in [ABLE, IDLE] {
        lab.upstream.model(&named(role, number), errand.clone().script());
    }
    let ran = start(lab, &agent, home.path(), folder.path()).await?;
    let found = Found { lab, number, api: *api, errand: &errand, ran: &ran, folder: folder.path() };
    let wrong = found.wrong();
    if wrong.is_empty() { Ok(()) } else { Err(found.told(&wrong)) }
}

/// Runs the agent to its end, in a home that holds its files and an environment that holds its variables.
async fn start(lab: &Lab, agent: &Agent, home: &Path, folder: &Path) -> Result<Output, String> {
    for (path, content) in &agent.files {
        let path = home.join(path);
        fs::create_dir_all(path.parent().expect("a file has a folder")).expect("a folder");
        fs::write(path, content).expect("a file");
    }
    let mut path = OsString::from(&lab.programs);
    path.push(":");
    path.push(std::env::var_os("PATH").expect("a PATH"));
    let mut command = Command::new(&agent.command[0]);
    command
        .args(&agent.command[1..])
        .env_clear()
        .env("PATH", path)
        .env("HOME", home)
        .env("NO_COLOR", "1")
        .envs(&agent.environment)
        .current_dir(folder)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .kill_on_drop(true);
    #[cfg(unix)]
    command.process_group(0);
    let child = command.spawn().unwrap_or_else(|error| panic!("{}: {error}", agent.command[0]));
    let group = format!("-{}", child.id().expect("it runs"));
    let ended = tokio::time::timeout(LIMIT, child.wait_with_output()).await;
    // What it started may outlive it.
    let _ = Command::new("kill").args(["-KILL", "--", &group]).stderr(Stdio::null()).status().await;
    Ok(ended.map_err(|_| format!("{} runs on after {LIMIT:?}", agent.name))?.expect("its output"))
}

/// What is there when the agent has ended.
struct Found<'a> {
    lab: &'a Lab,
    number: usize,
    api: Api,
    errand: &'a Errand,
    ran: &'a Output,
    folder: &'a Path,
}

impl Found<'_> {
    /// Everything that is not as it should be.
    fn wrong(&self) -> Vec<String> {
        let said = self.said().to_lowercase();
        let turns = self.turns(ABLE);
        let results = turns.iter().map(|turn| turn.results.len());
        let prints = format!("{}-42", self.errand.mark);
        let reached = turns.iter().skip(1).all(|turn| turn.results[0].contains(&prints));
        let trace = format!("{}\n", self.errand.mark);
        let mut must = vec![
            (self.ran.status.success(), "it did not exit with 0".to_owned()),
            (
                said.contains(&self.errand.answer.to_lowercase()),
                "it did not say the model's answer".to_owned(),
            ),
            (self.file("trace.txt") == trace, "the command did not run".to_owned()),
            (self.file(NOTE) == AFTER, "the file was not edited".to_owned()),
            (!self.lab.asked(BUSY, self.number).is_empty(), "no member failed".to_owned()),
            (
                results.eq(0..=self.errand.steps.len()),
                "the model that stood in did not get every turn, once and with one result more each"
                    .to_owned(),
            ),
            (reached, "what the command printed did not reach the model".to_owned()),
            (self.turns(IDLE).is_empty(), "the conversation changed its model".to_owned()),
        ];
        must.extend(TROUBLE.map(|word| (!said.contains(word), format!("it spoke of \"{word}\""))));
        must.into_iter().filter(|(holds, _)| !holds).map(|(_, what)| what).collect()
    }

    /// The turns of the errand's conversation that this member had.
    fn turns(&self, role: &str) -> Vec<Turn> {
        let asked = self.lab.asked(role, self.number);
        let turns = asked.iter().map(|request| self.api.turn(&request.json()));
        turns.filter(|turn| self.errand.is_asked(turn)).collect()
    }

    fn file(&self, name: &str) -> String {
        fs::read_to_string(self.folder.join(name)).unwrap_or_default()
    }

    /// All that it printed.
    fn said(&self) -> String {
        [&self.ran.stdout, &self.ran.stderr]
            .map(|bytes| String::from_utf8_lossy(bytes).into_owned())
            .join("\n---\n")
    }

    fn told(&self, wrong: &[String]) -> String {
        let mut told =
            format!("{}\n--- it printed ({}):\n{}\n", wrong.join("\n"), self.ran.status, self.said());
        for role in [BUSY, ABLE, IDLE] {
            for request in self.lab.asked(role, self.number) {
                let turn = self.api.turn(&request.json());
                let tools: Vec<&str> = turn.declared.iter().map(|tool| tool.name.as_str()).collect();
                let results = &turn.results;
                told += &format!("--- {role}: {} with {tools:?}, after {results:?}\n", request.path);
            }
        }
        told
    }
}
