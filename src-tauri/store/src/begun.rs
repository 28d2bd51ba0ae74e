//! Turns that are on their way: one place in a file for each, where what is known of it stands as it would be recorded
//! if the process ended now. Nothing is written when a turn ends: its place is another's next, and the next start
//! passes over whatever the records have by then. So the file is as large as the most turns there were at once.

use std::{
    fs::File,
    io,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use rusqlite::Connection;

use crate::{
    StoreError, TurnRow,
    ahead::take_in,
    files::{self, BEGUN},
};

/// Bytes of a place. What tells too much for it goes without what explains it.
const PLACE: usize = 4096;

pub(crate) struct Begun {
    path: PathBuf,
    file: File,
    places: Mutex<Places>,
}

#[derive(Default)]
struct Places {
    free: Vec<u64>,
    made: u64,
}

/// A turn's place, for as long as it is on its way. It is dropped after its end was handed to the store.
#[derive(Debug)]
pub struct BegunTurn {
    begun: Arc<Begun>,
    place: u64,
}

impl BegunTurn {
    /// Notes what is to be recorded of the turn if the process ends now; texts are not. In place of what was noted
    /// before. Where it cannot be, the log says so: the turn goes on.
    pub fn note(&self, row: &TurnRow) {
        let noted = line(row).and_then(|line| write_at(&self.begun.file, &line, self.place * PLACE as u64));
        if let Err(error) = noted {
            tracing::warn!(%error, "a turn that has begun could not be noted");
        }
    }
}

impl Drop for BegunTurn {
    fn drop(&mut self) {
        self.begun.lock().free.push(self.place);
    }
}

impl Begun {
    /// Opens the folder's places, and records the turns that a process left in them when it ended. Those that were
    /// written ahead are to be in the database by now.
    pub(crate) fn open(folder: &Path, connection: &mut Connection, ahead: bool) -> io::Result<Begun> {
        let path = folder.join(BEGUN);
        let file = files::touch_private_file(&path)?;
        let rows = read(&file)?;
        let taken = match ahead {
            true => Err("turns that had ended are not in the records yet".to_owned()),
            false => take_in(connection, &rows).map_err(|fault| StoreError::from(fault).to_string()),
        };
        let mut places = Places::default();
        match taken {
            Ok(()) => file.set_len(0)?,
            // They keep their places for the next start.
            Err(why) => {
                places.made = file.metadata()?.len().div_ceil(PLACE as u64);
                if !rows.is_empty() {
                    tracing::error!(
                        why,
                        turns = rows.len(),
                        "turns that were cut off wait for the next start"
                    );
                }
            }
        }
        Ok(Begun { path, file, places: Mutex::new(places) })
    }

    pub(crate) fn begin(self: &Arc<Begun>) -> BegunTurn {
        let mut places = self.lock();
        let place = places.free.pop().unwrap_or_else(|| {
            places.made += 1;
            places.made - 1
        });
        BegunTurn { begun: self.clone(), place }
    }

    /// The database is closed: when no turn is on its way the file goes.
    pub(crate) fn close(&self) {
        let places = self.lock();
        if places.free.len() as u64 == places.made {
            let _ = std::fs::remove_file(&self.path);
        }
    }

    fn lock(&self) -> MutexGuard<'_, Places> {
        self.places.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl std::fmt::Debug for Begun {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Begun").finish_non_exhaustive()
    }
}

/// A row as it stands in its place: JSON, and the end of its line.
fn line(row: &TurnRow) -> io::Result<Vec<u8>> {
    let mut line = serde_json::to_vec(row)?;
    if line.len() >= PLACE {
        let nothing = || "[]".to_owned();
        let bare = TurnRow {
            why_json: "{}".to_owned(),
            skipped_json: nothing(),
            lossy_json: nothing(),
            failed_over_json: nothing(),
            ..row.clone()
        };
        line = serde_json::to_vec(&bare)?;
    }
    line.push(b'\n');
    if line.len() > PLACE {
        return Err(io::Error::other("it tells too much"));
    }
    Ok(line)
}

#[cfg(unix)]
fn write_at(file: &File, bytes: &[u8], at: u64) -> io::Result<()> {
    std::os::unix::fs::FileExt::write_all_at(file, bytes, at)
}

#[cfg(windows)]
fn write_at(file: &File, mut bytes: &[u8], mut at: u64) -> io::Result<()> {
    while !bytes.is_empty() {
        let written = std::os::windows::fs::FileExt::seek_write(file, bytes, at)?;
        bytes = &bytes[written..];
        at += written as u64;
    }
    Ok(())
}

/// What stands in the places. Behind a line's end is what is left of a longer one.
fn read(mut file: &File) -> io::Result<Vec<TurnRow>> {
    let mut all = Vec::new();
    io::Read::read_to_end(&mut file, &mut all)?;
    let lines = all.chunks(PLACE).filter_map(|place| place.split(|byte| *byte == b'\n').next());
    // A place that nothing was written into yet holds zeros.
    let lines = lines.filter(|line| line.first().is_some_and(|byte| *byte != 0));
    Ok(lines
        .filter_map(|line| {
            let row = serde_json::from_slice(line);
            row.inspect_err(|error| tracing::warn!(%error, "a turn that had begun could not be read")).ok()
        })
        .collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{ConversationRow, migrate, tables::turns};

    fn row(n: u32) -> TurnRow {
        let conversation = ConversationRow { id: "r1".to_owned(), ..ConversationRow::default() };
        TurnRow { conversation, n, status: "cancelled".to_owned(), ..TurnRow::default() }
    }

    fn database() -> Connection {
        let mut connection = Connection::open_in_memory().unwrap();
        migrate::migrate(&mut connection, migrate::TABLES).unwrap();
        connection
    }

    fn turns(connection: &Connection) -> Vec<(u32, String)> {
        let mut statement = connection.prepare("SELECT n, alias FROM turns ORDER BY n").unwrap();
        let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?))).unwrap();
        rows.map(Result::unwrap).collect()
    }

    #[test]
    fn what_was_on_its_way_is_recorded_at_the_next_start_and_what_had_ended_is_left_as_it_is() {
        let folder = tempfile::tempdir().unwrap();
        let mut connection = database();
        let begun = Arc::new(Begun::open(folder.path(), &mut connection, false).unwrap());
        let (ended, first, silent) = (begun.begin(), begun.begin(), begun.begin());
        ended.note(&row(1));
        turns::end(&connection, &TurnRow { alias: "alpha".to_owned(), ..row(1) }).unwrap();
        first.note(&TurnRow { alias: "a longer name than that".to_owned(), ..row(2) });
        first.note(&TurnRow { alias: "beta".to_owned(), ..row(2) });
        drop(ended);
        // Whoever begins now takes the place of the one that ended.
        let third = begun.begin();
        third.note(&row(3));
        assert_eq!(std::fs::metadata(folder.path().join(BEGUN)).unwrap().len() / PLACE as u64, 1);
        std::mem::forget((first, silent, third));

        // Turns that ended are not in the records yet: nobody knows which of these did.
        drop(Begun::open(folder.path(), &mut connection, true).unwrap());
        assert_eq!(turns(&connection).len(), 1);
        let begun = Begun::open(folder.path(), &mut connection, false).unwrap();
        let wanted = [(1, "alpha".to_owned()), (2, "beta".to_owned()), (3, String::new())];
        assert_eq!(turns(&connection), wanted);
        assert_eq!(std::fs::metadata(folder.path().join(BEGUN)).unwrap().len(), 0);
        begun.close();
        assert!(!folder.path().join(BEGUN).exists());
    }

    #[test]
    fn a_place_that_was_torn_costs_no_other() {
        let folder = tempfile::tempdir().unwrap();
        let begun = Arc::new(Begun::open(folder.path(), &mut database(), false).unwrap());
        let turns_begun: Vec<BegunTurn> = (0..3).map(|_| begun.begin()).collect();
        turns_begun[0].note(&row(1));
        turns_begun[2].note(&row(3));
        write_at(&begun.file, b"{\"n\":2", PLACE as u64).unwrap();
        drop(begun);
        let mut connection = database();
        Begun::open(folder.path(), &mut connection, false).unwrap();
        assert_eq!(turns(&connection).iter().map(|(n, _)| *n).collect::<Vec<_>>(), [1, 3]);
    }

    #[test]
    fn what_explains_too_much_goes_without_it() {
        let long = "x".repeat(PLACE);
        let told: TurnRow =
            serde_json::from_slice(&line(&TurnRow { why_json: long.clone(), ..row(1) }).unwrap()).unwrap();
        assert_eq!(
            told,
            TurnRow {
                why_json: "{}".into(),
                skipped_json: "[]".into(),
                lossy_json: "[]".into(),
                failed_over_json: "[]".into(),
                ..row(1)
            }
        );
        assert!(line(&TurnRow { alias: long, ..row(1) }).is_err());
    }
}
