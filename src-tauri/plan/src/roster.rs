use std::collections::HashMap;

use catalog::{Endpoint, Limits, Model, connection};
use wire::Quirks;

use crate::{Setup, Shapes};

/// The registered models of one set-up, with what seating asks of each worked out once: made when the set-up
/// changes, and read by every panel.
#[derive(Clone, Debug)]
pub struct Roster {
    models: Vec<Registered>,
    by_alias: HashMap<String, usize>,
    shapes: Shapes,
}

/// A registered model, and what follows from it and its endpoint.
#[derive(Clone, Debug)]
pub struct Registered {
    pub model: Model,
    /// The underlying model whatever serves it.
    pub family: String,
    /// What shares a rate limit (`catalog::connection`).
    pub connection: String,
    /// Its endpoint's limits, which hold for each connection by itself.
    pub limits: Limits,
    /// Its endpoint is a paid one.
    pub paid: bool,
    /// It is one of the built-in practice endpoint: a candidate on practice panels, and never on others.
    pub practice: bool,
    /// What it does otherwise than its API says, as its catalog knows.
    pub quirks: Quirks,
}

impl Roster {
    pub fn new(setup: &Setup) -> Roster {
        let endpoints: HashMap<&str, &Endpoint> =
            setup.endpoints.iter().map(|endpoint| (endpoint.name.as_str(), endpoint)).collect();
        let registered = |model: &Model| {
            // A set-up holds no model without its endpoint; should one be there, nothing is known of it.
            let endpoint = endpoints.get(model.endpoint.as_str());
            Registered {
                model: model.clone(),
                family: model.family(),
                connection: endpoint
                    .map_or_else(|| model.endpoint.clone(), |endpoint| connection(endpoint, model)),
                limits: endpoint.map(|endpoint| endpoint.limits).unwrap_or_default(),
                paid: endpoint.is_some_and(|endpoint| endpoint.paid),
                practice: endpoint.is_some_and(|endpoint| endpoint.is_practice()),
                quirks: endpoint.map(|endpoint| catalog::quirks(endpoint, model)).unwrap_or_default(),
            }
        };
        let models: Vec<Registered> = setup.models.iter().map(registered).collect();
        let by_alias = models.iter().enumerate().map(|(at, it)| (it.model.alias.clone(), at)).collect();
        Roster { models, by_alias, shapes: setup.shapes() }
    }

    pub fn get(&self, alias: &str) -> Option<&Registered> {
        self.by_alias.get(alias).map(|at| &self.models[*at])
    }

    /// In the set-up's order.
    pub fn iter(&self) -> impl Iterator<Item = &Registered> {
        self.models.iter()
    }

    pub fn shapes(&self) -> &Shapes {
        &self.shapes
    }

    /// Whether all of these are practice models, and there is one: their panel is practice, and its record is
    /// kept apart.
    pub fn is_practice(&self, members: &[String]) -> bool {
        !members.is_empty() && members.iter().all(|alias| self.get(alias).is_some_and(|it| it.practice))
    }
}

impl Registered {
    pub fn alias(&self) -> &str {
        &self.model.alias
    }
}
