//! Backups: whole copies in `backups/`, the newest seven kept.

use std::path::{Path, PathBuf};

use rusqlite::{Connection, OpenFlags};

use crate::{
    StoreError,
    damage::{Found, look},
    files::{self, BACKUPS, RECORDS, beside},
    open::take_lock,
};

const KEPT: usize = 7;
const STEM: &str = "records";
/// A copy that is still being made, and so is no backup yet.
const UNFINISHED: &str = "unfinished";

/// Copies a database as it is now and forgets the oldest copies. The copy appears under its name only when it
/// is whole.
pub(crate) fn make(connection: &Connection, folder: &Path, now_ms: i64) -> Result<PathBuf, StoreError> {
    let backups = folder.join(BACKUPS);
    files::create_private_folder(&backups).map_err(|error| StoreError::io(&backups, error))?;
    let unfinished = backups.join(UNFINISHED);
    let finished = files::dated(&backups, STEM, now_ms);
    let copied = copy(connection, &unfinished, &finished);
    if copied.is_err() {
        let _ = std::fs::remove_file(&unfinished);
    }
    copied?;
    for old in all(folder).into_iter().rev().skip(KEPT) {
        if let Err(error) = std::fs::remove_file(&old) {
            tracing::warn!(file = %old.display(), %error, "an old backup could not be removed");
        }
    }
    Ok(finished)
}

fn copy(connection: &Connection, unfinished: &Path, finished: &Path) -> Result<(), StoreError> {
    let io = |error| StoreError::io(unfinished, error);
    // VACUUM INTO wants no file or an empty one; ours has its mode before it has any content.
    let file = files::touch_private_file(unfinished).map_err(io)?;
    file.set_len(0).map_err(io)?;
    let name = unfinished
        .to_str()
        .ok_or_else(|| StoreError::io(unfinished, "this path is not Unicode: choose another data folder"))?;
    connection.execute("VACUUM INTO ?1", [name]).map_err(|error| StoreError::io(unfinished, error))?;
    // VACUUM INTO does not sync what it writes.
    file.sync_all().map_err(io)?;
    std::fs::rename(unfinished, finished).map_err(|error| StoreError::io(finished, error))
}

/// The backups there are, oldest first.
fn all(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = std::fs::read_dir(folder.join(BACKUPS)) else { return Vec::new() };
    let mut backups: Vec<PathBuf> = entries
        .flatten()
        .map(|entry| entry.path())
        .filter(|path| {
            let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
            name.starts_with("records-") && name.ends_with(".sqlite3")
        })
        .collect();
    // Names are dates. A number after the date comes after the date alone.
    backups.sort_by_cached_key(|path| path.with_extension("").into_os_string());
    backups
}

pub(crate) fn newest(folder: &Path) -> Option<PathBuf> {
    all(folder).pop()
}

/// Puts a backup in the place of a data folder's records, which must not be open. What was there is moved
/// aside; gives where to, if anything was.
///
/// Errors: [`StoreError::Locked`] while the records are open; [`StoreError::Io`] when the backup is no
/// database or a file cannot be moved, and then the records are what they were.
pub fn restore(folder: &Path, backup: &Path, now_ms: i64) -> Result<Option<PathBuf>, StoreError> {
    let _lock = take_lock(folder)?;
    check(backup)?;
    let records = folder.join(RECORDS);
    let unfinished = folder.join(UNFINISHED);
    let copied = files::touch_private_file(&unfinished)
        .and_then(|_| std::fs::copy(backup, &unfinished))
        .and_then(|_| files::touch_private_file(&unfinished)?.sync_all());
    if let Err(error) = copied {
        let _ = std::fs::remove_file(&unfinished);
        return Err(StoreError::io(&unfinished, error));
    }
    let mut replaced = None;
    if records.exists() {
        let aside = files::dated(folder, "records.replaced", now_ms);
        files::move_database(&records, &aside).map_err(|error| StoreError::io(&records, error))?;
        replaced = Some(aside);
    } else {
        // A log without its database would be taken for the restored one's.
        let _ = std::fs::remove_file(beside(&records, "-wal"));
    }
    std::fs::rename(&unfinished, &records).map_err(|error| StoreError::io(&records, error))?;
    Ok(replaced)
}

fn check(backup: &Path) -> Result<(), StoreError> {
    match look(backup).map_err(|error| StoreError::io(backup, error))? {
        Found::Database { .. } => {}
        Found::Nothing | Found::Damaged => {
            return Err(StoreError::io(backup, "this is no backup of records"));
        }
    }
    let connection = Connection::open_with_flags(backup, OpenFlags::SQLITE_OPEN_READ_ONLY)?;
    let verdict: String = connection
        .query_row("PRAGMA integrity_check(1)", [], |row| row.get(0))
        .map_err(|error| StoreError::io(backup, error))?;
    if verdict != "ok" {
        return Err(StoreError::io(backup, "this backup is damaged"));
    }
    Ok(())
}
