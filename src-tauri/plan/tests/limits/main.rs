//! Pacing, failing models and budgets: case by case, and against a plain recount.

#![expect(clippy::panic, reason = "a test may fail by panicking")]

mod pacing;
mod pacing_model;
