//! Text is kept as it came, whatever is in it, until its time is over.

use store::{CallRow, NewVerdict, PanelRow};

use crate::harness::{Folder, START, call, done, panel, write_panel};

#[test]
fn odd_text_is_kept_whole() {
    let folder = Folder::new();
    let store = folder.open();
    for (number, odd) in
        ["a\0b\0", "\0", "", "'); DROP TABLE calls; --", "\u{FEFF}\u{202E}🦀\r\n\u{FFFF}", "?1"]
            .into_iter()
            .enumerate()
    {
        let id = format!("p{number}{odd}");
        let row = PanelRow {
            system: odd.to_owned(),
            prompt: odd.to_owned(),
            collection: odd.to_owned(),
            client: odd.to_owned(),
            ..panel(&id)
        };
        drop(store.panel_started(row.clone()));
        let answered = CallRow { answer: odd.to_owned(), error: Some(odd.to_owned()), ..call(&id, 1, odd) };
        drop(store.call_ended(answered.clone()));
        let verdict = NewVerdict {
            call: answered.call.clone(),
            useful: true,
            note: Some(odd.to_owned()),
            real: Some(vec![odd.to_owned(), odd.to_owned()]),
            false_claims: Some(vec![odd.to_owned()]),
            by: odd.to_owned(),
        };
        store.give_verdict(verdict).blocking_wait().unwrap();

        let stored = store.panel(&id).unwrap().unwrap();
        assert_eq!(stored.row, row);
        assert_eq!(stored.calls[0].row, answered);
        let given = stored.calls[0].verdict.clone().unwrap();
        assert_eq!((given.note.as_str(), given.by.as_str()), (odd, odd));
        assert_eq!((given.real, given.false_claims), (vec![odd.to_owned(); 2], vec![odd.to_owned()]));
    }
}

#[test]
fn odd_numbers_are_kept_or_brought_in_range() {
    let folder = Folder::new();
    let store = folder.open();
    let odd = CallRow {
        seconds: f64::NAN,
        first_token_s: Some(f64::INFINITY),
        tokens_in: Some(u64::MAX),
        tokens_out: Some(0),
        attempts: u32::MAX,
        started_ms: i64::MIN,
        ..call("p1", 1, "alpha")
    };
    store.call_ended(odd.clone()).blocking_wait().unwrap();
    let expected =
        CallRow { seconds: 0.0, first_token_s: Some(0.0), tokens_in: Some(i64::MAX as u64), ..odd };
    assert_eq!(store.call("p1.member1").unwrap().unwrap().row, expected);
    store
        .call_ended(CallRow { started_ms: i64::MAX, seconds: 1e300, ..call("p1", 2, "alpha") })
        .blocking_wait()
        .unwrap();
    assert_eq!(store.record(Default::default()).unwrap()[0].last_at_ms, i64::MAX);
}

#[test]
fn a_huge_answer_is_kept_whole() {
    let folder = Folder::new();
    let store = folder.open();
    let huge: String = "0123456789abcde\n".repeat(2 * 1024 * 1024);
    assert_eq!(huge.len(), 32 * 1024 * 1024);
    let row = CallRow { answer: huge, ..call("p1", 1, "alpha") };
    drop(store.call_ended(row.clone()));
    // Others behind it are not held up for good.
    store.call_ended(call("p1", 2, "beta")).blocking_wait().unwrap();
    assert!(store.call("p1.member1").unwrap().unwrap().row == row);
}

#[test]
fn pruning_empties_old_text_and_keeps_counts_and_verdicts() {
    let folder = Folder::new();
    let store = folder.open();
    write_panel(&store, "old", "alpha");
    let secret = "the prompt that must go";
    drop(store.panel_started(PanelRow { prompt: secret.repeat(1000), ..panel("older") }));
    drop(store.panel_ended(done("older")));
    drop(store.panel_started(PanelRow { at_ms: START + 1000, ..panel("new") }));
    drop(store.call_ended(CallRow { started_ms: START + 1000, ..call("new", 1, "alpha") }));
    let verdict = NewVerdict {
        call: "old.member1".to_owned(),
        useful: true,
        note: Some("kept".to_owned()),
        by: "window".to_owned(),
        ..NewVerdict::default()
    };
    store.give_verdict(verdict).blocking_wait().unwrap();
    let before = store.record(Default::default()).unwrap();
    let new = store.panel("new").unwrap();

    assert_eq!(store.prune_text(START + 1000).blocking_wait(), Ok(3), "two panels and a call");
    assert_eq!(store.prune_text(START + 1000).blocking_wait(), Ok(0));

    let old = store.panel("old").unwrap().unwrap();
    assert_eq!(
        (old.row.system.as_str(), old.row.prompt.as_str(), old.row.request_json.as_str(), old.text_pruned),
        ("", "", "[]", true)
    );
    assert_eq!(old.row.skipped_json, panel("old").skipped_json);
    let answered = &old.calls[0];
    assert_eq!((answered.row.answer.as_str(), answered.text_pruned), ("", true));
    assert_eq!(answered.row.tokens_out, Some(40));
    assert_eq!(answered.verdict.as_ref().unwrap().note, "kept");
    assert_eq!(store.record(Default::default()).unwrap(), before);
    assert_eq!(store.panel("new").unwrap(), new, "what is newer is untouched");

    store.close();
    let bytes = std::fs::read(folder.file()).unwrap();
    let found = bytes.windows(secret.len()).any(|window| window == secret.as_bytes());
    assert!(!found, "pruned text is gone from the file itself");
}

#[test]
fn pruning_goes_on_until_nothing_is_left_and_lets_others_in_between() {
    let folder = Folder::new();
    let store = folder.open();
    for number in 0..350 {
        drop(store.call_ended(call(&format!("p{number}"), 1, "alpha")));
    }
    let pruned = store.prune_text(START + 1);
    store.call_ended(CallRow { started_ms: START + 1, ..call("new", 1, "alpha") }).blocking_wait().unwrap();
    assert_eq!(pruned.blocking_wait(), Ok(350));
    assert!(
        (0..350).all(|number| {
            store.call(&format!("p{number}.member1")).unwrap().unwrap().row.answer.is_empty()
        })
    );
    assert!(!store.call("new.member1").unwrap().unwrap().text_pruned);
}
