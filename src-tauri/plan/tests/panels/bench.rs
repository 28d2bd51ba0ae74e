use std::collections::HashMap;

use catalog::{Endpoint, EndpointKind, Model, PRACTICE_BASE, Retired};
use plan::{
    ChosenShape, Collection, Evidence, Roster, Seat, SeatKind, Seating, SeatingError, SeatingInput, Setup,
    Shape, Tally, Unavailable,
};

/// One day, in ms.
pub const DAY: i64 = 86_400_000;

/// A set-up, its evidence and a moment, to seat panels at.
pub struct Bench {
    pub setup: Setup,
    pub collection: Collection,
    pub evidence: Evidence,
    pub away: HashMap<String, Unavailable>,
    pub has_images: bool,
    pub documents: bool,
    pub audio: bool,
    pub estimate: u64,
    pub with: Vec<String>,
    pub now_ms: i64,
}

impl Bench {
    /// `free` and `paid` endpoints, a hub, practice; no model; a collection without members.
    pub fn new() -> Bench {
        let endpoint = |name: &str| Endpoint::new(name, "https://example.com/v1");
        let endpoints = vec![
            endpoint("free"),
            Endpoint { paid: true, ..endpoint("paid") },
            Endpoint { kind: Some(EndpointKind::Hub), ..endpoint("hub") },
            Endpoint { kind: Some(EndpointKind::Practice), ..Endpoint::new("practice", PRACTICE_BASE) },
        ];
        Bench {
            setup: Setup { endpoints, ..Setup::default() },
            collection: Collection::new("core", Vec::<String>::new()),
            evidence: Evidence::default(),
            away: HashMap::new(),
            has_images: false,
            documents: false,
            audio: false,
            estimate: 100,
            with: Vec::new(),
            now_ms: 100 * DAY,
        }
    }

    /// Registers models of `free`, each of a family of its own.
    pub fn models<const N: usize>(mut self, aliases: [&str; N]) -> Bench {
        self.setup.models.extend(aliases.map(model));
        self
    }

    /// Registers a model.
    pub fn model(mut self, model: Model) -> Bench {
        self.setup.models.push(model);
        self
    }

    pub fn members<const N: usize>(mut self, aliases: [&str; N]) -> Bench {
        self.collection.members = aliases.map(str::to_owned).into();
        self
    }

    /// So many offloads and useful verdicts of a shape, the last offload so many days ago.
    pub fn worked(mut self, alias: &str, shape: &str, useful: u32, days_ago: i64) -> Bench {
        let tally = Tally {
            useful,
            judged: useful,
            offloads: useful.max(1),
            last_offload_ms: Some(self.now_ms - days_ago * DAY),
        };
        self.evidence.add(alias, &Shape::new(shape), tally);
        self
    }

    pub fn input<T>(&self, run: impl FnOnce(&SeatingInput<'_>) -> T) -> T {
        let roster = Roster::new(&self.setup);
        run(&SeatingInput {
            collection: &self.collection,
            roster: &roster,
            settings: &self.setup.settings,
            evidence: &self.evidence,
            unavailable: &|model| self.away.get(&model.alias).copied(),
            has_images: self.has_images,
            documents: self.documents,
            audio: self.audio,
            barred: &|_| None,
            estimate_tokens: self.estimate,
            nominees: &self.with,
            now_ms: self.now_ms,
        })
    }

    pub fn seat(&self, shape: &str) -> Result<Seating, SeatingError> {
        self.input(|input| plan::seat(input, &chosen(shape)))
    }

    /// The explorers of a panel of this shape, each with why.
    pub fn explorers(&self, shape: &str) -> Vec<String> {
        let seats = self.seat(shape).map(|seating| seating.seats).unwrap_or_default();
        let explorers = seats.iter().filter(|seat| seat.kind == SeatKind::Explorer);
        explorers.map(|seat| format!("{}: {}", seat.alias, seat.why)).collect()
    }
}

pub fn chosen(shape: &str) -> ChosenShape {
    ChosenShape { shape: Shape::new(shape), by: "the test".to_owned() }
}

pub fn model(alias: &str) -> Model {
    Model::new(alias, "free", alias)
}

pub fn at(endpoint: &str, alias: &str, served: &str) -> Model {
    Model::new(alias, endpoint, served)
}

pub fn retired(model: Model) -> Model {
    Model { retired: Some(Retired { at: "2026-11-29".to_owned(), why: "gone".to_owned() }), ..model }
}

pub fn seen(seat: &Seat) -> (&str, &str) {
    (&seat.seat, &seat.alias)
}
