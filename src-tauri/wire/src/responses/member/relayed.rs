//! A caller's body for a member of the same dialect.

use super::{OURS, PATH};
use crate::{
    error::ApiError,
    format::Encoded,
    json::{self, Found, Json, Object, Place},
    model::{Content, Request, Target},
    notice::Notice,
    relay::{
        self, Edits,
        bend::{Places, bend},
        owners::{self, Home},
    },
    responses::seals::{self, Sealed},
    restore::Restore,
};

const HOME: Home = Home { ours: &OURS, joined: &["text", "reasoning"], ..Home::BODY };

/// The caller's body with the model's name and the owner's options, and nothing else that need not be changed.
pub(in crate::responses) fn relay(
    body: &Json,
    request: &Request,
    target: &Target,
) -> Result<Encoded, ApiError> {
    let mut notices = Vec::new();
    let holds_reasoning =
        request.parts().any(|part| matches!(part.content, Content::Thinking(_) | Content::Redacted { .. }));
    let own = if holds_reasoning { own_input(body, target, &mut notices)? } else { None };
    let mut body = relay::Body::new(own.as_ref().unwrap_or(body))?;
    body.set(&["model"], &serde_json::Value::from(target.served.as_str()).to_string());
    body.remove(&["bench"]);
    body.remove(&["with"]);
    // Served by the gateway: what it stands for is in the input, and its id is known to nobody else.
    body.remove(&["previous_response_id"]);
    bend(&mut body, request, target, &Places::default(), &mut notices);
    owners::add(&mut body, &target.options, &HOME, &mut notices);
    let body = body.into_bytes();
    Ok(Encoded { path: PATH.to_owned(), headers: Vec::new(), body, notices, restore: Restore::default() })
}

/// The body without the reasoning of others and without our marks; `None` when it holds neither. A provider
/// refuses the whole request for one ciphertext that it cannot read.
fn own_input(body: &Json, target: &Target, notices: &mut Vec<Notice>) -> Result<Option<Json>, ApiError> {
    let mut fields = body.fields()?;
    let Some(input) = fields.take("input").filter(|found| found.is_list()) else { return Ok(None) };
    let items = json::list(input, Place::Root.field("input"))?;
    let mut edits = Edits::new(body.text());
    let mut foreign = Vec::new();
    for (at, raw) in items.iter().enumerate() {
        match sealed(*raw)? {
            None => {}
            Some((_, Sealed::Redacted(seal))) if target.made(&seal) && seal.origin.is_none() => {}
            Some((place, Sealed::Redacted(seal))) if target.made(&seal) => {
                edits.set(place, serde_json::Value::from(seal.data).to_string());
            }
            Some(_) => {
                foreign.push(at);
                notices
                    .push(Notice::new(format!("input[{at}]"), "reasoning that only another member can read"));
            }
        }
    }
    if !foreign.is_empty() {
        // An item that is known there by its id is only taken beside the reasoning that led to it.
        for raw in items.iter().copied().filter(|raw| is_said(*raw)) {
            let item = Json::of(raw.get().to_owned())?;
            let mut edited = relay::Body::new(&item)?;
            edited.remove(&["id"]);
            edits.set(raw, String::from_utf8_lossy(&edited.into_bytes()).into_owned());
        }
    }
    edits.remove(&items, |at| foreign.contains(&at));
    edits.apply().map(Json::of).transpose()
}

/// Whether the item is a message or a call.
fn is_said(item: Found<'_>) -> bool {
    let fields = Object::of(item).unwrap_or_default();
    let kind = fields.get("type").map_or("\"message\"", Found::get);
    matches!(kind, "\"message\"" | "\"function_call\"" | "\"custom_tool_call\"")
}

/// The seal of an item of reasoning, and where it stands.
fn sealed(raw: Found<'_>) -> Result<Option<(Found<'_>, Sealed)>, ApiError> {
    let mut item = Object::read(raw, Place::Root)?;
    let is_reasoning = item.get("type").is_some_and(|kind| kind.get() == "\"reasoning\"");
    let Some(place) = item.take("encrypted_content").filter(|_| is_reasoning) else { return Ok(None) };
    let text = json::string(place, Place::Root.field("encrypted_content"))?;
    Ok((!text.is_empty()).then(|| (place, seals::from_caller(&text))))
}
