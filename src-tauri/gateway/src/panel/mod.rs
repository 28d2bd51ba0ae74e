//! Panels: one prompt put to several seats.

mod ask;
mod markdown;
mod reply;
mod run;
mod seat;

pub use ask::{Ask, Asked};
pub(crate) use ask::{Asking, Seated, collections_in_words, seating, unknown_collection};
pub(crate) use markdown::{closing, heading, section};
pub(crate) use run::{PanelEnd, Running, Update, run};
pub(crate) use seat::{ON_DISK, SeatEnd};
