//! A caller's body for a member of the same API, edited in place.

use serde_json::{Value, value::RawValue};

use super::{HEADERS, PATH};
use crate::{
    error::ApiError,
    format::Encoded,
    json::{self, Object, Place},
    model::{Content, Request, Seal, Target},
    notice::Notice,
    relay::{
        self, Edits,
        bend::{Places, bend},
    },
    restore::Restore,
};

const PLACES: Places = Places { budgets: &[], efforts: &["output_config.effort", "thinking"] };

/// The caller's body with the model's name, and nothing else that need not be changed.
pub(in crate::anthropic) fn relay(
    body: &[u8],
    request: &Request,
    target: &Target,
) -> Result<Encoded, ApiError> {
    let mut notices = Vec::new();
    // Seals of translated answers carry our mark, and those of other members are refused.
    let text = json::text_of(body)?;
    let unsealed = match needs_unsealing(request, target) {
        true => unsealed(&text, target, &mut notices)?,
        false => None,
    };
    let mut body = relay::Body::new(unsealed.as_deref().unwrap_or(&text).as_bytes())?;
    body.set(&["model"], &Value::from(target.served.as_str()).to_string());
    body.remove(&["bench"]);
    body.remove(&["with"]);
    bend(&mut body, request, target, &PLACES, &mut notices);
    let body = body.into_bytes();
    let (path, headers) = (PATH.to_owned(), HEADERS.to_vec());
    Ok(Encoded { path, headers, body, notices, restore: Restore::default() })
}

fn needs_unsealing(request: &Request, target: &Target) -> bool {
    request.parts().any(|part| match &part.content {
        Content::Thinking(thinking) => match &thinking.signature {
            Some(seal) => seal.origin.is_some(),
            None => target.quirks.signed_thinking,
        },
        Content::Redacted { seal, .. } => seal.origin.is_some(),
        _ => false,
    })
}

/// The text without our marks on the member's own seals and without the thinking of others; `None` when it
/// holds neither.
fn unsealed(text: &str, target: &Target, notices: &mut Vec<Notice>) -> Result<Option<String>, ApiError> {
    let mut edits = Edits::new(text);
    let place = Place::Root.field("messages");
    let Some(messages) = json::root(text)?.take("messages") else { return Ok(None) };
    let messages = json::list(messages, place)?;
    let mut emptied = Vec::new();
    for (at, raw) in messages.iter().enumerate() {
        let place = place.index(at);
        let content = Object::read(raw, place)?.take("content").filter(|content| json::is_list(content));
        let Some(content) = content else { continue };
        let place = place.field("content");
        let blocks = json::list(content, place)?;
        let mut foreign = Vec::new();
        for (at, raw) in blocks.iter().enumerate() {
            let place = place.index(at);
            match standing(raw, target, place)? {
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
    Ok(edits.apply())
}

/// What a block of an earlier answer is to the member.
enum Standing<'a> {
    Plain,
    /// Its own, with our mark: where the seal stands, and what it is without.
    Marked(&'a RawValue, String),
    Foreign(&'static str),
}

fn standing<'a>(raw: &'a RawValue, target: &Target, place: Place<'_>) -> Result<Standing<'a>, ApiError> {
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
        (Some(member), _) if member != target.member => {
            Standing::Foreign("reasoning signed by another member")
        }
        (Some(_), Some(raw)) => Standing::Marked(raw, seal.data),
        _ => Standing::Plain,
    })
}
