//! The agents: how each is started, what it needs to be told, and which of its tools the errand takes.

use std::{collections::BTreeMap, fs, sync::Arc};

use bench_tests::{
    process::repository,
    upstream::{Call, Input},
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

/// Every agent. One that is `like` another has what it does not say itself from that one.
pub fn all() -> Arc<Vec<Agent>> {
    let file = repository().join("tests/agents/agents.json");
    let all: Value = serde_json::from_str(&fs::read_to_string(file).expect("agents.json")).expect("JSON");
    let agents = all.as_object().expect("agents by name").iter();
    Arc::new(
        agents
            .map(|(name, said)| {
                let like = said["like"].as_str().map_or(&Value::Null, |like| &all[like]);
                Agent::read(name, |field| said.get(field).unwrap_or(&like[field]))
            })
            .collect(),
    )
}

impl Agent {
    fn read<'a>(name: &str, field: impl Fn(&str) -> &'a Value) -> Agent {
        let texts = |value: &Value| value.as_object().into_iter().flatten().map(pair).collect();
        Agent {
            name: name.to_owned(),
            command: list(field("command")),
            environment: texts(field("environment")),
            files: texts(field("files")),
            steps: field("steps").as_array().expect("steps").iter().map(step).collect(),
        }
    }

    /// With every `{name}` of these replaced.
    pub fn filled(&self, names: &[(&str, &str)]) -> Agent {
        let fill = |text: &str| fill(text, names);
        let fill_all = |texts: &BTreeMap<String, String>| {
            texts.iter().map(|(name, text)| (name.clone(), fill(text))).collect()
        };
        Agent {
            command: self.command.iter().map(|text| fill(text)).collect(),
            environment: fill_all(&self.environment),
            files: fill_all(&self.files),
            steps: self.steps.iter().map(|step| filled(step, &fill)).collect(),
            ..self.clone()
        }
    }
}

fn pair((name, value): (&String, &Value)) -> (String, String) {
    let text = match value {
        Value::String(text) => text.clone(),
        lines => list(lines).join("\n"),
    };
    (name.clone(), text)
}

fn list(value: &Value) -> Vec<String> {
    let text = |value: &Value| value.as_str().expect("a text").to_owned();
    value.as_array().expect("a list of texts").iter().map(text).collect()
}

fn step(said: &Value) -> Call {
    let input = match said["text"].as_str() {
        Some(text) => Input::Text(text.to_owned()),
        None => Input::Arguments(said["arguments"].clone()),
    };
    Call { tool: said["tool"].as_str().expect("a tool").to_owned(), input }
}

fn filled(step: &Call, fill: &impl Fn(&str) -> String) -> Call {
    fn each(value: &Value, fill: &impl Fn(&str) -> String) -> Value {
        match value {
            Value::String(text) => fill(text).into(),
            Value::Array(values) => values.iter().map(|value| each(value, fill)).collect(),
            Value::Object(fields) => {
                fields.iter().map(|(name, value)| (name.clone(), each(value, fill))).collect()
            }
            other => other.clone(),
        }
    }
    let input = match &step.input {
        Input::Arguments(arguments) => Input::Arguments(each(arguments, fill)),
        Input::Text(text) => Input::Text(fill(text)),
    };
    Call { tool: step.tool.clone(), input }
}

fn fill(text: &str, names: &[(&str, &str)]) -> String {
    names.iter().fold(text.to_owned(), |text, (name, value)| text.replace(&format!("{{{name}}}"), value))
}
