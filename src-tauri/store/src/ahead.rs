//! Turns, written ahead of the database: a line each, handed to the operating system before an agent's reply ends. The
//! database takes them in a moment later, many in one transaction. A process that is killed in between finds the lines
//! at its next start.

use std::{
    fs::File,
    io::{self, BufRead, BufReader, Write},
    path::{Path, PathBuf},
    sync::{Mutex, MutexGuard, PoisonError},
};

use rusqlite::Connection;

use crate::{
    StoreError, TurnRow,
    error::Fault,
    files::{self, AHEAD},
    tables::turns,
};

pub(crate) struct Ahead {
    path: PathBuf,
    state: Mutex<State>,
}

struct State {
    file: File,
    /// Up to here the file's lines are whole.
    length: u64,
    /// Lines that the database does not have yet.
    held: u64,
}

impl Ahead {
    /// Opens the folder's lines, and gives the database those that it does not have.
    pub(crate) fn open(folder: &Path, connection: &mut Connection, now_ms: i64) -> io::Result<Ahead> {
        let path = folder.join(AHEAD);
        let mut file = files::touch_or_move_aside(&path, now_ms)?;
        let rows = read(&file)?;
        let held = match take_in(connection, &rows) {
            Ok(()) => {
                file.set_len(0)?;
                0
            }
            // A full disk, say: the lines stay for the next start, and new ones go behind them.
            Err(fault) => {
                let error = StoreError::from(fault);
                tracing::error!(%error, turns = rows.len(), "turns that were written ahead wait for the next start");
                rows.len() as u64
            }
        };
        let mut length = io::Seek::seek(&mut file, io::SeekFrom::End(0))?;
        if length > 0 {
            // Behind a line that a kill has torn the next would be torn too.
            file.write_all(b"\n")?;
            length += 1;
        }
        Ok(Ahead { path, state: Mutex::new(State { file, length, held }) })
    }

    /// Whether the turn is with the operating system now. When it is not, it has to be waited for otherwise.
    pub(crate) fn note(&self, row: &TurnRow) -> bool {
        let Ok(mut line) = serde_json::to_vec(row) else { return false };
        line.push(b'\n');
        let mut state = self.lock();
        match state.file.write_all(&line) {
            Ok(()) => {
                state.length += line.len() as u64;
                state.held += 1;
                true
            }
            Err(error) => {
                tracing::warn!(%error, "a turn could not be written ahead");
                state.cut_back();
                false
            }
        }
    }

    /// So many lines are in the database, or known to be none of its own.
    pub(crate) fn taken(&self, lines: usize) {
        let mut state = self.lock();
        state.held = state.held.saturating_sub(lines as u64);
        if state.held == 0 && state.length > 0 {
            state.length = 0;
            state.cut_back();
        }
    }

    /// The database is closed: a file that holds nothing goes.
    pub(crate) fn close(&self) {
        if !self.is_ahead() {
            // Some systems keep a file for as long as it is open: it is empty, then.
            let _ = std::fs::remove_file(&self.path);
        }
    }

    /// Whether the database is behind.
    pub(crate) fn is_ahead(&self) -> bool {
        self.lock().held > 0
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    /// Takes off what stands behind the last whole line.
    fn cut_back(&mut self) {
        let length = self.length;
        let cut = self
            .file
            .set_len(length)
            .and_then(|()| io::Seek::seek(&mut self.file, io::SeekFrom::Start(length)));
        if let Err(error) = cut {
            tracing::warn!(%error, "the turns written ahead could not be cut back");
        }
    }
}

/// The whole lines; one that a kill has torn is the last.
fn read(file: &File) -> io::Result<Vec<TurnRow>> {
    let mut rows = Vec::new();
    for line in BufReader::new(file).split(b'\n') {
        let line = line?;
        if line.is_empty() {
            continue;
        }
        match serde_json::from_slice(&line) {
            Ok(row) => rows.push(row),
            Err(error) => tracing::warn!(%error, "a line written ahead could not be read"),
        }
    }
    Ok(rows)
}

/// Gives the database the turns that it does not have.
pub(crate) fn take_in<'r>(
    connection: &mut Connection,
    rows: impl IntoIterator<Item = &'r TurnRow>,
) -> Result<(), Fault> {
    let transaction = connection.transaction()?;
    for row in rows {
        if !turns::is_known(&transaction, &row.conversation.id, row.n)? {
            turns::end(&transaction, row)?;
        }
    }
    transaction.commit()?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{ConversationRow, migrate};

    fn row(n: u32) -> TurnRow {
        let conversation = ConversationRow { id: "r1".to_owned(), ..ConversationRow::default() };
        TurnRow { conversation, n, status: "ok".to_owned(), ..TurnRow::default() }
    }

    fn database() -> Connection {
        let mut connection = Connection::open_in_memory().unwrap();
        migrate::migrate(&mut connection, migrate::TABLES).unwrap();
        connection
    }

    fn turns(connection: &Connection) -> Vec<u32> {
        let mut statement = connection.prepare("SELECT n FROM turns ORDER BY n").unwrap();
        statement.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect()
    }

    #[test]
    fn what_the_database_does_not_have_it_gets_at_the_next_start() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join(AHEAD);
        let mut connection = database();
        let ahead = Ahead::open(folder.path(), &mut connection, 0).unwrap();
        assert!((1..=3).all(|n| ahead.note(&row(n))));
        assert!(ahead.is_ahead());
        // The process ends here, with one turn of three in the database and a line torn.
        turns::end(&connection, &row(2)).unwrap();
        drop(ahead);
        let torn = [std::fs::read(&file).unwrap(), b"{\"n\":4".to_vec()].concat();
        std::fs::write(&file, torn).unwrap();

        let ahead = Ahead::open(folder.path(), &mut connection, 0).unwrap();
        assert_eq!(turns(&connection), [1, 2, 3]);
        assert_eq!(std::fs::metadata(&file).unwrap().len(), 0);
        assert!(!ahead.is_ahead());
        assert!(ahead.note(&row(4)));
        assert!(std::fs::read_to_string(&file).unwrap().starts_with("{\"conversation\""));
    }

    #[test]
    fn what_cannot_be_taken_in_stays_and_tears_nothing_behind_it() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join(AHEAD);
        let ahead = Ahead::open(folder.path(), &mut database(), 0).unwrap();
        assert!(ahead.note(&row(1)));
        drop(ahead);
        let torn = [std::fs::read(&file).unwrap(), b"{\"n\":2".to_vec()].concat();
        std::fs::write(&file, torn).unwrap();
        // A database that takes nothing.
        let ahead = Ahead::open(folder.path(), &mut Connection::open_in_memory().unwrap(), 0).unwrap();
        assert!(ahead.is_ahead() && ahead.note(&row(3)));
        ahead.taken(1);
        drop(ahead);

        let mut connection = database();
        Ahead::open(folder.path(), &mut connection, 0).unwrap();
        assert_eq!(turns(&connection), [1, 3]);
    }

    #[test]
    fn the_lines_go_when_the_database_has_them_all() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join(AHEAD);
        let ahead = Ahead::open(folder.path(), &mut database(), 0).unwrap();
        ahead.note(&row(1));
        ahead.note(&row(2));
        ahead.taken(1);
        assert_eq!(std::fs::read_to_string(&file).unwrap().lines().count(), 2);
        ahead.taken(1);
        assert_eq!(std::fs::metadata(&file).unwrap().len(), 0);
        ahead.note(&row(3));
        assert_eq!(std::fs::read_to_string(&file).unwrap().lines().count(), 1);
    }
}
