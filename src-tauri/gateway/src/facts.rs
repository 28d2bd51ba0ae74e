//! What is known of the models, and from where. The owner's own facts stay in the set-up; here is what others say: the
//! shipped catalog, the endpoints' lists, and what calls have shown. Together they are in effect in every snapshot.

use std::collections::{BTreeMap, HashMap, HashSet};

use catalog::{Endpoint, FactSource, Facts, KnownFacts, Model, ModelCatalog, Price};
use plan::{Registered, Setup};
use store::{FactsRow, Store, StoreError};
use wire::{AskedWith, Content, Lack, Request, UpstreamError};

use crate::{
    gateway::Gateway,
    paid::{self, Paid, PaidChange},
    refresh::{Refreshed, Seen},
    upstream::ListedModel,
    view::LiveEvent,
};

const LISTING: &str = "listing";
const LEARNED: &str = "learned";

/// What one model is known to be, and who says what.
#[derive(Clone, Debug)]
pub struct ModelFacts {
    /// What holds.
    pub facts: Facts,
    /// Whose word holds, by the fact's field name.
    pub sources: BTreeMap<&'static str, FactSource>,
    /// What each source says, in rising precedence, and when it said so (unix milliseconds) where that is known.
    pub told: Vec<(FactSource, Facts, Option<i64>)>,
}

/// What others than the owner say.
#[derive(Default)]
pub(crate) struct Book {
    /// Of registered models, as it is in the store.
    told: HashMap<Place, Told>,
    /// What each endpoint last said of all its models: a model is registered from it.
    listings: HashMap<String, Listing>,
    /// The shipped catalog is a text: what was found in it, by base and served id.
    shipped: HashMap<Place, Facts>,
    /// What the public lists said, and what was found in them.
    pub(crate) refreshed: Refreshed,
    fresh: HashMap<Place, Facts>,
    /// Models that were free and cost money now.
    pub(crate) paid: Paid,
}

/// What is to be written once something has changed.
#[derive(Default)]
pub(crate) struct ToKeep {
    /// Endpoints that are elsewhere now.
    pub gone: Vec<String>,
    pub rows: Vec<FactsRow>,
    pub paid: Vec<PaidChange>,
}

/// An endpoint's name and a served id.
pub(crate) type Place = (String, String);

#[derive(Clone, Default)]
struct Told {
    listing: Said,
    learned: Said,
}

#[derive(Clone, Default)]
struct Said {
    facts: Facts,
    at_ms: i64,
}

struct Listing {
    facts: HashMap<String, Facts>,
    at_ms: i64,
}

impl Book {
    /// As it was kept. Blocks.
    pub(crate) fn load(store: &Store) -> Result<Book, StoreError> {
        let mut book =
            Book { paid: Paid::load(store)?, refreshed: Refreshed::load(store)?, ..Book::default() };
        for FactsRow { endpoint, served, source, body, at_ms } in store.facts()? {
            let facts = match serde_json::from_str(&body) {
                Ok(facts) => facts,
                Err(error) => {
                    tracing::warn!(endpoint, served, source, %error, "kept facts could not be read");
                    continue;
                }
            };
            let told = book.told.entry((endpoint, served)).or_default();
            match source.as_str() {
                LISTING => told.listing = Said { facts, at_ms },
                LEARNED => told.learned = Said { facts, at_ms },
                _ => {}
            }
        }
        Ok(book)
    }

    /// The set-up with every model's facts as they are in effect.
    pub(crate) fn in_effect(&mut self, setup: &Setup) -> Setup {
        let mut setup = setup.clone();
        let endpoints: HashMap<&str, &Endpoint> =
            setup.endpoints.iter().map(|endpoint| (endpoint.name.as_str(), endpoint)).collect();
        for model in &mut setup.models {
            let known = self.known(endpoints.get(model.endpoint.as_str()).copied(), model);
            model.facts = catalog::effective(&known, &model.facts).0;
        }
        setup
    }

    /// What is known of a model as the set-up has it.
    pub(crate) fn of(&mut self, endpoint: Option<&Endpoint>, model: &Model) -> ModelFacts {
        let known = self.known(endpoint, model);
        let (facts, sources) = catalog::effective(&known, &model.facts);
        let told = self.told.get(&place(model)).cloned().unwrap_or_default();
        let told = vec![
            (FactSource::Snapshot, known.snapshot, None),
            (FactSource::Refresh, known.refresh, self.refreshed.at_ms()),
            (FactSource::Listing, known.listing, Some(told.listing.at_ms)),
            (FactSource::Learned, known.learned, Some(told.learned.at_ms)),
            (FactSource::Owner, model.facts.clone(), None),
        ];
        ModelFacts { facts, sources, told }
    }

    fn known(&mut self, endpoint: Option<&Endpoint>, model: &Model) -> KnownFacts {
        let Told { listing, learned } = self.told.get(&place(model)).cloned().unwrap_or_default();
        let snapshot = endpoint.map(|endpoint| {
            let at = (endpoint.base.clone(), model.served.clone());
            self.shipped.entry(at).or_insert_with(|| catalog::snapshot(endpoint, &model.served)).clone()
        });
        let refresh = endpoint.map(|endpoint| {
            let at = (endpoint.base.clone(), model.served.clone());
            let find = || self.refreshed.facts(endpoint, &model.served);
            self.fresh.entry(at).or_insert_with(find).clone()
        });
        KnownFacts {
            snapshot: snapshot.unwrap_or_default(),
            refresh: refresh.unwrap_or_default(),
            listing: listing.facts,
            learned: learned.facts,
        }
    }

    /// Takes an endpoint's list in: what is to be kept of it, and whether anything has changed.
    pub(crate) fn listed(
        &mut self,
        setup: &Setup,
        endpoint: &Endpoint,
        models: &[ListedModel],
        at_ms: i64,
    ) -> (ToKeep, bool) {
        let facts = models.iter().map(|model| (model.served.clone(), model.facts.clone())).collect();
        self.listings.insert(endpoint.name.clone(), Listing { facts, at_ms });
        let mut changed = false;
        let mut keep = ToKeep::default();
        for model in setup.models.iter().filter(|model| model.endpoint == endpoint.name) {
            let before = self.price_told(Some(endpoint), model);
            let Some((row, is_new)) = self.take_listed(model) else { continue };
            changed |= is_new;
            keep.rows.push(row);
            let now = self.price_told(Some(endpoint), model);
            keep.paid.extend(self.paid.told(model, before.as_ref(), now.as_ref(), at_ms));
        }
        (keep, changed)
    }

    /// Takes a public list in: what is to be kept of it beside, and whether anything has changed.
    pub(crate) fn refreshed(
        &mut self,
        setup: &Setup,
        source: &'static str,
        (catalog, seen): (ModelCatalog, Seen),
        at_ms: i64,
    ) -> (ToKeep, bool) {
        let endpoint = |model: &Model| setup.endpoints.iter().find(|it| it.name == model.endpoint);
        let told = |book: &mut Book| -> Vec<KnownFacts> {
            setup.models.iter().map(|model| book.known(endpoint(model), model)).collect()
        };
        let before = told(self);
        self.refreshed.take(source, catalog, seen, at_ms);
        self.fresh.clear();
        let now = told(self);
        let mut keep = ToKeep::default();
        let price = |known: &KnownFacts| catalog::effective(known, &Facts::default()).0.price;
        for ((model, before), now) in setup.models.iter().zip(&before).zip(&now) {
            keep.paid.extend(self.paid.told(model, price(before).as_ref(), price(now).as_ref(), at_ms));
        }
        (keep, before != now)
    }

    /// What a model costs by the word of others than the owner.
    fn price_told(&mut self, endpoint: Option<&Endpoint>, model: &Model) -> Option<Price> {
        catalog::effective(&self.known(endpoint, model), &Facts::default()).0.price
    }

    /// What goes and what is to be kept when the set-up changes: an endpoint that is elsewhere now serves other models,
    /// and a model that is new is what its endpoint's list said of it.
    pub(crate) fn changed(&mut self, before: &Setup, after: &Setup) -> ToKeep {
        let stays = |old: &&Endpoint| {
            after
                .endpoints
                .iter()
                .any(|new| (&new.name, &new.base, new.api) == (&old.name, &old.base, old.api))
        };
        let gone: Vec<String> =
            before.endpoints.iter().filter(|old| !stays(old)).map(|endpoint| endpoint.name.clone()).collect();
        self.told.retain(|(endpoint, _), _| !gone.contains(endpoint));
        self.listings.retain(|endpoint, _| !gone.contains(endpoint));
        let known: HashSet<Place> = before.models.iter().map(place).collect();
        let new = after.models.iter().filter(|model| !known.contains(&place(model)));
        let rows = new.filter_map(|model| self.take_listed(model).map(|(row, _)| row)).collect();
        let models: HashSet<Place> = after.models.iter().map(place).collect();
        let paid = self.paid.retain(|place| models.contains(place) && !gone.contains(&place.0));
        ToKeep { gone, rows, paid }
    }

    fn take_listed(&mut self, model: &Model) -> Option<(FactsRow, bool)> {
        let listing = self.listings.get(&model.endpoint)?;
        let facts = listing.facts.get(&model.served)?.clone();
        let said = Said { facts, at_ms: listing.at_ms };
        let row = row(model, LISTING, &said);
        let told = self.told.entry(place(model)).or_default();
        let is_new = told.listing.facts != said.facts;
        told.listing = said;
        Some((row, is_new))
    }

    /// What calls have just shown of a model: a window that was met, and tools and images that work or are refused. What
    /// is to be kept, where that is news: a window is where it is lower than those met before.
    pub(crate) fn learn(&mut self, model: &Model, shown: &Facts, at_ms: i64) -> Option<FactsRow> {
        let learned = &mut self.told.entry(place(model)).or_default().learned;
        let known = &learned.facts;
        let met = shown.context_window.filter(|met| known.context_window.is_none_or(|known| *met < known));
        let facts = Facts {
            context_window: met.or(known.context_window),
            tools: shown.tools.or(known.tools),
            vision: shown.vision.or(known.vision),
            ..known.clone()
        };
        if facts == *known {
            return None;
        }
        *learned = Said { facts, at_ms };
        Some(row(model, LEARNED, learned))
    }

    /// What it has refused says nothing any more: it is being tried afresh. What is to be kept of that.
    pub(crate) fn forget_refusals(&mut self, model: &Model) -> Option<FactsRow> {
        let learned = &mut self.told.get_mut(&place(model))?.learned;
        let facts = &mut learned.facts;
        let (tools, vision) = (facts.tools.filter(|works| *works), facts.vision.filter(|works| *works));
        if (tools, vision) == (facts.tools, facts.vision) {
            return None;
        }
        (facts.tools, facts.vision) = (tools, vision);
        Some(row(model, LEARNED, learned))
    }
}

pub(crate) fn place(model: &Model) -> Place {
    (model.endpoint.clone(), model.served.clone())
}

fn row(model: &Model, source: &str, said: &Said) -> FactsRow {
    FactsRow {
        endpoint: model.endpoint.clone(),
        served: model.served.clone(),
        source: source.to_owned(),
        // Numbers and truths: they always serialise.
        body: serde_json::to_string(&said.facts).unwrap_or_default(),
        at_ms: said.at_ms,
    }
}

/// Lets go in the store of what is said of an endpoint that is elsewhere now, and keeps what is new.
pub(crate) async fn keep(store: &Store, ToKeep { gone, rows, paid }: ToKeep) -> Result<(), StoreError> {
    paid::keep(store, paid).await?;
    for endpoint in gone {
        store.forget_facts(endpoint.clone(), LISTING.to_owned()).await?;
        store.forget_facts(endpoint, LEARNED.to_owned()).await?;
    }
    if !rows.is_empty() {
        store.keep_facts(rows).await?;
    }
    Ok(())
}

impl Gateway {
    /// What is known of a registered model, and who says so.
    pub fn facts_of(&self, alias: &str) -> Option<ModelFacts> {
        self.setup_state().facts_of(alias)
    }

    /// What a call's end says of what its model can take: how much, tools, images. From now on it is not asked for more.
    /// In the background, as the call is over.
    pub(crate) fn learn_facts(&self, it: &Registered, holds: Holds, error: &UpstreamError) {
        let shown = shown(it, holds, error);
        let is_news = |known: &Facts| {
            let met = shown.context_window;
            met.is_some_and(|met| known.context_window.is_none_or(|known| met < known))
                || (shown.tools.is_some() && shown.tools != known.tools)
                || (shown.vision.is_some() && shown.vision != known.vision)
        };
        if it.practice || !is_news(&it.model.facts) {
            return;
        }
        let (gateway, it) = (self.clone(), it.model.clone());
        self.tasks().spawn(async move {
            let at_ms = gateway.clock().now_ms();
            if gateway.setup_state().learned(&it, &shown, at_ms).await {
                gateway.live().publish(LiveEvent::SetupChanged {});
            }
        });
    }
}

/// What a question holds that a model may not take.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Holds {
    pub tools: bool,
    pub images: bool,
}

impl Holds {
    pub(crate) fn of(request: &Request) -> Holds {
        Holds { tools: request.tool_use().is_some(), images: has_images(request) }
    }
}

/// Whether a turn or a tool's result shows an image.
pub(crate) fn has_images(request: &Request) -> bool {
    request.parts().any(|part| match &part.content {
        Content::Image(_) => true,
        Content::ToolResult(result) => {
            result.parts.iter().any(|part| matches!(part.content, Content::Image(_)))
        }
        _ => false,
    })
}

/// What a refusal says of the model that was asked.
fn shown(it: &Registered, Holds { tools, images }: Holds, error: &UpstreamError) -> Facts {
    let lack = error.lack(AskedWith { served: &it.model.served, tools, images });
    Facts {
        context_window: error.context_window(),
        tools: (lack == Some(Lack::Tools)).then_some(false),
        vision: (lack == Some(Lack::Images)).then_some(false),
        ..Facts::default()
    }
}
