//! Messages as contents. One system instruction in front; results of one turn in one content, in the order of their
//! calls; neighbouring turns of the model are one.

use std::{borrow::Cow, collections::BTreeMap};

use serde_json::json;

use super::node::Node;
use crate::{
    gemini::media,
    model::{Content, Message, Part, Request, Role, Source, Thinking, ToolCall, ToolResult},
    notice::Notice,
    raw::Raw,
    seal::SKIP,
};

pub(super) struct Turns<'a> {
    pub system: Vec<Node<'a>>,
    pub contents: Vec<Node<'a>>,
}

pub(super) fn turns<'a>(request: &'a Request, notices: &mut Vec<Notice>) -> Turns<'a> {
    let mut calls = Calls::default();
    let mut system = Vec::new();
    let mut contents: Vec<(Role, Vec<Node<'a>>)> = Vec::new();
    let mut results: Vec<(usize, Node<'a>)> = Vec::new();
    for (at, message) in request.messages.iter().enumerate() {
        if message.role != Role::Tool {
            close(&mut results, &mut contents);
        }
        match message.role {
            Role::System | Role::Developer => {
                if !contents.is_empty() {
                    notices.push(Notice::new(
                        request.message_place(at),
                        "moved to the one system instruction in front",
                    ));
                }
                system.extend(message.parts.iter().filter_map(|part| said(&part.content)));
            }
            Role::Tool => {
                for part in &message.parts {
                    let Content::ToolResult(result) = &part.content else { continue };
                    let (order, name) = calls.of(result);
                    results.push((order, response(result, name)));
                }
            }
            Role::User => {
                let parts: Vec<_> = message.parts.iter().filter_map(said_part).collect();
                if !parts.is_empty() {
                    contents.push((Role::User, parts));
                }
            }
            Role::Assistant => {
                calls.read(message);
                let parts = model_parts(request, at, message, notices);
                match contents.last_mut() {
                    _ if parts.is_empty() => {}
                    Some((Role::Assistant, last)) => {
                        notices
                            .push(Notice::new(request.message_place(at), "joined with the turn before it"));
                        last.extend(parts);
                    }
                    _ => contents.push((Role::Assistant, parts)),
                }
            }
        }
    }
    close(&mut results, &mut contents);
    if contents.is_empty() && !system.is_empty() {
        notices.push(Notice::new(request.message_place(0), "sent as a user turn: there is no other"));
        contents.push((Role::User, std::mem::take(&mut system)));
    }
    let contents = contents.into_iter().map(|(role, parts)| {
        let role = if role == Role::Assistant { "model" } else { "user" };
        Node::Object(vec![("role", role.into()), ("parts", Node::List(parts))])
    });
    Turns { system, contents: contents.collect() }
}

/// Each call's place among all so far and its name: a response must name its function. Ids may come again in a later
/// turn, and are then that turn's.
#[derive(Default)]
struct Calls<'a> {
    by_id: BTreeMap<&'a str, (usize, &'a str)>,
    count: usize,
}

impl<'a> Calls<'a> {
    fn read(&mut self, message: &'a Message) {
        for part in &message.parts {
            if let Content::ToolCall(call) = &part.content {
                self.by_id.insert(&call.id, (self.count, &call.name));
                self.count += 1;
            }
        }
    }

    fn of(&self, result: &'a ToolResult) -> (usize, &'a str) {
        let known = self.by_id.get(result.call_id.as_str()).copied();
        known.unwrap_or_else(|| (usize::MAX, result.name.as_deref().unwrap_or("tool")))
    }
}

fn close<'a>(results: &mut Vec<(usize, Node<'a>)>, contents: &mut Vec<(Role, Vec<Node<'a>>)>) {
    if results.is_empty() {
        return;
    }
    results.sort_by_key(|(order, _)| *order);
    contents.push((Role::Tool, results.drain(..).map(|(_, node)| node).collect()));
}

fn response<'a>(result: &'a ToolResult, name: &'a str) -> Node<'a> {
    let texts: Vec<&str> = result.parts.iter().filter_map(|part| part.content.as_text()).collect();
    let field = if result.is_error { "error" } else { "output" };
    let text: Cow<'a, str> = match texts.as_slice() {
        [text] => Cow::Borrowed(*text),
        texts => Cow::Owned(texts.join("\n")),
    };
    let response = Node::Object(vec![(field, Node::Text(text))]);
    let fields = vec![("id", result.call_id.as_str().into()), ("name", name.into()), ("response", response)];
    Node::Object(vec![("functionResponse", Node::Object(fields))])
}

fn model_parts<'a>(
    request: &Request,
    at: usize,
    message: &'a Message,
    notices: &mut Vec<Notice>,
) -> Vec<Node<'a>> {
    let mut parts = Vec::new();
    // Of calls made at once only the first is signed.
    let mut signed = false;
    for (part_at, part) in message.parts.iter().enumerate() {
        match &part.content {
            Content::ToolCall(call) => {
                let signature = call.signature.as_ref().map(|seal| seal.data.as_str());
                let signature = signature.or((!signed).then_some(SKIP));
                signed = true;
                let (node, is_object) = function_call(call, signature);
                if !is_object {
                    let place = request.part_place(at, part_at);
                    notices.push(Notice::new(place, "arguments that are no object sent inside one"));
                }
                parts.push(node);
            }
            Content::Thinking(Thinking { text, signature }) => {
                let Some(seal) = signature else { continue };
                let mut fields = vec![("text", Node::from(text.as_str()))];
                if !text.is_empty() {
                    fields.push(("thought", json!(true).into()));
                }
                fields.push(("thoughtSignature", seal.data.as_str().into()));
                parts.push(Node::Object(fields));
            }
            _ => parts.extend(said_part(part)),
        }
    }
    parts
}

/// `false` when the arguments had to be put into an object.
fn function_call<'a>(call: &'a ToolCall, signature: Option<&'a str>) -> (Node<'a>, bool) {
    let raw = Raw::new(call.arguments.to_string()).filter(|raw| raw.get().trim_start().starts_with('{'));
    let is_object = raw.is_some();
    let arguments = match raw {
        Some(raw) => Node::Raw(Cow::Owned(raw)),
        None => Node::Object(vec![("arguments", call.arguments.as_str().into())]),
    };
    let fields =
        vec![("id", Node::from(call.id.as_str())), ("name", call.name.as_str().into()), ("args", arguments)];
    let mut part = vec![("functionCall", Node::Object(fields))];
    part.extend(signature.map(|signature| ("thoughtSignature", signature.into())));
    (Node::Object(part), is_object)
}

fn said_part(part: &Part) -> Option<Node<'_>> {
    said(&part.content)
}

/// `None` for what says nothing.
fn said(content: &Content) -> Option<Node<'_>> {
    let text = |text: Cow<'_, str>| Node::Text(Cow::Owned(text.into_owned()));
    match content {
        Content::Text(said) | Content::Refusal(said) => {
            (!said.is_empty()).then(|| Node::Object(vec![("text", said.as_str().into())]))
        }
        Content::Image(image) => media::part(&image.source, "image/jpeg", None).map(Node::from),
        Content::Audio(audio) => media::part(&audio.source, "audio/wav", None).map(Node::from),
        Content::Document(document) => {
            let name = document.name.as_deref();
            if let Source::Text(said) = &document.source {
                let said =
                    name.map_or(Cow::Borrowed(said.as_str()), |name| format!("{name}\n\n{said}").into());
                return Some(Node::Object(vec![("text", text(said))]));
            }
            media::part(&document.source, "application/pdf", None).map(Node::from)
        }
        Content::Vendor { raw, .. } => Some(Node::Raw(Cow::Borrowed(raw))),
        Content::Thinking(_) | Content::Redacted { .. } | Content::ToolCall(_) | Content::ToolResult(_) => {
            None
        }
    }
}
