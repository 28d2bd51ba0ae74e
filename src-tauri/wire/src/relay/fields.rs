//! The fields of one JSON object, found without reading what they hold.

use std::{borrow::Cow, ops::Range};

use memchr::memchr;

pub(super) struct Fields<'t> {
    /// Past the opening brace.
    pub open: usize,
    pub fields: Vec<Field<'t>>,
    /// Where the closing brace stands.
    pub close: usize,
}

pub(super) struct Field<'t> {
    pub name: Cow<'t, str>,
    /// Past the field before it, or the opening brace.
    pub start: usize,
    /// Where its name begins.
    pub key: usize,
    pub value: Range<usize>,
}

/// `None`: the text is not one object. Of what the values hold only brackets and quotes are looked at.
pub(super) fn fields(text: &str) -> Option<Fields<'_>> {
    let bytes = text.as_bytes();
    let brace = spaces(bytes, 0);
    (bytes.get(brace) == Some(&b'{')).then_some(())?;
    let open = brace + 1;
    let (mut fields, mut start) = (Vec::new(), open);
    let mut at = spaces(bytes, open);
    while !(fields.is_empty() && bytes.get(at)? == &b'}') {
        let key = at..string_end(bytes, at)?;
        at = spaces(bytes, key.end);
        (bytes.get(at) == Some(&b':')).then_some(())?;
        at = spaces(bytes, at + 1);
        let value = at..value_end(bytes, at)?;
        at = spaces(bytes, value.end);
        let begins = key.start;
        fields.push(Field { name: unquoted(&text[key])?, start, key: begins, value: value.clone() });
        start = value.end;
        match bytes.get(at)? {
            b',' => at = spaces(bytes, at + 1),
            b'}' => break,
            _ => return None,
        }
    }
    (spaces(bytes, at + 1) == bytes.len()).then_some(Fields { open, fields, close: at })
}

fn spaces(bytes: &[u8], at: usize) -> usize {
    let more = bytes[at..].iter().take_while(|byte| matches!(byte, b' ' | b'\t' | b'\n' | b'\r')).count();
    at + more
}

fn value_end(bytes: &[u8], at: usize) -> Option<usize> {
    match bytes.get(at)? {
        b'"' => string_end(bytes, at),
        b'{' | b'[' => nest_end(bytes, at),
        _ => {
            let is_end = |byte: &u8| matches!(byte, b',' | b'}' | b']' | b' ' | b'\t' | b'\n' | b'\r');
            let end = at + bytes[at..].iter().position(is_end)?;
            (end > at).then_some(end)
        }
    }
}

/// Past the bracket that closes the one at `at`.
fn nest_end(bytes: &[u8], mut at: usize) -> Option<usize> {
    let mut depth = 0usize;
    loop {
        match bytes.get(at)? {
            b'"' => {
                at = string_end(bytes, at)?;
                continue;
            }
            b'{' | b'[' => depth += 1,
            b'}' | b']' => depth -= 1,
            _ => {}
        }
        at += 1;
        if depth == 0 {
            return Some(at);
        }
    }
}

/// Past the closing quote of the string at `at`: the first with an even number of backslashes before it.
fn string_end(bytes: &[u8], at: usize) -> Option<usize> {
    (bytes.get(at) == Some(&b'"')).then_some(())?;
    let mut end = at + 1;
    loop {
        end += memchr(b'"', bytes.get(end..)?)?;
        let slashes = bytes[at + 1..end].iter().rev().take_while(|byte| **byte == b'\\').count();
        end += 1;
        if slashes % 2 == 0 {
            return Some(end);
        }
    }
}

fn unquoted(quoted: &str) -> Option<Cow<'_, str>> {
    if quoted.contains('\\') {
        return serde_json::from_str(quoted).ok().map(Cow::Owned);
    }
    Some(Cow::Borrowed(&quoted[1..quoted.len() - 1]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_found_whatever_they_hold() {
        let text = r#" { "a" :[1,{"b":"]}"}] ,"c\u0064":"\\\\\"}{" , "" :-1e3,"n":null} "#;
        let Fields { fields: found, close, .. } = fields(text).unwrap();
        let told: Vec<(&str, &str, &str)> = found
            .iter()
            .map(|field| (&*field.name, &text[field.value.clone()], &text[field.start..field.value.start]))
            .collect();
        assert_eq!(
            told,
            [
                ("a", r#"[1,{"b":"]}"}]"#, r#" "a" :"#),
                ("cd", r#""\\\\\"}{""#, r#" ,"c\u0064":"#),
                ("", "-1e3", r#" , "" :"#),
                ("n", "null", r#","n":"#),
            ]
        );
        assert_eq!(&text[close..], "} ");
        assert!(fields("{}").is_some_and(|found| found.fields.is_empty() && found.close == 1));
        for text in [
            "",
            "[]",
            "{",
            "{\"a\"}",
            "{\"a\":}",
            "{\"a\":1",
            "{\"a\":1,}",
            "{\"a\":1}}",
            "{a:1}",
            "{\"a\":\"\\\"}",
            "<",
        ] {
            assert!(fields(text).is_none(), "{text}");
        }
    }
}
