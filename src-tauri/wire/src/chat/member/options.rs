//! The owner's default options, and over them the caller's.

use serde::{Serialize, Serializer, ser::SerializeMap};
use serde_json::Value;

use super::OURS;
use crate::{
    model::{Request, StructuredOutput, Target},
    notice::Notice,
    raw::Raw,
    relay::bend::{BUDGETS, SAMPLING},
};

/// An option as its owner or its caller wrote it.
pub(super) enum Opt<'a> {
    Owner(&'a Value),
    Raw(&'a Raw),
    Structured(&'a StructuredOutput),
    Number(u64),
    Text(&'a str),
}

impl Serialize for Opt<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Opt::Owner(value) => value.serialize(serializer),
            Opt::Raw(raw) => raw.serialize(serializer),
            Opt::Structured(output) => response_format(output, serializer),
            Opt::Number(number) => number.serialize(serializer),
            Opt::Text(text) => text.serialize(serializer),
        }
    }
}

/// The owner's default options, and over them the caller's when it asked for that.
pub(super) fn merged<'a>(
    request: &'a Request,
    target: &'a Target,
    callers: bool,
    notices: &mut Vec<Notice>,
) -> Vec<(&'a str, Opt<'a>)> {
    let mut options: Vec<(&str, Opt<'_>)> = target
        .options
        .iter()
        .filter(|(name, _)| !OURS.contains(&name.as_str()))
        .map(|(name, value)| (owners_name(name, target), Opt::Owner(value)))
        .collect();
    if !callers {
        return options;
    }
    for (name, raw) in &request.sampling.fields {
        if target.quirks.own_sampling && SAMPLING.contains(&name.as_str()) {
            notices.push(Notice::new(request.spelling(name), "this model samples as it likes"));
            continue;
        }
        set(&mut options, name, Opt::Raw(raw));
    }
    if let Some(budget) = request.max_output {
        set(&mut options, budget_field(request, target), Opt::Number(budget));
    }
    if let Some(output) = &request.structured_output {
        set(&mut options, "response_format", Opt::Structured(output));
    }
    if let Some(effort) = request.reasoning.as_effort() {
        set(&mut options, "reasoning_effort", Opt::Text(effort));
    }
    options
}

fn set<'a>(options: &mut Vec<(&'a str, Opt<'a>)>, name: &'a str, value: Opt<'a>) {
    match options.iter_mut().find(|(known, _)| *known == name) {
        Some((_, old)) => *old = value,
        None => options.push((name, value)),
    }
}

/// The one the member wants, then the owner's spelling where there is one, then the caller's, then the older, which
/// nearly every server takes.
fn budget_field(request: &Request, target: &Target) -> &'static str {
    let wanted = match (target.quirks.completion_budget, target.quirks.plain_budget) {
        (true, _) => Some(BUDGETS[0]),
        (false, true) => Some(BUDGETS[1]),
        (false, false) => None,
    };
    let owners = || BUDGETS.into_iter().find(|name| target.options.contains_key(*name));
    let callers = || BUDGETS.into_iter().find(|name| request.spelling("max_output") == *name);
    wanted.or_else(owners).or_else(callers).unwrap_or(BUDGETS[1])
}

/// A budget goes by the name the member takes, whoever set it.
fn owners_name<'a>(name: &'a str, target: &Target) -> &'a str {
    match (target.quirks.completion_budget, target.quirks.plain_budget) {
        (true, _) if name == BUDGETS[1] => BUDGETS[0],
        (false, true) if name == BUDGETS[0] => BUDGETS[1],
        _ => name,
    }
}

fn response_format<S: Serializer>(output: &StructuredOutput, serializer: S) -> Result<S::Ok, S::Error> {
    let (name, description, schema, strict) = match output {
        StructuredOutput::Vendor { raw, .. } => return raw.serialize(serializer),
        StructuredOutput::Object => {
            let mut format = serializer.serialize_map(Some(1))?;
            format.serialize_entry("type", "json_object")?;
            return format.end();
        }
        StructuredOutput::Schema { name, description, schema, strict } => (name, description, schema, strict),
    };
    let schema = JsonSchema {
        name: name.as_deref().unwrap_or("response"),
        description: description.as_deref(),
        schema,
        strict: *strict,
    };
    let mut format = serializer.serialize_map(Some(2))?;
    format.serialize_entry("type", "json_schema")?;
    format.serialize_entry("json_schema", &schema)?;
    format.end()
}

#[derive(Serialize)]
struct JsonSchema<'a> {
    name: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    description: Option<&'a str>,
    schema: &'a Raw,
    #[serde(skip_serializing_if = "Option::is_none")]
    strict: Option<bool>,
}
