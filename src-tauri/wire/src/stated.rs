//! What a failure's words state of the provider's bounds: a model's window, a rate limit. The tables are data;
//! `tests/dialects/stated.txt` holds what providers really say.

mod rate;

pub use rate::{Axis, StatedLimit};

use crate::error::{Class, UpstreamError};

impl UpstreamError {
    /// The model's context window in tokens, where the request was too large and the words say for what; at least 512.
    /// Where only the input's part of the window is named, that.
    pub fn context_window(&self) -> Option<u64> {
        if self.class != Class::TooLarge {
            return None;
        }
        let words = self.message.to_lowercase();
        let stated = WINDOWS.iter().find_map(|template| number_in(&words, template));
        stated.filter(|tokens| (LEAST_WINDOW..=MOST_TOKENS).contains(tokens))
    }

    /// The rate limit that was met, where exactly one is named: two say nothing of which was met.
    pub fn stated_limit(&self) -> Option<StatedLimit> {
        if self.class != Class::Capacity {
            return None;
        }
        rate::read(&self.message.to_lowercase())
    }
}

/// A smaller number is a count of something else.
const LEAST_WINDOW: u64 = 512;

/// Past any real window or rate.
const MOST_TOKENS: u64 = 1_000_000_000;

/// Where a window stands: `#` is its number, `%` any other number. In lower case. What tells most comes first.
const WINDOWS: &[&str] = &[
    "maximum context length is #",
    "maximum context length of #",
    "maximum context length for this model is #",
    "maximum context length (#",
    "maximum context length: #",
    "with # maximum context length",
    "context length of only #",
    "model's context length (#",
    "tokens > # maximum",
    "context limit: % + % > #",
    "context window of #",
    "context window is #",
    "context window (#",
    "context window size of #",
    "available context size (#",
    "exceeds context size (#",
    "context size of #",
    "n_ctx: #",
    "n_ctx = #",
    "n_ctx (#",
    "n_ctx=#",
    "max_seq_len #",
    "max_model_len #",
    "max_model_len (#",
    "maximum model length of #",
    "model token limit: #",
    "maximum prompt length is #",
    "maximum number of tokens allowed (#",
    "maximum number of tokens allowed #",
    "maximum allowed input length of #",
    "input token count is % but model only supports up to #",
    "token count of % exceeds the limit of #",
    "tokens in the prompt cannot exceed #",
    "current length is % while limit is #",
    "`max_new_tokens` must be <= #",
    "range of input length should be [%, #",
    "max size: # tokens",
];

/// The number that stands where the template has `#`.
fn number_in(words: &str, template: &str) -> Option<u64> {
    let start = template.split(['#', '%']).next().unwrap_or_default();
    let from = |at: usize| number_at(&words[at..], template);
    if start.len() < LEAST_START {
        return None;
    }
    words.match_indices(start).find_map(|(at, _)| from(at))
}

/// Shorter literal beginnings would fit anything.
const LEAST_START: usize = 5;

fn number_at(words: &str, template: &str) -> Option<u64> {
    let (mut words, mut found) = (words, None);
    for piece in template.split_inclusive(['#', '%']) {
        let mark = piece.chars().last().filter(|mark| matches!(mark, '#' | '%'));
        words = words.strip_prefix(piece.trim_end_matches(['#', '%']))?;
        if let Some(mark) = mark {
            let (number, rest) = number(words)?;
            words = rest;
            if mark == '#' {
                found = Some(number);
            }
        }
    }
    found
}

/// A whole number at the start, as people and programs write them (`200000`, `200,000`, `6.0`), and what follows it.
fn number(words: &str) -> Option<(u64, &str)> {
    let mut value: Option<u64> = None;
    let mut rest = words;
    loop {
        let length = rest.len() - rest.trim_start_matches(|c: char| c.is_ascii_digit()).len();
        let digits: u64 = rest.get(..length).filter(|digits| digits.len() <= MOST_DIGITS)?.parse().ok()?;
        value = Some(match value {
            None => digits,
            Some(value) => value.checked_mul(THOUSAND)?.checked_add(digits)?,
        });
        rest = &rest[length..];
        let Some(more) = rest.strip_prefix([',', '_']).filter(|more| is_group(more)) else { break };
        rest = more;
    }
    let whole = rest.strip_prefix(".0").filter(|rest| !rest.starts_with(|c: char| c.is_ascii_digit()));
    Some((value?, whole.unwrap_or(rest)))
}

const MOST_DIGITS: usize = 12;
const THOUSAND: u64 = 1000;

/// Whether three digits begin the text, and no more: `{"a": 1,2345}` is two numbers.
fn is_group(words: &str) -> bool {
    words.len() - words.trim_start_matches(|c: char| c.is_ascii_digit()).len() == 3
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_as_they_are_written() {
        for (words, wanted) in [
            ("200000 x", Some((200_000, " x"))),
            ("1,048,576.", Some((1_048_576, "."))),
            ("1_000", Some((1000, ""))),
            ("1, 2", Some((1, ", 2"))),
            ("1,2345", Some((1, ",2345"))),
            ("6.0 q", Some((6, " q"))),
            ("6.05", Some((6, ".05"))),
            ("x1", None),
            ("", None),
            ("9999999999999", None),
        ] {
            assert_eq!(number(words), wanted, "{words}");
        }
    }

    #[test]
    fn every_template_names_one_window_and_begins_with_words() {
        for template in WINDOWS {
            assert_eq!(template.matches('#').count(), 1, "{template}");
            assert_eq!(*template, template.to_lowercase(), "{template}");
            let words = template.replace('#', "32,768").replace('%', "7");
            assert_eq!(number_in(&words, template), Some(32_768), "{template}");
        }
    }
}
