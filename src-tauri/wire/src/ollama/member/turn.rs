//! Messages as a member is sent them.

use std::{borrow::Cow, collections::BTreeMap};

use serde::{
    Serialize, Serializer,
    ser::{SerializeMap, SerializeSeq},
};

use crate::{
    arguments,
    model::{Content, Message, Part, Role, Source, ToolCall, ToolResult},
};

pub(super) struct Messages<'a>(pub &'a [Message]);

impl Serialize for Messages<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut list = serializer.serialize_seq(None)?;
        // Results are known by the tool's name, which most dialects leave to the call.
        let mut names = BTreeMap::new();
        for message in self.0 {
            for part in &message.parts {
                match &part.content {
                    Content::ToolCall(call) => {
                        names.insert(call.id.as_str(), call.name.as_str());
                    }
                    // Each result is a message of its own.
                    Content::ToolResult(result) => {
                        let name = names.get(result.call_id.as_str()).copied().or(result.name.as_deref());
                        list.serialize_element(&ResultTurn { result, name })?;
                    }
                    _ => {}
                }
            }
            if message.role != Role::Tool && says(message) {
                list.serialize_element(&Turn(message))?;
            }
        }
        list.end()
    }
}

/// Whether some text stands between images, or an image between texts: their order is lost.
pub(super) fn is_mixed(message: &Message) -> bool {
    let kinds = message.parts.iter().filter_map(|part| match &part.content {
        Content::Image(_) => Some(true),
        content => text_of(content).filter(|text| !text.is_empty()).map(|_| false),
    });
    let mut kinds: Vec<bool> = kinds.collect();
    kinds.dedup();
    kinds.len() > 2
}

/// A turn in which nothing is left is passed over, but not one that was sent empty by its author.
fn says(message: &Message) -> bool {
    message.parts.iter().any(|part| match &part.content {
        Content::Redacted { .. } => false,
        content => text_of(content).is_none_or(|text| !text.is_empty()),
    }) || message.role == Role::User
}

fn text_of(content: &Content) -> Option<Cow<'_, str>> {
    match content {
        Content::Document(document) => match &document.source {
            Source::Text(text) => Some(match &document.name {
                Some(name) => format!("{name}\n\n{text}").into(),
                None => text.as_str().into(),
            }),
            _ => None,
        },
        content => content.as_text().map(Cow::from),
    }
}

/// The texts of a turn as one.
fn joined(parts: &[Part]) -> String {
    let texts = parts.iter().filter_map(|part| text_of(&part.content));
    texts.filter(|text| !text.is_empty()).collect::<Vec<_>>().join("\n")
}

struct Turn<'a>(&'a Message);

impl Serialize for Turn<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let message = self.0;
        let (mut calls, mut thought, mut images) = (Vec::new(), String::new(), Vec::new());
        for part in &message.parts {
            match &part.content {
                Content::ToolCall(call) => calls.push(Call(call)),
                Content::Thinking(thinking) => thought.push_str(&thinking.text),
                Content::Image(image) => {
                    if let Source::Base64 { data, .. } = &image.source {
                        images.push(data);
                    }
                }
                _ => {}
            }
        }
        let role = match message.role {
            Role::System | Role::Developer => "system",
            Role::User | Role::Tool => "user",
            Role::Assistant => "assistant",
        };
        let mut turn = serializer.serialize_map(None)?;
        turn.serialize_entry("role", role)?;
        turn.serialize_entry("content", &joined(&message.parts))?;
        if !thought.is_empty() {
            turn.serialize_entry("thinking", &thought)?;
        }
        if !images.is_empty() {
            turn.serialize_entry("images", &images)?;
        }
        if !calls.is_empty() {
            turn.serialize_entry("tool_calls", &calls)?;
        }
        turn.end()
    }
}

struct ResultTurn<'a> {
    result: &'a ToolResult,
    name: Option<&'a str>,
}

impl Serialize for ResultTurn<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut turn = serializer.serialize_map(None)?;
        turn.serialize_entry("role", "tool")?;
        turn.serialize_entry("content", &joined(&self.result.parts))?;
        if let Some(name) = self.name {
            turn.serialize_entry("tool_name", name)?;
        }
        turn.serialize_entry("tool_call_id", &self.result.call_id)?;
        turn.end()
    }
}

struct Call<'a>(&'a ToolCall);

impl Serialize for Call<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct Function<'a> {
            name: &'a str,
            arguments: crate::raw::Raw,
        }
        let arguments = arguments::as_object(&self.0.arguments, "arguments").unwrap_or_else(|text| text);
        let mut call = serializer.serialize_map(Some(2))?;
        call.serialize_entry("id", &self.0.id)?;
        call.serialize_entry("function", &Function { name: &self.0.name, arguments })?;
        call.end()
    }
}
