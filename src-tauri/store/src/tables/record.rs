//! What each model's record says: counts, over calls and the verdicts that stand.

use rusqlite::{Connection, params};

use crate::{error::Fault, tables::from_db};

/// Which calls count.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RecordFilter {
    /// Of panels of this collection only.
    pub collection: Option<String>,
    /// Of panels of this shape only.
    pub shape: Option<String>,
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

/// Every alias with at least one call, by name.
pub(crate) fn by_alias(connection: &Connection, filter: &RecordFilter) -> Result<Vec<AliasRecord>, Fault> {
    let mut statement = connection.prepare_cached(
        "SELECT c.alias, count(*) FILTER (WHERE v.useful = 1), count(*) FILTER (WHERE v.useful = 0), count(*),
             max(c.ended_ms)
         FROM calls c
         LEFT JOIN panels p ON p.id = c.panel
         LEFT JOIN verdicts v ON v.call = c.call AND v.standing = 1
         WHERE c.practice = ?1 AND (?2 IS NULL OR p.collection = ?2) AND (?3 IS NULL OR p.shape = ?3)
         GROUP BY c.alias ORDER BY c.alias",
    )?;
    let records = statement.query_map(params![filter.practice, filter.collection, filter.shape], |row| {
        let useful = from_db(row.get(1)?);
        let not_useful = from_db(row.get(2)?);
        Ok(AliasRecord {
            alias: row.get(0)?,
            useful,
            not_useful,
            judged: useful + not_useful,
            offloads: from_db(row.get(3)?),
            last_at_ms: row.get(4)?,
        })
    })?;
    Ok(records.collect::<Result<_, _>>()?)
}
