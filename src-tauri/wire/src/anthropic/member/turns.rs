//! Turns as a member is sent them: one system field in front, user and assistant in turn, the user first.

use super::{tools::mark, tree::Node};
use crate::{
    model::{Content, Document, Message, Part, Request, Role, Source, Target, ToolCall, ToolResult},
    notice::Notice,
    raw::Raw,
};

pub(super) struct Turns {
    pub system: Option<Node>,
    pub messages: Node,
}

pub(super) fn write(request: &Request, target: &Target, notices: &mut Vec<Notice>) -> Turns {
    let mut system = Vec::new();
    let mut turns: Vec<(&str, Vec<Node>)> = Vec::new();
    let last = request.messages.len().saturating_sub(1);
    for (at, message) in request.messages.iter().enumerate() {
        if message.name.is_some() {
            notices.push(Notice::new(format!("{}.name", request.message_place(at)), "not sent to members"));
        }
        let is_system = matches!(message.role, Role::System | Role::Developer);
        let blocks = blocks(request, at, message, at == last, target, notices);
        if is_system {
            if !turns.is_empty() && !blocks.is_empty() {
                notices.push(Notice::new(request.message_place(at), "moved to the system field"));
            }
            system.extend(blocks);
            continue;
        }
        if blocks.is_empty() {
            continue;
        }
        let role = if message.role == Role::Assistant { "assistant" } else { "user" };
        match turns.last_mut() {
            Some((known, earlier)) if *known == role => earlier.extend(blocks),
            _ => turns.push((role, blocks)),
        }
    }
    if turns.first().is_none_or(|(role, _)| *role != "user") {
        notices.push(Notice::new("messages", "a user turn put first, as this API wants"));
        turns.insert(0, ("user", vec![text("[the conversation begins here]")]));
    }
    let turns = turns
        .into_iter()
        .map(|(role, blocks)| Node::map([("role", Node::text(role)), ("content", compact(blocks))]));
    let messages = Node::List(turns.collect());
    Turns { system: (!system.is_empty()).then(|| compact(system)), messages }
}

fn blocks(
    request: &Request,
    at: usize,
    message: &Message,
    is_last: bool,
    target: &Target,
    notices: &mut Vec<Notice>,
) -> Vec<Node> {
    let mut blocks = Vec::new();
    for (part_at, part) in message.parts.iter().enumerate() {
        let place = request.part_place(at, part_at);
        // The beginning of an answer that the member goes on with may not end in spaces.
        let trim = is_last && message.role == Role::Assistant && part_at + 1 == message.parts.len();
        blocks.extend(block(part, &place, trim, target, notices));
    }
    blocks
}

/// `None` where nothing is said: the API refuses a text of spaces.
fn block(part: &Part, place: &str, trim: bool, target: &Target, notices: &mut Vec<Notice>) -> Option<Node> {
    let node = match &part.content {
        Content::Text(words) | Content::Refusal(words) => {
            if words.trim().is_empty() {
                return None;
            }
            text(if trim { words.trim_end() } else { words })
        }
        Content::Image(image) => {
            if image.detail.as_deref().is_some_and(|detail| detail != "auto") {
                notices.push(Notice::new(format!("{place}.detail"), "not sent to members"));
            }
            Node::map([("type", Node::text("image")), ("source", source(&image.source))])
        }
        Content::Document(document) => titled(document),
        // These two take no cache mark.
        Content::Thinking(thinking) => {
            let signature = thinking.signature.as_ref().map(|seal| seal.data.as_str()).unwrap_or_default();
            return Some(Node::map([
                ("type", Node::text("thinking")),
                ("thinking", Node::text(&thinking.text)),
                ("signature", Node::text(signature)),
            ]));
        }
        Content::Redacted { seal, .. } => {
            return Some(Node::map([
                ("type", Node::text("redacted_thinking")),
                ("data", Node::text(&seal.data)),
            ]));
        }
        Content::ToolCall(call) => self::call(call, place, notices),
        Content::ToolResult(result) => self::result(result, place, target, notices),
        Content::Vendor { raw, .. } => return Some(Node::Raw(raw.clone())),
        Content::Audio(_) => return None,
    };
    Some(node.marked(mark(part.cache.as_ref(), place, target, notices).as_ref()))
}

fn call(call: &ToolCall, place: &str, notices: &mut Vec<Notice>) -> Node {
    let object = Raw::new(call.arguments.trim().to_owned()).filter(|raw| raw.get().starts_with('{'));
    let input = object.map(Node::Raw).unwrap_or_else(|| {
        notices.push(Notice::new(place, "arguments that are no object sent as the text of one"));
        Node::map([("arguments", Node::text(&call.arguments))])
    });
    Node::map([
        ("type", Node::text("tool_use")),
        ("id", Node::text(&call.id)),
        ("name", Node::text(&call.name)),
        ("input", input),
    ])
}

fn result(result: &ToolResult, place: &str, target: &Target, notices: &mut Vec<Notice>) -> Node {
    let mut node =
        Node::map([("type", Node::text("tool_result")), ("tool_use_id", Node::text(&result.call_id))]);
    let parts = result.parts.iter();
    let blocks: Vec<Node> = parts.filter_map(|part| block(part, place, false, target, notices)).collect();
    if !blocks.is_empty() {
        node = node.with("content", compact(blocks));
    }
    if result.is_error {
        node = node.with("is_error", Node::Value(true.into()));
    }
    node
}

fn titled(document: &Document) -> Node {
    let node = Node::map([("type", Node::text("document")), ("source", source(&document.source))]);
    match &document.name {
        Some(name) => node.with("title", Node::text(name)),
        None => node,
    }
}

fn source(source: &Source) -> Node {
    match source {
        Source::Url(url) => Node::map([("type", Node::text("url")), ("url", Node::text(url))]),
        Source::Base64 { media_type, data } => Node::map([
            ("type", Node::text("base64")),
            ("media_type", Node::text(media_type)),
            ("data", Node::text(data)),
        ]),
        Source::Text(words) | Source::File(words) => Node::map([
            ("type", Node::text("text")),
            ("media_type", Node::text("text/plain")),
            ("data", Node::text(words)),
        ]),
    }
}

fn text(words: &str) -> Node {
    Node::map([("type", Node::text("text")), ("text", Node::text(words))])
}

/// One text without a mark goes as a string.
fn compact(mut blocks: Vec<Node>) -> Node {
    if let [Node::Map(fields)] = blocks.as_mut_slice()
        && let [(_, Node::Value(kind)), (_, words)] = fields.as_mut_slice()
        && kind == "text"
    {
        return std::mem::replace(words, Node::List(Vec::new()));
    }
    Node::List(blocks)
}
