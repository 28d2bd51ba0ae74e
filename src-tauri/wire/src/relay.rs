//! Same dialect in and out: bytes go on as they came, but for a few values edited in place. Unknown fields, key
//! order, number text and spaces survive, because nothing is parsed and written again.

mod edits;
mod last;
mod names;
mod plain;
mod public;
mod reply;
mod scan;
mod units;

#[cfg(test)]
mod tests;

use std::ops::Range;

pub(crate) use edits::Edits;
pub use names::ModelName;
pub use plain::Plain;
pub use public::PublicEvents;
pub use reply::{Relay, whole};
use scan::Scanner;

use crate::{error::ApiError, json};

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
