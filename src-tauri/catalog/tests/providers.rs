//! What providers really answer, as data in `providers/<preset>/`: each file is a list of cases, each with where it was
//! reported or, where no report was at hand, the provider's page on the subject, and then the words are as its clients
//! know them. `generic` is no preset: its cases name their base.

#![expect(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]

#[path = "providers/replies.rs"]
mod replies;

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::Path,
    time::Duration,
};

use catalog::{Endpoint, Facts, Limits, Quota, preset};
use serde::{Deserialize, de::DeserializeOwned};
use serde_json::Value;
use wire::{Class, Dialect};

const NOW_MS: i64 = 1_764_000_000_000;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct QuotaCase {
    source: String,
    base: Option<String>,
    api: Option<Dialect>,
    #[serde(default)]
    headers: serde_json::Map<String, Value>,
    #[serde(default)]
    status: u16,
    body: Option<Value>,
    quotas: Vec<Value>,
}

#[test]
fn quotas() {
    let mut told = 0;
    for (provider, case) in cases::<QuotaCase>("quotas") {
        let endpoint = endpoint(&provider, case.base.as_deref(), case.api);
        let header = |name: &str| case.headers.get(name).and_then(Value::as_str);
        let mut found = catalog::quotas(&endpoint, header, NOW_MS);
        if let Some(body) = &case.body {
            found.extend(catalog::quotas_in_body(&endpoint, case.status, &bytes(body), NOW_MS));
        }
        let wanted: Vec<Quota> = case.quotas.iter().map(wanted).collect();
        assert_eq!(found, wanted, "{provider}: {}", case.source);
        told += found.len();
    }
    assert!(told > 30, "{told} quotas");
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ListingCase {
    source: String,
    listing: Value,
    facts: BTreeMap<String, Facts>,
}

#[test]
fn listings() {
    let mut told = BTreeSet::new();
    for (provider, case) in cases::<ListingCase>("listing") {
        let found: BTreeMap<String, Facts> =
            items(&case.listing).iter().map(|item| (name(item), catalog::facts_in_listing(item))).collect();
        assert_eq!(found, case.facts, "{provider}: {}", case.source);
        told.insert(provider);
    }
    assert!(told.len() > 18, "{told:?}");
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ErrorCase {
    source: String,
    status: u16,
    body: Value,
    class: Class,
    window: Option<u64>,
    wait_s: Option<f64>,
    #[serde(default)]
    limits: Limits,
    /// A limit of every model that is called with the key.
    #[serde(default)]
    of_the_whole_key: bool,
}

#[test]
fn errors() {
    let (mut told, mut wrong) = (BTreeSet::new(), Vec::new());
    for (provider, case) in cases::<ErrorCase>("errors") {
        let api = endpoint(&provider, None, None).api;
        let error = wire::format(api).decode_error(case.status, "application/json", &bytes(&case.body));
        let limits = error.stated_limit().map(|limit| Limits::stated(&limit)).unwrap_or_default();
        let wait = case.wait_s.map(Duration::from_secs_f64);
        let of_the_whole_key =
            error.class == Class::Capacity && error.is_of_the_whole_key("a-model-that-no-case-names");
        let found = (error.class, error.context_window(), error.retry_after, limits, of_the_whole_key);
        let wanted = (case.class, case.window, wait, case.limits, case.of_the_whole_key);
        if found != wanted {
            wrong.push(format!("{provider}: {}: {}\n  {found:?}\n  {wanted:?}", case.source, error.message));
        }
        told.insert(provider);
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    let presets: BTreeSet<String> = catalog::presets().iter().map(|preset| preset.id.clone()).collect();
    assert_eq!(told, presets, "every preset has its errors here");
}

fn items(listing: &Value) -> &[Value] {
    let list = listing.get("data").or_else(|| listing.get("models")).unwrap_or(listing);
    list.as_array().unwrap()
}

fn name(item: &Value) -> String {
    item.get("id").or_else(|| item.get("name")).and_then(Value::as_str).unwrap().to_owned()
}

/// As a case writes it: the reset is from now.
fn wanted(quota: &Value) -> Quota {
    let mut quota = quota.as_object().unwrap().clone();
    let reset = quota.remove("reset_in_ms").and_then(|reset| reset.as_i64());
    quota.insert("reset_ms".to_owned(), reset.map(|reset| NOW_MS + reset).into());
    serde_json::from_value(quota.into()).unwrap()
}

fn endpoint(provider: &str, base: Option<&str>, api: Option<Dialect>) -> Endpoint {
    let known = preset(provider);
    let base = base.map_or_else(|| known.expect(provider).base.replace("{resource}", "mine"), str::to_owned);
    let api = api.or(known.map(|preset| preset.api)).unwrap_or_default();
    let endpoint = Endpoint { api, ..Endpoint::new("here", base) };
    assert_eq!(endpoint.check(), Ok(()), "{provider}");
    endpoint
}

/// A body that is no JSON is written as a string.
fn bytes(body: &Value) -> Vec<u8> {
    body.as_str().map_or_else(|| serde_json::to_vec(body).unwrap(), |text| text.as_bytes().to_vec())
}

/// Every case of a kind, with the provider's name, in a fixed order.
fn cases<T: DeserializeOwned>(kind: &str) -> Vec<(String, T)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/providers");
    let mut folders: Vec<_> = fs::read_dir(root).unwrap().map(|entry| entry.unwrap().path()).collect();
    folders.sort();
    let mut cases = Vec::new();
    for folder in folders {
        let provider = folder.file_name().unwrap().to_str().unwrap().to_owned();
        let Ok(text) = fs::read(folder.join(format!("{kind}.json"))) else { continue };
        let read: Vec<T> =
            serde_json::from_slice(&text).unwrap_or_else(|error| panic!("{provider} {kind}: {error}"));
        assert!(!read.is_empty(), "{provider}: no cases");
        cases.extend(read.into_iter().map(|case| (provider.clone(), case)));
    }
    cases
}
