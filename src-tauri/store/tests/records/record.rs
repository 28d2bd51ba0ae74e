use store::{AliasRecord, CallRow, NewVerdict, PanelRow, RecordFilter, Store};

use crate::harness::{Folder, START, call, panel};

fn judged_call(store: &Store, row: CallRow, useful: Option<bool>) {
    let call = row.call.clone();
    drop(store.call_ended(row));
    if let Some(useful) = useful {
        let verdict = NewVerdict { call, useful, by: "window".to_owned(), ..NewVerdict::default() };
        store.give_verdict(verdict).blocking_wait().unwrap();
    }
}

fn record(alias: &str, useful: u64, not_useful: u64, offloads: u64, last_at_ms: i64) -> AliasRecord {
    let alias = alias.to_owned();
    AliasRecord { alias, useful, not_useful, judged: useful + not_useful, offloads, last_at_ms }
}

#[test]
fn a_record_counts_what_the_filter_names() {
    let folder = Folder::new();
    let store = folder.open();
    drop(store.panel_started(panel("p1")));
    drop(store.panel_started(PanelRow { shape: "code".to_owned(), ..panel("p2") }));
    drop(store.panel_started(PanelRow { collection: "deep".to_owned(), ..panel("p3") }));
    judged_call(&store, call("p1", 1, "alpha"), Some(true));
    judged_call(&store, CallRow { started_ms: START + 100, ..call("p2", 1, "alpha") }, Some(false));
    judged_call(&store, CallRow { started_ms: START + 200, ..call("p3", 1, "alpha") }, Some(true));
    judged_call(&store, call("p3", 2, "beta"), None);
    judged_call(&store, CallRow { practice: true, ..call("p3", 3, "quick") }, Some(true));
    // Its panel's record was lost: it counts where no panel is asked about.
    judged_call(&store, call("lost", 1, "gamma"), Some(true));

    let ask = |collection: Option<&str>, shape: Option<&str>, practice| {
        let filter = RecordFilter {
            collection: collection.map(str::to_owned),
            shape: shape.map(str::to_owned),
            task: None,
            practice,
        };
        store.record(filter).unwrap()
    };
    let end = START + 1500;
    assert_eq!(
        ask(None, None, false),
        [record("alpha", 2, 1, 3, end + 200), record("beta", 0, 0, 1, end), record("gamma", 1, 0, 1, end)]
    );
    assert_eq!(ask(Some("core"), None, false), [record("alpha", 1, 1, 2, end + 100)]);
    assert_eq!(ask(Some("core"), Some("code"), false), [record("alpha", 0, 1, 1, end + 100)]);
    assert_eq!(ask(None, Some("code"), false), [record("alpha", 0, 1, 1, end + 100)]);
    assert_eq!(ask(Some("deep"), None, true), [record("quick", 1, 0, 1, end)]);
    assert_eq!(ask(Some("none"), None, false), []);
}

#[test]
fn everything_by_alias_and_shape_is_what_evidence_is_rebuilt_from() {
    let folder = Folder::new();
    let store = folder.open();
    drop(store.panel_started(panel("p1")));
    drop(store.panel_started(PanelRow { shape: "code".to_owned(), ..panel("p2") }));
    judged_call(&store, call("p1", 1, "alpha"), Some(true));
    judged_call(&store, CallRow { started_ms: START + 100, ..call("p2", 1, "alpha") }, Some(false));
    judged_call(&store, CallRow { started_ms: START - 100, ..call("p2", 2, "alpha") }, None);
    judged_call(&store, CallRow { practice: true, ..call("p1", 3, "quick") }, Some(true));
    judged_call(&store, call("lost", 1, "gamma"), Some(true));
    store.clear_verdict("lost.member1".to_owned(), "window".to_owned()).blocking_wait().unwrap();

    let end = START + 1500;
    let rows: Vec<_> =
        store.record_by_shape().unwrap().into_iter().map(|row| (row.shape, row.record)).collect();
    assert_eq!(
        rows,
        [
            ("code".to_owned(), record("alpha", 0, 1, 2, end + 100)),
            ("general".to_owned(), record("alpha", 1, 0, 1, end)),
            (String::new(), record("gamma", 0, 0, 1, end)),
            ("general".to_owned(), record("quick", 1, 0, 1, end)),
        ]
    );
}
