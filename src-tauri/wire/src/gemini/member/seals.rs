//! Signatures of a relayed body: the member's own as it made them, and what Google documents in place of others.

use serde_json::Value;

use crate::{
    error::ApiError,
    gemini::{seal, spelling},
    json::{self, Json, Object, Place},
    model::{Content, Request, Seal, Target},
    notice::Notice,
    relay::Edits,
    seal::SKIP,
};

/// The body without our marks on the member's own signatures and with a stand-in for those of others; `None` when it
/// holds neither. A call must be signed, and a signature that the member cannot verify is refused.
pub(super) fn unsealed(
    body: &Json,
    request: &Request,
    target: &Target,
    notices: &mut Vec<Notice>,
) -> Result<Option<Json>, ApiError> {
    let is_bound = |content: &Content| {
        matches!(content, Content::Redacted { .. }) || content.seal().is_some_and(|seal| !target.takes(seal))
    };
    if !request.parts().any(|part| is_bound(&part.content)) {
        return Ok(None);
    }
    let mut edits = Edits::new(body.text());
    let place = Place::Root.field("contents");
    let Some(contents) = body.fields()?.take("contents") else { return Ok(None) };
    for (at, raw) in json::list(contents, place)?.into_iter().enumerate() {
        let place = place.index(at);
        let Some(parts) = Object::read(raw, place)?.take("parts") else { continue };
        let place = place.field("parts");
        for (at, raw) in json::list(parts, place)?.into_iter().enumerate() {
            let place = place.index(at);
            let Some(taken) = spelling::take(&mut Object::read(raw, place)?, "thoughtSignature") else {
                continue;
            };
            let place = place.field(&taken.name);
            let told = json::string(taken.raw, place)?;
            match standing(&told, target) {
                Standing::Plain => {}
                Standing::Marked(own) => edits.set(taken.raw, Value::from(own.data).to_string()),
                Standing::Foreign(why) => {
                    edits.set(taken.raw, Value::from(SKIP).to_string());
                    notices.push(Notice::new(place.to_string(), why));
                }
            }
        }
    }
    edits.apply().map(Json::of).transpose()
}

/// What a signature is to the member.
enum Standing {
    Plain,
    /// Its own, with our mark.
    Marked(Seal),
    Foreign(&'static str),
}

fn standing(told: &str, target: &Target) -> Standing {
    if seal::redacted_from_caller(told).is_some() {
        return Standing::Foreign("reasoning that only another member can read");
    }
    match seal::from_caller(told) {
        Some(seal) if target.is_foreign(&seal) => Standing::Foreign("signed by another member"),
        Some(seal) if seal.origin.is_some() => Standing::Marked(seal),
        _ => Standing::Plain,
    }
}
