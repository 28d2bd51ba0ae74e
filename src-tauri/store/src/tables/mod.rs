//! One file a table: the steps that make it, its row, its reads and its writes.
//!
//! Long text stands in a table's last columns: SQLite reads a row from its start, so that what only counts
//! never touches the pages an answer lies on.

pub(crate) mod audit;
pub(crate) mod calls;
pub(crate) mod conversations;
pub(crate) mod facts;
pub(crate) mod gateway_keys;
pub(crate) mod ledger;
pub(crate) mod limits;
pub(crate) mod names;
pub(crate) mod onboarding;
pub(crate) mod panels;
pub(crate) mod probes;
pub(crate) mod record;
pub(crate) mod responses;
pub(crate) mod search;
pub(crate) mod seats;
pub(crate) mod setup;
pub(crate) mod sums;
pub(crate) mod turns;
pub(crate) mod verdicts;

use rusqlite::Row;

/// Rows emptied in one transaction: emptied text is overwritten, which takes as long as writing it did.
const PRUNED_AT_ONCE: u32 = 100;

/// SQLite counts with a sign.
fn to_db(count: u64) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}

fn from_db(count: i64) -> u64 {
    u64::try_from(count).unwrap_or(0)
}

/// A count that may be unknown.
fn known(row: &Row<'_>, at: usize) -> rusqlite::Result<Option<u64>> {
    row.get::<_, Option<i64>>(at).map(|count| count.map(from_db))
}

/// US dollars as they are kept; what is no number is not known.
fn dollars(cost: Option<f64>) -> Option<f64> {
    cost.filter(|cost| cost.is_finite())
}
