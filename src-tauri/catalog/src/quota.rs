//! What is left of a provider's quota, as its replies tell it: in headers of every reply, and in the body of a refusal.

mod body;
mod fields;
mod reset;

pub use body::quotas_in_body;

use std::sync::LazyLock;

use serde::{Deserialize, Serialize};
use wire::Axis;

use crate::{Endpoint, preset::preset_of};

/// What is left of one quota, as a reply told it. Limit or remaining is there, often both.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Quota {
    pub metric: Axis,
    /// Seconds; `None` where the provider does not say.
    pub window_s: Option<u64>,
    pub limit: Option<u64>,
    pub remaining: Option<u64>,
    /// When it is whole again, or the next of it comes back; Unix milliseconds.
    pub reset_ms: Option<i64>,
}

/// Longer than any quota lasts, a year of leap.
const LONGEST_S: u64 = 366 * 24 * 3_600;

/// What JSON's readers count to exactly; a quota of more is none.
const MOST: u64 = 1 << 53;

impl Quota {
    /// Without what cannot be meant; `None` where nothing is left.
    fn credible(self, now_ms: i64) -> Option<Quota> {
        let longest_ms = LONGEST_S as i64 * 1000;
        let (limit, remaining) =
            (self.limit.filter(|it| *it <= MOST), self.remaining.filter(|it| *it <= MOST));
        (limit.is_some() || remaining.is_some()).then_some(Quota {
            window_s: self.window_s.filter(|window| (1..=LONGEST_S).contains(window)),
            limit,
            remaining,
            reset_ms: self.reset_ms.filter(|at_ms| at_ms.abs_diff(now_ms) <= longest_ms.unsigned_abs()),
            ..self
        })
    }
}

/// Whose words a reply uses. A header that says its own window means the same in all of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum QuotaProfile {
    #[default]
    Generic,
    OpenAi,
    Anthropic,
    Groq,
    Cerebras,
    OpenRouter,
    SambaNova,
    Gemini,
}

/// What the headers of a reply tell, one record for each metric and window. `header` looks one up by its lower-case
/// name; `now_ms` is in Unix milliseconds.
pub fn quotas<'a>(endpoint: &Endpoint, header: impl Fn(&str) -> Option<&'a str>, now_ms: i64) -> Vec<Quota> {
    let profile = profile(endpoint);
    let mut found: Vec<Quota> = Vec::new();
    let mut add = |quota: Quota| {
        let Some(quota) = quota.credible(now_ms) else { return };
        let same = |other: &Quota| (other.metric, other.window_s) == (quota.metric, quota.window_s);
        // A window without a length says nothing beside one that has it.
        let vague = quota.window_s.is_none() && found.iter().any(|other| other.metric == quota.metric);
        if !vague && !found.iter().any(same) {
            found.push(quota);
        }
    };
    for row in ROWS.iter().filter(|row| row.profile.is_none_or(|only| only == profile)) {
        if let Some(quota) = row.read(&header, now_ms) {
            add(quota);
        }
    }
    fields::read(&header, now_ms).into_iter().for_each(add);
    found
}

/// By the provider's host, else by the API: Anthropic's headers come with its API, whoever speaks it.
fn profile(endpoint: &Endpoint) -> QuotaProfile {
    match preset_of(&endpoint.base) {
        Some(preset) => preset.quota,
        None if endpoint.api == wire::Dialect::Anthropic => QuotaProfile::Anthropic,
        None => QuotaProfile::Generic,
    }
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Row {
    profile: Option<QuotaProfile>,
    metric: Axis,
    window_s: Option<u64>,
    limit: String,
    remaining: String,
    reset: Option<String>,
    #[cfg_attr(not(test), expect(dead_code, reason = "for whoever reads the file; a test wants it there"))]
    source: String,
}

impl Row {
    fn read<'a>(&self, header: &impl Fn(&str) -> Option<&'a str>, now_ms: i64) -> Option<Quota> {
        let limit = header(&self.limit);
        let remaining = header(&self.remaining).and_then(whole);
        // Some write the window beside the limit: `100, 100;w=60`.
        let window_s = self.window_s.or_else(|| limit.and_then(fields::window));
        let limit = limit.and_then(whole);
        if limit.is_none() && remaining.is_none() {
            return None;
        }
        let reset = self.reset.as_deref().and_then(header);
        let reset_ms = reset.and_then(|value| reset::instant(value, now_ms));
        Some(Quota { metric: self.metric, window_s, limit, remaining, reset_ms })
    }
}

/// The whole number that a value begins with; a part of one is not left.
fn whole(value: &str) -> Option<u64> {
    let value = value.trim();
    let end = value.find(|c: char| !c.is_ascii_digit()).unwrap_or(value.len());
    let rest = &value[end..];
    let ends = rest.is_empty() || rest.starts_with(['.', ',', ';', ' ']);
    ends.then(|| value[..end].parse().ok()).flatten()
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    row: Vec<Row>,
}

#[expect(
    clippy::expect_used,
    reason = "the file is embedded and a test reads it: it cannot fail in the field"
)]
static ROWS: LazyLock<Vec<Row>> =
    LazyLock::new(|| read(include_str!("../quota.toml")).expect("quota.toml is valid"));

fn read(text: &str) -> Result<Vec<Row>, toml::de::Error> {
    toml::from_str::<File>(text).map(|file| file.row)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_file_is_valid() {
        let rows = read(include_str!("../quota.toml")).expect("quota.toml");
        assert!(rows.len() > 20, "{} rows", rows.len());
        for row in &rows {
            let names = [&row.limit, &row.remaining].into_iter().chain(&row.reset);
            for name in names {
                assert!(name.chars().all(|c| c.is_ascii_lowercase() || c == '-'), "{name}");
            }
            assert!(row.source.starts_with("https://"), "{row:?}");
        }
    }

    #[test]
    fn what_cannot_be_meant_is_not_told() {
        let now_ms = 1_764_000_000_000;
        let told = |limit: &str, remaining: &str, reset: &str| {
            let header = |name: &str| match name {
                "x-ratelimit-limit-requests" => Some(limit),
                "x-ratelimit-remaining-requests" => Some(remaining),
                "x-ratelimit-reset-requests" => Some(reset),
                _ => None,
            };
            let endpoint = Endpoint::new("fake", "https://example.com/v1");
            quotas(&endpoint, header, now_ms)
                .into_iter()
                .map(|it| (it.window_s, it.limit, it.remaining, it.reset_ms))
                .collect::<Vec<_>>()
        };
        let plain = (Some(60), Some(100), Some(7), Some(now_ms + 5_000));
        assert_eq!(told("100;w=60", "7", "5"), [plain]);
        assert_eq!(told("100;w=1000000000000", "7", "5"), [(None, plain.1, plain.2, plain.3)]);
        assert_eq!(told("100;w=0", "7", "5"), [(None, plain.1, plain.2, plain.3)]);
        assert_eq!(told("18446744073709551615;w=60", "7", "5"), [(plain.0, None, plain.2, plain.3)]);
        assert_eq!(told("100;w=60", "7", "9999-01-01T00:00:00Z"), [(plain.0, plain.1, plain.2, None)]);
        assert_eq!(told("18446744073709551615", "9007199254740993", "5"), []);
    }

    #[test]
    fn numbers_of_headers() {
        for (value, wanted) in [
            ("14400", Some(14_400)),
            (" 7 ", Some(7)),
            ("59.5", Some(59)),
            ("100, 100;w=60", Some(100)),
            ("-1", None),
            ("unlimited", None),
            ("10x", None),
            ("", None),
        ] {
            assert_eq!(whole(value), wanted, "{value}");
        }
    }
}
