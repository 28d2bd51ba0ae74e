//! Who may read the files, and who may open them.

use store::StoreError;

use crate::harness::{Folder, names_in, write_panel};

#[cfg(unix)]
#[test]
fn only_the_owner_may_read() {
    use std::os::unix::fs::PermissionsExt;

    use crate::harness::files_in;

    let folder = Folder::new();
    let store = folder.open();
    write_panel(&store, "p1", "alpha");
    store.backup().blocking_wait().unwrap();
    let mode = |path: &std::path::Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&folder.path()), 0o700);
    assert_eq!(
        names_in(&folder.path()),
        [
            "backups",
            "records.ahead",
            "records.begun",
            "records.lock",
            "records.sqlite3",
            "records.sqlite3-shm",
            "records.sqlite3-wal"
        ]
    );
    for file in files_in(&folder.path()).into_iter().chain(folder.backups()) {
        let expected = if file.is_dir() { 0o700 } else { 0o600 };
        assert_eq!(mode(&file), expected, "{}", file.display());
    }
}

#[cfg(unix)]
#[test]
fn a_records_file_open_to_others_is_closed_to_them() {
    use std::os::unix::fs::PermissionsExt;

    let folder = Folder::new();
    folder.open().close();
    std::fs::set_permissions(folder.file(), PermissionsExt::from_mode(0o644)).unwrap();
    let _store = folder.open();
    assert_eq!(std::fs::metadata(folder.file()).unwrap().permissions().mode() & 0o777, 0o600);
}

/// A folder where a file should be is moved aside under a dated name, whatever is in it.
#[test]
fn what_is_no_file_is_moved_aside() {
    for name in ["records.begun", "records.ahead", "records.sqlite3"] {
        let folder = Folder::new();
        for again in 0..2 {
            std::fs::create_dir_all(folder.path().join(name).join("inside")).unwrap();
            let store = folder.try_open().unwrap().store;
            let id = format!("p{again}");
            write_panel(&store, &id, "alpha");
            assert!(store.panel(&id).unwrap().is_some());
            store.close();
            let _ = std::fs::remove_file(folder.path().join(name));
            let stem = if name == "records.sqlite3" { "records.corrupt-" } else { name };
            let aside = names_in(&folder.path()).into_iter().filter(|it| it.starts_with(stem));
            let aside: Vec<String> = aside.filter(|it| it != name).collect();
            assert_eq!(aside.len(), again + 1, "{aside:?}");
            assert!(aside.iter().all(|it| folder.path().join(it).join("inside").is_dir()), "{aside:?}");
            assert!(aside[0].contains("-2"), "a year: {aside:?}");
        }
    }
}

#[test]
fn the_same_records_are_open_once() {
    let folder = Folder::new();
    let store = folder.open();
    assert!(matches!(folder.try_open(), Err(StoreError::Locked)));
    write_panel(&store, "p1", "alpha");
    store.close();
    let other = folder.open();
    assert!(other.panel("p1").unwrap().is_some(), "closing lets go, even while a clone lives");
    drop(store);
    drop(other);
    drop(folder.open());
}

#[test]
fn closing_leaves_one_file() {
    let folder = Folder::new();
    let store = folder.open();
    write_panel(&store, "p1", "alpha");
    store.close();
    assert_eq!(names_in(&folder.path()), ["records.lock", "records.sqlite3"]);
}

#[test]
fn a_folder_that_cannot_be_made_is_named() {
    let folder = Folder::new();
    std::fs::write(folder.path(), "a file where the folder should be").unwrap();
    match folder.try_open().map(|_| ()) {
        Err(StoreError::Io { path, .. }) => assert_eq!(path, folder.path()),
        other => panic!("{other:?}"),
    }
}
