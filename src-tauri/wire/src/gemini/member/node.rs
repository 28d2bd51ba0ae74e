//! JSON to be written: what must stay as it was written stands in it as raw text, and long data are not copied.

use std::borrow::Cow;

use serde::{Serialize, Serializer, ser::SerializeMap};
use serde_json::Value;

use crate::raw::Raw;

pub(in crate::gemini) enum Node<'a> {
    Raw(Cow<'a, Raw>),
    Text(Cow<'a, str>),
    Value(Cow<'a, Value>),
    List(Vec<Node<'a>>),
    Object(Vec<(&'a str, Node<'a>)>),
}

impl From<Value> for Node<'_> {
    fn from(value: Value) -> Self {
        Node::Value(Cow::Owned(value))
    }
}

impl<'a> From<&'a str> for Node<'a> {
    fn from(text: &'a str) -> Self {
        Node::Text(Cow::Borrowed(text))
    }
}

impl From<String> for Node<'_> {
    fn from(text: String) -> Self {
        Node::Text(Cow::Owned(text))
    }
}

impl Serialize for Node<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Node::Raw(raw) => raw.serialize(serializer),
            Node::Text(text) => text.serialize(serializer),
            Node::Value(value) => value.serialize(serializer),
            Node::List(list) => list.serialize(serializer),
            Node::Object(fields) => {
                let mut object = serializer.serialize_map(Some(fields.len()))?;
                for (name, value) in fields {
                    object.serialize_entry(name, value)?;
                }
                object.end()
            }
        }
    }
}
