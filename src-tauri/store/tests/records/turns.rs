//! Route mode: turns as they end, and what they make of their conversation and of their models' calls.

use store::{
    AliasRecord, CallRow, OpenConversation, RecordFilter, Store, StoreError, StoredCall, StoredConversation,
    TurnRow,
};

use crate::harness::{Folder, START, turn};

fn ended(store: &Store, row: &TurnRow) {
    store.turn_ended(row.clone()).blocking_wait().unwrap();
}

fn record(alias: &str, offloads: u64, last_at_ms: i64) -> AliasRecord {
    let alias = alias.to_owned();
    AliasRecord { alias, useful: 0, not_useful: 0, judged: 0, offloads, last_at_ms }
}

/// The call that a conversation's only turn makes.
fn routed(turn: &TurnRow) -> StoredCall {
    let row = turn.clone();
    StoredCall {
        row: CallRow {
            call: row.call,
            panel: row.conversation.id,
            seat: "1".to_owned(),
            kind: "route".to_owned(),
            alias: row.alias,
            endpoint: row.endpoint,
            served: row.served,
            served_as: row.served_as,
            status: row.status,
            started_ms: row.at_ms,
            seconds: row.seconds,
            first_token_s: row.first_token_s,
            tokens_in: row.tokens_in,
            tokens_out: row.tokens_out,
            tokens_reasoning: row.tokens_reasoning,
            cache_read: row.cache_read,
            cache_write: row.cache_write,
            answer: String::new(),
            error: row.error,
            error_class: row.error_class,
            attempts: row.attempts,
            practice: row.conversation.practice,
        },
        collection: row.conversation.collection,
        verdict: None,
        text_pruned: false,
    }
}

#[test]
fn a_turn_is_kept_with_its_conversation_and_its_call() {
    let folder = Folder::new();
    let store = folder.open();
    let first = turn("r1", 1, "alpha");
    ended(&store, &first);
    let stored = StoredConversation {
        row: first.conversation.clone(),
        last_at_ms: START + 2500,
        turns: 1,
        tool_calls: 2,
        failed_over: 0,
        tokens_in: Some(1000),
        tokens_out: Some(50),
        cost: Some(0.25),
        cost_unknown: 0,
        status: "ok".to_owned(),
        calls: vec![routed(&first)],
    };
    assert_eq!(store.conversation("r1").unwrap().as_ref(), Some(&stored));
    assert_eq!(store.conversations(None, 10).unwrap(), [stored]);
    assert_eq!(store.turn("r1", 1).unwrap().as_ref(), Some(&first));
    assert_eq!(store.turn_of_call("r1.1").unwrap().as_ref(), Some(&first));
    assert_eq!(store.call("r1.1").unwrap(), Some(routed(&first)));
    let open = OpenConversation {
        row: first.conversation.clone(),
        last_at_ms: START + 2500,
        turns: 1,
        calls: vec![("r1.1".to_owned(), "alpha".to_owned())],
        shadows: 0,
    };
    assert_eq!(store.open_conversations(0, 10).unwrap(), [open]);

    for unknown in ["", "r", "r1.2", "r1.1.s1", "r2.1", "."] {
        assert_eq!(store.turn_of_call(unknown).unwrap(), None, "{unknown}");
    }
    assert_eq!(store.turn("r1", 2).unwrap(), None);
    assert_eq!(store.turn("r2", 1).unwrap(), None);
    assert_eq!(store.turns("r2", None, 10).unwrap(), []);
    assert_eq!(store.conversation("r2").unwrap(), None);
    store.close();
    assert_eq!(folder.open().turn("r1", 1).unwrap(), Some(first));
}

#[test]
fn a_number_used_before_changes_nothing() {
    let folder = Folder::new();
    let store = folder.open();
    ended(&store, &turn("r1", 1, "alpha"));
    let before = store.conversation("r1").unwrap();
    let again = store.turn_ended(turn("r1", 1, "beta")).blocking_wait();
    assert_eq!(again, Err(StoreError::Conflict("turn 1 of conversation r1 was recorded already".to_owned())));
    assert_eq!(store.conversation("r1").unwrap(), before);
    assert_eq!(store.record(RecordFilter::default()).unwrap(), [record("alpha", 1, START + 2500)]);
}
