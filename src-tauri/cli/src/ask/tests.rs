use control::view::{FailedOverView, PanelState, PanelView, SeatKind, SeatStatus, SeatView, SkippedView};
use expect_test::expect;

use super::{Progress, collection, summary};
use crate::args::{Color, Common};
use crate::out::Out;

fn out() -> Out {
    Out::new(&Common { json: false, data_dir: None, url: None, yes: false, color: Color::Never })
}

fn seat(n: u32, alias: &str, status: SeatStatus, error: &str) -> SeatView {
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
        answer: if ok { "Yes.".to_owned() } else { String::new() },
        error: error.to_owned(),
        verdict: None,
    }
}

fn panel(seats: Vec<SeatView>) -> PanelView {
    let answered = seats.iter().any(|seat| seat.status == SeatStatus::Ok);
    PanelView {
        id: "p20261129-154501-9f3a6c01".to_owned(),
        collection: "core".to_owned(),
        at: "2026-11-29T15:45:01.000Z".to_owned(),
        client: "bench ask".to_owned(),
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

#[test]
fn the_table_of_seats() {
    let seats = vec![
        seat(1, "alpha", SeatStatus::Ok, ""),
        seat(2, "beta-long", SeatStatus::Error, "429: too many\n  \u{1b}[2J\u{202e}requests"),
    ];
    expect![[r#"
        seat     model      status  seconds  tokens     call
        member1  alpha      ok      12.3     812 → 230  p20261129-154501-9f3a6c01.member1
        member2  beta-long  error   0.1                 p20261129-154501-9f3a6c01.member2
        beta-long: 429: too many requests
        not asked: old (retired 2026-01-02)
        panel p20261129-154501-9f3a6c01 of bench/core, 12.4 s
        judge with: bench verdict p20261129-154501-9f3a6c01.member1 --useful | --not-useful"#]]
    .assert_eq(&summary(&panel(seats), out()).to_string());
}

#[test]
fn a_handover_and_a_note_are_said() {
    let handed = FailedOverView {
        seat: "member1".to_owned(),
        call: "p20261129-154501-9f3a6c01.member1".to_owned(),
        from: "beta".to_owned(),
        to: "gamma".to_owned(),
        why: "429".to_owned(),
    };
    let panel = PanelView {
        failed_over: vec![handed],
        note: Some("not merged: gamma alone answered".to_owned()),
        ..panel(vec![seat(1, "gamma", SeatStatus::Ok, "")])
    };
    let text = summary(&panel, out()).to_string();
    assert!(text.contains("\ngamma took the seat of beta, which failed\n"), "{text}");
    assert!(text.contains("\nnot merged: gamma alone answered\n"), "{text}");
}

#[test]
fn nobody_answered() {
    let text = summary(&panel(vec![seat(1, "alpha", SeatStatus::Late, "")]), out()).to_string();
    assert!(text.contains("\nno seat answered\n"), "{text}");
    assert!(!text.contains("judge with"), "{text}");
}

#[test]
fn the_reply_mode_behind_a_name() {
    let refused = "collection: the reply mode \"route\" is not built in this version; ask core, which gives \
                   every member's answer, or core:merged";
    let cases = [
        ("core", Ok(("core", ""))),
        ("core:all", Ok(("core", "all"))),
        ("core:latest", Ok(("core:latest", ""))),
        ("core:merged", Ok(("core", "merged"))),
        ("core:route", Err((1, refused.to_owned()))),
    ];
    for (name, wanted) in cases {
        let asked = collection(name).map_err(|failure| (failure.exit(), failure.message().unwrap()));
        assert_eq!(asked, wanted, "{name}");
    }
}

#[test]
fn progress_is_for_terminals() {
    let mut progress = Progress::new(Out { json: true, ..out() });
    progress.changed(&seat(1, "alpha", SeatStatus::Waiting, ""));
    progress.draw();
    assert!(!progress.shown);
}
