//! An agent in every API that a caller may speak: what it sends.

use bench_tests::{http::Http, upstream::Api};
use http::{Method, Response};
use hyper::body::Incoming;
use serde_json::{Map, Value, json};

use super::heard::{Called, Heard, Part};

/// An API of callers. Two of them have one more form.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Caller {
    Chat,
    Completions,
    Responses,
    Anthropic,
    Ollama,
    Generate,
    Gemini,
    /// Streamed it is one JSON array.
    GeminiArray,
}

/// What is asked, in no API's words.
#[derive(Clone, Debug)]
pub struct Ask {
    pub model: String,
    pub system: Option<String>,
    pub turns: Vec<Turn>,
    pub tools: bool,
    /// Fields of the body, beside or instead of what is there.
    pub more: Map<String, Value>,
    pub headers: Vec<(&'static str, String)>,
}

#[derive(Clone, Debug)]
pub enum Turn {
    User(String),
    /// With a picture ([`PIXEL`]).
    Picture(String),
    Assistant(Vec<Part>),
    /// Of the call with this id and name; a picture with it where the API can.
    Result {
        id: String,
        name: String,
        text: String,
        picture: bool,
    },
}

/// A GIF of one pixel, base64.
pub const PIXEL: &str = "R0lGODlhAQABAAAAACH5BAEKAAEALAAAAAABAAEAAAICTAEAOw==";

impl Ask {
    pub fn of(text: &str) -> Ask {
        Ask {
            model: "bench/core:route".into(),
            system: None,
            turns: vec![Turn::User(text.into())],
            tools: false,
            more: Map::new(),
            headers: Vec::new(),
        }
    }

    pub fn model(mut self, model: &str) -> Ask {
        self.model = model.into();
        self
    }

    pub fn system(mut self, text: &str) -> Ask {
        self.system = Some(text.into());
        self
    }

    pub fn turn(mut self, turn: Turn) -> Ask {
        self.turns.push(turn);
        self
    }

    /// With the tools `look(at)` and `now()`.
    pub fn tools(mut self) -> Ask {
        self.tools = true;
        self
    }

    pub fn with(mut self, field: &str, value: Value) -> Ask {
        self.more.insert(field.into(), value);
        self
    }

    pub fn header(mut self, name: &'static str, value: &str) -> Ask {
        self.headers.push((name, value.into()));
        self
    }

    /// What was answered, and the next words of the user.
    pub fn then(self, heard: &Heard, text: &str) -> Ask {
        self.turn(Turn::Assistant(heard.parts.clone())).turn(Turn::User(text.into()))
    }

    fn text(&self) -> String {
        let texts = self.turns.iter().filter_map(|turn| match turn {
            Turn::User(text) | Turn::Picture(text) => Some(text.as_str()),
            _ => None,
        });
        texts.collect::<Vec<_>>().join("\n")
    }
}

impl Caller {
    pub const ALL: [Caller; 8] = [
        Caller::Chat,
        Caller::Completions,
        Caller::Responses,
        Caller::Anthropic,
        Caller::Ollama,
        Caller::Generate,
        Caller::Gemini,
        Caller::GeminiArray,
    ];
    /// Those that have turns and tools.
    pub const AGENTS: [Caller; 5] =
        [Caller::Chat, Caller::Responses, Caller::Anthropic, Caller::Ollama, Caller::Gemini];

    /// The dialect of members that it is relayed to.
    pub fn own(self) -> Option<Api> {
        match self {
            Caller::Chat => Some(Api::Chat),
            Caller::Responses => Some(Api::Responses),
            Caller::Anthropic => Some(Api::Anthropic),
            Caller::Ollama | Caller::Generate => Some(Api::Ollama),
            Caller::Gemini | Caller::GeminiArray => Some(Api::Gemini),
            Caller::Completions => None,
        }
    }

    pub fn is_gemini(self) -> bool {
        matches!(self, Caller::Gemini | Caller::GeminiArray)
    }

    /// Asks, and reads the whole reply.
    pub async fn ask(self, http: &Http, ask: &Ask) -> Heard {
        Heard::read(self, false, self.head(http, ask, false).await).await
    }

    /// Asks for a stream, and reads it to its end.
    pub async fn stream(self, http: &Http, ask: &Ask) -> Heard {
        Heard::read(self, true, self.head(http, ask, true).await).await
    }

    pub async fn either(self, http: &Http, ask: &Ask, stream: bool) -> Heard {
        Heard::read(self, stream, self.head(http, ask, stream).await).await
    }

    /// Asks, and reads no more than the head.
    pub async fn head(self, http: &Http, ask: &Ask, stream: bool) -> Response<Incoming> {
        let mut request =
            http.request(Method::POST, &self.path(ask, stream)).header("content-type", "application/json");
        for (name, value) in &ask.headers {
            request = request.header(*name, value);
        }
        http.head(request, self.body(ask, stream).to_string()).await
    }

    pub fn path(self, ask: &Ask, stream: bool) -> String {
        match self {
            Caller::Chat => "/v1/chat/completions".into(),
            Caller::Completions => "/v1/completions".into(),
            Caller::Responses => "/v1/responses".into(),
            Caller::Anthropic => "/v1/messages".into(),
            Caller::Ollama => "/api/chat".into(),
            Caller::Generate => "/api/generate".into(),
            Caller::Gemini | Caller::GeminiArray => {
                let method = match (stream, self) {
                    (false, _) => "generateContent",
                    (true, Caller::Gemini) => "streamGenerateContent?alt=sse",
                    (true, _) => "streamGenerateContent",
                };
                format!("/v1beta/models/{}:{method}", ask.model)
            }
        }
    }

    pub fn body(self, ask: &Ask, stream: bool) -> Value {
        let mut body = match self {
            Caller::Chat => chat(ask),
            Caller::Completions => json!({"prompt": ask.text()}),
            Caller::Responses => responses(ask),
            Caller::Anthropic => anthropic(ask),
            Caller::Ollama => ollama(ask),
            Caller::Generate => json!({"prompt": ask.text(), "system": ask.system}),
            Caller::Gemini | Caller::GeminiArray => gemini(ask),
        };
        if !self.is_gemini() {
            body["model"] = json!(ask.model);
            body["stream"] = json!(stream);
        }
        for (field, value) in &ask.more {
            body[field] = value.clone();
        }
        body
    }
}

/// The tools of [`Ask::tools`]: name, description, schema.
fn tools() -> [(&'static str, &'static str, Value); 2] {
    let at = json!({"type": "object", "properties": {"at": {"type": "string"}}, "required": ["at"]});
    [("look", "Looks.", at), ("now", "Tells the time.", json!({"type": "object", "properties": {}}))]
}

/// The arguments as JSON.
fn input(call: &Called) -> Value {
    serde_json::from_str(&call.arguments).unwrap_or_else(|_| json!({}))
}

fn set_tools(body: &mut Value, ask: &Ask, each: impl Fn(&str, &str, Value) -> Value) {
    if ask.tools {
        body["tools"] = tools().into_iter().map(|(name, words, schema)| each(name, words, schema)).collect();
    }
}

fn chat(ask: &Ask) -> Value {
    let mut messages: Vec<Value> =
        ask.system.iter().map(|text| json!({"role": "system", "content": text})).collect();
    for turn in &ask.turns {
        messages.push(match turn {
            Turn::User(text) => json!({"role": "user", "content": text}),
            Turn::Picture(text) => json!({"role": "user", "content": [
                {"type": "text", "text": text},
                {"type": "image_url", "image_url": {"url": format!("data:image/gif;base64,{PIXEL}")}},
            ]}),
            Turn::Assistant(parts) => {
                let mut message = json!({"role": "assistant", "content": null});
                let mut calls = Vec::new();
                for part in parts {
                    match part {
                        Part::Thinking { text, .. } => message["reasoning_content"] = json!(text),
                        Part::Text(text) => message["content"] = json!(text),
                        Part::Redacted(_) => panic!("only Messages has them"),
                        Part::Call(call) => calls.push(json!({
                            "id": call.id, "type": "function",
                            "function": {"name": call.name, "arguments": call.arguments},
                        })),
                    }
                }
                if !calls.is_empty() {
                    message["tool_calls"] = json!(calls);
                }
                message
            }
            Turn::Result { id, text, picture, .. } => {
                let content = match picture {
                    false => json!(text),
                    true => json!([
                        {"type": "text", "text": text},
                        {"type": "image_url", "image_url": {"url": format!("data:image/gif;base64,{PIXEL}")}},
                    ]),
                };
                json!({"role": "tool", "tool_call_id": id, "content": content})
            }
        });
    }
    let mut body = json!({"messages": messages});
    set_tools(&mut body, ask, |name, words, schema| {
        let function = json!({"name": name, "description": words, "parameters": schema});
        json!({"type": "function", "function": function})
    });
    body
}

fn responses(ask: &Ask) -> Value {
    let mut input = Vec::new();
    let picture = json!({"type": "input_image", "image_url": format!("data:image/gif;base64,{PIXEL}")});
    for turn in &ask.turns {
        match turn {
            Turn::User(text) => input.push(json!({"role": "user", "content": text})),
            Turn::Picture(text) => input.push(json!({"role": "user", "content": [
                {"type": "input_text", "text": text}, picture,
            ]})),
            Turn::Assistant(parts) => input.extend(parts.iter().map(|part| match part {
                Part::Thinking { text, seal } => json!({
                    "type": "reasoning", "id": "rs_1", "encrypted_content": seal,
                    "summary": [{"type": "summary_text", "text": text}],
                }),
                Part::Redacted(_) => panic!("only Messages has them"),
                Part::Text(text) => json!({"role": "assistant", "content": [
                    {"type": "output_text", "text": text},
                ]}),
                Part::Call(call) if call.custom => json!({
                    "type": "custom_tool_call", "call_id": call.id, "name": call.name,
                    "input": call.arguments,
                }),
                Part::Call(call) => {
                    let mut item = json!({
                        "type": "function_call", "call_id": call.id, "name": call.name,
                        "arguments": call.arguments,
                    });
                    if let Some(namespace) = &call.namespace {
                        item["namespace"] = json!(namespace);
                    }
                    item
                }
            })),
            Turn::Result { id, text, picture: with, .. } => {
                let output = match with {
                    false => json!(text),
                    true => json!([{"type": "input_text", "text": text}, picture]),
                };
                input.push(json!({"type": "function_call_output", "call_id": id, "output": output}));
            }
        }
    }
    let mut body = json!({"input": input});
    if let Some(system) = &ask.system {
        body["instructions"] = json!(system);
    }
    set_tools(
        &mut body,
        ask,
        |name, words, schema| json!({"type": "function", "name": name, "description": words, "parameters": schema, "strict": false}),
    );
    body
}

fn anthropic(ask: &Ask) -> Value {
    let picture =
        json!({"type": "image", "source": {"type": "base64", "media_type": "image/gif", "data": PIXEL}});
    let mut messages: Vec<Value> = Vec::new();
    for turn in &ask.turns {
        let (role, content) = match turn {
            Turn::User(text) => ("user", json!([{"type": "text", "text": text}])),
            Turn::Picture(text) => ("user", json!([{"type": "text", "text": text}, picture])),
            Turn::Assistant(parts) => {
                let blocks = parts.iter().map(|part| match part {
                    Part::Thinking { text, seal } => {
                        json!({"type": "thinking", "thinking": text, "signature": seal})
                    }
                    Part::Redacted(data) => json!({"type": "redacted_thinking", "data": data}),
                    Part::Text(text) => json!({"type": "text", "text": text}),
                    Part::Call(call) => {
                        json!({"type": "tool_use", "id": call.id, "name": call.name, "input": input(call)})
                    }
                });
                ("assistant", blocks.collect())
            }
            Turn::Result { id, text, picture: with, .. } => {
                let content = match with {
                    false => json!(text),
                    true => json!([{"type": "text", "text": text}, picture]),
                };
                ("user", json!([{"type": "tool_result", "tool_use_id": id, "content": content}]))
            }
        };
        // Turns of one role are one turn.
        match messages.last_mut() {
            Some(last) if last["role"] == role => {
                let more = content.as_array().cloned().unwrap_or_default();
                last["content"].as_array_mut().expect("blocks").extend(more);
            }
            _ => messages.push(json!({"role": role, "content": content})),
        }
    }
    let mut body = json!({"max_tokens": 500, "messages": messages});
    if let Some(system) = &ask.system {
        body["system"] = json!(system);
    }
    set_tools(
        &mut body,
        ask,
        |name, words, schema| json!({"name": name, "description": words, "input_schema": schema}),
    );
    body
}

fn ollama(ask: &Ask) -> Value {
    let mut messages: Vec<Value> =
        ask.system.iter().map(|text| json!({"role": "system", "content": text})).collect();
    for turn in &ask.turns {
        messages.push(match turn {
            Turn::User(text) => json!({"role": "user", "content": text}),
            Turn::Picture(text) => json!({"role": "user", "content": text, "images": [PIXEL]}),
            Turn::Assistant(parts) => {
                let mut message = json!({"role": "assistant", "content": ""});
                let mut calls = Vec::new();
                for part in parts {
                    match part {
                        Part::Thinking { text, .. } => message["thinking"] = json!(text),
                        Part::Text(text) => message["content"] = json!(text),
                        Part::Redacted(_) => panic!("only Messages has them"),
                        Part::Call(call) => calls.push(json!({
                            "function": {"name": call.name, "arguments": input(call)},
                        })),
                    }
                }
                if !calls.is_empty() {
                    message["tool_calls"] = json!(calls);
                }
                message
            }
            Turn::Result { name, text, picture, .. } => {
                let mut message = json!({"role": "tool", "tool_name": name, "content": text});
                if *picture {
                    message["images"] = json!([PIXEL]);
                }
                message
            }
        });
    }
    let mut body = json!({"messages": messages});
    set_tools(&mut body, ask, |name, words, schema| {
        let function = json!({"name": name, "description": words, "parameters": schema});
        json!({"type": "function", "function": function})
    });
    body
}

fn gemini(ask: &Ask) -> Value {
    let picture = json!({"inlineData": {"mimeType": "image/gif", "data": PIXEL}});
    let contents: Vec<Value> = ask
        .turns
        .iter()
        .map(|turn| match turn {
            Turn::User(text) => json!({"role": "user", "parts": [{"text": text}]}),
            Turn::Picture(text) => json!({"role": "user", "parts": [{"text": text}, picture]}),
            Turn::Assistant(parts) => {
                let parts = parts.iter().map(|part| match part {
                    Part::Thinking { text, seal } => {
                        let mut part = json!({"text": text, "thought": true});
                        if let Some(seal) = seal {
                            part["thoughtSignature"] = json!(seal);
                        }
                        part
                    }
                    Part::Redacted(_) => panic!("only Messages has them"),
                    Part::Text(text) => json!({"text": text}),
                    Part::Call(call) => {
                        let mut part = json!({"functionCall": {"name": call.name, "args": input(call)}});
                        if let Some(seal) = &call.seal {
                            part["thoughtSignature"] = json!(seal);
                        }
                        part
                    }
                });
                json!({"role": "model", "parts": parts.collect::<Vec<_>>()})
            }
            Turn::Result { name, text, picture: with, .. } => {
                let mut response = json!({"name": name, "response": {"output": text}});
                if *with {
                    response["parts"] = json!([picture]);
                }
                json!({"role": "user", "parts": [{"functionResponse": response}]})
            }
        })
        .collect();
    let mut body = json!({"contents": contents});
    if let Some(system) = &ask.system {
        body["systemInstruction"] = json!({"parts": [{"text": system}]});
    }
    if ask.tools {
        let declared = tools().map(|(name, words, schema)| {
            json!({"name": name, "description": words, "parametersJsonSchema": schema})
        });
        body["tools"] = json!([{"functionDeclarations": declared}]);
    }
    body
}
