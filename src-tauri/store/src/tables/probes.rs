//! What the last probe of each kind found of a model.

use rusqlite::{Connection, params};

use crate::{error::Fault, migrate::Step, tables::calls::finite};

pub(crate) const STEPS: &[Step] = &[Step {
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
}];

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
}

pub(crate) fn put(connection: &Connection, row: &ProbeRow) -> Result<(), Fault> {
    connection
        .prepare_cached(
            "INSERT OR REPLACE INTO probes
                 (endpoint, served, step, at_ms, ok, class, seconds, first_token_s, tokens_a_s)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
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
        ])?;
    Ok(())
}

pub(crate) fn forget(connection: &Connection, endpoint: &str) -> Result<(), Fault> {
    connection.prepare_cached("DELETE FROM probes WHERE endpoint = ?1")?.execute([endpoint])?;
    Ok(())
}

pub(crate) fn all(connection: &Connection) -> Result<Vec<ProbeRow>, Fault> {
    let mut statement = connection.prepare_cached(
        "SELECT endpoint, served, step, at_ms, ok, class, seconds, first_token_s, tokens_a_s FROM probes",
    )?;
    let rows = statement.query_map([], |row| {
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
        })
    })?;
    Ok(rows.collect::<Result<_, _>>()?)
}
