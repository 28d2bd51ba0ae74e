//! A [`Request`] into the body a member is asked with, built anew or edited in place.

mod options;
mod seals;
mod tools;
mod turn;

use serde::{Serialize, Serializer, ser::SerializeMap};

use super::RULES;
use crate::{
    error::ApiError,
    format::Encoded,
    json::{self, Json},
    model::{Request, Role, Target},
    notice::Notice,
    prepare::{Prepared, prepare},
    relay::{
        self,
        bend::{BUDGETS, Places, bend, name_budget},
        owners::{self, Home},
    },
    restore::Restore,
};

const PATH: &str = "/chat/completions";

/// Body fields the gateway sets itself: an owner's default option never takes their place.
const OURS: [&str; 4] = ["model", "messages", "stream", "stream_options"];

const PLACES: Places = Places { budgets: &BUDGETS, efforts: &[] };

/// A hub's `reasoning` and `reasoning_effort` are refused side by side.
const HOME: Home = Home { ours: &OURS, either: &[BUDGETS, ["reasoning", "reasoning_effort"]], ..Home::BODY };

/// The same request and target give the same bytes: members' prompt caches depend on it.
pub(super) fn encode(request: &Request, target: &Target) -> Encoded {
    let Prepared { request, options, mut notices, restore } = prepare(request, target, &RULES);
    notices.extend(more_notices(&request, target));
    let options = options::merged(&request, target, options, &mut notices);
    let body = Body { request: &request, target, options };
    let body = json::to_vec(&body);
    Encoded { path: PATH.to_owned(), headers: Vec::new(), body, notices, restore }
}

/// The caller's body with the model's name and the owner's options, and nothing else that need not be changed.
pub(super) fn relay(body: &Json, request: &Request, target: &Target) -> Result<Encoded, ApiError> {
    let mut notices = Vec::new();
    let unsealed = seals::unsealed(body, request, target, &mut notices)?;
    let mut body = relay::Body::new(unsealed.as_ref().unwrap_or(body))?;
    body.set(&["model"], &serde_json::Value::from(target.served.as_str()).to_string());
    body.remove(&["bench"]);
    body.remove(&["with"]);
    if target.quirks.no_usage {
        if body.remove(&["stream_options"]) {
            notices.push(Notice::new("stream_options", "this server does not take it"));
        }
    } else if request.stream && !request.include_usage {
        body.set(&["stream_options", "include_usage"], "true");
    }
    bend(&mut body, request, target, &PLACES, &mut notices);
    owners::add(&mut body, &target.options, &HOME, &mut notices);
    name_budget(&mut body, target.quirks);
    let body = body.into_bytes();
    Ok(Encoded { path: PATH.to_owned(), headers: Vec::new(), body, notices, restore: Restore::default() })
}

/// What is lost in this dialect only.
fn more_notices(request: &Request, target: &Target) -> Vec<Notice> {
    let options = target.options.keys().filter(|name| OURS.contains(&name.as_str()));
    let mut notices: Vec<Notice> =
        options.map(|name| Notice::new(format!("options.{name}"), "set by the gateway")).collect();
    if !target.quirks.developer {
        let messages = request.messages.iter().enumerate();
        let developers = messages.filter(|(_, message)| message.role == Role::Developer);
        notices.extend(developers.map(|(at, _)| {
            Notice::new(format!("{}.role", request.message_place(at)), "developer sent as system")
        }));
    }
    notices
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
        let developer = self.target.quirks.developer;
        body.serialize_entry("messages", &turn::Messages { messages: &request.messages, developer })?;
        if !request.tools.is_empty() {
            let offered: Vec<_> = request.tools.iter().map(tools::Offered).collect();
            body.serialize_entry("tools", &offered)?;
            if let Some(choice) = &request.tool_choice {
                body.serialize_entry("tool_choice", &tools::choice(choice))?;
            }
            if let Some(parallel) = request.parallel_tool_calls {
                body.serialize_entry("parallel_tool_calls", &parallel)?;
            }
        }
        body.serialize_entry("stream", &true)?;
        if !self.target.quirks.no_usage {
            body.serialize_entry("stream_options", &UsageAsked { include_usage: true })?;
        }
        for (name, value) in &self.options {
            body.serialize_entry(name, value)?;
        }
        body.end()
    }
}

#[derive(Serialize)]
struct UsageAsked {
    include_usage: bool,
}
