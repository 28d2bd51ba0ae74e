//! Names in requests: which collection, which mode, which client.

use http::{HeaderMap, header};
use percent_encoding::percent_decode_str;
use wire::ReplyMode;

/// What `model` names: `bench/core`, `core`, `bench/core:all`.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Asked<'a> {
    pub collection: &'a str,
    pub mode: Option<ReplyMode>,
}

pub(crate) fn parse(model: &str) -> Asked<'_> {
    // Ollama clients add `:latest` to a name without a tag, Gemini's put `models/` before one.
    let model = model.strip_suffix(":latest").unwrap_or(model);
    let model = model.strip_prefix("models/").unwrap_or(model);
    let name = model.strip_prefix("bench/").unwrap_or(model);
    let mode_of = |suffix| match suffix {
        "all" => Some(ReplyMode::All),
        "merged" => Some(ReplyMode::Merged),
        "route" => Some(ReplyMode::Route),
        _ => None,
    };
    match name.rsplit_once(':').and_then(|(name, suffix)| Some((name, mode_of(suffix)?))) {
        Some((collection, mode)) => Asked { collection, mode: Some(mode) },
        None => Asked { collection: name, mode: None },
    }
}

/// The alias that `bench/model/<alias>` names, or an alias by itself.
pub(crate) fn model(model: &str) -> Option<&str> {
    let name = parse(model).collection;
    Some(name.strip_prefix("model/").unwrap_or(name)).filter(|alias| !alias.is_empty())
}

/// A path segment as it was before URL encoding.
pub(crate) fn decoded(segment: &str) -> String {
    percent_decode_str(segment).decode_utf8_lossy().into_owned()
}

/// The value of a query parameter, decoded; of one that is there twice, the first.
pub(crate) fn query<'a>(query: &'a str, wanted: &str) -> Option<String> {
    let pairs = query.split('&').map(|pair| pair.split_once('=').unwrap_or((pair, "")));
    let value = |value: &'a str| decoded(&value.replace('+', " "));
    pairs.filter(|(name, _)| *name == wanted).map(|(_, text)| value(text)).next()
}

/// Who asks, in a few words: the first product of the user agent, without its version. `scrub` masks keys before it is
/// cut.
pub(crate) fn client(headers: &HeaderMap, scrub: impl Fn(&str) -> String) -> String {
    let agent = headers.get(header::USER_AGENT).and_then(|agent| agent.to_str().ok()).unwrap_or_default();
    let product = agent.split_whitespace().next().unwrap_or_default();
    let name = match product.rsplit_once('/') {
        Some((name, version)) if version.starts_with(|first: char| first.is_ascii_digit()) => name,
        _ => product,
    };
    if name.is_empty() { "unknown client".to_owned() } else { wire::redact::shorten(&scrub(name), 60) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn models() {
        let cases = [
            ("bench/core", "core", None),
            ("core", "core", None),
            ("bench/core:all", "core", Some(ReplyMode::All)),
            ("core:merged", "core", Some(ReplyMode::Merged)),
            ("bench/core:route", "core", Some(ReplyMode::Route)),
            ("bench/core:latest", "core", None),
            ("models/bench/core:all", "core", Some(ReplyMode::All)),
            ("bench/model/a:b", "model/a:b", None),
            ("", "", None),
        ];
        for (model, collection, mode) in cases {
            assert_eq!(parse(model), Asked { collection, mode }, "{model}");
        }
    }

    #[test]
    fn clients() {
        let of = |agent: &str| {
            client(&HeaderMap::from_iter([(header::USER_AGENT, agent.parse().unwrap())]), str::to_owned)
        };
        assert_eq!(of("OpenAI/Python 2.1.0"), "OpenAI/Python");
        assert_eq!(of("curl/8.5.0"), "curl");
        assert_eq!(of("opencode"), "opencode");
        assert_eq!(client(&HeaderMap::new(), str::to_owned), "unknown client");
    }

    #[test]
    fn queries() {
        assert_eq!(query("a=1&collection=bench%2Fcore&b", "collection").as_deref(), Some("bench/core"));
        assert_eq!(query("a=x+y", "a").as_deref(), Some("x y"));
        assert_eq!(query("a=x&b=y&a=z", "a").as_deref(), Some("x"));
        assert_eq!(query("", "a"), None);
    }
}
