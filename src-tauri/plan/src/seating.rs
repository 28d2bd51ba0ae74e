use catalog::{Model, ModelRole};
use wire::{ApiError, Kind, Origin};

use crate::{ChosenShape, Collection, Settings, Shape, WhenTooLarge};

/// What seating a panel depends on. Borrowed from a snapshot: nothing is read from a disk or a clock.
#[derive(Clone, Copy, Debug)]
pub struct SeatingInput<'a> {
    pub collection: &'a Collection,
    /// Every registered model.
    pub models: &'a [Model],
    pub settings: &'a Settings,
    pub has_images: bool,
    /// Documents that are no text: those every model reads.
    pub documents: bool,
    pub audio: bool,
    /// Aliases whose API cannot say what the prompt holds, each with why.
    pub barred: &'a [(String, String)],
    /// Of the whole prompt, images included (wire.md §9).
    pub estimate_tokens: u64,
    /// The caller's `with`, as sent.
    pub nominees: &'a [String],
}

/// Who sits, who does not and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Seating {
    /// At least one.
    pub seats: Vec<Seat>,
    pub skipped: Vec<Skipped>,
    pub shape: ChosenShape,
}

/// A chair on the panel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Seat {
    /// `member1`, `member2`, … in the collection's order, without gaps.
    pub seat: String,
    pub alias: String,
}

/// A model that was considered and not asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Skipped {
    /// `member` or `explorer`
    pub seat: &'static str,
    pub alias: String,
    pub why: String,
}

/// Nobody can be asked: 413 (too large), 400 (what the prompt holds is why) or 503.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct SeatingError {
    pub kind: Kind,
    /// `too_large`, `images_not_seen`, `documents_not_read`, `audio_not_heard`, `content_not_taken` or `no_seat`
    pub code: &'static str,
    /// Names every model and why.
    pub message: String,
    pub skipped: Vec<Skipped>,
}

/// Seats a collection's members in the order of panel.md §3. Explorers are not seated by this version.
///
/// A member whose endpoint has no key sits: its call fails and says so, and the others answer.
pub fn seat_members(input: &SeatingInput<'_>) -> Result<Seating, SeatingError> {
    let mut skipped = Vec::new();
    // Those that cannot be asked at all go before the cap, so that they take nobody's place.
    let registered = registered_members(input, &mut skipped);
    let mut sitting = under_the_cap(input, registered, &mut skipped);
    skip_nominees(input, &mut skipped);

    let mut content_is_why = None;
    sitting.retain(|model| {
        let Some(unfit) = unfit_for(model, input) else { return true };
        content_is_why = content_is_why.or(unfit.code());
        skipped.push(member_skipped(model, unfit.why(model)));
        false
    });
    if sitting.is_empty() {
        return Err(nobody_sits(input, content_is_why, skipped));
    }

    let sitting = fitting_windows(input, sitting, &mut skipped)?;
    let seats = sitting
        .into_iter()
        .enumerate()
        .map(|(at, model)| Seat { seat: format!("member{}", at + 1), alias: model.alias.clone() })
        .collect();
    let shape = Shape::without_explorers(input.collection, input.has_images);
    Ok(Seating { seats, skipped, shape })
}

fn registered_members<'a>(input: &SeatingInput<'a>, skipped: &mut Vec<Skipped>) -> Vec<&'a Model> {
    let mut registered: Vec<&Model> = Vec::with_capacity(input.collection.members.len());
    for alias in &input.collection.members {
        match find(input.models, alias) {
            Some(model) if registered.iter().all(|seated| seated.alias != *alias) => registered.push(model),
            // A member named twice is one member.
            Some(_) => {}
            None => skipped.push(Skipped {
                seat: "member",
                alias: alias.clone(),
                why: "no model of this alias is registered; register it, or take it off the collection"
                    .to_owned(),
            }),
        }
    }
    registered
}

fn under_the_cap<'a>(
    input: &SeatingInput<'_>,
    mut registered: Vec<&'a Model>,
    skipped: &mut Vec<Skipped>,
) -> Vec<&'a Model> {
    let most = input.settings.max_calls as usize;
    for model in registered.drain(most.min(registered.len())..) {
        skipped
            .push(member_skipped(model, format!("beyond the {most} seats of a panel (setting max_calls)")));
    }
    registered
}

fn skip_nominees(input: &SeatingInput<'_>, skipped: &mut Vec<Skipped>) {
    let mut seen: Vec<&str> = input.collection.members.iter().map(String::as_str).collect();
    for alias in input.nominees {
        if seen.contains(&alias.as_str()) {
            continue;
        }
        seen.push(alias);
        let why = match find(input.models, alias) {
            Some(_) => "no explorer seats yet: this version asks members only",
            None => "no model of this alias is registered",
        };
        skipped.push(Skipped { seat: "explorer", alias: alias.clone(), why: why.to_owned() });
    }
}

/// Why a member's role, facts or API keep it from this prompt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Unfit<'a> {
    Role,
    /// Unknown counts as no: a model that cannot see answers about an image it never had.
    Images(Option<bool>),
    Documents(Option<bool>),
    Audio(Option<bool>),
    /// Its API cannot say it, and why.
    Barred(&'a str),
    NothingToSee,
}

fn unfit_for<'a>(model: &Model, input: &SeatingInput<'a>) -> Option<Unfit<'a>> {
    let facts = &model.facts;
    let lacks = |held: bool, fact: Option<bool>| held && fact != Some(true);
    if matches!(model.role, ModelRole::Image | ModelRole::Decision) {
        Some(Unfit::Role)
    } else if lacks(input.has_images, facts.vision) {
        Some(Unfit::Images(facts.vision))
    } else if lacks(input.documents, facts.pdf) {
        Some(Unfit::Documents(facts.pdf))
    } else if lacks(input.audio, facts.audio) {
        Some(Unfit::Audio(facts.audio))
    } else if let Some((_, why)) = input.barred.iter().find(|(alias, _)| *alias == model.alias) {
        Some(Unfit::Barred(why))
    } else {
        (model.role == ModelRole::Vision && !input.has_images).then_some(Unfit::NothingToSee)
    }
}

impl Unfit<'_> {
    fn why(self, model: &Model) -> String {
        let (does_not, not_known, fact, known) = match self {
            Unfit::Role if model.role == ModelRole::Image => {
                return "its role is image; such a model never sits".to_owned();
            }
            Unfit::Role => return "its role is decision; such a model never sits".to_owned(),
            Unfit::Barred(why) => return why.to_owned(),
            Unfit::NothingToSee => return "its role is vision and the request holds no image".to_owned(),
            Unfit::Images(known) => ("does not see images", "not known to see images", "vision", known),
            Unfit::Documents(known) => {
                ("does not read documents", "not known to read documents", "pdf", known)
            }
            Unfit::Audio(known) => ("does not hear audio", "not known to hear audio", "audio", known),
        };
        let what = if known == Some(false) { does_not } else { not_known };
        format!("{what}; if it does, set the fact {fact} on the model")
    }

    /// The code of a refusal for which this is why; `None` when the request is not to blame.
    fn code(self) -> Option<&'static str> {
        match self {
            Unfit::Role => None,
            Unfit::Images(_) | Unfit::NothingToSee => Some("images_not_seen"),
            Unfit::Documents(_) => Some("documents_not_read"),
            Unfit::Audio(_) => Some("audio_not_heard"),
            Unfit::Barred(_) => Some("content_not_taken"),
        }
    }
}

fn fitting_windows<'a>(
    input: &SeatingInput<'_>,
    sitting: Vec<&'a Model>,
    skipped: &mut Vec<Skipped>,
) -> Result<Vec<&'a Model>, SeatingError> {
    let estimate = input.estimate_tokens;
    let window_of = |model: &Model| model.facts.context_window.filter(|window| estimate > *window);
    let (small, fitting): (Vec<&Model>, Vec<&Model>) =
        sitting.into_iter().partition(|model| window_of(model).is_some());
    let refuse = input.collection.when_too_large == WhenTooLarge::Refuse;
    let too_large = !small.is_empty() && (refuse || fitting.is_empty());
    let mut named = Vec::with_capacity(small.len());
    for model in small {
        let window = window_of(model).unwrap_or_default();
        named.push(format!("{} (window {window})", model.alias));
        let why = format!("the prompt is about {estimate} tokens, its window is {window}");
        skipped.push(member_skipped(model, why));
    }
    if !too_large {
        return Ok(fitting);
    }
    let way_out = match refuse && !fitting.is_empty() {
        true => "shorten it, or let the collection skip such members (when_too_large: skip)",
        false => "shorten it, or ask a collection with larger windows",
    };
    Err(SeatingError {
        kind: Kind::TooLarge,
        code: "too_large",
        message: format!(
            "the prompt is about {estimate} tokens (an estimate), too large for {}; {way_out}",
            named.join(", ")
        ),
        skipped: std::mem::take(skipped),
    })
}

fn nobody_sits(
    input: &SeatingInput<'_>,
    content_is_why: Option<&'static str>,
    skipped: Vec<Skipped>,
) -> SeatingError {
    let (kind, code) = match content_is_why {
        Some(code) => (Kind::InvalidRequest, code),
        None => (Kind::Unavailable, "no_seat"),
    };
    let reasons: Vec<String> = skipped.iter().map(|skip| format!("{}: {}", skip.alias, skip.why)).collect();
    let message = match reasons.is_empty() {
        true => format!("bench/{} has no members; add one", input.collection.name),
        false => format!("nobody can sit for bench/{}: {}", input.collection.name, reasons.join("; ")),
    };
    SeatingError { kind, code, message, skipped }
}

fn member_skipped(model: &Model, why: String) -> Skipped {
    Skipped { seat: "member", alias: model.alias.clone(), why }
}

fn find<'a>(models: &'a [Model], alias: &str) -> Option<&'a Model> {
    models.iter().find(|model| model.alias == alias)
}

impl From<SeatingError> for ApiError {
    fn from(error: SeatingError) -> ApiError {
        let origin = match error.kind {
            Kind::Unavailable => Origin::Gateway,
            _ => Origin::Client,
        };
        ApiError::new(error.kind, origin, error.code, error.message)
    }
}
