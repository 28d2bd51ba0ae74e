//! A disk that cannot be written: requests go on, nothing kept is lost, recording resumes by itself.

use std::{
    sync::mpsc::{Receiver, channel},
    time::Duration,
};

use store::{CallRow, NewVerdict, OpenOptions, RecordingState, SetupChange, SetupItem, Store, StoreError};

use crate::harness::{Folder, START, call, done, panel, write_panel};

fn states(store: &Store) -> Receiver<RecordingState> {
    let (sender, states) = channel();
    store.on_recording_change(move |state| drop(sender.send(state)));
    states
}

/// What listeners are told next. The wait is long enough for a slow machine to retry, and ends a test that
/// would wait for ever.
fn next(states: &Receiver<RecordingState>) -> RecordingState {
    states.recv_timeout(Duration::from_secs(60)).unwrap()
}

/// More than a page that is free.
fn large(panel: &str, number: u32) -> CallRow {
    CallRow { answer: "x".repeat(100_000), ..call(panel, number, "alpha") }
}

fn stopped(waiting: usize) -> RecordingState {
    RecordingState::Stopped {
        why: "the disk is full: free some space".to_owned(),
        since_ms: START,
        waiting,
        lost: 0,
    }
}

#[test]
fn recording_stops_and_resumes_and_nothing_kept_is_lost() {
    let folder = Folder::new();
    let store = folder.open();
    write_panel(&store, "p0", "alpha");
    let states = states(&store);

    // As many pages as there are now, and no more.
    store.limit_pages(Some(1));
    assert_eq!(store.call_ended(large("p1", 1)).blocking_wait(), Err(StoreError::RecordingStopped));
    assert_eq!(next(&states), stopped(1));
    assert_eq!(store.recording(), stopped(1));
    folder.advance(60_000);

    // Everything goes on, and is told at once.
    for number in 2..=50 {
        let ended = store.call_ended(large("p1", number)).blocking_wait();
        assert_eq!(ended, Err(StoreError::RecordingStopped));
    }
    let ended = store.panel_started(panel("p1")).blocking_wait();
    assert_eq!(ended, Err(StoreError::RecordingStopped));
    assert_eq!(store.panel_ended(done("p1")).blocking_wait(), Err(StoreError::RecordingStopped));
    let verdict = NewVerdict { call: "p1.member50".to_owned(), useful: true, ..NewVerdict::default() };
    assert_eq!(store.give_verdict(verdict).blocking_wait(), Err(StoreError::RecordingStopped));
    assert_eq!(store.recording(), stopped(53));
    assert!(store.panel("p0").unwrap().is_some(), "what is there can be read");

    // What was refused is not made later.
    let item = SetupItem { kind: "model".to_owned(), name: "alpha".to_owned(), body: "{}".to_owned() };
    let refused = store.change_setup(vec![SetupChange::Put(item)], Vec::new()).blocking_wait();
    let why = "the disk is full: free some space".to_owned();
    assert_eq!(refused, Err(StoreError::Unwritable { why }));

    store.limit_pages(None);
    assert_eq!(next(&states), RecordingState::Ok);
    assert_eq!(store.recording(), RecordingState::Ok);
    let calls = store.panel("p1").unwrap().unwrap().calls;
    let numbers: Vec<_> = calls.iter().map(|call| call.row.seat.as_str()).collect();
    let expected: Vec<_> = (1..=50).map(|number| format!("member{number}")).collect();
    assert_eq!(numbers, expected, "in the order they ended");
    assert!(calls.iter().all(|call| call.row.answer.len() == 100_000));
    assert_eq!(calls[49].verdict.as_ref().map(|verdict| verdict.at_ms), Some(START + 60_000));
    assert_eq!(store.setup_items().unwrap(), []);
    store.call_ended(large("p2", 1)).blocking_wait().unwrap();
    store.close();
    assert!(states.try_recv().is_err(), "told once each way");
    folder.assert_sound();
}

#[test]
fn a_conflict_among_what_was_kept_takes_no_other_down() {
    let folder = Folder::new();
    let store = folder.open();
    write_panel(&store, "p0", "alpha");
    let states = states(&store);
    store.limit_pages(Some(1));
    drop(store.call_ended(large("p1", 1)));
    drop(store.call_ended(large("p0", 1)));
    drop(store.call_ended(large("p2", 1)));
    assert!(matches!(next(&states), RecordingState::Stopped { .. }));
    store.limit_pages(None);
    assert_eq!(next(&states), RecordingState::Ok);
    let length = |call: &str| store.call(call).unwrap().unwrap().row.answer.len();
    assert_eq!(length("p1.member1"), 100_000);
    assert_eq!(length("p2.member1"), 100_000);
    assert_eq!(length("p0.member1"), call("p0", 1, "alpha").answer.len(), "the first record stands");
}

#[test]
fn a_store_with_a_full_disk_opens_and_closes() {
    let folder = Folder::new();
    let store = folder.open();
    store.panel_started(panel("p1")).blocking_wait().unwrap();
    store.close();
    let Ok(opened) = Store::open(OpenOptions { max_pages: Some(1), ..folder.options() }) else {
        panic!("it does not open")
    };
    let store = opened.store;
    let ended = store.call_ended(large("p1", 1)).blocking_wait();
    assert_eq!(ended, Err(StoreError::RecordingStopped));
    // Closing tries once more and gives up what cannot be written, instead of waiting for the disk.
    store.close();
    assert_eq!(folder.open().call("p1.member1").unwrap(), None);
}

#[test]
fn closing_writes_what_was_kept_if_it_can() {
    let folder = Folder::new();
    let store = folder.open();
    store.limit_pages(Some(1));
    let ended = store.call_ended(large("p1", 1)).blocking_wait();
    assert_eq!(ended, Err(StoreError::RecordingStopped));
    store.limit_pages(None);
    store.close();
    assert!(folder.open().call("p1.member1").unwrap().is_some());
}

/// The operating system itself refuses the writes: a process whose files may not grow.
#[cfg(target_os = "linux")]
mod refused_by_the_system {
    use std::{
        io::{BufRead, BufReader, Write},
        path::PathBuf,
        process::{Child, Command, Stdio},
    };

    use super::*;

    const FOLDER: &str = "STORE_DISK_TEST_FOLDER";

    fn limit_files_of(child: &Child, soft: &str) {
        let pid = child.id().to_string();
        let done = Command::new("prlimit").args(["--pid", &pid, &format!("--fsize={soft}:")]).status();
        assert!(done.unwrap().success());
    }

    #[test]
    fn recording_stops_and_resumes() {
        let folder = Folder::new();
        // Growing a file past the limit then is an error, not a signal that kills.
        let mut child = Command::new("sh")
            .args(["-c", r#"trap "" XFSZ; exec "$0" "$@""#])
            .arg(std::env::current_exe().unwrap())
            .args(["--exact", "disk::refused_by_the_system::the_process_that_is_limited"])
            .args(["--nocapture", "--quiet"])
            .env(FOLDER, folder.path())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut to = child.stdin.take().unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines().map(Result::unwrap);
        let mut said = lines.filter_map(|line| line.strip_prefix("said: ").map(str::to_owned));
        assert_eq!(said.next().unwrap(), "opened");
        limit_files_of(&child, "400000");
        writeln!(to, "go on").unwrap();
        assert_eq!(said.next().unwrap(), "the disk cannot be written: check it, or free some space");
        limit_files_of(&child, "unlimited");
        writeln!(to, "go on").unwrap();
        assert_eq!(said.next().unwrap(), "Ok");
        assert!(child.wait().unwrap().success());

        let store = folder.open();
        let calls = store.panel("p1").unwrap().unwrap().calls;
        assert_eq!(calls.len(), 20);
        assert!(calls.iter().all(|call| call.row.answer.len() == 100_000));
        store.close();
        folder.assert_sound();
    }

    // Run as a child process by the test above; alone, it has no folder and does nothing.
    #[test]
    fn the_process_that_is_limited() {
        let Some(path) = std::env::var_os(FOLDER).map(PathBuf::from) else { return };
        let say = |what: &str| writeln!(std::io::stdout(), "\nsaid: {what}").unwrap();
        let wait = || std::io::stdin().read_line(&mut String::new()).unwrap();
        let options = OpenOptions { path, ..Folder::new().options() };
        let store = Store::open(options).unwrap().store;
        let states = states(&store);
        store.panel_started(panel("p1")).blocking_wait().unwrap();
        say("opened");
        wait();
        for number in 0..20 {
            drop(store.call_ended(large("p1", number)));
        }
        let RecordingState::Stopped { why, .. } = next(&states) else { panic!("it goes on") };
        say(&why);
        wait();
        // By itself, within the time between two tries.
        say(&format!("{:?}", next(&states)));
        store.close();
    }
}
