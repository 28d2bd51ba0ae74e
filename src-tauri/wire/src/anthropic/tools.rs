//! A caller's `tools` and `tool_choice`.

use super::content::{cache_mark, optional, required};
use crate::{
    dialect::Dialect,
    error::ApiError,
    json::{self, Found, Object, Place},
    model::{Request, Tool, ToolChoice, ToolRef},
    raw::Fields,
};

pub(super) fn read(fields: &mut Object<'_>, request: &mut Request) -> Result<(), ApiError> {
    let root = Place::Root;
    // A vendor's tool is forced by its name, which the model has no place for.
    let mut vendors = Vec::new();
    if let Some(raw) = fields.take("tools") {
        let place = root.field("tools");
        for (at, raw) in json::list(raw, place)?.into_iter().enumerate() {
            let tool = tool(raw, place.index(at), &mut vendors, &mut request.extra)?;
            request.tools.push(tool);
        }
    }
    if let Some(raw) = fields.take("tool_choice") {
        let (choice, parallel) = choice(raw, &vendors)?;
        // Without tools a choice among them means nothing.
        request.tool_choice = Some(choice).filter(|_| !request.tools.is_empty());
        request.parallel_tool_calls = parallel.filter(|_| !request.tools.is_empty());
        request.spelled.push(("parallel_tool_calls", "tool_choice.disable_parallel_tool_use".to_owned()));
    }
    Ok(())
}

fn tool(
    raw: Found<'_>,
    place: Place<'_>,
    vendors: &mut Vec<String>,
    unplaced: &mut Fields,
) -> Result<Tool, ApiError> {
    let mut fields = Object::read(raw, place)?;
    let kind = optional(&mut fields, "type", place)?;
    if let Some(kind) = kind.filter(|kind| kind != "custom") {
        vendors.extend(optional(&mut fields, "name", place)?);
        return Ok(Tool::Vendor { dialect: Dialect::Anthropic, kind, raw: raw.into() });
    }
    let name = required(&mut fields, "name", place)?;
    let description = optional(&mut fields, "description", place)?;
    let parameters = fields.take("input_schema");
    if parameters.is_some_and(|raw| !raw.is_object()) {
        return Err(place.field("input_schema").expected("object"));
    }
    let strict = fields.take("strict").map(|raw| json::boolean(raw, place.field("strict"))).transpose()?;
    let mark = fields.take("cache_control");
    let cache = mark.map(|raw| cache_mark(raw, place.field("cache_control"))).transpose()?;
    unplaced.extend(fields.rest().map(|(name, raw)| (place.field(&name).to_string(), raw.into())));
    let parameters = parameters.map(Into::into);
    Ok(Tool::Function { name, namespace: None, description, parameters, strict, cache })
}

/// The choice, and whether calls may be parallel where that is said.
fn choice(raw: Found<'_>, vendors: &[String]) -> Result<(ToolChoice, Option<bool>), ApiError> {
    let place = Place::Root.field("tool_choice");
    let mut fields = Object::read(raw, place)?;
    let kind = required(&mut fields, "type", place)?;
    let one = fields.take("disable_parallel_tool_use");
    let one = one.map(|raw| json::boolean(raw, place.field("disable_parallel_tool_use"))).transpose()?;
    let choice = match kind.as_str() {
        "auto" => ToolChoice::Auto,
        "any" => ToolChoice::Required,
        "none" => ToolChoice::None,
        "tool" => {
            let name = required(&mut fields, "name", place)?;
            if vendors.contains(&name) {
                ToolChoice::Vendor { dialect: Dialect::Anthropic, raw: raw.into() }
            } else {
                ToolChoice::Named(ToolRef { name, namespace: None })
            }
        }
        _ => return Err(place.field("type").expected("auto, any, tool or none")),
    };
    Ok((choice, one.map(|one| !one)))
}
