//! Full-text search over prompts, answers, and what verdicts say.
//!
//! One index without a copy of the text: a hit is a row number, and the text stands in its own table.

use std::collections::{HashMap, HashSet};

use rusqlite::{Connection, Params, params};

use crate::{
    error::Fault,
    migrate::Step,
    tables::panels::{self, StoredPanel},
};

pub(crate) const STEPS: &[Step] = &[Step {
    version: 3,
    sql: "CREATE VIRTUAL TABLE search USING fts5 (
        prompt, answer, note, content = '', contentless_delete = 1, tokenize = 'unicode61 remove_diacritics 2'
    );
    INSERT INTO search (rowid, prompt) SELECT seq * 3, substr(prompt, 1, 100000) FROM panels WHERE prompt <> '';
    INSERT INTO search (rowid, answer) SELECT seq * 3 + 1, substr(answer, 1, 100000) FROM calls WHERE answer <> '';
    INSERT INTO search (rowid, note)
        SELECT seq * 3 + 2, note || ' ' || coalesce((SELECT group_concat(value, ' ') FROM
            (SELECT value FROM json_each(real_claims) UNION ALL SELECT value FROM json_each(false_claims))), '')
        FROM verdicts WHERE standing = 1;",
}];

/// Of a longer text, only so many characters are found: a book in a prompt must not hold up the writer.
const INDEXED_CHARS: usize = 100_000;

/// Words of a query that are looked at.
const WORDS: usize = 64;

/// Panels that count as being about the same task.
const ALIKE: u32 = 200;

/// What is indexed, and by that the row numbers: every table's rows have every third.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Text {
    Prompt,
    Answer,
    Note,
}

/// A panel in which every word of the query was found in one text.
#[derive(Clone, Debug, PartialEq)]
pub struct Hit {
    pub panel: StoredPanel,
    pub in_prompt: bool,
    /// Calls whose answer, or whose verdict, holds the words; in the order they ended.
    pub calls: Vec<String>,
}

pub(crate) fn add(connection: &Connection, text: Text, seq: i64, content: &str) -> Result<(), Fault> {
    if content.is_empty() {
        return Ok(());
    }
    let cut = content.char_indices().nth(INDEXED_CHARS).map_or(content.len(), |(at, _)| at);
    let sql = match text {
        Text::Prompt => "INSERT INTO search (rowid, prompt) VALUES (?1, ?2)",
        Text::Answer => "INSERT INTO search (rowid, answer) VALUES (?1, ?2)",
        Text::Note => "INSERT INTO search (rowid, note) VALUES (?1, ?2)",
    };
    connection.prepare_cached(sql)?.execute(params![row(text, seq), &content[..cut]])?;
    Ok(())
}

/// Takes the texts of the rows that `select` (`SELECT seq FROM …`) names out of the index.
pub(crate) fn remove(
    connection: &Connection,
    text: Text,
    select: &str,
    params: impl Params,
) -> Result<(), Fault> {
    let offset = row(text, 0);
    let sql = format!("DELETE FROM search WHERE rowid IN (SELECT seq * 3 + {offset} FROM ({select}))");
    connection.prepare_cached(&sql)?.execute(params)?;
    Ok(())
}

/// Panels with the words in their prompt, an answer or a verdict, newest first; with `before`, those older
/// than that panel. Every word must be in one text, the last may be the beginning of one. No words, no hits.
pub(crate) fn find(
    connection: &Connection,
    query: &str,
    before: Option<&str>,
    limit: u32,
) -> Result<Vec<Hit>, Fault> {
    let mut words = words(query);
    let Some(last) = words.pop() else { return Ok(Vec::new()) };
    words.push(format!("{last}*"));
    let mut statement = connection.prepare_cached(
        "WITH hits AS MATERIALIZED (SELECT rowid AS hit FROM search WHERE search MATCH ?1),
         found (panel, call) AS (
             SELECT p.id, NULL FROM hits JOIN panels p ON p.seq = hit / 3 WHERE hit % 3 = 0
             UNION ALL SELECT c.panel, c.call FROM hits JOIN calls c ON c.seq = hit / 3 WHERE hit % 3 = 1
             UNION ALL SELECT c.panel, c.call FROM hits JOIN verdicts v ON v.seq = hit / 3
                 JOIN calls c ON c.call = v.call WHERE hit % 3 = 2),
         newest AS (
             SELECT p.id, p.at_ms FROM panels p WHERE p.id IN (SELECT panel FROM found)
                 AND (?2 IS NULL OR (p.at_ms, p.id) < (SELECT at_ms, id FROM panels WHERE id = ?2))
             ORDER BY p.at_ms DESC, p.id DESC LIMIT ?3)
         SELECT n.id, f.call FROM newest n JOIN found f ON f.panel = n.id ORDER BY n.at_ms DESC, n.id DESC",
    )?;
    let mut order: Vec<String> = Vec::new();
    let mut found: HashMap<String, (bool, HashSet<String>)> = HashMap::new();
    let mut rows = statement.query(params![words.join(" "), before, limit])?;
    while let Some(row) = rows.next()? {
        let panel: String = row.get(0)?;
        if order.last() != Some(&panel) {
            order.push(panel.clone());
        }
        let (in_prompt, calls) = found.entry(panel).or_default();
        match row.get(1)? {
            None => *in_prompt = true,
            Some(call) => drop(calls.insert(call)),
        }
    }
    let mut hits = Vec::with_capacity(order.len());
    for id in order {
        let Some(panel) = panels::one(connection, &id)? else { continue };
        let (in_prompt, named) = found.remove(&id).unwrap_or_default();
        let calls = panel.calls.iter().map(|call| call.row.call.clone());
        let calls = calls.filter(|call| named.contains(call)).collect();
        hits.push(Hit { panel, in_prompt, calls });
    }
    Ok(hits)
}

/// The ids of the panels whose prompts are most like a task's text, at most [`ALIKE`]: a JSON list.
pub(crate) fn alike(connection: &Connection, task: &str) -> Result<String, Fault> {
    let words = words(task);
    if words.is_empty() {
        return Ok("[]".to_owned());
    }
    let mut statement = connection.prepare_cached(
        "SELECT json_group_array(p.id) FROM
             (SELECT rowid AS hit FROM search WHERE search MATCH ?1 ORDER BY bm25(search) LIMIT ?2)
         JOIN panels p ON p.seq = hit / 3",
    )?;
    let any = format!("prompt : ({})", words.join(" OR "));
    Ok(statement.query_row(params![any, ALIKE], |row| row.get(0))?)
}

/// Each word as the index's own syntax has it: quoted, so that nothing a person types is an operator.
fn words(query: &str) -> Vec<String> {
    let words = query.split(|c: char| !c.is_alphanumeric() && !is_mark(c)).filter(|word| !word.is_empty());
    words.take(WORDS).map(|word| format!("\"{word}\"")).collect()
}

/// Combining marks belong to their letter, as the index's own splitting has it.
fn is_mark(c: char) -> bool {
    ('\u{300}'..='\u{36F}').contains(&c)
}

fn row(text: Text, seq: i64) -> i64 {
    seq * 3
        + match text {
            Text::Prompt => 0,
            Text::Answer => 1,
            Text::Note => 2,
        }
}
