//! The base a person likely meant.

use std::collections::HashSet;

use wire::Dialect;

/// Each is asked, and a person waits.
const MOST: usize = 6;

/// Bases to try where the given one has no model list: with the path that was left out, without the one of
/// which too much was pasted. Most likely first.
pub(super) fn likely_bases(api: Dialect, base: &str) -> Vec<String> {
    let base = base.trim_end_matches('/');
    let Some((scheme, rest)) = base.split_once("://") else { return Vec::new() };
    let host = rest.split('/').next().unwrap_or(rest);
    let root = format!("{scheme}://{host}");
    let (pasted, usual): (&[&str], &[&str]) = match api {
        Dialect::Ollama => (&["/api/chat", "/api/generate", "/api/tags", "/api", "/v1"], &[""]),
        Dialect::Gemini => (&["/models", "/openai"], &["/v1beta", "/v1"]),
        Dialect::Anthropic => (&["/messages", "/models"], &["/v1", "/anthropic/v1"]),
        Dialect::Chat | Dialect::Responses | Dialect::Completions => (
            &["/chat/completions", "/completions", "/responses", "/models"],
            &["/v1", "/api/v1", "/openai/v1", "/api"],
        ),
    };
    let mut bases = Vec::new();
    bases.extend(usual.first().map(|usual| format!("{base}{usual}")));
    bases.extend(pasted.iter().filter_map(|tail| base.strip_suffix(tail)).map(str::to_owned));
    bases.extend(usual.iter().map(|usual| format!("{root}{usual}")));
    let mut seen = HashSet::from([base.to_owned()]);
    bases.retain(|candidate| seen.insert(candidate.clone()));
    bases.truncate(MOST);
    bases
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_left_out_and_what_was_pasted_too_much() {
        for (api, base, wanted) in [
            (Dialect::Chat, "http://h:1/", "http://h:1/v1"),
            (Dialect::Chat, "https://h/v1/chat/completions", "https://h/v1"),
            (Dialect::Responses, "https://h/v1/responses", "https://h/v1"),
            (Dialect::Anthropic, "https://h", "https://h/v1"),
            (Dialect::Anthropic, "https://h/anthropic", "https://h/anthropic/v1"),
            (Dialect::Anthropic, "https://h/v1/messages", "https://h/v1"),
            (Dialect::Gemini, "https://h", "https://h/v1beta"),
            (Dialect::Gemini, "https://h/v1beta/openai", "https://h/v1beta"),
            (Dialect::Ollama, "http://h:1/v1", "http://h:1"),
            (Dialect::Ollama, "http://h:1/api", "http://h:1"),
            (Dialect::Ollama, "http://h:1/ollama/api/tags", "http://h:1/ollama"),
        ] {
            let bases = likely_bases(api, base);
            assert!(bases.iter().any(|it| it == wanted), "{api:?} {base}: {bases:?}");
            assert!(!bases.iter().any(|it| it == base.trim_end_matches('/')), "{api:?} {base}: {bases:?}");
        }
        assert_eq!(likely_bases(Dialect::Chat, "http://h:1")[0], "http://h:1/v1");
        assert_eq!(likely_bases(Dialect::Chat, "not a url"), Vec::<String>::new());
    }
}
