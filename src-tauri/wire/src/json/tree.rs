//! JSON text that was gone over, and its values by where they stand.

use std::{borrow::Cow, ops::Range, sync::Arc};

use super::{
    Object, Place,
    escapes::without_lone_surrogates,
    scan::{Node, scan},
};
use crate::{error::ApiError, text::Text};

/// JSON text that was gone over once: what is read of it, and edited in it, is found without looking at the rest. Cheap
/// to clone: copies share the text, and so does what was read of it.
#[derive(Clone, Debug)]
pub struct Json {
    text: Arc<String>,
    nodes: Arc<Vec<Node>>,
}

impl Json {
    /// A caller's body. Lone surrogate escapes are repaired; a byte order mark is skipped.
    pub fn read(body: Vec<u8>) -> Result<Self, ApiError> {
        let mut text = String::from_utf8(body).map_err(|error| not_utf8(error.utf8_error()))?;
        if text.starts_with(BYTE_ORDER_MARK) {
            text.drain(..BYTE_ORDER_MARK.len_utf8());
        }
        Json::of(without_lone_surrogates(&text).unwrap_or(text))
    }

    pub(crate) fn of(text: String) -> Result<Self, ApiError> {
        match scan(&text) {
            Some(nodes) => Ok(Json { text: Arc::new(text), nodes: Arc::new(nodes) }),
            None => Err(match serde_json::from_str::<serde::de::IgnoredAny>(&text) {
                Err(error) => not_json(&error),
                Ok(_) => Place::Root.expected("less than 4 GB"),
            }),
        }
    }

    pub fn text(&self) -> &str {
        &self.text
    }

    pub(crate) fn root(&self) -> Found<'_> {
        Found { json: self, at: 0 }
    }

    /// The body's fields.
    pub(crate) fn fields(&self) -> Result<Object<'_>, ApiError> {
        Object::read(self.root(), Place::Root)
    }
}

/// `null`
impl Default for Json {
    fn default() -> Self {
        let null = "null";
        Json { text: Arc::new(null.to_owned()), nodes: Arc::new(scan(null).unwrap_or_default()) }
    }
}

/// A value and its text as it was written.
#[derive(Clone, Copy)]
pub(crate) struct Found<'t> {
    json: &'t Json,
    at: usize,
}

impl<'t> Found<'t> {
    /// Its JSON text.
    pub fn get(self) -> &'t str {
        &self.json.text[self.place()]
    }

    pub fn is_string(self) -> bool {
        self.begins_with(b'"')
    }

    pub fn is_list(self) -> bool {
        self.begins_with(b'[')
    }

    pub fn is_object(self) -> bool {
        self.begins_with(b'{')
    }

    pub fn is_number(self) -> bool {
        self.get().starts_with(|first: char| first == '-' || first.is_ascii_digit())
    }

    pub fn is_null(self) -> bool {
        self.begins_with(b'n')
    }

    /// Where it stands in the text.
    pub fn place(self) -> Range<usize> {
        let node = self.node();
        node.start as usize..node.end as usize
    }

    /// The items of a list.
    pub fn items(self) -> impl Iterator<Item = Found<'t>> {
        let (mut at, end) = (self.at + 1, self.after());
        std::iter::from_fn(move || {
            let item = (at < end).then(|| self.inner(at))?;
            at = item.after();
            Some(item)
        })
    }

    /// The fields of an object, keys and values, repeated ones too.
    pub fn fields(self) -> impl Iterator<Item = (Found<'t>, Found<'t>)> {
        let mut items = self.items();
        std::iter::from_fn(move || Some((items.next()?, items.next()?)))
    }

    /// What a string says; `None` when it is none. Copied only if it holds an escape.
    pub fn unquoted(self) -> Option<Cow<'t, str>> {
        let written = self.get();
        let said = written.strip_prefix('"')?.strip_suffix('"')?;
        if self.node().folded == 0 {
            return Some(Cow::Borrowed(said));
        }
        serde_json::from_str(written).ok().map(Cow::Owned)
    }

    /// What a string says, read when it is looked at; `None` when it is none.
    pub fn text(self) -> Option<Text> {
        let written = self.get();
        self.is_string().then(|| {
            let chars = written.chars().count() - 2 - self.node().folded as usize;
            Text::written(self.json.text.clone(), self.place(), chars)
        })
    }

    fn begins_with(self, byte: u8) -> bool {
        self.json.text.as_bytes()[self.node().start as usize] == byte
    }

    fn node(self) -> Node {
        self.json.nodes[self.at]
    }

    /// The node behind it and what it holds.
    fn after(self) -> usize {
        self.at + self.node().nodes as usize
    }

    fn inner(self, at: usize) -> Found<'t> {
        Found { at, ..self }
    }
}

const BYTE_ORDER_MARK: char = '\u{feff}';

fn not_json(error: &serde_json::Error) -> ApiError {
    ApiError::invalid("invalid_json", format!("body: not JSON: {error}"))
}

fn not_utf8(error: std::str::Utf8Error) -> ApiError {
    ApiError::invalid("invalid_json", format!("body: not UTF-8 at byte {}", error.valid_up_to()))
}
