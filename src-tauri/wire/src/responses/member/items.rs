//! Turns as the items a member is sent.

use serde::{
    Serialize, Serializer,
    ser::{SerializeMap, SerializeSeq},
};
use serde_json::{Value, json};

use crate::model::{CallKind, Content, Message, Part, Role, Seal, Source, ToolCall, ToolResult};

pub(super) struct Input<'a>(pub &'a [Message]);

impl Serialize for Input<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut list = serializer.serialize_seq(None)?;
        for message in self.0 {
            // What is said goes together; a call, a result, a thought is an item of its own.
            let mut said: Vec<&Part> = Vec::new();
            for part in &message.parts {
                let item = match &part.content {
                    Content::ToolCall(call) => Item::Call(call),
                    Content::ToolResult(result) => Item::Result(result),
                    Content::Thinking(thinking) => match &thinking.signature {
                        Some(seal) => Item::Reasoning { text: &thinking.text, seal, id: None },
                        None => continue,
                    },
                    Content::Redacted { seal, id } => Item::Reasoning { text: "", seal, id: id.as_deref() },
                    Content::Vendor { raw, .. } if is_item(raw.get()) => Item::Raw(raw),
                    Content::Text(text) | Content::Refusal(text) if text.is_empty() => continue,
                    _ => {
                        said.push(part);
                        continue;
                    }
                };
                say(&mut list, message, &mut said)?;
                list.serialize_element(&item)?;
            }
            say(&mut list, message, &mut said)?;
        }
        list.end()
    }
}

fn say<L: SerializeSeq>(list: &mut L, message: &Message, said: &mut Vec<&Part>) -> Result<(), L::Error> {
    let parts = std::mem::take(said);
    if parts.is_empty() {
        return Ok(());
    }
    list.serialize_element(&Item::Message { role: message.role, parts: &parts })
}

/// Parts of the API's own that stand in a message's content all begin so; everything else is an item.
fn is_item(raw: &str) -> bool {
    let kind = serde_json::from_str::<Value>(raw).ok();
    let kind = kind.as_ref().and_then(|value| value.get("type")?.as_str());
    kind.is_some_and(|kind| !kind.starts_with("input_") && !kind.starts_with("output_"))
}

enum Item<'a> {
    Message { role: Role, parts: &'a [&'a Part] },
    Call(&'a ToolCall),
    Result(&'a ToolResult),
    Reasoning { text: &'a str, seal: &'a Seal, id: Option<&'a str> },
    Raw(&'a crate::raw::Raw),
}

impl Serialize for Item<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if let Item::Raw(raw) = self {
            return raw.serialize(serializer);
        }
        let mut item = serializer.serialize_map(None)?;
        match self {
            Item::Message { role, parts } => {
                item.serialize_entry("type", "message")?;
                item.serialize_entry("role", word(*role))?;
                item.serialize_entry("content", &Said { parts, by_model: *role == Role::Assistant })?;
            }
            Item::Call(call) => {
                let (kind, said) = match call.kind {
                    CallKind::Function => ("function_call", "arguments"),
                    CallKind::Custom => ("custom_tool_call", "input"),
                };
                item.serialize_entry("type", kind)?;
                item.serialize_entry("call_id", &call.id)?;
                item.serialize_entry("name", &call.name)?;
                item.serialize_entry(said, &call.arguments)?;
            }
            Item::Result(result) => {
                let kind = match result.kind {
                    CallKind::Function => "function_call_output",
                    CallKind::Custom => "custom_tool_call_output",
                };
                let parts: Vec<&Part> = result.parts.iter().filter(|part| !is_empty(part)).collect();
                item.serialize_entry("type", kind)?;
                item.serialize_entry("call_id", &result.call_id)?;
                item.serialize_entry("output", &Said { parts: &parts, by_model: false })?;
            }
            Item::Reasoning { text, seal, id } => {
                item.serialize_entry("type", "reasoning")?;
                if let Some(id) = id {
                    item.serialize_entry("id", id)?;
                }
                let summary = if text.is_empty() {
                    Vec::new()
                } else {
                    vec![json!({ "type": "summary_text", "text": text })]
                };
                item.serialize_entry("summary", &summary)?;
                item.serialize_entry("encrypted_content", &seal.data)?;
            }
            Item::Raw(_) => {}
        }
        item.end()
    }
}

fn is_empty(part: &Part) -> bool {
    part.content.as_text().is_some_and(str::is_empty)
}

fn word(role: Role) -> &'static str {
    match role {
        Role::System => "system",
        Role::Developer => "developer",
        Role::User | Role::Tool => "user",
        Role::Assistant => "assistant",
    }
}

struct Said<'a> {
    parts: &'a [&'a Part],
    by_model: bool,
}

impl Serialize for Said<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.parts {
            [] => serializer.serialize_str(""),
            [Part { content: Content::Text(text), .. }] => serializer.serialize_str(text),
            parts => {
                let mut list = serializer.serialize_seq(Some(parts.len()))?;
                for part in parts {
                    list.serialize_element(&Piece { content: &part.content, by_model: self.by_model })?;
                }
                list.end()
            }
        }
    }
}

struct Piece<'a> {
    content: &'a Content,
    by_model: bool,
}

impl Serialize for Piece<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if let Content::Vendor { raw, .. } = self.content {
            return raw.serialize(serializer);
        }
        let text = if self.by_model { "output_text" } else { "input_text" };
        let mut part = serializer.serialize_map(None)?;
        match self.content {
            Content::Refusal(words) if self.by_model => {
                part.serialize_entry("type", "refusal")?;
                part.serialize_entry("refusal", words)?;
            }
            Content::Image(image) => {
                part.serialize_entry("type", "input_image")?;
                part.serialize_entry("image_url", &image.source.to_url().unwrap_or_default())?;
                // The API's own default, which its types do not leave out.
                part.serialize_entry("detail", image.detail.as_deref().unwrap_or("auto"))?;
            }
            Content::Document(document) => match &document.source {
                Source::Text(words) => {
                    part.serialize_entry("type", text)?;
                    let title = document.name.as_ref().map(|name| format!("{name}\n\n")).unwrap_or_default();
                    part.serialize_entry("text", &(title + words))?;
                }
                Source::Url(url) => {
                    part.serialize_entry("type", "input_file")?;
                    part.serialize_entry("file_url", url)?;
                }
                source => {
                    part.serialize_entry("type", "input_file")?;
                    let name = document.name.as_deref().unwrap_or("document.pdf");
                    part.serialize_entry("filename", name)?;
                    part.serialize_entry("file_data", &source.to_url().unwrap_or_default())?;
                }
            },
            content => {
                part.serialize_entry("type", text)?;
                part.serialize_entry("text", content.as_text().unwrap_or_default())?;
            }
        }
        part.end()
    }
}
