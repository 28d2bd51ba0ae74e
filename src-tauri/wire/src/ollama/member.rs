//! A [`Request`] into the body a member is asked with, built anew or edited in place.

mod options;
mod turn;

use serde::{Serialize, Serializer, ser::SerializeMap};

use super::RULES;
use crate::{
    error::ApiError,
    format::Encoded,
    json::{self, Json},
    model::{Content, Form, Request, Role, StructuredOutput, Target, Tool, ToolChoice},
    notice::Notice,
    prepare::{Prepared, prepare},
    raw::Raw,
    relay::{
        self,
        bend::{Places, bend},
        owners,
    },
    restore::Restore,
};

const CHAT: &str = "/api/chat";
const GENERATE: &str = "/api/generate";

/// The same request and target give the same bytes: members' prompt caches depend on it.
pub(super) fn encode(request: &Request, target: &Target) -> Encoded {
    let Prepared { request, options, mut notices, restore } = prepare(request, target, &RULES);
    turn_notices(&request, target, &mut notices);
    let tools = offered(&request, &mut notices);
    let settings = options::merged(&request, target, options, &mut notices);
    let body = json::to_vec(&Body { request: &request, target, tools, settings });
    Encoded { path: CHAT.to_owned(), headers: Vec::new(), body, notices, restore }
}

/// The caller's body with the model's name and the owner's options, and nothing else that need not be changed.
pub(super) fn relay(body: &Json, request: &Request, target: &Target) -> Result<Encoded, ApiError> {
    let mut body = relay::Body::new(body)?;
    let mut notices = Vec::new();
    body.set(&["model"], &serde_json::Value::from(target.served.as_str()).to_string());
    body.remove(&["bench"]);
    body.remove(&["with"]);
    bend(&mut body, request, target, &Places::default(), &mut notices);
    owners::add(&mut body, &target.options, &options::HOME, &mut notices);
    let path = if request.form == Form::Generate { GENERATE } else { CHAT };
    let (headers, restore) = (Vec::new(), Restore::default());
    Ok(Encoded { path: path.to_owned(), headers, body: body.into_bytes(), notices, restore })
}

/// What is lost of turns in this dialect only.
fn turn_notices(request: &Request, target: &Target, notices: &mut Vec<Notice>) {
    for (at, message) in request.messages.iter().enumerate() {
        let mut lost = |field: &str, reason: &str| {
            notices.push(Notice::new(format!("{}.{field}", request.message_place(at)), reason));
        };
        if message.role == Role::Developer && !target.quirks.developer {
            lost("role", "developer sent as system");
        }
        if message.name.is_some() {
            lost("name", "not sent to members");
        }
        if turn::is_mixed(message) {
            let place = request.message_place(at);
            notices.push(Notice::new(place, "its images are put before its text"));
        }
        for (part_at, part) in message.parts.iter().enumerate() {
            if let Content::ToolCall(call) = &part.content
                && crate::arguments::as_object(&call.arguments, "arguments").is_err()
            {
                let place = request.part_place(at, part_at);
                notices.push(Notice::new(place, "arguments that are no object, sent as text"));
            }
        }
    }
}

/// The dialect cannot say a choice: what of it the list of tools can say is said there.
fn offered<'a>(request: &'a Request, notices: &mut Vec<Notice>) -> Vec<Offered<'a>> {
    let place = || request.spelling("tool_choice");
    let mut tools: Vec<&Tool> = request.tools.iter().collect();
    match &request.tool_choice {
        None | Some(ToolChoice::Auto) => {}
        Some(ToolChoice::None) => {
            notices.push(Notice::new(place(), "the tools are left out instead"));
            tools.clear();
        }
        Some(ToolChoice::Named(named)) => {
            notices.push(Notice::new(place(), "only this tool is offered, and not forced"));
            tools.retain(|tool| tool.name() == named.name);
        }
        Some(ToolChoice::Required | ToolChoice::Allowed { .. } | ToolChoice::Vendor { .. }) => {
            notices.push(Notice::new(place(), "this API cannot force a tool"));
        }
    }
    if request.parallel_tool_calls == Some(false) {
        notices.push(Notice::new("parallel_tool_calls", "this API cannot say it"));
    }
    for (at, tool) in request.tools.iter().enumerate() {
        if let Tool::Function { strict: Some(true), .. } = tool {
            notices.push(Notice::new(format!("tools[{at}].strict"), "this API cannot say it"));
        }
    }
    tools.into_iter().map(Offered).collect()
}

struct Body<'a> {
    request: &'a Request,
    target: &'a Target,
    tools: Vec<Offered<'a>>,
    settings: options::Settings<'a>,
}

impl Serialize for Body<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut body = serializer.serialize_map(None)?;
        body.serialize_entry("model", &self.target.served)?;
        body.serialize_entry("messages", &turn::Messages(&self.request.messages))?;
        if !self.tools.is_empty() {
            body.serialize_entry("tools", &self.tools)?;
        }
        body.serialize_entry("stream", &true)?;
        self.settings.write(&mut body)?;
        body.end()
    }
}

struct Offered<'a>(&'a Tool);

impl Serialize for Offered<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct Function<'a> {
            name: &'a str,
            #[serde(skip_serializing_if = "Option::is_none")]
            description: Option<&'a str>,
            #[serde(skip_serializing_if = "Option::is_none")]
            parameters: Option<&'a Raw>,
        }
        let function = match self.0 {
            Tool::Vendor { raw, .. } => return raw.serialize(serializer),
            Tool::Function { name, description, parameters, .. } => {
                Function { name, description: description.as_deref(), parameters: parameters.as_ref() }
            }
            Tool::Custom { name, description, .. } => {
                Function { name, description: description.as_deref(), parameters: None }
            }
        };
        let mut tool = serializer.serialize_map(Some(2))?;
        tool.serialize_entry("type", "function")?;
        tool.serialize_entry("function", &function)?;
        tool.end()
    }
}

/// What of a response's form is lost.
fn structured_notices(request: &Request, notices: &mut Vec<Notice>) {
    if let Some(StructuredOutput::Schema { description: Some(_), .. }) = &request.structured_output {
        let place = format!("{}.description", request.spelling("structured_output"));
        notices.push(Notice::new(place, "not sent to members"));
    }
}
