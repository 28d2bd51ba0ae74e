//! The one rate limit that an error names.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::{MOST_TOKENS, number};

/// What a limit counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Axis {
    Requests,
    /// In and out together.
    Tokens,
    InputTokens,
    OutputTokens,
}

/// `30000 tokens a minute`, as a provider said it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StatedLimit {
    pub axis: Axis,
    /// A second to a month of 30 days.
    pub window: Duration,
    /// At least one.
    pub allowed: u64,
    /// How much of it was used when the call was refused.
    pub used: Option<u64>,
}

/// Of words in lower case.
pub(super) fn read(words: &str) -> Option<StatedLimit> {
    // Side by side is no rate.
    if words.contains("concurren") {
        return None;
    }
    let named = mentions(words);
    let Some(first) = named.first() else { return bare(words) };
    let one = named.iter().all(|mention| (mention.axis, mention.window) == (first.axis, first.window));
    if !one {
        return None;
    }
    let allowed = named.iter().find_map(|mention| mention.allowed(words))?;
    let after = |marker: &str| Some(number(&words[words.find(marker)? + marker.len()..])?.0);
    let used = after(" used ").or_else(|| after(" current: "));
    limit(first.axis, first.window, allowed, used)
}

/// GitHub's: "rate limit of 10 per 60s exceeded for UserByModelByMinute".
fn bare(words: &str) -> Option<StatedLimit> {
    let marker = "rate limit of ";
    let (allowed, rest) = number(&words[words.find(marker)? + marker.len()..])?;
    let (seconds, rest) = number(rest.strip_prefix(" per ")?)?;
    if !rest.starts_with("s ") || rest.contains("token") {
        return None;
    }
    limit(Axis::Requests, seconds, allowed, None)
}

fn limit(axis: Axis, window: u64, allowed: u64, used: Option<u64>) -> Option<StatedLimit> {
    let real = (1..=MOST_TOKENS).contains(&allowed) && (1..=MONTH).contains(&window);
    real.then_some(StatedLimit { axis, window: Duration::from_secs(window), allowed, used })
}

/// One place where an axis and a window are named together.
struct Mention {
    axis: Axis,
    /// In seconds.
    window: u64,
    start: usize,
    end: usize,
}

impl Mention {
    /// The number beside it: "on requests per min (rpm): limit 3", "max rpm: 3", "of 20,000 input tokens per minute".
    fn allowed(&self, words: &str) -> Option<u64> {
        let after = words[self.end..].trim_start();
        let after = match after.strip_prefix('(').and_then(|inner| inner.split_once(')')) {
            Some((short, rest)) if short != "actual/limit" && short.len() <= 5 => rest,
            _ => after,
        };
        if let Some(pair) = after.trim_start().strip_prefix("(actual/limit): ") {
            return number(number(pair)?.1.strip_prefix('/')?).map(|(allowed, _)| allowed);
        }
        if let Some(pair) = after.strip_prefix("rate limit, current: ") {
            return number(number(pair)?.1.strip_prefix(", limit: ")?).map(|(allowed, _)| allowed);
        }
        let colon = after.trim_start_matches([' ', ':', '.', ',']);
        let noun = ["limit", "rate limit", "quota"].iter().find_map(|noun| colon.strip_prefix(noun));
        let stated = match noun {
            Some(limit) => {
                let limit = limit.trim_start_matches([' ', ':', '=', '(']);
                number(LINKS.iter().find_map(|link| limit.strip_prefix(link)).unwrap_or(limit))
            }
            // "per minute. 30 more": a number of its own sentence is not the limit.
            None if after.starts_with(':') => number(colon),
            None => None,
        };
        stated
            .map(|(allowed, _)| allowed)
            .or_else(|| before(&words[..self.start]).filter(|_| !self.is_offered(words)))
    }

    /// What more money would buy: "upgrade to 500 requests per minute".
    fn is_offered(&self, words: &str) -> bool {
        let said = &words[..self.start];
        let sentence = &said[said.rfind(". ").map_or(0, |end| end + 2)..];
        OFFERS.iter().any(|offer| sentence.contains(offer))
    }
}

/// The number that ends the text, a whole one: of `of 20,000 ` 20000, of `gpt-4 ` none.
fn before(words: &str) -> Option<u64> {
    let words = words.strip_suffix(' ')?;
    let words = words.strip_suffix(" api").unwrap_or(words);
    let start = words.trim_end_matches(|c: char| c.is_ascii_digit() || matches!(c, ',' | '.')).len();
    if words[..start].ends_with(|c: char| !c.is_whitespace() && c != '(') {
        return None;
    }
    number(&words[start..]).filter(|(_, rest)| rest.is_empty()).map(|(allowed, _)| allowed)
}

fn mentions(words: &str) -> Vec<Mention> {
    let mut found = Vec::new();
    for (name, axis) in COUNTED {
        for (at, _) in words.match_indices(name) {
            let joined = JOINS.iter().find_map(|join| words[at + name.len()..].strip_prefix(join));
            // "per 10 minutes"
            let counted = joined.map(|rest| match number(rest) {
                Some((many, rest)) => (many, rest.trim_start()),
                None => (1, rest),
            });
            let Some((many, rest)) = counted else { continue };
            let letters = rest.len() - rest.trim_start_matches(|c: char| c.is_ascii_alphabetic()).len();
            let word = rest[..letters].strip_suffix('s').unwrap_or(&rest[..letters]);
            let Some((_, window)) = WINDOWS.iter().find(|(known, _)| *known == word) else { continue };
            let window = window.saturating_mul(many);
            let end = words.len() - rest.len() + letters;
            // "input tokens per minute" holds "tokens per minute".
            if !found.iter().any(|other: &Mention| other.start <= at && other.end >= end) {
                found.push(Mention { axis: *axis, window, start: at, end });
            }
        }
    }
    for (often, window) in OFTEN {
        for (name, axis) in [("token", Axis::Tokens), ("request", Axis::Requests)] {
            let phrase = format!("{often} {name}");
            for (start, _) in words.match_indices(&phrase) {
                let end = start + phrase.len();
                let end = end + usize::from(words[end..].starts_with('s'));
                found.push(Mention { axis, window: *window, start, end });
            }
        }
    }
    for (short, axis, window) in SHORT {
        for (at, _) in words.match_indices(short) {
            let end = at + short.len();
            let whole = !words[..at].ends_with(|c: char| c.is_ascii_alphanumeric())
                && !words[end..].starts_with(|c: char| c.is_ascii_alphanumeric());
            if whole {
                found.push(Mention { axis: *axis, window: *window, start: at, end });
            }
        }
    }
    found
}

/// The longer name first.
const COUNTED: &[(&str, Axis)] = &[
    ("input tokens", Axis::InputTokens),
    ("prompt tokens", Axis::InputTokens),
    ("output tokens", Axis::OutputTokens),
    ("completion tokens", Axis::OutputTokens),
    ("tokens", Axis::Tokens),
    ("requests", Axis::Requests),
    ("queries", Axis::Requests),
    ("calls", Axis::Requests),
];

const JOINS: &[&str] = &[" per ", "-per-", " / ", "/", " a ", " every "];

/// Before what is counted: "your daily token limit of 100000".
const OFTEN: &[(&str, u64)] = &[
    ("per-minute", MINUTE),
    ("per minute", MINUTE),
    ("hourly", HOUR),
    ("per-hour", HOUR),
    ("daily", DAY),
    ("per-day", DAY),
    ("monthly", MONTH),
];

/// Between a limit and its number.
const LINKS: &[&str] = &["of ", "is ", "was ", "exceeded: "];

const OFFERS: &[&str] = &["upgrade", "unlock", "increase", "add ", "raise"];

const MINUTE: u64 = 60;
const HOUR: u64 = 60 * MINUTE;
const DAY: u64 = 24 * HOUR;
const MONTH: u64 = 30 * DAY;

const WINDOWS: &[(&str, u64)] = &[
    ("second", 1),
    ("sec", 1),
    ("minute", MINUTE),
    ("min", MINUTE),
    ("hour", HOUR),
    ("day", DAY),
    ("month", MONTH),
];

const SHORT: &[(&str, Axis, u64)] = &[
    ("rps", Axis::Requests, 1),
    ("rpm", Axis::Requests, MINUTE),
    ("rph", Axis::Requests, HOUR),
    ("rpd", Axis::Requests, DAY),
    ("tpm", Axis::Tokens, MINUTE),
    ("tph", Axis::Tokens, HOUR),
    ("tpd", Axis::Tokens, DAY),
    ("itpm", Axis::InputTokens, MINUTE),
    ("otpm", Axis::OutputTokens, MINUTE),
];
