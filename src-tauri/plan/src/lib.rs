//! Who is asked: pure decisions. Time is an argument, nothing here does I/O.

mod collection;
mod export;
mod file;
pub mod ids;
mod merge;
mod seating;
mod setup;
mod shape;

pub use collection::{Collection, CollectionError, WhenTooLarge, check_collection, valid_collection_name};
pub use export::export;
pub use file::{NamedSettings, SetupFile, parse};
pub use merge::{Change, ChangeKind, Subject, merge};
pub use seating::{Seat, Seating, SeatingError, SeatingInput, Skipped, seat_members};
pub use setup::{OnHangup, SETUP_VERSION, Settings, Setup, SetupError};
pub use shape::{ChosenShape, Shape};
