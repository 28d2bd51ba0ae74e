//! Responses: kept, gone on from, deleted, too old.

use std::{sync::mpsc::channel, time::Duration};

use store::{RecordingState, ResponseChain, ResponseRow, Store, StoreError};

use crate::harness::{Folder, START};

/// Whose they are.
const CALLER: &str = "desk";
const LIMIT: usize = 1 << 20;
const DAY: i64 = 24 * 3600 * 1000;

fn row(id: &str, previous: Option<&str>) -> ResponseRow {
    ResponseRow {
        id: id.to_owned(),
        at_ms: START,
        caller: CALLER.to_owned(),
        previous: previous.map(str::to_owned),
        input: format!("[\"asked {id}\"]"),
        body: format!("{{\"id\":\"{id}\"}}"),
    }
}

fn keep(store: &Store, row: ResponseRow) {
    store.keep_response(row).blocking_wait().unwrap();
}

/// A chain `a` ← `b` ← `c`.
fn chain(store: &Store) {
    keep(store, row("a", None));
    keep(store, row("b", Some("a")));
    keep(store, row("c", Some("b")));
}

fn ids(store: &Store, id: &str) -> Result<Vec<String>, ResponseChain> {
    match store.response_chain(id, CALLER, START, LIMIT).unwrap() {
        ResponseChain::Known(rows) => Ok(rows.into_iter().map(|row| row.id).collect()),
        other => Err(other),
    }
}

fn rows(folder: &Folder) -> Vec<String> {
    let connection = folder.sqlite();
    let mut statement = connection.prepare("SELECT id FROM responses ORDER BY id").unwrap();
    let rows = statement.query_map([], |row| row.get(0)).unwrap();
    rows.map(Result::unwrap).collect()
}

fn delete(store: &Store, id: &str) -> bool {
    store.delete_response(id.to_owned(), CALLER.to_owned(), START).blocking_wait().unwrap()
}

#[test]
fn a_response_is_read_with_all_that_it_goes_on_from() {
    let folder = Folder::new();
    let store = folder.open();
    chain(&store);
    keep(&store, row("fork", Some("a")));
    let wanted = vec![row("a", None), row("b", Some("a")), row("c", Some("b"))];
    assert_eq!(store.response_chain("c", CALLER, START, LIMIT), Ok(ResponseChain::Known(wanted)));
    assert_eq!(ids(&store, "fork"), Ok(vec!["a".to_owned(), "fork".to_owned()]));
    assert_eq!(store.response("b", CALLER, START), Ok(Some(row("b", None).body)));
    for unknown in ["", "d", "C", "a' OR '1'='1", "\0", "ü"] {
        assert_eq!(ids(&store, unknown), Err(ResponseChain::Unknown), "{unknown:?}");
        assert_eq!(store.response(unknown, CALLER, START), Ok(None), "{unknown:?}");
        assert!(!delete(&store, unknown), "{unknown:?}");
    }
    // It outlives the process.
    store.close();
    assert_eq!(ids(&folder.open(), "c").unwrap(), ["a", "b", "c"]);
}

#[test]
fn nobody_else_finds_a_callers_response() {
    let folder = Folder::new();
    let store = folder.open();
    chain(&store);
    for other in ["lab", "local", ""] {
        assert_eq!(store.response("c", other, START), Ok(None), "{other}");
        assert_eq!(store.response_chain("c", other, START, LIMIT), Ok(ResponseChain::Unknown), "{other}");
        let deleted = store.delete_response("c".to_owned(), other.to_owned(), START).blocking_wait();
        assert_eq!(deleted, Ok(false), "{other}");
    }
    assert_eq!(ids(&store, "c").unwrap(), ["a", "b", "c"]);
}

#[test]
fn an_id_is_used_once() {
    let folder = Folder::new();
    let store = folder.open();
    keep(&store, row("a", None));
    let again = store.keep_response(ResponseRow { body: "{}".to_owned(), ..row("a", None) }).blocking_wait();
    assert!(matches!(again, Err(StoreError::Conflict(_))), "{again:?}");
    assert_eq!(store.response("a", CALLER, START), Ok(Some(row("a", None).body)));
}

#[test]
fn a_conversation_that_is_too_large_is_not_read_whole() {
    let folder = Folder::new();
    let store = folder.open();
    chain(&store);
    let one = row("a", None).input.len() + row("a", None).body.len();
    let read = |most| store.response_chain("c", CALLER, START, most).unwrap();
    assert!(matches!(read(3 * one), ResponseChain::Known(_)));
    assert_eq!(read(3 * one - 1), ResponseChain::TooLarge);
}

#[test]
fn what_is_deleted_is_hidden_and_goes_when_nothing_goes_on_from_it() {
    let folder = Folder::new();
    let store = folder.open();
    chain(&store);
    assert!(delete(&store, "a"));
    assert!(!delete(&store, "a"), "once");
    assert_eq!(store.response("a", CALLER, START), Ok(None));
    assert_eq!(ids(&store, "a"), Err(ResponseChain::Unknown));
    assert_eq!(ids(&store, "c").unwrap(), ["a", "b", "c"], "what was said stays said");
    assert_eq!(rows(&folder), ["a", "b", "c"]);
    assert!(delete(&store, "c"));
    assert_eq!(rows(&folder), ["a", "b"], "b is not deleted and needs a");
    assert!(delete(&store, "b"));
    assert_eq!(rows(&folder), [""; 0]);
}

#[test]
fn what_is_too_old_is_not_there_and_is_removed_once_nothing_young_goes_on_from_it() {
    let folder = Folder::new();
    let store = folder.open();
    chain(&store);
    keep(&store, row("alone", None));
    let young = ResponseRow { at_ms: START + 10 * DAY, ..row("young", Some("b")) };
    keep(&store, young);
    let since = START + DAY;
    assert_eq!(store.response("c", CALLER, since), Ok(None));
    assert_eq!(store.response_chain("c", CALLER, since, LIMIT), Ok(ResponseChain::Unknown));
    assert_eq!(store.delete_response("c".to_owned(), CALLER.to_owned(), since).blocking_wait(), Ok(false));

    assert_eq!(store.prune_responses(START).blocking_wait(), Ok(0));
    assert_eq!(store.prune_responses(since).blocking_wait(), Ok(2), "c and alone");
    assert_eq!(rows(&folder), ["a", "b", "young"]);
    assert_eq!(ids(&store, "young").unwrap(), ["a", "b", "young"]);
    assert_eq!(store.prune_responses(START + 11 * DAY).blocking_wait(), Ok(3), "the last first");
    assert_eq!(rows(&folder), [""; 0]);
}

#[test]
fn more_than_a_slice_is_removed_in_one_go() {
    let folder = Folder::new();
    let store = folder.open();
    for number in 0..250 {
        drop(store.keep_response(row(&format!("r{number}"), None)));
    }
    assert_eq!(store.prune_responses(START + 1).blocking_wait(), Ok(250));
}

#[test]
fn a_gap_in_a_conversation_is_not_passed_over() {
    let folder = Folder::new();
    let store = folder.open();
    keep(&store, row("b", Some("lost")));
    assert_eq!(ids(&store, "b"), Err(ResponseChain::Broken));
    assert_eq!(store.response("b", CALLER, START), Ok(Some(row("b", None).body)));
}

#[test]
fn on_a_full_disk_a_response_waits_and_a_deletion_is_refused() {
    let folder = Folder::new();
    let store = folder.open();
    keep(&store, row("a", None));
    store.limit_pages(Some(1));
    let large = ResponseRow { body: "x".repeat(200_000), ..row("b", Some("a")) };
    assert_eq!(store.keep_response(large).blocking_wait(), Err(StoreError::RecordingStopped));
    let refused = store.delete_response("a".to_owned(), CALLER.to_owned(), START).blocking_wait();
    assert!(matches!(refused, Err(StoreError::Unwritable { .. })), "{refused:?}");
    assert!(store.written().blocking_wait().is_err());
    let (sender, states) = channel();
    store.on_recording_change(move |state| drop(sender.send(state)));
    store.limit_pages(None);
    let mut told = std::iter::from_fn(|| states.recv_timeout(Duration::from_secs(60)).ok());
    assert!(told.any(|state| state == RecordingState::Ok), "recording resumes by itself");
    assert_eq!(store.written().blocking_wait(), Ok(()));
    assert_eq!(ids(&store, "b").unwrap(), ["a", "b"]);
}
