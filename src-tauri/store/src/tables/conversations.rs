//! Routed conversations: one row each, brought up to date by every turn that ends.
//!
//! What is counted over its turns stands with the conversation, so that a list of them reads no turn.

use rusqlite::{Connection, OptionalExtension, Row, params};
use serde::{Deserialize, Serialize};

use crate::{
    error::Fault,
    migrate::Step,
    tables::{
        PRUNED_AT_ONCE,
        calls::{self, SHADOW, StoredCall, ended_ms},
        dollars, known, to_db,
        turns::TurnRow,
    },
};

pub(crate) const STEPS: &[Step] = &[Step {
    version: 4,
    sql: "CREATE TABLE conversations (
        seq INTEGER PRIMARY KEY,
        id TEXT NOT NULL UNIQUE,
        key TEXT NOT NULL,
        collection TEXT NOT NULL,
        shape TEXT NOT NULL,
        caller TEXT NOT NULL,
        client TEXT NOT NULL,
        at_ms INTEGER NOT NULL,
        alias TEXT NOT NULL,
        practice INTEGER NOT NULL,
        last_at_ms INTEGER NOT NULL,
        turns INTEGER NOT NULL,
        tool_calls INTEGER NOT NULL,
        failed_over INTEGER NOT NULL,
        tokens_in INTEGER,
        tokens_out INTEGER,
        cost REAL,
        cost_unknown INTEGER NOT NULL,
        status TEXT NOT NULL,
        title TEXT NOT NULL
    ) STRICT;
    CREATE INDEX conversations_last ON conversations (last_at_ms, id);
    CREATE INDEX conversations_text ON conversations (at_ms) WHERE title <> '';",
}];

/// A conversation as a turn leaves it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ConversationRow {
    /// `r20261129-154501-9f3a6c01`, unique.
    pub id: String,
    /// What a client's next turn is known by, as hex. Another conversation may have it once this one is over.
    pub key: String,
    /// The collection's bare name; `model/<alias>` where a model was asked for by its name.
    pub collection: String,
    pub shape: String,
    /// A gateway key's name, or `local`.
    pub caller: String,
    /// The user agent's short name.
    pub client: String,
    /// The beginning of the first user message; as the first turn that was recorded says it.
    pub title: String,
    /// The first turn: Unix milliseconds.
    pub at_ms: i64,
    /// Whose conversation it is now; empty until somebody has answered.
    pub alias: String,
    pub practice: bool,
}

/// A conversation that may go on, as the gateway finds it at start.
#[derive(Clone, Debug, PartialEq)]
pub struct OpenConversation {
    pub row: ConversationRow,
    /// Its newest turn's end: Unix milliseconds.
    pub last_at_ms: i64,
    pub turns: u32,
    pub totals: Totals,
    /// The call of each model that answered, and its alias, oldest first; shadows are not among them.
    pub calls: Vec<(String, String)>,
    /// How many shadow calls it has.
    pub shadows: u32,
}

/// What a conversation's turns have taken together, and how the one that ended last did.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Totals {
    pub tool_calls: u32,
    /// Turns that another model took over.
    pub failed_over: u32,
    /// Over all turns; `None` when no turn has one.
    pub tokens_in: Option<u64>,
    pub tokens_out: Option<u64>,
    /// Of the turns whose cost is known, and how many are not.
    pub cost: Option<f64>,
    pub cost_unknown: u32,
    pub status: String,
}

/// A conversation as it is kept.
#[derive(Clone, Debug, PartialEq)]
pub struct StoredConversation {
    pub row: ConversationRow,
    pub last_at_ms: i64,
    pub turns: u32,
    pub totals: Totals,
    /// The calls of it, shadows among them, with their verdicts.
    pub calls: Vec<StoredCall>,
}

/// A turn has ended. What it is known by and whose it is, is what the turn that ended last says;
/// an unknown count leaves a sum as it is, and a sum too large for SQLite stays at the most that it can hold.
pub(crate) fn turn_ended(connection: &Connection, turn: &TurnRow) -> Result<(), Fault> {
    let row = &turn.conversation;
    let taken_over = !turn.call.is_empty() && !matches!(turn.failed_over_json.as_str(), "" | "[]");
    connection
        .prepare_cached(
            "INSERT INTO conversations (id, key, collection, shape, caller, client, title, at_ms, alias, practice,
                 last_at_ms, turns, tool_calls, failed_over, tokens_in, tokens_out, cost, cost_unknown, status)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19)
             ON CONFLICT (id) DO UPDATE SET
                 key = excluded.key,
                 alias = coalesce(nullif(excluded.alias, ''), alias),
                 practice = excluded.practice,
                 last_at_ms = max(last_at_ms, excluded.last_at_ms),
                 turns = max(turns, excluded.turns),
                 tool_calls = min(tool_calls + excluded.tool_calls, 4294967295),
                 failed_over = failed_over + excluded.failed_over,
                 tokens_in =
                     coalesce(CAST(tokens_in + excluded.tokens_in AS INTEGER), tokens_in, excluded.tokens_in),
                 tokens_out =
                     coalesce(CAST(tokens_out + excluded.tokens_out AS INTEGER), tokens_out, excluded.tokens_out),
                 cost = coalesce(cost + excluded.cost, cost, excluded.cost),
                 cost_unknown = cost_unknown + excluded.cost_unknown,
                 status = excluded.status",
        )?
        .execute(params![
        row.id,
        row.key,
        row.collection,
        row.shape,
        row.caller,
        row.client,
        row.title,
        row.at_ms,
        row.alias,
        row.practice,
        ended_ms(turn.at_ms, turn.seconds),
        turn.n,
        turn.tool_calls,
        taken_over,
        turn.tokens_in.map(to_db),
        turn.tokens_out.map(to_db),
        dollars(turn.cost),
        dollars(turn.cost).is_none(),
        turn.status,
    ])?;
    Ok(())
}

/// Conversations whose newest turn ended at an instant or later, newest first.
pub(crate) fn open(
    connection: &Connection,
    since_ms: i64,
    limit: u32,
) -> Result<Vec<OpenConversation>, Fault> {
    let sql = format!("{SELECT} WHERE last_at_ms >= ?1 ORDER BY last_at_ms DESC, id DESC LIMIT ?2");
    let mut statement = connection.prepare_cached(&sql)?;
    let found = statement.query_map(params![since_ms, limit], from_row)?;
    let mut calls = connection
        .prepare_cached("SELECT call, alias, kind = ?2 FROM calls WHERE panel = ?1 ORDER BY seq")?;
    let mut open = Vec::new();
    for conversation in found {
        let StoredConversation { row, last_at_ms, turns, totals, .. } = conversation?;
        let mut it = OpenConversation { row, last_at_ms, turns, totals, calls: Vec::new(), shadows: 0 };
        let mut rows = calls.query([it.row.id.as_str(), SHADOW])?;
        while let Some(row) = rows.next()? {
            match row.get(2)? {
                true => it.shadows += 1,
                false => it.calls.push((row.get(0)?, row.get(1)?)),
            }
        }
        open.push(it);
    }
    Ok(open)
}

/// Those with the newest turns, newest first; after the conversation `before`, where one is named. An unknown
/// `before` has nothing after it.
pub(crate) fn newest(
    connection: &Connection,
    before: Option<&str>,
    limit: u32,
) -> Result<Vec<StoredConversation>, Fault> {
    let after = match before {
        Some(_) => "WHERE (last_at_ms, id) < (SELECT last_at_ms, id FROM conversations WHERE id = ?2)",
        None => "WHERE ?2 IS NULL",
    };
    let sql = format!("{SELECT} {after} ORDER BY last_at_ms DESC, id DESC LIMIT ?1");
    let mut statement = connection.prepare_cached(&sql)?;
    let found = statement.query_map(params![limit, before], from_row)?.collect::<Result<Vec<_>, _>>()?;
    found.into_iter().map(|conversation| with_calls(connection, conversation)).collect()
}

pub(crate) fn one(connection: &Connection, id: &str) -> Result<Option<StoredConversation>, Fault> {
    let found = connection
        .prepare_cached(&format!("{SELECT} WHERE id = ?1"))?
        .query_row([id], from_row)
        .optional()?;
    found.map(|conversation| with_calls(connection, conversation)).transpose()
}

/// A conversation's own row.
pub(crate) fn row(connection: &Connection, id: &str) -> Result<Option<ConversationRow>, Fault> {
    let mut statement = connection.prepare_cached(&format!("{SELECT} WHERE id = ?1"))?;
    Ok(statement.query_row([id], from_row).optional()?.map(|stored| stored.row))
}

/// Empties the titles of conversations that began before an instant, a slice of them at a time.
pub(crate) fn prune_text(connection: &Connection, before_ms: i64) -> Result<u64, Fault> {
    let emptied = connection
        .prepare_cached(
            "UPDATE conversations SET title = '' WHERE seq IN
                 (SELECT seq FROM conversations WHERE title <> '' AND at_ms < ?1 LIMIT ?2)",
        )?
        .execute(params![before_ms, PRUNED_AT_ONCE])?;
    Ok(emptied as u64)
}

/// Whose conversation it is has a call in it: they are found by that.
pub(crate) fn rename_alias(connection: &Connection, from: &str, to: &str) -> Result<(), Fault> {
    connection
        .prepare_cached(
            "UPDATE conversations SET alias = ?2
             WHERE alias = ?1 AND id IN (SELECT panel FROM calls WHERE alias = ?1)",
        )?
        .execute(params![from, to])?;
    Ok(())
}

const SELECT: &str =
    "SELECT id, key, collection, shape, caller, client, title, at_ms, alias, practice, last_at_ms, turns, tool_calls,
    failed_over, tokens_in, tokens_out, cost, cost_unknown, status FROM conversations";

fn with_calls(
    connection: &Connection,
    mut conversation: StoredConversation,
) -> Result<StoredConversation, Fault> {
    conversation.calls = calls::of_panel(connection, &conversation.row.id)?;
    Ok(conversation)
}

fn from_row(row: &Row<'_>) -> rusqlite::Result<StoredConversation> {
    Ok(StoredConversation {
        row: ConversationRow {
            id: row.get(0)?,
            key: row.get(1)?,
            collection: row.get(2)?,
            shape: row.get(3)?,
            caller: row.get(4)?,
            client: row.get(5)?,
            title: row.get(6)?,
            at_ms: row.get(7)?,
            alias: row.get(8)?,
            practice: row.get(9)?,
        },
        last_at_ms: row.get(10)?,
        turns: row.get(11)?,
        totals: Totals {
            tool_calls: row.get(12)?,
            failed_over: row.get(13)?,
            tokens_in: known(row, 14)?,
            tokens_out: known(row, 15)?,
            cost: row.get(16)?,
            cost_unknown: row.get(17)?,
            status: row.get(18)?,
        },
        calls: Vec::new(),
    })
}
