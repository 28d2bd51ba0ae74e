//! A caller's `tools` and `toolConfig`.

use super::{
    schema,
    spelling::{self, Taken},
};
use crate::{
    dialect::Dialect,
    error::ApiError,
    json::{self, Found, Object, Place},
    model::{Request, Tool, ToolChoice, ToolMode, ToolRef},
    raw::{Fields, Raw},
};

pub(super) fn read(fields: &mut Object<'_>, request: &mut Request) -> Result<(), ApiError> {
    if let Some(raw) = fields.take("tools") {
        let place = Place::Root.field("tools");
        for (index, fields) in json::objects(raw, place)?.into_iter().enumerate() {
            read_tool(fields, place.index(index), request)?;
        }
    }
    let Some(taken) = spelling::take(fields, "toolConfig") else { return Ok(()) };
    let place = Place::Root.field(&taken.name);
    let mut config = Object::read(taken.raw, place)?;
    if let Some(calling) = spelling::take(&mut config, "functionCallingConfig") {
        let spelled = place.field(&calling.name).to_string();
        let choice = choice(&calling, place, &mut request.extra)?;
        // Without tools a choice among them means nothing.
        request.tool_choice = choice.filter(|_| !request.tools.is_empty());
        request.spelled.push(("tool_choice", spelled));
    }
    request.extra.extend(config.rest().map(|(name, raw)| (place.field(&name).to_string(), raw.into())));
    Ok(())
}

/// One entry holds any number of functions, and the vendor's own tools by name.
fn read_tool(mut fields: Object<'_>, place: Place<'_>, request: &mut Request) -> Result<(), ApiError> {
    if let Some(taken) = spelling::take(&mut fields, "functionDeclarations") {
        let place = place.field(&taken.name);
        for (index, fields) in json::objects(taken.raw, place)?.into_iter().enumerate() {
            let tool = function(fields, place.index(index), &mut request.extra)?;
            request.tools.push(tool);
        }
    }
    for (name, raw) in fields.rest() {
        if !raw.is_object() {
            return Err(place.field(&name).expected("object"));
        }
        let kind = spelling::camel(&name);
        let text = format!("{{{}:{}}}", serde_json::Value::from(kind.as_str()), raw.get());
        let Some(raw) = Raw::new(text) else { continue };
        request.tools.push(Tool::Vendor { dialect: Dialect::Gemini, kind, raw });
    }
    Ok(())
}

fn function(mut fields: Object<'_>, place: Place<'_>, unplaced: &mut Fields) -> Result<Tool, ApiError> {
    let name = fields.take("name").ok_or_else(|| place.field("name").expected("string"))?;
    let name = json::string(name, place.field("name"))?;
    let description =
        fields.take("description").map(|raw| json::string(raw, place.field("description"))).transpose()?;
    let object = |taken: Taken<'_>| {
        let is_object = taken.raw.is_object();
        is_object.then(|| Raw::from(taken.raw)).ok_or_else(|| place.field(&taken.name).expected("object"))
    };
    let own = spelling::take(&mut fields, "parameters").map(object).transpose()?;
    let plain = spelling::take(&mut fields, "parametersJsonSchema").map(object).transpose()?;
    let parameters = match (plain, own) {
        (Some(raw), _) => Some(raw),
        (None, Some(raw)) => Some(schema::standard(&raw)),
        (None, None) => None,
    };
    unplaced.extend(fields.rest().map(|(name, raw)| (place.field(&name).to_string(), raw.into())));
    Ok(Tool::Function { name, namespace: None, description, parameters, strict: None, cache: None })
}

fn choice(
    taken: &Taken<'_>,
    place: Place<'_>,
    unplaced: &mut Fields,
) -> Result<Option<ToolChoice>, ApiError> {
    let place = place.field(&taken.name);
    let mut fields = Object::read(taken.raw, place)?;
    let mode = fields.take("mode").map(|raw| mode(raw, place.field("mode"))).transpose()?;
    let names = spelling::take(&mut fields, "allowedFunctionNames");
    let names = names.map(|taken| json::strings(taken.raw, place.field(&taken.name))).transpose()?;
    unplaced.extend(fields.rest().map(|(name, raw)| (place.field(&name).to_string(), raw.into())));
    let mut tools: Vec<ToolRef> =
        names.unwrap_or_default().into_iter().map(|name| ToolRef { name, namespace: None }).collect();
    Ok(match (mode, tools.len()) {
        (None, _) => None,
        (Some(Mode::None), _) => Some(ToolChoice::None),
        (Some(Mode::Auto), 0) => Some(ToolChoice::Auto),
        (Some(Mode::Auto), _) => Some(ToolChoice::Allowed { mode: ToolMode::Auto, tools }),
        (Some(Mode::Any), 0) => Some(ToolChoice::Required),
        (Some(Mode::Any), 1) => tools.pop().map(ToolChoice::Named),
        (Some(Mode::Any), _) => Some(ToolChoice::Allowed { mode: ToolMode::Required, tools }),
    })
}

enum Mode {
    /// `VALIDATED` too: the model chooses freely and its calls are held to their schemas.
    Auto,
    Any,
    None,
}

fn mode(raw: Found<'_>, place: Place<'_>) -> Result<Mode, ApiError> {
    match json::string(raw, place)?.to_ascii_uppercase().as_str() {
        "AUTO" | "VALIDATED" | "MODE_UNSPECIFIED" | "" => Ok(Mode::Auto),
        "ANY" => Ok(Mode::Any),
        "NONE" => Ok(Mode::None),
        _ => Err(place.expected("AUTO, ANY, NONE or VALIDATED")),
    }
}
