//! A member's seat that fails for want of capacity passes to a reserve (panel.md §5).

use plan::{SeatKind, Shape};

use super::{run::Run, seat::SeatEnd};
use crate::{alerts, view::FailedOverView};

impl Run {
    /// Has another model take the seat that has just failed; `false` when it keeps its end.
    pub(super) fn stands_in(&mut self, end: &SeatEnd) -> bool {
        if !matches!(end.seat.kind, SeatKind::Member | SeatKind::Reserve) {
            return false;
        }
        let Some(why) = end.hands_over() else { return false };
        let shape = self.shape.as_ref().map_or(Shape::GENERAL, |shape| shape.shape.clone());
        let chosen = self.gateway.choose(&self.panel, |input| {
            plan::reserve(input, &shape, &self.seats, &end.seat.seat).map(|seat| (vec![seat], ()))
        });
        let seats = match chosen {
            Ok((seats, ())) => seats,
            Err(none) => {
                tracing::debug!(panel = self.panel.id, seat = end.seat.seat, %none, "no stand-in");
                return false;
            }
        };
        let Some(mut plan) = self.gateway.plan_seats(&self.panel, seats).pop() else { return false };
        // Of a second stand-in too, the seat is the member's.
        plan.stood_in_for = Some(end.view.stood_in_for.clone().unwrap_or_else(|| end.view.alias.clone()));
        let failed_over = FailedOverView {
            seat: end.seat.seat.clone(),
            call: end.view.call.clone(),
            from: end.view.alias.clone(),
            to: plan.model.alias.clone(),
            why,
        };
        alerts::failed_over(&self.gateway, &self.panel, &failed_over, &end.why_in_brief());
        self.gateway.live().failed_over(&self.panel.id, failed_over.clone());
        self.failed_over.push(failed_over);
        self.seat_added(&plan);
        self.ask(plan);
        true
    }
}
