use store::{StoreError, restore};

use crate::harness::{Folder, START, call, names_in, write_panel};

#[test]
fn a_backup_is_a_whole_copy_and_seven_are_kept() {
    let folder = Folder::new();
    let store = folder.open();
    write_panel(&store, "p1", "alpha");
    let first = store.backup().blocking_wait().unwrap();
    assert_eq!(first, folder.path().join("backups/records-20261129-154501.sqlite3"));
    let copy = rusqlite::Connection::open(&first).unwrap();
    let calls: i64 = copy.query_row("SELECT count(*) FROM calls", [], |row| row.get(0)).unwrap();
    assert_eq!(calls, 1);

    // In one second; then days apart.
    let second = store.backup().blocking_wait().unwrap();
    assert_eq!(second, folder.path().join("backups/records-20261129-154501-2.sqlite3"));
    for _ in 0..6 {
        folder.advance(24 * 3600 * 1000);
        store.backup().blocking_wait().unwrap();
    }
    assert_eq!(
        names_in(&folder.path().join("backups")),
        [
            "records-20261129-154501-2.sqlite3",
            "records-20261130-154501.sqlite3",
            "records-20261201-154501.sqlite3",
            "records-20261202-154501.sqlite3",
            "records-20261203-154501.sqlite3",
            "records-20261204-154501.sqlite3",
            "records-20261205-154501.sqlite3",
        ]
    );
}

#[test]
fn backups_and_writes_do_not_wait_for_each_other() {
    let folder = Folder::new();
    let store = folder.open();
    let backups: Vec<_> = (0..3).map(|_| store.backup()).collect();
    for number in 0..200 {
        store.call_ended(call(&format!("p{number}"), 1, "alpha")).blocking_wait().unwrap();
    }
    for backup in backups {
        let copy = rusqlite::Connection::open(backup.blocking_wait().unwrap()).unwrap();
        let verdict: String = copy.query_row("PRAGMA integrity_check", [], |row| row.get(0)).unwrap();
        assert_eq!(verdict, "ok");
    }
}

#[test]
fn a_backup_that_fails_leaves_nothing_behind() {
    let folder = Folder::new();
    let store = folder.open();
    std::fs::write(folder.path().join("backups"), "a file in the way").unwrap();
    assert!(matches!(store.backup().blocking_wait(), Err(StoreError::Io { .. })));
    std::fs::remove_file(folder.path().join("backups")).unwrap();
    // What a killed process left of a backup is written over.
    std::fs::create_dir(folder.path().join("backups")).unwrap();
    std::fs::write(folder.path().join("backups/unfinished"), vec![7; 100_000]).unwrap();
    store.backup().blocking_wait().unwrap();
    assert_eq!(names_in(&folder.path().join("backups")), ["records-20261129-154501.sqlite3"]);
}

#[test]
fn a_backup_is_put_back_in_place() {
    let folder = Folder::new();
    let store = folder.open();
    write_panel(&store, "p1", "alpha");
    let backup = store.backup().blocking_wait().unwrap();
    write_panel(&store, "p2", "alpha");
    assert_eq!(restore(&folder.path(), &backup, START), Err(StoreError::Locked));
    store.close();

    let replaced = restore(&folder.path(), &backup, START).unwrap().unwrap();
    assert_eq!(replaced, folder.path().join("records.replaced-20261129-154501.sqlite3"));
    let store = folder.open();
    assert!(store.panel("p1").unwrap().is_some());
    assert!(store.panel("p2").unwrap().is_none());
    store.close();

    // And back again: what was replaced is whole.
    restore(&folder.path(), &replaced, START).unwrap();
    assert!(folder.open().panel("p2").unwrap().is_some());
}

#[test]
fn what_is_no_backup_is_not_put_in_place() {
    let folder = Folder::new();
    let store = folder.open();
    write_panel(&store, "p1", "alpha");
    let backup = store.backup().blocking_wait().unwrap();
    store.close();
    let mut damaged = std::fs::read(&backup).unwrap();
    damaged[4096..8192].fill(0xAA);
    for bytes in [&b""[..], &b"not a database"[..], &damaged] {
        std::fs::write(&backup, bytes).unwrap();
        let refused = restore(&folder.path(), &backup, START);
        assert!(matches!(&refused, Err(StoreError::Io { path, .. }) if *path == backup), "{refused:?}");
    }
    assert!(restore(&folder.path(), &folder.path().join("nowhere"), START).is_err());
    assert!(folder.open().panel("p1").unwrap().is_some());
}
