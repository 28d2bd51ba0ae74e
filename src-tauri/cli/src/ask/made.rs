//! Panels for tests.

use control::view::{PanelState, PanelView, SeatKind, SeatStatus, SeatView, SkippedView};

pub fn seat(n: u32, alias: &str, status: SeatStatus, error: &str) -> SeatView {
    let ok = status == SeatStatus::Ok;
    SeatView {
        call: format!("p20261129-154501-9f3a6c01.member{n}"),
        seat: format!("member{n}"),
        kind: SeatKind::Member,
        alias: alias.to_owned(),
        endpoint: "fake".to_owned(),
        why: String::new(),
        stood_in_for: None,
        status,
        seconds: Some(if ok { 12.34 } else { 0.05 }),
        first_token_s: ok.then_some(0.8),
        tokens_in: ok.then_some(812),
        tokens_out: ok.then_some(230),
        cost: None,
        swapped_for: None,
        answer: if ok { "Yes.".to_owned() } else { String::new() },
        error: error.to_owned(),
        verdict: None,
    }
}

pub fn panel(seats: Vec<SeatView>) -> PanelView {
    let answered = seats.iter().any(|seat| seat.status == SeatStatus::Ok);
    PanelView {
        id: "p20261129-154501-9f3a6c01".to_owned(),
        collection: "core".to_owned(),
        at: "2026-11-29T15:45:01.000Z".to_owned(),
        client: "bench ask".to_owned(),
        caller: None,
        system: String::new(),
        prompt: "look".to_owned(),
        turns: 1,
        shape: "general".to_owned(),
        shape_by: "default".to_owned(),
        reply: "all".to_owned(),
        state: if answered { PanelState::Done } else { PanelState::Failed },
        seconds: Some(12.4),
        seats,
        skipped: vec![SkippedView {
            seat: "member".to_owned(),
            alias: "old".to_owned(),
            why: "retired 2026-01-02".to_owned(),
        }],
        failed_over: Vec::new(),
        note: None,
        lossy: Vec::new(),
        error: (!answered).then(|| "no seat answered".to_owned()),
        practice: false,
    }
}
