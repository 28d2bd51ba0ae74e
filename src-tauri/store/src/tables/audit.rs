//! Who changed what, for ever.

use rusqlite::{Connection, params};

use crate::{error::Fault, migrate::Step};

pub(crate) const STEPS: &[Step] = &[Step {
    version: 1,
    sql: "CREATE TABLE audit (
        seq INTEGER PRIMARY KEY,
        at_ms INTEGER NOT NULL,
        actor TEXT NOT NULL,
        action TEXT NOT NULL,
        subject TEXT NOT NULL,
        detail TEXT NOT NULL
    ) STRICT;",
}];

/// A line for the audit log. It must hold no secret.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AuditEntry {
    /// `window`, `bench import`, …
    pub actor: String,
    /// `added`, `changed`, `removed`, …
    pub action: String,
    pub subject: String,
    pub detail: String,
}

/// A line of the audit log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AuditRow {
    /// Counts up.
    pub seq: i64,
    /// Unix milliseconds.
    pub at_ms: i64,
    pub entry: AuditEntry,
}

pub(crate) fn insert(connection: &Connection, entry: &AuditEntry, at_ms: i64) -> Result<(), Fault> {
    connection
        .prepare_cached(
            "INSERT INTO audit (at_ms, actor, action, subject, detail) VALUES (?1, ?2, ?3, ?4, ?5)",
        )?
        .execute(params![at_ms, entry.actor, entry.action, entry.subject, entry.detail])?;
    Ok(())
}

/// The newest lines, newest first.
pub(crate) fn newest(connection: &Connection, limit: u32) -> Result<Vec<AuditRow>, Fault> {
    let mut statement = connection.prepare_cached(
        "SELECT seq, at_ms, actor, action, subject, detail FROM audit ORDER BY seq DESC LIMIT ?1",
    )?;
    let rows = statement.query_map([limit], |row| {
        let entry =
            AuditEntry { actor: row.get(2)?, action: row.get(3)?, subject: row.get(4)?, detail: row.get(5)? };
        Ok(AuditRow { seq: row.get(0)?, at_ms: row.get(1)?, entry })
    })?;
    Ok(rows.collect::<Result<_, _>>()?)
}
