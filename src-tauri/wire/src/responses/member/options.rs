//! The owner's default options, and over them the caller's.

use serde::{Serialize, Serializer, ser::SerializeMap};
use serde_json::{Map, Value, json};

use super::OURS;
use crate::{
    model::{Request, StructuredOutput, Target, ThinkingMode},
    notice::Notice,
    raw::Raw,
};

/// Sampling that the API takes; everything else of chat's is refused by it.
const TAKEN: [&str; 3] = ["temperature", "top_p", "top_logprobs"];

/// The least budget the API takes.
const LEAST: u64 = 16;

/// An option as its owner or its caller wrote it.
pub(super) enum Opt<'a> {
    Owner(&'a Value),
    Value(Value),
    Raw(&'a Raw),
    Text(Text<'a>),
}

/// The `text` object: the owner's, and over it the caller's form and verbosity.
pub(super) struct Text<'a> {
    owners: Option<&'a Map<String, Value>>,
    format: Option<&'a StructuredOutput>,
    verbosity: Option<&'a Raw>,
}

impl Serialize for Opt<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Opt::Owner(value) => value.serialize(serializer),
            Opt::Value(value) => value.serialize(serializer),
            Opt::Raw(raw) => raw.serialize(serializer),
            Opt::Text(text) => text.serialize(serializer),
        }
    }
}

pub(super) fn merged<'a>(
    request: &'a Request,
    target: &'a Target,
    callers: bool,
    notices: &mut Vec<Notice>,
) -> Vec<(&'a str, Opt<'a>)> {
    // Nothing is kept at a provider: the gateway keeps what is to be kept.
    let mut options: Vec<(&str, Opt<'_>)> = vec![("store", Opt::Value(json!(false)))];
    let owners = target.options.iter().filter(|(name, _)| !OURS.contains(&name.as_str()));
    for (name, value) in owners {
        set(&mut options, name, Opt::Owner(value));
    }
    if callers {
        of_caller(request, target, &mut options, notices);
    }
    // What is not kept there must be sent back to be known, and only models that reason can be asked for it.
    if options.iter().any(|(name, _)| *name == "reasoning")
        && !options.iter().any(|(name, _)| *name == "include")
    {
        options.push(("include", Opt::Value(json!(["reasoning.encrypted_content"]))));
    }
    options
}

fn of_caller<'a>(
    request: &'a Request,
    target: &'a Target,
    options: &mut Vec<(&'a str, Opt<'a>)>,
    notices: &mut Vec<Notice>,
) {
    for (name, raw) in &request.sampling.fields {
        if TAKEN.contains(&name.as_str()) && target.quirks.own_sampling {
            notices.push(Notice::new(request.spelling(name), "this model samples as it likes"));
        } else if TAKEN.contains(&name.as_str()) {
            set(options, name, Opt::Raw(raw));
        } else if name != "verbosity" {
            notices.push(Notice::new(request.spelling(name), "not taken by the Responses API"));
        }
    }
    if let Some(budget) = request.max_output {
        if budget < LEAST {
            let field = request.spelling("max_output");
            notices.push(Notice::new(field, format!("raised from {budget} to {LEAST}, the least it takes")));
        }
        set(options, "max_output_tokens", Opt::Value(json!(budget.max(LEAST))));
    }
    let (format, verbosity) = (request.structured_output.as_ref(), request.sampling.get("verbosity"));
    if format.is_some() || verbosity.is_some() {
        let owners = target.options.get("text").and_then(Value::as_object);
        set(options, "text", Opt::Text(Text { owners, format, verbosity }));
    }
    let mut reasoning = Map::new();
    if let Some(effort) = request.reasoning.as_effort() {
        reasoning.insert("effort".to_owned(), json!(effort));
    }
    // A caller whose API shows thinking asks for it by turning it on.
    let shown = matches!(
        request.reasoning.mode,
        Some(ThinkingMode::On | ThinkingMode::Adaptive | ThinkingMode::Budget(1..))
    );
    if let Some(summary) = request.reasoning.summary.as_deref().or(shown.then_some("auto")) {
        reasoning.insert("summary".to_owned(), json!(summary));
    }
    if !reasoning.is_empty() {
        let mut merged = target.options.get("reasoning").and_then(Value::as_object).cloned();
        merged.get_or_insert_default().extend(reasoning);
        set(options, "reasoning", Opt::Value(json!(merged)));
    }
}

fn set<'a>(options: &mut Vec<(&'a str, Opt<'a>)>, name: &'a str, value: Opt<'a>) {
    match options.iter_mut().find(|(known, _)| *known == name) {
        Some((_, old)) => *old = value,
        None => options.push((name, value)),
    }
}

impl Serialize for Text<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut text = serializer.serialize_map(None)?;
        for (name, value) in self.owners.into_iter().flatten() {
            let is_over = match name.as_str() {
                "format" => self.format.is_some(),
                "verbosity" => self.verbosity.is_some(),
                _ => false,
            };
            if !is_over {
                text.serialize_entry(name, value)?;
            }
        }
        match self.format {
            None => {}
            Some(StructuredOutput::Vendor { raw, .. }) => text.serialize_entry("format", raw)?,
            Some(StructuredOutput::Object) => {
                text.serialize_entry("format", &json!({ "type": "json_object" }))?;
            }
            Some(StructuredOutput::Schema { name, description, schema, strict }) => {
                let format = JsonSchema {
                    kind: "json_schema",
                    name: name.as_deref().unwrap_or("response"),
                    description: description.as_deref(),
                    schema,
                    strict: *strict,
                };
                text.serialize_entry("format", &format)?;
            }
        }
        if let Some(verbosity) = self.verbosity {
            text.serialize_entry("verbosity", verbosity)?;
        }
        text.end()
    }
}

#[derive(Serialize)]
struct JsonSchema<'a> {
    #[serde(rename = "type")]
    kind: &'static str,
    name: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    description: Option<&'a str>,
    schema: &'a Raw,
    #[serde(skip_serializing_if = "Option::is_none")]
    strict: Option<bool>,
}
