//! A caller's body for a member of the same dialect.

use serde_json::value::RawValue;

use super::PATH;
use crate::{
    error::ApiError,
    format::Encoded,
    json::{self, Object, Place},
    model::{Request, Target},
    notice::Notice,
    relay,
    responses::seals::{self, Sealed},
    restore::Restore,
};

/// The caller's body with the model's name, and nothing else that need not be changed.
pub(in crate::responses) fn relay(
    body: &[u8],
    request: &Request,
    target: &Target,
) -> Result<Encoded, ApiError> {
    let mut body = relay::Body::new(body)?;
    let mut notices = Vec::new();
    body.set(&["model"], &serde_json::Value::from(target.served.as_str()).to_string());
    body.remove("bench");
    body.remove("with");
    // Served by the gateway: what it stands for is in the input, and its id is known to nobody else.
    body.remove("previous_response_id");
    if let (Some(limit), Some(asked)) = (target.max_output, request.max_output)
        && asked > limit
    {
        let field = request.spelling("max_output");
        body.set(&[field], &limit.to_string());
        notices.push(Notice::new(field, format!("cut from {asked} to {limit}, the most this model writes")));
    }
    let mut body = body.into_bytes();
    if let Some(input) = own_input(&body, target, &mut notices)? {
        let mut edited = relay::Body::new(&body)?;
        edited.set(&["input"], &input);
        body = edited.into_bytes();
    }
    Ok(Encoded { path: PATH.to_owned(), headers: Vec::new(), body, notices, restore: Restore::default() })
}

/// The input without the reasoning of others and without our marks; `None` when it holds neither. A provider
/// refuses the whole request for one ciphertext that it cannot read.
fn own_input(body: &[u8], target: &Target, notices: &mut Vec<Notice>) -> Result<Option<String>, ApiError> {
    let text = json::text_of(body)?;
    if !text.contains("\"encrypted_content\"") {
        return Ok(None);
    }
    let mut fields = json::root(&text)?;
    let Some(input) = fields.take("input").filter(|raw| json::is_list(raw)) else { return Ok(None) };
    let items = json::list(input, Place::Root.field("input"))?;
    let mut is_changed = false;
    let mut is_foreign = false;
    let mut kept: Vec<String> = Vec::with_capacity(items.len());
    for (at, raw) in items.into_iter().enumerate() {
        match sealed(raw)? {
            None => kept.push(raw.get().to_owned()),
            Some(Sealed::Redacted(seal)) if target.made(&seal) => {
                let mut item = relay::Body::new(raw.get().as_bytes())?;
                if seal.origin.is_some() {
                    is_changed = true;
                    item.set(&["encrypted_content"], &serde_json::Value::from(seal.data).to_string());
                }
                kept.push(String::from_utf8_lossy(&item.into_bytes()).into_owned());
            }
            Some(_) => {
                is_foreign = true;
                notices
                    .push(Notice::new(format!("input[{at}]"), "reasoning that only another member can read"));
            }
        }
    }
    if is_foreign {
        // An item that is known there by its id is only taken beside the reasoning that led to it.
        for item in kept.iter_mut().filter(|item| is_said(item)) {
            let mut edited = relay::Body::new(item.as_bytes())?;
            edited.remove("id");
            *item = String::from_utf8_lossy(&edited.into_bytes()).into_owned();
        }
    }
    Ok((is_changed || is_foreign).then(|| format!("[{}]", kept.join(","))))
}

/// Whether the item is a message or a call.
fn is_said(item: &str) -> bool {
    let fields = serde_json::from_str::<Object<'_>>(item).unwrap_or_default();
    let kind = fields.get("type").map_or("\"message\"", RawValue::get);
    matches!(kind, "\"message\"" | "\"function_call\"" | "\"custom_tool_call\"")
}

/// The seal of an item of reasoning.
fn sealed(raw: &RawValue) -> Result<Option<Sealed>, ApiError> {
    let mut item = Object::read(raw, Place::Root)?;
    let is_reasoning = item.get("type").is_some_and(|kind| kind.get() == "\"reasoning\"");
    let Some(raw) = item.take("encrypted_content").filter(|_| is_reasoning) else { return Ok(None) };
    let text = json::string(raw, Place::Root.field("encrypted_content"))?;
    Ok(Some(text).filter(|text| !text.is_empty()).as_deref().map(seals::from_caller))
}
