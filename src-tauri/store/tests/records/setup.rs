use store::{AuditEntry, SetupChange, SetupItem, StoreError};

use crate::harness::{Folder, START, call, write_panel};

fn item(kind: &str, name: &str, body: &str) -> SetupItem {
    SetupItem { kind: kind.to_owned(), name: name.to_owned(), body: body.to_owned() }
}

fn put(kind: &str, name: &str, body: &str) -> SetupChange {
    SetupChange::Put(item(kind, name, body))
}

fn rename(kind: &str, from: &str, to: &str) -> SetupChange {
    SetupChange::Rename { kind: kind.to_owned(), from: from.to_owned(), to: to.to_owned() }
}

fn entry(action: &str, subject: &str) -> AuditEntry {
    AuditEntry {
        actor: "window".to_owned(),
        action: action.to_owned(),
        subject: subject.to_owned(),
        detail: "{}".to_owned(),
    }
}

#[test]
fn documents_keep_their_order_through_changes() {
    let folder = Folder::new();
    let store = folder.open();
    let change = |changes| store.change_setup(changes, Vec::new()).blocking_wait().unwrap();
    change(vec![put("model", "zeta", "1"), put("model", "alpha", "2"), put("endpoint", "fake", "3")]);
    change(vec![put("model", "zeta", "4"), put("collection", "zeta", "5")]);
    let expected = [
        item("model", "zeta", "4"),
        item("model", "alpha", "2"),
        item("endpoint", "fake", "3"),
        item("collection", "zeta", "5"),
    ];
    assert_eq!(store.setup_items().unwrap(), expected);

    let remove = SetupChange::Remove { kind: "model".to_owned(), name: "alpha".to_owned() };
    change(vec![remove.clone(), remove, rename("model", "zeta", "eta")]);
    store.close();
    let expected =
        [item("model", "eta", "4"), item("endpoint", "fake", "3"), item("collection", "zeta", "5")];
    assert_eq!(folder.open().setup_items().unwrap(), expected);
}

#[test]
fn a_change_is_made_whole_or_not_at_all() {
    let folder = Folder::new();
    let store = folder.open();
    let first = vec![put("model", "alpha", "1"), put("model", "beta", "2")];
    store.change_setup(first, vec![entry("added", "model alpha")]).blocking_wait().unwrap();
    for (broken, why) in [
        (rename("model", "alpha", "beta"), "there is a model named beta already"),
        (rename("model", "gamma", "delta"), "there is no model named gamma"),
        (rename("endpoint", "alpha", "delta"), "there is no endpoint named alpha"),
    ] {
        let changes = vec![put("model", "alpha", "9"), put("model", "new", "9"), broken];
        let outcome = store.change_setup(changes, vec![entry("changed", "model alpha")]).blocking_wait();
        assert_eq!(outcome, Err(StoreError::Conflict(why.to_owned())));
    }
    assert_eq!(store.setup_items().unwrap(), [item("model", "alpha", "1"), item("model", "beta", "2")]);
    assert_eq!(store.audit(10).unwrap().len(), 1);
}

#[test]
fn the_audit_log_is_read_newest_first() {
    let folder = Folder::new();
    let store = folder.open();
    store.change_setup(Vec::new(), vec![entry("added", "a"), entry("added", "b")]).blocking_wait().unwrap();
    folder.advance(5);
    store.change_setup(Vec::new(), vec![entry("removed", "a")]).blocking_wait().unwrap();
    let lines = store.audit(2).unwrap();
    let lines: Vec<_> = lines.into_iter().map(|line| (line.seq, line.at_ms, line.entry)).collect();
    assert_eq!(lines, [(3, START + 5, entry("removed", "a")), (2, START, entry("added", "b"))]);
}

#[test]
fn a_renamed_model_takes_its_record_along() {
    let folder = Folder::new();
    let store = folder.open();
    write_panel(&store, "p1", "alpha");
    write_panel(&store, "p2", "beta");
    let change = SetupChange::MoveRecord { from: "alpha".to_owned(), to: "omega".to_owned() };
    store.change_setup(vec![change], Vec::new()).blocking_wait().unwrap();
    let aliases = store.record(Default::default()).unwrap();
    assert_eq!(aliases.iter().map(|record| record.alias.as_str()).collect::<Vec<_>>(), ["beta", "omega"]);
    let moved = store.panel("p1").unwrap().unwrap();
    assert_eq!(moved.row.seats[0].alias, "omega");
    assert_eq!(moved.calls[0].row.alias, "omega");
    assert_eq!(moved.calls[0].row.served, call("p1", 1, "alpha").served);
}
