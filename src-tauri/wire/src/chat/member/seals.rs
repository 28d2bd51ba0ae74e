//! Seals of a relayed body, as hubs hold them: signed and encrypted `reasoning_details`, and Google's signature of a
//! call.

use serde_json::Value;

use crate::{
    error::ApiError,
    json::{self, Found, Json, Object, Place},
    model::{Request, Seal, Target},
    notice::Notice,
    relay::Edits,
    seal::SKIP,
};

/// The body without our marks on the member's own seals and without the seals of others; `None` when it holds neither.
/// A hub hands them on to the model's provider, who refuses the whole request for one that it cannot verify.
pub(super) fn unsealed(
    body: &Json,
    request: &Request,
    target: &Target,
    notices: &mut Vec<Notice>,
) -> Result<Option<Json>, ApiError> {
    if request.parts().filter_map(|part| part.content.seal()).all(|seal| target.takes(seal)) {
        return Ok(None);
    }
    let mut edits = Edits::new(body.text());
    let place = Place::Root.field("messages");
    let Some(messages) = body.fields()?.take("messages") else { return Ok(None) };
    for (at, raw) in json::list(messages, place)?.into_iter().enumerate() {
        let place = place.index(at);
        let mut message = Object::read(raw, place)?;
        if let Some(raw) = message.take("reasoning_details").filter(|raw| raw.is_list()) {
            details(raw, place.field("reasoning_details"), target, &mut edits, notices)?;
        }
        if let Some(raw) = message.take("tool_calls").filter(|raw| raw.is_list()) {
            calls(raw, place.field("tool_calls"), target, &mut edits, notices)?;
        }
    }
    edits.apply().map(Json::of).transpose()
}

fn details<'t>(
    raw: Found<'t>,
    place: Place<'_>,
    target: &Target,
    edits: &mut Edits<'t>,
    notices: &mut Vec<Notice>,
) -> Result<(), ApiError> {
    let details = json::list(raw, place)?;
    let mut foreign = Vec::new();
    for (at, raw) in details.iter().enumerate() {
        // A list of anything is taken.
        let detail = inner(*raw);
        let seals = || ["data", "signature"].iter().filter_map(|name| sealed(detail.get(name)?));
        if seals().any(|(_, seal)| target.is_foreign(&seal)) {
            foreign.push(at);
            notices.push(Notice::new(place.index(at).to_string(), "reasoning signed by another member"));
            continue;
        }
        for (raw, seal) in seals().filter(|(_, seal)| seal.origin.is_some()) {
            edits.set(raw, Value::from(seal.data).to_string());
        }
    }
    edits.remove(&details, |at| foreign.contains(&at));
    Ok(())
}

/// A call of Google's must be signed: it is given a stand-in.
fn calls<'t>(
    raw: Found<'t>,
    place: Place<'_>,
    target: &Target,
    edits: &mut Edits<'t>,
    notices: &mut Vec<Notice>,
) -> Result<(), ApiError> {
    for (at, raw) in json::list(raw, place)?.into_iter().enumerate() {
        let google = inner(raw).take("extra_content").and_then(|raw| inner(raw).take("google"));
        let signature = google.and_then(|raw| inner(raw).take("thought_signature"));
        let Some((raw, seal)) = signature.and_then(sealed) else { continue };
        if target.is_foreign(&seal) {
            edits.set(raw, Value::from(SKIP).to_string());
            let place = place.index(at);
            let place = place.field("extra_content");
            notices.push(Notice::new(place.to_string(), "signed by another member"));
        } else if seal.origin.is_some() {
            edits.set(raw, Value::from(seal.data).to_string());
        }
    }
    Ok(())
}

/// The value's fields; none when it is no object.
fn inner(raw: Found<'_>) -> Object<'_> {
    Object::of(raw).unwrap_or_default()
}

/// The seal that a string is, and where it stands.
fn sealed(raw: Found<'_>) -> Option<(Found<'_>, Seal)> {
    let text = json::string(raw, Place::Root).ok().filter(|text| !text.is_empty())?;
    Some((raw, Seal::from_caller(&text)))
}
