//! That `tests/golden/cases.txt` is true: every dialect has a case of every kind, and the case shows it.

use std::{fs, path::Path};

#[test]
fn every_dialect_has_a_case_of_every_kind() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/golden");
    let list = fs::read_to_string(root.join("cases.txt")).unwrap();
    let head = list.lines().find_map(|line| line.strip_prefix("# kind")).unwrap();
    let dialects: Vec<&str> = head.split_whitespace().collect();
    assert_eq!(dialects.len(), 5);
    let mut kinds = 0;
    for line in list.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
        let mut words = line.split_whitespace();
        let kind = words.next().unwrap();
        let cases: Vec<&str> = words.collect();
        assert_eq!(cases.len(), dialects.len(), "{line}");
        for (dialect, case) in dialects.iter().zip(cases).filter(|(_, case)| *case != "-") {
            let folder = root.join(format!("{dialect}-{case}"));
            let text = |name: &str| fs::read_to_string(folder.join(name)).unwrap_or_default();
            let (asked, said) = (text("inner.txt"), text("events.txt"));
            assert!(!asked.is_empty(), "{kind}: there is no case {dialect}-{case}");
            assert!(shows(kind, &asked, &said), "{dialect}-{case} does not show {kind}");
        }
        kinds += 1;
    }
    assert_eq!(kinds, 17);
}

/// Whether what was asked or what was said holds it.
fn shows(kind: &str, asked: &str, said: &str) -> bool {
    let last = said.lines().last().unwrap_or_default();
    let call_is = |index: usize| said.contains(&format!("CallStart(CallStart {{ index: {index},"));
    match kind {
        "text" => said.contains("Text(") && last.starts_with("Finish"),
        "system" => asked.contains("role: System") || asked.contains("role: Developer"),
        "multi-turn" => asked.matches("role: Assistant").count() >= 2 && said.contains("Text("),
        "image" => asked.contains("Image("),
        "document" => asked.contains("Document("),
        "call" => call_is(0) && last.contains("ToolCalls"),
        "parallel" => call_is(0) && call_is(1),
        "empty-arguments" => call_is(0) && said.contains("delta: \"{}\""),
        "result-image" => asked.contains("ToolResult(") && asked.contains("Image("),
        "result-error" => asked.contains("is_error: true"),
        "thinking" => said.contains("Thinking(") && call_is(0),
        "structured" => asked.contains("structured_output: Some("),
        "length" => last.contains("Length"),
        "filter" => last.contains("ContentFilter") || said.contains("Refusal("),
        "error-before" => !said.contains("Text(") && last.starts_with("Error("),
        "error-after" => said.contains("Text(") && last.starts_with("Error("),
        "truncated" => said.contains("Text(") && last.contains("before its end mark"),
        _ => false,
    }
}
