//! A [`Request`] into the body a member is asked with, built anew or edited in place.

pub(super) mod node;
mod options;
mod seals;
mod tools;
mod turns;

use super::{RULES, spelling::snake};
use crate::{
    error::ApiError,
    format::Encoded,
    json::{self, Json},
    model::{Form, Request, Target},
    prepare::{Prepared, prepare},
    relay::{
        self,
        bend::{Places, bend},
        owners,
    },
    restore::Restore,
};
use node::Node;

/// The same request and target give the same bytes: members' prompt caches depend on it.
pub(super) fn encode(request: &Request, target: &Target) -> Encoded {
    let Prepared { request, options, mut notices, restore } = prepare(request, target, &RULES);
    let mut body: Vec<(&str, Node<'_>)> = Vec::new();
    let turns::Turns { system, contents } = turns::turns(&request, &mut notices);
    if !system.is_empty() {
        body.push(("systemInstruction", Node::Object(vec![("parts", Node::List(system))])));
    }
    body.push(("contents", Node::List(contents)));
    tools::write(&request, &mut body, &mut notices);
    options::write(&request, target, options, &mut body, &mut notices);
    let body = json::to_vec(&Node::Object(body));
    let path = path(&target.served, method(Form::Events));
    Encoded { path, headers: Vec::new(), body, notices, restore }
}

/// The caller's body with the owner's options; the model and the form of the reply are in the path.
pub(super) fn relay(body: &Json, request: &Request, target: &Target) -> Result<Encoded, ApiError> {
    let mut notices = Vec::new();
    let unsealed = seals::unsealed(body, request, target, &mut notices)?;
    let mut body = relay::Body::new(unsealed.as_ref().unwrap_or(body))?;
    if body.has("model") {
        body.set(&["model"], &serde_json::Value::from(full_name(&target.served)).to_string());
    }
    body.remove(&["bench"]);
    body.remove(&["with"]);
    bend(&mut body, request, target, &Places::default(), &mut notices);
    owners::add(&mut body, options::beside(request, &target.options).as_ref(), &options::HOME, &mut notices);
    let path = path(&target.served, method(request.form));
    Ok(Encoded { path, headers: Vec::new(), body: body.into_bytes(), notices, restore: Restore::default() })
}

/// `models/gemini-2.5-pro`; a tuned model's name has its own collection.
pub(super) fn full_name(served: &str) -> String {
    let has_collection = served.starts_with("models/") || served.starts_with("tunedModels/");
    if has_collection { served.to_owned() } else { format!("models/{served}") }
}

fn method(form: Form) -> &'static str {
    match form {
        Form::Usual | Form::Generate => "generateContent",
        Form::Events => "streamGenerateContent?alt=sse",
        Form::Array => "streamGenerateContent",
    }
}

/// `/models/gemini-2.5-pro:streamGenerateContent?alt=sse`
pub(super) fn path(served: &str, method: &str) -> String {
    let mut path = "/".to_owned();
    for byte in full_name(served).bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~/@".contains(&byte) {
            path.push(char::from(byte));
        } else {
            path.push_str(&format!("%{byte:02X}"));
        }
    }
    format!("{path}:{method}")
}

/// Whether two names are one field.
fn is_field(name: &str, camel: &str) -> bool {
    name == camel || name == snake(camel)
}
