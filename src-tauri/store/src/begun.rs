//! What is on its way: one place in a file for each turn, and for each call to a provider that belongs to none, where
//! what is known of it stands as it would be recorded if the process ended now. Nothing is written when it ends: its
//! place is another's once the row that replaces it is on disk, and the next start passes over whatever the records have
//! by then. So the file is as large as the most there was at once, on its way or waiting to be written.

use std::{
    collections::{HashMap, hash_map::Entry},
    fs::File,
    io,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use rusqlite::Connection;
use serde::{Deserialize, Serialize};

use crate::{
    LedgerRow, StoreError, TurnRow, ahead,
    error::Fault,
    files::{self, BEGUN},
    tables::ledger,
};

/// Bytes of a place. What tells too much for it goes without what explains it.
const PLACE: usize = 4096;

/// Of these the last: how often the call that is noted was sent, where that was more than once.
const AGAIN: usize = 64;

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

/// A turn's place, until it is dropped. Whoever has it hands it in with the turn's end
/// ([`Store::holding`](crate::Store::holding)), so that it is another's only when that is on disk.
#[derive(Debug)]
pub struct BegunTurn(Place);

/// The place of a call of its own, as a turn's.
#[derive(Debug)]
pub struct BegunCall(Place);

/// Where it is told that a call is sent once more, for as long as somebody has its place.
#[derive(Debug)]
pub struct BegunAgain {
    begun: Arc<Begun>,
    at: u64,
}

#[derive(Debug)]
struct Place {
    begun: Arc<Begun>,
    at: u64,
}

/// What stands in a place.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Noted<Turn, Call> {
    Turn(Turn),
    Call(Call),
}

impl BegunTurn {
    /// Notes what is to be recorded of the turn if the process ends now; texts are not. In place of what was noted
    /// before. Where it cannot be, the log says so: the turn goes on.
    pub fn note(&self, row: &TurnRow) {
        self.0.write(turn_line(row));
    }

    /// For the call that its newest note ends with, or that the next one will.
    pub fn again(&self) -> BegunAgain {
        self.0.again()
    }
}

impl BegunCall {
    pub fn again(&self) -> BegunAgain {
        self.0.again()
    }
}

impl BegunAgain {
    /// The call that is noted with this instant (Unix milliseconds) has been sent so often.
    pub fn sent(&self, at_ms: i64, times: u32) {
        let at = (self.at + 1) * PLACE as u64 - AGAIN as u64;
        written(line(&Again { at_ms, times }, AGAIN).and_then(|line| write_at(&self.begun.file, &line, at)));
    }
}

/// At the end of a place. What is left there of a call that had the place before is of another instant.
#[derive(Serialize, Deserialize)]
struct Again {
    at_ms: i64,
    times: u32,
}

impl Place {
    fn write(&self, line: io::Result<Vec<u8>>) {
        written(line.and_then(|line| write_at(&self.begun.file, &line, self.at * PLACE as u64)));
    }

    fn again(&self) -> BegunAgain {
        BegunAgain { begun: self.begun.clone(), at: self.at }
    }
}

fn written(written: io::Result<()>) {
    if let Err(error) = written {
        tracing::warn!(%error, "what has begun could not be noted");
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.begun.lock().free.push(self.at);
    }
}

impl Begun {
    /// Opens the folder's places, and records what a process left in them when it ended. Turns that were written ahead
    /// are to be in the database by now.
    pub(crate) fn open(
        folder: &Path,
        connection: &mut Connection,
        ahead: bool,
        now_ms: i64,
    ) -> io::Result<Begun> {
        let path = folder.join(BEGUN);
        let file = files::touch_or_move_aside(&path, now_ms)?;
        let noted = read(&file)?;
        let taken = match ahead {
            true => Err("turns that had ended are not in the records yet".to_owned()),
            false => take_in(connection, &noted).map_err(|fault| StoreError::from(fault).to_string()),
        };
        let mut places = Places::default();
        match taken {
            Ok(()) => file.set_len(0)?,
            // They keep their places for the next start.
            Err(why) => {
                places.made = file.metadata()?.len().div_ceil(PLACE as u64);
                if !noted.is_empty() {
                    tracing::error!(why, noted = noted.len(), "what was cut off waits for the next start");
                }
            }
        }
        Ok(Begun { path, file, places: Mutex::new(places) })
    }

    pub(crate) fn turn(self: &Arc<Begun>) -> BegunTurn {
        BegunTurn(self.place())
    }

    pub(crate) fn call(self: &Arc<Begun>, row: &LedgerRow) -> BegunCall {
        let place = self.place();
        place.write(line(&Noted::<(), _>::Call(row), PLACE - AGAIN));
        BegunCall(place)
    }

    fn place(self: &Arc<Begun>) -> Place {
        let mut places = self.lock();
        let at = places.free.pop().unwrap_or_else(|| {
            places.made += 1;
            places.made - 1
        });
        Place { begun: self.clone(), at }
    }

    /// The database is closed: when nothing is on its way the file goes.
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

fn turn_line(row: &TurnRow) -> io::Result<Vec<u8>> {
    line(&Noted::<_, ()>::Turn(row), PLACE - AGAIN).or_else(|_| {
        let nothing = || "[]".to_owned();
        let bare = TurnRow {
            why_json: "{}".to_owned(),
            skipped_json: nothing(),
            lossy_json: nothing(),
            failed_over_json: nothing(),
            ..row.clone()
        };
        line(&Noted::<_, ()>::Turn(&bare), PLACE - AGAIN)
    })
}

/// As it stands in its place: JSON, and the end of its line.
fn line(noted: &impl Serialize, most: usize) -> io::Result<Vec<u8>> {
    let mut line = serde_json::to_vec(noted)?;
    line.push(b'\n');
    if line.len() > most {
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
fn read(mut file: &File) -> io::Result<Vec<Noted<TurnRow, LedgerRow>>> {
    let mut all = Vec::new();
    io::Read::read_to_end(&mut file, &mut all)?;
    Ok(all.chunks(PLACE).filter_map(in_place).collect())
}

fn in_place(place: &[u8]) -> Option<Noted<TurnRow, LedgerRow>> {
    let first_line = |bytes: &[u8]| bytes.split(|byte| *byte == b'\n').next().map(<[u8]>::to_vec);
    // One that nothing was written into yet holds zeros.
    let line = first_line(place).filter(|line| line.first().is_some_and(|byte| *byte != 0))?;
    let read = serde_json::from_slice::<Noted<TurnRow, LedgerRow>>(&line);
    let mut noted =
        read.inspect_err(|error| tracing::warn!(%error, "what had begun could not be read")).ok()?;
    let again = place.get(PLACE - AGAIN..).and_then(first_line);
    if let Some(again) = again.and_then(|line| serde_json::from_slice(&line).ok()) {
        noted.count(&again);
    }
    Some(noted)
}

impl Noted<TurnRow, LedgerRow> {
    /// Of a turn it was the last call.
    fn count(&mut self, again: &Again) {
        let (call, turn) = match self {
            Noted::Turn(row) => (row.spent.last_mut(), Some(&mut row.attempts)),
            Noted::Call(row) => (Some(row), None),
        };
        let Some(call) = call.filter(|call| call.at_ms == again.at_ms) else { return };
        let more = again.times.saturating_sub(call.attempts);
        call.attempts += more;
        if let Some(attempts) = turn {
            *attempts = attempts.saturating_add(more);
        }
    }
}

/// Gives the database what it does not have.
fn take_in(connection: &mut Connection, noted: &[Noted<TurnRow, LedgerRow>]) -> Result<(), Fault> {
    let (mut turns, mut calls) = (Vec::new(), Vec::new());
    for noted in noted {
        match noted {
            Noted::Turn(row) => turns.push(row),
            Noted::Call(row) => calls.push(row),
        }
    }
    ahead::take_in(connection, turns)?;
    let transaction = connection.transaction()?;
    // Of calls that are alike, as many as the ledger has have ended.
    let mut ended: HashMap<_, u64> = HashMap::new();
    for row in calls {
        let known = match ended.entry((
            row.at_ms,
            &row.connection,
            &row.served,
            &row.purpose,
            (&row.collection, &row.caller),
        )) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(place) => place.insert(ledger::alike(&transaction, row)?),
        };
        match known.checked_sub(1) {
            Some(others) => *known = others,
            None => ledger::insert(&transaction, row)?,
        }
    }
    transaction.commit()?;
    Ok(())
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
        let begun = Arc::new(Begun::open(folder.path(), &mut connection, false, 0).unwrap());
        let (ended, first, silent) = (begun.turn(), begun.turn(), begun.turn());
        ended.note(&row(1));
        turns::end(&connection, &TurnRow { alias: "alpha".to_owned(), ..row(1) }).unwrap();
        first.note(&TurnRow { alias: "a longer name than that".to_owned(), ..row(2) });
        first.note(&TurnRow { alias: "beta".to_owned(), ..row(2) });
        drop(ended);
        // Whoever begins now takes the place of the one that ended.
        let third = begun.turn();
        third.note(&row(3));
        assert_eq!(std::fs::metadata(folder.path().join(BEGUN)).unwrap().len() / PLACE as u64, 1);
        std::mem::forget((first, silent, third));

        // Turns that ended are not in the records yet: nobody knows which of these did.
        drop(Begun::open(folder.path(), &mut connection, true, 0).unwrap());
        assert_eq!(turns(&connection).len(), 1);
        let begun = Begun::open(folder.path(), &mut connection, false, 0).unwrap();
        let wanted = [(1, "alpha".to_owned()), (2, "beta".to_owned()), (3, String::new())];
        assert_eq!(turns(&connection), wanted);
        assert_eq!(std::fs::metadata(folder.path().join(BEGUN)).unwrap().len(), 0);
        begun.close();
        assert!(!folder.path().join(BEGUN).exists());
    }

    #[test]
    fn a_place_that_was_torn_costs_no_other() {
        let folder = tempfile::tempdir().unwrap();
        let begun = Arc::new(Begun::open(folder.path(), &mut database(), false, 0).unwrap());
        let turns_begun: Vec<BegunTurn> = (0..3).map(|_| begun.turn()).collect();
        turns_begun[0].note(&row(1));
        turns_begun[2].note(&row(3));
        write_at(&begun.file, b"{\"n\":2", PLACE as u64).unwrap();
        drop(begun);
        let mut connection = database();
        Begun::open(folder.path(), &mut connection, false, 0).unwrap();
        assert_eq!(turns(&connection).iter().map(|(n, _)| *n).collect::<Vec<_>>(), [1, 3]);
    }

    #[test]
    fn calls_of_their_own_are_in_the_ledger_once() {
        let folder = tempfile::tempdir().unwrap();
        let mut connection = database();
        let begun = Arc::new(Begun::open(folder.path(), &mut connection, false, 0).unwrap());
        let row = |at_ms, purpose: &str, status: &str| LedgerRow {
            at_ms,
            purpose: purpose.to_owned(),
            connection: "local".to_owned(),
            served: "m".to_owned(),
            status: status.to_owned(),
            ..LedgerRow::default()
        };
        // Two at the same instant, of which one has ended; one that has ended and was renamed since; one that has not.
        let noted =
            [row(7, "panel", "cancelled"), row(7, "panel", "cancelled"), row(8, "probe", "cancelled")];
        let places: Vec<BegunCall> = noted.iter().map(|row| begun.call(row)).collect();
        let last = begun.call(&row(9, "merge", "cancelled"));
        ledger::insert(&connection, &row(7, "panel", "ok")).unwrap();
        ledger::insert(&connection, &LedgerRow { alias: "new".to_owned(), ..row(8, "probe", "ok") }).unwrap();
        drop(places);
        std::mem::forget(last);

        let kept = |connection: &Connection| {
            let mut statement =
                connection.prepare("SELECT at_ms, status FROM ledger ORDER BY at_ms, status").unwrap();
            let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?))).unwrap();
            rows.map(Result::unwrap).collect::<Vec<(i64, String)>>()
        };
        let wanted = [(7, "cancelled"), (7, "ok"), (8, "ok"), (9, "cancelled")];
        let wanted = wanted.map(|(at_ms, status)| (at_ms, status.to_owned()));
        for _ in 0..2 {
            Begun::open(folder.path(), &mut connection, false, 0).unwrap();
            assert_eq!(kept(&connection), wanted);
        }
    }

    /// Two callers ask the same at the same instant, and the first of them is answered.
    #[test]
    fn a_call_that_was_cut_off_is_its_own_callers() {
        let folder = tempfile::tempdir().unwrap();
        let mut connection = database();
        let begun = Arc::new(Begun::open(folder.path(), &mut connection, false, 0).unwrap());
        let row = |caller: &str, status: &str| LedgerRow {
            at_ms: 7,
            purpose: "panel".to_owned(),
            status: status.to_owned(),
            caller: caller.to_owned(),
            ..LedgerRow::default()
        };
        let _places = ["desk", "lab"].map(|caller| begun.call(&row(caller, "cancelled")));
        ledger::insert(&connection, &row("lab", "ok")).unwrap();
        Begun::open(folder.path(), &mut connection, false, 0).unwrap();
        let mut statement = connection.prepare("SELECT caller, status FROM ledger ORDER BY caller").unwrap();
        let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?))).unwrap();
        let kept: Vec<(String, String)> = rows.map(Result::unwrap).collect();
        let wanted = [("desk", "cancelled"), ("lab", "ok")];
        assert_eq!(kept, wanted.map(|(caller, status)| (caller.to_owned(), status.to_owned())));
    }

    #[test]
    fn what_was_sent_again_counts_as_often_and_only_of_the_call_that_is_noted() {
        let folder = tempfile::tempdir().unwrap();
        let mut connection = database();
        let begun = Arc::new(Begun::open(folder.path(), &mut connection, false, 0).unwrap());
        let call = |at_ms| LedgerRow { at_ms, attempts: 1, ..LedgerRow::default() };
        let two = TurnRow { attempts: 2, spent: vec![call(1), call(2)], ..row(1) };
        let (turn, own) = (begun.turn(), begun.call(&call(3)));
        // Whichever comes first, the note or what is told.
        turn.again().sent(1, 9);
        turn.again().sent(2, 2);
        turn.note(&two);
        own.again().sent(3, 2);
        own.again().sent(3, 4);
        drop((begun.call(&call(4)), own));
        // In the place of one that was sent again stands another.
        let next = begun.call(&call(5));
        std::mem::forget((turn, next));
        let sent = |noted| match noted {
            Noted::Turn(TurnRow { attempts, spent, .. }) => {
                (attempts, spent.iter().map(|call| call.attempts).collect())
            }
            Noted::Call(LedgerRow { attempts, at_ms, .. }) => (attempts, vec![at_ms as u32]),
        };
        let file = File::open(folder.path().join(BEGUN)).unwrap();
        let noted: Vec<(u32, Vec<u32>)> = read(&file).unwrap().into_iter().map(sent).collect();
        assert_eq!(noted, [(3, vec![1, 2]), (1, vec![5]), (1, vec![4])]);
    }

    #[test]
    fn what_explains_too_much_goes_without_it() {
        let long = "x".repeat(PLACE);
        let line = turn_line(&TurnRow { why_json: long.clone(), ..row(1) }).unwrap();
        let told: Noted<TurnRow, LedgerRow> = serde_json::from_slice(&line).unwrap();
        assert_eq!(
            told,
            Noted::Turn(TurnRow {
                why_json: "{}".into(),
                skipped_json: "[]".into(),
                lossy_json: "[]".into(),
                failed_over_json: "[]".into(),
                ..row(1)
            })
        );
        assert!(turn_line(&TurnRow { alias: long, ..row(1) }).is_err());
    }
}
