//! What may leave an error text, and what stands for an image in a record (panel.md §8). One pass over the
//! text, whatever its size.

/// Replaces data URLs, the queries and user info of URLs, and base64 runs of 100 characters or more. Known
/// keys are the caller's to remove: this file knows none.
pub fn redact(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut out = String::with_capacity(text.len());
    let mut at = 0;
    // The end of the URL that `at` is inside of, found once a URL.
    let mut url_end = 0;
    while at < bytes.len() {
        if is_base64(bytes[at]) {
            let run = run_end(bytes, at);
            if let Some(end) = data_url_end(bytes, at, run) {
                out.push_str(&text[at..run - 4]);
                out.push_str("[data URL]");
                at = end;
                continue;
            }
            match base64_end(bytes, at, run) {
                Some((end, length)) => {
                    out.push_str(&format!("[base64, {length} characters]"));
                    at = end;
                }
                None => {
                    out.push_str(&text[at..run]);
                    at = run;
                }
            }
            if at >= url_end && bytes[at..].starts_with(b"://") && ends_with_scheme(&bytes[..at]) {
                out.push_str("://");
                at += 3;
                url_end = token_end(bytes, at);
                if let Some(host) = after_user_info(&bytes[..url_end], at) {
                    out.push_str("[user]@");
                    at = host;
                }
            }
        } else if at < url_end && matches!(bytes[at], b'?' | b'#') {
            out.push_str("?[query]");
            at = url_end;
        } else if bytes[at] == b'?' && starts_query(&bytes[at + 1..]) {
            out.push_str("?[query]");
            at = token_end(bytes, at);
        } else {
            let next = text[at..].chars().next().map_or(1, char::len_utf8);
            out.push_str(&text[at..at + next]);
            at += next;
        }
    }
    out
}

/// At most `chars` characters, an ellipsis among them where something was cut.
pub fn shorten(text: &str, chars: usize) -> String {
    if text.char_indices().nth(chars).is_none() {
        return text.to_owned();
    }
    let end = text.char_indices().nth(chars.saturating_sub(1)).map_or(text.len(), |(end, _)| end);
    let mut short = text[..end].trim_end().to_owned();
    if chars > 0 {
        short.push('…');
    }
    short
}

/// What a record holds for an image: `[image: data URL, 412 KB]`, or the URL without query and user info.
pub fn image_placeholder(url: &str) -> String {
    let is_data = url.get(..5).is_some_and(|start| start.eq_ignore_ascii_case("data:"));
    if is_data {
        let payload = url.split_once(',').map_or("", |(_, payload)| payload);
        // Four characters of base64 are three bytes.
        let bytes = payload.trim_end_matches('=').len() * 3 / 4;
        return format!("[image: data URL, {} KB]", bytes.div_ceil(1024));
    }
    let url = url.split(['?', '#']).next().unwrap_or_default();
    let Some(start) = url.find("://").map(|at| at + 3) else { return redact(url) };
    let host = after_user_info(url.as_bytes(), start).unwrap_or(start);
    redact(&format!("{}{}", &url[..start], &url[host..]))
}

/// Runs shorter than this may be words.
const LONG_RUN: usize = 100;

/// A line of wrapped base64 is at least this long (PEM wraps at 64, MIME at 76).
const WRAPPED_LINE: usize = 60;

fn is_base64(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'_' | b'-' | b'=')
}

fn run_end(bytes: &[u8], start: usize) -> usize {
    bytes[start..].iter().position(|byte| !is_base64(*byte)).map_or(bytes.len(), |length| start + length)
}

/// The end of a long base64 run that begins at `start` and how many of its characters it holds. Runs wrapped
/// at line ends count as one.
fn base64_end(bytes: &[u8], start: usize, run: usize) -> Option<(usize, usize)> {
    let mut end = run;
    let mut length = run - start;
    let mut line = length;
    while line >= WRAPPED_LINE {
        let after = match &bytes[end..] {
            [b'\r', b'\n', ..] | [b'\\', b'n', ..] => end + 2,
            [b'\n', ..] => end + 1,
            _ => break,
        };
        let next = run_end(bytes, after);
        if next == after {
            break;
        }
        line = next - after;
        length += line;
        end = next;
    }
    (length >= LONG_RUN).then_some((end, length))
}

/// The end of a data URL whose scheme ends at `colon`.
fn data_url_end(bytes: &[u8], start: usize, colon: usize) -> Option<usize> {
    const MOST_HEAD: usize = 200;
    let scheme = bytes[start..colon].get(colon.checked_sub(start + 4)?..)?;
    if !scheme.eq_ignore_ascii_case(b"data") || bytes.get(colon) != Some(&b':') {
        return None;
    }
    let head = &bytes[colon + 1..bytes.len().min(colon + 1 + MOST_HEAD)];
    let comma = head.iter().position(|byte| *byte == b',')?;
    let head = &head[..comma];
    let is_head = |byte: &u8| byte.is_ascii_alphanumeric() || b"/.+;=-_\"".contains(byte);
    // `data:` with a space or a word after it is prose or an event's line.
    let is_url = head.iter().all(is_head) && (head.contains(&b'/') || head.ends_with(b";base64"));
    is_url.then(|| token_end(bytes, colon + 1 + comma + 1))
}

/// Where a URL ends: at a space, a quote or a bracket no URL holds bare.
fn token_end(bytes: &[u8], start: usize) -> usize {
    let ends =
        |byte: &u8| byte.is_ascii_whitespace() || b"\"'`<>\\".contains(byte) || byte.is_ascii_control();
    bytes[start..].iter().position(ends).map_or(bytes.len(), |length| start + length)
}

/// Whether the text before `://` ends in a URL scheme: a letter, then letters, digits, `+` or `-`.
fn ends_with_scheme(before: &[u8]) -> bool {
    let tail = &before[before.len().saturating_sub(16)..];
    let start = tail.iter().rposition(|byte| !byte.is_ascii_alphanumeric() && !b"+-".contains(byte));
    let scheme = &tail[start.map_or(0, |at| at + 1)..];
    scheme.iter().any(u8::is_ascii_alphabetic)
}

/// Where the host begins in `url[start..]` when user info stands before it.
fn after_user_info(url: &[u8], start: usize) -> Option<usize> {
    let authority = url[start..].iter().position(|byte| b"/?#".contains(byte)).unwrap_or(url.len() - start);
    let at = url[start..start + authority].iter().rposition(|byte| *byte == b'@')?;
    Some(start + at + 1)
}

/// `name=` right after a question mark: the query of a URL without its beginning.
fn starts_query(after: &[u8]) -> bool {
    let name = after.iter().take(64).position(|byte| !byte.is_ascii_alphanumeric() && !b"_.-".contains(byte));
    name.is_some_and(|length| length > 0 && after[length] == b'=')
}
