//! The seats a panel started with: what was asked, whether or not an answer came.

use rusqlite::{Connection, params};

use crate::{error::Fault, migrate::Step};

pub(crate) const STEPS: &[Step] = &[Step {
    version: 1,
    sql: "CREATE TABLE seats (
        panel TEXT NOT NULL,
        position INTEGER NOT NULL,
        call TEXT NOT NULL,
        seat TEXT NOT NULL,
        kind TEXT NOT NULL,
        alias TEXT NOT NULL,
        endpoint TEXT NOT NULL,
        PRIMARY KEY (panel, position)
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX seats_alias ON seats (alias);",
}];

/// A seat as it was planned.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PlannedSeat {
    /// `<panel>.member1`
    pub call: String,
    /// `member1`
    pub seat: String,
    /// `member`, `explorer`, `merger`, `reserve`
    pub kind: String,
    pub alias: String,
    pub endpoint: String,
}

pub(crate) fn insert(connection: &Connection, panel: &str, seats: &[PlannedSeat]) -> Result<(), Fault> {
    let mut statement = connection.prepare_cached(
        "INSERT INTO seats (panel, position, call, seat, kind, alias, endpoint)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
    )?;
    for (position, seat) in (0_i64..).zip(seats) {
        statement.execute(params![
            panel,
            position,
            seat.call,
            seat.seat,
            seat.kind,
            seat.alias,
            seat.endpoint
        ])?;
    }
    Ok(())
}

pub(crate) fn of_panel(connection: &Connection, panel: &str) -> Result<Vec<PlannedSeat>, Fault> {
    let mut statement = connection.prepare_cached(
        "SELECT call, seat, kind, alias, endpoint FROM seats WHERE panel = ?1 ORDER BY position",
    )?;
    let seats = statement.query_map([panel], |row| {
        Ok(PlannedSeat {
            call: row.get(0)?,
            seat: row.get(1)?,
            kind: row.get(2)?,
            alias: row.get(3)?,
            endpoint: row.get(4)?,
        })
    })?;
    Ok(seats.collect::<Result<_, _>>()?)
}

pub(crate) fn rename_alias(connection: &Connection, from: &str, to: &str) -> Result<(), Fault> {
    connection.prepare_cached("UPDATE seats SET alias = ?2 WHERE alias = ?1")?.execute(params![from, to])?;
    Ok(())
}
