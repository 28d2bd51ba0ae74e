//! Calls: one row the moment a seat's call ends, and one for each model of a conversation, which its turns are summed
//! in. A call that never ended has no row.

use rusqlite::{Connection, OptionalExtension, Row, params};

use crate::{
    error::Fault,
    migrate::Step,
    tables::{
        PRUNED_AT_ONCE, dollars, from_db, known,
        ledger::{self, LedgerRow},
        names,
        search::{self, Text},
        to_db,
        turns::TurnRow,
        verdicts::{self, Judged, VerdictRow},
    },
};

/// No foreign key to `panels`: a panel's own record may have been lost, its calls are kept nevertheless.
pub(crate) const STEPS: &[Step] = &[
    Step {
        version: 1,
        sql: "CREATE TABLE calls (
        seq INTEGER PRIMARY KEY,
        call TEXT NOT NULL UNIQUE,
        panel TEXT NOT NULL,
        seat TEXT NOT NULL,
        kind TEXT NOT NULL,
        alias TEXT NOT NULL,
        endpoint TEXT NOT NULL,
        served TEXT NOT NULL,
        served_as TEXT,
        status TEXT NOT NULL,
        practice INTEGER NOT NULL,
        started_ms INTEGER NOT NULL,
        ended_ms INTEGER NOT NULL,
        seconds REAL NOT NULL,
        first_token_s REAL,
        tokens_in INTEGER,
        tokens_out INTEGER,
        tokens_reasoning INTEGER,
        cache_read INTEGER,
        cache_write INTEGER,
        attempts INTEGER NOT NULL,
        text_pruned INTEGER NOT NULL DEFAULT 0,
        error_class TEXT,
        error TEXT,
        answer TEXT NOT NULL
    ) STRICT;
    CREATE INDEX calls_panel ON calls (panel);
    CREATE INDEX calls_record ON calls (alias, practice, panel, call, ended_ms);
    CREATE INDEX calls_text ON calls (started_ms) WHERE text_pruned = 0;",
    },
    // The panel's collection and shape stand with the call: a record is counted without the panels, from the
    // index alone.
    Step {
        version: 3,
        sql: "ALTER TABLE calls ADD COLUMN collection TEXT NOT NULL DEFAULT '';
    ALTER TABLE calls ADD COLUMN shape TEXT NOT NULL DEFAULT '';
    UPDATE calls SET (collection, shape) = (SELECT collection, shape FROM panels WHERE id = calls.panel)
        WHERE panel IN (SELECT id FROM panels);
    DROP INDEX calls_record;
    CREATE INDEX calls_record ON calls (alias, shape, practice, collection, ended_ms, panel, call);",
    },
    // The turns of a model in a conversation are summed, and say how they ended, as those that end from now on.
    Step {
        version: 5,
        sql: "ALTER TABLE calls ADD COLUMN cost REAL;
    ALTER TABLE calls ADD COLUMN finish TEXT;
    UPDATE calls SET
        cost = (SELECT sum(cost) FROM turns t WHERE t.conversation = calls.panel AND t.call = calls.call),
        finish = (SELECT finish FROM turns t WHERE t.conversation = calls.panel AND t.call = calls.call
            ORDER BY t.seq DESC LIMIT 1)
    WHERE kind = 'route';",
    },
];

/// The status of a call that answered.
const ANSWERED: &str = "ok";
/// The kind of a call that merged the seats' answers, and so is no seat itself.
const MERGER: &str = "merger";

/// The kind of a model's work in a conversation: its turns together.
pub(crate) const ROUTED: &str = "route";
/// The kind of a call that answered a turn in the background.
pub(crate) const SHADOW: &str = "shadow";
/// What a verdict is welcome on and never owed.
const NEVER_OWED: [&str; 3] = [MERGER, ROUTED, SHADOW];

/// A call that ended.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CallRow {
    /// `<panel>.member1`, `<conversation>.1`, unique.
    pub call: String,
    /// The panel, or the conversation, that it belongs to.
    pub panel: String,
    /// `member1`, `1`
    pub seat: String,
    /// `member`, `explorer`, `merger`, `reserve`, `route`, `shadow`
    pub kind: String,
    pub alias: String,
    pub endpoint: String,
    /// The provider's name of the model that was asked for.
    pub served: String,
    /// The name it said it answered as, where it said one.
    pub served_as: Option<String>,
    /// `ok`, `empty`, `error`, `late`, `cancelled`
    pub status: String,
    /// Unix milliseconds.
    pub started_ms: i64,
    /// From its start to its end.
    pub seconds: f64,
    /// From its start to its first token.
    pub first_token_s: Option<f64>,
    /// Cache included.
    pub tokens_in: Option<u64>,
    pub tokens_out: Option<u64>,
    pub tokens_reasoning: Option<u64>,
    pub cache_read: Option<u64>,
    pub cache_write: Option<u64>,
    pub answer: String,
    /// Redacted already.
    pub error: Option<String>,
    pub error_class: Option<String>,
    pub attempts: u32,
    /// A practice model's: kept out of the real record.
    pub practice: bool,
    /// `stop`, `length`, `content_filter`, `tool_calls`
    pub finish: Option<String>,
    /// US dollars; `None` where the price or the usage is not known. Of turns, the sum of what is known.
    pub cost: Option<f64>,
    /// Its row in the ledger, written with it. Where a call is read, it is not.
    pub spent: Option<LedgerRow>,
}

/// A call as it is kept.
#[derive(Clone, Debug, PartialEq)]
pub struct StoredCall {
    pub row: CallRow,
    /// The collection its panel was asked of, or its conversation is with; empty when the panel's own record was lost.
    pub collection: String,
    pub verdict: Option<VerdictRow>,
    /// Its answer was emptied because of its age.
    pub text_pruned: bool,
}

impl StoredCall {
    /// Whether a verdict on it is owed: a panel's seat that answered and was not judged.
    pub fn is_owed(&self) -> bool {
        self.row.status == ANSWERED && !NEVER_OWED.contains(&self.row.kind.as_str()) && self.verdict.is_none()
    }
}

/// A seat's call; its collection and shape are the panel's.
pub(crate) fn insert(connection: &Connection, row: &CallRow) -> Result<(), Fault> {
    write(connection, row, None)?;
    search::add(connection, Text::Answer, connection.last_insert_rowid(), &row.answer)
}

/// What shadows of a collection have taken. Those of one day are the newest rows: it reads back from the end.
pub(crate) fn shadow_tokens(connection: &Connection, collection: &str, since_ms: i64) -> Result<u64, Fault> {
    let mut statement = connection.prepare_cached(
        "SELECT kind = ?1 AND collection = ?2, started_ms, coalesce(tokens_in, 0), coalesce(tokens_out, 0)
         FROM calls ORDER BY seq DESC",
    )?;
    let mut rows = statement.query(params![SHADOW, collection])?;
    let mut spent: u64 = 0;
    while let Some(row) = rows.next()? {
        // A call that began before and ended after stands among younger ones: a day has none so long.
        if row.get::<_, i64>(1)? < since_ms.saturating_sub(3_600_000) {
            break;
        }
        if row.get(0)? && row.get::<_, i64>(1)? >= since_ms {
            spent = spent.saturating_add(from_db(row.get(2)?)).saturating_add(from_db(row.get(3)?));
        }
    }
    Ok(spent)
}

/// A shadow's call, with its conversation's collection and shape. Its answer is not among what is searched: a hit is
/// a panel.
pub(crate) fn insert_shadow(
    connection: &Connection,
    row: &CallRow,
    collection: &str,
    shape: &str,
) -> Result<(), Fault> {
    write(connection, row, Some((collection, shape)))
}

/// Without a collection and shape of its own it has its panel's.
fn write(connection: &Connection, row: &CallRow, of: Option<(&str, &str)>) -> Result<(), Fault> {
    if let Some(spent) = &row.spent {
        ledger::insert(connection, spent)?;
    }
    let alias = names::now(connection, &row.alias, row.started_ms)?;
    connection
        .prepare_cached(
            "INSERT INTO calls (call, panel, seat, kind, alias, endpoint, served, served_as, status, practice,
                 started_ms, ended_ms, seconds, first_token_s, tokens_in, tokens_out, tokens_reasoning,
                 cache_read, cache_write, attempts, error_class, error, answer, collection, shape, cost, finish)
             SELECT ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20,
                 ?21, ?22, ?23, coalesce(?24, max(collection), ''), coalesce(?25, max(shape), ''), ?26, ?27
             FROM panels WHERE id = ?2",
        )?
        .execute(params![
            row.call,
            row.panel,
            row.seat,
            row.kind,
            alias,
            row.endpoint,
            row.served,
            row.served_as,
            row.status,
            row.practice,
            row.started_ms,
            ended_ms(row.started_ms, row.seconds),
            finite(row.seconds),
            row.first_token_s.map(finite),
            row.tokens_in.map(to_db),
            row.tokens_out.map(to_db),
            row.tokens_reasoning.map(to_db),
            row.cache_read.map(to_db),
            row.cache_write.map(to_db),
            row.attempts,
            row.error_class,
            row.error,
            row.answer,
            of.map(|(collection, _)| collection),
            of.map(|(_, shape)| shape),
            dollars(row.cost),
            row.finish,
        ])
        .map_err(|error| Fault::constraint(error, || format!("call {} was recorded already", row.call)))?;
    Ok(())
}

/// A turn that a model answered, counted into its work in the conversation: one call however many turns. What it
/// took is summed, and how it ended is what the turn that ended last says. The shape stays that of the first, by
/// which it was counted.
pub(crate) fn turn_ended(connection: &Connection, turn: &TurnRow) -> Result<(), Fault> {
    let seat = turn.call.rsplit_once('.').map_or("", |(_, seat)| seat);
    connection
        .prepare_cached(
            "INSERT INTO calls (call, panel, seat, kind, alias, endpoint, served, served_as, status, practice,
                 started_ms, ended_ms, seconds, first_token_s, tokens_in, tokens_out, tokens_reasoning,
                 cache_read, cache_write, attempts, error_class, error, answer, collection, shape, cost, finish)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20,
                 ?21, ?22, '', ?23, ?24, ?25, ?26)
             ON CONFLICT (call) DO UPDATE SET
                 endpoint = excluded.endpoint,
                 served = excluded.served,
                 served_as = excluded.served_as,
                 status = excluded.status,
                 ended_ms = max(ended_ms, excluded.ended_ms),
                 seconds = seconds + excluded.seconds,
                 tokens_in =
                     coalesce(CAST(tokens_in + excluded.tokens_in AS INTEGER), tokens_in, excluded.tokens_in),
                 tokens_out =
                     coalesce(CAST(tokens_out + excluded.tokens_out AS INTEGER), tokens_out, excluded.tokens_out),
                 tokens_reasoning = coalesce(CAST(tokens_reasoning + excluded.tokens_reasoning AS INTEGER),
                     tokens_reasoning, excluded.tokens_reasoning),
                 cache_read =
                     coalesce(CAST(cache_read + excluded.cache_read AS INTEGER), cache_read, excluded.cache_read),
                 cache_write =
                     coalesce(CAST(cache_write + excluded.cache_write AS INTEGER), cache_write, excluded.cache_write),
                 attempts = min(attempts + excluded.attempts, 4294967295),
                 error_class = excluded.error_class,
                 error = excluded.error,
                 cost = coalesce(cost + excluded.cost, cost, excluded.cost),
                 finish = excluded.finish",
        )?
        .execute(params![
            turn.call,
            turn.conversation.id,
            seat,
            ROUTED,
            turn.alias,
            turn.endpoint,
            turn.served,
            turn.served_as,
            turn.status,
            turn.conversation.practice,
            turn.at_ms,
            ended_ms(turn.at_ms, turn.seconds),
            finite(turn.seconds),
            turn.first_token_s.map(finite),
            turn.tokens_in.map(to_db),
            turn.tokens_out.map(to_db),
            turn.tokens_reasoning.map(to_db),
            turn.cache_read.map(to_db),
            turn.cache_write.map(to_db),
            turn.attempts,
            turn.error_class,
            turn.error,
            turn.conversation.collection,
            turn.conversation.shape,
            dollars(turn.cost),
            turn.finish,
        ])?;
    Ok(())
}

/// The shape of a panel's calls, where they ended before it was known.
pub(crate) fn shape(connection: &Connection, panel: &str, shape: &str) -> Result<(), Fault> {
    connection
        .prepare_cached("UPDATE calls SET shape = ?2 WHERE panel = ?1")?
        .execute(params![panel, shape])?;
    Ok(())
}

/// The verdicts that stand on a panel's calls.
pub(crate) fn judged(connection: &Connection, panel: &str) -> Result<Vec<Judged>, Fault> {
    let mut statement = connection.prepare_cached(
        "SELECT c.alias, c.shape, v.useful FROM calls c
         JOIN verdicts v ON v.call = c.call AND v.standing = 1 WHERE c.panel = ?1",
    )?;
    let judged = statement
        .query_map([panel], |row| Ok(Judged { alias: row.get(0)?, shape: row.get(1)?, was: row.get(2)? }))?;
    Ok(judged.collect::<Result<_, _>>()?)
}

/// Whose work a call is, and for which shape.
pub(crate) fn work(connection: &Connection, call: &str) -> Result<Option<(String, String)>, Fault> {
    let mut statement = connection.prepare_cached("SELECT alias, shape FROM calls WHERE call = ?1")?;
    Ok(statement.query_row([call], |row| Ok((row.get(0)?, row.get(1)?))).optional()?)
}

/// Unix milliseconds. A duration that is no number or absurdly long saturates: `as` from a float does.
pub(crate) fn ended_ms(started_ms: i64, seconds: f64) -> i64 {
    started_ms.saturating_add((seconds * 1000.0) as i64)
}

/// SQLite has no NaN: it would become NULL, which the column refuses.
pub(crate) fn finite(seconds: f64) -> f64 {
    if seconds.is_finite() { seconds } else { 0.0 }
}

const SELECT: &str =
    "SELECT c.call, c.panel, c.seat, c.kind, c.alias, c.endpoint, c.served, c.served_as, c.status,
    c.practice, c.started_ms, c.seconds, c.first_token_s, c.tokens_in, c.tokens_out, c.tokens_reasoning,
    c.cache_read, c.cache_write, c.attempts, c.text_pruned, c.error_class, c.error, c.answer, c.collection,
    c.cost, c.finish FROM calls c";

pub(crate) fn one(connection: &Connection, call: &str) -> Result<Option<StoredCall>, Fault> {
    let found = connection
        .prepare_cached(&format!("{SELECT} WHERE c.call = ?1"))?
        .query_row([call], from_row)
        .optional()?;
    let Some(mut stored) = found else { return Ok(None) };
    stored.verdict = verdicts::standing(connection, call)?;
    Ok(Some(stored))
}

/// What a call was asked for: a collection's name, or `model/<alias>`.
pub(crate) fn collection(connection: &Connection, call: &str) -> Result<Option<String>, Fault> {
    let sql = "SELECT collection FROM calls WHERE call = ?1";
    Ok(connection.prepare_cached(sql)?.query_row([call], |row| row.get(0)).optional()?)
}

/// A panel's calls with their verdicts, in the order they ended.
pub(crate) fn of_panel(connection: &Connection, panel: &str) -> Result<Vec<StoredCall>, Fault> {
    let mut statement = connection.prepare_cached(&format!("{SELECT} WHERE c.panel = ?1 ORDER BY c.seq"))?;
    let mut calls = statement.query_map([panel], from_row)?.collect::<Result<Vec<_>, _>>()?;
    for stored in &mut calls {
        stored.verdict = verdicts::standing(connection, &stored.row.call)?;
    }
    Ok(calls)
}

/// Whether a call answered and was not judged, seat or merger.
pub(crate) fn is_pending(connection: &Connection, call: &str) -> Result<bool, Fault> {
    let sql = "SELECT 1 FROM calls c WHERE c.call = ?1 AND c.status = ?2
        AND NOT EXISTS (SELECT 1 FROM verdicts v WHERE v.call = c.call AND v.standing = 1)";
    Ok(connection.prepare_cached(sql)?.exists([call, ANSWERED])?)
}

/// The panels among the newest `panels` on which a verdict is owed, newest first, and how many are owed on
/// each.
pub(crate) fn owed(connection: &Connection, panels: u32) -> Result<Vec<(String, u32)>, Fault> {
    let mut statement = connection.prepare_cached(
        "SELECT p.id, count(*)
         FROM (SELECT id, at_ms FROM panels ORDER BY at_ms DESC, id DESC LIMIT ?1) p
         JOIN calls c ON c.panel = p.id
         WHERE c.status = ?2 AND c.kind <> ?3
             AND NOT EXISTS (SELECT 1 FROM verdicts v WHERE v.call = c.call AND v.standing = 1)
         GROUP BY p.id ORDER BY p.at_ms DESC, p.id DESC",
    )?;
    let owed =
        statement.query_map(params![panels, ANSWERED, MERGER], |row| Ok((row.get(0)?, row.get(1)?)))?;
    Ok(owed.collect::<Result<_, _>>()?)
}

pub(crate) fn rename_alias(connection: &Connection, from: &str, to: &str) -> Result<(), Fault> {
    connection.prepare_cached("UPDATE calls SET alias = ?2 WHERE alias = ?1")?.execute(params![from, to])?;
    Ok(())
}

/// Empties the answers of calls that started before an instant, a slice of them at a time.
pub(crate) fn prune_text(connection: &Connection, before_ms: i64) -> Result<u64, Fault> {
    let old = "SELECT seq FROM calls WHERE text_pruned = 0 AND started_ms < ?1 LIMIT ?2";
    search::remove(connection, Text::Answer, old, params![before_ms, PRUNED_AT_ONCE])?;
    let emptied = connection
        .prepare_cached(
            "UPDATE calls SET answer = '', text_pruned = 1 WHERE seq IN
                 (SELECT seq FROM calls WHERE text_pruned = 0 AND started_ms < ?1 LIMIT ?2)",
        )?
        .execute(params![before_ms, PRUNED_AT_ONCE])?;
    Ok(emptied as u64)
}

fn from_row(row: &Row<'_>) -> rusqlite::Result<StoredCall> {
    Ok(StoredCall {
        row: CallRow {
            call: row.get(0)?,
            panel: row.get(1)?,
            seat: row.get(2)?,
            kind: row.get(3)?,
            alias: row.get(4)?,
            endpoint: row.get(5)?,
            served: row.get(6)?,
            served_as: row.get(7)?,
            status: row.get(8)?,
            practice: row.get(9)?,
            started_ms: row.get(10)?,
            seconds: row.get(11)?,
            first_token_s: row.get(12)?,
            tokens_in: known(row, 13)?,
            tokens_out: known(row, 14)?,
            tokens_reasoning: known(row, 15)?,
            cache_read: known(row, 16)?,
            cache_write: known(row, 17)?,
            attempts: row.get(18)?,
            error_class: row.get(20)?,
            error: row.get(21)?,
            answer: row.get(22)?,
            cost: row.get(24)?,
            finish: row.get(25)?,
            spent: None,
        },
        text_pruned: row.get(19)?,
        collection: row.get(23)?,
        verdict: None,
    })
}
