//! A [`Request`] into the body a member is asked with, built anew or edited in place.

pub(super) mod node;
mod options;
mod tools;
mod turns;

use super::{RULES, seal, spelling::snake};
use crate::{
    error::ApiError,
    format::Encoded,
    json,
    model::{Content, Form, Request, Target},
    notice::Notice,
    prepare::{Prepared, prepare},
    relay,
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
    let path = path(&target.served, Form::Events);
    Encoded { path, headers: Vec::new(), body, notices, restore }
}

/// The caller's body; the model and the form of the reply are in the path.
pub(super) fn relay(body: &[u8], request: &Request, target: &Target) -> Result<Encoded, ApiError> {
    let text = json::text_of(body)?;
    let names_model = json::root(&text)?.get("model").is_some();
    let unmarked = seal::unmarked(&text, marked(request, target));
    let mut body = relay::Body::new(unmarked.as_deref().unwrap_or(&text).as_bytes())?;
    let mut notices = Vec::new();
    if names_model {
        let name = format!("models/{}", bare(&target.served));
        body.set(&["model"], &serde_json::Value::from(name).to_string());
    }
    body.remove("bench");
    body.remove("with");
    if let (Some(limit), Some(asked)) = (target.max_output, request.max_output)
        && asked > limit
    {
        let field = request.spelling("max_output");
        let path: Vec<&str> = field.split('.').collect();
        body.set(&path, &limit.to_string());
        notices.push(Notice::new(field, format!("cut from {asked} to {limit}, the most this model writes")));
    }
    let path = path(&target.served, request.form);
    Ok(Encoded { path, headers: Vec::new(), body: body.into_bytes(), notices, restore: Restore::default() })
}

/// Signatures of translated answers as the caller has them, each with what this member may read of it.
fn marked<'a>(
    request: &'a Request,
    target: &'a Target,
) -> impl Iterator<Item = (String, Option<String>)> + 'a {
    request.parts().filter_map(|part| {
        let (seal, told) = match &part.content {
            Content::ToolCall(call) => call.signature.as_ref().map(|seal| (seal, seal::to_caller(seal)))?,
            Content::Thinking(thinking) => {
                thinking.signature.as_ref().map(|seal| (seal, seal::to_caller(seal)))?
            }
            Content::Redacted { seal, id } => (seal, seal::redacted_to_caller(seal, id.as_deref())),
            _ => return None,
        };
        let is_redacted = matches!(part.content, Content::Redacted { .. });
        let own = (!is_redacted && target.made(seal)).then(|| seal.data.clone());
        (is_redacted || seal.origin.is_some()).then_some((told, own))
    })
}

fn bare(served: &str) -> &str {
    served.strip_prefix("models/").unwrap_or(served)
}

/// `/models/gemini-2.5-pro:streamGenerateContent?alt=sse`; a tuned model's name has its own collection.
fn path(served: &str, form: Form) -> String {
    let method = match form {
        Form::Usual | Form::Generate => "generateContent",
        Form::Events => "streamGenerateContent?alt=sse",
        Form::Array => "streamGenerateContent",
    };
    let folder = if served.starts_with("tunedModels/") { "" } else { "models/" };
    let mut path = format!("/{folder}");
    for byte in bare(served).bytes() {
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
