//! Who is asked: pure decisions. Time is an argument, nothing here does I/O.

mod budget;
mod collection;
mod cooldown;
mod evidence;
mod explain;
mod export;
mod file;
mod health;
pub mod ids;
mod leaders;
mod merge;
mod mergers;
pub mod onboarding;
mod pacing;
pub mod picker;
mod reserve;
mod roster;
mod router;
mod seating;
mod setup;
mod shape;
mod turn;

pub use budget::{Budget, BudgetOf, Budgets, Over, Period, Spending, in_dollars};
pub use collection::{Collection, CollectionError, WhenTooLarge, check_collection, valid_collection_name};
pub use cooldown::{Cooldowns, Cooling, KeptCooldown, Place, Reach};
pub use evidence::{Evidence, Record, Suite, Tally};
pub use explain::{Explanation, Group, explain};
pub use export::export;
pub use file::{NamedSettings, SetupFile, parse};
pub use health::{Failing, Health, RETIRING_DAYS, is_structural};
pub use leaders::{Leaders, Standing, best_records, primary_and_second};
pub use merge::{Change, ChangeKind, Subject, merge};
pub use mergers::{Mergers, mergers};
pub use pacing::{Axis, Pace, Paced, Pacing, Reserved, Rule, Rules, Settled, Spent, Tokens, Used};
pub use reserve::{NoReserve, reserve};
pub use roster::{Registered, Roster};
pub use router::WENT_PAID;
pub use seating::{
    Seat, SeatKind, Seating, SeatingError, SeatingInput, Skipped, Unavailable, seat, seat_beside,
    shape_without_picker,
};
pub use setup::{OnHangup, SETUP_VERSION, Settings, Setup, SetupError};
pub use shape::{ChosenShape, Shape, ShapeRule, Shapes};
pub use turn::{Candidate, TurnInput, TurnOrder, turn_order};

/// Days are UTC's.
pub const DAY_MS: i64 = 24 * 3_600_000;
