//! The ledger: a row for every call to a provider. It holds no text and is kept for ever. Sums over it are in `sums`.

use rusqlite::{Connection, OptionalExtension, Row, params};
use serde::{Deserialize, Serialize};

use crate::{
    error::Fault,
    migrate::Step,
    tables::{calls::finite, dollars, from_db, known, names, to_db},
};

/// Turns write to it on the way of an agent's reply: in both indexes that every row is in, by time and by model and time,
/// a row goes to an end.
///
/// What was recorded before there was a ledger is brought over. Attempts at a turn that another model took over were no
/// rows of their own, and are not in it; the connection is taken to be the endpoint.
pub(crate) const STEPS: &[Step] = &[
    Step {
    version: 5,
    sql: "CREATE TABLE ledger (
        seq INTEGER PRIMARY KEY,
        at_ms INTEGER NOT NULL,
        alias TEXT NOT NULL,
        endpoint TEXT NOT NULL,
        connection TEXT NOT NULL,
        served TEXT NOT NULL,
        served_as TEXT,
        purpose TEXT NOT NULL,
        call TEXT NOT NULL,
        turn INTEGER,
        status TEXT NOT NULL,
        class TEXT,
        http_status INTEGER,
        attempts INTEGER NOT NULL,
        tokens_fresh INTEGER,
        tokens_out INTEGER,
        tokens_reasoning INTEGER,
        cache_read INTEGER,
        cache_write INTEGER,
        seconds REAL NOT NULL,
        first_token_s REAL,
        cost REAL,
        caller TEXT NOT NULL,
        collection TEXT NOT NULL,
        practice INTEGER NOT NULL
    ) STRICT;
    CREATE INDEX ledger_at ON ledger (at_ms);
    CREATE INDEX ledger_alias ON ledger (alias, at_ms);
    CREATE INDEX ledger_failed ON ledger (at_ms) WHERE class IS NOT NULL;
    INSERT INTO ledger (at_ms, alias, endpoint, connection, served, served_as, purpose, call, turn, status, class,
            attempts, tokens_fresh, tokens_out, tokens_reasoning, cache_read, cache_write, seconds, first_token_s,
            cost, caller, collection, practice)
        SELECT c.started_ms, c.alias, c.endpoint, c.endpoint, c.served, c.served_as,
            CASE c.kind WHEN 'merger' THEN 'merge' WHEN 'shadow' THEN 'shadow' ELSE 'panel' END, c.call, NULL,
            c.status, c.error_class, c.attempts,
            max(0, c.tokens_in - coalesce(c.cache_read, 0) - coalesce(c.cache_write, 0)), c.tokens_out,
            c.tokens_reasoning, c.cache_read, c.cache_write, c.seconds, c.first_token_s, NULL,
            coalesce(p.caller, r.caller, 'local'), c.collection, c.practice
        FROM calls c LEFT JOIN panels p ON p.id = c.panel LEFT JOIN conversations r ON r.id = c.panel
        WHERE c.kind <> 'route'
        UNION ALL
        SELECT t.at_ms, t.alias, t.endpoint, t.endpoint, t.served, t.served_as, 'route', t.call, t.n, t.status,
            t.error_class, t.attempts,
            max(0, t.tokens_in - coalesce(t.cache_read, 0) - coalesce(t.cache_write, 0)), t.tokens_out,
            t.tokens_reasoning, t.cache_read, t.cache_write, t.seconds, t.first_token_s, t.cost,
            coalesce(r.caller, 'local'), coalesce(r.collection, ''), coalesce(r.practice, 0)
        FROM turns t LEFT JOIN conversations r ON r.id = t.conversation
        ORDER BY 1;",
    },
    Step { version: 7, sql: "ALTER TABLE ledger ADD COLUMN tokens_held INTEGER;" },
    Step {
        version: 8,
        sql: "ALTER TABLE ledger ADD COLUMN tokens_spent INTEGER; ALTER TABLE ledger ADD COLUMN cost_spent REAL;",
    },
];

/// A call to a provider that has ended, however it did.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct LedgerRow {
    /// When it was sent: Unix milliseconds.
    pub at_ms: i64,
    pub alias: String,
    pub endpoint: String,
    /// What it shares a rate limit with: the endpoint's name, or a part of a hub.
    pub connection: String,
    /// The provider's name of the model that was asked for, and the name it said it answered as.
    pub served: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub served_as: Option<String>,
    /// `panel`, `route`, `merge`, `shadow`, `probe`, `suite`, `picker`, `count`
    pub purpose: String,
    /// The call whose verdict is about it. Empty where there is none: a probe, a picker's, one that another model
    /// took over from.
    pub call: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub turn: Option<u32>,
    /// `ok`, `empty`, `error`, `late`, `cancelled`
    pub status: String,
    /// The class of failure; `None` for what did not fail.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub class: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub http_status: Option<u16>,
    /// How often it was sent.
    pub attempts: u32,
    /// Without what was in the cache.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tokens_fresh: Option<u64>,
    /// Reasoning included.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tokens_out: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tokens_reasoning: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cache_read: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cache_write: Option<u64>,
    /// What it counts with against the limits of its endpoint, at least: it was cut off, and nobody counted all of it.
    pub tokens_held: Option<u64>,
    /// What it counts with against budgets, in tokens and US dollars, where nobody counted all of it: an estimate of what
    /// it has taken at least.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tokens_spent: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost_spent: Option<f64>,
    pub seconds: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub first_token_s: Option<f64>,
    /// US dollars by the price of then; `None` where the price or the usage is not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost: Option<f64>,
    /// A gateway key's name, or `local`.
    pub caller: String,
    /// Empty where it is of none.
    pub collection: String,
    pub practice: bool,
}

/// A row as it is kept.
#[derive(Clone, Debug, PartialEq)]
pub struct StoredSpent {
    /// Counts up.
    pub seq: i64,
    pub row: LedgerRow,
}

pub(crate) fn insert(connection: &Connection, row: &LedgerRow) -> Result<(), Fault> {
    let alias = names::now(connection, &row.alias, row.at_ms)?;
    connection
        .prepare_cached(
            "INSERT INTO ledger (at_ms, alias, endpoint, connection, served, served_as, purpose, call, turn, status,
                 class, http_status, attempts, tokens_fresh, tokens_out, tokens_reasoning, cache_read, cache_write,
                 seconds, first_token_s, cost, caller, collection, practice, tokens_held, tokens_spent, cost_spent)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20, ?21,
                 ?22, ?23, ?24, ?25, ?26, ?27)",
        )?
        .execute(params![
            row.at_ms,
            alias,
            row.endpoint,
            row.connection,
            row.served,
            row.served_as,
            row.purpose,
            row.call,
            row.turn,
            row.status,
            row.class,
            row.http_status,
            row.attempts,
            row.tokens_fresh.map(to_db),
            row.tokens_out.map(to_db),
            row.tokens_reasoning.map(to_db),
            row.cache_read.map(to_db),
            row.cache_write.map(to_db),
            finite(row.seconds),
            row.first_token_s.map(finite),
            dollars(row.cost),
            row.caller,
            row.collection,
            row.practice,
            row.tokens_held.map(to_db),
            row.tokens_spent.map(to_db),
            dollars(row.cost_spent),
        ])?;
    Ok(())
}

/// How many rows of a call's instant are as it is, but for how it ended.
pub(crate) fn alike(connection: &Connection, row: &LedgerRow) -> Result<u64, Fault> {
    let mut statement = connection.prepare_cached(
        "SELECT count(*) FROM ledger
         WHERE at_ms = ?1 AND connection = ?2 AND served = ?3 AND purpose = ?4 AND collection = ?5
             AND caller = ?6",
    )?;
    let is = params![row.at_ms, row.connection, row.served, row.purpose, row.collection, row.caller];
    Ok(statement.query_row(is, |row| row.get(0).map(from_db))?)
}

/// The newest rows, newest first; with `before`, those older than that one.
pub(crate) fn newest(
    connection: &Connection,
    before: Option<i64>,
    limit: u32,
) -> Result<Vec<StoredSpent>, Fault> {
    let mut statement = connection.prepare_cached(
        "SELECT seq, at_ms, alias, endpoint, connection, served, served_as, purpose, call, turn, status, class,
             http_status, attempts, tokens_fresh, tokens_out, tokens_reasoning, cache_read, cache_write, seconds,
             first_token_s, cost, caller, collection, practice, tokens_held, tokens_spent, cost_spent
         FROM ledger WHERE seq < ?1 ORDER BY seq DESC LIMIT ?2",
    )?;
    let rows = statement.query_map(params![before.unwrap_or(i64::MAX), limit], from_row)?;
    Ok(rows.collect::<Result<_, _>>()?)
}

/// The endpoint and the served id that an alias was last called at.
pub(crate) fn last_served_under(
    connection: &Connection,
    alias: &str,
) -> Result<Option<(String, String)>, Fault> {
    let sql = "SELECT endpoint, served FROM ledger WHERE alias = ?1 ORDER BY at_ms DESC LIMIT 1";
    let row = connection.prepare_cached(sql)?.query_row([alias], |row| Ok((row.get(0)?, row.get(1)?)));
    Ok(row.optional()?)
}

pub(crate) fn rename_alias(connection: &Connection, from: &str, to: &str) -> Result<(), Fault> {
    connection.prepare_cached("UPDATE ledger SET alias = ?2 WHERE alias = ?1")?.execute(params![from, to])?;
    Ok(())
}

fn from_row(row: &Row<'_>) -> rusqlite::Result<StoredSpent> {
    Ok(StoredSpent {
        seq: row.get(0)?,
        row: LedgerRow {
            at_ms: row.get(1)?,
            alias: row.get(2)?,
            endpoint: row.get(3)?,
            connection: row.get(4)?,
            served: row.get(5)?,
            served_as: row.get(6)?,
            purpose: row.get(7)?,
            call: row.get(8)?,
            turn: row.get(9)?,
            status: row.get(10)?,
            class: row.get(11)?,
            http_status: row.get(12)?,
            attempts: row.get(13)?,
            tokens_fresh: known(row, 14)?,
            tokens_out: known(row, 15)?,
            tokens_reasoning: known(row, 16)?,
            cache_read: known(row, 17)?,
            cache_write: known(row, 18)?,
            seconds: row.get(19)?,
            first_token_s: row.get(20)?,
            cost: row.get(21)?,
            caller: row.get(22)?,
            collection: row.get(23)?,
            practice: row.get(24)?,
            tokens_held: known(row, 25)?,
            tokens_spent: known(row, 26)?,
            cost_spent: row.get(27)?,
        },
    })
}
