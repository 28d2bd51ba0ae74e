//! Reports from public trackers that the wire must survive, as data: each case is named by its report's
//! id. Which report is covered where, and which belong to other dialects, is listed in the pages of `docs`.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

mod anthropic;
mod callers;
mod calls;
mod failures;
mod framing;
mod gemini;
mod members;
mod ollama;
mod reads;
mod requests;
mod responses;
mod tools;
mod writes;

#[path = "../support/mod.rs"]
mod support;

use std::collections::BTreeSet;

use libtest_mimic::{Arguments, Failed, Trial};

fn main() {
    let mut trials = Vec::new();
    trials.extend(anthropic::trials());
    trials.extend(reads::trials());
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
    trials.push(docs_list(&trials));
    libtest_mimic::run(&Arguments::from_args(), trials).exit();
}

/// Turns a panicking check into a trial, so that cases read like any other test.
fn trial(name: String, check: impl FnOnce() + Send + 'static) -> Trial {
    Trial::test(name, move || {
        check();
        Ok::<(), Failed>(())
    })
}

/// The reports that the pages in `docs` call covered are those that have a trial: in a page the paragraph after
/// "Covered here".
fn docs_list(trials: &[Trial]) -> Trial {
    let with_trials: BTreeSet<String> = trials.iter().map(|trial| trial.name()[..4].to_owned()).collect();
    trial("docs list what is covered".to_owned(), move || {
        let docs = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("docs");
        let mut listed = BTreeSet::new();
        for page in std::fs::read_dir(docs).unwrap() {
            let page = std::fs::read_to_string(page.unwrap().path()).unwrap();
            let list = page.split("Covered here").nth(1).and_then(|rest| rest.split("\n\n").next());
            let words = list.unwrap_or_default().split(|c: char| !c.is_ascii_alphanumeric());
            let is_report = |word: &&str| word.len() == 4 && word.starts_with('W');
            listed.extend(words.filter(is_report).map(str::to_owned));
        }
        assert_eq!(listed, with_trials);
    })
}
