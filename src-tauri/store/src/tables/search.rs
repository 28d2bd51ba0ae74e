//! Full-text search over prompts, answers, and what verdicts say.
//!
//! One index without a copy of the text: a hit is a row number, and the text stands in its own table.

use std::collections::{BTreeMap, HashSet};

use rusqlite::{Connection, OptionalExtension, Params, Row, params};

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
///
/// A common word is in half of all texts: hits are read from the newest on, and only as far as the page needs.
pub(crate) fn find(
    connection: &Connection,
    query: &str,
    before: Option<&str>,
    limit: u32,
) -> Result<Vec<Hit>, Fault> {
    let mut words = words(query);
    let Some(last) = words.pop() else { return Ok(Vec::new()) };
    words.push(format!("{last}*"));
    let words = words.join(" ");
    let before = match before {
        None => None,
        Some(id) => match when(connection, id)? {
            Some(at_ms) => Some((at_ms, id.to_owned())),
            None => return Ok(Vec::new()),
        },
    };
    let mut found: BTreeMap<(i64, String), Found> = BTreeMap::new();
    for (column, of_hit) in SOURCES {
        newest(connection, &format!("{column} : ({words})"), of_hit, before.as_ref(), limit, &mut found)?;
    }
    let mut hits = Vec::new();
    for ((_, id), Found { in_prompt, calls: named }) in found.into_iter().rev().take(limit as usize) {
        let Some(panel) = panels::one(connection, &id)? else { continue };
        let calls = panel.calls.iter().map(|call| call.row.call.clone());
        let calls = calls.filter(|call| named.contains(call)).collect();
        hits.push(Hit { panel, in_prompt, calls });
    }
    Ok(hits)
}

#[derive(Default)]
struct Found {
    in_prompt: bool,
    calls: HashSet<String>,
}

/// The index's columns, and of a hit in each: when its panel was asked, which it is, and the call, if it is one.
const SOURCES: [(&str, &str); 3] = [
    ("prompt", "SELECT p.at_ms, p.id, NULL FROM panels p WHERE p.seq = ?1 / 3"),
    (
        "answer",
        "SELECT p.at_ms, p.id, c.call FROM calls c JOIN panels p ON p.id = c.panel WHERE c.seq = ?1 / 3",
    ),
    (
        "note",
        "SELECT p.at_ms, p.id, c.call FROM verdicts v JOIN calls c ON c.call = v.call
         JOIN panels p ON p.id = c.panel WHERE v.seq = ?1 / 3",
    ),
];

/// Rows are numbered in the order they were written, panels are sorted by when they were asked: so many more are
/// looked at than are wanted, for those that overtook one another.
const OVERTAKING: usize = 100;

fn newest(
    connection: &Connection,
    words: &str,
    of_hit: &str,
    before: Option<&(i64, String)>,
    limit: u32,
    found: &mut BTreeMap<(i64, String), Found>,
) -> Result<(), Fault> {
    let mut hits =
        connection.prepare_cached("SELECT rowid FROM search WHERE search MATCH ?1 ORDER BY rowid DESC")?;
    let mut of_hit = connection.prepare_cached(of_hit)?;
    let mut seen: HashSet<String> = HashSet::new();
    let mut rows = hits.query([words])?;
    while seen.len() < limit as usize + OVERTAKING
        && let Some(row) = rows.next()?
    {
        let hit: i64 = row.get(0)?;
        let place = |row: &Row<'_>| Ok(((row.get(0)?, row.get(1)?), row.get(2)?));
        let Some((panel, call)) = of_hit.query_row([hit], place).optional()? else { continue };
        let (panel, call): ((i64, String), Option<String>) = (panel, call);
        if before.is_some_and(|before| panel >= *before) {
            continue;
        }
        seen.insert(panel.1.clone());
        let found = found.entry(panel).or_default();
        match call {
            Some(call) => drop(found.calls.insert(call)),
            None => found.in_prompt = true,
        }
    }
    Ok(())
}

/// When a panel was asked.
fn when(connection: &Connection, panel: &str) -> Result<Option<i64>, Fault> {
    let mut statement = connection.prepare_cached("SELECT at_ms FROM panels WHERE id = ?1")?;
    Ok(statement.query_row([panel], |row| row.get(0)).optional()?)
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
