//! JSON being written, in which what is not ours to change stays as it was written.

use serde::{Serialize, Serializer, ser::SerializeMap};
use serde_json::Value;

use crate::{model::CacheMark, raw::Raw};

pub(in crate::anthropic) enum Node {
    Value(Value),
    Raw(Raw),
    List(Vec<Node>),
    Map(Vec<(String, Node)>),
}

impl Node {
    pub fn text(text: &str) -> Self {
        Node::Value(Value::from(text))
    }

    pub fn number(number: u64) -> Self {
        Node::Value(Value::from(number))
    }

    /// An object that begins with these fields.
    pub fn map<const N: usize>(fields: [(&str, Node); N]) -> Self {
        Node::Map(fields.into_iter().map(|(name, node)| (name.to_owned(), node)).collect())
    }

    /// An object whose fields are values.
    pub fn from_object(value: Value) -> Self {
        match value {
            Value::Object(fields) => {
                Node::Map(fields.into_iter().map(|(name, value)| (name, Node::Value(value))).collect())
            }
            other => Node::Value(other),
        }
    }

    /// The same object with one more field, or another value of it.
    pub fn with(mut self, name: &str, node: Node) -> Self {
        if let Node::Map(fields) = &mut self {
            match fields.iter_mut().find(|(known, _)| known == name) {
                Some((_, old)) => *old = node,
                None => fields.push((name.to_owned(), node)),
            }
        }
        self
    }

    pub fn marked(self, mark: Option<&CacheMark>) -> Self {
        let Some(mark) = mark else { return self };
        let mut control = Node::map([("type", Node::text("ephemeral"))]);
        if let Some(ttl) = &mark.ttl {
            control = control.with("ttl", Node::text(ttl));
        }
        self.with("cache_control", control)
    }
}

impl Serialize for Node {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Node::Value(value) => value.serialize(serializer),
            Node::Raw(raw) => raw.serialize(serializer),
            Node::List(items) => items.serialize(serializer),
            Node::Map(fields) => {
                let mut map = serializer.serialize_map(Some(fields.len()))?;
                for (name, node) in fields {
                    map.serialize_entry(name, node)?;
                }
                map.end()
            }
        }
    }
}
