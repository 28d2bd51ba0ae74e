//! Reading a caller's JSON: gone over once, and then one level at a time by where its values stand, so that what is not
//! ours to change stays as it was written, duplicate keys resolve to the last, and an error can name its place at no
//! cost until there is one.

mod escapes;
pub(crate) mod lenient;
mod quoted;
mod scan;
mod tree;

use std::{
    borrow::Cow,
    collections::HashMap,
    fmt::{self, Write},
};

use serde::{Deserialize, Deserializer, de::Visitor};

pub use self::tree::Json;
pub(crate) use self::{
    escapes::{unescaped, without_lone_surrogates},
    tree::Found,
};
use crate::{error::ApiError, text::Text};

/// Where a value stands: built on the stack while reading down, written out only for an error.
#[derive(Clone, Copy)]
pub(crate) enum Place<'p> {
    Root,
    Field(&'p Place<'p>, &'p str),
    Index(&'p Place<'p>, usize),
}

impl<'p> Place<'p> {
    pub fn field(&'p self, name: &'p str) -> Place<'p> {
        Place::Field(self, name)
    }

    pub fn index(&'p self, index: usize) -> Place<'p> {
        Place::Index(self, index)
    }

    fn write(&self, out: &mut impl Write) -> fmt::Result {
        match self {
            Place::Root => out.write_str("body"),
            Place::Field(Place::Root, name) => out.write_str(name),
            Place::Field(parent, name) => {
                parent.write(out)?;
                out.write_char('.')?;
                out.write_str(name)
            }
            Place::Index(parent, index) => {
                parent.write(out)?;
                write!(out, "[{index}]")
            }
        }
    }

    /// A 400 that says what should stand here.
    pub fn expected(&self, what: &str) -> ApiError {
        ApiError::invalid("invalid_value", format!("{self}: expected {what}"))
    }
}

impl fmt::Display for Place<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.write(f)
    }
}

/// Every call of a conversation has one: they are written without the machinery of formatting.
impl From<Place<'_>> for Box<str> {
    fn from(place: Place<'_>) -> Self {
        let mut text = String::with_capacity(64);
        let written = place.write(&mut text);
        debug_assert!(written.is_ok(), "writing to a string does not fail");
        text.into()
    }
}

/// The fields of one object, in order.
#[derive(Default)]
pub(crate) struct Object<'a>(Entries<'a>);

type Entries<'a> = Vec<(Cow<'a, str>, Found<'a>)>;

impl<'a> Object<'a> {
    pub fn read(found: Found<'a>, place: Place<'_>) -> Result<Self, ApiError> {
        Object::of(found).ok_or_else(|| place.expected("object"))
    }

    /// `None` when it is no object.
    pub fn of(found: Found<'a>) -> Option<Self> {
        let field = |(key, value): (Found<'a>, Found<'a>)| Some((key.unquoted()?, value));
        found.is_object().then(|| Object(last_wins(found.fields().filter_map(field).collect())))
    }

    /// Takes a field out. `null` is absent.
    pub fn take(&mut self, name: &str) -> Option<Found<'a>> {
        let at = self.0.iter().position(|(key, _)| key == name)?;
        Some(self.0.remove(at).1).filter(|found| !found.is_null())
    }

    pub fn get(&self, name: &str) -> Option<Found<'a>> {
        self.0.iter().find(|(key, _)| key == name).map(|(_, found)| *found).filter(|found| !found.is_null())
    }

    /// What was not taken, in order, without the nulls.
    pub fn rest(self) -> impl Iterator<Item = (Cow<'a, str>, Found<'a>)> {
        self.0.into_iter().filter(|(_, found)| !found.is_null())
    }
}

/// A value that stands twice keeps its first place and its last value.
fn last_wins(entries: Entries<'_>) -> Entries<'_> {
    // Nearly every object is small: no table for those.
    let repeats_earlier = |at: usize| entries[..at].iter().any(|(key, _)| *key == entries[at].0);
    if entries.len() <= 8 && !(1..entries.len()).any(repeats_earlier) {
        return entries;
    }
    let mut kept: Entries<'_> = Vec::with_capacity(entries.len());
    let mut seen: HashMap<Cow<'_, str>, usize> = HashMap::with_capacity(entries.len());
    for (key, found) in entries {
        match seen.get(&key) {
            Some(first) => kept[*first].1 = found,
            None => {
                seen.insert(key.clone(), kept.len());
                kept.push((key, found));
            }
        }
    }
    kept
}

/// A string that is copied only if it holds an escape.
#[derive(PartialEq, Eq)]
pub(crate) struct Key<'a>(pub Cow<'a, str>);

impl<'de: 'a, 'a> Deserialize<'de> for Key<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Text;
        impl<'de> Visitor<'de> for Text {
            type Value = Cow<'de, str>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("string")
            }

            fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Self::Value, E> {
                Ok(Cow::Borrowed(text))
            }

            fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
                Ok(Cow::Owned(text.to_owned()))
            }
        }
        deserializer.deserialize_str(Text).map(Key)
    }
}

/// A caller's body as a value, read as kindly as every dialect reads its own: the last of a repeated key wins,
/// half a surrogate pair is U+FFFD, a byte order mark is skipped.
pub fn value(body: &[u8]) -> Result<serde_json::Value, ApiError> {
    let json = Json::read(body.to_vec())?;
    // A number past any, say, or lists a hundred deep.
    let not_read = |error| ApiError::invalid("invalid_value", format!("body: {error}"));
    serde_json::from_str(json.text()).map_err(not_read)
}

pub(crate) fn string(found: Found<'_>, place: Place<'_>) -> Result<String, ApiError> {
    found.unquoted().map(Cow::into_owned).ok_or_else(|| place.expected("string"))
}

/// A string that is only looked at.
pub(crate) fn word<'t>(found: Found<'t>, place: Place<'_>) -> Result<Cow<'t, str>, ApiError> {
    found.unquoted().ok_or_else(|| place.expected("string"))
}

/// A string that may be long: it is not copied.
pub(crate) fn text(found: Found<'_>, place: Place<'_>) -> Result<Text, ApiError> {
    found.text().ok_or_else(|| place.expected("string"))
}

pub(crate) fn boolean(found: Found<'_>, place: Place<'_>) -> Result<bool, ApiError> {
    match found.get() {
        "true" => Ok(true),
        "false" => Ok(false),
        _ => Err(place.expected("true or false")),
    }
}

/// A whole number from 0 up; `1024.0` counts as whole.
pub(crate) fn whole_number(found: Found<'_>, place: Place<'_>) -> Result<u64, ApiError> {
    let text = found.get();
    let number = serde_json::from_str::<u64>(text).ok().or_else(|| {
        let number = serde_json::from_str::<f64>(text).ok()?;
        // Exact in an f64 up to 2^53.
        (number.fract() == 0.0 && (0.0..=9_007_199_254_740_992.0).contains(&number)).then_some(number as u64)
    });
    number.ok_or_else(|| place.expected("whole number"))
}

pub(crate) fn list<'a>(found: Found<'a>, place: Place<'_>) -> Result<Vec<Found<'a>>, ApiError> {
    found.is_list().then(|| found.items().collect()).ok_or_else(|| place.expected("list"))
}

/// Every item of a list as an object.
pub(crate) fn objects<'a>(found: Found<'a>, place: Place<'_>) -> Result<Vec<Object<'a>>, ApiError> {
    let items = list(found, place)?.into_iter().enumerate();
    items.map(|(index, found)| Object::read(found, place.index(index))).collect()
}

pub(crate) fn strings(found: Found<'_>, place: Place<'_>) -> Result<Vec<String>, ApiError> {
    let items = list(found, place).map_err(|_| place.expected("list of strings"))?;
    items.into_iter().enumerate().map(|(index, found)| string(found, place.index(index))).collect()
}

/// What stands within objects, by their fields' names: a JSON pointer takes its path apart each time.
pub(crate) fn at<'v>(value: &'v serde_json::Value, path: &[&str]) -> Option<&'v serde_json::Value> {
    path.iter().try_fold(value, |value, name| value.get(name))
}

/// Appends a value's JSON text.
#[expect(
    clippy::expect_used,
    reason = "serialising to memory fails only for non-string keys, and we have none"
)]
pub(crate) fn write(out: &mut Vec<u8>, value: &impl serde::Serialize) {
    serde_json::to_writer(out, value).expect("a string-keyed tree is JSON");
}

/// A value as JSON text. Everything written here is a string-keyed tree, which always has one.
#[expect(
    clippy::expect_used,
    reason = "serialising to memory fails only for non-string keys, and we have none"
)]
pub(crate) fn to_vec(value: &impl serde::Serialize) -> Vec<u8> {
    serde_json::to_vec(value).expect("a string-keyed tree is JSON")
}
