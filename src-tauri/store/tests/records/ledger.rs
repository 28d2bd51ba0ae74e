//! The ledger: what calls took, and the sums that are shown and loaded.

use store::{
    CallRow, DaySpend, FailureRow, LedgerRow, NewVerdict, SentRow, SetupChange, Spend, SpendBy, Store,
    StoreError, TurnRow,
};

use crate::harness::{Folder, START, call, panel, spent, spent_on, turn};

const MINUTE: i64 = 60_000;
const DAY: i64 = 1_440 * MINUTE;

fn priced(call: &str, alias: &str, cost: Option<f64>) -> LedgerRow {
    LedgerRow {
        call: call.to_owned(),
        cost,
        ..spent(&CallRow { alias: alias.to_owned(), ..crate::harness::call("p1", 1, alias) })
    }
}

fn write(store: &Store, row: LedgerRow) {
    store.spent(row).blocking_wait().unwrap();
}

fn judge(store: &Store, call: &str, useful: bool) {
    let call = call.to_owned();
    store.give_verdict(NewVerdict { call, useful, ..NewVerdict::default() }).blocking_wait().unwrap();
}

fn keys(rows: &[Spend]) -> Vec<(&str, u64)> {
    rows.iter().map(|row| (row.key.as_str(), row.calls)).collect()
}

#[test]
fn a_row_is_written_with_its_record_or_not_at_all() {
    let folder = Folder::new();
    let store = folder.open();
    let row = CallRow { finish: Some("length".to_owned()), cost: Some(0.5), ..call("p1", 1, "alpha") };
    let row = CallRow { spent: Some(spent(&row)), ..row };
    store.call_ended(row.clone()).blocking_wait().unwrap();
    let again = store.call_ended(row.clone()).blocking_wait();
    assert!(matches!(again, Err(StoreError::Conflict(_))), "{again:?}");
    let passed = LedgerRow { alias: "beta".to_owned(), call: String::new(), ..spent(&call("p1", 2, "beta")) };
    let turn = turn("r1", 1, "alpha");
    let answered = LedgerRow { http_status: Some(200), ..spent_on(&turn) };
    let turn = TurnRow { spent: vec![passed.clone(), answered.clone()], ..turn };
    store.turn_ended(turn.clone()).blocking_wait().unwrap();
    let again = store.turn_ended(TurnRow { n: 1, ..turn.clone() }).blocking_wait();
    assert_eq!(again, Ok(()), "it is written ahead");

    let ledger = store.ledger(None, 10).unwrap();
    let rows: Vec<LedgerRow> = ledger.iter().map(|it| it.row.clone()).collect();
    assert_eq!(rows, [answered, passed, row.spent.clone().unwrap()], "newest first");
    let older = store.ledger(Some(ledger[0].seq), 1).unwrap();
    assert_eq!(older, ledger[1..2]);
    // Where the records are read, it is not with them.
    assert_eq!(store.call("p1.member1").unwrap().unwrap().row, CallRow { spent: None, ..row });
    assert_eq!(store.turn("r1", 1).unwrap(), Some(TurnRow { spent: Vec::new(), ..turn }));
}

#[test]
fn a_turn_that_was_written_ahead_has_its_rows_after_a_kill() {
    let folder = Folder::new();
    let store = folder.open();
    store.close();
    let turn = turn("r1", 1, "alpha");
    let turn = TurnRow { spent: vec![spent_on(&turn)], ..turn };
    let old = r#"{"conversation":{"id":"r0"},"n":1,"status":"ok"}"#;
    let lines = format!("{}\n{old}\n", serde_json::to_string(&turn).unwrap());
    std::fs::write(folder.path().join("records.ahead"), lines).unwrap();
    let store = folder.open();
    let ledger = store.ledger(None, 10).unwrap();
    assert_eq!(ledger.iter().map(|it| &it.row).collect::<Vec<_>>(), [&turn.spent[0]]);
    assert_eq!(store.turns("r0", None, 10).unwrap().len(), 1, "a line of before the ledger is read");
}

#[test]
fn spending_is_summed_by_what_is_asked() {
    let folder = Folder::new();
    let store = folder.open();
    store.panel_started(panel("p1")).blocking_wait().unwrap();
    for (number, alias, useful) in [(1, "alpha", true), (2, "beta", true), (3, "alpha", false)] {
        let row = call("p1", number, alias);
        let cost = (alias == "alpha").then_some(0.25);
        let row = CallRow { spent: Some(LedgerRow { cost, ..spent(&row) }), ..row };
        store.call_ended(row.clone()).blocking_wait().unwrap();
        judge(&store, &row.call, useful);
    }
    // Two turns that are one piece of work.
    for n in 1..=2 {
        let turn = TurnRow { call: "r1.1".to_owned(), ..turn("r1", n, "alpha") };
        let row = LedgerRow { caller: "ci".to_owned(), collection: "agents".to_owned(), ..spent_on(&turn) };
        store.turn_ended(TurnRow { spent: vec![row], ..turn }).blocking_wait().unwrap();
    }
    store.written().blocking_wait().unwrap();
    judge(&store, "r1.1", true);
    // A probe that nobody counted, an older call, and practice.
    let bare = LedgerRow {
        purpose: "probe".to_owned(),
        tokens_fresh: None,
        tokens_out: None,
        ..priced("", "beta", None)
    };
    write(&store, LedgerRow { cache_read: None, cache_write: None, ..bare });
    write(&store, LedgerRow { at_ms: START - 1, ..priced("", "alpha", Some(9.0)) });
    write(&store, LedgerRow { practice: true, ..priced("", "quick", None) });

    let spend = |by| store.spend(by, START, false).unwrap();
    let alpha = Spend {
        key: "alpha".to_owned(),
        calls: 4,
        tokens_fresh: 20 + 20 + 100 + 100,
        tokens_out: 40 + 40 + 50 + 50,
        tokens_reasoning: 0,
        cache_read: 100 + 100 + 900 + 900,
        cache_write: 0,
        tokens_unknown: 0,
        cost: 0.25 + 0.25 + 0.25 + 0.25,
        cost_unknown: 0,
        useful: 2,
    };
    let beta = Spend {
        key: "beta".to_owned(),
        calls: 2,
        tokens_fresh: 20,
        tokens_out: 40,
        cache_read: 100,
        tokens_unknown: 1,
        cost_unknown: 2,
        useful: 1,
        ..Spend::default()
    };
    assert_eq!(spend(SpendBy::Model), [alpha.clone(), beta.clone()], "the dearest first");
    assert_eq!((alpha.cost_per_useful(), beta.cost_per_useful()), (Some(0.5), None));
    assert_eq!(Spend { useful: 0, ..alpha }.cost_per_useful(), None);
    assert_eq!(keys(&spend(SpendBy::Collection)), [("core", 4), ("agents", 2)]);
    assert_eq!(keys(&spend(SpendBy::Caller)), [("local", 4), ("ci", 2)]);
    assert_eq!(keys(&spend(SpendBy::Endpoint)), [("fake", 6)]);
    assert_eq!(keys(&spend(SpendBy::Purpose)), [("panel", 3), ("route", 2), ("probe", 1)]);
    assert_eq!(keys(&store.spend(SpendBy::Model, START, true).unwrap()), [("quick", 1)]);
    assert_eq!(store.spend(SpendBy::Model, START - 1, false).unwrap()[0].cost, 10.0);
}

#[test]
fn what_pacing_and_budgets_are_loaded_with() {
    let folder = Folder::new();
    let store = folder.open();
    let day = START.div_euclid(DAY) * DAY;
    let at = |at_ms, attempts| LedgerRow { at_ms, attempts, cost: Some(0.5), ..priced("", "alpha", None) };
    write(&store, at(day + 5, 1));
    write(&store, at(day + MINUTE - 1, 2));
    write(&store, at(day + MINUTE, 1));
    let odd =
        LedgerRow { tokens_fresh: None, tokens_out: None, cache_read: None, cost: None, ..at(day + DAY, 1) };
    write(&store, odd);
    write(
        &store,
        LedgerRow { tokens_fresh: Some(u64::MAX), tokens_out: Some(u64::MAX), ..at(day + DAY + 1, 1) },
    );
    write(&store, LedgerRow { practice: true, ..at(day + 6, 1) });
    // Cut off: nobody counted its tokens, or only some of them.
    let cut = LedgerRow { tokens_held: Some(900), cache_read: None, cost: None, ..at(day + 2 * DAY, 1) };
    write(&store, LedgerRow { tokens_fresh: None, tokens_out: None, ..cut.clone() });
    write(&store, LedgerRow { tokens_fresh: Some(7), tokens_out: Some(1), ..cut.clone() });
    write(&store, LedgerRow { tokens_fresh: Some(1_000), tokens_out: Some(1), ..cut.clone() });
    // With what it is taken to have taken, counted in part and of a model without a price too.
    let taken = LedgerRow {
        tokens_fresh: None,
        tokens_out: None,
        tokens_spent: Some(70),
        cost_spent: Some(0.25),
        ..LedgerRow { at_ms: day + 3 * DAY, ..cut }
    };
    write(&store, taken.clone());
    write(&store, LedgerRow { tokens_out: Some(60), cost_spent: None, ..taken.clone() });
    write(&store, LedgerRow { tokens_spent: Some(0), cost_spent: Some(0.0), tokens_held: None, ..taken });

    let sent = |at_ms, requests, tokens| SentRow {
        connection: "fake".to_owned(),
        endpoint: "fake".to_owned(),
        served: "vendor/alpha-1".to_owned(),
        at_ms,
        requests,
        tokens,
    };
    let most = i64::MAX as u64;
    let expected = [
        sent(day + MINUTE - 1, 3, 320),
        sent(day + MINUTE, 1, 160),
        sent(day + DAY + 1, 2, most),
        sent(day + 2 * DAY, 3, 900 + 900 + 1_001),
        sent(day + 3 * DAY, 3, 900 + 900),
    ];
    assert_eq!(store.sent(day + 5).unwrap(), expected);
    assert_eq!(store.sent(day + MINUTE).unwrap(), expected[1..]);
    let spent = |at_ms, tokens, tokens_unknown, cost, cost_unknown| DaySpend {
        caller: "local".to_owned(),
        collection: "core".to_owned(),
        at_ms,
        tokens,
        tokens_unknown,
        cost,
        cost_unknown,
    };
    // Money is spent by what is known.
    let cut_off = spent(day + 2 * DAY, 1_009, 1, 0.0, 3);
    let taken = spent(day + 3 * DAY, 140, 2, 0.25, 1);
    let expected = [spent(day, 480, 0, 1.5, 0), spent(day + DAY, most, 1, 0.5, 1), cut_off, taken];
    assert_eq!(store.spend_by_day(day).unwrap(), expected);
}

#[test]
fn failures_are_told_with_the_last_words_and_the_last_answer() {
    let folder = Folder::new();
    let store = folder.open();
    let failed = CallRow {
        status: "error".to_owned(),
        error: Some("no such model".to_owned()),
        error_class: Some("not_found".to_owned()),
        ..call("p1", 1, "alpha")
    };
    let row = LedgerRow { http_status: Some(404), ..spent(&failed) };
    store.call_ended(CallRow { spent: Some(row.clone()), ..failed }).blocking_wait().unwrap();
    write(&store, LedgerRow { at_ms: START - DAY, ..priced("", "alpha", None) });
    write(
        &store,
        LedgerRow { at_ms: START + 5, call: String::new(), class: Some("empty".to_owned()), ..row.clone() },
    );
    write(&store, LedgerRow { class: Some("capacity".to_owned()), ..row.clone() });
    write(&store, LedgerRow { alias: "beta".to_owned(), served: "b".to_owned(), ..row });
    write(&store, LedgerRow { at_ms: START + 7, ..priced("", "alpha", None) });
    write(&store, LedgerRow { at_ms: START + 9, endpoint: "other".to_owned(), ..priced("", "alpha", None) });

    let failures = store.failures(&["not_found", "empty"], START).unwrap();
    let told = |served: &str, class: &str, at_ms, words: &str, answered_ms| FailureRow {
        endpoint: "fake".to_owned(),
        served: served.to_owned(),
        class: class.to_owned(),
        http_status: Some(404),
        at_ms,
        words: words.to_owned(),
        answered_ms,
    };
    let expected = [
        told("vendor/alpha-1", "not_found", START, "no such model", Some(START + 7)),
        told("b", "not_found", START, "no such model", None),
        told("vendor/alpha-1", "empty", START + 5, "", Some(START + 7)),
    ];
    assert_eq!(failures, expected);
    assert_eq!(store.failures(&[], START).unwrap(), []);
}

#[test]
fn a_model_is_renamed_everywhere_and_work_that_ends_late_goes_with_it() {
    let folder = Folder::new();
    let store = folder.open();
    let rename = |from: &str, to: &str| {
        let change = SetupChange::MoveRecord { from: from.to_owned(), to: to.to_owned() };
        store.change_setup(vec![change], Vec::new()).blocking_wait().unwrap();
    };
    let mut row = panel("p1");
    row.seats[1].stood_in_for = Some("alpha".to_owned());
    store.panel_started(row).blocking_wait().unwrap();
    let ended = |number| {
        let row = call("p1", number, "alpha");
        store.call_ended(CallRow { spent: Some(spent(&row)), ..row }).blocking_wait().unwrap();
    };
    ended(1);
    folder.advance(1);
    rename("alpha", "omega");
    // Begun before, under the name of then: a call, a turn, a stand-in's seat.
    ended(2);
    let turn = turn("r1", 1, "alpha");
    let turn = TurnRow { at_ms: START + 1, spent: vec![spent_on(&turn)], ..turn };
    store.turn_ended(turn).blocking_wait().unwrap();
    store.seat_added("p1".to_owned(), crate::harness::seat("p1", 3, "alpha")).blocking_wait().unwrap();
    // Another model has taken the name up since.
    let row = CallRow { started_ms: START + 2, ..call("p1", 4, "alpha") };
    store.call_ended(CallRow { spent: Some(spent(&row)), ..row }).blocking_wait().unwrap();

    let p1 = store.panel("p1").unwrap().unwrap();
    let calls: Vec<&str> = p1.calls.iter().map(|call| call.row.alias.as_str()).collect();
    assert_eq!(calls, ["omega", "omega", "alpha"]);
    let seats: Vec<&str> = p1.row.seats.iter().map(|seat| seat.alias.as_str()).collect();
    assert_eq!(seats, ["omega", "beta", "omega"]);
    assert_eq!(p1.row.seats[1].stood_in_for.as_deref(), Some("omega"));
    let r1 = store.conversation("r1").unwrap().unwrap();
    assert_eq!((r1.row.alias.as_str(), r1.calls[0].row.alias.as_str()), ("omega", "omega"));
    assert_eq!(store.turn("r1", 1).unwrap().unwrap().alias, "omega");
    assert_eq!(keys(&store.spend(SpendBy::Model, 0, false).unwrap()), [("omega", 3), ("alpha", 1)]);

    // Names lead to what their model is called in the end, and one that it takes up again leads nowhere.
    let names = || -> Vec<(String, Option<String>)> {
        store.names().unwrap().into_iter().map(|name| (name.alias, name.now)).collect()
    };
    let name = |alias: &str, now: Option<&str>| (alias.to_owned(), now.map(str::to_owned));
    rename("omega", "psi");
    assert_eq!(names(), [name("alpha", Some("psi")), name("omega", Some("psi"))]);
    rename("psi", "alpha");
    assert_eq!(names(), [name("omega", Some("alpha")), name("psi", Some("alpha"))]);
    let change = SetupChange::GiveUpName { alias: "alpha".to_owned() };
    store.change_setup(vec![change], Vec::new()).blocking_wait().unwrap();
    assert_eq!(names(), [name("alpha", None), name("omega", None), name("psi", None)]);
}
