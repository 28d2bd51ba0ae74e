//! Same dialect in and out: bytes go on as they came, but for a few values edited in place. Unknown fields, key
//! order, number text and spaces survive, because nothing is parsed and written again.

mod edits;
mod last;
mod public;
mod reply;
mod scan;
mod units;

#[cfg(test)]
mod tests;

use std::ops::Range;

pub(crate) use edits::Edits;
pub use public::PublicEvents;
pub use reply::{Relay, whole};
use scan::Scanner;

use crate::{error::ApiError, json, sse::MAX_EVENT};

/// A body being edited.
pub(crate) struct Body {
    text: String,
}

impl Body {
    /// The body must be one JSON object. Lone surrogate escapes are repaired: members refuse them.
    pub fn new(body: &[u8]) -> Result<Self, ApiError> {
        let text = json::text_of(body)?;
        json::root(&text)?;
        Ok(Body { text: text.into_owned() })
    }

    /// Sets the value at the path, each time it stands there; where it does not, it is put at the end of its
    /// object. `value` is JSON text.
    pub fn set(&mut self, path: &[&str], value: &str) {
        let Some((name, parent)) = path.split_last() else { return };
        let found = spans(&self.text, path);
        if !found.is_empty() {
            found.into_iter().rev().for_each(|span| self.text.replace_range(span, value));
            return;
        }
        let entry = format!("{}:{value}", serde_json::Value::from(*name));
        let parents = if parent.is_empty() { vec![all_of(&self.text)] } else { spans(&self.text, parent) };
        // Of duplicates the last one counts.
        match parents.last().filter(|span| self.text[(*span).clone()].starts_with('{')) {
            Some(span) => {
                let close = span.end - 1;
                let is_empty = self.text[span.start + 1..close].trim().is_empty();
                let comma = if is_empty { "" } else { "," };
                self.text.insert_str(close, &format!("{comma}{entry}"));
            }
            None => self.set(parent, &format!("{{{entry}}}")),
        }
    }

    /// Takes a field of the body's object out, with one comma beside it.
    pub fn remove(&mut self, name: &str) {
        for span in spans(&self.text, &[name]).into_iter().rev() {
            let Some(start) = key_start(&self.text[..span.start]) else { continue };
            let before = self.text[..start].trim_end();
            let after = self.text[span.end..].trim_start();
            let (from, to) = if before.ends_with(',') {
                (before.len() - 1, span.end)
            } else if let Some(rest) = after.strip_prefix(',') {
                (start, self.text.len() - rest.trim_start().len())
            } else {
                (start, span.end)
            };
            self.text.replace_range(from..to, "");
        }
    }

    pub fn into_bytes(self) -> Vec<u8> {
        self.text.into_bytes()
    }
}

fn spans(text: &str, path: &[&str]) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    Scanner::new(&[path]).feed(text.as_bytes(), &mut found);
    found
}

/// Where the key begins whose value `before` ends at.
fn key_start(before: &str) -> Option<usize> {
    let before = before.trim_end().strip_suffix(':')?.trim_end().strip_suffix('"')?;
    before.rmatch_indices('"').map(|(at, _)| at).find(|at| {
        let slashes = before[..*at].bytes().rev().take_while(|byte| *byte == b'\\').count();
        slashes % 2 == 0
    })
}

fn all_of(text: &str) -> Range<usize> {
    let start = text.len() - text.trim_start().len();
    start..text.trim_end().len()
}

/// Puts the caller's name of the model back into a member's reply: server-sent events, a value a line, or one
/// whole value. Every other byte is as it was, however the bytes are cut.
#[derive(Debug)]
pub struct ModelName {
    name: Vec<u8>,
    scanner: Scanner,
    /// The unfinished line.
    line: Vec<u8>,
    framing: Framing,
    /// The last byte was a CR: an LF that follows belongs to it.
    after_cr: bool,
    /// The line is over the limit and goes on unread.
    too_long: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Framing {
    Unknown,
    Events,
    Json,
}

impl ModelName {
    /// `paths` as [`Format::model_paths`](crate::Format::model_paths) gives them; `name` as the caller asked.
    pub fn new(paths: &[&[&str]], name: &str) -> Self {
        ModelName {
            name: serde_json::Value::from(name).to_string().into_bytes(),
            scanner: Scanner::new(paths),
            line: Vec::new(),
            framing: Framing::Unknown,
            after_cr: false,
            too_long: false,
        }
    }

    /// The bytes that go on now. Holds back at most one unfinished line.
    pub fn push(&mut self, bytes: &[u8]) -> Vec<u8> {
        let mut out = Vec::with_capacity(bytes.len());
        self.push_to(bytes, &mut out);
        out
    }

    /// The same, appended to `out`.
    fn push_to(&mut self, mut bytes: &[u8], out: &mut Vec<u8>) {
        while let Some(end) = memchr::memchr2(b'\n', b'\r', bytes) {
            let terminator = bytes[end];
            let is_second = terminator == b'\n' && end == 0 && self.line.is_empty() && self.after_cr;
            self.line.extend_from_slice(&bytes[..end]);
            if !is_second {
                self.end_line(out);
            }
            out.push(terminator);
            self.after_cr = terminator == b'\r';
            bytes = &bytes[end + 1..];
        }
        if !bytes.is_empty() {
            self.after_cr = false;
        }
        self.line.extend_from_slice(bytes);
        if self.line.len() > MAX_EVENT {
            self.too_long = true;
        }
        if self.too_long {
            out.append(&mut self.line);
        }
    }

    /// The body ended: what was held back.
    pub fn end(&mut self) -> Vec<u8> {
        let mut out = Vec::new();
        self.end_line(&mut out);
        out
    }

    fn end_line(&mut self, out: &mut Vec<u8>) {
        let line = std::mem::take(&mut self.line);
        if std::mem::take(&mut self.too_long) {
            self.scanner.break_off();
            out.extend_from_slice(&line);
            return;
        }
        let start = self.json_starts(&line);
        let Some(start) = start else {
            if line.is_empty() && self.framing == Framing::Events {
                self.scanner.reset();
            }
            out.extend_from_slice(&line);
            return;
        };
        let mut spans = Vec::new();
        self.scanner.feed(&line[start..], &mut spans);
        if self.scanner.is_broken() {
            // Two frames glued together, say: who reads it may still find the second, if nothing is changed.
            spans.clear();
        }
        let mut copied = 0;
        for span in spans {
            let span = span.start + start..span.end + start;
            if line[span.start] != b'"' {
                continue;
            }
            out.extend_from_slice(&line[copied..span.start]);
            out.extend_from_slice(&self.name);
            copied = span.end;
        }
        out.extend_from_slice(&line[copied..]);
    }

    /// Where a line's JSON begins; `None` when it holds none.
    fn json_starts(&mut self, line: &[u8]) -> Option<usize> {
        let bom = if self.framing == Framing::Unknown && line.starts_with(b"\xEF\xBB\xBF") { 3 } else { 0 };
        let spaces = line[bom..].iter().take_while(|byte| byte.is_ascii_whitespace()).count();
        if self.framing == Framing::Unknown {
            self.framing = match line.get(bom + spaces)? {
                b'{' | b'[' => Framing::Json,
                _ => Framing::Events,
            };
        }
        match self.framing {
            Framing::Events => line[bom..].starts_with(b"data:").then_some(bom + 5),
            _ => Some(bom),
        }
    }
}
