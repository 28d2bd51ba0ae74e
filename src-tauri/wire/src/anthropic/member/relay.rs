//! A caller's body for a member of the same API, edited in place.

use serde_json::Value;

use super::{
    HEADERS, OURS, PATH,
    thinking::{UNTHOUGHT, begins_unthought, chain, taken},
};
use crate::{
    error::ApiError,
    format::Encoded,
    json::{self, Found, Json, Object, Place},
    model::{Content, Request, Seal, Target, ThinkingMode},
    notice::Notice,
    relay::{
        self, Edits,
        bend::{Places, bend},
        owners::{self, Home},
    },
    restore::Restore,
};

const PLACES: Places = Places { budgets: &[], efforts: &["output_config.effort", "thinking"] };

const HOME: Home = Home { ours: &OURS, joined: &["output_config"], ..Home::BODY };

/// The caller's body with the model's name and the owner's options, and nothing else that need not be changed.
pub(in crate::anthropic) fn relay(
    sent: &Json,
    request: &Request,
    target: &Target,
) -> Result<Encoded, ApiError> {
    let mut notices = Vec::new();
    // Seals of translated answers carry our mark, and the API refuses a request for one that it cannot verify.
    let unsealed = match needs_unsealing(request, target) {
        true => unsealed(sent, target, &mut notices)?,
        false => None,
    };
    let mut body = relay::Body::new(unsealed.as_ref().unwrap_or(sent))?;
    body.set(&["model"], &Value::from(target.served.as_str()).to_string());
    body.remove(&["bench"]);
    body.remove(&["with"]);
    bend(&mut body, request, target, &PLACES, &mut notices);
    if is_broken_off(request, target) && body.has("thinking") {
        body.set(&["thinking"], r#"{"type":"disabled"}"#);
        notices.push(Notice::new("thinking", UNTHOUGHT));
        leave_thinking(sent, &mut body, &mut notices);
    }
    owners::add(&mut body, taken(request, target, &mut notices), &HOME, &mut notices);
    let body = body.into_bytes();
    let (path, headers) = (PATH.to_owned(), HEADERS.to_vec());
    Ok(Encoded { path, headers, body, notices, restore: Restore::default() })
}

fn needs_unsealing(request: &Request, target: &Target) -> bool {
    request.parts().any(|part| {
        let is_marked = || part.content.seal().is_some_and(|seal| seal.origin.is_some());
        is_foreign(&part.content, target) || is_marked()
    })
}

/// Whether the part is thinking that the member is not sent.
fn is_foreign(content: &Content, target: &Target) -> bool {
    match content {
        Content::Thinking(_) | Content::Redacted { .. } => match content.seal() {
            Some(seal) => target.is_foreign(seal),
            None => target.quirks.signed_thinking,
        },
        _ => false,
    }
}

/// Whether the chain of calls that the request goes on with loses the thinking it began with, and the request asks for
/// more in a way that wants it there. Adaptive thinking does not, and the models that know nothing else refuse to be
/// told to stop.
fn is_broken_off(request: &Request, target: &Target) -> bool {
    let wants_it = matches!(request.reasoning.mode, Some(ThinkingMode::Budget(_) | ThinkingMode::On));
    if !wants_it {
        return false;
    }
    let chain = chain(request);
    let loses = |content: &Content| is_foreign(content, target);
    chain.iter().any(|message| message.parts.iter().any(|part| loses(&part.content)))
        && begins_unthought(&chain, |content| !loses(content))
}

/// Takes out the edits of the context that the API makes of thinking only: without it they are refused.
fn leave_thinking(sent: &Json, body: &mut relay::Body<'_>, notices: &mut Vec<Notice>) {
    let management = Object::of(sent.root()).and_then(|mut fields| fields.take("context_management"));
    let edits = management.and_then(|found| Object::of(found)?.take("edits"));
    let edits = edits.and_then(|found| json::list(found, Place::Root).ok()).unwrap_or_default();
    let (gone, kept): (Vec<_>, Vec<_>) = edits.iter().enumerate().partition(|(_, raw)| {
        let edit: Value = serde_json::from_str(raw.get()).unwrap_or_default();
        edit["type"].as_str().is_some_and(|kind| kind.starts_with("clear_thinking"))
    });
    if gone.is_empty() {
        return;
    }
    notices.extend(
        gone.iter().map(|(at, _)| {
            Notice::new(format!("context_management.edits[{at}]"), "not taken without thinking")
        }),
    );
    if kept.is_empty() {
        body.remove(&["context_management"]);
    } else {
        let kept: Vec<&str> = kept.iter().map(|(_, raw)| raw.get()).collect();
        body.set(&["context_management", "edits"], &format!("[{}]", kept.join(",")));
    }
}

/// The body without our marks on the member's own seals and without the thinking of others; `None` when it
/// holds neither.
fn unsealed(body: &Json, target: &Target, notices: &mut Vec<Notice>) -> Result<Option<Json>, ApiError> {
    let mut edits = Edits::new(body.text());
    let place = Place::Root.field("messages");
    let Some(messages) = body.fields()?.take("messages") else { return Ok(None) };
    let messages = json::list(messages, place)?;
    let mut emptied = Vec::new();
    for (at, raw) in messages.iter().enumerate() {
        let place = place.index(at);
        let content = Object::read(*raw, place)?.take("content").filter(|content| content.is_list());
        let Some(content) = content else { continue };
        let place = place.field("content");
        let blocks = json::list(content, place)?;
        let mut foreign = Vec::new();
        for (at, raw) in blocks.iter().enumerate() {
            let place = place.index(at);
            match standing(*raw, target, place)? {
                Standing::Foreign(why) => {
                    foreign.push(at);
                    notices.push(Notice::new(place.to_string(), why));
                }
                Standing::Marked(seal, data) => edits.set(seal, Value::from(data).to_string()),
                Standing::Plain => {}
            }
        }
        if !foreign.is_empty() && foreign.len() == blocks.len() {
            emptied.push(at);
        } else {
            edits.remove(&blocks, |at| foreign.contains(&at));
        }
    }
    // A turn in which nothing is left is refused.
    edits.remove(&messages, |at| emptied.contains(&at));
    edits.apply().map(Json::of).transpose()
}

/// What a block of an earlier answer is to the member.
enum Standing<'a> {
    Plain,
    /// Its own, with our mark: where the seal stands, and what it is without.
    Marked(Found<'a>, String),
    Foreign(&'static str),
}

fn standing<'a>(raw: Found<'a>, target: &Target, place: Place<'_>) -> Result<Standing<'a>, ApiError> {
    let mut block = Object::read(raw, place)?;
    let kind = block.take("type").map(|kind| json::string(kind, place.field("type"))).transpose()?;
    let name = match kind.as_deref() {
        Some("thinking") => "signature",
        Some("redacted_thinking") => "data",
        _ => return Ok(Standing::Plain),
    };
    let raw = block.take(name);
    let text = raw.map(|raw| json::string(raw, place.field(name))).transpose()?.unwrap_or_default();
    let seal = Seal::from_caller(&text);
    Ok(match (seal.origin, raw) {
        _ if seal.data.is_empty() && target.quirks.signed_thinking => {
            Standing::Foreign("reasoning without a signature")
        }
        _ if target.is_foreign(&seal) => Standing::Foreign("reasoning signed by another member"),
        (Some(_), Some(raw)) => Standing::Marked(raw, seal.data),
        _ => Standing::Plain,
    })
}
