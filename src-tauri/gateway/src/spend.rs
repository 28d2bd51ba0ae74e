//! What was spent, summed by one thing or another, as its owner asks for it.

use jiff::{Timestamp, civil::Date, tz::TimeZone};
use store::StoreError;

use crate::{
    clock::rfc3339,
    gateway::Gateway,
    view::{Spend, SpendBy, SpendRow},
};

/// Why spending cannot be told.
#[derive(Debug, thiserror::Error)]
pub enum SpendError {
    #[error("since: write 24h, 7d, a day such as 2026-11-01, or RFC 3339; nothing was sent before 1970")]
    Since,
    #[error("the records could not be read: {0}")]
    Store(#[from] StoreError),
}

const HOUR_MS: i64 = 3_600_000;
const USUAL_DAYS: i64 = 30;

impl Gateway {
    /// What was spent, the dearest first; `since` as in [`Spend`]'s query, `None` is 30 days. Practice is not in it.
    /// Blocks.
    pub fn spend(&self, by: SpendBy, since: Option<&str>) -> Result<Spend, SpendError> {
        let now_ms = self.clock().now_ms();
        let since_ms = match since {
            Some(since) => instant(since.trim(), now_ms).ok_or(SpendError::Since)?,
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

/// Unix milliseconds of `24h`, `7d`, a day of UTC, or an instant.
fn instant(since: &str, now_ms: i64) -> Option<i64> {
    let ago = |unit: char, hours: i64| {
        let count: i64 = since.strip_suffix(unit)?.parse().ok()?;
        now_ms.checked_sub(count.checked_mul(hours * HOUR_MS)?).filter(|_| count >= 0)
    };
    let instant = ago('h', 1)
        .or_else(|| ago('d', 24))
        .or_else(|| {
            let day: Date = since.parse().ok()?;
            let is_day = !since.contains(['T', 't', ' ']);
            is_day
                .then(|| TimeZone::UTC.to_timestamp(day.at(0, 0, 0, 0)).ok())?
                .map(Timestamp::as_millisecond)
        })
        .or_else(|| since.parse::<Timestamp>().ok().map(Timestamp::as_millisecond));
    instant.filter(|at_ms| *at_ms >= 0)
}

#[cfg(test)]
mod tests {
    use super::instant;

    #[test]
    fn since_when() {
        let now_ms = 1_796_000_000_000;
        for (since, wanted) in [
            ("24h", Some(now_ms - 86_400_000)),
            ("7d", Some(now_ms - 7 * 86_400_000)),
            ("1970-01-02", Some(86_400_000)),
            ("1970-01-02T00:00:01Z", Some(86_401_000)),
            ("1970-01-02T01:00:00+01:00", Some(86_400_000)),
            ("-1d", None),
            ("99999999999999999d", None),
            ("99999999d", None),
            ("-000001-01-01", None),
            ("1969-12-31", None),
            ("1970-01-01", Some(0)),
            ("20000d", Some(now_ms - 20_000 * 86_400_000)),
            ("9999999h", None),
            ("yesterday", None),
            ("", None),
        ] {
            assert_eq!(instant(since, now_ms), wanted, "{since}");
        }
    }
}
