//! Who would sit if a panel were asked now: for `bench panel` and the collection editor.

use plan::{ChosenShape, Collection, Explanation, Shape, Standing};
use wire::{ReplyMode, Request};

use super::ask::{Asking, Panel, skipped_views};
use crate::{
    gateway::Gateway,
    view::{PanelPreview, PreviewGroup, PreviewModel, PreviewSeat},
};

impl Gateway {
    /// Seats a panel of this collection, which need not be saved, without asking anybody. A question without
    /// images or attachments is supposed; where the shape picker would choose, `general` is.
    pub fn preview(&self, collection: Collection) -> PanelPreview {
        let snapshot = self.snapshot();
        let asking = Asking {
            collection: collection.name.clone(),
            reply: ReplyMode::All,
            request: Request::default(),
            client: String::new(),
        };
        let panel = Panel {
            id: String::new(),
            at_ms: self.clock().now_ms(),
            practice: snapshot.is_practice_collection(&collection),
            estimate: 0,
            asking,
            collection,
            snapshot,
        };
        let (shape, explained) = self.look(&panel, |input| {
            let shape = plan::shape_without_picker(input).ok().flatten().unwrap_or_else(|| ChosenShape {
                shape: Shape::GENERAL,
                by: "the default; a decision model chooses by the question where there is one".to_owned(),
            });
            let explained = plan::explain(input, &shape);
            (shape, explained)
        });
        let Explanation { seating, reserves, leaders, candidates, not_candidates } = explained;
        let (seats, skipped, refused) = match seating {
            Ok(seating) => (seating.seats, seating.skipped, None),
            Err(error) => (Vec::new(), error.skipped, Some(error.message)),
        };
        let seat = |it: plan::Seat| PreviewSeat {
            seat: it.seat,
            kind: it.kind.into(),
            alias: it.alias,
            why: it.why,
        };
        let group = |it: plan::Group| PreviewGroup { why: it.why, count: it.count as u32, some: it.some };
        PanelPreview {
            shape: shape.shape.name().to_owned(),
            shape_by: shape.by,
            seats: seats.into_iter().map(seat).collect(),
            skipped: skipped_views(&skipped),
            refused,
            reserves: reserves.into_iter().map(model).collect(),
            primary: leaders.primary.map(model),
            second: leaders.second.map(model),
            candidates: candidates as u32,
            not_candidates: not_candidates.into_iter().map(group).collect(),
        }
    }
}

fn model(standing: Standing) -> PreviewModel {
    PreviewModel { alias: standing.alias, why: standing.why }
}
