//! The owner's default options, and over them the caller's.

use serde::{Serialize, Serializer, ser::SerializeMap};
use serde_json::Value;

use super::{
    super::options::{BUDGET, SAMPLING},
    structured_notices,
};
use crate::{
    model::{Reasoning, Request, StructuredOutput, Target, ThinkingMode},
    notice::Notice,
    raw::Raw,
    relay::owners::Home,
};

/// Body fields the gateway sets itself: an owner's default option never takes their place.
const OURS: [&str; 7] = ["model", "messages", "prompt", "system", "images", "tools", "stream"];

/// What an owner may set beside `options`. Every other name of an owner's is one of the `options`.
const BESIDE: [&str; 7] = ["think", "format", "keep_alive", "truncate", "shift", "logprobs", "top_logprobs"];

pub(super) const HOME: Home =
    Home { ours: &OURS, within: Some(("options", &BESIDE)), joined: &["options"], ..Home::BODY };

/// What shapes the answer: fields of the body, and `options`.
#[derive(Default)]
pub(super) struct Settings<'a> {
    beside: Vec<(&'a str, Opt<'a>)>,
    options: Vec<(&'a str, Opt<'a>)>,
}

/// An option as its owner or its caller wrote it.
enum Opt<'a> {
    Owner(&'a Value),
    Raw(&'a Raw),
    /// One stop text, where the dialect wants a list.
    ListOf(&'a Raw),
    Number(u64),
    Text(&'static str),
    Bool(bool),
}

impl Settings<'_> {
    pub fn write<M: SerializeMap>(&self, body: &mut M) -> Result<(), M::Error> {
        for (name, value) in &self.beside {
            body.serialize_entry(name, value)?;
        }
        if !self.options.is_empty() {
            body.serialize_entry("options", &Map(&self.options))?;
        }
        Ok(())
    }
}

pub(super) fn merged<'a>(
    request: &'a Request,
    target: &'a Target,
    callers: bool,
    notices: &mut Vec<Notice>,
) -> Settings<'a> {
    let mut settings = Settings::default();
    for (name, value) in &target.options {
        match value.as_object().filter(|_| name == "options") {
            Some(options) => {
                let options = options.iter().map(|(name, value)| (name.as_str(), Opt::Owner(value)));
                options.for_each(|(name, value)| set(&mut settings.options, name, value));
            }
            None if OURS.contains(&name.as_str()) || name == "options" => {
                notices.push(Notice::new(format!("options.{name}"), "set by the gateway"));
            }
            None if BESIDE.contains(&name.as_str()) => set(&mut settings.beside, name, Opt::Owner(value)),
            None => set(&mut settings.options, name, Opt::Owner(value)),
        }
    }
    if callers {
        over(request, &mut settings, notices);
    }
    settings
}

/// The caller's options over the owner's.
fn over<'a>(request: &'a Request, settings: &mut Settings<'a>, notices: &mut Vec<Notice>) {
    for (name, raw) in &request.sampling.fields {
        match name.as_str() {
            "stop" if raw.get().starts_with('"') => set(&mut settings.options, name, Opt::ListOf(raw)),
            name if SAMPLING.contains(&name) => set(&mut settings.options, name, Opt::Raw(raw)),
            // The same by another name.
            "repetition_penalty" if request.sampling.get("repeat_penalty").is_none() => {
                set(&mut settings.options, "repeat_penalty", Opt::Raw(raw));
            }
            "logprobs" | "top_logprobs" => set(&mut settings.beside, name, Opt::Raw(raw)),
            _ => notices.push(Notice::new(request.spelling(name), "this API has no such option")),
        }
    }
    if let Some(budget) = request.max_output {
        set(&mut settings.options, BUDGET, Opt::Number(budget));
    }
    match &request.structured_output {
        Some(StructuredOutput::Object) => set(&mut settings.beside, "format", Opt::Text("json")),
        Some(StructuredOutput::Schema { schema: raw, .. } | StructuredOutput::Vendor { raw, .. }) => {
            set(&mut settings.beside, "format", Opt::Raw(raw));
        }
        None => {}
    }
    structured_notices(request, notices);
    if let Some(think) = think(&request.reasoning) {
        let nearest = match (&request.reasoning.effort, &think) {
            (Some(asked), Opt::Text(given)) if asked != given => {
                Some(format!("{given} is the nearest this API has"))
            }
            (Some(_), Opt::Bool(true)) => Some("sent as true: this API has no such level".to_owned()),
            _ => None,
        };
        notices.extend(nearest.map(|words| Notice::new(request.spelling("reasoning"), words)));
        set(&mut settings.beside, "think", think);
    }
}

/// A level, or only whether to think.
fn think(reasoning: &Reasoning) -> Option<Opt<'static>> {
    match (reasoning.as_effort(), reasoning.mode) {
        (Some("none"), _) => Some(Opt::Bool(false)),
        (Some("minimal" | "low"), _) => Some(Opt::Text("low")),
        (Some("medium"), _) => Some(Opt::Text("medium")),
        (Some("high" | "xhigh"), _) => Some(Opt::Text("high")),
        (Some("max"), _) => Some(Opt::Text("max")),
        (Some(_), _) | (None, Some(ThinkingMode::On | ThinkingMode::Adaptive)) => Some(Opt::Bool(true)),
        (None, _) => None,
    }
}

fn set<'a>(options: &mut Vec<(&'a str, Opt<'a>)>, name: &'a str, value: Opt<'a>) {
    match options.iter_mut().find(|(known, _)| *known == name) {
        Some((_, old)) => *old = value,
        None => options.push((name, value)),
    }
}

struct Map<'a>(&'a [(&'a str, Opt<'a>)]);

impl Serialize for Map<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(name, value)| (name, value)))
    }
}

impl Serialize for Opt<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Opt::Owner(value) => value.serialize(serializer),
            Opt::Raw(raw) => raw.serialize(serializer),
            Opt::ListOf(raw) => [raw].serialize(serializer),
            Opt::Number(number) => number.serialize(serializer),
            Opt::Text(text) => text.serialize(serializer),
            Opt::Bool(value) => value.serialize(serializer),
        }
    }
}
