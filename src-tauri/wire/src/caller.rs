//! Fields of ours that every dialect's body may hold, and refusals every dialect shares.

use crate::{
    error::ApiError,
    json::{self, Found, Object, Place},
    model::{BenchOptions, ReplyMode, Request},
    raw::Fields,
};

/// `with` and `bench`.
pub(crate) fn read(fields: &mut Object<'_>, request: &mut Request) -> Result<(), ApiError> {
    if let Some(raw) = fields.take("with") {
        request.with = nominees(raw, Place::Root.field("with"))?;
    }
    if let Some(raw) = fields.take("bench") {
        request.bench = bench(raw, &mut request.extra)?;
    }
    Ok(())
}

/// More names than any bench has seats would only be named back as skipped.
const NOMINEES: usize = 32;
const NOMINEE_CHARS: usize = 64;

fn nominees(raw: Found<'_>, place: Place<'_>) -> Result<Vec<String>, ApiError> {
    let names = json::strings(raw, place)?;
    if names.len() > NOMINEES {
        return Err(place.expected(&format!("at most {NOMINEES} aliases")));
    }
    match names.iter().position(|name| name.chars().count() > NOMINEE_CHARS) {
        Some(at) => Err(place.index(at).expected(&format!("an alias of at most {NOMINEE_CHARS} characters"))),
        None => Ok(names),
    }
}

/// What it holds that we do not know is listed like any unknown field.
fn bench(raw: Found<'_>, unplaced: &mut Fields) -> Result<BenchOptions, ApiError> {
    let place = Place::Root.field("bench");
    let mut fields = Object::read(raw, place)?;
    let mut bench = BenchOptions::default();
    if let Some(raw) = fields.take("reply") {
        let reply = serde_json::from_str::<ReplyMode>(raw.get());
        bench.reply =
            Some(reply.map_err(|_| place.field("reply").expected("\"all\", \"merged\" or \"route\""))?);
    }
    if let Some(raw) = fields.take("options") {
        bench.options = json::boolean(raw, place.field("options"))?;
    }
    unplaced.extend(fields.rest().map(|(name, raw)| (format!("bench.{name}"), raw.into())));
    Ok(bench)
}
