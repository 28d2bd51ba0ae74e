//! The catalog that is fetched: two public lists of models, once a day where the setting `catalog_refresh` is on, and
//! when asked. Nothing of the user's is sent: a plain request, to no provider's endpoint and with no key.

use std::{collections::BTreeMap, time::Duration};

use bytes::Bytes;
use catalog::{CatalogError, Endpoint, Facts, KnownFacts, ModelCatalog};
use futures_util::StreamExt;
use http::{Method, header};
use store::{RefreshedRow, Store, StoreError};
use tokio::time::timeout;

use crate::{
    clock::rfc3339,
    gateway::Gateway,
    upstream::{Outgoing, OutgoingHeaders, Sends},
    view::{CatalogSource, CatalogView, LiveEvent},
};

/// A public list of models.
struct Source {
    name: &'static str,
    url: &'static str,
    /// Where the variable names another place to fetch it from: a mirror.
    variable: &'static str,
    read: fn(&[u8]) -> Result<ModelCatalog, CatalogError>,
}

/// In rising precedence: OpenRouter's is fresher for its own models.
const SOURCES: [Source; 2] = [
    Source {
        name: "models.dev",
        url: "https://models.dev/api.json",
        variable: "BENCHWARMERS_CATALOG_MODELS_DEV",
        read: catalog::read_models_dev,
    },
    Source {
        name: "openrouter",
        url: "https://openrouter.ai/api/v1/models",
        variable: "BENCHWARMERS_CATALOG_OPENROUTER",
        read: catalog::read_openrouter,
    },
];

const PATIENCE: Duration = Duration::from_secs(60);
/// More than any of them has been, by far.
const MOST_BYTES: usize = 64 * 1024 * 1024;

/// What the lists said when they were last fetched.
#[derive(Default)]
pub(crate) struct Refreshed(BTreeMap<&'static str, (ModelCatalog, i64)>);

impl Refreshed {
    /// As it was kept. Blocks.
    pub(crate) fn load(store: &Store) -> Result<Refreshed, StoreError> {
        let mut known = BTreeMap::new();
        for source in &SOURCES {
            let Some(row) = store.refreshed(source.name)? else { continue };
            match ModelCatalog::kept(row.body) {
                Ok(catalog) => drop(known.insert(source.name, (catalog, row.at_ms))),
                Err(error) => {
                    tracing::warn!(source = source.name, %error, "a kept catalog could not be read")
                }
            }
        }
        Ok(Refreshed(known))
    }

    pub(crate) fn take(&mut self, source: &'static str, catalog: ModelCatalog, at_ms: i64) {
        self.0.insert(source, (catalog, at_ms));
    }

    /// What they say of a model as the endpoint serves it.
    pub(crate) fn facts(&self, endpoint: &Endpoint, served: &str) -> Facts {
        SOURCES.iter().fold(Facts::default(), |before, source| {
            let Some((catalog, _)) = self.0.get(source.name) else { return before };
            let now = catalog.facts(endpoint, served);
            let both = KnownFacts { snapshot: before, refresh: now, ..KnownFacts::default() };
            catalog::effective(&both, &Facts::default()).0
        })
    }

    /// When the newest of them was fetched.
    pub(crate) fn at_ms(&self) -> Option<i64> {
        self.0.values().map(|(_, at_ms)| *at_ms).max()
    }

    fn at_of(&self, source: &str) -> Option<i64> {
        self.0.get(source).map(|(_, at_ms)| *at_ms)
    }
}

impl Gateway {
    /// Fetches the lists now. One that fails leaves what is known, and says why.
    pub async fn refresh_catalog(&self) -> CatalogView {
        let mut failed = BTreeMap::new();
        for source in &SOURCES {
            if let Err(why) = self.refresh(source).await {
                tracing::warn!(source = source.name, why, "a list of models could not be fetched");
                failed.insert(source.name, why);
            }
        }
        let on = self.snapshot().setup.settings.catalog_refresh;
        let sources = SOURCES.iter().map(|source| CatalogSource {
            name: source.name.to_owned(),
            url: source.at(),
            refreshed_at: self.setup_state().refreshed_at(|known| known.at_of(source.name)).map(rfc3339),
            error: failed.remove(source.name),
        });
        CatalogView { shipped: catalog::SNAPSHOT_DATE.to_owned(), on, sources: sources.collect() }
    }

    async fn refresh(&self, source: &Source) -> Result<(), String> {
        let body = timeout(PATIENCE, self.fetched(source)).await;
        let body = body.map_err(|_| format!("no whole answer within {} s", PATIENCE.as_secs()))??;
        let read = source.read;
        // A megabyte of JSON, and more.
        let catalog = tokio::task::spawn_blocking(move || read(&body)).await;
        let catalog = catalog.map_err(|error| error.to_string())?.map_err(|error| error.to_string())?;
        let at_ms = self.clock().now_ms();
        let row = RefreshedRow {
            source: source.name.to_owned(),
            at_ms,
            etag: None,
            body: catalog.as_bytes().to_vec(),
        };
        if self.setup_state().refreshed(source.name, catalog, at_ms).await {
            self.tell_paid();
            self.live().publish(LiveEvent::SetupChanged {});
        }
        // In effect it is already; unkept, it is fetched again.
        self.store().keep_refreshed(row).await.map_err(|error| error.to_string())
    }

    async fn fetched(&self, source: &Source) -> Result<Vec<u8>, String> {
        let mut headers = OutgoingHeaders::default();
        headers.set(header::ACCEPT, "application/json");
        let sends = Sends::default();
        let outgoing = Outgoing { method: Method::GET, url: source.at(), headers, body: Bytes::new(), sends };
        let mut incoming = self.transport().send(outgoing).await.map_err(|error| error.to_string())?;
        if incoming.status != 200 {
            return Err(format!("it answers with the status {}", incoming.status));
        }
        let mut body = Vec::new();
        while let Some(piece) = incoming.body.next().await {
            body.extend_from_slice(&piece.map_err(|error| error.to_string())?);
            if body.len() > MOST_BYTES {
                return Err(format!("it is larger than {} MB", MOST_BYTES >> 20));
            }
        }
        Ok(body)
    }
}

impl Source {
    fn at(&self) -> String {
        let other = std::env::var(self.variable).ok().filter(|url| !url.trim().is_empty());
        other.unwrap_or_else(|| self.url.to_owned())
    }
}
