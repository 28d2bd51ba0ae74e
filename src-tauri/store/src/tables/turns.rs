//! Turns of routed conversations: one row each, the moment it ends.

use rusqlite::{Connection, OptionalExtension, Row, params};
use serde::{Deserialize, Serialize};

use crate::{
    error::Fault,
    migrate::Step,
    tables::{
        PRUNED_AT_ONCE,
        calls::{self, finite},
        conversations::{self, ConversationRow},
        dollars, known,
        ledger::{self, LedgerRow},
        names, to_db,
    },
};

/// It is written on the way of every agent's reply: what looks for turns goes by their conversation, and there is an
/// index of those few only that hold text, or that nobody answered.
pub(crate) const STEPS: &[Step] = &[Step {
    version: 4,
    sql: "CREATE TABLE turns (
        seq INTEGER PRIMARY KEY,
        conversation TEXT NOT NULL,
        n INTEGER NOT NULL,
        at_ms INTEGER NOT NULL,
        call TEXT NOT NULL,
        alias TEXT NOT NULL,
        endpoint TEXT NOT NULL,
        served TEXT NOT NULL,
        served_as TEXT,
        api TEXT NOT NULL,
        member_api TEXT NOT NULL,
        status TEXT NOT NULL,
        seconds REAL NOT NULL,
        first_token_s REAL,
        tool_calls INTEGER NOT NULL,
        finish TEXT,
        tokens_in INTEGER,
        tokens_out INTEGER,
        tokens_reasoning INTEGER,
        cache_read INTEGER,
        cache_write INTEGER,
        cost REAL,
        attempts INTEGER NOT NULL,
        overhead_ms REAL NOT NULL,
        error_class TEXT,
        error TEXT,
        failed_over TEXT NOT NULL,
        skipped TEXT NOT NULL,
        lossy TEXT NOT NULL,
        why TEXT NOT NULL,
        question TEXT NOT NULL,
        answer TEXT NOT NULL,
        UNIQUE (conversation, n)
    ) STRICT;
    CREATE INDEX turns_text ON turns (at_ms) WHERE question <> '' OR answer <> '';
    CREATE INDEX turns_unanswered ON turns (alias) WHERE call = '';",
}];

/// A turn as it ended.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct TurnRow {
    /// As the turn leaves it; where it is read, as it is now.
    pub conversation: ConversationRow,
    /// From 1, without gaps but for turns that were never recorded.
    pub n: u32,
    /// When it began: Unix milliseconds.
    pub at_ms: i64,
    /// `<conversation>.<n>` of the model that answered: one for each model of a conversation. Empty when nobody did.
    pub call: String,
    /// Who answered, else who was tried last.
    pub alias: String,
    pub endpoint: String,
    pub served: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub served_as: Option<String>,
    /// The caller's API, and the member's: `chat`, `anthropic`, …
    pub api: String,
    pub member_api: String,
    /// `ok`, `empty`, `error`, `cancelled`
    pub status: String,
    pub seconds: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub first_token_s: Option<f64>,
    pub tool_calls: u32,
    /// `stop`, `length`, `content_filter`, `tool_calls`
    #[serde(skip_serializing_if = "Option::is_none")]
    pub finish: Option<String>,
    /// Cache included.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tokens_in: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tokens_out: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tokens_reasoning: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cache_read: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cache_write: Option<u64>,
    /// US dollars; `None` where the price or the usage is not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost: Option<f64>,
    pub attempts: u32,
    pub overhead_ms: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error_class: Option<String>,
    /// Redacted already.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// JSON arrays and an object, as they are shown.
    pub failed_over_json: String,
    pub skipped_json: String,
    pub lossy_json: String,
    pub why_json: String,
    /// The caller's messages and the answer, where they are kept; else empty.
    pub question: String,
    pub answer: String,
    /// Its calls to providers, in the ledger's rows: whoever answered, and whoever was tried before. Written with it;
    /// where a turn is read, they are not.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub spent: Vec<LedgerRow>,
}

/// Writes a turn, what it makes of its conversation, and the work it was of the model that answered.
pub(crate) fn end(connection: &Connection, turn: &TurnRow) -> Result<(), Fault> {
    turn.spent.iter().try_for_each(|spent| ledger::insert(connection, spent))?;
    match renamed_since(connection, turn)? {
        None => record(connection, turn),
        Some(turn) => record(connection, &turn),
    }
}

/// A turn that began before a model was renamed is that model's.
fn renamed_since(connection: &Connection, turn: &TurnRow) -> Result<Option<TurnRow>, Fault> {
    if !names::any_renamed(connection, turn.at_ms)? {
        return Ok(None);
    }
    let now = |alias: &str| names::now(connection, alias, turn.at_ms);
    let (alias, whose) = (now(&turn.alias)?, now(&turn.conversation.alias)?);
    let conversation = ConversationRow { alias: whose, ..turn.conversation.clone() };
    Ok(Some(TurnRow { alias, conversation, spent: Vec::new(), ..turn.clone() }))
}

fn record(connection: &Connection, turn: &TurnRow) -> Result<(), Fault> {
    insert(connection, turn)?;
    conversations::turn_ended(connection, turn)?;
    if turn.call.is_empty() { Ok(()) } else { calls::turn_ended(connection, turn) }
}

fn insert(connection: &Connection, turn: &TurnRow) -> Result<(), Fault> {
    connection
        .prepare_cached(
            "INSERT INTO turns (conversation, n, at_ms, call, alias, endpoint, served, served_as, api, member_api,
                 status, seconds, first_token_s, tool_calls, finish, tokens_in, tokens_out, tokens_reasoning,
                 cache_read, cache_write, cost, attempts, overhead_ms, error_class, error, failed_over, skipped,
                 lossy, why, question, answer)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20,
                 ?21, ?22, ?23, ?24, ?25, ?26, ?27, ?28, ?29, ?30, ?31)",
        )?
        .execute(params![
            turn.conversation.id,
            turn.n,
            turn.at_ms,
            turn.call,
            turn.alias,
            turn.endpoint,
            turn.served,
            turn.served_as,
            turn.api,
            turn.member_api,
            turn.status,
            finite(turn.seconds),
            turn.first_token_s.map(finite),
            turn.tool_calls,
            turn.finish,
            turn.tokens_in.map(to_db),
            turn.tokens_out.map(to_db),
            turn.tokens_reasoning.map(to_db),
            turn.cache_read.map(to_db),
            turn.cache_write.map(to_db),
            dollars(turn.cost),
            turn.attempts,
            finite(turn.overhead_ms),
            turn.error_class,
            turn.error,
            turn.failed_over_json,
            turn.skipped_json,
            turn.lossy_json,
            turn.why_json,
            turn.question,
            turn.answer,
        ])
        .map_err(|error| {
            Fault::constraint(error, || {
                format!("turn {} of conversation {} was recorded already", turn.n, turn.conversation.id)
            })
        })?;
    Ok(())
}

pub(crate) fn is_known(connection: &Connection, conversation: &str, n: u32) -> Result<bool, Fault> {
    let sql = "SELECT 1 FROM turns WHERE conversation = ?1 AND n = ?2";
    Ok(connection.prepare_cached(sql)?.exists(params![conversation, n])?)
}

/// A conversation's turns, newest first; with `before_n`, those older than that turn.
pub(crate) fn newest(
    connection: &Connection,
    conversation: &str,
    before_n: Option<u32>,
    limit: u32,
) -> Result<Vec<TurnRow>, Fault> {
    let Some(whose) = conversations::row(connection, conversation)? else { return Ok(Vec::new()) };
    let sql = format!("{SELECT} WHERE conversation = ?1 AND n < ?2 ORDER BY n DESC LIMIT ?3");
    let mut statement = connection.prepare_cached(&sql)?;
    let before_n = before_n.map_or(i64::MAX, i64::from);
    let turns = statement.query_map(params![conversation, before_n, limit], |row| from_row(row, &whose))?;
    Ok(turns.collect::<Result<_, _>>()?)
}

pub(crate) fn one(connection: &Connection, conversation: &str, n: u32) -> Result<Option<TurnRow>, Fault> {
    let Some(whose) = conversations::row(connection, conversation)? else { return Ok(None) };
    let mut statement = connection.prepare_cached(&format!("{SELECT} WHERE conversation = ?1 AND n = ?2"))?;
    Ok(statement.query_row(params![conversation, n], |row| from_row(row, &whose)).optional()?)
}

/// The first turn of a call: the one in which its model was given the conversation.
pub(crate) fn of_call(connection: &Connection, call: &str) -> Result<Option<TurnRow>, Fault> {
    let Some((conversation, _)) = call.rsplit_once('.') else { return Ok(None) };
    let Some(whose) = conversations::row(connection, conversation)? else { return Ok(None) };
    let sql = format!("{SELECT} WHERE conversation = ?1 AND call = ?2 ORDER BY n LIMIT 1");
    let mut statement = connection.prepare_cached(&sql)?;
    Ok(statement.query_row([conversation, call], |row| from_row(row, &whose)).optional()?)
}

/// Empties what is kept of turns that began before an instant, a slice of them at a time.
pub(crate) fn prune_text(connection: &Connection, before_ms: i64) -> Result<u64, Fault> {
    let emptied = connection
        .prepare_cached(
            "UPDATE turns SET question = '', answer = '' WHERE seq IN
                 (SELECT seq FROM turns WHERE (question <> '' OR answer <> '') AND at_ms < ?1 LIMIT ?2)",
        )?
        .execute(params![before_ms, PRUNED_AT_ONCE])?;
    Ok(emptied as u64)
}

/// Turns that were answered are found by their calls, the few others by an index.
pub(crate) fn rename_alias(connection: &Connection, from: &str, to: &str) -> Result<(), Fault> {
    for of_alias in [
        "conversation IN (SELECT panel FROM calls WHERE alias = ?1) AND alias = ?1",
        "call = '' AND alias = ?1",
    ] {
        let sql = format!("UPDATE turns SET alias = ?2 WHERE {of_alias}");
        connection.prepare_cached(&sql)?.execute(params![from, to])?;
    }
    Ok(())
}

const SELECT: &str =
    "SELECT n, at_ms, call, alias, endpoint, served, served_as, api, member_api, status, seconds, first_token_s,
    tool_calls, finish, tokens_in, tokens_out, tokens_reasoning, cache_read, cache_write, cost, attempts,
    overhead_ms, error_class, error, failed_over, skipped, lossy, why, question, answer FROM turns";

fn from_row(row: &Row<'_>, conversation: &ConversationRow) -> rusqlite::Result<TurnRow> {
    Ok(TurnRow {
        conversation: conversation.clone(),
        n: row.get(0)?,
        at_ms: row.get(1)?,
        call: row.get(2)?,
        alias: row.get(3)?,
        endpoint: row.get(4)?,
        served: row.get(5)?,
        served_as: row.get(6)?,
        api: row.get(7)?,
        member_api: row.get(8)?,
        status: row.get(9)?,
        seconds: row.get(10)?,
        first_token_s: row.get(11)?,
        tool_calls: row.get(12)?,
        finish: row.get(13)?,
        tokens_in: known(row, 14)?,
        tokens_out: known(row, 15)?,
        tokens_reasoning: known(row, 16)?,
        cache_read: known(row, 17)?,
        cache_write: known(row, 18)?,
        cost: row.get(19)?,
        attempts: row.get(20)?,
        overhead_ms: row.get(21)?,
        error_class: row.get(22)?,
        error: row.get(23)?,
        failed_over_json: row.get(24)?,
        skipped_json: row.get(25)?,
        lossy_json: row.get(26)?,
        why_json: row.get(27)?,
        question: row.get(28)?,
        answer: row.get(29)?,
        spent: Vec::new(),
    })
}
