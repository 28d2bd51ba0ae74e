//! Reports from public trackers that the wire must survive, as data: each case is named by its report's
//! id. `reports.txt` lists every report and where it is tried. `framing`, `members` and `callers` try a report's
//! kind in every dialect.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

mod anthropic;
mod callers;
mod calls;
mod failures;
mod framing;
mod gemini;
mod listed;
mod members;
mod ollama;
mod reads;
mod refused;
mod requests;
mod responses;
mod tools;
mod writes;

#[path = "../support/mod.rs"]
mod support;

use libtest_mimic::{Arguments, Failed, Trial};

fn main() {
    let mut trials = Vec::new();
    trials.extend(anthropic::trials());
    trials.extend(reads::trials());
    trials.extend(refused::trials());
    trials.extend(requests::trials());
    trials.extend(failures::trials());
    trials.extend(framing::trials());
    trials.extend(writes::trials());
    trials.extend(callers::trials());
    trials.extend(calls::trials());
    trials.extend(tools::trials());
    trials.extend(members::trials());
    trials.extend(ollama::trials());
    trials.extend(gemini::trials());
    trials.extend(responses::trials());
    trials.extend(listed::trials(&trials));
    libtest_mimic::run(&Arguments::from_args(), trials).exit();
}

/// Turns a panicking check into a trial, so that cases read like any other test.
fn trial(name: String, check: impl FnOnce() + Send + 'static) -> Trial {
    Trial::test(name, move || {
        check();
        Ok::<(), Failed>(())
    })
}
