//! Full text: what is found, by which words, and that what is gone is not found.

use store::{CallRow, NewVerdict, PanelRow, RecordFilter, Store};

use crate::harness::{Folder, START, call, done, panel};

fn ask(store: &Store, id: &str, at: i64, prompt: &str, answer: &str) {
    drop(store.panel_started(PanelRow { at_ms: START + at, prompt: prompt.to_owned(), ..panel(id) }));
    drop(store.call_ended(CallRow { answer: answer.to_owned(), ..call(id, 1, "alpha") }));
    store.panel_ended(done(id)).blocking_wait().unwrap();
}

fn judge(store: &Store, call: &str, note: &str, claims: &[&str]) {
    let verdict = NewVerdict {
        call: call.to_owned(),
        useful: true,
        note: Some(note.to_owned()),
        false_claims: Some(claims.iter().map(|&claim| claim.to_owned()).collect()),
        by: "window".to_owned(),
        ..NewVerdict::default()
    };
    store.give_verdict(verdict).blocking_wait().unwrap();
}

/// Each hit as `panel`, `panel?` when the prompt matched, and the calls.
fn found(store: &Store, query: &str) -> Vec<String> {
    let hits = store.search(query, None, 10).unwrap();
    let line = |hit: store::Hit| {
        let prompt = if hit.in_prompt { "?" } else { "" };
        format!("{}{prompt} {}", hit.panel.row.id, hit.calls.join(" ")).trim_end().to_owned()
    };
    hits.into_iter().map(line).collect()
}

#[test]
fn prompts_answers_notes_and_claims_are_found() {
    let folder = Folder::new();
    let store = folder.open();
    ask(&store, "p1", 1, "Why is the sky blue?", "Rayleigh scattering of sunlight.");
    ask(&store, "p2", 2, "Why do cats purr?", "Nobody knows; the SKY is silent.");
    ask(&store, "p3", 3, "Warum ist Käse gelb? 为什么", "Carotin_0 und O'Reilly (2019) *");
    judge(&store, "p2.member1", "a fine joke", &["the moon is cheese"]);

    for (query, wanted) in [
        ("sky", vec!["p2 p2.member1", "p1?"]),
        ("why", vec!["p2?", "p1?"]),
        ("why sky", vec!["p1?"]),
        ("sky rayleigh", vec![]),
        ("scatt", vec!["p1 p1.member1"]),
        ("scatt of", vec![]),
        ("joke", vec!["p2 p2.member1"]),
        ("moon cheese", vec!["p2 p2.member1"]),
        ("kase", vec!["p3?"]),
        ("为什么", vec!["p3?"]),
        ("O'Reilly", vec!["p3 p3.member1"]),
        ("carotin_0", vec!["p3 p3.member1"]),
        ("", vec![]),
        ("  *\"(", vec![]),
        ("prompt:sky", vec![]),
        ("sky OR cats", vec![]),
        ("NEAR(sky)", vec![]),
        ("nothing", vec![]),
    ] {
        assert_eq!(found(&store, query), wanted, "{query:?}");
    }
    let older = store.search("sky", Some("p2"), 10).unwrap();
    assert_eq!(older.iter().map(|hit| hit.panel.row.id.as_str()).collect::<Vec<_>>(), ["p1"]);
    assert_eq!(store.search("why", None, 1).unwrap().len(), 1);
}

#[test]
fn a_common_word_is_found_page_by_page() {
    let folder = Folder::new();
    let store = folder.open();
    // Written in another order than they were asked.
    for number in [3_i64, 0, 2, 1, 6, 5, 4, 9, 7, 8] {
        ask(&store, &format!("p{number}"), number, "the same question", "the same answer");
        judge(&store, &format!("p{number}.member1"), "the same note", &[]);
    }
    let (mut pages, mut before) = (Vec::new(), None::<String>);
    loop {
        let hits = store.search("same", before.as_deref(), 4).unwrap();
        for hit in &hits {
            assert!(hit.in_prompt);
            assert_eq!(hit.calls, [format!("{}.member1", hit.panel.row.id)]);
        }
        let ids: Vec<String> = hits.iter().map(|hit| hit.panel.row.id.clone()).collect();
        let Some(last) = ids.last() else { break };
        before = Some(last.clone());
        pages.push(ids.join(" "));
    }
    assert_eq!(pages, ["p9 p8 p7 p6", "p5 p4 p3 p2", "p1 p0"]);
    assert!(store.search("same", Some("unknown"), 4).unwrap().is_empty());
}

#[test]
fn a_verdict_that_no_longer_stands_is_not_found_and_nor_is_pruned_text() {
    let folder = Folder::new();
    let store = folder.open();
    ask(&store, "p1", 1, "first words", "first answer");
    judge(&store, "p1.member1", "brilliant", &[]);
    judge(&store, "p1.member1", "mediocre", &[]);
    assert_eq!(found(&store, "brilliant"), Vec::<String>::new());
    assert_eq!(found(&store, "mediocre"), ["p1 p1.member1"]);
    store.clear_verdict("p1.member1".to_owned(), "window".to_owned()).blocking_wait().unwrap();
    assert_eq!(found(&store, "mediocre"), Vec::<String>::new());

    judge(&store, "p1.member1", "kept", &[]);
    store.prune_text(START + 2).blocking_wait().unwrap();
    assert_eq!(found(&store, "first"), Vec::<String>::new());
    assert_eq!(found(&store, "kept"), ["p1 p1.member1"], "a verdict is for ever");
}

#[test]
fn a_record_can_be_of_tasks_like_this_one() {
    let folder = Folder::new();
    let store = folder.open();
    ask(&store, "p1", 1, "Review this Rust function for overflow", "fine");
    ask(&store, "p2", 2, "Write a poem about rain", "drip");
    let of = |task: &str| {
        let filter = RecordFilter { task: Some(task.to_owned()), ..RecordFilter::default() };
        store.record(filter).unwrap().iter().map(|record| record.offloads).sum::<u64>()
    };
    assert_eq!(of("please review my rust code"), 1);
    assert_eq!(of("a poem, or a function"), 2);
    assert_eq!(of("quantum"), 0);
    assert_eq!(of("?!"), 0);
}
