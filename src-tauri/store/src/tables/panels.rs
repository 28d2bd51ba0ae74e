//! Panels: one row when a panel starts, completed when it ends.

use rusqlite::{Connection, OptionalExtension, Row, params};

use crate::{
    error::Fault,
    migrate::Step,
    tables::{
        PRUNED_AT_ONCE,
        calls::{self, StoredCall, finite},
        search::{self, Text},
        seats::{self, PlannedSeat},
    },
};

pub(crate) const STEPS: &[Step] = &[
    Step {
        version: 1,
        sql: "CREATE TABLE panels (
        seq INTEGER PRIMARY KEY,
        id TEXT NOT NULL UNIQUE,
        at_ms INTEGER NOT NULL,
        collection TEXT NOT NULL,
        shape TEXT NOT NULL,
        shape_by TEXT NOT NULL,
        reply TEXT NOT NULL,
        caller TEXT NOT NULL,
        client TEXT NOT NULL,
        turns INTEGER NOT NULL,
        practice INTEGER NOT NULL,
        state TEXT NOT NULL,
        seconds REAL,
        overhead_ms REAL,
        text_pruned INTEGER NOT NULL DEFAULT 0,
        error TEXT,
        skipped TEXT NOT NULL,
        lossy TEXT NOT NULL,
        system TEXT NOT NULL,
        prompt TEXT NOT NULL,
        request TEXT NOT NULL
    ) STRICT;
    CREATE INDEX panels_at ON panels (at_ms, id);
    CREATE INDEX panels_running ON panels (seq) WHERE state = 'running';
    CREATE INDEX panels_text ON panels (at_ms) WHERE text_pruned = 0;",
    },
    Step {
        version: 3,
        sql: "ALTER TABLE panels ADD COLUMN failed_over TEXT NOT NULL DEFAULT '[]';
    ALTER TABLE panels ADD COLUMN note TEXT;",
    },
];

/// A panel as it starts.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PanelRow {
    /// `p20261129-154501-9f3a6c01`, unique.
    pub id: String,
    /// Unix milliseconds.
    pub at_ms: i64,
    /// The collection's bare name.
    pub collection: String,
    pub shape: String,
    pub shape_by: String,
    /// `all`, `merged`
    pub reply: String,
    /// A gateway key's name, or `local`.
    pub caller: String,
    /// The user agent's short name.
    pub client: String,
    /// Empty when there was none.
    pub system: String,
    /// The last user turn.
    pub prompt: String,
    pub turns: u32,
    /// The messages as text: a JSON array.
    pub request_json: String,
    /// Who was not asked and why: a JSON array.
    pub skipped_json: String,
    /// What could not be passed on: a JSON array.
    pub lossy_json: String,
    pub practice: bool,
    /// In seating order.
    pub seats: Vec<PlannedSeat>,
}

/// How a panel ended.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PanelEnd {
    pub id: String,
    /// Whole time.
    pub seconds: f64,
    pub state: PanelOutcome,
    /// Why nobody answered, when nobody did. Redacted already.
    pub error: Option<String>,
    /// What the gateway itself took.
    pub overhead_ms: f64,
    /// The reply that was given: `all` where a merge was asked for and could not be made.
    pub reply: String,
    /// Why the reply is not the one that was asked for.
    pub note: Option<String>,
    /// Seats that passed to a stand-in: a JSON array.
    pub failed_over_json: String,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PanelOutcome {
    #[default]
    Done,
    /// No seat answered.
    Failed,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PanelState {
    Running,
    Done,
    /// No seat answered.
    Failed,
    /// The process ended while it ran.
    Interrupted,
}

/// A panel as it is kept.
#[derive(Clone, Debug, PartialEq)]
pub struct StoredPanel {
    pub row: PanelRow,
    pub state: PanelState,
    /// Once ended.
    pub seconds: Option<f64>,
    /// Once ended.
    pub overhead_ms: Option<f64>,
    /// Why the reply is not the one that was asked for.
    pub note: Option<String>,
    /// Seats that passed to a stand-in: a JSON array, once ended.
    pub failed_over_json: String,
    pub error: Option<String>,
    /// Its text was emptied because of its age.
    pub text_pruned: bool,
    /// Those that ended, in the order they ended.
    pub calls: Vec<StoredCall>,
}

pub(crate) fn insert(connection: &Connection, row: &PanelRow) -> Result<(), Fault> {
    connection
        .prepare_cached(
            "INSERT INTO panels (id, at_ms, collection, shape, shape_by, reply, caller, client, turns, practice,
                 state, skipped, lossy, system, prompt, request)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16)",
        )?
        .execute(params![
            row.id,
            row.at_ms,
            row.collection,
            row.shape,
            row.shape_by,
            row.reply,
            row.caller,
            row.client,
            row.turns,
            row.practice,
            PanelState::Running.as_str(),
            row.skipped_json,
            row.lossy_json,
            row.system,
            row.prompt,
            row.request_json,
        ])
        .map_err(|error| Fault::constraint(error, || format!("panel {} was recorded already", row.id)))?;
    search::add(connection, Text::Prompt, connection.last_insert_rowid(), &row.prompt)?;
    seats::insert(connection, &row.id, &row.seats)
}

pub(crate) fn shape(
    connection: &Connection,
    panel: &str,
    shape: &str,
    shape_by: &str,
    skipped_json: &str,
) -> Result<(), Fault> {
    connection
        .prepare_cached("UPDATE panels SET shape = ?2, shape_by = ?3, skipped = ?4 WHERE id = ?1")?
        .execute(params![panel, shape, shape_by, skipped_json])?;
    Ok(())
}

pub(crate) fn end(connection: &Connection, end: &PanelEnd) -> Result<(), Fault> {
    let state = match end.state {
        PanelOutcome::Done => PanelState::Done,
        PanelOutcome::Failed => PanelState::Failed,
    };
    let ended = connection
        .prepare_cached(
            "UPDATE panels SET state = ?2, seconds = ?3, error = ?4, overhead_ms = ?5, reply = ?6, note = ?7,
                 failed_over = ?8
             WHERE id = ?1 AND state = 'running'",
        )?
        .execute(params![
            end.id,
            state.as_str(),
            finite(end.seconds),
            end.error,
            finite(end.overhead_ms),
            end.reply,
            end.note,
            end.failed_over_json,
        ])?;
    if ended == 0 {
        return Err(Fault::conflict(format!("no panel {} is running", end.id)));
    }
    Ok(())
}

/// Panels that a process left running when it ended. Their calls that never ended are not invented.
pub(crate) fn interrupt_running(connection: &Connection) -> Result<u64, Fault> {
    let interrupted = connection
        .prepare_cached("UPDATE panels SET state = 'interrupted' WHERE state = 'running'")?
        .execute([])?;
    Ok(interrupted as u64)
}

/// Empties the text of panels asked before an instant, a slice of them at a time.
pub(crate) fn prune_text(connection: &Connection, before_ms: i64) -> Result<u64, Fault> {
    let old = "SELECT seq FROM panels WHERE text_pruned = 0 AND at_ms < ?1 LIMIT ?2";
    search::remove(connection, Text::Prompt, old, params![before_ms, PRUNED_AT_ONCE])?;
    let emptied = connection
        .prepare_cached(
            "UPDATE panels SET system = '', prompt = '', request = '[]', text_pruned = 1
             WHERE seq IN (SELECT seq FROM panels WHERE text_pruned = 0 AND at_ms < ?1 LIMIT ?2)",
        )?
        .execute(params![before_ms, PRUNED_AT_ONCE])?;
    Ok(emptied as u64)
}

const SELECT: &str =
    "SELECT id, at_ms, collection, shape, shape_by, reply, caller, client, turns, practice, state,
    seconds, overhead_ms, text_pruned, error, skipped, lossy, system, prompt, request, note, failed_over
    FROM panels";

pub(crate) fn one(connection: &Connection, id: &str) -> Result<Option<StoredPanel>, Fault> {
    let found = connection
        .prepare_cached(&format!("{SELECT} WHERE id = ?1"))?
        .query_row([id], from_row)
        .optional()?;
    let Some(mut panel) = found else { return Ok(None) };
    add_calls(connection, &mut panel)?;
    Ok(Some(panel))
}

/// The newest panels, newest first; after the panel `before`, where one is named. An unknown `before` has
/// nothing after it.
pub(crate) fn newest(
    connection: &Connection,
    before: Option<&str>,
    limit: u32,
) -> Result<Vec<StoredPanel>, Fault> {
    let after = match before {
        Some(_) => "WHERE (at_ms, id) < (SELECT at_ms, id FROM panels WHERE id = ?2)",
        None => "WHERE ?2 IS NULL",
    };
    let mut statement =
        connection.prepare_cached(&format!("{SELECT} {after} ORDER BY at_ms DESC, id DESC LIMIT ?1"))?;
    let mut panels = statement.query_map(params![limit, before], from_row)?.collect::<Result<Vec<_>, _>>()?;
    for panel in &mut panels {
        add_calls(connection, panel)?;
    }
    Ok(panels)
}

fn add_calls(connection: &Connection, panel: &mut StoredPanel) -> Result<(), Fault> {
    panel.row.seats = seats::of_panel(connection, &panel.row.id)?;
    panel.calls = calls::of_panel(connection, &panel.row.id)?;
    Ok(())
}

fn from_row(row: &Row<'_>) -> rusqlite::Result<StoredPanel> {
    Ok(StoredPanel {
        row: PanelRow {
            id: row.get(0)?,
            at_ms: row.get(1)?,
            collection: row.get(2)?,
            shape: row.get(3)?,
            shape_by: row.get(4)?,
            reply: row.get(5)?,
            caller: row.get(6)?,
            client: row.get(7)?,
            turns: row.get(8)?,
            practice: row.get(9)?,
            skipped_json: row.get(15)?,
            lossy_json: row.get(16)?,
            system: row.get(17)?,
            prompt: row.get(18)?,
            request_json: row.get(19)?,
            seats: Vec::new(),
        },
        state: PanelState::parse(&row.get::<_, String>(10)?),
        seconds: row.get(11)?,
        overhead_ms: row.get(12)?,
        text_pruned: row.get(13)?,
        error: row.get(14)?,
        note: row.get(20)?,
        failed_over_json: row.get(21)?,
        calls: Vec::new(),
    })
}

impl PanelState {
    fn as_str(self) -> &'static str {
        match self {
            PanelState::Running => "running",
            PanelState::Done => "done",
            PanelState::Failed => "failed",
            PanelState::Interrupted => "interrupted",
        }
    }

    fn parse(text: &str) -> PanelState {
        match text {
            "running" => PanelState::Running,
            "done" => PanelState::Done,
            "failed" => PanelState::Failed,
            _ => PanelState::Interrupted,
        }
    }
}
