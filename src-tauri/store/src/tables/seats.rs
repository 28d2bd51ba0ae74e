//! The seats a panel started with: what was asked, whether or not an answer came.

use rusqlite::{Connection, OptionalExtension, params};

use crate::{error::Fault, migrate::Step, tables::names};

pub(crate) const STEPS: &[Step] = &[
    Step {
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
    },
    Step {
        version: 3,
        sql: "ALTER TABLE seats ADD COLUMN why TEXT NOT NULL DEFAULT '';
    ALTER TABLE seats ADD COLUMN stood_in_for TEXT;",
    },
    Step { version: 6, sql: "ALTER TABLE seats ADD COLUMN not_sent TEXT;" },
];

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
    /// Why it was chosen, where it is no member: an explorer's, a stand-in's, a merger's reason.
    pub why: String,
    /// The alias whose seat it took.
    pub stood_in_for: Option<String>,
    /// Why nobody was asked in the end, where nobody was: there is no call then.
    pub not_sent: Option<String>,
}

/// Adds seats behind those the panel has.
pub(crate) fn insert(connection: &Connection, panel: &str, seats: &[PlannedSeat]) -> Result<(), Fault> {
    let mut statement = connection.prepare_cached(
        "INSERT INTO seats (panel, position, call, seat, kind, alias, endpoint, why, stood_in_for)
         SELECT ?1, coalesce(max(position) + 1, 0), ?2, ?3, ?4, ?5, ?6, ?7, ?8 FROM seats WHERE panel = ?1",
    )?;
    let asked = "SELECT at_ms FROM panels WHERE id = ?1";
    let asked = connection.prepare_cached(asked)?.query_row([panel], |row| row.get(0)).optional()?;
    for seat in seats {
        let alias = names::now(connection, &seat.alias, asked.unwrap_or(i64::MAX))?;
        statement.execute(params![
            panel,
            seat.call,
            seat.seat,
            seat.kind,
            alias,
            seat.endpoint,
            seat.why,
            seat.stood_in_for,
        ])?;
    }
    Ok(())
}

pub(crate) fn of_panel(connection: &Connection, panel: &str) -> Result<Vec<PlannedSeat>, Fault> {
    let mut statement = connection.prepare_cached(
        "SELECT call, seat, kind, alias, endpoint, why, stood_in_for, not_sent FROM seats WHERE panel = ?1
         ORDER BY position",
    )?;
    let seats = statement.query_map([panel], |row| {
        Ok(PlannedSeat {
            call: row.get(0)?,
            seat: row.get(1)?,
            kind: row.get(2)?,
            alias: row.get(3)?,
            endpoint: row.get(4)?,
            why: row.get(5)?,
            stood_in_for: row.get(6)?,
            not_sent: row.get(7)?,
        })
    })?;
    Ok(seats.collect::<Result<_, _>>()?)
}

/// A seat's call was not sent, and why.
pub(crate) fn not_sent(connection: &Connection, panel: &str, call: &str, why: &str) -> Result<(), Fault> {
    let sql = "UPDATE seats SET not_sent = ?3 WHERE panel = ?1 AND call = ?2";
    connection.prepare_cached(sql)?.execute(params![panel, call, why])?;
    Ok(())
}

/// Whose seat another took has a call in that panel: they are found by that.
pub(crate) fn rename_alias(connection: &Connection, from: &str, to: &str) -> Result<(), Fault> {
    connection.prepare_cached("UPDATE seats SET alias = ?2 WHERE alias = ?1")?.execute(params![from, to])?;
    let stood_in = "UPDATE seats SET stood_in_for = ?2
        WHERE stood_in_for = ?1 AND panel IN (SELECT panel FROM calls WHERE alias = ?1)";
    connection.prepare_cached(stood_in)?.execute(params![from, to])?;
    Ok(())
}
