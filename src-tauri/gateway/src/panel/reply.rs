//! The `bench` object of a reply (wire.md §5).

use plan::Skipped;
use serde_json::{Value, json};

use super::seat::{SeatEnd, status_word};
use crate::view::{FailedOverView, SeatKind, SeatView};

pub(crate) const HOW_TO_JUDGE: &str = r#"POST /bench/verdict {"call", "useful", "note", "real", "false"}"#;

/// What a reply says of its panel as a whole.
pub(crate) struct Outline<'a> {
    pub id: &'a str,
    /// The bare name.
    pub collection: &'a str,
    pub shape: &'a str,
    pub shape_by: &'a str,
    pub members: usize,
    pub explorers: usize,
    pub skipped: &'a [Skipped],
}

/// How the answers were put together.
#[derive(Clone, Debug, Default)]
pub(crate) struct Given {
    /// `all`, `merged`
    pub reply: &'static str,
    pub merger: Option<SeatView>,
    /// Why it is not the reply that was asked for.
    pub note: Option<String>,
}

pub(crate) fn bench_object(
    panel: &Outline<'_>,
    seats: &[SeatEnd],
    failed_over: &[FailedOverView],
    given: &Given,
) -> Value {
    let skipped = panel.skipped.iter();
    json!({
        "panel": panel.id,
        "collection": format!("bench/{}", panel.collection),
        "shape": panel.shape,
        "shape_by": panel.shape_by,
        "reply": given.reply,
        "seats": seats.iter().map(|end| seat_object(&end.view)).collect::<Vec<_>>(),
        "merger": given.merger.as_ref().map(seat_object),
        "note": given.note,
        "skipped": skipped
            .map(|it| json!({"seat": it.seat, "alias": it.alias, "why": it.why}))
            .collect::<Vec<_>>(),
        "failed_over": failed_over,
        "verdict": HOW_TO_JUDGE,
    })
}

/// What a caller is told that a seat is. A stand-in sits in a member's chair.
pub(crate) fn chair(seat: &SeatView) -> SeatKind {
    match seat.kind {
        SeatKind::Reserve => SeatKind::Member,
        kind => kind,
    }
}

/// One seat or call as a caller reads it.
pub(crate) fn seat_object(seat: &SeatView) -> Value {
    json!({
        "call": seat.call,
        "seat": chair(seat),
        "alias": seat.alias,
        "status": status_word(seat.status),
        "seconds": seat.seconds,
        "first_token_s": seat.first_token_s,
        "tokens_in": seat.tokens_in,
        "tokens_out": seat.tokens_out,
        "answer": seat.answer,
        "error": seat.error,
        "stood_in_for": seat.stood_in_for,
    })
}
