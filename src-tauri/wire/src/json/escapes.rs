//! Escapes in strings.

/// What the text of a JSON string says, its quotes left out. It was gone over: every escape is one.
pub(crate) fn unescaped(written: &str) -> String {
    let mut said = String::with_capacity(written.len());
    let mut rest = written;
    while let Some(at) = memchr::memchr(b'\\', rest.as_bytes()) {
        said.push_str(&rest[..at]);
        let (folded, length) = escape(&rest[at..]);
        said.push(folded);
        rest = &rest[at + length..];
    }
    said.push_str(rest);
    said
}

/// The character that the escape at the beginning stands for, and how many bytes it is written in.
fn escape(text: &str) -> (char, usize) {
    let unit = |at: usize| u16::from_str_radix(text.get(at..at + 4).unwrap_or_default(), 16).ok();
    let plain = match text.as_bytes().get(1) {
        Some(b'b') => '\u{8}',
        Some(b'f') => '\u{c}',
        Some(b'n') => '\n',
        Some(b'r') => '\r',
        Some(b't') => '\t',
        Some(b'u') => {
            let units = [unit(2), text[6..].starts_with("\\u").then(|| unit(8)).flatten()];
            let first = char::decode_utf16(units.into_iter().flatten()).next();
            let said = first.and_then(Result::ok).unwrap_or(char::REPLACEMENT_CHARACTER);
            return (said, 6 * said.len_utf16());
        }
        other => char::from(other.copied().unwrap_or(b'\\')),
    };
    (plain, 2)
}

/// Rewrites `\uD800`–`\uDFFF` escapes that have no partner to `\uFFFD`; `None` when there are none. Clients
/// that cut a string inside an emoji send these, and `serde_json` refuses them.
pub(crate) fn without_lone_surrogates(text: &str) -> Option<String> {
    // Nearly every text has no surrogate escape at all, and this finds that out fastest.
    let is_surrogate = |at: usize| matches!(text.as_bytes().get(at + 2), Some(b'd' | b'D'));
    if !memchr::memmem::find_iter(text.as_bytes(), b"\\u").any(is_surrogate) {
        return None;
    }
    let bytes = text.as_bytes();
    let mut out = String::new();
    let mut kept = 0;
    let mut at = 0;
    while let Some(found) = bytes[at..].iter().position(|byte| *byte == b'\\') {
        at += found;
        match surrogate(bytes, at) {
            Some(true) if surrogate(bytes, at + 6) == Some(false) => at += 12,
            Some(_) => {
                out.push_str(&text[kept..at]);
                out.push_str("\\ufffd");
                at += 6;
                kept = at;
            }
            // Any other escape, the backslash's own among them, is two bytes that cannot begin another. A
            // backslash outside a string is no JSON anyway.
            None => at = (at + 2).min(bytes.len()),
        }
    }
    (kept > 0).then(|| {
        out.push_str(&text[kept..]);
        out
    })
}

/// Whether a surrogate escape starts at `at`: `Some(true)` for a leading one, `Some(false)` for a trailing one.
fn surrogate(bytes: &[u8], at: usize) -> Option<bool> {
    let escape = bytes.get(at..at + 6)?;
    if !escape.starts_with(b"\\u") || !escape[2].eq_ignore_ascii_case(&b'd') {
        return None;
    }
    if !escape[4..].iter().all(u8::is_ascii_hexdigit) {
        return None;
    }
    match escape[3].to_ascii_lowercase() {
        b'8' | b'9' | b'a' | b'b' => Some(true),
        b'c'..=b'f' => Some(false),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn what_is_said_is_what_serde_says(said in "[ -~\\n\\t\u{8}\u{c}\\r\u{1}é北🌍]{0,40}", in_full in any::<bool>()) {
            let mut written = serde_json::Value::from(said.as_str()).to_string();
            if in_full {
                let unit = |unit| format!("\\u{unit:04X}");
                written = format!("\"{}\"", said.encode_utf16().map(unit).collect::<String>());
            }
            prop_assert_eq!(unescaped(&written[1..written.len() - 1]), said);
        }
    }
}
