//! The `bench` object of a reply (wire.md §5).

use serde_json::{Value, json};

use super::{
    ask::Seated,
    seat::{SeatEnd, status_word},
};
use crate::view::SeatView;

pub(crate) const HOW_TO_JUDGE: &str = r#"POST /bench/verdict {"call", "useful", "note", "real", "false"}"#;

pub(crate) fn bench_object(panel: &Seated, seats: &[SeatEnd]) -> Value {
    json!({
        "panel": panel.id,
        "collection": format!("bench/{}", panel.asking.collection),
        "shape": panel.shape.shape.name(),
        "shape_by": panel.shape.by,
        "reply": "all",
        "seats": seats.iter().map(|end| seat_object(&end.view)).collect::<Vec<_>>(),
        "merger": null,
        "note": null,
        "skipped": panel.skipped.iter().map(|skipped| json!({
            "seat": skipped.seat, "alias": skipped.alias, "why": skipped.why
        })).collect::<Vec<_>>(),
        "failed_over": [],
        "verdict": HOW_TO_JUDGE,
    })
}

/// One seat or call as a caller reads it.
pub(crate) fn seat_object(seat: &SeatView) -> Value {
    json!({
        "call": seat.call,
        "seat": seat.kind,
        "alias": seat.alias,
        "status": status_word(seat.status),
        "seconds": seat.seconds,
        "first_token_s": seat.first_token_s,
        "tokens_in": seat.tokens_in,
        "tokens_out": seat.tokens_out,
        "answer": seat.answer,
        "error": seat.error,
        "stood_in_for": null,
    })
}
