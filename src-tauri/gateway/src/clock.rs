//! The one place that reads a clock.

use jiff::{Timestamp, civil::Date, tz::TimeZone};

/// Wall time for records and ids. Durations are measured with tokio's clock, which tests can pause.
#[derive(Clone)]
pub struct Clock {
    now_ms: std::sync::Arc<dyn Fn() -> i64 + Send + Sync>,
}

impl Clock {
    #[expect(clippy::disallowed_methods, reason = "this is the clock")]
    pub fn system() -> Clock {
        Clock { now_ms: std::sync::Arc::new(|| Timestamp::now().as_millisecond()) }
    }

    /// A clock for tests.
    pub fn from_fn(now_ms: impl Fn() -> i64 + Send + Sync + 'static) -> Clock {
        Clock { now_ms: std::sync::Arc::new(now_ms) }
    }

    /// Unix milliseconds.
    pub fn now_ms(&self) -> i64 {
        (self.now_ms)()
    }
}

/// Unix milliseconds of what a person writes: a day of UTC (its beginning), such as `2027-01-31`, or RFC 3339. The last
/// days there are have no instant of their own, and are later than any.
pub(crate) fn instant(text: &str) -> Option<i64> {
    if text.contains(['T', 't', ' ']) {
        return text.parse::<Timestamp>().ok().map(Timestamp::as_millisecond);
    }
    let day: Date = text.parse().ok()?;
    Some(TimeZone::UTC.to_timestamp(day.at(0, 0, 0, 0)).map_or(i64::MAX, Timestamp::as_millisecond))
}

/// RFC 3339 in UTC with milliseconds: `2026-11-29T15:45:01.250Z`.
pub fn rfc3339(unix_ms: i64) -> String {
    match Timestamp::from_millisecond(unix_ms) {
        Ok(at) => format!("{at:.3}"),
        Err(_) => String::new(),
    }
}
