//! Who would sit if a panel were asked now: for `bench panel` and the collection editor.

use plan::{ChosenShape, Collection, Explanation, Shape, Standing};
use wire::{ReplyMode, Request};

use super::ask::{Asking, Panel, skipped_views};
use crate::{
    callers::Caller,
    gateway::Gateway,
    view::{PanelPreview, PreviewGroup, PreviewModel, PreviewSeat},
};

impl Gateway {
    /// The members that would be asked this, whatever its size.
    pub(crate) fn members_for(&self, collection: &Collection, request: &Request) -> Vec<String> {
        let panel = self.draft(collection.clone(), request.clone());
        let shape = ChosenShape { shape: Shape::GENERAL, by: String::new() };
        let seating = self
            .look(&panel, |input| plan::seat(&plan::SeatingInput { estimate_tokens: 0, ..*input }, &shape));
        let seats = seating.map(|seating| seating.seats).unwrap_or_default();
        seats.into_iter().filter(|seat| seat.kind == plan::SeatKind::Member).map(|seat| seat.alias).collect()
    }

    fn draft(&self, collection: Collection, request: Request) -> Panel {
        let (client, name) = (String::new(), collection.name.clone());
        let caller = Caller::default();
        let asking = Asking { collection: name, reply: ReplyMode::All, request, caller, client };
        Panel::new(self, asking, collection, self.snapshot())
    }

    /// Seats a panel of this collection, which need not be saved, without asking anybody. A question without
    /// images or attachments is supposed; where the shape picker would choose, `general` is.
    pub fn preview(&self, collection: Collection) -> PanelPreview {
        let saved = self.snapshot().collection(&collection.name).and_then(|saved| saved.shape.clone());
        let is_asked = collection.shape.is_some() && collection.shape != saved;
        let panel = self.draft(collection, Request::default());
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
            shape_by: if is_asked { "asked for".to_owned() } else { shape.by },
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
