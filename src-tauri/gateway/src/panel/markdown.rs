//! The reply as markdown, in pieces: joined, the pieces are the whole (panel.md §6).

use super::{ask::Seated, seat::status_word};
use crate::view::{SeatStatus, SeatView};

/// Error text that fits a section.
const ERROR_CHARS: usize = 300;

pub(crate) fn heading(panel: &Seated) -> String {
    let members = match panel.seats.len() {
        1 => "1 member".to_owned(),
        many => format!("{many} members"),
    };
    let mut text = format!(
        "# bench/{}\n\nPanel `{}`: {members}; shape {} ({}).\n\n",
        panel.asking.collection,
        panel.id,
        panel.shape.shape.name(),
        panel.shape.by
    );
    if !panel.skipped.is_empty() {
        let list: Vec<String> =
            panel.skipped.iter().map(|skipped| format!("{} ({})", skipped.alias, skipped.why)).collect();
        text.push_str(&format!("Not asked: {}.\n\n", list.join("; ")));
    }
    text
}

pub(crate) fn section(seat: &SeatView) -> String {
    let status = status_word(seat.status);
    let seconds = seat.seconds.unwrap_or_default();
    let mut text = format!("## member — {}\n\n`{}` · {status} · {seconds:.1} s\n\n", seat.alias, seat.call);
    match seat.status {
        SeatStatus::Ok => text.push_str(seat.answer.trim_end()),
        SeatStatus::Empty => {
            text.push_str(
                "*It answered with nothing: usually its token budget was too small for its thinking.*",
            );
        }
        _ => {
            let error = wire::redact::shorten(&seat.error, ERROR_CHARS);
            // Asterisks and line ends would break out of the italics.
            let error = error.replace('*', "\\*").split_whitespace().collect::<Vec<_>>().join(" ");
            text.push_str(&format!("*{error}*"));
        }
    }
    text.push_str("\n\n");
    text
}

pub(crate) fn closing() -> String {
    "---\n\nJudge an answer: POST /bench/verdict with {\"call\": \"…\", \"useful\": true or false}, and where it helps \
     \"note\", \"real\" and \"false\" (lists of claims); or press U or N in the Benchwarmers window.\n"
        .to_owned()
}
