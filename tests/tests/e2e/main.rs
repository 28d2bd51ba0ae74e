//! End to end: the real `bench serve` against the scripted upstream, over HTTP and by the command line.
//!
//! One binary, so that it is linked once; one module a subject.
#![expect(clippy::expect_used, clippy::panic, reason = "checks shared by tests fail them by panicking")]

mod apis;
mod checks;
mod cli;
mod durability;
mod encodings;
mod endpoints;
mod failures;
mod guard;
mod hangup;
mod http_versions;
mod import;
mod lists;
mod load;
mod panel;
mod practice;
mod refusals;
mod reports;
mod secrets;
mod slow;
mod streaming;
mod verdicts;
