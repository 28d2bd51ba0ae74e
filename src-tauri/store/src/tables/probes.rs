//! What the last probe of each kind found of a model.

use rusqlite::{Connection, Row, params};

use crate::{
    error::Fault,
    migrate::Step,
    tables::{calls::finite, known, to_db},
};

pub(crate) const STEPS: &[Step] = &[
    Step {
        version: 5,
        sql: "CREATE TABLE probes (
        endpoint TEXT NOT NULL,
        served TEXT NOT NULL,
        step TEXT NOT NULL,
        at_ms INTEGER NOT NULL,
        ok INTEGER NOT NULL,
        class TEXT,
        seconds REAL,
        first_token_s REAL,
        tokens_a_s REAL,
        PRIMARY KEY (endpoint, served, step)
    ) STRICT, WITHOUT ROWID;",
    },
    Step {
        version: 7,
        sql: "ALTER TABLE probes ADD COLUMN tokens_in INTEGER;
    ALTER TABLE probes ADD COLUMN tokens_out INTEGER;
    ALTER TABLE probes ADD COLUMN said TEXT NOT NULL DEFAULT '';",
    },
];

#[derive(Clone, Debug, Default, PartialEq)]
pub struct ProbeRow {
    pub endpoint: String,
    pub served: String,
    /// `word`, `word_again`, `large`, `tool`, `vision`
    pub step: String,
    /// Unix milliseconds.
    pub at_ms: i64,
    /// What was asked for was seen.
    pub ok: bool,
    /// The class of failure; `None` where an answer came.
    pub class: Option<String>,
    pub seconds: Option<f64>,
    pub first_token_s: Option<f64>,
    pub tokens_a_s: Option<f64>,
    pub tokens_in: Option<u64>,
    pub tokens_out: Option<u64>,
    /// What it said, or what is wrong. Redacted already.
    pub said: String,
}

pub(crate) fn put(connection: &Connection, row: &ProbeRow) -> Result<(), Fault> {
    connection
        .prepare_cached(
            "INSERT OR REPLACE INTO probes
                 (endpoint, served, step, at_ms, ok, class, seconds, first_token_s, tokens_a_s, tokens_in,
                  tokens_out, said)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)",
        )?
        .execute(params![
            row.endpoint,
            row.served,
            row.step,
            row.at_ms,
            row.ok,
            row.class,
            row.seconds.map(finite),
            row.first_token_s.map(finite),
            row.tokens_a_s.map(finite),
            row.tokens_in.map(to_db),
            row.tokens_out.map(to_db),
            row.said,
        ])?;
    Ok(())
}

pub(crate) fn forget(connection: &Connection, endpoint: &str) -> Result<(), Fault> {
    connection.prepare_cached("DELETE FROM probes WHERE endpoint = ?1")?.execute([endpoint])?;
    Ok(())
}

const COLUMNS: &str = "SELECT endpoint, served, step, at_ms, ok, class, seconds, first_token_s, tokens_a_s,
    tokens_in, tokens_out, said FROM probes";

pub(crate) fn all(connection: &Connection) -> Result<Vec<ProbeRow>, Fault> {
    let mut statement = connection.prepare_cached(COLUMNS)?;
    Ok(statement.query_map([], read)?.collect::<Result<_, _>>()?)
}

/// Of one model.
pub(crate) fn of(connection: &Connection, endpoint: &str, served: &str) -> Result<Vec<ProbeRow>, Fault> {
    let sql = format!("{COLUMNS} WHERE endpoint = ?1 AND served = ?2");
    let mut statement = connection.prepare_cached(&sql)?;
    Ok(statement.query_map([endpoint, served], read)?.collect::<Result<_, _>>()?)
}

fn read(row: &Row<'_>) -> rusqlite::Result<ProbeRow> {
    Ok(ProbeRow {
        endpoint: row.get(0)?,
        served: row.get(1)?,
        step: row.get(2)?,
        at_ms: row.get(3)?,
        ok: row.get(4)?,
        class: row.get(5)?,
        seconds: row.get(6)?,
        first_token_s: row.get(7)?,
        tokens_a_s: row.get(8)?,
        tokens_in: known(row, 9)?,
        tokens_out: known(row, 10)?,
        said: row.get(11)?,
    })
}
