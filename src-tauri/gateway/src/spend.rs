//! What was spent, summed by one thing or another, as its owner asks for it.

use store::StoreError;

use crate::{
    clock::{self, rfc3339},
    gateway::Gateway,
    view::{Spend, SpendBy, SpendRow},
};

/// Why spending cannot be told.
#[derive(Debug, thiserror::Error)]
pub enum SpendError {
    #[error("since: write 24h or 7d for as long ago, a day such as 2026-11-01, or RFC 3339")]
    Since,
    #[error("since: nothing was sent before 1970; write 24h, 7d, or a day since then")]
    TooLongAgo,
    #[error("since: this is yet to come; write 24h, 7d, or a day that has begun")]
    YetToCome,
    #[error("the records could not be read: {0}")]
    Store(#[from] StoreError),
}

const HOUR_MS: i64 = 3_600_000;
/// Where a day begins first, it is that much ahead of UTC.
const AHEAD_MS: i64 = 14 * HOUR_MS;
const USUAL_DAYS: i64 = 30;

impl Gateway {
    /// What was spent, the dearest first; `since` as in [`Spend`]'s query, `None` is 30 days. Practice is not in it.
    /// Blocks.
    pub fn spend(&self, by: SpendBy, since: Option<&str>) -> Result<Spend, SpendError> {
        let now_ms = self.clock().now_ms();
        let since_ms = match since {
            Some(since) => instant(since.trim(), now_ms)?,
            None => now_ms - USUAL_DAYS * 24 * HOUR_MS,
        };
        let by = match by {
            SpendBy::Model => store::SpendBy::Model,
            SpendBy::Collection => store::SpendBy::Collection,
            SpendBy::Caller => store::SpendBy::Caller,
            SpendBy::Endpoint => store::SpendBy::Endpoint,
            SpendBy::Purpose => store::SpendBy::Purpose,
        };
        let rows = self.store().spend(by, since_ms, false)?.into_iter().map(|row| SpendRow {
            cost_per_useful: row.cost_per_useful(),
            key: row.key,
            calls: row.calls,
            tokens_fresh: row.tokens_fresh,
            tokens_out: row.tokens_out,
            tokens_reasoning: row.tokens_reasoning,
            cache_read: row.cache_read,
            cache_write: row.cache_write,
            tokens_unknown: row.tokens_unknown,
            cost: row.cost,
            cost_unknown: row.cost_unknown,
            useful: row.useful,
        });
        Ok(Spend { since: rfc3339(since_ms), rows: rows.collect() })
    }
}

/// Unix milliseconds of `24h` ago, `7d` ago, a day of UTC, or an instant: none before 1970, none to come.
fn instant(since: &str, now_ms: i64) -> Result<i64, SpendError> {
    let hours =
        [('h', 1), ('d', 24)].into_iter().find_map(|(unit, hours)| Some((since.strip_suffix(unit)?, hours)));
    if let Some((count, hours)) = hours.filter(|(count, _)| is_count(count)) {
        let ago = count.parse::<i64>().ok().and_then(|count| count.checked_mul(hours * HOUR_MS));
        let at_ms = ago.and_then(|ago| now_ms.checked_sub(ago));
        return at_ms.filter(|at_ms| *at_ms >= 0).ok_or(SpendError::TooLongAgo);
    }
    match clock::instant(since).ok_or(SpendError::Since)? {
        ..0 => Err(SpendError::TooLongAgo),
        at_ms if at_ms > now_ms.saturating_add(AHEAD_MS) => Err(SpendError::YetToCome),
        at_ms => Ok(at_ms),
    }
}

/// Digits alone: `+7` and `-7` may be meant either way.
fn is_count(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::{SpendError, instant};

    #[test]
    fn since_when() {
        let now_ms = 1_796_000_000_000;
        let said = |error: SpendError| match error {
            SpendError::TooLongAgo => "too long ago",
            SpendError::YetToCome => "yet to come",
            _ => "not understood",
        };
        for (since, wanted) in [
            ("24h", Ok(now_ms - 86_400_000)),
            ("7d", Ok(now_ms - 7 * 86_400_000)),
            ("0d", Ok(now_ms)),
            ("20000d", Ok(now_ms - 20_000 * 86_400_000)),
            ("1970-01-01", Ok(0)),
            ("1970-01-02", Ok(86_400_000)),
            ("1970-01-02T00:00:01Z", Ok(86_401_000)),
            ("1970-01-02T01:00:00+01:00", Ok(86_400_000)),
            ("99999999999999999d", Err("too long ago")),
            ("99999999999999999999999h", Err("too long ago")),
            ("99999999d", Err("too long ago")),
            ("9999999h", Err("too long ago")),
            ("1969-12-31", Err("too long ago")),
            ("-000001-01-01", Err("too long ago")),
            ("9999-12-31", Err("yet to come")),
            ("2027-01-01T00:00:00Z", Err("yet to come")),
            ("+7d", Err("not understood")),
            ("-1d", Err("not understood")),
            ("- 1d", Err("not understood")),
            ("d", Err("not understood")),
            ("yesterday", Err("not understood")),
            ("", Err("not understood")),
        ] {
            assert_eq!(instant(since, now_ms).map_err(said), wanted, "{since}");
        }
    }
}
