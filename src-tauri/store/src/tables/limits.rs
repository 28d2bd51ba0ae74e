//! What is known of limits: cooldowns, what providers say of quotas, what was learned, and models that cost money now.

use rusqlite::{Connection, params};

use crate::{
    error::Fault,
    migrate::Step,
    tables::{from_db, known, to_db},
};

pub(crate) const STEPS: &[Step] = &[Step {
    version: 5,
    sql: "CREATE TABLE cooldowns (
        kind TEXT NOT NULL,
        endpoint TEXT NOT NULL,
        name TEXT NOT NULL,
        until_ms INTEGER NOT NULL,
        stated INTEGER NOT NULL,
        step_ms INTEGER NOT NULL,
        PRIMARY KEY (kind, endpoint, name)
    ) STRICT, WITHOUT ROWID;
    CREATE TABLE quota (
        connection TEXT NOT NULL,
        model TEXT NOT NULL,
        metric TEXT NOT NULL,
        window_s INTEGER NOT NULL,
        allowed INTEGER,
        remaining INTEGER,
        reset_ms INTEGER,
        seen_ms INTEGER NOT NULL,
        PRIMARY KEY (connection, model, metric, window_s)
    ) STRICT, WITHOUT ROWID;
    CREATE TABLE learned (
        endpoint TEXT NOT NULL,
        served TEXT NOT NULL,
        what TEXT NOT NULL,
        body TEXT NOT NULL,
        at_ms INTEGER NOT NULL,
        PRIMARY KEY (endpoint, served, what)
    ) STRICT, WITHOUT ROWID;
    CREATE TABLE paid_now (
        endpoint TEXT NOT NULL,
        served TEXT NOT NULL,
        at_ms INTEGER NOT NULL,
        price TEXT NOT NULL,
        allowed_ms INTEGER,
        PRIMARY KEY (endpoint, served)
    ) STRICT, WITHOUT ROWID;",
}];

/// A model or a connection that is left alone. Times are Unix milliseconds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CooldownRow {
    /// `model`, `connection`
    pub kind: String,
    /// A model's; empty for a connection.
    pub endpoint: String,
    /// The model's served name, or the connection.
    pub name: String,
    pub until_ms: i64,
    pub stated: bool,
    pub step_ms: i64,
}

/// What a provider last said of a quota. Times are Unix milliseconds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct QuotaRow {
    pub connection: String,
    /// Empty where it is of the whole connection.
    pub model: String,
    /// `requests`, `tokens`, …
    pub metric: String,
    /// Seconds; 0 where it did not say.
    pub window_s: u64,
    pub allowed: Option<u64>,
    pub remaining: Option<u64>,
    pub reset_ms: Option<i64>,
    pub seen_ms: i64,
}

/// Something that a provider taught about a model.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LearnedRow {
    pub endpoint: String,
    pub served: String,
    /// `quirks`, `limits`
    pub what: String,
    /// JSON.
    pub body: String,
    /// Unix milliseconds.
    pub at_ms: i64,
}

/// A model that was free and is not any more. Times are Unix milliseconds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PaidNowRow {
    pub endpoint: String,
    pub served: String,
    pub at_ms: i64,
    /// JSON.
    pub price: String,
    /// When its owner allowed it; until then it is not called.
    pub allowed_ms: Option<i64>,
}

/// In place of all that were kept.
pub(crate) fn put_cooldowns(connection: &Connection, rows: &[CooldownRow]) -> Result<(), Fault> {
    connection.prepare_cached("DELETE FROM cooldowns")?.execute([])?;
    let mut statement = connection.prepare_cached(
        "INSERT OR REPLACE INTO cooldowns (kind, endpoint, name, until_ms, stated, step_ms)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
    )?;
    for row in rows {
        let values = params![row.kind, row.endpoint, row.name, row.until_ms, row.stated, row.step_ms];
        statement.execute(values)?;
    }
    Ok(())
}

pub(crate) fn cooldowns(connection: &Connection) -> Result<Vec<CooldownRow>, Fault> {
    let sql = "SELECT kind, endpoint, name, until_ms, stated, step_ms FROM cooldowns";
    let mut statement = connection.prepare_cached(sql)?;
    let rows = statement.query_map([], |row| {
        Ok(CooldownRow {
            kind: row.get(0)?,
            endpoint: row.get(1)?,
            name: row.get(2)?,
            until_ms: row.get(3)?,
            stated: row.get(4)?,
            step_ms: row.get(5)?,
        })
    })?;
    Ok(rows.collect::<Result<_, _>>()?)
}

/// Each in place of what was last said of the same.
pub(crate) fn put_quotas(connection: &Connection, rows: &[QuotaRow]) -> Result<(), Fault> {
    let mut statement = connection.prepare_cached(
        "INSERT OR REPLACE INTO quota (connection, model, metric, window_s, allowed, remaining, reset_ms, seen_ms)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
    )?;
    for row in rows {
        statement.execute(params![
            row.connection,
            row.model,
            row.metric,
            to_db(row.window_s),
            row.allowed.map(to_db),
            row.remaining.map(to_db),
            row.reset_ms,
            row.seen_ms,
        ])?;
    }
    Ok(())
}

pub(crate) fn quotas(connection: &Connection) -> Result<Vec<QuotaRow>, Fault> {
    let sql = "SELECT connection, model, metric, window_s, allowed, remaining, reset_ms, seen_ms FROM quota";
    let mut statement = connection.prepare_cached(sql)?;
    let rows = statement.query_map([], |row| {
        Ok(QuotaRow {
            connection: row.get(0)?,
            model: row.get(1)?,
            metric: row.get(2)?,
            window_s: row.get(3).map(from_db)?,
            allowed: known(row, 4)?,
            remaining: known(row, 5)?,
            reset_ms: row.get(6)?,
            seen_ms: row.get(7)?,
        })
    })?;
    Ok(rows.collect::<Result<_, _>>()?)
}

pub(crate) fn put_learned(connection: &Connection, row: &LearnedRow) -> Result<(), Fault> {
    connection
        .prepare_cached(
            "INSERT OR REPLACE INTO learned (endpoint, served, what, body, at_ms) VALUES (?1, ?2, ?3, ?4, ?5)",
        )?
        .execute(params![row.endpoint, row.served, row.what, row.body, row.at_ms])?;
    Ok(())
}

pub(crate) fn learned(connection: &Connection) -> Result<Vec<LearnedRow>, Fault> {
    let sql = "SELECT endpoint, served, what, body, at_ms FROM learned";
    let mut statement = connection.prepare_cached(sql)?;
    let rows = statement.query_map([], |row| {
        Ok(LearnedRow {
            endpoint: row.get(0)?,
            served: row.get(1)?,
            what: row.get(2)?,
            body: row.get(3)?,
            at_ms: row.get(4)?,
        })
    })?;
    Ok(rows.collect::<Result<_, _>>()?)
}

pub(crate) fn forget_learned(
    connection: &Connection,
    endpoint: &str,
    served: &str,
    what: &str,
) -> Result<(), Fault> {
    let sql = "DELETE FROM learned WHERE endpoint = ?1 AND served = ?2 AND what = ?3";
    connection.prepare_cached(sql)?.execute([endpoint, served, what])?;
    Ok(())
}

pub(crate) fn put_paid_now(connection: &Connection, row: &PaidNowRow) -> Result<(), Fault> {
    connection
        .prepare_cached(
            "INSERT OR REPLACE INTO paid_now (endpoint, served, at_ms, price, allowed_ms)
             VALUES (?1, ?2, ?3, ?4, ?5)",
        )?
        .execute(params![row.endpoint, row.served, row.at_ms, row.price, row.allowed_ms])?;
    Ok(())
}

pub(crate) fn paid_now(connection: &Connection) -> Result<Vec<PaidNowRow>, Fault> {
    let sql = "SELECT endpoint, served, at_ms, price, allowed_ms FROM paid_now";
    let mut statement = connection.prepare_cached(sql)?;
    let rows = statement.query_map([], |row| {
        Ok(PaidNowRow {
            endpoint: row.get(0)?,
            served: row.get(1)?,
            at_ms: row.get(2)?,
            price: row.get(3)?,
            allowed_ms: row.get(4)?,
        })
    })?;
    Ok(rows.collect::<Result<_, _>>()?)
}

pub(crate) fn forget_paid_now(connection: &Connection, endpoint: &str, served: &str) -> Result<(), Fault> {
    let sql = "DELETE FROM paid_now WHERE endpoint = ?1 AND served = ?2";
    connection.prepare_cached(sql)?.execute([endpoint, served])?;
    Ok(())
}
