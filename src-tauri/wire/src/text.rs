//! What was said in a message.

use std::{
    fmt,
    ops::{Deref, Range},
    sync::{Arc, OnceLock},
};

use crate::json;

/// Text of a request or of a reply. What a caller sent stays as it stands in the body until it is looked at: a turn that
/// is relayed copies none of it.
#[derive(Clone)]
pub struct Text(Said);

#[derive(Clone)]
enum Said {
    Plain(String),
    Written {
        body: Arc<String>,
        /// Where in it the JSON string stands, with its quotes.
        at: Range<usize>,
        chars: usize,
        /// What it says where it holds escapes, once that was asked for.
        plain: OnceLock<String>,
    },
}

impl Text {
    /// Of the JSON string that stands there and says so many characters.
    pub(crate) fn written(body: Arc<String>, at: Range<usize>, chars: usize) -> Self {
        Text(Said::Written { body, at, chars, plain: OnceLock::new() })
    }

    /// How many characters it has.
    pub fn char_count(&self) -> usize {
        match &self.0 {
            Said::Plain(text) => text.chars().count(),
            Said::Written { chars, .. } => *chars,
        }
    }

    pub fn is_empty(&self) -> bool {
        match &self.0 {
            Said::Plain(text) => text.is_empty(),
            Said::Written { chars, .. } => *chars == 0,
        }
    }

    pub fn as_str(&self) -> &str {
        match &self.0 {
            Said::Plain(text) => text,
            Said::Written { body, at, plain, .. } => {
                let written = &body[at.start + 1..at.end - 1];
                if !written.contains('\\') {
                    return written;
                }
                plain.get_or_init(|| json::unescaped(written))
            }
        }
    }

    pub fn push_str(&mut self, more: &str) {
        let mut text = std::mem::take(self).into_string();
        text.push_str(more);
        *self = Text::from(text);
    }

    pub fn into_string(self) -> String {
        match self.0 {
            Said::Plain(text) => text,
            Said::Written { body, at, plain, .. } => {
                plain.into_inner().unwrap_or_else(|| json::unescaped(&body[at.start + 1..at.end - 1]))
            }
        }
    }
}

impl Deref for Text {
    type Target = str;

    fn deref(&self) -> &str {
        self.as_str()
    }
}

impl Default for Text {
    fn default() -> Self {
        Text(Said::Plain(String::new()))
    }
}

impl From<String> for Text {
    fn from(text: String) -> Self {
        Text(Said::Plain(text))
    }
}

impl From<&str> for Text {
    fn from(text: &str) -> Self {
        Text::from(text.to_owned())
    }
}

impl PartialEq for Text {
    fn eq(&self, other: &Self) -> bool {
        self.as_str() == other.as_str()
    }
}

impl Eq for Text {}

impl PartialEq<str> for Text {
    fn eq(&self, other: &str) -> bool {
        self.as_str() == other
    }
}

impl PartialEq<&str> for Text {
    fn eq(&self, other: &&str) -> bool {
        self.as_str() == *other
    }
}

impl fmt::Debug for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.as_str().fmt(f)
    }
}

impl serde::Serialize for Text {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self)
    }
}

#[cfg(test)]
mod tests {
    use crate::json::Json;

    #[test]
    fn what_was_written_is_what_it_says() {
        for (written, said) in
            [(r#""""#, ""), (r#""plain 北""#, "plain 北"), (r#""a\n\"b\" \ud83c\udf0d\\""#, "a\n\"b\" 🌍\\")]
        {
            let json = Json::of(written.to_owned()).unwrap();
            let mut text = json.root().text().unwrap();
            assert_eq!((text.char_count(), text.is_empty()), (said.chars().count(), said.is_empty()));
            assert_eq!(text, said);
            assert_eq!(text.clone().into_string(), said);
            text.push_str("…");
            assert_eq!(text.into_string(), format!("{said}…"));
            assert_eq!(json.root().text().unwrap().into_string(), said);
        }
        assert!(Json::of("5".to_owned()).unwrap().root().text().is_none());
    }
}
