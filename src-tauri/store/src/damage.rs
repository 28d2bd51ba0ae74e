//! Telling a sound file from a damaged one, before anything is written to it.

use std::{
    fs::File,
    io::{self, Read},
    path::Path,
};

use rusqlite::Connection;

use crate::{
    error::is_damage,
    files::{self, beside},
};

/// The end of the name of the file that says: damage was seen in here.
const SUSPECT: &str = "-suspect";

/// Files up to this size are read through at every open; larger ones only when there is a reason.
const ALWAYS_CHECKED: u64 = 32 * 1024 * 1024;

const MAGIC: &[u8; 16] = b"SQLite format 3\0";
const HEADER: usize = 100;

/// What lies where the records should be.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Found {
    Nothing,
    /// A database, by its head; and the schema version that the head names.
    Database {
        version: u32,
    },
    /// Something that is no database.
    Damaged,
}

/// Looks at the file's first bytes only.
pub(crate) fn look(file: &Path) -> io::Result<Found> {
    let mut head = Vec::with_capacity(HEADER);
    match File::open(file) {
        Ok(opened) => opened.take(HEADER as u64).read_to_end(&mut head)?,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Found::Nothing),
        Err(error) => return Err(error),
    };
    if head.is_empty() {
        return Ok(Found::Nothing);
    }
    if head.len() < HEADER || !head.starts_with(MAGIC) {
        return Ok(Found::Damaged);
    }
    let version = head[60..64].iter().fold(0, |version, byte| version << 8 | u32::from(*byte));
    Ok(Found::Database { version })
}

/// How thoroughly a database is to be read before it is believed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Check {
    /// Its list of tables.
    Glance,
    /// Every page.
    Pages,
    /// Every page, and every index against its table.
    Everything,
}

/// The check that a file needs, by what lies beside it. Ask before opening it.
pub(crate) fn check_needed(file: &Path) -> Check {
    let small = std::fs::metadata(file).is_ok_and(|file| file.len() <= ALWAYS_CHECKED);
    // A log that is left over is what a process leaves that did not end well.
    let ended_badly = std::fs::metadata(beside(file, "-wal")).is_ok_and(|log| log.len() > 0);
    if beside(file, SUSPECT).exists() {
        Check::Everything
    } else if small || ended_badly {
        Check::Pages
    } else {
        Check::Glance
    }
}

/// Notes, for the next open, that SQLite found damage while the file was in use.
pub(crate) fn suspect(file: &Path) {
    if let Err(error) = files::touch_private_file(&beside(file, SUSPECT)) {
        tracing::warn!(%error, "damage in the records could not be noted for the next start");
    }
}

/// The file was checked, or is no longer here.
pub(crate) fn forget_suspicion(file: &Path) {
    let _ = std::fs::remove_file(beside(file, SUSPECT));
}

/// Reads a database and tells whether it is sound.
pub(crate) fn is_sound(connection: &Connection, check: Check) -> rusqlite::Result<bool> {
    let check = match check {
        Check::Glance => "SELECT 'ok' FROM sqlite_schema",
        Check::Pages => "PRAGMA quick_check(1)",
        Check::Everything => "PRAGMA integrity_check(1)",
    };
    match connection.query_row(check, [], |row| row.get::<_, String>(0)) {
        Ok(verdict) => Ok(verdict == "ok"),
        Err(rusqlite::Error::QueryReturnedNoRows) => Ok(true),
        Err(error) if is_damage(&error) => Ok(false),
        Err(error) => Err(error),
    }
}
