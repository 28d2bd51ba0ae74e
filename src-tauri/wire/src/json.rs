//! Reading a caller's JSON: one level at a time over the raw text, so that what is not ours to change stays as
//! it was written, duplicate keys resolve to the last, and an error can name its place at no cost until there
//! is one.

use std::{borrow::Cow, collections::HashMap, fmt};

use serde::{
    Deserialize, Deserializer,
    de::{MapAccess, Visitor},
};
use serde_json::value::RawValue;

use crate::error::ApiError;

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

    /// A 400 that says what should stand here.
    pub fn expected(&self, what: &str) -> ApiError {
        ApiError::invalid("invalid_value", format!("{self}: expected {what}"))
    }
}

impl fmt::Display for Place<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Place::Root => f.write_str("body"),
            Place::Field(Place::Root, name) => f.write_str(name),
            Place::Field(parent, name) => write!(f, "{parent}.{name}"),
            Place::Index(parent, index) => write!(f, "{parent}[{index}]"),
        }
    }
}

/// The fields of one object, in order, each value raw; beside them a list of objects that was read at once
/// ([`root_and`]).
#[derive(Default)]
pub(crate) struct Object<'a>(Entries<'a>, Option<Vec<Object<'a>>>);

type Entries<'a> = Vec<(Cow<'a, str>, &'a RawValue)>;

impl<'a> Object<'a> {
    pub fn read(raw: &'a RawValue, place: Place<'_>) -> Result<Self, ApiError> {
        serde_json::from_str(raw.get()).map_err(|_| place.expected("object"))
    }

    /// Takes a field out. `null` is absent.
    pub fn take(&mut self, name: &str) -> Option<&'a RawValue> {
        let at = self.0.iter().position(|(key, _)| key == name)?;
        Some(self.0.remove(at).1).filter(|raw| !is_null(raw))
    }

    /// Takes a list of objects out: the one that [`root_and`] has read.
    pub fn take_objects(
        &mut self,
        name: &str,
        place: Place<'_>,
    ) -> Result<Option<Vec<Object<'a>>>, ApiError> {
        match self.1.take() {
            Some(read) => Ok(Some(read)),
            None => self.take(name).map(|raw| objects(raw, place)).transpose(),
        }
    }

    pub fn get(&self, name: &str) -> Option<&'a RawValue> {
        self.0.iter().find(|(key, _)| key == name).map(|(_, raw)| *raw).filter(|raw| !is_null(raw))
    }

    /// What was not taken, in order, without the nulls.
    pub fn rest(self) -> impl Iterator<Item = (Cow<'a, str>, &'a RawValue)> {
        self.0.into_iter().filter(|(_, raw)| !is_null(raw))
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Object<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Read;
        impl<'de> Visitor<'de> for Read {
            type Value = Entries<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut entries = Vec::new();
                while let Some(Key(key)) = map.next_key()? {
                    entries.push((key, map.next_value()?));
                }
                Ok(entries)
            }
        }
        deserializer.deserialize_map(Read).map(last_wins).map(|entries| Object(entries, None))
    }
}

/// A value that stands twice keeps its first place and its last value.
fn last_wins(entries: Entries<'_>) -> Entries<'_> {
    // Nearly every object is small: no table for those.
    let repeats_earlier = |at: usize| entries[..at].iter().any(|(key, _)| *key == entries[at].0);
    if entries.len() <= 8 && !(1..entries.len()).any(repeats_earlier) {
        return entries;
    }
    let mut seen: HashMap<&str, usize> = HashMap::with_capacity(entries.len());
    let mut repeats = Vec::new();
    for (at, (key, _)) in entries.iter().enumerate() {
        if let Some(first) = seen.get(key.as_ref()) {
            repeats.push((*first, at));
        } else {
            seen.insert(key, at);
        }
    }
    if repeats.is_empty() {
        return entries;
    }
    let mut kept: Vec<Option<(Cow<'_, str>, &RawValue)>> = entries.into_iter().map(Some).collect();
    for (first, again) in repeats {
        let value = kept[again].take().map(|(_, value)| value);
        if let (Some(entry), Some(value)) = (kept[first].as_mut(), value) {
            entry.1 = value;
        }
    }
    kept.into_iter().flatten().collect()
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

/// A body as one raw JSON value. Lone surrogate escapes are repaired first; a byte order mark is skipped.
pub(crate) fn text_of(body: &[u8]) -> Result<Cow<'_, str>, ApiError> {
    let body = body.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(body);
    let text = std::str::from_utf8(body).map_err(|error| {
        ApiError::invalid("invalid_json", format!("body: not UTF-8 at byte {}", error.valid_up_to()))
    })?;
    Ok(match without_lone_surrogates(text) {
        Some(repaired) => Cow::Owned(repaired),
        None => Cow::Borrowed(text),
    })
}

/// A caller's body as a value, read as kindly as every dialect reads its own: the last of a repeated key wins,
/// half a surrogate pair is U+FFFD, a byte order mark is skipped.
pub fn value(body: &[u8]) -> Result<serde_json::Value, ApiError> {
    let text = text_of(body)?;
    serde_json::from_str(&text).map_err(|error| match is_json(&text) {
        // A number past any, say, or lists a hundred deep.
        true => ApiError::invalid("invalid_value", format!("body: {error}")),
        false => not_json(&error),
    })
}

/// The body's object.
pub(crate) fn root(text: &str) -> Result<Object<'_>, ApiError> {
    serde_json::from_str(text).map_err(|error| match is_json(text) {
        true => Place::Root.expected("object"),
        false => not_json(&error),
    })
}

/// The body's object, and the list of objects that fills most of it: reading that as it is met spares going over it
/// twice. A list that is none is left to [`Object::take_objects`], which says what is wrong with it.
pub(crate) fn root_and<'t>(text: &'t str, list: &'static str) -> Result<Object<'t>, ApiError> {
    struct Read(&'static str);
    impl<'de> Visitor<'de> for Read {
        type Value = Object<'de>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("object")
        }

        fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
            let (mut entries, mut list) = (Vec::new(), None);
            while let Some(Key(key)) = map.next_key()? {
                if key == self.0 {
                    list = Some(map.next_value()?);
                } else {
                    entries.push((key, map.next_value()?));
                }
            }
            Ok(Object(last_wins(entries), list))
        }
    }
    let mut reader = serde_json::Deserializer::from_str(text);
    let read = (&mut reader).deserialize_map(Read(list));
    match read {
        Ok(object) if reader.end().is_ok() => Ok(object),
        _ => root(text),
    }
}

fn is_json(text: &str) -> bool {
    serde_json::from_str::<&RawValue>(text).is_ok()
}

fn not_json(error: &serde_json::Error) -> ApiError {
    ApiError::invalid("invalid_json", format!("body: not JSON: {error}"))
}

pub(crate) fn string(raw: &RawValue, place: Place<'_>) -> Result<String, ApiError> {
    serde_json::from_str(raw.get()).map_err(|_| place.expected("string"))
}

pub(crate) fn boolean(raw: &RawValue, place: Place<'_>) -> Result<bool, ApiError> {
    serde_json::from_str(raw.get()).map_err(|_| place.expected("true or false"))
}

/// A whole number from 0 up; `1024.0` counts as whole.
pub(crate) fn whole_number(raw: &RawValue, place: Place<'_>) -> Result<u64, ApiError> {
    let text = raw.get();
    let number = serde_json::from_str::<u64>(text).ok().or_else(|| {
        let number = serde_json::from_str::<f64>(text).ok()?;
        // Exact in an f64 up to 2^53.
        (number.fract() == 0.0 && (0.0..=9_007_199_254_740_992.0).contains(&number)).then_some(number as u64)
    });
    number.ok_or_else(|| place.expected("whole number"))
}

pub(crate) fn list<'a>(raw: &'a RawValue, place: Place<'_>) -> Result<Vec<&'a RawValue>, ApiError> {
    serde_json::from_str(raw.get()).map_err(|_| place.expected("list"))
}

/// Every item of a list as an object.
pub(crate) fn objects<'a>(raw: &'a RawValue, place: Place<'_>) -> Result<Vec<Object<'a>>, ApiError> {
    match serde_json::from_str(raw.get()) {
        Ok(objects) => Ok(objects),
        // Which of them is not: only asked for an error.
        Err(_) => list(raw, place)?
            .into_iter()
            .enumerate()
            .map(|(index, raw)| Object::read(raw, place.index(index)))
            .collect(),
    }
}

pub(crate) fn strings(raw: &RawValue, place: Place<'_>) -> Result<Vec<String>, ApiError> {
    let items: Vec<&RawValue> =
        serde_json::from_str(raw.get()).map_err(|_| place.expected("list of strings"))?;
    items.into_iter().enumerate().map(|(index, raw)| string(raw, place.index(index))).collect()
}

pub(crate) fn is_string(raw: &RawValue) -> bool {
    raw.get().starts_with('"')
}

pub(crate) fn is_list(raw: &RawValue) -> bool {
    raw.get().starts_with('[')
}

pub(crate) fn is_object(raw: &RawValue) -> bool {
    raw.get().starts_with('{')
}

pub(crate) fn is_number(raw: &RawValue) -> bool {
    raw.get().starts_with(|first: char| first == '-' || first.is_ascii_digit())
}

fn is_null(raw: &RawValue) -> bool {
    raw.get() == "null"
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
