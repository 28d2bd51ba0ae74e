//! The queue of models that are taken on, those that are done included until it is cleared.

use rusqlite::{Connection, params};

use crate::{error::Fault, migrate::Step};

/// A model waits or is taken on once at a time.
pub(crate) const STEPS: &[Step] = &[Step {
    version: 5,
    sql: "CREATE TABLE onboarding (
        id INTEGER PRIMARY KEY,
        endpoint TEXT NOT NULL,
        served TEXT NOT NULL,
        alias TEXT NOT NULL,
        mode TEXT NOT NULL,
        state TEXT NOT NULL,
        step TEXT NOT NULL,
        added_ms INTEGER NOT NULL,
        started_ms INTEGER,
        ended_ms INTEGER,
        why TEXT,
        log TEXT NOT NULL DEFAULT '[]'
    ) STRICT;
    CREATE UNIQUE INDEX onboarding_open ON onboarding (endpoint, served) WHERE state IN ('waiting', 'running');",
}];

/// A model to be taken on. Times are Unix milliseconds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OnboardingRow {
    /// Given by the store, in the order of the queue; 0 before.
    pub id: i64,
    pub endpoint: String,
    pub served: String,
    pub alias: String,
    /// `full`, `quick`, `quick_ad_hoc`
    pub mode: String,
    /// `waiting`, `running`, `done`, `failed`, `stopped`
    pub state: String,
    /// The step that is being taken, or was last.
    pub step: String,
    pub added_ms: i64,
    pub started_ms: Option<i64>,
    pub ended_ms: Option<i64>,
    /// Why it failed.
    pub why: Option<String>,
    /// What was seen at each step: a JSON array. Redacted already.
    pub log_json: String,
}

/// Puts models at the end of the queue, and says which: those that wait or are taken on already are not put there again.
/// One that was stopped or is over begins afresh, in place of what it was.
pub(crate) fn add(connection: &Connection, rows: &[OnboardingRow]) -> Result<Vec<OnboardingRow>, Fault> {
    let mut outdated = connection.prepare_cached(
        "DELETE FROM onboarding
         WHERE endpoint = ?1 AND served = ?2 AND state NOT IN ('waiting', 'running')",
    )?;
    let mut statement = connection.prepare_cached(
        "INSERT OR IGNORE INTO onboarding
             (endpoint, served, alias, mode, state, step, added_ms, started_ms, ended_ms, why, log)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)",
    )?;
    let mut added = Vec::new();
    for row in rows {
        outdated.execute([&row.endpoint, &row.served])?;
        let is_new = statement.execute(params![
            row.endpoint,
            row.served,
            row.alias,
            row.mode,
            row.state,
            row.step,
            row.added_ms,
            row.started_ms,
            row.ended_ms,
            row.why,
            row.log_json,
        ])?;
        if is_new > 0 {
            added.push(OnboardingRow { id: connection.last_insert_rowid(), ..row.clone() });
        }
    }
    Ok(added)
}

/// How one of them stands. Only what changes while it is taken on is written.
pub(crate) fn change(connection: &Connection, row: &OnboardingRow) -> Result<(), Fault> {
    let changed = connection
        .prepare_cached(
            "UPDATE onboarding SET state = ?2, step = ?3, started_ms = ?4, ended_ms = ?5, why = ?6, log = ?7
             WHERE id = ?1",
        )?
        .execute(params![row.id, row.state, row.step, row.started_ms, row.ended_ms, row.why, row.log_json])
        .map_err(|error| Fault::constraint(error, || format!("{} is waiting already", row.served)))?;
    if changed == 0 {
        return Err(Fault::conflict(format!("no model {} is in the queue", row.id)));
    }
    Ok(())
}

/// In the order of the queue.
pub(crate) fn all(connection: &Connection) -> Result<Vec<OnboardingRow>, Fault> {
    let mut statement = connection.prepare_cached(
        "SELECT id, endpoint, served, alias, mode, state, step, added_ms, started_ms, ended_ms, why, log
         FROM onboarding ORDER BY id",
    )?;
    let rows = statement.query_map([], |row| {
        Ok(OnboardingRow {
            id: row.get(0)?,
            endpoint: row.get(1)?,
            served: row.get(2)?,
            alias: row.get(3)?,
            mode: row.get(4)?,
            state: row.get(5)?,
            step: row.get(6)?,
            added_ms: row.get(7)?,
            started_ms: row.get(8)?,
            ended_ms: row.get(9)?,
            why: row.get(10)?,
            log_json: row.get(11)?,
        })
    })?;
    Ok(rows.collect::<Result<_, _>>()?)
}

/// Takes out of the queue what is over, and with `all` whatever is not being taken on; gives how many that were.
pub(crate) fn clear(connection: &Connection, all: bool) -> Result<u64, Fault> {
    let sql = match all {
        true => "DELETE FROM onboarding WHERE state <> 'running'",
        false => "DELETE FROM onboarding WHERE state IN ('done', 'failed')",
    };
    Ok(connection.prepare_cached(sql)?.execute([])? as u64)
}

pub(crate) fn rename_alias(connection: &Connection, from: &str, to: &str) -> Result<(), Fault> {
    let sql = "UPDATE onboarding SET alias = ?2 WHERE alias = ?1";
    connection.prepare_cached(sql)?.execute(params![from, to])?;
    Ok(())
}
