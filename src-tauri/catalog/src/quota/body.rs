//! Quotas in the body of a refusal.

use serde_json::Value;
use wire::Axis;

use super::{Quota, ROWS, reset};
use crate::Endpoint;

/// What the body of a refused call (status 400 and above) tells: Google's violations, the headers OpenRouter puts
/// inside, and what the words of any provider state ([`wire::UpstreamError::stated_limit`]).
pub fn quotas_in_body(endpoint: &Endpoint, status: u16, body: &[u8], now_ms: i64) -> Vec<Quota> {
    in_body(endpoint, status, body, now_ms).into_iter().filter_map(|quota| quota.credible(now_ms)).collect()
}

fn in_body(endpoint: &Endpoint, status: u16, body: &[u8], now_ms: i64) -> Vec<Quota> {
    if status < 400 {
        return Vec::new();
    }
    if let Ok(value) = serde_json::from_slice::<Value>(body) {
        // Google's chat endpoint answers a list of one.
        let value = value.as_array().and_then(|list| list.first()).unwrap_or(&value);
        let told = [violations(value, now_ms), headers_inside(value, now_ms)].concat();
        if !told.is_empty() {
            return told;
        }
    }
    let error = wire::format(endpoint.api).decode_error(status, "application/json", body);
    let stated = error.stated_limit().map(|limit| Quota {
        metric: limit.axis,
        window_s: Some(limit.window.as_secs()),
        limit: Some(limit.allowed),
        remaining: limit.used.map(|used| limit.allowed.saturating_sub(used)),
        reset_ms: error.retry_after.and_then(|wait| reset::after(wait, now_ms)),
    });
    stated.into_iter().collect()
}

/// Google's `QuotaFailure`: every violation is a quota with nothing left.
fn violations(value: &Value, now_ms: i64) -> Vec<Quota> {
    let details = value.pointer("/error/details").and_then(Value::as_array);
    let of_type = |name: &str| {
        let is = move |detail: &&Value| {
            detail.get("@type").and_then(Value::as_str).is_some_and(|kind| kind.ends_with(name))
        };
        details.into_iter().flatten().find(is)
    };
    let listed = of_type(".QuotaFailure").and_then(|failure| failure.get("violations")?.as_array());
    let delay = of_type(".RetryInfo").and_then(|info| info.get("retryDelay")?.as_str());
    let resets = delay.and_then(|delay| reset::instant(delay, now_ms));
    listed.into_iter().flatten().filter_map(|violation| violated(violation, resets)).collect()
}

fn violated(violation: &Value, resets: Option<i64>) -> Option<Quota> {
    let text = |name: &str| violation.get(name).and_then(Value::as_str).unwrap_or_default();
    let (counted, id) = (text("quotaMetric").to_lowercase(), text("quotaId").to_lowercase());
    let metric = COUNTED.iter().find(|(word, _)| counted.contains(word)).map(|(_, metric)| *metric)?;
    let window_s = PER.iter().find(|(word, _)| id.contains(word)).map(|(_, seconds)| *seconds);
    let limit = violation.get("quotaValue").and_then(|value| value.as_u64().or(value.as_str()?.parse().ok()));
    // The delay is the next try's: a day is not over by then.
    let reset_ms = resets.filter(|_| window_s == Some(60));
    Some(Quota { metric, window_s, limit, remaining: Some(0), reset_ms })
}

/// In a metric's or a limit's name, the more particular first.
const COUNTED: &[(&str, Axis)] = &[
    ("input_token", Axis::InputTokens),
    ("output_token", Axis::OutputTokens),
    ("token", Axis::Tokens),
    ("request", Axis::Requests),
];

const PER: &[(&str, u64)] = &[("perminute", 60), ("perhour", 3600), ("perday", 86_400)];

/// OpenRouter's `metadata.headers`; how long the window is stands in the name of the limit that was met.
fn headers_inside(value: &Value, now_ms: i64) -> Vec<Quota> {
    let Some(headers) = value.pointer("/error/metadata/headers").and_then(Value::as_object) else {
        return Vec::new();
    };
    let header = |name: &str| {
        headers.iter().find(|(key, _)| key.eq_ignore_ascii_case(name)).and_then(|(_, value)| value.as_str())
    };
    let words = value.pointer("/error/message").and_then(Value::as_str).unwrap_or_default();
    let named = [("-per-min", 60), ("-per-day", 86_400)];
    let window = named.iter().find(|(word, _)| words.contains(word)).map(|(_, seconds)| *seconds);
    let rows = ROWS.iter().filter(|row| row.profile.is_none());
    let told = rows.filter_map(|row| row.read(&header, now_ms));
    told.map(|quota| Quota { window_s: quota.window_s.or(window), ..quota }).collect()
}
