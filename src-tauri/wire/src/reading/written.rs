//! Arguments that a dialect writes as an object, as the text they were written in: a [`Value`] would write their
//! numbers anew (`12345678901234567890123`, `1e5`, `0.10`).

use std::{borrow::Cow, collections::BTreeMap};

use serde_json::{Value, value::RawValue};

use crate::arguments::compact;

/// Where a dialect's replies hold a call's arguments.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Written {
    /// The fields that hold the call, or the list of calls.
    pub holders: &'static [&'static str],
    /// The call's `type`, where other things stand in the same places.
    pub kind: Option<&'static str>,
    /// The call's field: `arguments`.
    pub name: &'static str,
}

impl Written {
    /// For a dialect whose arguments are text, or that has none.
    pub const NOWHERE: Written = Written { holders: &[], kind: None, name: "arguments" };

    /// Puts the text of every arguments object of `value` in its place, as a string on one line. `text` is what
    /// `value` was read from.
    pub fn keep(&self, value: &mut Value, text: &str) {
        if !self.holders.is_empty()
            && text.contains(self.name)
            && self.is_in(value, "")
            && let Ok(raw) = serde_json::from_str(text)
        {
            self.walk(value, raw, "");
        }
    }

    fn walk(&self, value: &mut Value, raw: &RawValue, holder: &str) {
        let is_call = self.is_call(value, holder);
        match value {
            Value::Array(items) => {
                let raws: Vec<&RawValue> = serde_json::from_str(raw.get()).unwrap_or_default();
                for (item, raw) in items.iter_mut().zip(raws) {
                    if self.is_in(item, holder) {
                        self.walk(item, raw, holder);
                    }
                }
            }
            Value::Object(fields) => {
                let raws: BTreeMap<Cow<'_, str>, &RawValue> =
                    serde_json::from_str(raw.get()).unwrap_or_default();
                for (name, field) in fields.iter_mut() {
                    let Some(raw) = raws.get(name.as_str()) else { continue };
                    if is_call && name == self.name && field.is_object() {
                        *field = Value::String(compact(raw.get()).into_owned());
                    } else if self.is_in(field, name) {
                        self.walk(field, raw, name);
                    }
                }
            }
            _ => {}
        }
    }

    fn is_in(&self, value: &Value, holder: &str) -> bool {
        match value {
            Value::Array(items) => items.iter().any(|item| self.is_in(item, holder)),
            Value::Object(fields) => {
                (self.is_call(value, holder) && fields.get(self.name).is_some_and(Value::is_object))
                    || fields.iter().any(|(name, field)| self.is_in(field, name))
            }
            _ => false,
        }
    }

    fn is_call(&self, value: &Value, holder: &str) -> bool {
        self.holders.contains(&holder)
            && self.kind.is_none_or(|kind| value.get("type").and_then(Value::as_str) == Some(kind))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_text_of_arguments_is_kept_and_nothing_else_is_touched() {
        let written = Written { holders: &["call", "calls"], kind: Some("f"), name: "args" };
        let arguments = r#"{"z": 1e5,"args":{"a":12345678901234567890123}}"#;
        let text = format!(
            r#"{{"args":{{"a":1}},"x":{{"call":{{"type":"f","args":{arguments}}}}},
               "calls":[{{"type":"g","args":{{}}}},{{"type":"f","args":"text"}},{{"type":"f","args":{{"b":0.10}}}}]}}"#
        );
        let mut value = serde_json::from_str(&text).unwrap_or_default();
        written.keep(&mut value, &text);
        let calls = json!([{"type": "g", "args": {}}, {"type": "f", "args": "text"}, {"type": "f", "args": "{\"b\":0.10}"}]);
        assert_eq!(
            value,
            json!({"args": {"a": 1}, "x": {"call": {"type": "f", "args": arguments}}, "calls": calls})
        );
    }
}
