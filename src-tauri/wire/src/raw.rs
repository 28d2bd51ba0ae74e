use std::fmt;

use serde_json::value::RawValue;

/// JSON text that is not ours to change (a schema, a vendor's tool, an unknown field): key order and number
/// text stay as they were written. Two are equal when their text is.
#[derive(Clone, serde::Serialize, serde::Deserialize)]
#[serde(transparent)]
pub struct Raw(Box<RawValue>);

/// Named raw values in the order they came.
pub type Fields = Vec<(String, Raw)>;

impl Raw {
    /// `None` when the text is not one JSON value.
    pub fn new(text: String) -> Option<Self> {
        RawValue::from_string(text).ok().map(Raw)
    }

    /// The text as it was written.
    pub fn get(&self) -> &str {
        self.0.get()
    }

    /// `null` where the text holds more than a [`serde_json::Value`] can (a number over any size, say).
    pub fn value(&self) -> serde_json::Value {
        serde_json::from_str(self.get()).unwrap_or_default()
    }
}

impl From<&RawValue> for Raw {
    fn from(raw: &RawValue) -> Self {
        Raw(raw.to_owned())
    }
}

impl From<&serde_json::Value> for Raw {
    fn from(value: &serde_json::Value) -> Self {
        // The text of a value is JSON; `null` is never reached.
        Raw(RawValue::from_string(value.to_string()).unwrap_or_default())
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
