//! What can go wrong, in words an owner can act on.

use std::path::{Path, PathBuf};

use rusqlite::ErrorCode;

/// Why the store could not do what it was asked.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum StoreError {
    #[error(
        "these records were written by a newer version (format {found}, this one knows {known}); nothing was \
         changed: install the newer version, or choose another data folder"
    )]
    Newer { found: u32, known: u32 },
    #[error("another process has these records open: stop it, or choose another data folder")]
    Locked,
    #[error("{}: {why}", path.display())]
    Io { path: PathBuf, why: String },
    /// The record contradicts what is there: an id that was used before, a panel that never started.
    #[error("{0}")]
    Conflict(String),
    /// The write is kept in memory and made as soon as the disk allows it.
    #[error("recording has stopped; this is kept in memory until the disk can be written again")]
    RecordingStopped,
    /// The write was not made and will not be: while recording is stopped, changes are refused.
    #[error("the records cannot be written: {why}")]
    Unwritable { why: String },
    /// The write was given up: too much was waiting already.
    #[error("too many records are waiting to be written; this one was lost")]
    Lost,
    #[error("the records are closed")]
    Closed,
    #[error("the records could not be used: {0}")]
    Sql(String),
}

impl StoreError {
    pub(crate) fn io(path: &Path, error: impl std::fmt::Display) -> StoreError {
        StoreError::Io { path: path.to_owned(), why: error.to_string() }
    }
}

/// What one piece of work inside a transaction ends with when it does not end well.
#[derive(Debug)]
pub(crate) enum Fault {
    Sqlite(rusqlite::Error),
    Refused(StoreError),
}

impl Fault {
    pub(crate) fn conflict(why: impl Into<String>) -> Fault {
        Fault::Refused(StoreError::Conflict(why.into()))
    }

    /// A constraint that the work ran into is a conflict, told as `why`; anything else stays what it is.
    pub(crate) fn constraint(error: rusqlite::Error, why: impl FnOnce() -> String) -> Fault {
        match error.sqlite_error_code() {
            Some(ErrorCode::ConstraintViolation) => Fault::conflict(why()),
            _ => Fault::Sqlite(error),
        }
    }

    /// Whether the file, not the work, is at fault.
    pub(crate) fn stops_recording(&self) -> Option<&'static str> {
        match self {
            Fault::Sqlite(error) => why_recording_stops(error),
            Fault::Refused(_) => None,
        }
    }
}

impl From<rusqlite::Error> for Fault {
    fn from(error: rusqlite::Error) -> Fault {
        Fault::Sqlite(error)
    }
}

impl From<Fault> for StoreError {
    fn from(fault: Fault) -> StoreError {
        match fault {
            Fault::Sqlite(error) => StoreError::Sql(error.to_string()),
            Fault::Refused(error) => error,
        }
    }
}

impl From<rusqlite::Error> for StoreError {
    fn from(error: rusqlite::Error) -> StoreError {
        StoreError::Sql(error.to_string())
    }
}

/// Why no write can be made at all, if that is what an error says.
pub(crate) fn why_recording_stops(error: &rusqlite::Error) -> Option<&'static str> {
    Some(match error.sqlite_error_code()? {
        ErrorCode::DiskFull => "the disk is full: free some space",
        ErrorCode::SystemIoFailure => "the disk cannot be written: check it, or free some space",
        ErrorCode::ReadOnly | ErrorCode::PermissionDenied => {
            "the records file may not be written: check its permissions"
        }
        ErrorCode::CannotOpen => "the records file cannot be opened: check the data folder",
        ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked | ErrorCode::FileLockingProtocolFailed => {
            "another program holds the records file: close it"
        }
        ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase => {
            "the records file is damaged: restart, and it is moved aside"
        }
        ErrorCode::OutOfMemory => "there is not enough memory",
        _ => return None,
    })
}

/// Whether an error says that the file is not a database, or no longer a sound one.
pub(crate) fn is_damage(error: &rusqlite::Error) -> bool {
    matches!(error.sqlite_error_code(), Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase))
}
