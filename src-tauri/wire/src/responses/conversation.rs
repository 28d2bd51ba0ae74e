//! Going on from an earlier response: what of a request is kept, how it is put before a later one, and how it is
//! listed. What is kept where is the gateway's.

use std::collections::HashSet;

use serde::Deserialize;
use serde_json::{Value, json, value::RawValue};

use crate::{
    error::{ApiError, Kind, Origin},
    json::{self as text, Json, Place},
    relay,
};

/// One request and its response, as they are kept.
#[derive(Clone, Copy, Debug)]
pub struct Turn<'a> {
    /// The response's id: `resp_…`.
    pub id: &'a str,
    /// What [`new_input`] gave.
    pub input: &'a str,
    /// The response as its caller got it: a JSON object.
    pub response: &'a str,
}

/// Which items of a list are wanted.
#[derive(Clone, Debug)]
pub struct Page {
    /// The id of the item before the first one; from the beginning without it.
    pub after: Option<String>,
    pub limit: usize,
    /// The newest first.
    pub newest_first: bool,
}

/// What a request adds to its conversation: a JSON list of items, each as it was written. Instructions are none:
/// they hold for one request. The body is one that was decoded.
pub fn new_input(body: &Json) -> Result<String, ApiError> {
    let place = Place::Root.field("input");
    match body.fields()?.take("input") {
        None => Ok("[]".to_owned()),
        Some(raw) if raw.is_string() => {
            let content = json!([{ "type": "input_text", "text": text::string(raw, place)? }]);
            Ok(json!([{ "type": "message", "role": "user", "content": content }]).to_string())
        }
        Some(raw) => Ok(raw.get().to_owned()),
    }
}

/// The body with everything that was said in the turns before its own input, the oldest turn first. It still
/// says from which response it goes on.
pub fn go_on(body: &Json, turns: &[Turn<'_>]) -> Result<Vec<u8>, ApiError> {
    let own = new_input(body)?;
    let mut items = Vec::new();
    for turn in turns {
        items.extend(list(turn.input)?);
        items.extend(output(turn.response)?);
    }
    items.extend(list(&own)?);
    let items: Vec<&str> = items.into_iter().map(RawValue::get).collect();
    let mut body = relay::Body::new(body)?;
    body.set(&["input"], &format!("[{}]", items.join(",")));
    Ok(body.into_bytes())
}

/// The list of items that the last turn's response was made from: all of the turns but its own output. An item
/// without an id gets one, which stays the same.
pub fn input_items(turns: &[Turn<'_>], page: &Page) -> Result<Vec<u8>, ApiError> {
    let mut items = Vec::new();
    let mut ids = HashSet::new();
    for (at, turn) in turns.iter().enumerate() {
        let key = turn.id.trim_start_matches("resp_");
        let answered = if at + 1 < turns.len() { output(turn.response)? } else { Vec::new() };
        for (place, raw) in list(turn.input)?.into_iter().chain(answered).enumerate() {
            items.push(listed(raw, &format!("{key}_i{place}"), &mut ids));
        }
    }
    if page.newest_first {
        items.reverse();
    }
    let start = match &page.after {
        None => 0,
        Some(after) => match items.iter().position(|item| item["id"] == after.as_str()) {
            Some(at) => at + 1,
            None => return Err(Place::Root.field("after").expected("the id of an item of this list")),
        },
    };
    let has_more = items.len() - start > page.limit;
    let data: Vec<Value> = items.into_iter().skip(start).take(page.limit).collect();
    let id = |item: Option<&Value>| item.map_or(Value::Null, |item| item["id"].clone());
    let (first, last) = (id(data.first()), id(data.last()));
    Ok(text::to_vec(&json!({
        "object": "list", "data": data, "first_id": first, "last_id": last, "has_more": has_more
    })))
}

/// An item as it is listed: with its type, an id that no other has, and its content as parts.
fn listed(raw: &RawValue, key: &str, ids: &mut HashSet<String>) -> Value {
    let mut item: Value = serde_json::from_str(raw.get()).unwrap_or_default();
    let Value::Object(fields) = &mut item else { return item };
    fields.entry("type").or_insert_with(|| json!("message"));
    let is_message = fields["type"] == "message";
    let own = fields.get("id").and_then(Value::as_str).filter(|id| !id.is_empty() && !ids.contains(*id));
    let prefix = if is_message { "msg" } else { "item" };
    let id = own.map_or_else(|| format!("{prefix}_{key}"), str::to_owned);
    ids.insert(id.clone());
    fields.insert("id".to_owned(), Value::String(id));
    if is_message && let Some(Value::String(words)) = fields.get("content") {
        let kind = if fields.get("role").is_some_and(|role| role == "assistant") {
            "output_text"
        } else {
            "input_text"
        };
        let part = json!({ "type": kind, "text": words });
        fields.insert("content".to_owned(), json!([part]));
    }
    item
}

/// The items of a response.
fn output(response: &str) -> Result<Vec<&RawValue>, ApiError> {
    #[derive(Deserialize)]
    struct Response<'a> {
        #[serde(borrow)]
        output: Option<Vec<&'a RawValue>>,
    }
    let response: Response<'_> = serde_json::from_str(response).map_err(|_| unreadable())?;
    Ok(response.output.unwrap_or_default())
}

fn list(items: &str) -> Result<Vec<&RawValue>, ApiError> {
    serde_json::from_str(items).map_err(|_| unreadable())
}

fn unreadable() -> ApiError {
    let message =
        "previous_response_id: what was kept of it cannot be read; send the whole conversation as input";
    ApiError::new(Kind::Internal, Origin::Gateway, "response_unreadable", message)
}
