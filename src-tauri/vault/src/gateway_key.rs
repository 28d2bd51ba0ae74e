//! Gateway keys in texts. They are known by their shape alone, whoever's they are: of one that was made, its hash is kept.

use std::ops::Range;

/// What every gateway key begins with.
pub const PREFIX: &str = "bwk_";
/// What follows it: 32 bytes in base64url.
pub const SECRET_CHARS: usize = 43;

/// Whether a text holds what may be one, also as JSON or a URL spells it.
pub fn is_in(text: &str) -> bool {
    !crate::scrub::places(text, find).is_empty()
}

/// The text with everything masked that may be one, also as JSON or a URL spells it; `None` where there is nothing.
pub fn mask(text: &str) -> Option<String> {
    crate::scrub::masked(text, crate::scrub::places(text, find))
}

pub fn is_secret_char(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_')
}

/// Tells where each stands, as it is written.
pub(crate) fn find(text: &str, found: &mut dyn FnMut(Range<usize>)) {
    let mut at = 0;
    while let Some(start) = text[at..].find(PREFIX).map(|start| at + start) {
        let secret = start + PREFIX.len();
        let length = text.as_bytes()[secret..].iter().take_while(|byte| is_secret_char(**byte)).count();
        at = if length >= SECRET_CHARS { secret + length } else { secret };
        if length >= SECRET_CHARS {
            found(start..at);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_may_be_a_key_is_masked() {
        let key = format!("{PREFIX}{}", "aZ0-_".repeat(9).split_at(SECRET_CHARS).0);
        let short = &key[..key.len() - 1];
        let in_url: String = key.bytes().map(|byte| format!("%{byte:02x}")).collect();
        for (text, wanted) in [
            (String::new(), None),
            ("bwk_ and bwk_x".to_owned(), None),
            (format!("{short} é"), None),
            (format!("{short}%20"), None),
            (key.clone(), Some("••••".to_owned())),
            (format!("é {key}, {key}x \"{key}\""), Some("é ••••, •••• \"••••\"".to_owned())),
            (format!("bwk_{key}"), Some("••••".to_owned())),
            (format!("{short} {key}!"), Some(format!("{short} ••••!"))),
            (format!("/v1/{}/x", key.replace('_', "%5F")), Some("/v1/••••/x".to_owned())),
            (format!("?a={in_url}&b"), Some("?a=••••&b".to_owned())),
            (format!("{}%41.", &key[..20]), None),
            (format!("{}%{:02X}{}.", &key[..20], key.as_bytes()[20], &key[21..]), Some("••••.".to_owned())),
            (format!("a%2562{}", &key[1..]), Some("a••••".to_owned())),
            (format!(r#"{{"a":"\u0062{}\n"}}"#, &key[1..]), Some(r#"{"a":"••••\n"}"#.to_owned())),
        ] {
            assert_eq!(mask(&text), wanted, "{text}");
            assert_eq!(is_in(&text), wanted.is_some(), "{text}");
        }
    }
}
