use store::{
    ClearOutcome, Judged, NewVerdict, PanelRow, StoredCall, VerdictEvent, VerdictOutcome, VerdictRow,
};

use crate::harness::{Folder, START, call, done, failed_call, panel, write_panel};

fn verdict(call: &str, useful: bool) -> NewVerdict {
    NewVerdict { call: call.to_owned(), useful, by: "window".to_owned(), ..NewVerdict::default() }
}

fn claims(claims: &[&str]) -> Option<Vec<String>> {
    Some(claims.iter().map(|&claim| claim.to_owned()).collect())
}

#[test]
fn absent_keeps_the_same_writes_nothing_and_a_later_one_supersedes() {
    let folder = Folder::new();
    let store = folder.open();
    write_panel(&store, "p1", "alpha");
    let give = |verdict| store.give_verdict(verdict).blocking_wait().unwrap();
    let clear = |call: &str| store.clear_verdict(call.to_owned(), "cli".to_owned()).blocking_wait().unwrap();

    let judged = |was| Judged { alias: "alpha".to_owned(), shape: "general".to_owned(), was };
    let given = |recorded, verdict: &VerdictRow, was| VerdictOutcome::Given {
        recorded,
        verdict: verdict.clone(),
        judged: judged(was),
    };
    let first = VerdictRow {
        call: "p1.member1".to_owned(),
        useful: true,
        note: "good".to_owned(),
        real: vec!["it scatters".to_owned()],
        false_claims: Vec::new(),
        by: "window".to_owned(),
        at_ms: START,
    };
    let new = NewVerdict {
        note: Some("good".to_owned()),
        real: claims(&["it scatters"]),
        ..verdict("p1.member1", true)
    };
    assert_eq!(give(new.clone()), given(true, &first, None));

    folder.advance(10);
    let same = given(false, &first, Some(true));
    assert_eq!(give(new), same, "the same again");
    assert_eq!(give(verdict("p1.member1", true)), same, "the same by what is absent");

    let second = VerdictRow {
        useful: false,
        false_claims: vec!["by ozone".to_owned()],
        at_ms: START + 10,
        ..first.clone()
    };
    let new = NewVerdict { false_claims: claims(&["by ozone"]), ..verdict("p1.member1", false) };
    assert_eq!(give(new), given(true, &second, Some(true)));
    assert_eq!(store.call("p1.member1").unwrap().unwrap().verdict, Some(second.clone()));

    folder.advance(10);
    assert_eq!(clear("p1.member1"), ClearOutcome::Cleared(judged(Some(false))));
    assert_eq!(clear("p1.member1"), ClearOutcome::NothingStood);
    assert_eq!(store.call("p1.member1").unwrap().unwrap().verdict, None);

    folder.advance(10);
    let third = VerdictRow {
        useful: false,
        note: String::new(),
        real: Vec::new(),
        false_claims: Vec::new(),
        at_ms: START + 30,
        ..first.clone()
    };
    let outcome = give(verdict("p1.member1", false));
    assert_eq!(outcome, given(true, &third, None));

    let event = |row: &VerdictRow| VerdictEvent {
        at_ms: row.at_ms,
        by: "window".to_owned(),
        given: Some(row.clone()),
    };
    let withdrawn = VerdictEvent { at_ms: START + 20, by: "cli".to_owned(), given: None };
    assert_eq!(
        store.verdict_history("p1.member1").unwrap(),
        [event(&first), event(&second), withdrawn, event(&third)]
    );
}

#[test]
fn a_verdict_is_about_a_known_call() {
    let folder = Folder::new();
    let store = folder.open();
    // Planned and running, but it has not ended.
    store.panel_started(panel("p1")).blocking_wait().unwrap();
    for call in ["p1.member1", "", "'; DROP TABLE calls; --"] {
        let given = store.give_verdict(verdict(call, true)).blocking_wait();
        assert_eq!(given, Ok(VerdictOutcome::UnknownCall));
        let cleared = store.clear_verdict(call.to_owned(), "window".to_owned()).blocking_wait();
        assert_eq!(cleared, Ok(ClearOutcome::UnknownCall));
        assert_eq!(store.verdict_history(call).unwrap(), []);
    }
}

#[test]
fn a_verdict_right_behind_its_call_finds_it() {
    let folder = Folder::new();
    let store = folder.open();
    drop(store.call_ended(call("p1", 1, "alpha")));
    let given = store.give_verdict(verdict("p1.member1", true)).blocking_wait().unwrap();
    assert!(matches!(given, VerdictOutcome::Given { recorded: true, .. }));
}

#[test]
fn owed_is_what_answered_and_was_not_judged_among_the_last_panels() {
    let folder = Folder::new();
    let store = folder.open();
    for (at, id) in ["p1", "p2", "p3", "p4"].into_iter().enumerate() {
        drop(store.panel_started(PanelRow { at_ms: START + at as i64, ..panel(id) }));
    }
    drop(store.call_ended(call("p1", 1, "alpha")));
    drop(store.call_ended(call("p2", 1, "alpha")));
    drop(store.call_ended(failed_call("p2", 2, "beta")));
    let mut merger = call("p2", 3, "alpha");
    merger.kind = "merger".to_owned();
    drop(store.call_ended(merger));
    drop(store.call_ended(failed_call("p3", 1, "alpha")));
    drop(store.call_ended(call("p4", 1, "alpha")));
    drop(store.call_ended(call("p4", 2, "beta")));
    store.panel_ended(done("p4")).blocking_wait().unwrap();

    let owed = |panels| {
        let owed: Vec<String> = store
            .owed(panels)
            .unwrap()
            .into_iter()
            .flat_map(|panel| panel.calls.into_iter().filter(StoredCall::is_owed))
            .map(|call| call.row.call)
            .collect();
        assert_eq!(store.owed_count(panels).unwrap() as usize, owed.len());
        owed
    };
    assert_eq!(owed(30), ["p4.member1", "p4.member2", "p2.member1", "p1.member1"]);
    assert_eq!(owed(3), ["p4.member1", "p4.member2", "p2.member1"], "only the last three panels");
    assert_eq!(owed(0), Vec::<String>::new());

    drop(store.give_verdict(verdict("p4.member1", false)));
    store.give_verdict(verdict("p2.member1", true)).blocking_wait().unwrap();
    assert_eq!(owed(30), ["p4.member2", "p1.member1"]);
    drop(store.clear_verdict("p2.member1".to_owned(), "window".to_owned()).blocking_wait());
    assert_eq!(owed(30), ["p4.member2", "p2.member1", "p1.member1"]);

    let asked: Vec<String> = ["p1.member1", "nobody", "p4.member1", "p2.member2", "p2.member3", "p4.member2"]
        .map(str::to_owned)
        .into();
    assert_eq!(store.pending(&asked).unwrap(), ["p1.member1", "p2.member3", "p4.member2"]);
}
