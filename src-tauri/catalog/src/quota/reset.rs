use std::time::Duration;

/// When a quota comes back, in Unix milliseconds, however it is written: `2m59.56s`, `12`, `1764000000`,
/// `1764000000000`, `2026-11-29T12:00:00Z`, an HTTP date.
pub(super) fn instant(value: &str, now_ms: i64) -> Option<i64> {
    let value = value.trim();
    if let Ok(at) = value.parse::<jiff::Timestamp>() {
        return Some(at.as_millisecond());
    }
    match value.parse::<f64>() {
        Ok(number) if !number.is_finite() || number < 0.0 => None,
        // A date in 1973 as milliseconds, a wait of thirty years as seconds: neither is meant.
        Ok(number) if number >= 1e11 => (number < 1e15).then_some(number as i64),
        Ok(number) if number >= 1e9 => Some((number * 1000.0) as i64),
        Ok(number) => after(Duration::try_from_secs_f64(number).ok()?, now_ms),
        Err(_) => after(wire::wait::from_value(value, now_ms.div_euclid(1000))?, now_ms),
    }
}

/// That long from now.
pub(super) fn after(wait: Duration, now_ms: i64) -> Option<i64> {
    now_ms.checked_add(i64::try_from(wait.as_millis()).ok()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_instant_however_it_is_written() {
        let now = 1_764_000_000_000;
        for (value, wanted) in [
            ("2m59.56s", Some(now + 179_560)),
            ("6m0s", Some(now + 360_000)),
            ("12ms", Some(now + 12)),
            ("33011.382867097855", Some(now + 33_011_382)),
            ("0", Some(now)),
            ("1764000060", Some(now + 60_000)),
            ("1764000060000", Some(now + 60_000)),
            ("2025-11-24T16:01:00Z", Some(now + 60_000)),
            ("2025-11-24T17:01:00+01:00", Some(now + 60_000)),
            ("Mon, 24 Nov 2025 16:01:00 GMT", Some(now + 60_000)),
            ("-5", None),
            ("NaN", None),
            ("1e300", None),
            ("soon", None),
            ("", None),
        ] {
            assert_eq!(instant(value, now), wanted, "{value}");
        }
    }
}
