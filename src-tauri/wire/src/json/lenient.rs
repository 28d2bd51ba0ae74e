//! Reading what a provider wrote that a strict reader refuses: half a surrogate pair is U+FFFD, and a number past every
//! `f64` is one near their end, as what it says in full stays in the text.

use std::borrow::Cow;

use serde_json::{Deserializer, Value};

use super::escapes::without_lone_surrogates;

/// A value that was read from the beginning of a text.
pub(crate) struct Lenient<'t> {
    pub value: Value,
    /// What it was read from, its numbers as they were written: as long as it is in the text.
    pub written: Cow<'t, str>,
}

/// The first value of a provider's text; `None` where the text is empty.
pub(crate) fn first(text: &str) -> Option<serde_json::Result<Lenient<'_>>> {
    Some(match strictly(text)? {
        Ok((value, end)) => Ok(Lenient { value, written: text[..end].into() }),
        Err(error) if error.is_eof() => Err(error),
        // Both repairs leave everything where it stands.
        Err(_) => {
            let paired = without_lone_surrogates(text).map_or(Cow::Borrowed(text), Cow::Owned);
            let read = strictly(&within_range(&paired))?;
            read.map(|(value, end)| Lenient { value, written: paired[..end].to_owned().into() })
        }
    })
}

/// A provider's text that is one value.
pub(crate) fn whole(text: &str) -> Option<Value> {
    let Lenient { value, written } = first(text)?.ok()?;
    text[written.len()..].trim().is_empty().then_some(value)
}

fn strictly(text: &str) -> Option<serde_json::Result<(Value, usize)>> {
    let mut values = Deserializer::from_str(text).into_iter();
    let value = values.next()?;
    Some(value.map(|value| (value, values.byte_offset())))
}

/// Numbers that are too large, replaced by a large one of the same length.
fn within_range(text: &str) -> Cow<'_, str> {
    let mut out = String::new();
    let (mut kept, mut at) = (0, 0);
    while let Some(from) = text[at..].find(|c: char| c == '"' || c.is_ascii_digit()) {
        let from = at + from;
        let rest = &text[from..];
        if rest.starts_with('"') {
            at = from + string(rest);
            continue;
        }
        let is_of_it = |c: char| c.is_ascii_digit() || matches!(c, '.' | 'e' | 'E' | '+' | '-');
        let end = from + rest.find(|c| !is_of_it(c)).unwrap_or(rest.len());
        // The shortest that is too large, `2e308`, has the length of this.
        if end - from >= LARGE.len() && text[from..end].parse::<f64>().is_ok_and(f64::is_infinite) {
            out.push_str(&text[kept..from]);
            out.push_str("1e");
            out.extend(std::iter::repeat_n('0', end - from - LARGE.len()));
            out.push_str(&LARGE[2..]);
            kept = end;
        }
        at = end;
    }
    if kept == 0 {
        return text.into();
    }
    out.push_str(&text[kept..]);
    out.into()
}

const LARGE: &str = "1e308";

/// The length of the string that a text begins with.
fn string(text: &str) -> usize {
    let mut is_escaped = false;
    let end = text.bytes().skip(1).position(|byte| {
        let ends = byte == b'"' && !is_escaped;
        is_escaped = byte == b'\\' && !is_escaped;
        ends
    });
    end.map_or(text.len(), |end| end + 2)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_read_stands_where_it_stood() {
        for (text, wanted, left) in [
            (r#"{"a":1e400,"b":[-2e308,"1e400"]} x"#, r#"{"a":1e+308,"b":[-1e+308,"1e400"]}"#, " x"),
            (r#"{"\ud83d\"1e400":"\ud83d"}{"b":1}"#, "{\"\u{fffd}\\\"1e400\":\"\u{fffd}\"}", r#"{"b":1}"#),
            ("[1e0400, 1e-400]", "[1e+308,0.0]", ""),
        ] {
            let read = first(text).unwrap().unwrap();
            assert_eq!(read.value.to_string(), wanted);
            assert_eq!(&text[read.written.len()..], left);
            assert!(read.written.contains("1e400") || !text.contains("1e400"), "{}", read.written);
        }
        let long = format!("[{}]", "9".repeat(400));
        assert_eq!(whole(&long).unwrap().to_string(), "[1e+308]");
        assert!(first(" ").is_none() && whole("1 1").is_none() && whole("{\"a\":nul1e400}").is_none());
        assert!(first("{\"a\":1e400").unwrap().is_err_and(|error| error.is_eof()));
    }
}
