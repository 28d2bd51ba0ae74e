//! What the documents claim: paths and tests that exist, commands that `bench` knows, wire cases that are cases.

use std::{collections::BTreeSet, process::Command};

use bench_tests::process::bench_program;

use crate::tree;

const DOCUMENTS: &[&str] = &["README.md", "ARCHITECTURE.md"];

#[test]
fn paths_and_tests_in_the_documents_exist() {
    let mut checked = 0;
    for document in DOCUMENTS {
        for span in code_spans(&tree::read(document)) {
            let Some((path, function)) = as_path(&span) else { continue };
            checked += 1;
            assert!(tree::root().join(path).exists(), "{document} names `{span}`, and there is no {path}");
            if let Some(function) = function {
                let text = tree::read(path);
                assert!(
                    text.contains(&format!("fn {function}(")),
                    "{document} names `{span}`: no such function"
                );
            }
        }
    }
    assert!(checked > 20, "only {checked} paths found: does this test look right?");
}

#[test]
fn commands_in_the_readme_are_commands() {
    let readme = tree::read("README.md");
    let lines = code_blocks(&readme).chain(code_spans(&readme));
    let commands: BTreeSet<String> = lines.filter(|line| line.starts_with("bench ")).collect();
    assert!(commands.len() > 5, "only {} commands found: does this test look right?", commands.len());
    for command in commands {
        let words: Vec<&str> = command.split_whitespace().skip(1).collect();
        let help = help_for(&words)
            .unwrap_or_else(|| panic!("README.md: `{command}`, and bench has no such command"));
        for flag in words.iter().filter(|word| word.starts_with("--")) {
            let flag = flag.split('=').next().unwrap_or(flag);
            assert!(help.contains(flag), "README.md: `{command}`, and its help knows no {flag}:\n{help}");
        }
    }
}

/// The help of the command that these words name, however deep: `endpoint add groq` is `endpoint add`.
fn help_for(words: &[&str]) -> Option<String> {
    let help = |path: &[&str]| {
        let help = Command::new(bench_program()).args(path).arg("--help").output().expect("bench starts");
        help.status.success().then(|| String::from_utf8_lossy(&help.stdout).into_owned())
    };
    let mut depth = 0;
    let mut text = help(&[])?;
    while let Some(commands) = text.split("\nCommands:\n").nth(1)
        && let Some(word) = words.get(depth).filter(|word| !word.starts_with('-'))
    {
        let is_listed = commands
            .lines()
            .take_while(|line| !line.is_empty())
            .any(|line| line.split_whitespace().next() == Some(word));
        if !is_listed {
            return None;
        }
        depth += 1;
        text = help(&words[..depth])?;
    }
    Some(text)
}

/// A dialect's page names its golden cases: `golden:plain` on the page `chat.md` is `tests/golden/chat-plain`.
/// (The reports that a page lists as covered are checked beside their trials, in the wire crate.)
#[test]
fn wire_cases_in_the_documents_are_cases() {
    let mut checked = 0;
    for page in tree::with_extension(&["md"]).filter(|path| path.starts_with("src-tauri/wire/docs")) {
        let dialect = page.file_stem().and_then(|stem| stem.to_str()).expect("a page's name");
        for rest in tree::read(page).split("golden:").skip(1) {
            let case: String =
                rest.chars().take_while(|letter| letter.is_ascii_alphanumeric() || *letter == '-').collect();
            // `golden:x` stands for any in the page's own legend.
            if case == "x" {
                continue;
            }
            let folder = format!("tests/golden/{dialect}-{case}");
            assert!(
                tree::root().join(&folder).is_dir(),
                "{} names golden:{case}, and there is no {folder}",
                page.display()
            );
            checked += 1;
        }
    }
    assert!(checked > 10, "only {checked} cases found: does this test look right?");
}

/// `path` or `path::function`, when a span is a path of the tree: it ends as files or folders of ours do.
fn as_path(span: &str) -> Option<(&str, Option<&str>)> {
    const ENDINGS: &[&str] = &[".rs", ".toml", ".md", ".ts", ".svelte", ".json", ".sh", ".yml", ".lock", "/"];
    if span.contains([' ', '<', '*', '{', '$', '~', '%']) || span.contains("//") || span.starts_with('/') {
        return None;
    }
    let (path, function) = span.split_once("::").map_or((span, None), |(path, name)| (path, Some(name)));
    ENDINGS.iter().any(|ending| path.ends_with(ending)).then_some((path, function))
}

/// What stands between single backticks outside of code blocks.
fn code_spans(markdown: &str) -> impl Iterator<Item = String> {
    let prose: Vec<&str> =
        split_blocks(markdown).filter(|(is_code, _)| !is_code).map(|(_, line)| line).collect();
    let prose = prose.join("\n");
    prose.split('`').skip(1).step_by(2).map(|span| span.replace('\n', " ")).collect::<Vec<_>>().into_iter()
}

/// Lines inside of code blocks, a `$ ` before them removed.
fn code_blocks(markdown: &str) -> impl Iterator<Item = String> {
    split_blocks(markdown).filter(|(is_code, _)| *is_code).map(|(_, line)| {
        let line = line.trim();
        line.strip_prefix("$ ").unwrap_or(line).to_owned()
    })
}

/// Each line, and whether it is inside of a fenced block.
fn split_blocks(markdown: &str) -> impl Iterator<Item = (bool, &str)> {
    let mut inside = false;
    markdown.lines().filter_map(move |line| {
        if line.trim_start().starts_with("```") {
            inside = !inside;
            return None;
        }
        Some((inside, line))
    })
}

#[test]
fn spans_are_told_from_blocks() {
    let text = "see `a/b.rs::c` and\n```sh\nbench serve `x`\n```\nthen `d\ne`";
    assert_eq!(code_spans(text).collect::<Vec<_>>(), ["a/b.rs::c", "d e"]);
    assert_eq!(code_blocks(text).collect::<Vec<_>>(), ["bench serve `x`"]);
}

#[test]
fn paths_are_told_from_other_code() {
    assert_eq!(as_path("tests/tests/tidy/main.rs::it"), Some(("tests/tests/tidy/main.rs", Some("it"))));
    assert_eq!(as_path("src-tauri/wire/"), Some(("src-tauri/wire/", None)));
    for other in
        ["bench/core", "~/.local/share/", "http://127.0.0.1/", "/v1/", "golden/<case>/", "cargo xtask run"]
    {
        assert_eq!(as_path(other), None, "{other}");
    }
}
