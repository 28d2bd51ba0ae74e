//! The reply as markdown, in pieces: joined, the pieces are the whole (panel.md §6).

use plan::Skipped;

use super::{reply::Outline, seat::status_word};
use crate::view::{SeatKind, SeatStatus, SeatView};

/// Error text that fits a section.
const ERROR_CHARS: usize = 300;

pub(crate) fn heading(panel: &Outline<'_>) -> String {
    let counted = |count: usize, word: &str| match count {
        1 => format!("1 {word}"),
        many => format!("{many} {word}s"),
    };
    let mut who = counted(panel.members, "member");
    if panel.explorers > 0 {
        who.push_str(&format!(", {}", counted(panel.explorers, "explorer")));
    }
    let mut text = format!(
        "# bench/{}\n\nPanel `{}`: {who}; shape {} ({}).\n\n",
        panel.collection, panel.id, panel.shape, panel.shape_by
    );
    if !panel.skipped.is_empty() {
        let named = |skipped: &Skipped| format!("{} ({})", skipped.alias, skipped.why);
        let list: Vec<String> = panel.skipped.iter().map(named).collect();
        text.push_str(&format!("Not asked: {}.\n\n", list.join("; ")));
    }
    text
}

/// One seat. `failed` says why the one it stands in for did not answer.
pub(crate) fn section(seat: &SeatView, failed: Option<&str>) -> String {
    let kind = match seat.kind {
        SeatKind::Explorer => "explorer",
        _ => "member",
    };
    let status = status_word(seat.status);
    let seconds = seat.seconds.unwrap_or_default();
    let mut text = format!("## {kind} — {}\n\n`{}` · {status} · {seconds:.1} s", seat.alias, seat.call);
    if let Some(alias) = &seat.stood_in_for {
        text.push_str(&format!(" · for {alias}, which failed: {}", inline(failed.unwrap_or("no answer"))));
    }
    text.push_str("\n\n");
    match seat.status {
        SeatStatus::Ok => text.push_str(seat.answer.trim_end()),
        SeatStatus::Empty => {
            text.push_str(
                "*It answered with nothing: usually its token budget was too small for its thinking.*",
            );
        }
        SeatStatus::Late => {
            text.push_str("*It had not answered when the others were done; its answer will be on record.*");
        }
        _ => text.push_str(&format!("*{}*", inline(&seat.error))),
    }
    text.push_str("\n\n");
    text
}

pub(crate) fn closing() -> String {
    "---\n\nJudge an answer: POST /bench/verdict with {\"call\": \"…\", \"useful\": true or false}, and where it helps \
     \"note\", \"real\" and \"false\" (lists of claims); or press U or N in the Benchwarmers window.\n"
        .to_owned()
}

/// A provider's words within a line in italics: asterisks and line ends would break out of it.
pub(crate) fn one_line(words: &str) -> String {
    words.replace('*', "\\*").split_whitespace().collect::<Vec<_>>().join(" ")
}

fn inline(error: &str) -> String {
    one_line(&wire::redact::shorten(error, ERROR_CHARS))
}

#[cfg(test)]
mod tests {
    use super::one_line;

    #[test]
    fn a_provider_s_words_stay_in_their_line() {
        assert_eq!(one_line("no *capacity*\n\n# now\r\n"), "no \\*capacity\\* # now");
    }
}
