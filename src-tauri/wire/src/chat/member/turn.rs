//! Messages as a member is sent them.

use serde::{
    Serialize, Serializer,
    ser::{SerializeMap, SerializeSeq},
};

use crate::model::{CacheMark, Content, Message, Part, Role, Source, ToolCall, ToolResult};

pub(super) struct Messages<'a> {
    pub messages: &'a [Message],
    pub developer: bool,
}

impl Serialize for Messages<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut list = serializer.serialize_seq(None)?;
        for message in self.messages {
            if says_nothing(message) {
                continue;
            }
            if message.role != Role::Tool {
                list.serialize_element(&Turn { message, developer: self.developer })?;
                continue;
            }
            // Each result is a message of its own.
            for part in &message.parts {
                if let Content::ToolResult(result) = &part.content {
                    list.serialize_element(&ResultTurn(result))?;
                }
            }
        }
        list.end()
    }
}

/// Of a turn of the model what the member cannot take is gone, and that was all: some servers refuse an empty one.
fn says_nothing(message: &Message) -> bool {
    message.role == Role::Assistant
        && message.parts.iter().all(|part| match &part.content {
            Content::Text(text) | Content::Refusal(text) => text.is_empty(),
            Content::Redacted { .. } => true,
            _ => false,
        })
}

struct Turn<'a> {
    message: &'a Message,
    developer: bool,
}

impl Serialize for Turn<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let (mut calls, mut thought, mut content) = (Vec::new(), String::new(), Vec::new());
        for part in &self.message.parts {
            match &part.content {
                Content::ToolCall(call) => calls.push(Call(call)),
                Content::Thinking(thinking) => thought.push_str(&thinking.text),
                Content::Redacted { .. } | Content::ToolResult(_) => {}
                _ => content.push(part),
            }
        }
        let mut turn = serializer.serialize_map(None)?;
        turn.serialize_entry("role", role(self.message.role, self.developer))?;
        if spoken(&content).is_empty() && !calls.is_empty() {
            turn.serialize_entry("content", &())?;
        } else {
            turn.serialize_entry("content", &Said(&content))?;
        }
        if !thought.is_empty() {
            turn.serialize_entry("reasoning_content", &thought)?;
        }
        if !calls.is_empty() {
            turn.serialize_entry("tool_calls", &calls)?;
        }
        if let Some(name) = &self.message.name {
            turn.serialize_entry("name", name)?;
        }
        turn.end()
    }
}

struct ResultTurn<'a>(&'a ToolResult);

impl Serialize for ResultTurn<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let parts: Vec<&Part> = self.0.parts.iter().collect();
        let mut turn = serializer.serialize_map(None)?;
        turn.serialize_entry("role", "tool")?;
        turn.serialize_entry("content", &Said(&parts))?;
        turn.serialize_entry("tool_call_id", &self.0.call_id)?;
        if let Some(name) = &self.0.name {
            turn.serialize_entry("name", name)?;
        }
        turn.end()
    }
}

/// An empty text beside other parts says nothing, and some servers refuse it.
fn spoken<'a>(content: &[&'a Part]) -> Vec<&'a Part> {
    let says = |part: &&&Part| !matches!(&part.content, Content::Text(text) if text.trim().is_empty());
    let spoken: Vec<&Part> = content.iter().filter(says).copied().collect();
    // One text of spaces is what was said, if it is all.
    if spoken.is_empty() && content.len() == 1 && !content[0].content.as_text().is_none_or(str::is_empty) {
        return content.to_vec();
    }
    spoken
}

struct Said<'a>(&'a [&'a Part]);

impl Serialize for Said<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let parts = spoken(self.0);
        match parts.as_slice() {
            [] => serializer.serialize_str(""),
            // One text goes as a string: some servers know no list.
            [Part { content: Content::Text(text) | Content::Refusal(text), cache: None, .. }] => {
                serializer.serialize_str(text)
            }
            parts => {
                let mut list = serializer.serialize_seq(Some(parts.len()))?;
                for part in parts {
                    list.serialize_element(&Piece(part))?;
                }
                list.end()
            }
        }
    }
}

/// `developer` is OpenAI's own word; a server that does not know it refuses the request, and every one,
/// OpenAI's too, takes `system` in its place.
fn role(role: Role, developer: bool) -> &'static str {
    match role {
        Role::Developer if developer => "developer",
        Role::System | Role::Developer => "system",
        Role::User => "user",
        Role::Assistant => "assistant",
        Role::Tool => "tool",
    }
}

struct Call<'a>(&'a ToolCall);

impl Serialize for Call<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct Function<'a> {
            name: &'a str,
            arguments: &'a str,
        }
        let mut call = serializer.serialize_map(None)?;
        call.serialize_entry("id", &self.0.id)?;
        call.serialize_entry("type", "function")?;
        let function = Function { name: &self.0.name, arguments: &self.0.arguments };
        call.serialize_entry("function", &function)?;
        if let Some(seal) = &self.0.signature {
            let google = serde_json::json!({ "google": { "thought_signature": seal.data } });
            call.serialize_entry("extra_content", &google)?;
        }
        call.end()
    }
}

struct Piece<'a>(&'a Part);

impl Serialize for Piece<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct ImageUrl<'a> {
            url: &'a str,
            #[serde(skip_serializing_if = "Option::is_none")]
            detail: Option<&'a str>,
        }
        #[derive(Serialize)]
        struct File<'a> {
            filename: &'a str,
            file_data: &'a str,
        }
        #[derive(Serialize)]
        struct InputAudio<'a> {
            data: &'a str,
            format: &'a str,
        }
        let content = &self.0.content;
        if let Content::Vendor { raw, .. } = content {
            return raw.serialize(serializer);
        }
        let mut part = serializer.serialize_map(None)?;
        match content {
            Content::Image(image) => {
                let url = image.source.to_url().unwrap_or_default();
                part.serialize_entry("type", "image_url")?;
                part.serialize_entry("image_url", &ImageUrl { url: &url, detail: image.detail.as_deref() })?;
            }
            Content::Document(document) => match &document.source {
                Source::Text(text) => {
                    part.serialize_entry("type", "text")?;
                    part.serialize_entry("text", &titled(document.name.as_deref(), text))?;
                }
                source => {
                    let file_data = source.to_url().unwrap_or_default();
                    let filename = document.name.as_deref().unwrap_or("document.pdf");
                    part.serialize_entry("type", "file")?;
                    part.serialize_entry("file", &File { filename, file_data: &file_data })?;
                }
            },
            Content::Audio(audio) => {
                if let Source::Base64 { data, .. } = &audio.source {
                    part.serialize_entry("type", "input_audio")?;
                    part.serialize_entry("input_audio", &InputAudio { data, format: &audio.format })?;
                }
            }
            content => {
                part.serialize_entry("type", "text")?;
                part.serialize_entry("text", content.as_text().unwrap_or_default())?;
            }
        }
        if let Some(mark) = &self.0.cache {
            part.serialize_entry("cache_control", &cache_control(mark))?;
        }
        part.end()
    }
}

fn titled(name: Option<&str>, text: &str) -> String {
    name.map_or_else(|| text.to_owned(), |name| format!("{name}\n\n{text}"))
}

pub(super) fn cache_control(mark: &CacheMark) -> serde_json::Value {
    let mut value = serde_json::json!({ "type": "ephemeral" });
    if let Some(ttl) = &mark.ttl {
        value["ttl"] = ttl.as_str().into();
    }
    value
}
