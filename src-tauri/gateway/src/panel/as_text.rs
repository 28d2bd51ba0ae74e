//! A question as text, images as placeholders: for the record, and for who merges.

use wire::{Content, Message, Request, Role};

/// The last user turn as the record keeps it: text as it is, images as placeholders.
pub(super) fn prompt_for_record(request: &Request) -> String {
    let Some(message) = request.messages.iter().rev().find(|message| message.role == Role::User) else {
        return String::new();
    };
    parts_for_record(message)
}

/// A turn as text, images as placeholders.
pub(super) fn parts_for_record(message: &Message) -> String {
    let texts: Vec<String> = message
        .parts
        .iter()
        .map(|part| match &part.content {
            Content::Text(text) | Content::Refusal(text) => text.to_string(),
            Content::Image(image) => image.source.placeholder(),
            content => format!("[{}]", content.kind()),
        })
        .collect();
    texts.join("\n")
}

/// Every turn as the record keeps it: a JSON list of role and text.
pub(crate) fn request_for_record(request: &Request) -> String {
    let turns: Vec<serde_json::Value> = request
        .messages
        .iter()
        .map(
            |message| serde_json::json!({"role": role_name(message.role), "text": parts_for_record(message)}),
        )
        .collect();
    serde_json::Value::Array(turns).to_string()
}

fn role_name(role: Role) -> &'static str {
    match role {
        Role::System => "system",
        Role::Developer => "developer",
        Role::User => "user",
        Role::Assistant => "assistant",
        Role::Tool => "tool",
    }
}
