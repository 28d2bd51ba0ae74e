//! Route mode: turns as they end, and what they make of their conversation and of their models' calls.

use store::{
    AliasRecord, CallRow, ClearOutcome, Judged, NewVerdict, OpenConversation, RecordFilter, SetupChange,
    Store, StoredCall, StoredConversation, Totals, TurnRow, VerdictOutcome,
};

use crate::harness::{Folder, START, shadow, turn, unanswered, write_panel};

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
            finish: row.finish,
            cost: row.cost,
            spent: None,
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
        totals: Totals {
            tool_calls: 2,
            failed_over: 0,
            tokens_in: Some(1000),
            tokens_out: Some(50),
            cost: Some(0.25),
            cost_unknown: 0,
            status: "ok".to_owned(),
        },
        calls: vec![routed(&first)],
    };
    let totals = stored.totals.clone();
    assert_eq!(store.conversation("r1").unwrap().as_ref(), Some(&stored));
    assert_eq!(store.conversations(None, 10).unwrap(), [stored]);
    assert_eq!(store.turn("r1", 1).unwrap().as_ref(), Some(&first));
    assert_eq!(store.turn_of_call("r1.1").unwrap().as_ref(), Some(&first));
    assert_eq!(store.call("r1.1").unwrap(), Some(routed(&first)));
    let open = OpenConversation {
        row: first.conversation.clone(),
        last_at_ms: START + 2500,
        turns: 1,
        totals,
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
    // It is written ahead: that it contradicts what is there is found later, and told in the log.
    store.turn_ended(turn("r1", 1, "beta")).blocking_wait().unwrap();
    assert_eq!(store.conversation("r1").unwrap(), before);
    assert_eq!(store.record(RecordFilter::default()).unwrap(), [record("alpha", 1, START + 2500)]);
}

/// A turn that continues a call.
fn next(turn_of: &str, n: u32, call: &str, alias: &str) -> TurnRow {
    TurnRow { call: call.to_owned(), ..turn(turn_of, n, alias) }
}

/// Alpha has it for two turns, nobody answers one, beta takes over and keeps it; gamma is asked beside it.
fn handed_over(store: &Store) {
    ended(store, &next("r1", 1, "r1.1", "alpha"));
    ended(store, &next("r1", 2, "r1.1", "alpha"));
    ended(
        store,
        &TurnRow { conversation: turn("r1", 1, "alpha").conversation, ..unanswered("r1", 3, "beta") },
    );
    let failed_over_json = r#"[{"from":"alpha","to":"beta","why":"429"}]"#.to_owned();
    ended(store, &TurnRow { failed_over_json, cost: None, ..next("r1", 4, "r1.2", "beta") });
    ended(store, &next("r1", 5, "r1.2", "beta"));
    let shadow = store.shadow_ended(shadow("r1.2", "gamma"), "core".to_owned(), "code".to_owned());
    shadow.blocking_wait().unwrap();
}

#[test]
fn a_models_work_in_a_conversation_is_one_offload_however_many_turns() {
    let folder = Folder::new();
    let store = folder.open();
    handed_over(&store);
    ended(&store, &next("r2", 1, "r2.1", "alpha"));
    let practice = turn("r3", 1, "quick");
    let conversation = store::ConversationRow { practice: true, ..practice.conversation.clone() };
    ended(&store, &TurnRow { conversation, ..practice });

    let alpha = store.call("r1.1").unwrap().unwrap().row;
    let first = routed(&next("r1", 1, "r1.1", "alpha")).row;
    let summed = CallRow {
        seconds: 5.0,
        tokens_in: Some(2000),
        tokens_out: Some(100),
        cache_read: Some(1800),
        cache_write: Some(0),
        attempts: 2,
        cost: Some(0.5),
        ..first
    };
    assert_eq!(alpha, summed);
    let last = |turn: i64| START + (turn - 1) * 10_000 + 2500;
    let expected =
        [record("alpha", 2, last(2)), record("beta", 1, last(5)), record("gamma", 1, START + 1500)];
    assert_eq!(store.record(RecordFilter::default()).unwrap(), expected);
    let of_core = RecordFilter {
        collection: Some("core".to_owned()),
        shape: Some("code".to_owned()),
        ..RecordFilter::default()
    };
    assert_eq!(store.record(of_core).unwrap(), expected);
    let practice = RecordFilter { practice: true, ..RecordFilter::default() };
    assert_eq!(store.record(practice).unwrap(), [record("quick", 1, last(1))]);
    let by_shape = store.record_by_shape().unwrap();
    assert!(by_shape.iter().all(|it| it.shape == "code"), "{by_shape:?}");
    let counted: Vec<_> = by_shape.into_iter().map(|it| it.record).collect();
    assert_eq!(counted[..3], expected);
    assert_eq!(counted[3..], [record("quick", 1, last(1))]);
}

#[test]
fn a_conversation_tells_what_its_turns_came_to() {
    let folder = Folder::new();
    let store = folder.open();
    handed_over(&store);
    let found = store.conversation("r1").unwrap().unwrap();
    let calls: Vec<_> = found.calls.iter().map(|it| (it.row.call.as_str(), it.row.kind.as_str())).collect();
    assert_eq!(calls, [("r1.1", "route"), ("r1.2", "route"), ("r1.2.s1", "shadow")]);
    let expected = StoredConversation {
        row: turn("r1", 5, "beta").conversation,
        last_at_ms: START + 42_500,
        turns: 5,
        totals: Totals {
            tool_calls: 8,
            failed_over: 1,
            tokens_in: Some(4000),
            tokens_out: Some(200),
            cost: Some(0.75),
            cost_unknown: 2,
            status: "ok".to_owned(),
        },
        calls: found.calls.clone(),
    };
    assert_eq!(found, expected);
    let given = store.turn_of_call("r1.2").unwrap().unwrap();
    assert_eq!(
        (given.n, given.failed_over_json.as_str()),
        (4, r#"[{"from":"alpha","to":"beta","why":"429"}]"#)
    );
}

#[test]
fn the_newest_come_first_a_page_at_a_time() {
    let folder = Folder::new();
    let store = folder.open();
    for (id, n) in [("r1", 1), ("r2", 1), ("r3", 1), ("r1", 2), ("r1", 3), ("r4", 1)] {
        ended(&store, &next(id, n, &format!("{id}.1"), "alpha"));
    }
    let page = |before: Option<&str>, limit| -> Vec<String> {
        store.conversations(before, limit).unwrap().into_iter().map(|it| it.row.id).collect()
    };
    // r1 went on longest; the others ended at one instant.
    assert_eq!(page(None, 10), ["r1", "r4", "r3", "r2"]);
    assert_eq!(page(None, 2), ["r1", "r4"]);
    assert_eq!(page(Some("r4"), 2), ["r3", "r2"]);
    assert_eq!(page(Some("r2"), 2), Vec::<String>::new());
    assert_eq!(page(Some("unknown"), 2), Vec::<String>::new());
    let turns = |before, limit| -> Vec<u32> {
        store.turns("r1", before, limit).unwrap().into_iter().map(|it| it.n).collect()
    };
    assert_eq!(turns(None, 10), [3, 2, 1]);
    assert_eq!(turns(None, 2), [3, 2]);
    assert_eq!(turns(Some(2), 2), [1]);
    assert_eq!(turns(Some(1), 2), Vec::<u32>::new());
}

#[test]
fn those_that_may_go_on_are_found_with_their_calls() {
    let folder = Folder::new();
    let store = folder.open();
    handed_over(&store);
    ended(&store, &turn("r2", 1, "alpha"));
    let nobody = unanswered("r3", 1, "alpha");
    let conversation = store::ConversationRow { alias: String::new(), ..nobody.conversation.clone() };
    ended(&store, &TurnRow { conversation: conversation.clone(), at_ms: START + 1, ..nobody });
    let calls = |calls: &[(&str, &str)]| {
        calls.iter().map(|&(call, alias)| (call.to_owned(), alias.to_owned())).collect()
    };
    let totals = |id| store.conversation(id).unwrap().map(|it| it.totals).unwrap();
    assert_eq!(totals("r1").failed_over, 1);
    let handed_over = OpenConversation {
        row: turn("r1", 5, "beta").conversation,
        last_at_ms: START + 42_500,
        turns: 5,
        totals: totals("r1"),
        calls: calls(&[("r1.1", "alpha"), ("r1.2", "beta")]),
        shadows: 1,
    };
    let unanswered = OpenConversation {
        row: conversation,
        last_at_ms: START + 2501,
        turns: 1,
        totals: totals("r3"),
        calls: Vec::new(),
        shadows: 0,
    };
    let open = |since, limit| store.open_conversations(since, limit).unwrap();
    assert_eq!(open(START + 2501, 10), [handed_over.clone(), unanswered.clone()]);
    assert_eq!(open(START + 2502, 10), std::slice::from_ref(&handed_over));
    assert_eq!(open(START + 42_501, 10), []);
    let ids: Vec<_> = open(0, 10).into_iter().map(|it| it.row.id).collect();
    assert_eq!(ids, ["r1", "r3", "r2"]);
    assert_eq!(open(0, 1), [handed_over]);
}

#[test]
fn a_verdict_is_welcome_and_never_owed() {
    let folder = Folder::new();
    let store = folder.open();
    handed_over(&store);
    write_panel(&store, "p1", "alpha");
    let names = ["r1.1", "r1.2", "r1.2.s1"].map(str::to_owned);
    assert_eq!(store.pending(&names).unwrap(), names);
    assert!(store.conversation("r1").unwrap().unwrap().calls.iter().all(|call| !call.is_owed()));
    assert_eq!(store.owed_count(30).unwrap(), 1, "the panel's alone");
    for (call, alias) in [("r1.2", "beta"), ("r1.2.s1", "gamma")] {
        let verdict = NewVerdict { call: call.to_owned(), useful: true, ..NewVerdict::default() };
        let outcome = store.give_verdict(verdict).blocking_wait().unwrap();
        let judged = |was| Judged { alias: alias.to_owned(), shape: "code".to_owned(), was };
        let VerdictOutcome::Given { recorded: true, judged: told, .. } = outcome else {
            panic!("{outcome:?}")
        };
        assert_eq!(told, judged(None));
        // Another turn changes nothing of it.
        let known = store.call(call).unwrap().unwrap().verdict.unwrap();
        assert!(known.useful);
        if call == "r1.2" {
            ended(&store, &next("r1", 6, call, alias));
            assert_eq!(store.call(call).unwrap().unwrap().verdict, Some(known));
        }
        let record = store.record(RecordFilter::default()).unwrap();
        let counted = record.iter().find(|it| it.alias == alias).unwrap();
        assert_eq!((counted.useful, counted.judged, counted.offloads), (1, 1, 1));
        let cleared = store.clear_verdict(call.to_owned(), "window".to_owned()).blocking_wait().unwrap();
        assert_eq!(cleared, ClearOutcome::Cleared(judged(Some(true))));
    }
    let failed = TurnRow { status: "error".to_owned(), ..next("r1", 7, "r1.1", "alpha") };
    ended(&store, &failed);
    assert_eq!(store.pending(&names).unwrap(), &names[1..], "it ended badly");
}

#[test]
fn a_renamed_models_turns_and_conversations_go_with_it() {
    let folder = Folder::new();
    let store = folder.open();
    handed_over(&store);
    ended(&store, &turn("r2", 1, "alpha"));
    for (from, to) in [("beta", "omega"), ("alpha", "a2")] {
        let change = SetupChange::MoveRecord { from: from.to_owned(), to: to.to_owned() };
        store.change_setup(vec![change], Vec::new()).blocking_wait().unwrap();
    }
    let turns =
        |id| -> Vec<String> { store.turns(id, None, 10).unwrap().into_iter().map(|it| it.alias).collect() };
    assert_eq!(turns("r1"), ["omega", "omega", "omega", "a2", "a2"], "the third nobody answered");
    assert_eq!(turns("r2"), ["a2"]);
    let open = store.open_conversations(0, 10).unwrap();
    let open: Vec<_> = open.iter().map(|it| (it.row.alias.as_str(), it.calls[0].1.as_str())).collect();
    assert_eq!(open, [("omega", "a2"), ("a2", "a2")]);
    let aliases: Vec<_> =
        store.record(RecordFilter::default()).unwrap().into_iter().map(|it| it.alias).collect();
    assert_eq!(aliases, ["a2", "gamma", "omega"]);
}

#[test]
fn old_text_is_let_go_and_counts_stay() {
    let folder = Folder::new();
    let store = folder.open();
    let secret = "the turn that must go";
    let kept = |turn: TurnRow| TurnRow { question: secret.repeat(300), answer: secret.to_owned(), ..turn };
    ended(&store, &kept(turn("r1", 1, "alpha")));
    let only_answer = TurnRow { question: String::new(), ..kept(next("r1", 2, "r1.1", "alpha")) };
    ended(&store, &TurnRow { at_ms: START + 5, ..only_answer });
    ended(&store, &next("r1", 3, "r1.1", "alpha"));
    let young = kept(next("r1", 4, "r1.1", "alpha"));
    ended(&store, &young);
    let shadow = CallRow { answer: secret.to_owned(), ..shadow("r1.1", "gamma") };
    store.shadow_ended(shadow, "core".to_owned(), "code".to_owned()).blocking_wait().unwrap();
    let mut later = turn("r2", 1, "alpha");
    later.at_ms = START + 10_000;
    later.conversation.at_ms = later.at_ms;
    ended(&store, &later);
    let records = store.record_by_shape().unwrap();
    let before = store.conversation("r1").unwrap().unwrap();

    let pruned = store.prune_text(START + 10_000).blocking_wait();
    assert_eq!(
        pruned,
        Ok(5),
        "two turns, the title, the shadow's answer and the routed call, which has none"
    );
    assert_eq!(store.prune_text(START + 10_000).blocking_wait(), Ok(0));
    let texts: Vec<_> = store.turns("r1", None, 10).unwrap();
    let texts: Vec<_> = texts.iter().map(|it| (it.question.is_empty(), it.answer.is_empty())).collect();
    assert_eq!(texts, [(false, false), (true, true), (true, true), (true, true)]);
    let mut after = store.conversation("r1").unwrap().unwrap();
    assert_eq!((after.row.title.as_str(), after.calls[1].row.answer.as_str()), ("", ""));
    assert!(after.calls[1].text_pruned);
    after.row.title = before.row.title.clone();
    after.calls = before.calls.clone();
    assert_eq!(after, before);
    assert_eq!(store.conversation("r2").unwrap().unwrap().row.title, "mend the parser");
    assert_eq!(store.record_by_shape().unwrap(), records);

    store.prune_text(i64::MAX).blocking_wait().unwrap();
    store.close();
    let bytes = std::fs::read(folder.file()).unwrap();
    let found = bytes.windows(secret.len()).any(|window| window == secret.as_bytes());
    assert!(!found, "pruned text is gone from the file itself");
}

#[test]
fn sums_stay_in_range() {
    let folder = Folder::new();
    let store = folder.open();
    for n in [1, 2] {
        let odd = TurnRow {
            seconds: f64::NAN,
            first_token_s: Some(f64::INFINITY),
            overhead_ms: f64::NEG_INFINITY,
            tokens_in: Some(u64::MAX),
            tokens_out: (n == 2).then_some(7),
            cost: Some(f64::NAN),
            tool_calls: u32::MAX,
            attempts: u32::MAX,
            ..next("r1", n, "r1.1", "alpha")
        };
        ended(&store, &odd);
    }
    let call = store.call("r1.1").unwrap().unwrap().row;
    assert_eq!((call.tokens_in, call.tokens_out), (Some(i64::MAX as u64), Some(7)));
    assert_eq!((call.attempts, call.seconds, call.first_token_s), (u32::MAX, 0.0, Some(0.0)));
    let found = store.conversation("r1").unwrap().unwrap();
    assert_eq!((found.totals.tokens_in, found.totals.tokens_out), (call.tokens_in, Some(7)));
    assert_eq!((found.totals.tool_calls, found.totals.cost, found.totals.cost_unknown), (u32::MAX, None, 2));
    let far = TurnRow { at_ms: i64::MAX, seconds: 1e300, n: u32::MAX, ..turn("r1", 1, "alpha") };
    ended(&store, &TurnRow { call: "r1.9".to_owned(), ..far });
    let found = store.conversation("r1").unwrap().unwrap();
    assert_eq!((found.turns, found.last_at_ms), (u32::MAX, i64::MAX));
    assert_eq!(store.turn("r1", u32::MAX).unwrap().unwrap().at_ms, i64::MAX);
}

#[test]
fn words_of_a_shadow_and_of_a_verdict_on_it_find_no_panel() {
    let folder = Folder::new();
    let store = folder.open();
    handed_over(&store);
    let note = Some("scattering as it should".to_owned());
    let verdict = NewVerdict { call: "r1.2.s1".to_owned(), useful: true, note, ..NewVerdict::default() };
    store.give_verdict(verdict).blocking_wait().unwrap();
    assert_eq!(store.search("scattering", None, 10).unwrap(), []);
    write_panel(&store, "p1", "alpha");
    let hits = store.search("scattering", None, 10).unwrap();
    assert_eq!(hits.into_iter().map(|hit| hit.panel.row.id).collect::<Vec<_>>(), ["p1"]);
}
