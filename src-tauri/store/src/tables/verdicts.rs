//! Verdicts: every one that was ever given or withdrawn, and which of them stands.

use rusqlite::{Connection, OptionalExtension, Row, params, types::Type};

use crate::{
    error::Fault,
    migrate::Step,
    tables::{
        calls,
        search::{self, Text},
    },
};

/// A row is an event. `useful` is NULL where a verdict was withdrawn; at most one row of a call stands.
pub(crate) const STEPS: &[Step] = &[Step {
    version: 1,
    sql: "CREATE TABLE verdicts (
        seq INTEGER PRIMARY KEY,
        call TEXT NOT NULL,
        at_ms INTEGER NOT NULL,
        by_whom TEXT NOT NULL,
        standing INTEGER NOT NULL,
        useful INTEGER,
        note TEXT NOT NULL,
        real_claims TEXT NOT NULL,
        false_claims TEXT NOT NULL
    ) STRICT;
    CREATE UNIQUE INDEX verdicts_standing ON verdicts (call) WHERE standing = 1;
    CREATE INDEX verdicts_call ON verdicts (call, seq);",
}];

/// A verdict to give. What is absent keeps what the standing verdict says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NewVerdict {
    pub call: String,
    pub useful: bool,
    /// An empty note takes the note away.
    pub note: Option<String>,
    /// Claims that were right.
    pub real: Option<Vec<String>>,
    /// Claims that were wrong.
    pub false_claims: Option<Vec<String>>,
    /// Who gives it: `window`, a key's name, …
    pub by: String,
}

/// A verdict that was given.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VerdictRow {
    pub call: String,
    pub useful: bool,
    /// Empty when there is none.
    pub note: String,
    pub real: Vec<String>,
    pub false_claims: Vec<String>,
    pub by: String,
    /// Unix milliseconds.
    pub at_ms: i64,
}

/// What became of a verdict that was given.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum VerdictOutcome {
    /// It stands now. `recorded` is false when the same verdict stood already and nothing was written.
    Given {
        recorded: bool,
        verdict: VerdictRow,
        judged: Judged,
    },
    UnknownCall,
}

/// What was judged, and what stood before.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Judged {
    pub alias: String,
    /// Empty where the panel's own record was lost.
    pub shape: String,
    /// The verdict that stood: useful or not; `None` for none.
    pub was: Option<bool>,
}

/// What became of withdrawing a verdict.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ClearOutcome {
    Cleared(Judged),
    /// No verdict stood; nothing was written.
    NothingStood,
    UnknownCall,
}

/// One line of a call's history.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VerdictEvent {
    /// Unix milliseconds.
    pub at_ms: i64,
    pub by: String,
    /// What was given; `None` where the verdict was withdrawn.
    pub given: Option<VerdictRow>,
}

pub(crate) fn give(connection: &Connection, new: &NewVerdict, at_ms: i64) -> Result<VerdictOutcome, Fault> {
    let Some((alias, shape)) = calls::work(connection, &new.call)? else {
        return Ok(VerdictOutcome::UnknownCall);
    };
    let old = standing(connection, &new.call)?;
    let judged = Judged { alias, shape, was: old.as_ref().map(|old| old.useful) };
    let (note, real, false_claims) = match &old {
        Some(old) => (old.note.clone(), old.real.clone(), old.false_claims.clone()),
        None => Default::default(),
    };
    let verdict = VerdictRow {
        call: new.call.clone(),
        useful: new.useful,
        note: new.note.clone().unwrap_or(note),
        real: new.real.clone().unwrap_or(real),
        false_claims: new.false_claims.clone().unwrap_or(false_claims),
        by: new.by.clone(),
        at_ms,
    };
    match old {
        Some(old) if says_the_same(&old, &verdict) => {
            Ok(VerdictOutcome::Given { recorded: false, verdict: old, judged })
        }
        _ => {
            unseat(connection, &new.call)?;
            insert(connection, &verdict)?;
            Ok(VerdictOutcome::Given { recorded: true, verdict, judged })
        }
    }
}

pub(crate) fn clear(
    connection: &Connection,
    call: &str,
    by: &str,
    at_ms: i64,
) -> Result<ClearOutcome, Fault> {
    let Some((alias, shape)) = calls::work(connection, call)? else {
        return Ok(ClearOutcome::UnknownCall);
    };
    let was = standing(connection, call)?.map(|old| old.useful);
    if unseat(connection, call)? == 0 {
        return Ok(ClearOutcome::NothingStood);
    }
    connection
        .prepare_cached(
            "INSERT INTO verdicts (call, at_ms, by_whom, standing, useful, note, real_claims, false_claims)
             VALUES (?1, ?2, ?3, 0, NULL, '', '[]', '[]')",
        )?
        .execute(params![call, at_ms, by])?;
    Ok(ClearOutcome::Cleared(Judged { alias, shape, was }))
}

const COLUMNS: &str = "call, at_ms, by_whom, useful, note, real_claims, false_claims";

pub(crate) fn standing(connection: &Connection, call: &str) -> Result<Option<VerdictRow>, Fault> {
    let sql = format!("SELECT {COLUMNS} FROM verdicts WHERE call = ?1 AND standing = 1");
    let event = connection.prepare_cached(&sql)?.query_row([call], from_row).optional()?;
    Ok(event.and_then(|event| event.given))
}

/// Everything given and withdrawn on a call, oldest first.
pub(crate) fn history(connection: &Connection, call: &str) -> Result<Vec<VerdictEvent>, Fault> {
    let sql = format!("SELECT {COLUMNS} FROM verdicts WHERE call = ?1 ORDER BY seq");
    let mut statement = connection.prepare_cached(&sql)?;
    let events = statement.query_map([call], from_row)?;
    Ok(events.collect::<Result<_, _>>()?)
}

fn says_the_same(one: &VerdictRow, other: &VerdictRow) -> bool {
    one.useful == other.useful
        && one.note == other.note
        && one.real == other.real
        && one.false_claims == other.false_claims
}

fn unseat(connection: &Connection, call: &str) -> Result<usize, Fault> {
    let standing = "SELECT seq FROM verdicts WHERE call = ?1 AND standing = 1";
    search::remove(connection, Text::Note, standing, params![call])?;
    let sql = "UPDATE verdicts SET standing = 0 WHERE call = ?1 AND standing = 1";
    Ok(connection.prepare_cached(sql)?.execute([call])?)
}

fn insert(connection: &Connection, verdict: &VerdictRow) -> Result<(), Fault> {
    connection
        .prepare_cached(
            "INSERT INTO verdicts (call, at_ms, by_whom, standing, useful, note, real_claims, false_claims)
             VALUES (?1, ?2, ?3, 1, ?4, ?5, ?6, ?7)",
        )?
        .execute(params![
            verdict.call,
            verdict.at_ms,
            verdict.by,
            verdict.useful,
            verdict.note,
            claims_to_db(&verdict.real)?,
            claims_to_db(&verdict.false_claims)?,
        ])?;
    let mut text = verdict.note.clone();
    for claim in verdict.real.iter().chain(&verdict.false_claims) {
        text.push('\n');
        text.push_str(claim);
    }
    search::add(connection, Text::Note, connection.last_insert_rowid(), &text)
}

fn from_row(row: &Row<'_>) -> rusqlite::Result<VerdictEvent> {
    let at_ms = row.get(1)?;
    let by: String = row.get(2)?;
    let given = match row.get::<_, Option<bool>>(3)? {
        None => None,
        Some(useful) => Some(VerdictRow {
            call: row.get(0)?,
            useful,
            note: row.get(4)?,
            real: claims_from_db(row, 5)?,
            false_claims: claims_from_db(row, 6)?,
            by: by.clone(),
            at_ms,
        }),
    };
    Ok(VerdictEvent { at_ms, by, given })
}

fn claims_to_db(claims: &[String]) -> Result<String, Fault> {
    serde_json::to_string(claims)
        .map_err(|error| Fault::Sqlite(rusqlite::Error::ToSqlConversionFailure(error.into())))
}

fn claims_from_db(row: &Row<'_>, at: usize) -> rusqlite::Result<Vec<String>> {
    serde_json::from_str(&row.get::<_, String>(at)?)
        .map_err(|error| rusqlite::Error::FromSqlConversionFailure(at, Type::Text, error.into()))
}
