//! A whole reply to a caller, and the pieces a streamed one is made of.

use serde::{Serialize, Serializer};
use serde_json::Value;

use super::date;
use crate::{
    arguments,
    format::ReplyHead,
    json,
    model::{CallKind, Content, Finish, Form, Reply, Source},
    raw::Raw,
    usage::Usage,
};

pub(super) fn whole(head: &ReplyHead, reply: &Reply, bench: Option<&Value>) -> Vec<u8> {
    let mut said = Said::default();
    for (at, part) in reply.parts.iter().enumerate() {
        match &part.content {
            Content::Text(text) | Content::Refusal(text) => said.text.push_str(text),
            Content::Thinking(thinking) => said.thinking.push_str(&thinking.text),
            // Half a call is none: its arguments are no object.
            Content::ToolCall(call) if !reply.is_cut_call(at) => {
                let index = said.calls.len();
                said.calls.push(Called::new(index, &call.id, &call.name, call.kind, &call.arguments));
            }
            Content::Image(image) => {
                if let Source::Base64 { data, .. } = &image.source {
                    said.images.push(data.clone());
                }
            }
            _ => {}
        }
    }
    let end = End::new(reply.finish.unwrap_or(Finish::Stop), reply.usage, bench);
    line(head, &said, Some(end))
}

/// One line, without its line end; `end` makes it the last.
pub(super) fn line(head: &ReplyHead, said: &Said, end: Option<End<'_>>) -> Vec<u8> {
    let (message, generated) = match head.form {
        Form::Generate => (None, Some(Message { said, is_generated: true })),
        _ => (Some(Message { said, is_generated: false }), None),
    };
    json::to_vec(&Line {
        model: &head.model,
        created_at: date::rfc3339(head.created),
        message,
        generated,
        done: end.is_some(),
        end,
    })
}

/// What one line says.
#[derive(Default)]
pub(super) struct Said {
    pub text: String,
    pub thinking: String,
    pub images: Vec<String>,
    pub calls: Vec<Called>,
}

#[derive(Serialize)]
pub(super) struct Called {
    id: String,
    function: Function,
}

#[derive(Serialize)]
struct Function {
    index: usize,
    name: String,
    arguments: Raw,
}

impl Called {
    pub fn new(index: usize, id: &str, name: &str, kind: CallKind, arguments: &str) -> Self {
        let arguments = match kind {
            CallKind::Function => arguments::as_object(arguments, "arguments").unwrap_or_else(|text| text),
            CallKind::Custom => Raw::from(&serde_json::json!({ "input": arguments })),
        };
        Called { id: id.to_owned(), function: Function { index, name: name.to_owned(), arguments } }
    }
}

#[derive(Serialize)]
struct Line<'a> {
    model: &'a str,
    created_at: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    message: Option<Message<'a>>,
    #[serde(flatten)]
    generated: Option<Message<'a>>,
    done: bool,
    #[serde(flatten)]
    end: Option<End<'a>>,
}

/// The message of a chat, or the same fields as `/api/generate` has them.
struct Message<'a> {
    said: &'a Said,
    is_generated: bool,
}

impl Serialize for Message<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        use serde::ser::SerializeMap;
        let said = self.said;
        let mut fields = serializer.serialize_map(None)?;
        if self.is_generated {
            fields.serialize_entry("response", &said.text)?;
        } else {
            fields.serialize_entry("role", "assistant")?;
            fields.serialize_entry("content", &said.text)?;
        }
        if !said.thinking.is_empty() {
            fields.serialize_entry("thinking", &said.thinking)?;
        }
        if !said.images.is_empty() {
            fields.serialize_entry("images", &said.images)?;
        }
        if !said.calls.is_empty() {
            fields.serialize_entry("tool_calls", &said.calls)?;
        }
        fields.end()
    }
}

/// How it ended. Durations are nanoseconds and told as 0: they are a runner's own, and typed clients read the
/// counts only where the durations stand.
#[derive(Serialize)]
pub(super) struct End<'a> {
    done_reason: &'static str,
    total_duration: u64,
    load_duration: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    prompt_eval_count: Option<u64>,
    prompt_eval_duration: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    eval_count: Option<u64>,
    eval_duration: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    bench: Option<&'a Value>,
}

impl<'a> End<'a> {
    pub fn new(finish: Finish, usage: Usage, bench: Option<&'a Value>) -> Self {
        End {
            // The dialect has no word for calls: it stops after them.
            done_reason: match finish {
                Finish::Stop | Finish::ToolCalls => "stop",
                Finish::Length => "length",
                Finish::ContentFilter => "content_filter",
            },
            total_duration: 0,
            load_duration: 0,
            prompt_eval_count: usage.input,
            prompt_eval_duration: 0,
            eval_count: usage.output,
            eval_duration: 0,
            bench,
        }
    }
}
