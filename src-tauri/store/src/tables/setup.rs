//! The owner's set-up: documents by kind and name. What they mean is not known here.

use rusqlite::{Connection, params};

use crate::{
    error::Fault,
    migrate::Step,
    tables::{calls, conversations, ledger, names, onboarding, seats, turns},
};

pub(crate) const STEPS: &[Step] = &[Step {
    version: 1,
    sql: "CREATE TABLE setup (
        kind TEXT NOT NULL,
        name TEXT NOT NULL,
        position INTEGER NOT NULL,
        body TEXT NOT NULL,
        PRIMARY KEY (kind, name)
    ) STRICT, WITHOUT ROWID;",
}];

/// One document of the set-up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SetupItem {
    /// `endpoint`, `model`, …
    pub kind: String,
    /// Unique in its kind.
    pub name: String,
    /// JSON.
    pub body: String,
}

/// One change of the set-up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SetupChange {
    /// Adds a document at the end, or replaces the body of the one that is there, which keeps its place.
    Put(SetupItem),
    /// Removes a document; one that is not there is no error.
    Remove { kind: String, name: String },
    /// Gives a document another name; it keeps its place. A conflict when `from` is not there or `to` is.
    Rename { kind: String, from: String, to: String },
    /// Moves everything recorded of one alias to another: calls, seats, turns, conversations, the ledger and the queue,
    /// and with them the verdicts. Work that began before and ends after it goes with them.
    MoveRecord { from: String, to: String },
    /// An alias that is not given to another model again.
    GiveUpName { alias: String },
}

pub(crate) fn all(connection: &Connection) -> Result<Vec<SetupItem>, Fault> {
    let mut statement =
        connection.prepare_cached("SELECT kind, name, body FROM setup ORDER BY position, kind, name")?;
    let items = statement
        .query_map([], |row| Ok(SetupItem { kind: row.get(0)?, name: row.get(1)?, body: row.get(2)? }))?;
    Ok(items.collect::<Result<_, _>>()?)
}

pub(crate) fn apply(connection: &Connection, change: &SetupChange, at_ms: i64) -> Result<(), Fault> {
    match change {
        SetupChange::Put(item) => put(connection, item),
        SetupChange::Remove { kind, name } => remove(connection, kind, name),
        SetupChange::Rename { kind, from, to } => rename(connection, kind, from, to),
        SetupChange::MoveRecord { from, to } => {
            // Turns and conversations are found by their calls' alias: those change last.
            turns::rename_alias(connection, from, to)?;
            conversations::rename_alias(connection, from, to)?;
            seats::rename_alias(connection, from, to)?;
            calls::rename_alias(connection, from, to)?;
            ledger::rename_alias(connection, from, to)?;
            onboarding::rename_alias(connection, from, to)?;
            names::renamed(connection, from, to, at_ms)
        }
        SetupChange::GiveUpName { alias } => names::given_up(connection, alias, at_ms),
    }
}

fn put(connection: &Connection, item: &SetupItem) -> Result<(), Fault> {
    connection
        .prepare_cached(
            "INSERT INTO setup (kind, name, body, position)
             VALUES (?1, ?2, ?3, (SELECT coalesce(max(position), 0) + 1 FROM setup))
             ON CONFLICT (kind, name) DO UPDATE SET body = excluded.body",
        )?
        .execute(params![item.kind, item.name, item.body])?;
    Ok(())
}

fn remove(connection: &Connection, kind: &str, name: &str) -> Result<(), Fault> {
    connection
        .prepare_cached("DELETE FROM setup WHERE kind = ?1 AND name = ?2")?
        .execute(params![kind, name])?;
    Ok(())
}

fn rename(connection: &Connection, kind: &str, from: &str, to: &str) -> Result<(), Fault> {
    let renamed = connection
        .prepare_cached("UPDATE setup SET name = ?3 WHERE kind = ?1 AND name = ?2")?
        .execute(params![kind, from, to])
        .map_err(|error| Fault::constraint(error, || format!("there is a {kind} named {to} already")))?;
    if renamed == 0 {
        return Err(Fault::conflict(format!("there is no {kind} named {from}")));
    }
    Ok(())
}
