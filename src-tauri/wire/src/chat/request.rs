//! A caller's body into a [`Request`].

use std::collections::BTreeSet;

use super::{answer, content, options, tools};
use crate::{
    caller,
    dialect::Dialect,
    error::ApiError,
    ids::Matcher,
    json::{self, Found, Json, Object, Place},
    model::{CallKind, Content, Message, Part, Request, Role, Seal, Thinking, ToolResult},
    raw::Fields,
};

pub(super) fn decode(body: &Json) -> Result<Request, ApiError> {
    let mut fields = body.fields()?;
    let root = Place::Root;
    refuse_legacy(&mut fields)?;

    let mut request = Request { dialect: Dialect::Chat, ..Request::default() };
    if let Some(raw) = fields.take("model") {
        request.model = json::string(raw, root.field("model"))?;
    }
    read_messages(&mut fields, &mut request)?;
    custom_results(&mut request);
    tools::read(&mut fields, &mut request)?;
    options::read(&mut fields, &mut request)?;
    if let Some(raw) = fields.take("stream") {
        request.stream = json::boolean(raw, root.field("stream"))?;
    }
    if let Some(raw) = fields.take("stream_options") {
        request.include_usage = include_usage(raw)?;
    }
    caller::read(&mut fields, &mut request)?;
    for (name, raw) in fields.rest() {
        options::check_known(&name, raw)?;
        request.extra.push((name.into_owned(), raw.into()));
    }
    Ok(request)
}

fn refuse_legacy(fields: &mut Object<'_>) -> Result<(), ApiError> {
    for (name, instead) in [("functions", "tools"), ("function_call", "tool_choice")] {
        // An empty list is no functions, as with tools.
        if fields.take(name).is_some_and(|raw| !is_empty_list(raw)) {
            return Err(legacy(&Place::Root.field(name), instead));
        }
    }
    Ok(())
}

fn legacy(place: &Place<'_>, instead: &str) -> ApiError {
    ApiError::invalid(
        "legacy_functions",
        format!("{place}: the legacy function-calling fields are not taken; send {instead} instead"),
    )
}

fn read_messages(fields: &mut Object<'_>, request: &mut Request) -> Result<(), ApiError> {
    let place = Place::Root.field("messages");
    let Some(messages) = fields.take("messages").map(|raw| json::list(raw, place)).transpose()? else {
        return Err(ApiError::invalid(
            "missing_messages",
            "messages: expected a list with at least one message",
        ));
    };
    if messages.is_empty() {
        return Err(ApiError::invalid(
            "missing_messages",
            "messages: the list is empty; send at least one message",
        ));
    }
    request.messages.reserve_exact(messages.len());
    let mut ids = Matcher::default();
    for (index, found) in messages.into_iter().enumerate() {
        let place = place.index(index);
        let fields = Object::read(found, place)?;
        let message = read_message(fields, place, &mut ids, &mut request.extra)?;
        request.messages.push(message);
    }
    Ok(())
}

fn read_message(
    mut fields: Object<'_>,
    place: Place<'_>,
    ids: &mut Matcher,
    unplaced: &mut Fields,
) -> Result<Message, ApiError> {
    let role = read_role(&mut fields, place)?;
    if fields.take("function_call").is_some() {
        return Err(legacy(&place.field("function_call"), "tool_calls"));
    }
    let mut parts = content::read(fields.take("content"), role, place.field("content"))?;
    let mut string = |name| fields.take(name).map(|raw| json::string(raw, place.field(name))).transpose();
    let mut name = string("name")?;
    if role == Role::Tool {
        let id = string("tool_call_id")?;
        // The parts of a result have no place of their own in the model: what they hold beside is told here.
        for (at, part) in parts.iter_mut().enumerate() {
            let inner = place.field("content");
            let extra = part.extra.drain(..);
            unplaced.extend(extra.map(|(name, raw)| (inner.index(at).field(&name).to_string(), raw)));
        }
        let call_id = ids.result(id.as_deref(), name.as_deref());
        let kind = CallKind::Function;
        let result = ToolResult { call_id, name: name.take(), parts, is_error: false, kind };
        parts = vec![Part::new(Content::ToolResult(result)).at(place.field("content"))];
    }
    if role == Role::Assistant {
        if let Some(refusal) = string("refusal")?.filter(|text| !text.is_empty()) {
            parts.push(Content::Refusal(refusal.into()).into());
        }
        if let Some(raw) = fields.take("tool_calls") {
            tools::read_calls(raw, place.field("tool_calls"), ids, &mut parts)?;
        }
        thinking(&mut fields, place, &mut parts)?;
    }
    let extra = fields.rest().map(|(name, raw)| (name.into_owned(), raw.into())).collect();
    Ok(Message { role, parts, name, place: None, extra })
}

/// Reasoning a client hands back, in any of its spellings; it was before what the turn says.
fn thinking(fields: &mut Object<'_>, place: Place<'_>, parts: &mut Vec<Part>) -> Result<(), ApiError> {
    let mut text = None;
    for name in ["reasoning_content", "reasoning"] {
        if let Some(raw) = fields.take(name) {
            text = text.or(Some(json::string(raw, place.field(name))?).filter(|text| !text.is_empty()));
        }
    }
    let mut thoughts = Vec::new();
    if let Some(raw) = fields.take("reasoning_details") {
        let details = place.field("reasoning_details");
        json::list(raw, details)?;
        let list: Vec<serde_json::Value> = serde_json::from_str(raw.get()).unwrap_or_default();
        thoughts = answer::details(&list, Seal::from_caller);
    }
    let is_text =
        |content: &Content| matches!(content, Content::Thinking(Thinking { text, .. }) if !text.is_empty());
    if let Some(text) = text.filter(|_| !thoughts.iter().any(is_text)) {
        // A signature alone signs the text beside it.
        match thoughts.first_mut() {
            Some(Content::Thinking(thought)) => thought.text = text,
            _ => thoughts.insert(0, Content::Thinking(Thinking { text, signature: None })),
        }
    }
    let thoughts =
        thoughts.into_iter().map(|thought| Part::new(thought).at(place.field("reasoning_content")));
    parts.splice(0..0, thoughts);
    Ok(())
}

/// A result of a free-form call is a free-form call's result: only the call says which it was.
fn custom_results(request: &mut Request) {
    let custom: BTreeSet<String> = request
        .parts()
        .filter_map(|part| match &part.content {
            Content::ToolCall(call) if call.kind == CallKind::Custom => Some(call.id.clone()),
            _ => None,
        })
        .collect();
    if custom.is_empty() {
        return;
    }
    for part in request.messages.iter_mut().flat_map(|message| &mut message.parts) {
        if let Content::ToolResult(result) = &mut part.content
            && custom.contains(&result.call_id)
        {
            result.kind = CallKind::Custom;
        }
    }
}

fn read_role(fields: &mut Object<'_>, place: Place<'_>) -> Result<Role, ApiError> {
    let place = place.field("role");
    let expected = || place.expected("system, developer, user, assistant or tool");
    let role = json::word(fields.take("role").ok_or_else(expected)?, place).map_err(|_| expected())?;
    match &*role {
        "system" => Ok(Role::System),
        "developer" => Ok(Role::Developer),
        "user" => Ok(Role::User),
        "assistant" => Ok(Role::Assistant),
        "tool" => Ok(Role::Tool),
        "function" => Err(legacy(&place, "the tool role")),
        _ => Err(expected()),
    }
}

fn include_usage(raw: Found<'_>) -> Result<bool, ApiError> {
    let place = Place::Root.field("stream_options");
    let mut fields = Object::read(raw, place)?;
    match fields.take("include_usage") {
        Some(raw) => json::boolean(raw, place.field("include_usage")),
        None => Ok(false),
    }
}

fn is_empty_list(raw: Found<'_>) -> bool {
    raw.get().strip_prefix('[').is_some_and(|rest| rest.trim_start().starts_with(']'))
}
