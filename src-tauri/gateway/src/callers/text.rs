//! Keys' texts in other texts.

use super::key::{PREFIX, SECRET_CHARS, is_secret_char};

/// Whether a text holds what may be a gateway key.
pub(crate) fn is_in(text: &str) -> bool {
    next(text, 0).is_some()
}

/// The text with everything masked that may be a gateway key, of this gateway or another; `None` where there is nothing.
pub(crate) fn masked(text: &str) -> Option<String> {
    let mut out: Option<String> = None;
    let mut at = 0;
    while let Some((start, end)) = next(text, at) {
        let out = out.get_or_insert_default();
        out.push_str(&text[at..start]);
        out.push_str(vault::MASK);
        at = end;
    }
    out.map(|out| out + &text[at..])
}

/// Where the next one stands, from `at` on.
fn next(text: &str, mut at: usize) -> Option<(usize, usize)> {
    loop {
        let start = at + text[at..].find(PREFIX)?;
        let secret = start + PREFIX.len();
        let length = text.as_bytes()[secret..].iter().take_while(|byte| is_secret_char(**byte)).count();
        if length >= SECRET_CHARS {
            return Some((start, secret + length));
        }
        at = secret;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_may_be_a_key_is_masked() {
        let key = format!("{PREFIX}{}", "aZ0-_".repeat(9).split_at(SECRET_CHARS).0);
        let short = &key[..key.len() - 1];
        for (text, wanted) in [
            (String::new(), None),
            ("bwk_ and bwk_x".to_owned(), None),
            (format!("{short} é"), None),
            (key.clone(), Some("••••".to_owned())),
            (format!("é {key}, {key}x \"{key}\""), Some("é ••••, •••• \"••••\"".to_owned())),
            (format!("bwk_{key}"), Some("••••".to_owned())),
            (format!("{short} {key}!"), Some(format!("{short} ••••!"))),
        ] {
            assert_eq!(masked(&text), wanted, "{text}");
            assert_eq!(is_in(&text), wanted.is_some(), "{text}");
        }
    }
}
