//! A few read-only connections, taken in turn. Under WAL they neither wait for the writer nor hold it up.

use std::{
    path::PathBuf,
    sync::{Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use rusqlite::{Connection, OpenFlags};

use crate::{
    StoreError, damage,
    error::{Fault, is_damage},
};

/// Connections kept open between reads; more are made when more read at once.
const KEPT_OPEN: usize = 4;

pub(crate) struct Readers {
    file: PathBuf,
    /// `None` once closed.
    idle: Mutex<Option<Vec<Connection>>>,
}

impl Readers {
    pub(crate) fn new(file: PathBuf) -> Readers {
        Readers { file, idle: Mutex::new(Some(Vec::new())) }
    }

    /// Reads from one consistent state of the records.
    pub(crate) fn read<T>(
        &self,
        read: impl FnOnce(&Connection) -> Result<T, Fault>,
    ) -> Result<T, StoreError> {
        let idle = self.lock().as_mut().ok_or(StoreError::Closed)?.pop();
        let connection = match idle {
            Some(connection) => connection,
            None => self.connect()?,
        };
        let transaction = connection.unchecked_transaction()?;
        let outcome = read(&transaction);
        drop(transaction);
        if let Some(idle) = self.lock().as_mut()
            && idle.len() < KEPT_OPEN
        {
            idle.push(connection);
        }
        if let Err(Fault::Sqlite(error)) = &outcome
            && is_damage(error)
        {
            damage::suspect(&self.file);
        }
        Ok(outcome?)
    }

    /// A connection for work that takes long. `Closed` once closed.
    pub(crate) fn connect(&self) -> Result<Connection, StoreError> {
        if self.lock().is_none() {
            return Err(StoreError::Closed);
        }
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection = Connection::open_with_flags(&self.file, flags)?;
        connection.busy_timeout(Duration::from_secs(5))?;
        connection.pragma_update(None, "trusted_schema", false)?;
        Ok(connection)
    }

    pub(crate) fn close(&self) {
        *self.lock() = None;
    }

    fn lock(&self) -> MutexGuard<'_, Option<Vec<Connection>>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
