//! Opening a data folder's records: the lock, a damaged file set aside, a newer one left alone, an older one
//! brought up to date.

use std::{
    fs::{File, TryLockError},
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use rusqlite::{Connection, OpenFlags, config::DbConfig};

use crate::{
    StoreError, backup,
    damage::{self, Check, Found},
    error::is_damage,
    files::{self, LOCK, RECORDS},
    migrate::{self, Steps},
};

/// The time: Unix milliseconds. There is no clock in here.
pub type Now = Arc<dyn Fn() -> i64 + Send + Sync>;

/// What to open.
#[derive(Clone)]
pub struct OpenOptions {
    /// The data folder. The records are its file `records.sqlite3`.
    pub path: PathBuf,
    pub now: Now,
    /// Caps the file at so many pages of 4 KB: a full disk, for tests.
    pub max_pages: Option<u32>,
}

/// A damaged file that was moved out of the way.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MovedAside {
    /// Where it is now.
    pub to: PathBuf,
    /// What can be offered in its stead: see [`restore`](crate::restore).
    pub newest_backup: Option<PathBuf>,
}

/// The writer's connection, ready to write.
pub(crate) struct Ready {
    pub(crate) connection: Connection,
    /// Held for as long as the records are open.
    pub(crate) lock: File,
    pub(crate) moved_aside: Option<MovedAside>,
}

pub(crate) fn open(folder: &Path, now_ms: i64, tables: Steps) -> Result<Ready, StoreError> {
    let lock = take_lock(folder)?;
    let file = folder.join(RECORDS);
    let mut moved_aside = None;
    let connection = match open_file(&file, folder, now_ms, tables)? {
        Some(connection) => connection,
        None => {
            let to = files::dated(folder, "records.corrupt", now_ms);
            files::move_database(&file, &to).map_err(|error| StoreError::io(&file, error))?;
            damage::forget_suspicion(&file);
            tracing::error!(to = %to.display(), "the records were damaged and were moved aside");
            moved_aside = Some(MovedAside { to, newest_backup: backup::newest(folder) });
            open_file(&file, folder, now_ms, tables)?
                .ok_or_else(|| StoreError::io(&file, "a new records file is damaged at once"))?
        }
    };
    Ok(Ready { connection, lock, moved_aside })
}

/// The lock that says whose records these are. The operating system lets go of it when the process ends,
/// however it ends.
pub(crate) fn take_lock(folder: &Path) -> Result<File, StoreError> {
    files::create_private_folder(folder).map_err(|error| StoreError::io(folder, error))?;
    let path = folder.join(LOCK);
    let lock = files::touch_private_file(&path).map_err(|error| StoreError::io(&path, error))?;
    match lock.try_lock() {
        Ok(()) => Ok(lock),
        Err(TryLockError::WouldBlock) => Err(StoreError::Locked),
        Err(TryLockError::Error(error)) => Err(StoreError::io(&path, error)),
    }
}

/// `None` when the file is damaged, or none.
fn open_file(
    file: &Path,
    folder: &Path,
    now_ms: i64,
    tables: Steps,
) -> Result<Option<Connection>, StoreError> {
    let known = migrate::newest(tables);
    if file.is_dir() {
        return Ok(None);
    }
    let found = damage::look(file).map_err(|error| StoreError::io(file, error))?;
    match found {
        Found::Damaged => return Ok(None),
        Found::Database { version } if version > known => {
            return Err(StoreError::Newer { found: version, known });
        }
        Found::Database { .. } | Found::Nothing => {}
    }
    let check = damage::check_needed(file);
    files::touch_private_file(file).map_err(|error| StoreError::io(file, error))?;
    match prepare(file, folder, now_ms, tables, check) {
        Ok(connection) => Ok(connection),
        Err(Unready::Sqlite(error)) if is_damage(&error) => Ok(None),
        Err(Unready::Sqlite(error)) => Err(StoreError::io(file, error)),
        Err(Unready::Store(error)) => Err(error),
    }
}

enum Unready {
    Sqlite(rusqlite::Error),
    Store(StoreError),
}

impl From<rusqlite::Error> for Unready {
    fn from(error: rusqlite::Error) -> Unready {
        Unready::Sqlite(error)
    }
}

fn prepare(
    file: &Path,
    folder: &Path,
    now_ms: i64,
    tables: Steps,
    check: Check,
) -> Result<Option<Connection>, Unready> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let mut connection = Connection::open_with_flags(file, flags)?;
    connection.busy_timeout(Duration::from_secs(5))?;
    // Until this file is known to be ours and sound, closing it must not write to it.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
    if !damage::is_sound(&connection, check)? {
        return Ok(None);
    }
    damage::forget_suspicion(file);
    let version = migrate::version(&connection)?;
    let known = migrate::newest(tables);
    if version > known {
        return Err(Unready::Store(StoreError::Newer { found: version, known }));
    }
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, false)?;
    connection.pragma_update(None, "journal_mode", "WAL")?;
    connection.pragma_update(None, "synchronous", "NORMAL")?;
    connection.pragma_update(None, "trusted_schema", false)?;
    // What a transaction may have to undo stays in memory: a full disk must not fail there.
    connection.pragma_update(None, "temp_store", "MEMORY")?;
    // Text that is pruned is overwritten, not only unlinked.
    connection.pragma_update(None, "secure_delete", true)?;
    // A log that one huge answer has blown up is cut back at the next checkpoint.
    connection.pragma_update(None, "journal_size_limit", 64 * 1024 * 1024)?;
    connection.set_prepared_statement_cache_capacity(64);
    if version < known {
        if version > 0 {
            backup::make(&connection, folder, now_ms).map_err(Unready::Store)?;
        }
        migrate::migrate(&mut connection, tables)?;
    }
    Ok(Some(connection))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::migrate::Step;

    const FIRST: &[Step] = &[Step { version: 1, sql: "CREATE TABLE a (x TEXT) STRICT" }];
    const SECOND: &[Step] = &[FIRST[0], Step { version: 2, sql: "ALTER TABLE a ADD COLUMN y TEXT" }];
    const THIRD: &[Step] = &[Step { version: 3, sql: "CREATE TABLE b AS SELECT x, y FROM a" }];
    const BROKEN: &[Step] =
        &[Step { version: 3, sql: "DELETE FROM a; CREATE TABLE b (z TEXT); INSERT INTO nowhere VALUES (1)" }];

    fn version_and_rows(connection: &Connection, table: &str) -> (u32, Vec<String>) {
        let mut statement = connection.prepare(&format!("SELECT x FROM {table} ORDER BY x")).unwrap();
        let rows = statement.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect();
        (migrate::version(connection).unwrap(), rows)
    }

    #[test]
    fn an_older_file_is_backed_up_and_brought_up_to_date() {
        let folder = tempfile::tempdir().unwrap();
        let first = open(folder.path(), 0, &[FIRST]).unwrap();
        first.connection.execute_batch("INSERT INTO a VALUES ('kept')").unwrap();
        drop(first);
        assert_eq!(backup::newest(folder.path()), None, "a new file needs no backup");

        // Two versions at once, the later one relying on the earlier.
        let third = open(folder.path(), 0, &[SECOND, THIRD]).unwrap();
        assert_eq!(version_and_rows(&third.connection, "b"), (3, vec!["kept".to_owned()]));
        drop(third);
        let backup = backup::newest(folder.path()).unwrap();
        assert_eq!(backup, folder.path().join("backups/records-19700101-000000.sqlite3"));
        let backup = Connection::open(backup).unwrap();
        assert_eq!(version_and_rows(&backup, "a"), (1, vec!["kept".to_owned()]));

        let again = open(folder.path(), 1000, &[SECOND, THIRD]).unwrap();
        assert_eq!(version_and_rows(&again.connection, "b").0, 3);
        assert_eq!(std::fs::read_dir(folder.path().join("backups")).unwrap().count(), 1);
        drop(again);
        let older = open(folder.path(), 2000, &[SECOND]).map(|_| ());
        assert_eq!(older, Err(StoreError::Newer { found: 3, known: 2 }));
    }

    #[test]
    fn a_migration_that_fails_changes_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let second = open(folder.path(), 0, &[SECOND]).unwrap();
        second.connection.execute_batch("INSERT INTO a VALUES ('kept', '')").unwrap();
        drop(second);
        let broken = open(folder.path(), 0, &[SECOND, BROKEN]).map(|_| ());
        assert!(matches!(broken, Err(StoreError::Io { .. })), "{broken:?}");
        let second = open(folder.path(), 0, &[SECOND]).unwrap();
        assert_eq!(version_and_rows(&second.connection, "a"), (2, vec!["kept".to_owned()]));
        assert!(backup::newest(folder.path()).is_some());
    }
}
