//! The agents: how each is started, what it needs to be told, and which of its tools the errand takes.

use std::{collections::BTreeMap, fs};

use bench_tests::{
    process::repository,
    upstream::{Api, Call, Input},
};
use serde_json::Value;

/// One of `agents.json`. Its texts have `{names}` in them that [`Agent::filled`] replaces.
#[derive(Clone, Debug)]
pub struct Agent {
    pub name: String,
    pub command: Vec<String>,
    pub environment: BTreeMap<String, String>,
    /// By their path in its home.
    pub files: BTreeMap<String, String>,
    pub steps: Vec<Call>,
}

/// An agent, and the dialect of the members it runs over.
pub type Case = (Agent, Api);

/// Every agent over every dialect, or those it names. One that is `like` another has what it does not say itself
/// from that one.
pub fn cases() -> Vec<Case> {
    let file = repository().join("tests/agents/agents.json");
    let all: Value = serde_json::from_str(&fs::read_to_string(file).expect("agents.json")).expect("JSON");
    let agents = all.as_object().expect("agents by name").iter();
    agents
        .flat_map(|(name, said)| {
            let like = said["like"].as_str().map_or(&Value::Null, |like| &all[like]);
            let agent = read(name, |field| said.get(field).unwrap_or(&like[field]));
            let over = said["over"].as_array();
            let tried = move |api: &Api| over.is_none_or(|over| over.iter().any(|name| name == api.name()));
            Api::ALL.into_iter().filter(tried).map(move |api| (agent.clone(), api))
        })
        .collect()
}

fn read<'a>(name: &str, field: impl Fn(&str) -> &'a Value) -> Agent {
    let texts = |value: &Value| value.as_object().into_iter().flatten().map(named_text).collect();
    Agent {
        name: name.to_owned(),
        command: texts_of(field("command")),
        environment: texts(field("environment")),
        files: texts(field("files")),
        steps: field("steps").as_array().expect("steps").iter().map(step).collect(),
    }
}

/// A text may be given as its lines.
fn named_text((name, value): (&String, &Value)) -> (String, String) {
    let text = value.as_str().map_or_else(|| texts_of(value).join("\n"), str::to_owned);
    (name.clone(), text)
}

fn texts_of(list: &Value) -> Vec<String> {
    let text = |value: &Value| value.as_str().expect("a text").to_owned();
    list.as_array().expect("a list of texts").iter().map(text).collect()
}

fn step(said: &Value) -> Call {
    let input = match said["text"].as_str() {
        Some(text) => Input::Text(text.to_owned()),
        None => Input::Arguments(said["arguments"].clone()),
    };
    Call { tool: said["tool"].as_str().expect("a tool").to_owned(), input }
}

impl Agent {
    /// With every `{name}` of these replaced.
    pub fn filled(&self, names: &[(&str, &str)]) -> Agent {
        let fill = |text: &str| {
            names
                .iter()
                .fold(text.to_owned(), |text, (name, value)| text.replace(&format!("{{{name}}}"), value))
        };
        let fill_named = |texts: &BTreeMap<String, String>| {
            texts.iter().map(|(name, text)| (name.clone(), fill(text))).collect()
        };
        let fill_step = |step: &Call| {
            let input = match &step.input {
                Input::Arguments(arguments) => Input::Arguments(filled(arguments, &fill)),
                Input::Text(text) => Input::Text(fill(text)),
            };
            Call { tool: step.tool.clone(), input }
        };
        Agent {
            name: self.name.clone(),
            command: self.command.iter().map(|text| fill(text)).collect(),
            environment: fill_named(&self.environment),
            files: fill_named(&self.files),
            steps: self.steps.iter().map(fill_step).collect(),
        }
    }
}

fn filled(value: &Value, fill: &impl Fn(&str) -> String) -> Value {
    match value {
        Value::String(text) => fill(text).into(),
        Value::Array(values) => values.iter().map(|value| filled(value, fill)).collect(),
        Value::Object(fields) => {
            fields.iter().map(|(name, value)| (name.clone(), filled(value, fill))).collect()
        }
        other => other.clone(),
    }
}
