//! What is held until a row is on disk: a place among what has begun, and whatever else is counted until then.

use std::sync::{Arc, mpsc::channel};

use store::{LedgerRow, OpenOptions, Store};
use tempfile::TempDir;

use crate::harness::{Folder, START, call, spent, turn, write_panel};

fn row(at_ms: i64, status: &str) -> LedgerRow {
    LedgerRow { at_ms, status: status.to_owned(), ..spent(&call("p1", 1, "alpha")) }
}

/// What a start makes of the folder as it is now: the process that has it open was killed.
fn after_a_kill(folder: &Folder) -> Store {
    let copy = TempDir::new().unwrap().keep();
    for name in ["records.sqlite3", "records.sqlite3-wal", "records.begun", "records.ahead"] {
        let from = folder.path().join(name);
        if from.exists() {
            std::fs::copy(from, copy.join(name)).unwrap();
        }
    }
    Store::open(OpenOptions { path: copy, ..folder.options() }).unwrap().store
}

/// When and how the calls in the ledger were sent, oldest first.
fn ledger(store: &Store) -> Vec<(i64, String)> {
    let rows = store.ledger(None, 100).unwrap();
    let mut rows: Vec<_> = rows.into_iter().map(|it| (it.row.at_ms, it.row.status)).collect();
    rows.sort();
    rows
}

#[test]
fn what_ended_while_the_writer_was_held_up_is_there_after_a_kill() {
    let folder = Folder::new();
    let store = folder.open();
    write_panel(&store, "p1", "alpha");
    store.written().blocking_wait().unwrap();
    let other = folder.sqlite();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();

    let begin = |at_ms| store.call_begun(&row(at_ms, "cancelled"));
    let ended: Vec<_> = (1..=10).map(|at_ms| (at_ms, begin(at_ms))).collect();
    for (at_ms, place) in ended {
        drop(store.holding(place).spent(row(at_ms, "ok")));
    }
    // A turn's row is in a file of its own before its end is told.
    let place = store.turn_begun();
    store.holding(place).turn_ended(turn("r1", 1, "alpha")).blocking_wait().unwrap();
    let under_way: Vec<_> = (11..=16).map(begin).collect();

    let cut_off = |sent: &mut dyn Iterator<Item = i64>| -> Vec<(i64, String)> {
        sent.map(|at_ms| (at_ms, "cancelled".to_owned())).collect()
    };
    let killed = after_a_kill(&folder);
    let own: Vec<_> = ledger(&killed).into_iter().filter(|(at_ms, _)| *at_ms < START).collect();
    assert_eq!(own, cut_off(&mut (1..=16)));
    assert!(killed.turn("r1", 1).unwrap().is_some());

    other.execute_batch("ROLLBACK").unwrap();
    store.written().blocking_wait().unwrap();
    // Whoever begins now has the place of one that is on disk.
    let size = || std::fs::metadata(folder.path().join("records.begun")).unwrap().len();
    let most = size();
    let more: Vec<_> = (17..=26).map(begin).collect();
    assert_eq!(size(), most);
    let killed = ledger(&after_a_kill(&folder));
    let of = |status: &str| -> Vec<i64> {
        let own = killed.iter().filter(|(at_ms, is)| *at_ms < START && is == status);
        own.map(|(at_ms, _)| *at_ms).collect()
    };
    assert_eq!((of("ok"), of("cancelled")), ((1..=10).collect(), (11..=26).collect()));
    drop((under_way, more));
}

#[test]
fn what_is_given_up_as_it_closes_is_on_record_at_the_next_start() {
    let folder = Folder::new();
    let store = folder.open();
    let place = store.call_begun(&row(1, "cancelled"));
    store.limit_pages(Some(1));
    let written = store.holding(place).spent(LedgerRow { alias: "x".repeat(100_000), ..row(1, "ok") });
    assert!(written.blocking_wait().is_err());
    store.close();
    assert_eq!(ledger(&folder.open()), [(1, "cancelled".to_owned())]);
}

#[test]
fn between_two_writes_what_was_sent_and_what_is_held_are_all_there_is() {
    let folder = Folder::new();
    let store = folder.open();
    let other = folder.sqlite();
    for round in 0..3 {
        // All of it in one transaction, and in several.
        if round == 0 {
            other.execute_batch("BEGIN IMMEDIATE").unwrap();
        }
        let (before, after) = (Arc::new(()), Arc::new(()));
        let held = (Arc::downgrade(&before), Arc::downgrade(&after));
        let (sender, told) = channel();
        drop(store.holding(before).spent(row(START + 2 * round, "ok")));
        store.sent_by_now(START, move |sent| {
            let requests: u64 = sent.unwrap().iter().map(|row| row.requests).sum();
            sender.send((requests, held.0.upgrade().is_some(), held.1.upgrade().is_some())).unwrap();
        });
        let last = store.holding(after).spent(row(START + 2 * round + 1, "ok"));
        if round == 0 {
            other.execute_batch("ROLLBACK").unwrap();
        }
        let per_call = u64::from(row(0, "ok").attempts);
        assert_eq!(told.recv().unwrap(), (per_call * (2 * round as u64 + 1), false, true));
        last.blocking_wait().unwrap();
    }
}
