//! What others than the owner say of models, and the catalogs it was read from.

use rusqlite::{Connection, OptionalExtension, params};

use crate::{error::Fault, migrate::Step};

pub(crate) const STEPS: &[Step] = &[FIRST, SEEN];

const SEEN: Step = Step {
    version: 7,
    sql: "ALTER TABLE refreshed ADD COLUMN last_modified TEXT;
    ALTER TABLE refreshed ADD COLUMN digest TEXT;",
};

const FIRST: Step = Step {
    version: 5,
    sql: "CREATE TABLE facts (
        endpoint TEXT NOT NULL,
        served TEXT NOT NULL,
        source TEXT NOT NULL,
        body TEXT NOT NULL,
        at_ms INTEGER NOT NULL,
        PRIMARY KEY (endpoint, served, source)
    ) STRICT, WITHOUT ROWID;
    CREATE TABLE refreshed (
        source TEXT PRIMARY KEY,
        at_ms INTEGER NOT NULL,
        etag TEXT,
        body BLOB NOT NULL
    ) STRICT;",
};

/// What one source says of a model.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FactsRow {
    pub endpoint: String,
    pub served: String,
    /// `refresh`, `listing`, `learned`
    pub source: String,
    /// JSON.
    pub body: String,
    /// Unix milliseconds.
    pub at_ms: i64,
}

/// A catalog as it was last fetched.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RefreshedRow {
    pub source: String,
    /// Unix milliseconds.
    pub at_ms: i64,
    /// As its server gave them.
    pub etag: Option<String>,
    pub last_modified: Option<String>,
    /// Of what was fetched, and of who read it: the same again needs no reading.
    pub digest: Option<String>,
    pub body: Vec<u8>,
}

/// Each in place of what its source said before.
pub(crate) fn put(connection: &Connection, rows: &[FactsRow]) -> Result<(), Fault> {
    let mut statement = connection.prepare_cached(
        "INSERT OR REPLACE INTO facts (endpoint, served, source, body, at_ms) VALUES (?1, ?2, ?3, ?4, ?5)",
    )?;
    for row in rows {
        statement.execute(params![row.endpoint, row.served, row.source, row.body, row.at_ms])?;
    }
    Ok(())
}

pub(crate) fn all(connection: &Connection) -> Result<Vec<FactsRow>, Fault> {
    let sql = "SELECT endpoint, served, source, body, at_ms FROM facts";
    let mut statement = connection.prepare_cached(sql)?;
    let rows = statement.query_map([], |row| {
        Ok(FactsRow {
            endpoint: row.get(0)?,
            served: row.get(1)?,
            source: row.get(2)?,
            body: row.get(3)?,
            at_ms: row.get(4)?,
        })
    })?;
    Ok(rows.collect::<Result<_, _>>()?)
}

/// What a source says of an endpoint's models.
pub(crate) fn forget(connection: &Connection, endpoint: &str, source: &str) -> Result<(), Fault> {
    let sql = "DELETE FROM facts WHERE endpoint = ?1 AND source = ?2";
    connection.prepare_cached(sql)?.execute([endpoint, source])?;
    Ok(())
}

pub(crate) fn put_refreshed(connection: &Connection, row: &RefreshedRow) -> Result<(), Fault> {
    connection
        .prepare_cached(
            "INSERT OR REPLACE INTO refreshed (source, at_ms, etag, last_modified, digest, body)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
        )?
        .execute(params![row.source, row.at_ms, row.etag, row.last_modified, row.digest, row.body])?;
    Ok(())
}

pub(crate) fn refreshed_again(connection: &Connection, source: &str, at_ms: i64) -> Result<(), Fault> {
    let sql = "UPDATE refreshed SET at_ms = ?2 WHERE source = ?1";
    connection.prepare_cached(sql)?.execute(params![source, at_ms])?;
    Ok(())
}

pub(crate) fn refreshed(connection: &Connection, source: &str) -> Result<Option<RefreshedRow>, Fault> {
    let sql = "SELECT source, at_ms, etag, last_modified, digest, body FROM refreshed WHERE source = ?1";
    let row = connection.prepare_cached(sql)?.query_row([source], |row| {
        Ok(RefreshedRow {
            source: row.get(0)?,
            at_ms: row.get(1)?,
            etag: row.get(2)?,
            last_modified: row.get(3)?,
            digest: row.get(4)?,
            body: row.get(5)?,
        })
    });
    Ok(row.optional()?)
}
