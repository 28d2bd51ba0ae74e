//! Sums over the ledger: what was spent, what was sent, how long answers took, and what failed.

use rusqlite::{Connection, OptionalExtension, ToSql, params};

use crate::{error::Fault, tables::from_db};

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
    /// In and out, cache included, and of how many calls nobody counted them: those count with an estimate.
    pub tokens: u64,
    pub tokens_unknown: u64,
    /// US dollars, estimates included, and how many calls are not in them.
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

/// What was sent from an instant on, by model and minute, oldest first.
pub(crate) fn sent(connection: &Connection, since_ms: i64) -> Result<Vec<SentRow>, Fault> {
    let mut statement = connection.prepare_cached(&format!(
        "SELECT connection, endpoint, served, max(at_ms), CAST(total(attempts) AS INTEGER),
             CAST(total(max({EVERY_TOKEN}, coalesce(tokens_held, 0))) AS INTEGER)
         FROM ledger WHERE at_ms >= ?1 AND practice = 0
         GROUP BY at_ms / 60000, connection, endpoint, served ORDER BY max(at_ms)"
    ))?;
    let rows = statement.query_map([since_ms], |row| {
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
        "SELECT caller, collection, at_ms / 86400000 * 86400000,
             CAST(total(coalesce(tokens_spent, {EVERY_TOKEN})) AS INTEGER), {UNCOUNTED},
             total(coalesce(cost, cost_spent)), count(*) FILTER (WHERE cost IS NULL AND cost_spent IS NULL)
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
