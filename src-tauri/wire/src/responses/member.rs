//! A [`Request`] into the body a member is asked with, built anew or edited in place.

mod items;
mod options;
mod relayed;
mod tools;

use serde::{Serialize, Serializer, ser::SerializeMap};

use super::RULES;
use crate::{
    format::Encoded,
    json,
    model::{Message, Request, Role, Target},
    notice::Notice,
    prepare::{Prepared, prepare},
};

pub(super) use relayed::relay;

const PATH: &str = "/responses";

/// Body fields the gateway sets itself: an owner's default option never takes their place. Chat's `stream_options`
/// is refused here.
const OURS: [&str; 8] = [
    "model",
    "instructions",
    "input",
    "stream",
    "stream_options",
    "background",
    "conversation",
    "previous_response_id",
];

/// The same request and target give the same bytes: members' prompt caches depend on it.
pub(super) fn encode(request: &Request, target: &Target) -> Encoded {
    let Prepared { request, options, mut notices, restore } = prepare(request, target, &RULES);
    let owners = target.options.keys().filter(|name| OURS.contains(&name.as_str()));
    notices.extend(owners.map(|name| Notice::new(format!("options.{name}"), "set by the gateway")));
    let merged = options::merged(&request, target, options, &mut notices);
    let body = json::to_vec(&Body { request: &request, target, options: merged });
    Encoded { path: PATH.to_owned(), headers: Vec::new(), body, notices, restore }
}

struct Body<'a> {
    request: &'a Request,
    target: &'a Target,
    options: Vec<(&'a str, options::Opt<'a>)>,
}

impl Serialize for Body<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let request = self.request;
        let mut body = serializer.serialize_map(None)?;
        body.serialize_entry("model", &self.target.served)?;
        let (instructions, messages) = split(&request.messages);
        if let Some(instructions) = instructions {
            body.serialize_entry("instructions", &instructions.text())?;
        }
        body.serialize_entry("input", &items::Input(messages))?;
        if !request.tools.is_empty() {
            let offered: Vec<_> = request.tools.iter().map(tools::Offered).collect();
            body.serialize_entry("tools", &offered)?;
            if let Some(choice) = &request.tool_choice {
                body.serialize_entry("tool_choice", &tools::choice(choice, &request.tools))?;
            }
            if let Some(parallel) = request.parallel_tool_calls {
                body.serialize_entry("parallel_tool_calls", &parallel)?;
            }
        }
        if let Some(key) = &request.cache_key {
            body.serialize_entry("prompt_cache_key", key)?;
        }
        body.serialize_entry("stream", &true)?;
        for (name, value) in &self.options {
            body.serialize_entry(name, value)?;
        }
        body.end()
    }
}

/// What the system says first is the instructions; it must not be all there is.
fn split(messages: &[Message]) -> (Option<&Message>, &[Message]) {
    match messages.split_first() {
        Some((first, rest))
            if matches!(first.role, Role::System | Role::Developer)
                && !rest.is_empty()
                && first.parts.iter().all(|part| part.content.as_text().is_some()) =>
        {
            (Some(first), rest)
        }
        _ => (None, messages),
    }
}
