//! The wait a provider stated, in whatever way it stated it. Nothing here reads a clock: a date is turned into
//! a wait by the `now` passed in.

use std::time::{Duration, UNIX_EPOCH};

/// The wait in a reply's headers: `retry-after-ms`, then `retry-after`. `header` looks one up by its lower-case
/// name; `now` is in Unix seconds.
pub fn from_headers<'a>(header: impl Fn(&str) -> Option<&'a str>, now: i64) -> Option<Duration> {
    let milliseconds = header("retry-after-ms").and_then(|value| {
        let value: f64 = value.trim().parse().ok()?;
        seconds(value / 1000.0)
    });
    milliseconds.or_else(|| from_value(header("retry-after")?, now))
}

/// The value of a `Retry-After`: seconds, a duration (`2m59.56s`), or one of the three forms of an HTTP date.
/// A date that is past is no wait; anything else that does not read is `None`.
pub fn from_value(value: &str, now: i64) -> Option<Duration> {
    let value = value.trim();
    if let Some(read) = read_duration(value)
        && read.length == value.len()
    {
        return seconds(read.seconds);
    }
    let date = httpdate::parse_http_date(value).ok()?;
    let date = date.duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs() as i64);
    Some(Duration::from_secs(u64::try_from(date - now).unwrap_or(0)))
}

/// The wait an error text states: "try again in 1.5s", `"retryDelay": "12s"`, `"retry_after": 30`.
pub fn from_text(text: &str) -> Option<Duration> {
    let text = &text[..text.floor_char_boundary(LOOKED_AT)];
    let text = text.to_ascii_lowercase();
    MARKERS.iter().find_map(|(marker, bare)| {
        text.match_indices(marker).take(8).find_map(|(at, _)| {
            let after = text[at + marker.len()..].trim_start_matches(|c| " \"'\\:=~{".contains(c));
            let after = FILLERS.iter().fold(after, |rest, word| rest.strip_prefix(word).unwrap_or(rest));
            let read = read_duration(after)?;
            match (read.has_unit, bare) {
                (true, _) => seconds(read.seconds),
                (false, Some(unit)) => seconds(read.seconds * unit),
                // A bare number after loose words may be anything.
                (false, None) => None,
            }
        })
    })
}

/// Whole seconds for a `Retry-After` of ours, rounded up: sooner would be refused again.
pub fn whole_seconds(wait: Duration) -> u64 {
    wait.as_secs() + u64::from(wait.subsec_nanos() > 0)
}

/// A wait as people say it: `40 s`, `5 min`, `3 h`. Providers state years.
pub fn in_words(wait: Duration) -> String {
    match whole_seconds(wait).max(1) {
        seconds @ ..120 => format!("{seconds} s"),
        seconds @ ..7_200 => format!("{} min", seconds.div_ceil(60)),
        seconds @ ..=86_400 => format!("{} h", seconds.div_ceil(3_600)),
        _ => "more than a day".to_owned(),
    }
}

const LOOKED_AT: usize = 64 * 1024;

/// Words before a wait, and what a number without a unit means after them, in seconds.
const MARKERS: &[(&str, Option<f64>)] = &[
    ("retry_after_ms", Some(0.001)),
    ("retry-after-ms", Some(0.001)),
    ("retry_after_seconds", Some(1.0)),
    ("retry_after", Some(1.0)),
    ("retry-after", Some(1.0)),
    ("retryafter", Some(1.0)),
    ("retry after", Some(1.0)),
    ("retrydelay", Some(1.0)),
    ("retry_delay", Some(1.0)),
    ("try again in", None),
    ("try again after", None),
    ("retry in", None),
    ("available in", None),
    ("available again in", None),
    ("resets in", None),
    ("reset in", None),
    ("reset after", None),
    ("wait", None),
];

const FILLERS: &[&str] =
    &["for ", "at least ", "about ", "approximately ", "another ", "seconds\": ", "seconds\":"];

struct Read {
    seconds: f64,
    has_unit: bool,
    /// Bytes read.
    length: usize,
}

/// A number, or numbers with units one after another: `90`, `2m59.56s`, `1 hour and 5 minutes`.
fn read_duration(text: &str) -> Option<Read> {
    let mut read = Read { seconds: 0.0, has_unit: false, length: 0 };
    let mut rest = text;
    loop {
        let digits = rest.len() - rest.trim_start_matches(|c: char| c.is_ascii_digit() || c == '.').len();
        // "in 5 minutes." ends a sentence, not a number.
        let number = rest[..digits].trim_end_matches('.');
        if number.is_empty() || number.len() > 18 {
            break;
        }
        let value: f64 = number.parse().ok()?;
        let after = rest[number.len()..].trim_start_matches(' ');
        let letters = after.len() - after.trim_start_matches(|c: char| c.is_ascii_alphabetic()).len();
        let Some(unit) = unit(&after[..letters]) else {
            if !read.has_unit {
                read.seconds = value;
                read.length = text.len() - rest.len() + number.len();
                return Some(read);
            }
            break;
        };
        read.seconds += value * unit;
        read.has_unit = true;
        rest = &after[letters..];
        read.length = text.len() - rest.len();
        let next = rest.trim_start_matches([' ', ',']);
        rest = next.strip_prefix("and ").unwrap_or(next);
    }
    read.has_unit.then_some(read)
}

fn unit(word: &str) -> Option<f64> {
    Some(match word.to_ascii_lowercase().as_str() {
        "ns" => 1e-9,
        "us" => 1e-6,
        "ms" | "msec" | "msecs" | "millisecond" | "milliseconds" => 1e-3,
        "s" | "sec" | "secs" | "second" | "seconds" => 1.0,
        "m" | "min" | "mins" | "minute" | "minutes" => 60.0,
        "h" | "hr" | "hrs" | "hour" | "hours" => 3600.0,
        "d" | "day" | "days" => 86_400.0,
        _ => return None,
    })
}

fn seconds(value: f64) -> Option<Duration> {
    Duration::try_from_secs_f64(value).ok()
}
