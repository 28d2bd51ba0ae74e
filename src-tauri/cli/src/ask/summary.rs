//! The table of a panel's seats, and what is to be said about it.

use control::view::{PanelView, SeatKind, SeatStatus, SeatView};

use crate::clean::one_line;
use crate::out::Out;
use crate::paint::{Look, Painted};
use crate::table::Table;

/// What is shown of an error, in characters.
const ERROR: usize = 400;

/// Every seat with its call id, who was not asked and why, and how to judge.
pub fn summary(panel: &PanelView, out: Out) -> Painted {
    let mut table = Table::new(&["seat", "model", "status", "seconds", "tokens", "call"]);
    let plain = |text: String| (text, Look::Plain);
    for seat in &panel.seats {
        let passed_on = panel.failed_over.iter().any(|it| it.call == seat.call);
        let stood_in = seat.stood_in_for.as_ref().map_or(String::new(), |alias| format!(" for {alias}"));
        table.row([
            plain(seat.seat.clone()),
            plain(format!("{}{stood_in}", seat.alias)),
            match (passed_on, seat.status) {
                (true, _) => ("failed over".to_owned(), Look::Bad),
                (false, SeatStatus::Ok) => ("ok".to_owned(), Look::Good),
                (false, other) => (status(other).to_owned(), Look::Bad),
            },
            plain(seat.seconds.map_or_else(String::new, |seconds| format!("{seconds:.1}"))),
            plain(tokens(seat)),
            plain(seat.call.clone()),
        ]);
    }
    Painted::lines([table.text(out.note_paint), Painted::plain(&remarks(panel).join("\n"))])
}

/// One line each.
fn remarks(panel: &PanelView) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    let chosen = panel.seats.iter().filter(|seat| !seat.why.is_empty());
    lines.extend(chosen.map(|seat| format!("{} {}: {}", seat.seat, seat.alias, seat.why)));
    lines.extend(
        panel.failed_over.iter().map(|it| {
            format!("{} passed from {} to {}: {}", it.seat, it.from, it.to, one_line(&it.why, ERROR))
        }),
    );
    let passed_on = |seat: &SeatView| panel.failed_over.iter().any(|it| it.call == seat.call);
    let failed = panel.seats.iter().filter(|seat| !seat.error.is_empty() && !passed_on(seat));
    lines.extend(failed.map(|seat| format!("{}: {}", seat.alias, one_line(&seat.error, ERROR))));
    let late = panel.seats.iter().filter(|seat| seat.status == SeatStatus::Late);
    lines.extend(late.map(|seat| format!("{} is late: it goes on, and its answer is recorded", seat.alias)));
    lines.extend(panel.skipped.iter().map(|it| format!("not asked: {} ({})", it.alias, it.why)));
    if !panel.lossy.is_empty() {
        let fields: Vec<String> =
            panel.lossy.iter().map(|it| format!("{} ({})", it.field, it.reason)).collect();
        lines.push(format!("left out or changed on the way: {}", fields.join("; ")));
    }
    lines.extend(panel.note.clone());
    lines.extend(panel.error.iter().map(|error| one_line(error, ERROR)));
    let practice = if panel.practice { " (practice)" } else { "" };
    let reply = if panel.reply == "merged" { ", merged" } else { "" };
    let seconds = panel.seconds.map_or_else(String::new, |seconds| format!(", {seconds:.1} s"));
    lines.push(format!(
        "panel {} of bench/{}{practice}, shape {} ({}){reply}{seconds}",
        panel.id, panel.collection, panel.shape, panel.shape_by
    ));
    // Of a merged answer that one was read, else the first.
    let answered = |kind: Option<SeatKind>| {
        let fits =
            |seat: &&SeatView| seat.status == SeatStatus::Ok && kind.is_none_or(|kind| seat.kind == kind);
        panel.seats.iter().find(fits)
    };
    if let Some(seat) = answered(Some(SeatKind::Merger)).or_else(|| answered(None)) {
        lines.push(format!("judge with: bench verdict {} --useful | --not-useful", seat.call));
    }
    lines
}

fn tokens(seat: &SeatView) -> String {
    match (seat.tokens_in, seat.tokens_out) {
        (None, None) => String::new(),
        (given, made) => {
            let count =
                |tokens: Option<u64>| tokens.map_or_else(|| "?".to_owned(), |tokens| tokens.to_string());
            format!("{} → {}", count(given), count(made))
        }
    }
}

/// A seat's section in what is told of a panel: a stand-in sits in a member's seat.
pub fn section(seat: &SeatView) -> String {
    let kind = match seat.kind {
        SeatKind::Member | SeatKind::Reserve => "member",
        SeatKind::Explorer => "explorer",
        SeatKind::Merger => "merger",
    };
    let stood_in = seat.stood_in_for.as_ref().map_or(String::new(), |alias| format!(" for {alias}"));
    format!("## {kind} — {}{stood_in}\n\n{}\n", seat.alias, seat.answer.trim_end())
}

pub fn status(status: SeatStatus) -> &'static str {
    match status {
        SeatStatus::Waiting => "waiting",
        SeatStatus::Answering => "answering",
        SeatStatus::Ok => "ok",
        SeatStatus::Empty => "empty",
        SeatStatus::Error => "error",
        SeatStatus::Late => "late",
        SeatStatus::Cancelled => "cancelled",
    }
}
