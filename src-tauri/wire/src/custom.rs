//! Free-form tools for members that have none: a function with one required string `input`, and the way back,
//! piece by piece.

use serde_json::{Value, json};

use crate::raw::Raw;

/// The parameters of a free-form tool as a function.
pub(crate) fn parameters() -> Raw {
    Raw::from(&json!({
        "type": "object",
        "properties": {"input": {"type": "string", "description": "The whole input, as plain text."}},
        "required": ["input"],
        "additionalProperties": false
    }))
}

/// The description of a free-form tool as a function: the grammar its input must follow is said there.
pub(crate) fn description(description: Option<&str>, grammar: Option<&Raw>) -> String {
    let mut text = description.unwrap_or_default().to_owned();
    if let Some(grammar) = grammar {
        let value = grammar.value();
        // Chat nests what Responses has flat.
        let inner = value.get("grammar").unwrap_or(&value);
        if let Some(definition) = inner.get("definition").and_then(Value::as_str) {
            let syntax = inner.get("syntax").and_then(Value::as_str).unwrap_or("given");
            if !text.is_empty() {
                text.push_str("\n\n");
            }
            text.push_str(&format!("The input must follow this {syntax} grammar:\n{definition}"));
        }
    }
    text
}

/// A free-form input as a function's arguments.
pub(crate) fn arguments(input: &str) -> String {
    json!({ "input": input }).to_string()
}

/// Reads the `input` out of a function's arguments as they come.
#[derive(Debug, Default)]
pub(crate) struct InputReader {
    /// All that came, until the string began; then what of it is not yet told.
    held: String,
    state: State,
}

#[derive(Debug, Default, PartialEq)]
enum State {
    /// Before the string's first character.
    #[default]
    Before,
    Inside,
    After,
    /// Not of the form that can be told piece by piece: told at the end.
    Other,
}

impl InputReader {
    /// What of the input the delta brought.
    pub fn push(&mut self, delta: &str) -> String {
        match self.state {
            State::After => return String::new(),
            State::Before | State::Inside | State::Other => self.held.push_str(delta),
        }
        if self.state == State::Before {
            match start(&self.held) {
                Start::At(at) => {
                    self.held.drain(..at);
                    self.state = State::Inside;
                }
                Start::More => return String::new(),
                Start::Never => self.state = State::Other,
            }
        }
        if self.state == State::Inside { self.inside() } else { String::new() }
    }

    /// What is left when the call is whole: the input of arguments in another order, or the text as it came.
    pub fn end(self) -> String {
        if !matches!(self.state, State::Before | State::Other) {
            return String::new();
        }
        match serde_json::from_str::<Value>(&self.held) {
            Ok(Value::Object(fields)) => match fields.get("input") {
                Some(Value::String(input)) => input.clone(),
                _ if fields.is_empty() => String::new(),
                _ => self.held,
            },
            Ok(Value::String(input)) => input,
            _ => self.held,
        }
    }

    fn inside(&mut self) -> String {
        let bytes = self.held.as_bytes();
        let mut at = 0;
        let mut ended = false;
        while at < bytes.len() {
            match bytes[at] {
                b'"' => {
                    ended = true;
                    break;
                }
                b'\\' => {
                    let length = if bytes.get(at + 1) == Some(&b'u') { 6 } else { 2 };
                    // A leading surrogate waits for its partner, if one may be coming.
                    let leads = length == 6
                        && bytes.get(at + 2..at + 4).is_some_and(|high| {
                            high[0].eq_ignore_ascii_case(&b'd') && b"89abAB".contains(&high[1])
                        });
                    let next = &bytes[(at + 6).min(bytes.len())..(at + 8).min(bytes.len())];
                    let length = if leads && b"\\u".starts_with(next) { 12 } else { length };
                    if at + length > bytes.len() {
                        break;
                    }
                    at += length;
                }
                _ => at += 1,
            }
        }
        // An escape of twelve bytes may have been miscounted where a surrogate has no partner.
        while !self.held.is_char_boundary(at) {
            at += 1;
        }
        let quoted = format!("\"{}\"", &self.held[..at]);
        let told = serde_json::from_str::<String>(&quoted)
            .ok()
            .or_else(|| serde_json::from_str::<String>(&crate::json::without_lone_surrogates(&quoted)?).ok());
        let told = told.unwrap_or_else(|| self.held[..at].to_owned());
        self.held.drain(..at);
        if ended {
            self.state = State::After;
            self.held.clear();
        }
        told
    }
}

enum Start {
    /// The string's first character stands here.
    At(usize),
    More,
    Never,
}

/// `{ "input" : "`, with any spaces.
fn start(text: &str) -> Start {
    let mut rest = text;
    for token in ["{", "\"input\"", ":", "\""] {
        rest = rest.trim_start();
        match rest.strip_prefix(token) {
            Some(after) => rest = after,
            None if token.starts_with(rest) => return Start::More,
            None => return Start::Never,
        }
    }
    Start::At(text.len() - rest.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read<'a>(pieces: impl IntoIterator<Item = &'a str>) -> String {
        let mut reader = InputReader::default();
        let mut told: String = pieces.into_iter().map(|piece| reader.push(piece)).collect();
        told.push_str(&reader.end());
        told
    }

    #[test]
    fn an_input_is_told_as_it_comes() {
        let mut reader = InputReader::default();
        let told: Vec<String> = ["{\"in", "put\": \"*** Be", "gin\\", "n\\u00", "e9\"", "}"]
            .iter()
            .map(|p| reader.push(p))
            .collect();
        assert_eq!(told, ["", "*** Be", "gin", "\n", "é", ""]);
        assert_eq!(reader.end(), "");
    }

    #[test]
    fn other_forms_are_told_at_the_end() {
        assert_eq!(read(["{\"a\":1,", "\"input\":\"x\"}"]), "x");
        assert_eq!(read(["\"x\\ny\""]), "x\ny");
        assert_eq!(read(["*** Begin Patch"]), "*** Begin Patch");
        assert_eq!(read(["{}"]), "");
        assert_eq!(read([""]), "");
        assert_eq!(read(["{\"input\":5}"]), "{\"input\":5}");
        assert_eq!(read(["{\"input\":\"a\\ud83d b\"}"]), "a\u{fffd} b");
    }

    #[test]
    fn a_grammar_is_said_in_the_description() {
        let grammar =
            Raw::new(r#"{"type":"grammar","syntax":"lark","definition":"start: /.+/s"}"#.to_owned());
        assert_eq!(
            description(Some("Edits."), grammar.as_ref()),
            "Edits.\n\nThe input must follow this lark grammar:\nstart: /.+/s"
        );
        assert_eq!(description(None, None), "");
    }

    proptest::proptest! {
        #[test]
        fn any_input_goes_there_and_back_however_it_is_cut(input: String, size in 1usize..6) {
            let text = arguments(&input);
            let chars: Vec<char> = text.chars().collect();
            let pieces: Vec<String> = chars.chunks(size).map(|piece| piece.iter().collect()).collect();
            proptest::prop_assert_eq!(read(pieces.iter().map(String::as_str)), input);
        }

        #[test]
        fn any_text_is_read_without_a_panic(text in "[\"{}:a\\\\ud8é]{0,30}", size in 1usize..4) {
            let chars: Vec<char> = text.chars().collect();
            let pieces: Vec<String> = chars.chunks(size).map(|piece| piece.iter().collect()).collect();
            read(pieces.iter().map(String::as_str));
        }
    }
}
