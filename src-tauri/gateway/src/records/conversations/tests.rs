use store::{CallRow, ConversationRow, StoredCall, StoredConversation, Totals, TurnRow, VerdictRow};

use super::*;

fn stored(id: &str, calls: Vec<StoredCall>) -> StoredConversation {
    let row = ConversationRow {
        id: id.into(),
        collection: "agents".into(),
        alias: "beta".into(),
        ..Default::default()
    };
    StoredConversation {
        row,
        last_at_ms: 1_500,
        turns: 3,
        totals: Totals {
            tool_calls: 2,
            failed_over: 1,
            tokens_in: Some(10),
            tokens_out: None,
            cost: Some(0.25),
            cost_unknown: 2,
            status: "empty".into(),
        },
        calls,
    }
}

fn call(call: &str, kind: &str, seat: &str, useful: Option<bool>) -> StoredCall {
    let verdict = useful.map(|useful| VerdictRow {
        call: call.into(),
        useful,
        note: String::new(),
        real: Vec::new(),
        false_claims: Vec::new(),
        at_ms: 0,
        by: "local".into(),
    });
    let row = CallRow {
        call: call.into(),
        kind: kind.into(),
        seat: seat.into(),
        alias: "beta".into(),
        status: "ok".into(),
        answer: if kind == "shadow" { "Beside.".into() } else { String::new() },
        ..CallRow::default()
    };
    StoredCall { row, collection: "agents".into(), verdict, text_pruned: false }
}

fn live(id: &str, calls: &[&str]) -> ConversationView {
    let call = |call: &&str| RoutedCall {
        call: (*call).into(),
        alias: "beta".into(),
        endpoint: String::new(),
        shadow: false,
        turn: None,
        status: TurnStatus::Running,
        answer: String::new(),
        verdict: None,
    };
    ConversationView {
        id: id.into(),
        running: true,
        turns: 4,
        last_at: rfc3339(9_000),
        calls: calls.iter().map(call).collect(),
        ..ConversationView::default()
    }
}

fn calls(view: &ConversationView) -> Vec<(&str, Option<u32>, Option<bool>)> {
    let one = |it: &'_ RoutedCall| it.verdict.as_ref().map(|verdict| verdict.useful);
    view.calls.iter().map(|it| (it.call.as_str(), it.turn, one(it))).collect()
}

#[test]
fn own_calls_come_before_shadows_and_a_shadow_says_its_turn() {
    let view = conversation_view(stored(
        "r1",
        vec![
            call("r1.1", "route", "1", None),
            call("r1.1.s1", "shadow", "turn2", Some(false)),
            call("r1.2", "route", "2", Some(true)),
            call("r1.2.s2", "shadow", "turn12", None),
        ],
    ));
    assert_eq!(
        calls(&view),
        [
            ("r1.1", None, None),
            ("r1.2", None, Some(true)),
            ("r1.1.s1", Some(2), Some(false)),
            ("r1.2.s2", Some(12), None),
        ]
    );
    assert_eq!(
        (view.calls[1].shadow, view.calls[2].shadow, view.calls[2].answer.as_str()),
        (false, true, "Beside.")
    );
    assert_eq!(
        (view.status, view.running, view.tokens_in, view.tokens_out),
        (TurnStatus::Empty, false, Some(10), None)
    );
    assert_eq!(
        (view.cost, view.cost_unknown, view.last_at.as_str()),
        (Some(0.25), 2, "1970-01-01T00:00:01.500Z")
    );
}

#[test]
fn one_that_is_live_stands_as_it_is_now_judged_as_the_record_says() {
    let kept = vec![call("r1.1", "route", "1", Some(true)), call("r1.1.s1", "shadow", "turn1", None)];
    let views = with_live(
        vec![stored("r1", kept), stored("r0", Vec::new())],
        vec![live("r1", &["r1.1", "r1.2"])],
        false,
    );
    assert_eq!(
        views.iter().map(|it| (it.id.as_str(), it.running)).collect::<Vec<_>>(),
        [("r1", true), ("r0", false)]
    );
    assert_eq!(
        calls(&views[0]),
        [("r1.1", None, Some(true)), ("r1.2", None, None), ("r1.1.s1", Some(1), None)]
    );
    assert_eq!(views[0].turns, 4);
}

#[test]
fn one_that_is_not_on_disk_yet_is_among_the_newest_only() {
    for (all, wanted) in [(true, 2), (false, 1)] {
        let views = with_live(vec![stored("r1", Vec::new())], vec![live("r2", &[])], all);
        assert_eq!(views.len(), wanted);
    }
}

#[test]
fn a_turn_is_shown_as_it_was_written() {
    let row = TurnRow {
        conversation: ConversationRow { id: "r1".into(), ..Default::default() },
        n: 7,
        status: "cancelled".into(),
        seconds: 1.5,
        failed_over_json: r#"[{"from":"alpha","to":"beta","why":"429"}]"#.into(),
        skipped_json: r#"[{"seat":"member","alias":"old","why":"retired"}]"#.into(),
        lossy_json: "not JSON".into(),
        why_json:
            r#"{"by":"best record","candidates":[{"alias":"beta","why":"1 of 2 useful","useful":1,"judged":2,
            "useful_overall":1,"judged_overall":2,"offloads":3}]}"#
                .into(),
        ..TurnRow::default()
    };
    let view = turn_view(row);
    assert_eq!((view.conversation.as_str(), view.turn, view.status), ("r1", 7, TurnStatus::Cancelled));
    assert_eq!((view.failed_over[0].to.as_str(), view.skipped[0].why.as_str()), ("beta", "retired"));
    assert_eq!((view.lossy.len(), view.seconds), (0, Some(1.5)));
    let it = &view.why.candidates[0];
    assert_eq!((it.useful, it.judged, it.offloads), (1, 2, 3));
}
