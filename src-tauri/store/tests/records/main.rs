//! The store from outside: every verb, and what must hold when the process, the disk or the file fails.

#![expect(clippy::unwrap_used, reason = "a test may fail by panicking")]

mod backups;
mod damage;
mod disk;
mod files;
mod gateway_keys;
mod harness;
mod kill;
mod known;
mod ledger;
mod load;
mod migration;
mod panels;
mod record;
mod responses;
mod search;
mod setup;
mod text;
mod turn_model;
mod turns;
mod verdict_model;
mod verdicts;
