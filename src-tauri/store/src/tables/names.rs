//! Names that were given up, and models of a listing that nobody wants to see.

use rusqlite::{Connection, OptionalExtension, params};

use crate::{error::Fault, migrate::Step};

pub(crate) const STEPS: &[Step] = &[Step {
    version: 5,
    sql: "CREATE TABLE names (
        alias TEXT PRIMARY KEY,
        now TEXT,
        at_ms INTEGER NOT NULL
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX names_renamed ON names (at_ms) WHERE now IS NOT NULL;
    CREATE TABLE dismissed (
        endpoint TEXT NOT NULL,
        served TEXT NOT NULL,
        at_ms INTEGER NOT NULL,
        PRIMARY KEY (endpoint, served)
    ) STRICT, WITHOUT ROWID;",
}];

/// An alias that a model once had: it is not given to another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NameRow {
    pub alias: String,
    /// What that model is called now; `None` where it is not there any more.
    pub now: Option<String>,
    /// When the name was given up: Unix milliseconds.
    pub at_ms: i64,
}

/// The alias was renamed just now. Names that led to it lead on; one that is taken up again leads nowhere.
pub(crate) fn renamed(connection: &Connection, from: &str, to: &str, at_ms: i64) -> Result<(), Fault> {
    connection.prepare_cached("UPDATE names SET now = ?2 WHERE now = ?1")?.execute([from, to])?;
    connection.prepare_cached("DELETE FROM names WHERE alias = ?1")?.execute([to])?;
    put(connection, from, Some(to), at_ms)
}

/// The alias was given up just now.
pub(crate) fn given_up(connection: &Connection, alias: &str, at_ms: i64) -> Result<(), Fault> {
    connection.prepare_cached("UPDATE names SET now = NULL WHERE now = ?1")?.execute([alias])?;
    put(connection, alias, None, at_ms)
}

fn put(connection: &Connection, alias: &str, now: Option<&str>, at_ms: i64) -> Result<(), Fault> {
    connection
        .prepare_cached("INSERT OR REPLACE INTO names (alias, now, at_ms) VALUES (?1, ?2, ?3)")?
        .execute(params![alias, now, at_ms])?;
    Ok(())
}

/// Whether any model was renamed from an instant on. Almost always none was, which an index tells that then holds
/// nothing.
pub(crate) fn any_renamed(connection: &Connection, since_ms: i64) -> Result<bool, Fault> {
    let since = "SELECT 1 FROM names WHERE now IS NOT NULL AND at_ms >= ?1 LIMIT 1";
    Ok(connection.prepare_cached(since)?.exists([since_ms])?)
}

/// What an alias is called now that something of an instant is written under: work that was begun before a rename ends
/// after it.
pub(crate) fn now(connection: &Connection, alias: &str, at_ms: i64) -> Result<String, Fault> {
    if any_renamed(connection, at_ms)? {
        let sql = "SELECT now FROM names WHERE alias = ?1 AND now IS NOT NULL AND at_ms >= ?2";
        let now = connection.prepare_cached(sql)?.query_row(params![alias, at_ms], |row| row.get(0));
        if let Some(now) = now.optional()? {
            return Ok(now);
        }
    }
    Ok(alias.to_owned())
}

/// By name.
pub(crate) fn all(connection: &Connection) -> Result<Vec<NameRow>, Fault> {
    let mut statement = connection.prepare_cached("SELECT alias, now, at_ms FROM names ORDER BY alias")?;
    let names = statement
        .query_map([], |row| Ok(NameRow { alias: row.get(0)?, now: row.get(1)?, at_ms: row.get(2)? }))?;
    Ok(names.collect::<Result<_, _>>()?)
}

pub(crate) fn dismiss(
    connection: &Connection,
    endpoint: &str,
    served: &[String],
    at_ms: i64,
) -> Result<(), Fault> {
    let sql = "INSERT OR IGNORE INTO dismissed (endpoint, served, at_ms) VALUES (?1, ?2, ?3)";
    let mut statement = connection.prepare_cached(sql)?;
    for served in served {
        statement.execute(params![endpoint, served, at_ms])?;
    }
    Ok(())
}

pub(crate) fn restore(connection: &Connection, endpoint: &str, served: &[String]) -> Result<(), Fault> {
    let sql = "DELETE FROM dismissed WHERE endpoint = ?1 AND served = ?2";
    let mut statement = connection.prepare_cached(sql)?;
    for served in served {
        statement.execute([endpoint, served])?;
    }
    Ok(())
}

/// The served names of an endpoint's models that were dismissed, in order.
pub(crate) fn dismissed(connection: &Connection, endpoint: &str) -> Result<Vec<String>, Fault> {
    let sql = "SELECT served FROM dismissed WHERE endpoint = ?1 ORDER BY served";
    let mut statement = connection.prepare_cached(sql)?;
    let served = statement.query_map([endpoint], |row| row.get(0))?;
    Ok(served.collect::<Result<_, _>>()?)
}
