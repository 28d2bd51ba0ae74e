//! The ledger: a row for every call to a provider, and the sums over them. It holds no text and is kept for ever.

use rusqlite::{Connection, OptionalExtension, Row, ToSql, params};
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

/// How long a model's answers take.
#[derive(Clone, Debug, PartialEq)]
pub struct PaceRow {
    pub alias: String,
    /// Of how many answers this is.
    pub answers: u64,
    /// Medians; the second is `None` where no answer told when it began.
    pub seconds: f64,
    pub first_token_s: Option<f64>,
}

/// What spending is summed by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SpendBy {
    Model,
    Collection,
    Caller,
    Endpoint,
    Purpose,
}

/// What calls took together.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Spend {
    /// The alias, the collection, …
    pub key: String,
    pub calls: u64,
    /// Sums of what is known.
    pub tokens_fresh: u64,
    pub tokens_out: u64,
    pub tokens_reasoning: u64,
    pub cache_read: u64,
    pub cache_write: u64,
    /// Calls whose tokens nobody counted.
    pub tokens_unknown: u64,
    /// US dollars of the calls whose cost is known, and how many are not.
    pub cost: f64,
    pub cost_unknown: u64,
    /// Answers among them that were judged useful: those of one conversation by one model are one.
    pub useful: u64,
}

/// What was sent to a model in a minute.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SentRow {
    pub connection: String,
    pub endpoint: String,
    pub served: String,
    /// The last of them.
    pub at_ms: i64,
    pub requests: u64,
    /// In and out, cache included; of what was cut off, what it is held to be.
    pub tokens: u64,
}

/// What was spent in a day, by UTC.
#[derive(Clone, Debug, PartialEq)]
pub struct DaySpend {
    pub caller: String,
    pub collection: String,
    /// The day's beginning.
    pub at_ms: i64,
    /// In and out, cache included, and of how many calls they are not known.
    pub tokens: u64,
    pub tokens_unknown: u64,
    pub cost: f64,
    pub cost_unknown: u64,
}

/// A call that failed.
#[derive(Clone, Debug, PartialEq)]
pub struct FailureRow {
    pub endpoint: String,
    pub served: String,
    pub class: String,
    pub http_status: Option<u16>,
    pub at_ms: i64,
    /// The provider's words, redacted already; empty where they are not known.
    pub words: String,
    /// When the model last answered, not before the instant that was asked for.
    pub answered_ms: Option<i64>,
}

impl Spend {
    /// Dollars for an answer that was of use; `None` without one, and where no cost is known.
    pub fn cost_per_useful(&self) -> Option<f64> {
        (self.useful > 0 && self.cost_unknown < self.calls).then(|| self.cost / self.useful as f64)
    }
}

pub(crate) fn insert(connection: &Connection, row: &LedgerRow) -> Result<(), Fault> {
    let alias = names::now(connection, &row.alias, row.at_ms)?;
    connection
        .prepare_cached(
            "INSERT INTO ledger (at_ms, alias, endpoint, connection, served, served_as, purpose, call, turn, status,
                 class, http_status, attempts, tokens_fresh, tokens_out, tokens_reasoning, cache_read, cache_write,
                 seconds, first_token_s, cost, caller, collection, practice, tokens_held)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20, ?21,
                 ?22, ?23, ?24, ?25)",
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
        ])?;
    Ok(())
}

/// How many rows of a call's instant are as it is, but for how it ended.
pub(crate) fn alike(connection: &Connection, row: &LedgerRow) -> Result<u64, Fault> {
    let mut statement = connection.prepare_cached(
        "SELECT count(*) FROM ledger
         WHERE at_ms = ?1 AND connection = ?2 AND served = ?3 AND purpose = ?4 AND collection = ?5",
    )?;
    let is = params![row.at_ms, row.connection, row.served, row.purpose, row.collection];
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
             first_token_s, cost, caller, collection, practice, tokens_held
         FROM ledger WHERE seq < ?1 ORDER BY seq DESC LIMIT ?2",
    )?;
    let rows = statement.query_map(params![before.unwrap_or(i64::MAX), limit], from_row)?;
    Ok(rows.collect::<Result<_, _>>()?)
}

/// Sums of a token count: one that is too large for SQLite stays at the most that it can hold.
macro_rules! sum {
    ($column:literal) => {
        concat!("CAST(total(", $column, ") AS INTEGER)")
    };
}

const EVERY_TOKEN: &str =
    "coalesce(tokens_fresh, 0) + 0.0 + coalesce(cache_read, 0) + coalesce(cache_write, 0)
    + coalesce(tokens_out, 0)";
const UNCOUNTED: &str = "count(*) FILTER (WHERE tokens_fresh IS NULL AND tokens_out IS NULL)";
const UNPRICED: &str = "count(*) FILTER (WHERE cost IS NULL)";

/// What was spent from an instant on, the dearest first. Practice is kept apart.
pub(crate) fn spend(
    connection: &Connection,
    by: SpendBy,
    since_ms: i64,
    practice: bool,
) -> Result<Vec<Spend>, Fault> {
    let key = match by {
        SpendBy::Model => "alias",
        SpendBy::Collection => "collection",
        SpendBy::Caller => "caller",
        SpendBy::Endpoint => "endpoint",
        SpendBy::Purpose => "purpose",
    };
    let sums = [
        sum!("tokens_fresh"),
        sum!("tokens_out"),
        sum!("tokens_reasoning"),
        sum!("cache_read"),
        sum!("cache_write"),
    ]
    .join(", ");
    let mut statement = connection.prepare_cached(&format!(
        "SELECT {key}, count(*), {sums}, {UNCOUNTED}, total(cost), {UNPRICED}, count(DISTINCT v.call)
         FROM ledger l LEFT JOIN verdicts v ON v.call = l.call AND v.standing = 1 AND v.useful = 1
         WHERE l.at_ms >= ?1 AND l.practice = ?2 GROUP BY {key} ORDER BY total(cost) DESC, count(*) DESC, {key}"
    ))?;
    let rows = statement.query_map(params![since_ms, practice], |row| {
        let count = |at: usize| row.get(at).map(from_db);
        Ok(Spend {
            key: row.get(0)?,
            calls: count(1)?,
            tokens_fresh: count(2)?,
            tokens_out: count(3)?,
            tokens_reasoning: count(4)?,
            cache_read: count(5)?,
            cache_write: count(6)?,
            tokens_unknown: count(7)?,
            cost: row.get(8)?,
            cost_unknown: count(9)?,
            useful: count(10)?,
        })
    })?;
    Ok(rows.collect::<Result<_, _>>()?)
}

/// What was sent from an instant on and before another, by model and minute, oldest first.
pub(crate) fn sent(connection: &Connection, since_ms: i64, before_ms: i64) -> Result<Vec<SentRow>, Fault> {
    let mut statement = connection.prepare_cached(&format!(
        "SELECT connection, endpoint, served, max(at_ms), CAST(total(attempts) AS INTEGER),
             CAST(total(max({EVERY_TOKEN}, coalesce(tokens_held, 0))) AS INTEGER)
         FROM ledger WHERE at_ms >= ?1 AND at_ms < ?2 AND practice = 0
         GROUP BY at_ms / 60000, connection, endpoint, served ORDER BY max(at_ms)"
    ))?;
    let rows = statement.query_map([since_ms, before_ms], |row| {
        Ok(SentRow {
            connection: row.get(0)?,
            endpoint: row.get(1)?,
            served: row.get(2)?,
            at_ms: row.get(3)?,
            requests: row.get(4).map(from_db)?,
            tokens: row.get(5).map(from_db)?,
        })
    })?;
    Ok(rows.collect::<Result<_, _>>()?)
}

/// What was spent from an instant on, by caller, collection and day, oldest first.
pub(crate) fn by_day(connection: &Connection, since_ms: i64) -> Result<Vec<DaySpend>, Fault> {
    let mut statement = connection.prepare_cached(&format!(
        "SELECT caller, collection, at_ms / 86400000 * 86400000, CAST(total({EVERY_TOKEN}) AS INTEGER), {UNCOUNTED},
             total(cost), {UNPRICED}
         FROM ledger WHERE at_ms >= ?1 AND practice = 0
         GROUP BY at_ms / 86400000, caller, collection ORDER BY 3, caller, collection"
    ))?;
    let rows = statement.query_map([since_ms], |row| {
        Ok(DaySpend {
            caller: row.get(0)?,
            collection: row.get(1)?,
            at_ms: row.get(2)?,
            tokens: row.get(3).map(from_db)?,
            tokens_unknown: row.get(4).map(from_db)?,
            cost: row.get(5)?,
            cost_unknown: row.get(6).map(from_db)?,
        })
    })?;
    Ok(rows.collect::<Result<_, _>>()?)
}

/// Calls of these classes that failed from an instant on, oldest first.
pub(crate) fn failures(
    connection: &Connection,
    classes: &[&str],
    since_ms: i64,
) -> Result<Vec<FailureRow>, Fault> {
    let marks = vec!["?"; classes.len()].join(", ");
    let mut statement = connection.prepare_cached(&format!(
        "SELECT l.endpoint, l.served, l.class, l.http_status, l.at_ms, coalesce(c.error, ''), l.alias
         FROM ledger l LEFT JOIN calls c ON c.call = l.call
         WHERE l.class IS NOT NULL AND l.at_ms >= ? AND l.practice = 0 AND l.class IN ({marks})
             AND l.purpose <> 'count' ORDER BY l.at_ms"
    ))?;
    let mut answered = connection.prepare_cached(
        "SELECT at_ms FROM ledger
         WHERE alias = ?1 AND at_ms >= ?2 AND status = 'ok' AND endpoint = ?3 AND served = ?4 AND purpose <> 'count'
         ORDER BY at_ms DESC LIMIT 1",
    )?;
    let given: Vec<&dyn ToSql> = std::iter::once(&since_ms as &dyn ToSql)
        .chain(classes.iter().map(|class| class as &dyn ToSql))
        .collect();
    let mut rows = statement.query(given.as_slice())?;
    let mut failures = Vec::new();
    while let Some(row) = rows.next()? {
        let (endpoint, served): (String, String) = (row.get(0)?, row.get(1)?);
        let whose = params![row.get::<_, String>(6)?, since_ms, endpoint, served];
        failures.push(FailureRow {
            answered_ms: answered.query_row(whose, |row| row.get(0)).optional()?,
            class: row.get(2)?,
            http_status: row.get(3)?,
            at_ms: row.get(4)?,
            words: row.get(5)?,
            endpoint,
            served,
        });
    }
    Ok(failures)
}

/// How long answers took from an instant on, by model: medians, which one that hung does not move.
pub(crate) fn paces(connection: &Connection, since_ms: i64) -> Result<Vec<PaceRow>, Fault> {
    let mut statement = connection.prepare_cached(
        "WITH answers AS (
             SELECT alias, seconds, first_token_s, count(*) OVER (PARTITION BY alias) AS n,
                 row_number() OVER (PARTITION BY alias ORDER BY seconds) AS by_seconds,
                 count(first_token_s) OVER (PARTITION BY alias) AS begun,
                 row_number() OVER (PARTITION BY alias ORDER BY first_token_s IS NULL, first_token_s) AS by_first
             FROM ledger WHERE at_ms >= ?1 AND status = 'ok' AND purpose <> 'count'
         )
         SELECT alias, n, max(seconds) FILTER (WHERE by_seconds = (n + 1) / 2),
             max(first_token_s) FILTER (WHERE by_first = (begun + 1) / 2)
         FROM answers GROUP BY alias ORDER BY alias",
    )?;
    let rows = statement.query_map([since_ms], |row| {
        Ok(PaceRow {
            alias: row.get(0)?,
            answers: row.get(1).map(from_db)?,
            seconds: row.get(2)?,
            first_token_s: row.get(3)?,
        })
    })?;
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
        },
    })
}
