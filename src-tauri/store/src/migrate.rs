//! Bringing a file's schema up to what this version knows.
//!
//! Every table lists its own steps; a version is all steps of that number, in the order of [`TABLES`], in one
//! transaction with the version's number (`user_version`). A step, once released, never changes.

use rusqlite::Connection;

use crate::tables;

/// One change of the schema.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Step {
    /// The schema version that it belongs to, from 1.
    pub(crate) version: u32,
    pub(crate) sql: &'static str,
}

pub(crate) type Steps = &'static [&'static [Step]];

pub(crate) const TABLES: Steps = &[
    tables::setup::STEPS,
    tables::audit::STEPS,
    tables::panels::STEPS,
    tables::seats::STEPS,
    tables::calls::STEPS,
    tables::verdicts::STEPS,
    tables::responses::STEPS,
    tables::search::STEPS,
    tables::conversations::STEPS,
    tables::turns::STEPS,
    tables::names::STEPS,
    tables::ledger::STEPS,
    tables::onboarding::STEPS,
    tables::probes::STEPS,
    tables::facts::STEPS,
    tables::limits::STEPS,
    tables::gateway_keys::STEPS,
];

/// The schema version this build writes. A file of a higher one is refused.
pub const SCHEMA_VERSION: u32 = newest(TABLES);

/// The highest version among the steps.
pub(crate) const fn newest(tables: Steps) -> u32 {
    let mut newest = 0;
    let mut table = 0;
    while table < tables.len() {
        let mut step = 0;
        while step < tables[table].len() {
            if tables[table][step].version > newest {
                newest = tables[table][step].version;
            }
            step += 1;
        }
        table += 1;
    }
    newest
}

pub(crate) fn version(connection: &Connection) -> rusqlite::Result<u32> {
    connection.pragma_query_value(None, "user_version", |row| row.get(0))
}

/// Takes the schema from its version to the newest, or leaves it as it was.
pub(crate) fn migrate(connection: &mut Connection, tables: Steps) -> rusqlite::Result<()> {
    let from = version(connection)?;
    let transaction = connection.transaction_with_behavior(rusqlite::TransactionBehavior::Immediate)?;
    for next in from + 1..=newest(tables) {
        for step in tables.iter().flat_map(|steps| steps.iter()).filter(|step| step.version == next) {
            transaction.execute_batch(step.sql)?;
        }
    }
    transaction.pragma_update(None, "user_version", newest(tables))?;
    transaction.commit()?;
    // The version must stand in the file itself, where an older build looks for it before touching anything.
    connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()))
}
