use clap::Parser;
use control::view::{FailedOverView, LossyView, SeatKind, SeatStatus, SeatView};
use expect_test::expect;

use super::made::{panel, seat};
use super::progress::Progress;
use super::question;
use super::summary::summary;
use crate::args::{Ask, Cli, Color, Command, Common};
use crate::out::Out;

fn out() -> Out {
    Out::new(&Common { json: false, data_dir: None, url: None, yes: false, color: Color::Never })
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
        panel p20261129-154501-9f3a6c01 of bench/core, shape general (default), 12.4 s
        judge with: bench verdict p20261129-154501-9f3a6c01.member1 --useful | --not-useful"#]]
    .assert_eq(&summary(&panel(seats), out()).to_string());
}

#[test]
fn stand_ins_late_seats_and_the_merge() {
    let named = |seat: &str, kind, it: SeatView| SeatView {
        call: format!("p20261129-154501-9f3a6c01.{seat}"),
        seat: seat.to_owned(),
        kind,
        ..it
    };
    let limited = "429: too many requests";
    let mut panel = panel(vec![
        seat(1, "alpha", SeatStatus::Ok, ""),
        seat(2, "beta", SeatStatus::Error, limited),
        SeatView {
            why: "never asked".to_owned(),
            ..named("explorer", SeatKind::Explorer, seat(3, "delta", SeatStatus::Late, ""))
        },
        SeatView {
            stood_in_for: Some("beta".to_owned()),
            why: "another connection: no evidence yet".to_owned(),
            ..named("member2.r1", SeatKind::Reserve, seat(2, "gamma", SeatStatus::Ok, ""))
        },
        named("merger", SeatKind::Merger, seat(4, "alpha", SeatStatus::Ok, "")),
    ]);
    panel.skipped.clear();
    panel.failed_over = vec![FailedOverView {
        seat: "member2".to_owned(),
        call: panel.seats[1].call.clone(),
        from: "beta".to_owned(),
        to: "gamma".to_owned(),
        why: limited.to_owned(),
    }];
    panel.lossy = [("temperature", "ignored by a panel"), ("top_k", "not in its API")]
        .map(|(field, reason)| LossyView { field: field.to_owned(), reason: reason.to_owned() })
        .to_vec();
    panel.reply = "merged".to_owned();
    panel.note = Some("not all of it".to_owned());
    expect![[r#"
        seat        model           status       seconds  tokens     call
        member1     alpha           ok           12.3     812 → 230  p20261129-154501-9f3a6c01.member1
        member2     beta            failed over  0.1                 p20261129-154501-9f3a6c01.member2
        explorer    delta           late         0.1                 p20261129-154501-9f3a6c01.explorer
        member2.r1  gamma for beta  ok           12.3     812 → 230  p20261129-154501-9f3a6c01.member2.r1
        merger      alpha           ok           12.3     812 → 230  p20261129-154501-9f3a6c01.merger
        explorer delta: never asked
        member2.r1 gamma: another connection: no evidence yet
        member2 passed from beta to gamma: 429: too many requests
        delta is late: it goes on, and its answer is recorded
        left out or changed on the way: temperature (ignored by a panel); top_k (not in its API)
        not all of it
        panel p20261129-154501-9f3a6c01 of bench/core, shape general (default), merged, 12.4 s
        judge with: bench verdict p20261129-154501-9f3a6c01.merger --useful | --not-useful"#]]
    .assert_eq(&summary(&panel, out()).to_string());
}

#[test]
fn nobody_answered() {
    let text = summary(&panel(vec![seat(1, "alpha", SeatStatus::Late, "")]), out()).to_string();
    assert!(text.contains("\nno seat answered\n"), "{text}");
    assert!(!text.contains("judge with"), "{text}");
}

#[test]
fn the_reply_mode_behind_a_name_and_in_a_flag() {
    let route = "collection: the reply mode \"route\" is for agents; ask core:all or core:merged";
    let two = "--all and core:merged say two things; leave one out";
    let cases = [
        ("ask core x", Ok(("core", ""))),
        ("ask core:all x", Ok(("core", "all"))),
        ("ask core:merged x", Ok(("core", "merged"))),
        ("ask core --merged x", Ok(("core", "merged"))),
        ("ask core --all x", Ok(("core", "all"))),
        ("ask core:merged --merged x", Ok(("core", "merged"))),
        ("ask core:latest x", Ok(("core:latest", ""))),
        ("ask core:route x", Err((1, route.to_owned()))),
        ("ask core:merged --all x", Err((2, two.to_owned()))),
    ];
    for (line, wanted) in cases {
        let args = asked(line);
        let read = question(&args)
            .map(|question| (question.collection, question.reply))
            .map_err(|failure| (failure.exit(), failure.message().unwrap()));
        assert_eq!(read, wanted, "{line}");
    }
}

fn asked(line: &str) -> Ask {
    match Cli::try_parse_from(["bench"].into_iter().chain(line.split(' '))).unwrap().command {
        Command::Ask(args) => args,
        other => panic!("{other:?}"),
    }
}

#[test]
fn progress_is_for_terminals() {
    let mut progress = Progress::new(Out { json: true, ..out() });
    progress.changed(&seat(1, "alpha", SeatStatus::Waiting, ""));
    progress.draw();
    assert!(!progress.is_shown());
}
