//! A whole reply to a caller, and what its pieces share with a streamed one.

use std::borrow::Cow;

use serde_json::{Value, json};

use super::{media, member::node::Node, seal, usage as wire_usage};
use crate::{
    arguments,
    dialect::Dialect,
    format::ReplyHead,
    json as text,
    model::{Content, Finish, Reply, Seal, Thinking},
    usage::Usage,
};

pub(super) fn whole(head: &ReplyHead, reply: &Reply) -> Vec<u8> {
    let mut parts = Vec::new();
    let finish = finish_word(reply.finish.unwrap_or(Finish::Stop));
    let mut about = vec![("finishReason", finish.into()), ("index", json!(0).into())];
    for (at, part) in reply.parts.iter().enumerate() {
        match &part.content {
            Content::Text(text) | Content::Refusal(text) => parts.push(said(text)),
            Content::Thinking(Thinking { text, signature }) => {
                let mut part = json!({ "text": text });
                if !text.is_empty() {
                    part["thought"] = json!(true);
                }
                if let Some(seal) = signature {
                    part["thoughtSignature"] = json!(seal::to_caller(seal));
                }
                parts.push(part.into());
            }
            Content::Redacted { seal, id } => parts.push(redacted(seal, id.as_deref()).into()),
            // A call that was cut off has no form here.
            Content::ToolCall(_) if reply.is_cut_call(at) => {}
            Content::ToolCall(call) => {
                parts.push(function_call(&call.id, &call.name, &call.arguments, call.signature.as_ref()));
            }
            Content::Image(image) => {
                parts.extend(media::part(&image.source, "image/png", None).map(Node::from));
            }
            Content::Vendor { dialect, kind, raw } if *dialect == Dialect::Gemini => {
                let raw = Node::Raw(Cow::Borrowed(raw));
                if is_metadata(kind) {
                    about.push((kind.as_str(), raw));
                } else {
                    parts.push(raw);
                }
            }
            _ => {}
        }
    }
    if parts.is_empty() {
        parts.push(said(""));
    }
    text::to_vec(&chunk(head, Some(parts), about, Some(reply.usage), None))
}

/// `{"candidates": [{"content": {"parts": […], "role": "model"}, …}], …}`: `about` stands beside the content, and
/// what every piece ends with after the candidates.
pub(super) fn chunk<'a>(
    head: &'a ReplyHead,
    parts: Option<Vec<Node<'a>>>,
    about: Vec<(&'a str, Node<'a>)>,
    usage: Option<Usage>,
    bench: Option<&'a Value>,
) -> Node<'a> {
    let content = parts.map(|parts| {
        ("content", Node::Object(vec![("parts", Node::List(parts)), ("role", Node::from("model"))]))
    });
    let candidate = content.into_iter().chain(about).collect();
    let mut fields = vec![("candidates", Node::List(vec![Node::Object(candidate)]))];
    fields.extend(usage.map(|usage| ("usageMetadata", wire_usage::write(usage).into())));
    fields.push(("modelVersion", head.model.as_str().into()));
    fields.push(("responseId", head.id.as_str().into()));
    fields.extend(bench.map(|bench| ("bench", Node::Value(Cow::Borrowed(bench)))));
    Node::Object(fields)
}

pub(super) fn said(text: &str) -> Node<'_> {
    Node::Object(vec![("text", text.into())])
}

/// The arguments as they were written. A free-form tool's input and whatever else is no object go inside one.
pub(super) fn function_call<'a>(
    id: &'a str,
    name: &'a str,
    arguments: &str,
    signature: Option<&Seal>,
) -> Node<'a> {
    let arguments = arguments::as_object(arguments, "input").unwrap_or_else(|text| text);
    let call = vec![("id", id.into()), ("name", name.into()), ("args", Node::Raw(Cow::Owned(arguments)))];
    let mut part = vec![("functionCall", Node::Object(call))];
    part.extend(signature.map(|seal| ("thoughtSignature", seal::to_caller(seal).into())));
    Node::Object(part)
}

pub(super) fn redacted(seal: &Seal, id: Option<&str>) -> Value {
    json!({ "text": "", "thought": true, "thoughtSignature": seal::redacted_to_caller(seal, id) })
}

/// What is told of a candidate and is no part of it.
pub(super) fn is_metadata(kind: &str) -> bool {
    matches!(kind, "groundingMetadata" | "citationMetadata" | "urlContextMetadata")
}

pub(super) fn finish_word(finish: Finish) -> &'static str {
    match finish {
        Finish::Stop | Finish::ToolCalls => "STOP",
        Finish::Length => "MAX_TOKENS",
        Finish::ContentFilter => "SAFETY",
    }
}
