//! That nothing is claimed which is not so: every report of `reports.txt` is tried where it says, and every case
//! that a page of `docs` cites is there.

use std::{collections::BTreeSet, fs, path::PathBuf};

use libtest_mimic::Trial;

use crate::trial;

pub fn trials(tried: &[Trial]) -> Vec<Trial> {
    let ids: BTreeSet<String> = tried.iter().flat_map(|trial| ids(trial.name())).collect();
    let cited = ids.clone();
    vec![
        trial("reports.txt says where every report is tried".to_owned(), move || reports(&ids)),
        trial("the cases that the pages cite are there".to_owned(), move || pages(&cited)),
    ]
}

fn reports(tried: &BTreeSet<String>) {
    let list = include_str!("reports.txt");
    let mut listed = Vec::new();
    for line in list.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
        let (report, proofs) = line.split_once(": ").unwrap_or_else(|| panic!("{line}: no proof"));
        let (id, _topic) = report.split_once(' ').unwrap_or_else(|| panic!("{line}: no topic"));
        let mut proved = false;
        for proof in proofs.split("; ") {
            let (kind, rest) = proof.split_once(' ').unwrap_or((proof, ""));
            let reason = rest.rsplit_once('(').and_then(|(_, reason)| reason.strip_suffix(')'));
            proved |= match kind {
                "wire" => {
                    assert!(tried.contains(id), "{id} has no trial");
                    true
                }
                "e2e" => {
                    let (file, test) = rest.split_once("::").unwrap_or_else(|| panic!("{line}: {proof}"));
                    let text = read(&format!("../../tests/tests/e2e/{file}.rs"));
                    assert!(text.contains(&format!("async fn {test}(")), "{id}: no test {proof}");
                    true
                }
                // What is still to come proves nothing yet.
                "issue" => {
                    assert!(reason.is_some_and(|reason| !reason.is_empty()), "{line}: why?");
                    false
                }
                "none" => reason.is_some_and(|reason| !reason.is_empty()),
                _ => panic!("{line}: no proof is called {kind}"),
            };
        }
        assert!(proved, "{id} is tried nowhere, and nothing says why");
        if !proofs.split("; ").any(|proof| proof == "wire") {
            assert!(!tried.contains(id), "{id} has trials here that its line does not tell");
        }
        listed.push(id);
    }
    assert!(listed.is_sorted_by(|a, b| a < b), "in order and once each");
    assert_eq!(listed.len(), 123, "as many as the tracker reports that were collected");
    let unlisted: Vec<&String> = tried.iter().filter(|id| !listed.contains(&id.as_str())).collect();
    assert!(unlisted.is_empty(), "{unlisted:?} are not listed");
}

/// `golden:x` on the page `chat.md` is `tests/golden/chat-x`; `Wnnn` is a report with a trial; a name in the last
/// column of a table whose heading is "proved by", or of several words elsewhere in brackets, is a test.
fn pages(tried: &BTreeSet<String>) {
    let tests = tests();
    let mut checked = 0;
    for page in fs::read_dir(root().join("docs")).unwrap() {
        let path = page.unwrap().path();
        let page = path.file_stem().unwrap().to_string_lossy().into_owned();
        if page == "README" {
            continue;
        }
        let text = fs::read_to_string(&path).unwrap();
        for case in text.split("golden:").skip(1) {
            let case: String = case.chars().take_while(|c| c.is_ascii_alphanumeric() || *c == '-').collect();
            // The sentence that says how they are written has `golden:x`.
            let folder = root().join(format!("../../tests/golden/{page}-{case}"));
            assert!(case == "x" || folder.is_dir(), "{page}.md cites golden:{case}");
            checked += 1;
        }
        for id in ids(&text) {
            assert!(tried.contains(&id), "{page}.md cites {id}, which has no trial here");
            checked += 1;
        }
        for name in text.split('`').skip(1).step_by(2).filter(|span| is_name(span)) {
            assert!(tests.contains(name), "{page}.md cites `{name}`, and no test is called so");
            checked += 1;
        }
        let unproved = unproved(&text);
        assert!(unproved.is_empty(), "{page}.md: no case proves {unproved:#?}");
    }
    assert!(checked > 300, "only {checked} citations: does this look right?");
}

/// The rows of tables headed "proved by" that name no case.
fn unproved(text: &str) -> Vec<&str> {
    let mut in_table = false;
    let mut rows = Vec::new();
    for line in text.lines() {
        let Some(row) = line.strip_prefix('|').and_then(|row| row.trim_end().strip_suffix('|')) else {
            in_table = false;
            continue;
        };
        let last = row.rsplit('|').next().unwrap_or_default().trim();
        if last == "proved by" {
            in_table = true;
        } else if in_table
            && !["golden:", "`", "--"].iter().any(|mark| last.contains(mark))
            && ids(last).is_empty()
        {
            rows.push(row);
        }
    }
    rows
}

/// A test's name, not a field's: four words or more.
fn is_name(span: &str) -> bool {
    const FIELDS: &[&str] = &["disable_parallel_tool_use"];
    !FIELDS.contains(&span)
        && span.matches('_').count() >= 3
        && span.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_')
}

/// Every function of the crate's tests.
fn tests() -> BTreeSet<String> {
    let mut folders = vec![root().join("tests"), root().join("src")];
    let mut names = BTreeSet::new();
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap().flatten() {
            let path = entry.path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|kind| kind == "rs") {
                let text = fs::read_to_string(path).unwrap();
                let functions = text.split("fn ").skip(1).filter_map(|rest| rest.split('(').next());
                names.extend(functions.map(str::to_owned));
            }
        }
    }
    names
}

/// The reports that a text names.
fn ids(text: &str) -> BTreeSet<String> {
    let words = text.split(|c: char| !c.is_ascii_alphanumeric());
    let is_id = |word: &&str| {
        word.len() == 4 && word.starts_with('W') && word[1..].bytes().all(|byte| byte.is_ascii_digit())
    };
    words.filter(is_id).map(str::to_owned).collect()
}

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

fn read(path: &str) -> String {
    fs::read_to_string(root().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}
