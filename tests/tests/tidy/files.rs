use std::path::Path;

use crate::tree;

/// Longer than this, a file is more than one thing.
const TOO_LONG: usize = 500;

const CODE: &[&str] = &["rs", "ts", "svelte"];

/// Written by a program: `ui/src/host/gen.ts`.
const GENERATED: &[&str] = &["ui/src/host/gen.ts"];

#[test]
fn files_stay_readable() {
    let mut lengths: Vec<(usize, &Path)> = tree::with_extension(CODE)
        .filter(|path| !GENERATED.iter().any(|made| path.as_path() == Path::new(made)))
        .map(|path| (tree::read(path).lines().count(), path.as_path()))
        .collect();
    lengths.sort_unstable();
    let median = lengths[lengths.len() / 2].0;
    eprintln!("{} files of code, half of them at most {median} lines", lengths.len());
    let long: Vec<_> = lengths.iter().filter(|(lines, _)| *lines > TOO_LONG).collect();
    assert!(long.is_empty(), "more than {TOO_LONG} lines, so more than one thing: {long:?}");
}

#[test]
fn one_file_of_the_window_knows_tauri() {
    let package = concat!("@tauri", "-apps/");
    let importers: Vec<_> = tree::with_extension(&["ts", "js", "svelte"])
        .filter(|path| path.starts_with("ui/src") && tree::read(path).contains(package))
        .collect();
    assert_eq!(
        importers,
        [Path::new("ui/src/host/tauri.ts")],
        "the window reaches its host through ui/src/host"
    );
}

#[test]
fn nothing_is_left_unfinished() {
    // In pieces, so that this file does not find itself.
    let marks = [
        concat!("TO", "DO"),
        concat!("FIX", "ME"),
        concat!("XX", "X"),
        concat!("todo", "!("),
        concat!("unimplemented", "!("),
        concat!("#[ign", "ore"),
        concat!("it.sk", "ip("),
        concat!("it.on", "ly("),
        concat!("test.sk", "ip("),
        concat!("test.on", "ly("),
        concat!("describe.sk", "ip("),
        concat!("describe.on", "ly("),
    ];
    let found = lines_with(&marks, &["rs", "ts", "js", "svelte", "toml", "py", "sh", "css"]);
    assert!(found.is_empty(), "unfinished:\n{}", found.join("\n"));
}

#[test]
fn nothing_names_a_path_of_one_machine() {
    let places = [
        concat!("/ro", "ot/"),
        concat!("/ho", "me/"),
        concat!("/Us", "ers/"),
        concat!("/wo", "rk/"),
        concat!("/fa", "rm/"),
    ];
    let found: Vec<String> = tree::files()
        .iter()
        .flat_map(|path| {
            lines_of(path)
                .filter(|(_, line)| names_a_place(line, &places))
                .map(|(at, _)| at)
                .collect::<Vec<_>>()
        })
        .collect();
    assert!(found.is_empty(), "paths that exist on one machine only:\n{}", found.join("\n"));
}

/// Lines holding one of `marks`, as `path:line: text`.
fn lines_with(marks: &[&str], endings: &[&str]) -> Vec<String> {
    tree::with_extension(endings)
        .flat_map(|path| {
            lines_of(path)
                .filter(|(_, line)| marks.iter().any(|mark| line.contains(mark)))
                .collect::<Vec<_>>()
        })
        .map(|(at, line)| format!("{at}: {}", line.trim()))
        .collect()
}

fn lines_of(path: &Path) -> impl Iterator<Item = (String, String)> {
    let lines: Vec<String> = tree::read(path).lines().map(str::to_owned).collect();
    let path = path.display().to_string();
    lines.into_iter().enumerate().map(move |(at, line)| (format!("{path}:{}", at + 1), line))
}

/// A place at the start of a path, not in the middle of a longer one (`a/b/c`), nor before a placeholder
/// (`<me>`, escaped or not).
fn names_a_place(line: &str, places: &[&str]) -> bool {
    places.iter().any(|place| {
        line.match_indices(place).any(|(at, _)| {
            let (before, after) = (&line[..at], &line[at + place.len()..]);
            let goes_on = before.ends_with(|last: char| last.is_alphanumeric() || "._-~*$}".contains(last));
            !goes_on && !after.starts_with(['<', '&'])
        })
    })
}

#[test]
fn a_place_is_told_from_the_middle_of_a_path() {
    let places = ["/a/"];
    assert!(names_a_place("see /a/b", &places));
    assert!(names_a_place("file:///a/b", &places));
    assert!(!names_a_place("src/a/b", &places));
    assert!(!names_a_place("~/a/b", &places));
    assert!(!names_a_place("/a/<me>", &places));
}
