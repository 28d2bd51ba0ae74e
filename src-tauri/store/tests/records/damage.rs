//! A damaged file is moved aside and the store starts; a newer one is left alone.

use std::path::PathBuf;

use store::{CallRow, MovedAside, Opened, SCHEMA_VERSION, StoreError};

use crate::harness::{Folder, call, files_in, names_in, write_panel};

/// A closed store with some content, and a backup of it.
fn filled() -> (Folder, PathBuf) {
    let folder = Folder::new();
    let store = folder.open();
    for number in 0..200 {
        drop(store.call_ended(call(&format!("p{number}"), 1, "alpha")));
    }
    write_panel(&store, "p1000", "alpha");
    let backup = store.backup().blocking_wait().unwrap();
    store.close();
    (folder, backup)
}

/// The files of an open store as a killed process leaves them.
fn copied_as_killed(folder: &Folder) -> Folder {
    let copy = Folder::new();
    std::fs::create_dir_all(copy.path()).unwrap();
    for file in files_in(&folder.path()).into_iter().filter(|file| file.is_file()) {
        std::fs::copy(&file, copy.path().join(file.file_name().unwrap())).unwrap();
    }
    copy
}

#[test]
fn a_damaged_file_is_moved_aside_and_the_newest_backup_named() {
    type Damage = fn(&mut Vec<u8>);
    let damages: &[(&str, Damage)] = &[
        ("something else", |bytes| *bytes = b"this is a letter, not a database".to_vec()),
        ("one byte", |bytes| bytes.truncate(1)),
        ("a head without a body", |bytes| bytes.truncate(100)),
        ("cut in the middle of a page", |bytes| bytes.truncate(bytes.len() / 2 - 100)),
        ("a head overwritten", |bytes| bytes[..16].fill(0)),
        ("a schema overwritten", |bytes| bytes[100..4096].fill(0xA5)),
        ("pages overwritten", |bytes| {
            let end = bytes.len();
            bytes[4096..end].fill(0x5A);
        }),
        ("a page in the middle overwritten", |bytes| {
            let page = bytes.len() / 4096 / 2 * 4096;
            bytes[page..page + 4096].fill(0xFF);
        }),
    ];
    for (what, damage) in damages {
        let (folder, backup) = filled();
        let mut bytes = std::fs::read(folder.file()).unwrap();
        damage(&mut bytes);
        std::fs::write(folder.file(), &bytes).unwrap();

        let Opened { store, moved_aside, .. } = folder.try_open().unwrap();
        let to = folder.path().join("records.corrupt-20261129-154501.sqlite3");
        let expected = MovedAside { to: to.clone(), newest_backup: Some(backup) };
        assert_eq!(moved_aside, Some(expected), "{what}");
        assert_eq!(std::fs::read(&to).unwrap(), bytes, "{what}: kept as it was");
        assert_eq!(store.panels(None, 10).unwrap(), [], "{what}");
        write_panel(&store, "p1", "alpha");
        store.close();
        assert!(folder.open().panel("p1").unwrap().is_some(), "{what}: the new file is an ordinary one");
    }
}

#[test]
fn the_log_is_moved_with_its_file() {
    let (folder, _) = filled();
    std::fs::write(folder.file(), "garbage").unwrap();
    std::fs::write(folder.path().join("records.sqlite3-wal"), "log").unwrap();
    std::fs::write(folder.path().join("records.sqlite3-shm"), "index").unwrap();
    let moved = folder.try_open().unwrap().moved_aside.unwrap();
    let beside = |suffix: &str| std::fs::read(format!("{}{suffix}", moved.to.display())).unwrap();
    assert_eq!(
        (beside(""), beside("-wal"), beside("-shm")),
        (b"garbage".into(), b"log".into(), b"index".into())
    );
}

#[test]
fn two_damaged_files_in_a_second_have_two_names() {
    let folder = Folder::new();
    for expected in ["records.corrupt-20261129-154501.sqlite3", "records.corrupt-20261129-154501-2.sqlite3"] {
        std::fs::create_dir_all(folder.path()).unwrap();
        std::fs::write(folder.file(), "garbage").unwrap();
        let moved = folder.try_open().unwrap().moved_aside.unwrap();
        assert_eq!(moved, MovedAside { to: folder.path().join(expected), newest_backup: None });
    }
}

#[test]
fn a_torn_log_costs_its_last_writes_only() {
    let folder = Folder::new();
    let store = folder.open();
    write_panel(&store, "p1", "alpha");
    let copy = copied_as_killed(&folder);
    let log = copy.path().join("records.sqlite3-wal");
    let bytes = std::fs::read(&log).unwrap();
    std::fs::write(&log, &bytes[..bytes.len() - 1000]).unwrap();
    let store = copy.open();
    write_panel(&store, "p2", "alpha");
    store.close();
    copy.assert_sound();
}

#[test]
fn an_empty_file_is_a_new_one() {
    let folder = Folder::new();
    std::fs::create_dir_all(folder.path()).unwrap();
    std::fs::write(folder.file(), "").unwrap();
    write_panel(&folder.open(), "p1", "alpha");
}

#[test]
fn a_newer_file_is_refused_and_left_as_it_is() {
    let (folder, _) = filled();
    folder.sqlite().pragma_update(None, "user_version", SCHEMA_VERSION + 7).unwrap();
    let snapshot = || {
        let names = names_in(&folder.path());
        let files = files_in(&folder.path()).into_iter().filter(|file| file.is_file());
        (names, files.map(|file| std::fs::read(file).unwrap()).collect::<Vec<_>>())
    };
    let before = snapshot();
    let newer = StoreError::Newer { found: SCHEMA_VERSION + 7, known: SCHEMA_VERSION };
    assert_eq!(folder.try_open().map(|_| ()), Err(newer));
    assert!(snapshot() == before, "every file is byte for byte what it was");
}

#[test]
fn a_newer_version_that_is_still_in_the_log_is_refused_too() {
    let (folder, _) = filled();
    let newer = folder.sqlite();
    newer.pragma_update(None, "user_version", SCHEMA_VERSION + 1).unwrap();
    let killed = copied_as_killed(&folder);
    let contents = || {
        let log = std::fs::read(killed.path().join("records.sqlite3-wal")).unwrap();
        (std::fs::read(killed.file()).unwrap(), log)
    };
    let before = contents();
    assert!(!before.1.is_empty());
    let refused = killed.try_open().map(|_| ());
    assert!(matches!(refused, Err(StoreError::Newer { found, .. }) if found == SCHEMA_VERSION + 1));
    assert!(contents() == before, "neither the file nor its log was changed");
}

#[test]
fn damage_met_in_use_is_looked_into_at_the_next_start() {
    let folder = Folder::new();
    let store = folder.open();
    // Too large to be read through at every start.
    for number in 0..10 {
        let row = CallRow { answer: "x".repeat(4 * 1024 * 1024), ..call(&format!("p{number}"), 1, "alpha") };
        store.call_ended(row).blocking_wait().unwrap();
    }
    store.close();
    let mut bytes = std::fs::read(folder.file()).unwrap();
    let middle = bytes.len() / 4096 / 2 * 4096;
    bytes[middle..middle + 4096].fill(0xFF);
    std::fs::write(folder.file(), &bytes).unwrap();

    let store = folder.open();
    let broken = (0..10).filter(|number| store.call(&format!("p{number}.member1")).is_err()).count();
    assert_eq!(broken, 1);
    store.close();
    let reopened = folder.try_open().unwrap();
    assert!(reopened.moved_aside.is_some());
    reopened.store.close();
    let names = names_in(&folder.path());
    assert!(!names.iter().any(|name| name.ends_with("-suspect")), "{names:?}");
    drop(folder.open());
}
