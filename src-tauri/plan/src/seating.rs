use catalog::Model;
use wire::{ApiError, Kind, Origin};

use crate::{ChosenShape, Collection, Evidence, Roster, Settings, Shape};

mod explorers;
mod fitness;
mod members;
mod size;

pub(crate) use fitness::{Unfit, too_small, unfit};
pub(crate) use size::does_not_fit;

/// What seating a panel depends on. Borrowed: nothing is read from a disk or a clock.
#[derive(Clone, Copy)]
pub struct SeatingInput<'a> {
    pub collection: &'a Collection,
    /// Every registered model, and the shape table.
    pub roster: &'a Roster,
    pub settings: &'a Settings,
    pub evidence: &'a Evidence,
    /// Why a model cannot be picked at this moment. Asked of a few models only: those that would be picked.
    pub unavailable: &'a dyn Fn(&Model) -> Option<Unavailable>,
    pub has_images: bool,
    pub documents: bool,
    pub audio: bool,
    /// Why a model's API cannot say what the prompt holds.
    pub barred: &'a dyn Fn(&Model) -> Option<String>,
    /// Of the whole prompt, images included (wire.md §9).
    pub estimate_tokens: u64,
    /// The caller's `with`, as sent.
    pub nominees: &'a [String],
    /// ms since 1970
    pub now_ms: i64,
}

/// Why a model is not picked at this moment, though it could be at another. A member or a nominee sits
/// whatever the moment, but for one that costs money now.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Unavailable {
    /// Retired or removed since the panel began; it merges no more either.
    Gone,
    /// It was free and costs money now, and its owner has not allowed that. Nobody asks it.
    WentPaid,
    Cooling {
        until_ms: i64,
    },
    /// It has failed for days, and an alert says so.
    Retiring,
    /// Its endpoint's last known listing does not hold it.
    Unlisted,
    /// The last probe got no answer.
    ProbeFailed,
    /// Its endpoint has no key.
    NoKey,
    /// A rule of its endpoint (requests or tokens a minute, a day, a month) would be broken.
    OverLimit,
}

/// Who sits, who does not and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Seating {
    /// At least one: members in the collection's order, then explorers.
    pub seats: Vec<Seat>,
    pub skipped: Vec<Skipped>,
    pub shape: ChosenShape,
}

/// A chair, and who sits on it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Seat {
    /// `member1`, `member2`, … without gaps, `explorer`, `explorer2`, `merger`, a stand-in `member1.r1`: the
    /// end of the call id.
    pub seat: String,
    pub kind: SeatKind,
    pub alias: String,
    /// How it came to sit, in words: `member`, `never asked`, `longest without real work (12 days)`.
    pub why: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SeatKind {
    Member,
    Explorer,
    /// Stands in for a member that failed.
    Reserve,
    Merger,
}

/// A model that was considered and not asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Skipped {
    /// `member`, `explorer` or `merger`
    pub seat: &'static str,
    pub alias: String,
    pub why: String,
}

/// Nobody can be asked: 413 (too large), 400 (what the request holds is why; for a turn, whatever is why) or 503.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct SeatingError {
    pub kind: Kind,
    /// `too_large`, `images_not_seen`, `documents_not_read`, `audio_not_heard`, `content_not_taken` or `no_seat`; a
    /// turn's `tools_not_taken` or `no_member`
    pub code: &'static str,
    /// Names every model and why.
    pub message: String,
    pub skipped: Vec<Skipped>,
}

/// The shape of a panel as far as it is known without the shape picker; `None` is for the picker to say (see
/// `picker`). A prompt too large for the panel is refused here, before a picker is asked.
///
/// The picker is needed when the request holds no image, the collection sets no shape, and there are explorer
/// seats for a shape to matter to.
pub fn shape_without_picker(input: &SeatingInput<'_>) -> Result<Option<ChosenShape>, SeatingError> {
    let free = members::considered(input)?.explorer_seats(input);
    let (shape, by) = match (&input.collection.shape, input.has_images) {
        (Some(shape), _) => (shape.clone(), "set on the collection"),
        (None, true) => (Shape::VISION, "the request holds an image"),
        (None, false) if free == 0 => (Shape::GENERAL, "the default"),
        (None, false) => return Ok(None),
    };
    Ok(Some(ChosenShape { shape, by: by.to_owned() }))
}

/// Seats a panel, in the order of panel.md §3: members, the caller's nominees, then explorers by the router.
///
/// A member or a nominee sits even when its endpoint has no key or it is cooling down: its call fails and says
/// so, or a reserve stands in. Whoever keeps the evidence must mark the seats (`Evidence::seated`) before
/// another panel is seated, so that both do not pick the same stalest model.
pub fn seat(input: &SeatingInput<'_>, shape: &ChosenShape) -> Result<Seating, SeatingError> {
    seat_beside(input, shape, &[])
}

/// The same, once stand-ins have come to sit while the shape was being chosen: no explorer is their model.
pub fn seat_beside(
    input: &SeatingInput<'_>,
    shape: &ChosenShape,
    stand_ins: &[Seat],
) -> Result<Seating, SeatingError> {
    let mut considered = members::considered(input)?;
    let mut seats: Vec<Seat> = considered
        .sitting
        .iter()
        .enumerate()
        .map(|(at, it)| Seat {
            seat: format!("member{}", at + 1),
            kind: SeatKind::Member,
            alias: it.alias().to_owned(),
            why: "member".to_owned(),
        })
        .collect();
    explorers::add(input, &shape.shape, stand_ins, &mut considered, &mut seats);
    if seats.is_empty() {
        return Err(members::nobody_sits(input, considered));
    }
    Ok(Seating { seats, skipped: considered.skipped, shape: shape.clone() })
}

/// The name of the nth explorer seat, from 0.
pub(crate) fn explorer_seat(nth: usize) -> String {
    match nth {
        0 => "explorer".to_owned(),
        nth => format!("explorer{}", nth + 1),
    }
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
