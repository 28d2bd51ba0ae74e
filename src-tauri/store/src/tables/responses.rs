//! Responses that are kept so that a later one can go on from them: one row each, what was new in its input and
//! what was answered.
//!
//! A conversation is a chain of rows, each naming the one before, so that nothing is kept twice. A row that a
//! later one goes on from stays for as long as that one does; deleted or too old, it is hidden until then.

use rusqlite::{Connection, OptionalExtension, params};

use crate::{error::Fault, migrate::Step, tables::PRUNED_AT_ONCE};

/// No foreign key to itself: a row may have been lost on a full disk, those after it are kept nevertheless.
pub(crate) const STEPS: &[Step] = &[FIRST, CALLER];

const CALLER: Step =
    Step { version: 8, sql: "ALTER TABLE responses ADD COLUMN caller TEXT NOT NULL DEFAULT 'local';" };

const FIRST: Step = Step {
    version: 2,
    sql: "CREATE TABLE responses (
        seq INTEGER PRIMARY KEY,
        id TEXT NOT NULL UNIQUE,
        at_ms INTEGER NOT NULL,
        previous TEXT,
        deleted INTEGER NOT NULL DEFAULT 0,
        input TEXT NOT NULL,
        body TEXT NOT NULL
    ) STRICT;
    CREATE INDEX responses_at ON responses (at_ms);
    CREATE INDEX responses_previous ON responses (previous) WHERE previous IS NOT NULL;",
};

/// A response as it is kept.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ResponseRow {
    /// `resp_…`, unique and not to be guessed.
    pub id: String,
    /// Unix milliseconds.
    pub at_ms: i64,
    /// Whose it is: a gateway key's name, or `local`. Nobody else finds it.
    pub caller: String,
    /// The id of the response that it goes on from.
    pub previous: Option<String>,
    /// What its request added to the conversation: a JSON array.
    pub input: String,
    /// What its caller got: a JSON object.
    pub body: String,
}

/// What a response goes on from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ResponseChain {
    /// From the first response to the one named.
    Known(Vec<ResponseRow>),
    /// The one named is not kept.
    Unknown,
    /// One before it is not kept any more.
    Broken,
    /// It holds more text than was allowed.
    TooLarge,
}

pub(crate) fn insert(connection: &Connection, row: &ResponseRow) -> Result<(), Fault> {
    connection
        .prepare_cached(
            "INSERT INTO responses (id, at_ms, previous, input, body, caller) VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
        )?
        .execute(params![row.id, row.at_ms, row.previous, row.input, row.body, row.caller])
        .map_err(|error| Fault::constraint(error, || format!("response {} was kept already", row.id)))?;
    Ok(())
}

/// The response and all before it; the one named must be the caller's, not deleted, and not older than `since_ms`.
pub(crate) fn chain(
    connection: &Connection,
    (id, caller): (&str, &str),
    since_ms: i64,
    most_bytes: usize,
) -> Result<ResponseChain, Fault> {
    let mut statement = connection.prepare_cached(
        "SELECT id, at_ms, previous, input, body, deleted, caller FROM responses WHERE id = ?1",
    )?;
    let mut rows: Vec<ResponseRow> = Vec::new();
    let mut bytes = 0_usize;
    let mut next = Some(id.to_owned());
    while let Some(id) = next {
        let found = statement
            .query_row([&id], |row| {
                let response = ResponseRow {
                    id: row.get(0)?,
                    at_ms: row.get(1)?,
                    previous: row.get(2)?,
                    input: row.get(3)?,
                    body: row.get(4)?,
                    caller: row.get(6)?,
                };
                Ok((response, row.get::<_, bool>(5)?))
            })
            .optional()?;
        let is_first = rows.is_empty();
        let row = match found {
            Some((row, deleted))
                if !is_first || (!deleted && row.at_ms >= since_ms && row.caller == caller) =>
            {
                row
            }
            _ if is_first => return Ok(ResponseChain::Unknown),
            _ => return Ok(ResponseChain::Broken),
        };
        bytes = bytes.saturating_add(row.input.len() + row.body.len());
        if bytes > most_bytes {
            return Ok(ResponseChain::TooLarge);
        }
        next = row.previous.clone();
        rows.push(row);
    }
    rows.reverse();
    Ok(ResponseChain::Known(rows))
}

/// What the caller got, unless it is deleted, another caller's, or older than `since_ms`.
pub(crate) fn body(
    connection: &Connection,
    (id, caller): (&str, &str),
    since_ms: i64,
) -> Result<Option<String>, Fault> {
    let sql = "SELECT body FROM responses WHERE id = ?1 AND deleted = 0 AND at_ms >= ?2 AND caller = ?3";
    Ok(connection
        .prepare_cached(sql)?
        .query_row(params![id, since_ms, caller], |row| row.get(0))
        .optional()?)
}

/// Whether it was there for its caller to delete. It goes at once, with those deleted before it that only it went on from; when
/// a later one goes on from it, it is hidden.
pub(crate) fn delete(
    connection: &Connection,
    (id, caller): (&str, &str),
    since_ms: i64,
) -> Result<bool, Fault> {
    let hidden = connection
        .prepare_cached(
            "UPDATE responses SET deleted = 1 WHERE id = ?1 AND deleted = 0 AND at_ms >= ?2 AND caller = ?3",
        )?
        .execute(params![id, since_ms, caller])?;
    if hidden == 0 {
        return Ok(false);
    }
    let mut last = connection.prepare_cached(
        "DELETE FROM responses WHERE id = ?1 AND deleted = 1
             AND NOT EXISTS (SELECT 1 FROM responses later WHERE later.previous = ?1)
         RETURNING previous",
    )?;
    let mut next = Some(id.to_owned());
    while let Some(id) = next {
        next = last.query_row([id], |row| row.get(0)).optional()?.flatten();
    }
    Ok(true)
}

/// Removes responses made before an instant that no later one goes on from, a slice of them at a time. Those
/// they went on from are of the next slice.
pub(crate) fn prune(connection: &Connection, before_ms: i64) -> Result<u64, Fault> {
    let removed = connection
        .prepare_cached(
            "DELETE FROM responses WHERE seq IN
                 (SELECT seq FROM responses old WHERE at_ms < ?1
                      AND NOT EXISTS (SELECT 1 FROM responses later WHERE later.previous = old.id) LIMIT ?2)",
        )?
        .execute(params![before_ms, PRUNED_AT_ONCE])?;
    Ok(removed as u64)
}
