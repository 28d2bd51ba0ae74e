//! Pacing, failing models and budgets: case by case, and against a plain recount.

#![expect(clippy::panic, reason = "a test may fail by panicking")]

mod budgets;
mod health;
mod pacing;
mod pacing_model;
