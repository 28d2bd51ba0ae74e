//! Tools as every API has them: what a request declares, calls and answers, and how a reply asks for one. Each
//! API's own words are in its file.

mod anthropic;
mod chat;
mod gemini;
mod ollama;
mod responses;

use serde_json::Value;

use super::{Api, Reply};

/// A request of a conversation with tools, whatever API it is in.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Turn {
    pub declared: Vec<Declared>,
    /// What the person said, a text each, the agent's own words for the model among it.
    pub said: Vec<String>,
    /// What tools answered, as text, in their order.
    pub results: Vec<String>,
}

/// A tool that the request declares.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Declared {
    pub name: String,
    /// Takes bare text instead of arguments.
    pub free_form: bool,
    /// The names of its parameters.
    pub parameters: Vec<String>,
}

/// A tool to be called.
#[derive(Clone, Debug, PartialEq)]
pub struct Call {
    pub tool: String,
    pub input: Input,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Input {
    /// A JSON object.
    Arguments(Value),
    /// What a free-form tool takes.
    Text(String),
}

impl Turn {
    pub fn declares(&self, tool: &str) -> Option<&Declared> {
        self.declared.iter().find(|declared| declared.name == tool)
    }
}

impl Call {
    /// The call in the form that the tool is declared in: text for a tool that takes arguments becomes its only one.
    fn as_declared(&self, tool: &Declared) -> Call {
        let input = match (&self.input, tool.free_form, tool.parameters.as_slice()) {
            (Input::Text(text), false, [only]) => {
                Input::Arguments(Value::Object([(only.clone(), text.as_str().into())].into_iter().collect()))
            }
            (Input::Text(_), false, several) => panic!("{} takes {several:?}, no text", tool.name),
            (Input::Arguments(_), true, _) => panic!("{} takes text", tool.name),
            (input, _, _) => input.clone(),
        };
        Call { tool: self.tool.clone(), input }
    }
}

impl Input {
    /// As text: arguments are JSON.
    fn text(&self) -> String {
        match self {
            Input::Arguments(arguments) => arguments.to_string(),
            Input::Text(text) => text.clone(),
        }
    }

    /// As a JSON object, for APIs that have no free-form tools.
    fn arguments(&self) -> &Value {
        match self {
            Input::Arguments(arguments) => arguments,
            Input::Text(text) => panic!("no arguments but text: {text}"),
        }
    }
}

impl Api {
    /// What a request in this API says of tools.
    pub fn turn(self, request: &Value) -> Turn {
        match self {
            Api::Chat => chat::turn(request),
            Api::Responses => responses::turn(request),
            Api::Anthropic => anthropic::turn(request),
            Api::Gemini => gemini::turn(request),
            Api::Ollama => ollama::turn(request),
        }
    }

    /// Streams a call of a tool that `turn` declares, its arguments in pieces where the API has these. It is the
    /// conversation's call after the results it has.
    pub fn calls(self, turn: &Turn, call: &Call) -> Reply {
        let declared = turn.declares(&call.tool).unwrap_or_else(|| panic!("no tool {}", call.tool));
        let call = call.as_declared(declared);
        let id = format!("call_{}", turn.results.len());
        match self {
            Api::Chat => chat::calls(&id, &call),
            Api::Responses => responses::calls(&id, &call),
            Api::Anthropic => anthropic::calls(&id, &call),
            Api::Gemini => gemini::calls(&call),
            Api::Ollama => ollama::calls(&call),
        }
    }
}

/// The items of a list under `field`; none when it is no list.
fn each<'a>(value: &'a Value, field: &str) -> impl Iterator<Item = &'a Value> {
    value[field].as_array().into_iter().flatten()
}

/// A text, or the texts of a list of parts.
fn text(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        Value::Array(parts) => parts.iter().filter_map(|part| part["text"].as_str()).collect(),
        _ => String::new(),
    }
}

/// The tool of this name and JSON schema.
fn function(name: &Value, schema: &Value) -> Declared {
    let parameters = schema["properties"].as_object().into_iter().flatten();
    Declared {
        name: name.as_str().unwrap_or_default().to_owned(),
        free_form: false,
        parameters: parameters.map(|(name, _)| name.clone()).collect(),
    }
}

/// Cut where it hurts: pieces of a few characters.
fn pieces(text: &str) -> Vec<String> {
    text.chars().collect::<Vec<_>>().chunks(17).map(|piece| piece.iter().collect()).collect()
}
