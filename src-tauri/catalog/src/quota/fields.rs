//! The IETF's fields: `RateLimit: "default";r=50;t=30` beside `RateLimit-Policy: "default";q=100;w=60`, and how earlier
//! drafts wrote both.

use std::time::Duration;

use wire::Axis;

use super::{Quota, reset};

/// One record for each policy that the reply names.
pub(super) fn read<'a>(header: &impl Fn(&str) -> Option<&'a str>, now_ms: i64) -> Vec<Quota> {
    let Some(left) = header("ratelimit") else { return Vec::new() };
    let policies: Vec<_> = header("ratelimit-policy").into_iter().flat_map(items).collect();
    if left.contains("remaining=") {
        // Draft 3 to 6: `limit=100, remaining=50, reset=5`, all of one quota.
        let number = |name: &str| items(left).find_map(|item| number(item, name));
        let wait = number("reset").and_then(|seconds| reset::after(Duration::from_secs(seconds), now_ms));
        let window = policies.first().and_then(|policy| number_of(policy, "w"));
        return quota(number("limit"), number("remaining"), window, wait).into_iter().collect();
    }
    let one = |item: &'a str| {
        let policy = policies.iter().find(|policy| name(policy) == name(item));
        let of_policy = |key: &str| policy.and_then(|policy| number_of(policy, key));
        let wait =
            number_of(item, "t").and_then(|seconds| reset::after(Duration::from_secs(seconds), now_ms));
        // `qu` says what is counted; without it, requests.
        let counts_requests = policy.is_none_or(|policy| {
            parameters(policy).all(|(key, value)| key != "qu" || value.trim_matches('"') == "requests")
        });
        counts_requests.then(|| quota(of_policy("q"), number_of(item, "r"), of_policy("w"), wait)).flatten()
    };
    items(left).filter_map(one).collect()
}

/// The window in a limit that names it: of `100, 100;w=60` 60.
pub(super) fn window(limit: &str) -> Option<u64> {
    items(limit).find_map(|item| number_of(item, "w"))
}

fn quota(
    limit: Option<u64>,
    remaining: Option<u64>,
    window_s: Option<u64>,
    reset_ms: Option<i64>,
) -> Option<Quota> {
    let told = limit.is_some() || remaining.is_some();
    told.then_some(Quota { metric: Axis::Requests, window_s, limit, remaining, reset_ms })
}

/// Names of policies hold no commas in practice; one that did would only be read as two.
fn items(value: &str) -> impl Iterator<Item = &str> {
    value.split(',').map(str::trim).filter(|item| !item.is_empty())
}

fn name(item: &str) -> &str {
    item.split(';').next().unwrap_or_default().trim()
}

fn parameters(item: &str) -> impl Iterator<Item = (&str, &str)> {
    item.split(';').skip(1).filter_map(|part| part.trim().split_once('='))
}

fn number_of(item: &str, key: &str) -> Option<u64> {
    parameters(item).find(|(name, _)| *name == key).and_then(|(_, value)| value.trim().parse().ok())
}

fn number(item: &str, key: &str) -> Option<u64> {
    let (name, value) = item.split_once('=')?;
    (name.trim() == key).then(|| value.trim().parse().ok()).flatten()
}
