//! Killed at a random moment: what was acknowledged is there, and the file is sound.

use std::{
    hash::{BuildHasher, RandomState},
    io::{BufRead, BufReader, Write},
    path::PathBuf,
    process::{Command, Stdio},
    sync::Arc,
};

use store::{CallRow, OpenOptions, Store, TurnRow};

use crate::harness::{Folder, START, call, done, panel, turn};

const FOLDER: &str = "STORE_KILL_TEST_FOLDER";
const ROUND: &str = "STORE_KILL_TEST_ROUND";

#[test]
fn what_was_acknowledged_survives_a_kill() {
    let folder = Folder::new();
    let mut acknowledged: Vec<String> = Vec::new();
    for round in 0..6 {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "kill::the_process_that_is_killed", "--nocapture", "--quiet"])
            .env(FOLDER, folder.path())
            .env(ROUND, round.to_string())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let moment = RandomState::new().hash_one(round) % 400;
        let mut lines = BufReader::new(child.stdout.take().unwrap());
        let mut seen = 0;
        let mut line = String::new();
        // To its end: what it said between our kill and its death counts, too.
        while lines.read_line(&mut line).unwrap() > 0 {
            if let Some(id) = line.strip_prefix("acknowledged ").and_then(|rest| rest.strip_suffix('\n')) {
                acknowledged.push(id.to_owned());
                seen += 1;
                if seen == moment + 1 {
                    child.kill().unwrap();
                }
            }
            line.clear();
        }
        assert!(seen > moment, "it ended by itself");
        child.wait().unwrap();

        let store = folder.open();
        for id in &acknowledged {
            if let Some((conversation, n)) = id.split_once('#') {
                let n = n.parse().unwrap();
                let turn = store.turn(conversation, n).unwrap();
                let turn =
                    turn.unwrap_or_else(|| panic!("round {round}: turn {id} was acknowledged and is lost"));
                assert_eq!(turn.answer, answer(id));
                // With it, whole, what it makes of its conversation and of its model's work.
                let kept = store.conversation(conversation).unwrap().unwrap();
                assert!(kept.turns >= n);
                let attempts = store.turns(conversation, None, u32::MAX).unwrap().len();
                assert_eq!(kept.calls[0].row.attempts as usize, attempts, "{id}");
                continue;
            }
            let call = store.call(id).unwrap();
            let call = call.unwrap_or_else(|| panic!("round {round}: {id} was acknowledged and is lost"));
            assert_eq!(call.row.answer, answer(id));
        }
        store.close();
        folder.assert_sound();
    }
}

fn answer(call: &str) -> String {
    call.repeat(1 + call.len() * 7 % 500)
}

// Run as a child process by the test above; alone, it has no folder and does nothing.
#[test]
fn the_process_that_is_killed() {
    let Some(path) = std::env::var_os(FOLDER).map(PathBuf::from) else { return };
    let round = std::env::var(ROUND).unwrap();
    let store = Store::open(OpenOptions { path, now: Arc::new(|| START), max_pages: None }).unwrap().store;
    std::thread::scope(|scope| {
        for thread in 0..8 {
            let (store, round) = (&store, &round);
            scope.spawn(move || {
                for number in 0.. {
                    let id = format!("p{round}-{thread}-{number}");
                    let mut row: CallRow = call(&id, 1, "alpha");
                    row.answer = answer(&row.call);
                    let name = row.call.clone();
                    drop(store.panel_started(panel(&id)));
                    store.call_ended(row).blocking_wait().unwrap();
                    writeln!(std::io::stdout(), "acknowledged {name}").unwrap();
                    drop(store.panel_ended(done(&id)));
                    let (conversation, n) = (format!("r{round}-{thread}-{}", number / 20), number % 20 + 1);
                    let name = format!("{conversation}#{n}");
                    let call = format!("{conversation}.1");
                    let row = TurnRow { call, answer: answer(&name), ..turn(&conversation, n, "alpha") };
                    store.turn_ended(row).blocking_wait().unwrap();
                    writeln!(std::io::stdout(), "acknowledged {name}").unwrap();
                    if number % 50 == 0 {
                        drop(store.prune_text(0));
                    }
                }
            });
        }
    });
}
