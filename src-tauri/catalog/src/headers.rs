use std::collections::BTreeMap;

use crate::FieldError;

const MOST_HEADERS: usize = 32;
const LONGEST_VALUE: usize = 1_000;

/// Headers that would carry a secret; a set-up is exported as plain text and never holds one.
const SECRET_NAMES: [&str; 8] =
    ["auth", "api-key", "apikey", "api_key", "token", "secret", "password", "cookie"];

/// Headers the outbound client writes itself, and hop-by-hop ones.
const OUR_NAMES: [&str; 14] = [
    "accept",
    "accept-encoding",
    "connection",
    "content-encoding",
    "content-length",
    "content-type",
    "expect",
    "host",
    "keep-alive",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
    "user-agent",
];

/// Whether an endpoint's extra headers may be kept in plain text and sent as they are.
pub fn check_headers(headers: &BTreeMap<String, String>) -> Result<(), FieldError> {
    if headers.len() > MOST_HEADERS {
        return Err(FieldError::new("headers", format!("at most {MOST_HEADERS} headers")));
    }
    for (name, value) in headers {
        check_header(name, value).map_err(|message| FieldError::new(field(name), message))?;
    }
    Ok(())
}

fn check_header(name: &str, value: &str) -> Result<(), String> {
    let lower = name.to_ascii_lowercase();
    if name.is_empty() || !name.chars().all(token_char) {
        return Err("not a header name: letters, digits and - only".to_owned());
    }
    let secret =
        SECRET_NAMES.iter().any(|word| lower.contains(word)) || lower == "key" || lower.ends_with("-key");
    if secret || looks_secret(value) {
        return Err("a header must not carry a secret; keys belong in the keychain or in key_env".to_owned());
    }
    if OUR_NAMES.contains(&lower.as_str()) {
        return Err("this header is written by the gateway itself; leave it out".to_owned());
    }
    if value.len() > LONGEST_VALUE || !value.chars().all(|c| c == ' ' || c.is_ascii_graphic()) {
        return Err(format!("a header's value is at most {LONGEST_VALUE} plain ASCII characters"));
    }
    if value.trim() != value {
        return Err("a header's value must not begin or end with a space".to_owned());
    }
    Ok(())
}

/// Values that are credentials whatever the header is called. A miss is possible, a false alarm unlikely.
fn looks_secret(value: &str) -> bool {
    let lower = value.trim().to_ascii_lowercase();
    lower.starts_with("bearer ")
        || lower.starts_with("basic ")
        || ["sk-", "gsk_", "xai-", "ghp_", "github_pat_", "hf_", "nvapi-", "aiza", "bwk_"]
            .iter()
            .any(|prefix| lower.starts_with(prefix) && lower.len() >= 20)
}

fn token_char(c: char) -> bool {
    c.is_ascii_alphanumeric() || "!#$%&'*+-.^_`|~".contains(c)
}

fn field(name: &str) -> String {
    match name.is_empty() || name.contains(|c: char| !c.is_ascii_graphic() || matches!(c, '"' | '\\')) {
        true => "headers".to_owned(),
        false => format!("headers[\"{name}\"]"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(name: &str, value: &str) -> Result<(), String> {
        check_headers(&BTreeMap::from([(name.to_owned(), value.to_owned())]))
            .map_err(|error| error.to_string())
    }

    #[test]
    fn plain_headers_pass() {
        for (name, value) in [
            ("X-Title", "bench"),
            ("HTTP-Referer", "https://example.com/a?b"),
            ("X-Empty", ""),
            ("x_y", "sk-short"),
        ] {
            assert_eq!(check(name, value), Ok(()), "{name}");
        }
    }

    #[test]
    fn headers_that_would_carry_a_secret_are_refused_and_the_value_is_not_repeated() {
        let key = "sk-0123456789abcdefghij";
        for (name, value) in [
            ("Authorization", key),
            ("proxy-authorization", key),
            ("X-Api-Key", key),
            ("api-key", key),
            ("x-goog-api-key", key),
            ("X-Auth", key),
            ("X-My-Token", key),
            ("Cookie", key),
            ("X-Client-Secret", key),
            ("x-subscription-key", key),
            ("X-Innocent", key),
            ("X-Innocent", "Bearer abc"),
        ] {
            let error = check(name, value).expect_err(name);
            assert!(error.contains("keychain or in key_env"), "{name}: {error}");
            assert!(error.starts_with(&format!("headers[\"{name}\"]: ")), "{error}");
            assert!(!error.contains(value), "{error}");
        }
    }

    #[test]
    fn malformed_headers_are_refused() {
        for (name, value, wanted) in [
            ("", "x", "headers: not a header name"),
            ("X Y", "x", "headers: not a header name"),
            ("X:Y", "x", "headers[\"X:Y\"]: not a header name"),
            ("X-A", "a\r\nB: c", "plain ASCII"),
            ("X-A", "schön", "plain ASCII"),
            ("X-A", " a", "begin or end with a space"),
            ("X-A", &"a".repeat(1_001), "at most 1000"),
            ("Host", "evil.com", "written by the gateway"),
            ("content-length", "3", "written by the gateway"),
        ] {
            let error = check(name, value).expect_err(name);
            assert!(error.contains(wanted), "{name}: {error}");
        }
        let many = (0..33).map(|n| (format!("X-{n}"), String::new())).collect();
        assert_eq!(
            check_headers(&many).map_err(|error| error.to_string()),
            Err("headers: at most 32 headers".into())
        );
    }
}
