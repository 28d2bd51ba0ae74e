use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer, ser::Error};
use serde_json::value::RawValue;

use crate::json::Found;

/// JSON text that is not ours to change (a schema, a vendor's tool, an unknown field): key order and number
/// text stay as they were written. Two are equal when their text is.
#[derive(Clone)]
pub struct Raw(Box<str>);

/// Named raw values in the order they came.
pub type Fields = Vec<(String, Raw)>;

impl Raw {
    /// `None` when the text is not one JSON value.
    pub fn new(text: String) -> Option<Self> {
        serde_json::from_str::<&RawValue>(&text).is_ok().then(|| Raw(text.into()))
    }

    /// The text as it was written.
    pub fn get(&self) -> &str {
        &self.0
    }

    /// `null` where the text holds more than a [`serde_json::Value`] can (a number over any size, say).
    pub fn value(&self) -> serde_json::Value {
        serde_json::from_str(self.get()).unwrap_or_default()
    }
}

impl From<Found<'_>> for Raw {
    fn from(found: Found<'_>) -> Self {
        Raw(found.get().into())
    }
}

impl From<&serde_json::Value> for Raw {
    fn from(value: &serde_json::Value) -> Self {
        Raw(value.to_string().into())
    }
}

impl PartialEq for Raw {
    fn eq(&self, other: &Self) -> bool {
        self.get() == other.get()
    }
}

impl Eq for Raw {}

impl fmt::Debug for Raw {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.get())
    }
}

impl Serialize for Raw {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serde_json::from_str::<&RawValue>(&self.0).map_err(S::Error::custom)?.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Raw {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(Raw(Box::<RawValue>::deserialize(deserializer)?.into()))
    }
}
