//! A conversation for tests.

use control::view::{
    CandidateView, ConversationView, LossyView, RoutedCall, SkippedView, TurnFailedOver, TurnStatus,
    TurnView, VerdictView, WhyThisModel,
};

const ID: &str = "r20261129-154501-9f3a6c01";

pub fn conversation() -> ConversationView {
    let call = |call: &str, alias: &str, turn: Option<u32>, useful: Option<bool>| RoutedCall {
        call: format!("{ID}.{call}"),
        alias: alias.to_owned(),
        endpoint: "fake".to_owned(),
        shadow: turn.is_some(),
        turn,
        status: TurnStatus::Ok,
        answer: String::new(),
        verdict: useful.map(|useful| VerdictView {
            call: format!("{ID}.{call}"),
            useful,
            note: String::new(),
            real: Vec::new(),
            false_claims: Vec::new(),
            at: "2026-11-29T15:50:00.000Z".to_owned(),
        }),
    };
    ConversationView {
        id: ID.to_owned(),
        collection: "agents".to_owned(),
        at: "2026-11-29T15:45:01.000Z".to_owned(),
        last_at: "2026-11-29T15:46:01.000Z".to_owned(),
        client: "claude-cli".to_owned(),
        caller: None,
        title: "Make the loop\nhonour Retry-After".to_owned(),
        alias: "beta".to_owned(),
        running: false,
        turns: 2,
        tool_calls: 1,
        failed_over: 1,
        tokens_in: Some(3_000),
        tokens_out: Some(40),
        cost: Some(0.0061),
        cost_unknown: 1,
        status: TurnStatus::Ok,
        calls: vec![call("1", "beta", None, Some(true)), call("1.s1", "gamma", Some(2), Some(false))],
        practice: false,
    }
}

pub fn turn(n: u32) -> TurnView {
    TurnView {
        conversation: ID.to_owned(),
        turn: n,
        at: "2026-11-29T15:45:01.000Z".to_owned(),
        call: format!("{ID}.1"),
        alias: "beta".to_owned(),
        endpoint: "fake".to_owned(),
        served: "beta-1".to_owned(),
        served_as: Some("gamma-2-0711".to_owned()),
        swapped: true,
        api: "anthropic".to_owned(),
        member_api: "chat".to_owned(),
        status: TurnStatus::Ok,
        seconds: Some(6.44),
        first_token_s: Some(0.7),
        tool_calls: 1,
        finish: Some("tool_calls".to_owned()),
        tokens_in: Some(1_500),
        tokens_out: Some(20),
        tokens_reasoning: None,
        cache_read: Some(1_200),
        cache_write: None,
        cost: (n == 1).then_some(0.0061),
        overhead_ms: 0.91,
        error: String::new(),
        failed_over: vec![TurnFailedOver {
            from: "alpha".to_owned(),
            to: "beta".to_owned(),
            why: "rate limited (429, wait 40 s)".to_owned(),
        }],
        skipped: vec![SkippedView {
            seat: "member".to_owned(),
            alias: "delta".to_owned(),
            why: "takes no tools".to_owned(),
        }],
        lossy: vec![LossyView { field: "top_k".to_owned(), reason: "not in this API".to_owned() }],
        why: WhyThisModel {
            by: "best record".to_owned(),
            candidates: vec![
                CandidateView {
                    alias: "alpha".to_owned(),
                    why: "3 of 4 useful on code".to_owned(),
                    useful: 3,
                    judged: 4,
                    useful_overall: 5,
                    judged_overall: 9,
                    offloads: 21,
                },
                CandidateView {
                    alias: "beta".to_owned(),
                    why: "no evidence yet".to_owned(),
                    ..CandidateView::default()
                },
            ],
        },
        question: String::new(),
        answer: String::new(),
    }
}
