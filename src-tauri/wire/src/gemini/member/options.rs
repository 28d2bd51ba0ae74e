//! The owner's default options, and over them the caller's. What is no field of the body is one of
//! `generationConfig`.

use std::borrow::Cow;

use serde_json::{Map, Value, json};

use super::{is_field, node::Node};
use crate::{
    gemini::options::SAMPLING,
    model::{Request, StructuredOutput, Target, ThinkingMode},
    notice::Notice,
    raw::Raw,
    relay::owners::Home,
};

/// Body fields the gateway sets itself.
const OURS: [&str; 5] = ["model", "contents", "systemInstruction", "tools", "toolConfig"];

/// Body fields that an owner may set.
const OWNERS: [&str; 5] = ["safetySettings", "cachedContent", "labels", "serviceTier", "store"];

pub(super) const HOME: Home = Home {
    ours: &OURS,
    within: Some(("generationConfig", &OWNERS)),
    joined: &["generationConfig", "thinkingConfig"],
    either: &[["thinkingBudget", "thinkingLevel"]],
    is_one: |name, known| is_field(name, known) || is_field(known, name),
};

/// The owner's options for a body whose caller speaks this API too. Thinking that one of the two turns off is not joined
/// with what the other says of it: thoughts cannot be told where there are none.
pub(super) fn beside<'o>(request: &Request, options: &'o Map<String, Value>) -> Cow<'o, Map<String, Value>> {
    let is_off = |thinking: &Value| {
        let budget =
            thinking.as_object().into_iter().flatten().find(|(name, _)| is_field(name, "thinkingBudget"));
        budget.is_some_and(|(_, tokens)| tokens.as_u64() == Some(0))
    };
    let mode = request.reasoning.as_mode();
    let callers_is_off = mode == Some(ThinkingMode::Off);
    let callers_is_on =
        !callers_is_off && (mode.is_some() || request.reasoning.summary.as_deref() == Some("auto"));
    let stands = |name: &str, value: &Value| {
        !is_field(name, "thinkingConfig") || !(callers_is_off || (callers_is_on && is_off(value)))
    };
    let mut options = Cow::Borrowed(options);
    if callers_is_off || callers_is_on {
        let own = options.to_mut();
        own.retain(|name, value| stands(name, value));
        let configs = own.iter_mut().filter(|(name, _)| is_field(name, "generationConfig"));
        let fields = configs.filter_map(|(_, config)| config.as_object_mut());
        fields.for_each(|fields| fields.retain(|name, value| stands(name, value)));
    }
    options
}

/// The most tokens of thought that every model that counts them takes.
const MOST_THOUGHT: u64 = 24_576;

type Fields<'a> = Vec<(&'a str, Node<'a>)>;

pub(super) fn write<'a>(
    request: &'a Request,
    target: &'a Target,
    callers: bool,
    body: &mut Fields<'a>,
    notices: &mut Vec<Notice>,
) {
    let mut config = Vec::new();
    for (name, value) in &target.options {
        let value_node = || Node::Value(Cow::Borrowed(value));
        if OURS.iter().any(|ours| is_field(name, ours)) {
            notices.push(Notice::new(format!("options.{name}"), "set by the gateway"));
        } else if is_field(name, "generationConfig") {
            let fields = value.as_object().into_iter().flatten();
            fields.for_each(|(name, value)| set(&mut config, name, Node::Value(Cow::Borrowed(value))));
        } else if OWNERS.iter().any(|owners| is_field(name, owners)) {
            body.push((name, value_node()));
        } else {
            set(&mut config, name, value_node());
        }
    }
    if callers {
        of_caller(request, &mut config, notices);
    }
    if !config.is_empty() {
        body.push(("generationConfig", Node::Object(config)));
    }
}

fn of_caller<'a>(request: &'a Request, config: &mut Fields<'a>, notices: &mut Vec<Notice>) {
    for (name, raw) in &request.sampling.fields {
        let Some((google, _)) = SAMPLING.iter().find(|(_, known)| known == name) else {
            notices.push(Notice::new(request.spelling(name), "not sent to members"));
            continue;
        };
        let is_one = *google == "stopSequences" && raw.get().starts_with('"');
        let value = if is_one { json!([raw.value()]).into() } else { Node::Raw(Cow::Borrowed(raw)) };
        set(config, google, value);
    }
    if let Some(budget) = request.max_output {
        set(config, "maxOutputTokens", json!(budget).into());
    }
    match &request.structured_output {
        None => {}
        Some(StructuredOutput::Object) => set(config, "responseMimeType", "application/json".into()),
        Some(StructuredOutput::Schema { schema, .. }) => {
            remove(config, "responseSchema");
            set(config, "responseMimeType", "application/json".into());
            set(config, "responseJsonSchema", Node::Raw(Cow::Borrowed(schema)));
        }
        Some(StructuredOutput::Vendor { raw, .. }) => vendor(raw, config),
    }
    if let Some(thinking) = thinking(request, notices) {
        set(config, "thinkingConfig", thinking.into());
    }
}

fn vendor(raw: &Raw, config: &mut Fields<'_>) {
    let mut value = raw.value();
    for name in ["responseMimeType", "responseSchema"] {
        if let Some(value) = value.get_mut(name) {
            set(config, name, value.take().into());
        }
    }
}

/// In tokens: newer models take them as well as levels, older ones take nothing else.
fn thinking(request: &Request, notices: &mut Vec<Notice>) -> Option<Value> {
    let reasoning = &request.reasoning;
    if reasoning.is_empty() {
        return None;
    }
    let told = reasoning.summary.as_deref() != Some("none");
    let budget = match reasoning.as_mode() {
        None => return Some(json!({ "includeThoughts": told })),
        Some(ThinkingMode::Off) => return Some(json!({ "thinkingBudget": 0 })),
        Some(ThinkingMode::On | ThinkingMode::Adaptive) => -1,
        Some(ThinkingMode::Budget(tokens)) => {
            if tokens > MOST_THOUGHT {
                let field = request.spelling("reasoning");
                notices.push(Notice::new(
                    field,
                    format!("cut from {tokens} to {MOST_THOUGHT} tokens of thought"),
                ));
            }
            i64::try_from(tokens.min(MOST_THOUGHT)).unwrap_or(-1)
        }
    };
    Some(json!({ "includeThoughts": told, "thinkingBudget": budget }))
}

fn set<'a>(fields: &mut Fields<'a>, name: &'a str, value: Node<'a>) {
    match fields.iter_mut().find(|(known, _)| *known == name || is_field(known, name)) {
        Some((_, old)) => *old = value,
        None => fields.push((name, value)),
    }
}

fn remove(fields: &mut Fields<'_>, name: &str) {
    fields.retain(|(known, _)| !is_field(known, name));
}
