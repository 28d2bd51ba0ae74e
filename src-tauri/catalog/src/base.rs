use std::net::IpAddr;

use url::{Host, Url};

use crate::preset::RESOURCE;

/// "The gateway's own address": the base of the built-in practice endpoint, and of nothing else.
pub const PRACTICE_BASE: &str = "bench:/practice/v1";

/// Why a text cannot be an endpoint's base URL.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BaseError {
    #[error("the base URL is empty; it looks like https://api.example.com/v1")]
    Empty,
    #[error("not a URL ({0}); it looks like https://api.example.com/v1")]
    Unreadable(String),
    #[error("the base URL must start with https:// or http://, not {0}:")]
    Scheme(String),
    #[error(
        "the base URL must not hold a user name or password; a key belongs in the keychain or in key_env"
    )]
    UserInfo,
    #[error("the base URL must not have a query (?…); a key belongs in the keychain or in key_env")]
    Query,
    #[error("the base URL must not have a fragment (#…)")]
    Fragment,
    #[error("the base URL must not hold spaces or control characters")]
    Space,
    #[error("put the name of your own resource where the base URL has {RESOURCE}")]
    Resource,
    #[error("the base URL is what stands before {path}: {base}")]
    WholePath { path: &'static str, base: String },
    #[error("{PRACTICE_BASE} is the built-in practice endpoint's own; another endpoint needs a URL")]
    Practice,
    /// The one error the owner may overrule: consent is asked for, and kept in `plain_http`.
    #[error(
        "plain http to {0}, another machine: prompts and the key would cross the network unencrypted; \
         use https, or agree to plain http (plain_http: true)"
    )]
    PlainHttp(String),
}

/// What a dialect joins to the base, and a person may paste with it. A longer one stands before its own tail.
const WHOLE_PATHS: &[&str] = &[
    "/chat/completions",
    "/completions",
    "/responses",
    "/messages",
    "/models",
    "/api/chat",
    "/api/generate",
    "/api/tags",
];

/// Whether a text can be an endpoint's base URL: http or https, a host, a path and nothing else.
///
/// Plain http beyond this machine is [`BaseError::PlainHttp`], reported only when all else is well, so that
/// consent can be asked for.
pub fn check_base(base: &str) -> Result<(), BaseError> {
    if base.trim().is_empty() {
        return Err(BaseError::Empty);
    }
    if base == PRACTICE_BASE {
        return Err(BaseError::Practice);
    }
    // The URL parser drops tabs and newlines and percent-encodes spaces; a person who typed one should know.
    if base.chars().any(|c| c.is_whitespace() || c.is_control()) {
        return Err(BaseError::Space);
    }
    if base.contains(RESOURCE) {
        return Err(BaseError::Resource);
    }
    let url = Url::parse(base).map_err(|error| BaseError::Unreadable(error.to_string()))?;
    if !matches!(url.scheme(), "http" | "https") {
        return Err(BaseError::Scheme(url.scheme().to_owned()));
    }
    // `http:/host` and `http:\\host` parse, but nobody means them.
    let authority = base.split_once("://").map(|(_, rest)| rest).unwrap_or_default();
    if authority.is_empty() || authority.starts_with(['/', '\\']) {
        return Err(BaseError::Unreadable("no host after ://".to_owned()));
    }
    if !url.username().is_empty() || url.password().is_some() || authority_has_at(authority) {
        return Err(BaseError::UserInfo);
    }
    if url.query().is_some() {
        return Err(BaseError::Query);
    }
    if url.fragment().is_some() {
        return Err(BaseError::Fragment);
    }
    let trimmed = base.trim_end_matches('/');
    for path in WHOLE_PATHS {
        if let Some(before) = trimmed.strip_suffix(path) {
            return Err(BaseError::WholePath { path, base: before.to_owned() });
        }
    }
    if url.scheme() == "http" && !is_loopback(base) {
        return Err(BaseError::PlainHttp(url.host_str().unwrap_or_default().to_owned()));
    }
    Ok(())
}

/// Whether a URL's host is this machine: 127.0.0.0/8, `::1` (also as a mapped address) or `localhost`.
///
/// It reads the URL with the parser the outbound client uses, so that `127.0.0.1.evil.com` and
/// `127.0.0.1@evil.com` are what they are: other machines.
pub fn is_loopback(url: &str) -> bool {
    let Ok(url) = Url::parse(url.trim()) else { return false };
    match url.host() {
        Some(Host::Domain(name)) => name.trim_end_matches('.').eq_ignore_ascii_case("localhost"),
        Some(Host::Ipv4(address)) => address.is_loopback(),
        Some(Host::Ipv6(address)) => IpAddr::V6(address).to_canonical().is_loopback(),
        None => false,
    }
}

fn authority_has_at(authority: &str) -> bool {
    authority.split(['/', '\\', '?', '#']).next().is_some_and(|host| host.contains('@'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bases_that_are_fine() {
        for base in [
            "https://api.openai.com/v1",
            "https://api.openai.com/v1/",
            "https://api.perplexity.ai",
            "https://resource.openai.azure.com/openai/v1",
            "http://127.0.0.1:11434/v1",
            "http://127.8.9.10/v1",
            "http://localhost:1234/v1",
            "http://LOCALHOST:1234/v1",
            "http://[::1]:8080/v1",
            "https://192.168.1.20:8443/v1",
            "https://xn--bcher-kva.example/v1",
        ] {
            assert_eq!(check_base(base), Ok(()), "{base}");
        }
    }

    #[test]
    fn bases_that_are_not() {
        let cases = [
            ("", "Empty"),
            ("  ", "Empty"),
            ("api.openai.com/v1", "Unreadable"),
            ("localhost:1234/v1", "Scheme"),
            ("https://", "Unreadable"),
            ("https:///v1", "Unreadable"),
            ("http:/127.0.0.1/v1", "Unreadable"),
            ("https://exa mple.com", "Space"),
            (" https://example.com", "Space"),
            ("https://example.com/v1\n", "Space"),
            ("https://example.com:99999/v1", "Unreadable"),
            ("ftp://example.com/v1", "Scheme"),
            ("file:///etc/passwd", "Scheme"),
            ("bench:/practice/v2", "Scheme"),
            ("bench:/practice/v1", "Practice"),
            ("https://key@example.com/v1", "UserInfo"),
            ("https://:pw@example.com/v1", "UserInfo"),
            ("https://@example.com/v1", "UserInfo"),
            ("http://127.0.0.1@evil.com/v1", "UserInfo"),
            ("https://example.com/v1?key=abc", "Query"),
            ("https://example.com/v1?", "Query"),
            ("https://example.com/v1#top", "Fragment"),
            ("https://example.com/v1/chat/completions", "WholePath"),
            ("https://example.com/v1/models/", "WholePath"),
            ("https://example.com/v1/responses", "WholePath"),
            ("https://example.com/v1/messages", "WholePath"),
            ("http://127.0.0.1:11434/api/chat", "WholePath"),
            ("http://127.0.0.1:11434/api/tags", "WholePath"),
            ("http://example.com/v1", "PlainHttp"),
            ("http://192.168.1.20:8000/v1", "PlainHttp"),
            ("http://127.0.0.1.evil.com/v1", "PlainHttp"),
            ("http://localhost.evil.com/v1", "PlainHttp"),
            ("http://0.0.0.0:8000/v1", "PlainHttp"),
        ];
        for (base, wanted) in cases {
            let error = check_base(base).expect_err(base);
            assert!(format!("{error:?}").starts_with(wanted), "{base}: {error:?}, wanted {wanted}");
        }
    }

    #[test]
    fn a_whole_path_says_the_likely_base() {
        let error = check_base("https://example.com/v1/chat/completions").expect_err("a whole path");
        assert_eq!(
            error.to_string(),
            "the base URL is what stands before /chat/completions: https://example.com/v1"
        );
    }

    #[test]
    fn loopback_is_not_fooled() {
        for url in [
            "http://127.0.0.1",
            "http://127.1/v1",
            "http://0x7f.0.0.1/v1",
            "http://2130706433/",
            "http://localhost./v1",
            "https://[::1]:1/v1",
            "http://[::ffff:127.0.0.1]:1/v1",
        ] {
            assert!(is_loopback(url), "{url}");
        }
        for url in [
            "",
            "127.0.0.1",
            "http://127.0.0.1.evil.com",
            "http://127.0.0.1@evil.com",
            "http://127.0.0.1:80@evil.com",
            "http://evil.com/127.0.0.1",
            "http://evil.com?localhost",
            "http://evil.com#@localhost",
            "http://notlocalhost",
            "http://128.0.0.1",
            "http://[::2]",
            "http://[::ffff:10.0.0.1]",
            PRACTICE_BASE,
        ] {
            assert!(!is_loopback(url), "{url}");
        }
    }
}
