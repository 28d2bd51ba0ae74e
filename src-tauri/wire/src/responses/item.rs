//! What an item of a member's output holds, but for calls.

use serde_json::Value;

use crate::{
    dialect::Dialect,
    model::{Event, Seal},
};

/// The texts of a message or of reasoning: (kind, place among its like, text).
pub(super) fn texts(item: &Value) -> Vec<(&'static str, u64, &str)> {
    let list = |name: &str| item.get(name).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let text = |part: &'_ Value, name: &str| part.get(name).and_then(Value::as_str).map(str::len);
    let mut texts = Vec::new();
    match item.get("type").and_then(Value::as_str) {
        Some("message") => {
            if let Some(content) = item.get("content").and_then(Value::as_str) {
                texts.push(("text", 0, content));
            }
            for (at, part) in list("content").iter().enumerate() {
                let (kind, name) =
                    if text(part, "refusal").is_some() { ("refusal", "refusal") } else { ("text", "text") };
                texts.extend(part.get(name).and_then(Value::as_str).map(|text| (kind, at as u64, text)));
            }
        }
        Some("reasoning") => {
            for (kind, name) in [("summary", "summary"), ("reasoning", "content")] {
                for (at, part) in list(name).iter().enumerate() {
                    texts
                        .extend(part.get("text").and_then(Value::as_str).map(|text| (kind, at as u64, text)));
                }
            }
        }
        _ => {}
    }
    texts
}

/// What cannot be read, an image, or what only this API can say.
pub(super) fn opaque(item: &Value) -> Option<Event> {
    let string = |name: &str| {
        item.get(name).and_then(Value::as_str).filter(|text| !text.is_empty()).map(str::to_owned)
    };
    let kind = string("type")?;
    match kind.as_str() {
        "message" => None,
        "reasoning" => {
            let seal = Seal::new(string("encrypted_content")?);
            Some(Event::Redacted { seal, id: string("id") })
        }
        "image_generation_call" => {
            let data = string("result")?;
            let media_type = crate::media::image_type(&data).unwrap_or("image/png").to_owned();
            Some(Event::Image { media_type, data })
        }
        _ => Some(Event::Vendor { dialect: Dialect::Responses, kind, raw: item.into() }),
    }
}
