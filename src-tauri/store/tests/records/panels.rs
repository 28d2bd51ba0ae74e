use store::{
    PanelEnd, PanelOutcome, PanelRow, PanelState, PlannedSeat, RecordingState, StoreError, StoredCall,
    StoredPanel,
};

use crate::harness::{Folder, START, call, done, failed_call, panel, write_panel};

#[test]
fn a_panel_is_kept_from_its_start_to_its_end() {
    let folder = Folder::new();
    let store = folder.open();
    let stored_call =
        |row| StoredCall { row, collection: "core".to_owned(), verdict: None, text_pruned: false };

    let stand_in = PlannedSeat {
        call: "p1.member2.r1".to_owned(),
        seat: "member2".to_owned(),
        kind: "reserve".to_owned(),
        alias: "gamma".to_owned(),
        endpoint: "other".to_owned(),
        why: "best record".to_owned(),
        stood_in_for: Some("beta".to_owned()),
        not_sent: None,
    };
    let asked = PanelRow { reply: "merged".to_owned(), ..panel("p1") };
    store.panel_started(asked.clone()).blocking_wait().unwrap();
    let mut expected = StoredPanel {
        row: asked,
        state: PanelState::Running,
        seconds: None,
        overhead_ms: None,
        note: None,
        failed_over_json: "[]".to_owned(),
        error: None,
        text_pruned: false,
        calls: Vec::new(),
    };
    assert_eq!(store.panel("p1").unwrap().as_ref(), Some(&expected));

    store.call_ended(failed_call("p1", 2, "beta")).blocking_wait().unwrap();
    store.call_ended(call("p1", 1, "alpha")).blocking_wait().unwrap();
    drop(store.seat_added("p1".to_owned(), stand_in.clone()));
    let end = PanelEnd {
        note: Some("merged by nobody".to_owned()),
        failed_over_json: r#"[{"seat":"member1"}]"#.to_owned(),
        ..done("p1")
    };
    store.panel_ended(end).blocking_wait().unwrap();
    expected.state = PanelState::Done;
    expected.seconds = Some(1.75);
    expected.overhead_ms = Some(3.5);
    expected.note = Some("merged by nobody".to_owned());
    expected.row.reply = "all".to_owned();
    expected.failed_over_json = r#"[{"seat":"member1"}]"#.to_owned();
    expected.row.seats.push(stand_in);
    expected.calls = vec![stored_call(failed_call("p1", 2, "beta")), stored_call(call("p1", 1, "alpha"))];
    assert_eq!(store.panel("p1").unwrap().as_ref(), Some(&expected));
    assert_eq!(store.panels(None, 10).unwrap(), [expected.clone()]);
    assert_eq!(store.call("p1.member1").unwrap().as_ref(), Some(&expected.calls[1]));

    store.close();
    let reopened = folder.open();
    assert_eq!(reopened.panel("p1").unwrap(), Some(expected));
    assert_eq!(reopened.recording(), RecordingState::Ok);
}

#[test]
fn a_failed_panel_says_why() {
    let folder = Folder::new();
    let store = folder.open();
    drop(store.panel_started(panel("p1")));
    let end =
        PanelEnd { state: PanelOutcome::Failed, error: Some("nobody answered".to_owned()), ..done("p1") };
    store.panel_ended(end).blocking_wait().unwrap();
    let stored = store.panel("p1").unwrap().unwrap();
    assert_eq!((stored.state, stored.error.as_deref()), (PanelState::Failed, Some("nobody answered")));
}

#[test]
fn what_is_unknown_is_none() {
    let folder = Folder::new();
    let store = folder.open();
    assert_eq!(store.panel("p1").unwrap(), None);
    assert_eq!(store.call("p1.member1").unwrap(), None);
    assert_eq!(store.panels(None, 10).unwrap(), []);
    assert_eq!(store.panels(Some("p1"), 10).unwrap(), []);
}

#[test]
fn panels_come_newest_first_page_by_page() {
    let folder = Folder::new();
    let store = folder.open();
    // Written out of order; two at the same instant are told apart by id.
    for (id, at) in [("p3", 30), ("p1", 10), ("p4b", 40), ("p2", 20), ("p4a", 40)] {
        let row = PanelRow { at_ms: START + at, ..panel(id) };
        store.panel_started(row).blocking_wait().unwrap();
    }
    let page = |before, limit| {
        let panels = store.panels(before, limit).unwrap();
        panels.into_iter().map(|panel| panel.row.id).collect::<Vec<_>>()
    };
    assert_eq!(page(None, 2), ["p4b", "p4a"]);
    assert_eq!(page(Some("p4a"), 2), ["p3", "p2"]);
    assert_eq!(page(Some("p2"), 2), ["p1"]);
    assert_eq!(page(Some("p1"), 2), Vec::<String>::new());
    assert_eq!(page(None, 0), Vec::<String>::new());
}

#[test]
fn an_id_is_used_once_and_its_first_record_stands() {
    let folder = Folder::new();
    let store = folder.open();
    write_panel(&store, "p1", "alpha");
    let again = store.panel_started(PanelRow { prompt: "other".to_owned(), ..panel("p1") });
    assert_eq!(again.blocking_wait(), Err(StoreError::Conflict("panel p1 was recorded already".to_owned())));
    let again = store.call_ended(call("p1", 1, "other"));
    assert_eq!(
        again.blocking_wait(),
        Err(StoreError::Conflict("call p1.member1 was recorded already".to_owned()))
    );
    let again = store.panel_ended(done("p1"));
    assert_eq!(again.blocking_wait(), Err(StoreError::Conflict("no panel p1 is running".to_owned())));
    let stored = store.panel("p1").unwrap().unwrap();
    assert_eq!((stored.row.prompt.as_str(), stored.calls.len()), ("why is the sky blue", 1));
    assert_eq!(stored.calls[0].row.alias, "alpha");
}

#[test]
fn one_that_conflicts_takes_no_other_down() {
    let folder = Folder::new();
    let store = folder.open();
    write_panel(&store, "p0", "alpha");
    // Queued faster than they are written, so that they share transactions.
    let acks: Vec<_> = (1..=300)
        .map(|number| {
            let panel = if number % 3 == 0 { "p0".to_owned() } else { format!("p{number}") };
            (number, store.call_ended(call(&panel, 1, "alpha")))
        })
        .collect();
    for (number, ack) in acks {
        assert_eq!(ack.blocking_wait().is_err(), number % 3 == 0, "call {number}");
    }
    for number in 1..=300 {
        let kept = store.call(&format!("p{number}.member1")).unwrap().is_some();
        assert_eq!(kept, number % 3 != 0, "call {number}");
    }
}

#[test]
fn a_call_that_ends_after_its_panel_is_kept() {
    let folder = Folder::new();
    let store = folder.open();
    write_panel(&store, "p1", "alpha");
    store.call_ended(call("p1", 2, "beta")).blocking_wait().unwrap();
    assert_eq!(store.panel("p1").unwrap().unwrap().calls.len(), 2);
}

#[test]
fn a_call_is_kept_without_its_panel() {
    let folder = Folder::new();
    let store = folder.open();
    store.call_ended(call("lost", 1, "alpha")).blocking_wait().unwrap();
    let kept = store.call("lost.member1").unwrap().unwrap();
    assert_eq!((kept.row, kept.collection.as_str()), (call("lost", 1, "alpha"), ""));
}

#[test]
fn a_panel_left_running_is_interrupted_and_nothing_is_invented() {
    let folder = Folder::new();
    let store = folder.open();
    drop(store.panel_started(panel("p1")));
    drop(store.call_ended(call("p1", 1, "alpha")));
    write_panel(&store, "p2", "alpha");
    store.close();

    let opened = folder.try_open().unwrap();
    assert_eq!(opened.interrupted, 1);
    let stored = opened.store.panel("p1").unwrap().unwrap();
    assert_eq!((stored.state, stored.seconds), (PanelState::Interrupted, None));
    assert_eq!(stored.row.seats, panel("p1").seats);
    assert_eq!(stored.calls.iter().map(|call| &call.row.call).collect::<Vec<_>>(), ["p1.member1"]);
    assert_eq!(opened.store.panel("p2").unwrap().unwrap().state, PanelState::Done);
    drop(opened);
    assert_eq!(folder.try_open().unwrap().interrupted, 0);
}

#[test]
fn a_closed_store_says_so() {
    let folder = Folder::new();
    let store = folder.open();
    let ack = store.panel_started(panel("p1"));
    store.close();
    store.close();
    assert_eq!(ack.blocking_wait(), Ok(()), "what was queued before is written");
    assert_eq!(store.panel_started(panel("p2")).blocking_wait(), Err(StoreError::Closed));
    assert_eq!(store.backup().blocking_wait(), Err(StoreError::Closed));
    assert_eq!(store.panel("p1"), Err(StoreError::Closed));
    assert!(folder.open().panel("p1").unwrap().is_some());
}

#[test]
fn dropping_the_store_and_its_acks_loses_nothing() {
    let folder = Folder::new();
    let store = folder.open();
    for number in 0..500 {
        drop(store.call_ended(call(&format!("p{number}"), 1, "alpha")));
    }
    drop(store);
    let reopened = folder.open();
    for number in 0..500 {
        assert!(reopened.call(&format!("p{number}.member1")).unwrap().is_some(), "call {number}");
    }
}
