//! Fields that shape how an answer is made: which there are, what type each has, where each is kept.

use super::content::{optional, required};
use crate::{
    dialect::Dialect,
    error::ApiError,
    json::{self, Found, Object, Place},
    model::{Request, StructuredOutput, ThinkingMode},
};

pub(super) fn read(fields: &mut Object<'_>, request: &mut Request) -> Result<(), ApiError> {
    let root = Place::Root;
    for name in ["temperature", "top_p", "top_k"] {
        if let Some(raw) = fields.take(name) {
            if !raw.is_number() {
                return Err(root.field(name).expected("number"));
            }
            request.sampling.fields.push((name.to_owned(), raw.into()));
        }
    }
    if let Some(raw) = fields.take("stop_sequences") {
        json::strings(raw, root.field("stop_sequences"))?;
        request.sampling.fields.push(("stop".to_owned(), raw.into()));
        request.spelled.push(("stop", "stop_sequences".to_owned()));
    }
    if let Some(raw) = fields.take("max_tokens") {
        let budget = json::whole_number(raw, root.field("max_tokens"))?;
        if budget == 0 {
            return Err(root.field("max_tokens").expected("whole number from 1"));
        }
        request.max_output = Some(budget);
        request.spelled.push(("max_output", "max_tokens".to_owned()));
    }
    if let Some(raw) = fields.take("output_format") {
        structured(raw, root.field("output_format"), request)?;
    }
    if let Some(raw) = fields.take("output_config") {
        output_config(raw, request)?;
    }
    if let Some(raw) = fields.take("thinking") {
        thinking(raw, request)?;
    }
    if let Some(raw) = fields.take("metadata") {
        let place = root.field("metadata");
        let mut fields = Object::read(raw, place)?;
        request.metadata.user = optional(&mut fields, "user_id", place)?;
        request.spelled.push(("user", "metadata.user_id".to_owned()));
        let rest = fields.rest().map(|(name, raw)| (place.field(&name).to_string(), raw.into()));
        request.extra.extend(rest);
    }
    Ok(())
}

/// The type of a field that is kept in `extra`.
pub(super) fn check_known(name: &str, raw: Found<'_>) -> Result<(), ApiError> {
    let place = Place::Root.field(name);
    match name {
        "service_tier" | "inference_geo" => json::string(raw, place).map(drop),
        "mcp_servers" => json::list(raw, place).map(drop),
        "context_management" | "cache_control" => Object::read(raw, place).map(drop),
        _ => Ok(()),
    }
}

fn output_config(raw: Found<'_>, request: &mut Request) -> Result<(), ApiError> {
    let place = Place::Root.field("output_config");
    let mut fields = Object::read(raw, place)?;
    if let Some(effort) = optional(&mut fields, "effort", place)? {
        request.reasoning.effort = Some(effort);
        request.spelled.push(("reasoning", "output_config.effort".to_owned()));
    }
    if let Some(raw) = fields.take("format") {
        structured(raw, place.field("format"), request)?;
    }
    let rest = fields.rest().map(|(name, raw)| (place.field(&name).to_string(), raw.into()));
    request.extra.extend(rest);
    Ok(())
}

/// `{"type": "json_schema", "schema": {…}}`
fn structured(raw: Found<'_>, place: Place<'_>, request: &mut Request) -> Result<(), ApiError> {
    let mut fields = Object::read(raw, place)?;
    let kind = required(&mut fields, "type", place)?;
    request.spelled.retain(|(option, _)| *option != "structured_output");
    request.spelled.push(("structured_output", place.to_string()));
    request.structured_output = Some(if kind == "json_schema" {
        let schema = fields.take("schema").filter(|raw| raw.is_object());
        let schema = schema.ok_or_else(|| place.field("schema").expected("object"))?.into();
        let name = optional(&mut fields, "name", place)?;
        StructuredOutput::Schema { name, description: None, schema, strict: None }
    } else {
        StructuredOutput::Vendor { dialect: Dialect::Anthropic, raw: raw.into() }
    });
    Ok(())
}

fn thinking(raw: Found<'_>, request: &mut Request) -> Result<(), ApiError> {
    let place = Place::Root.field("thinking");
    let mut fields = Object::read(raw, place)?;
    let kind = required(&mut fields, "type", place)?;
    let budget = fields.take("budget_tokens");
    let budget = budget.map(|raw| json::whole_number(raw, place.field("budget_tokens"))).transpose()?;
    request.reasoning.mode = Some(match (kind.as_str(), budget) {
        ("disabled", _) => ThinkingMode::Off,
        ("adaptive", _) => ThinkingMode::Adaptive,
        ("enabled", Some(budget)) => ThinkingMode::Budget(budget),
        ("enabled", None) => ThinkingMode::On,
        _ => return Err(place.field("type").expected("enabled, disabled or adaptive")),
    });
    request.reasoning.summary = match optional(&mut fields, "display", place)?.as_deref() {
        Some("omitted") => Some("none".to_owned()),
        Some("summarized") => Some("auto".to_owned()),
        _ => None,
    };
    if !request.spelled.iter().any(|(option, _)| *option == "reasoning") {
        request.spelled.push(("reasoning", "thinking".to_owned()));
    }
    let rest = fields.rest().map(|(name, raw)| (place.field(&name).to_string(), raw.into()));
    request.extra.extend(rest);
    Ok(())
}
