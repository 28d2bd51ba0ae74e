//! End to end: the real `bench serve` against the scripted upstream, over HTTP and by the command line.
//!
//! One binary, so that it is linked once; one module a subject.
#![expect(clippy::expect_used, clippy::panic, reason = "checks shared by tests fail them by panicking")]

mod absurd;
mod aliases;
mod apis;
mod carry;
mod checks;
mod cli;
mod cli_panels;
mod conversations;
mod counting;
mod durability;
mod encodings;
mod endpoint_apis;
mod endpoints;
mod evidence;
mod explorers;
mod facts;
mod failover;
mod failures;
mod frames;
mod gone;
mod guard;
mod hangup;
mod http_versions;
mod import;
mod key_in_text;
mod learning;
mod limits;
mod lists;
mod load;
mod merging;
mod metering;
mod onboarding;
mod options;
mod paid;
mod panel;
mod picker;
mod practice;
mod provider_headers;
mod proxies;
mod refreshing;
mod refusals;
mod renaming;
mod reply_headers;
mod reports;
mod responses;
mod retiring;
mod route;
mod secrets;
mod slow;
mod staffed;
mod streaming;
mod unread;
mod verdicts;
