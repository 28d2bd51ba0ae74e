//! What each model's record says: counts, over calls and the verdicts that stand.

use rusqlite::{Connection, params};

use crate::{
    error::Fault,
    tables::{from_db, search},
};

/// Which calls count.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RecordFilter {
    /// Of panels of this collection only.
    pub collection: Option<String>,
    /// Of panels of this shape only.
    pub shape: Option<String>,
    /// Of the panels whose prompts are most like this text only.
    pub task: Option<String>,
    /// Practice models' calls alone; without it, everything but theirs.
    pub practice: bool,
}

/// One model's record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AliasRecord {
    pub alias: String,
    /// Calls judged useful.
    pub useful: u64,
    /// Calls judged not useful.
    pub not_useful: u64,
    /// Both together.
    pub judged: u64,
    /// Calls that ended, however they did.
    pub offloads: u64,
    /// When the last of them ended: Unix milliseconds.
    pub last_at_ms: i64,
}

/// One model's record for one shape.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShapeRecord {
    /// Empty where the panel's own record was lost.
    pub shape: String,
    pub record: AliasRecord,
}

/// Every alias with at least one call, by name.
pub(crate) fn by_alias(connection: &Connection, filter: &RecordFilter) -> Result<Vec<AliasRecord>, Fault> {
    let alike = filter.task.as_deref().map(|task| search::alike(connection, task)).transpose()?;
    let mut statement = connection.prepare_cached(
        "SELECT c.alias, count(*) FILTER (WHERE v.useful = 1), count(*) FILTER (WHERE v.useful = 0), count(*),
             max(c.ended_ms)
         FROM calls c
         LEFT JOIN verdicts v ON v.call = c.call AND v.standing = 1
         WHERE c.practice = ?1 AND (?2 IS NULL OR c.collection = ?2) AND (?3 IS NULL OR c.shape = ?3)
             AND (?4 IS NULL OR c.panel IN (SELECT value FROM json_each(?4)))
         GROUP BY c.alias ORDER BY c.alias",
    )?;
    let filter = params![filter.practice, filter.collection, filter.shape, alike];
    let records = statement.query_map(filter, |row| {
        Ok(record(row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?, row.get(4)?))
    })?;
    Ok(records.collect::<Result<_, _>>()?)
}

/// Everything the records say, practice included, by alias and shape. It reads an index of the calls and the
/// verdicts: a million calls take a fraction of a second. (`CROSS` keeps the few verdicts on the outside.)
pub(crate) fn by_shape(connection: &Connection) -> Result<Vec<ShapeRecord>, Fault> {
    let mut statement = connection.prepare_cached(
        "WITH judged AS (
             SELECT c.alias, c.shape, count(*) FILTER (WHERE v.useful = 1) AS useful,
                 count(*) FILTER (WHERE v.useful = 0) AS not_useful
             FROM verdicts v CROSS JOIN calls c ON c.call = v.call WHERE v.standing = 1
             GROUP BY c.alias, c.shape)
         SELECT c.alias, coalesce(j.useful, 0), coalesce(j.not_useful, 0), c.offloads, c.last, c.shape
         FROM (SELECT alias, shape, count(*) AS offloads, max(ended_ms) AS last
               FROM calls GROUP BY alias, shape) c
         LEFT JOIN judged j ON j.alias = c.alias AND j.shape = c.shape ORDER BY c.alias, c.shape",
    )?;
    let records = statement.query_map([], |row| {
        let record = record(row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?, row.get(4)?);
        Ok(ShapeRecord { shape: row.get(5)?, record })
    })?;
    Ok(records.collect::<Result<_, _>>()?)
}

fn record(alias: String, useful: i64, not_useful: i64, offloads: i64, last_at_ms: i64) -> AliasRecord {
    let (useful, not_useful) = (from_db(useful), from_db(not_useful));
    let judged = useful + not_useful;
    AliasRecord { alias, useful, not_useful, judged, offloads: from_db(offloads), last_at_ms }
}
