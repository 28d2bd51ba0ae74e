//! The catalog that is fetched: two public lists of models, once a day where the setting `catalog_refresh` is on, and
//! when asked. Nothing of the user's is sent: a plain request, to no provider's endpoint and with no key.

use std::{collections::BTreeMap, time::Duration};

use bytes::Bytes;
use catalog::{CatalogError, Endpoint, Facts, KnownFacts, ModelCatalog};
use futures_util::StreamExt;
use http::{Method, header};
use sha2::{Digest, Sha256};
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
pub(crate) struct Refreshed(BTreeMap<&'static str, Known>);

struct Known {
    catalog: ModelCatalog,
    at_ms: i64,
    seen: Seen,
}

/// By which the same list is known again.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Seen {
    etag: Option<String>,
    last_modified: Option<String>,
    digest: Option<String>,
}

/// What was fetched.
enum Fetched {
    /// What is known already.
    Same,
    Other(Vec<u8>, Seen),
}

impl Refreshed {
    /// As it was kept. Blocks.
    pub(crate) fn load(store: &Store) -> Result<Refreshed, StoreError> {
        let mut known = BTreeMap::new();
        for source in &SOURCES {
            let Some(row) = store.refreshed(source.name)? else { continue };
            match ModelCatalog::kept(row.body) {
                Ok(catalog) => {
                    let seen =
                        Seen { etag: row.etag, last_modified: row.last_modified, digest: row.digest }.by_us();
                    known.insert(source.name, Known { catalog, at_ms: row.at_ms, seen });
                }
                Err(error) => {
                    tracing::warn!(source = source.name, %error, "a kept catalog could not be read")
                }
            }
        }
        Ok(Refreshed(known))
    }

    pub(crate) fn take(&mut self, source: &'static str, catalog: ModelCatalog, seen: Seen, at_ms: i64) {
        self.0.insert(source, Known { catalog, at_ms, seen });
    }

    pub(crate) fn again(&mut self, source: &str, at_ms: i64) {
        if let Some(known) = self.0.get_mut(source) {
            known.at_ms = at_ms;
        }
    }

    /// What they say of a model as the endpoint serves it.
    pub(crate) fn facts(&self, endpoint: &Endpoint, served: &str) -> Facts {
        SOURCES.iter().fold(Facts::default(), |before, source| {
            let Some(known) = self.0.get(source.name) else { return before };
            let now = known.catalog.facts(endpoint, served);
            let both = KnownFacts { snapshot: before, refresh: now, ..KnownFacts::default() };
            catalog::effective(&both, &Facts::default()).0
        })
    }

    /// When the newest of them was fetched.
    pub(crate) fn at_ms(&self) -> Option<i64> {
        self.0.values().map(|known| known.at_ms).max()
    }

    /// By which what is known of a source is known again.
    fn seen(&self, source: &str) -> Seen {
        self.0.get(source).map(|known| known.seen.clone()).unwrap_or_default()
    }

    fn at_of(&self, source: &str) -> Option<i64> {
        self.0.get(source).map(|known| known.at_ms)
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
            refreshed_at: self.setup_state().refreshed_as(|known| known.at_of(source.name)).map(rfc3339),
            error: failed.remove(source.name),
        });
        CatalogView { shipped: catalog::SNAPSHOT_DATE.to_owned(), on, sources: sources.collect() }
    }

    async fn refresh(&self, source: &Source) -> Result<(), String> {
        let seen = self.setup_state().refreshed_as(|known| known.seen(source.name));
        let fetched = timeout(PATIENCE, self.fetched(source, seen)).await;
        let fetched = fetched.map_err(|_| format!("no whole answer within {} s", PATIENCE.as_secs()))??;
        let Fetched::Other(body, seen) = fetched else {
            let at_ms = self.clock().now_ms();
            self.setup_state().refreshed_again(source.name, at_ms);
            let kept = self.store().refreshed_again(source.name.to_owned(), at_ms).await;
            return kept.map_err(|error| error.to_string());
        };
        let read = source.read;
        // A megabyte of JSON, and more.
        let catalog = tokio::task::spawn_blocking(move || read(&body)).await;
        let catalog = catalog.map_err(|error| error.to_string())?.map_err(|error| error.to_string())?;
        let at_ms = self.clock().now_ms();
        let row = RefreshedRow {
            source: source.name.to_owned(),
            at_ms,
            etag: seen.etag.clone(),
            last_modified: seen.last_modified.clone(),
            digest: seen.digest.clone(),
            body: catalog.as_bytes().to_vec(),
        };
        if self.setup_state().refreshed(source.name, catalog, seen, at_ms).await {
            self.tell_paid();
            self.live().publish(LiveEvent::SetupChanged {});
        }
        // In effect it is already; unkept, it is fetched again.
        self.store().keep_refreshed(row).await.map_err(|error| error.to_string())
    }

    async fn fetched(&self, source: &Source, seen: Seen) -> Result<Fetched, String> {
        let mut headers = OutgoingHeaders::default();
        headers.set(header::ACCEPT, "application/json");
        for (name, value) in
            [(header::IF_NONE_MATCH, &seen.etag), (header::IF_MODIFIED_SINCE, &seen.last_modified)]
        {
            if let Some(value) = value {
                headers.set(name, value);
            }
        }
        let outgoing = Outgoing {
            method: Method::GET,
            url: source.at(),
            headers,
            body: Bytes::new(),
            sends: Sends::default(),
        };
        let mut incoming = self.transport().send(outgoing).await.map_err(|error| error.to_string())?;
        if incoming.status == 304 && seen.digest.is_some() {
            return Ok(Fetched::Same);
        }
        if incoming.status != 200 {
            return Err(format!("it answers with the status {}", incoming.status));
        }
        let said = |name| Some(incoming.headers.get(name)?.to_str().ok()?.to_owned());
        let (etag, last_modified) = (said(header::ETAG), said(header::LAST_MODIFIED));
        let mut body = Vec::new();
        while let Some(piece) = incoming.body.next().await {
            body.extend_from_slice(&piece.map_err(|error| error.to_string())?);
            if body.len() > MOST_BYTES {
                return Err(format!("it is larger than {} MB", MOST_BYTES >> 20));
            }
        }
        let digest = Some(digest(&body));
        if digest == seen.digest {
            return Ok(Fetched::Same);
        }
        Ok(Fetched::Other(body, Seen { etag, last_modified, digest }))
    }
}

/// Of a list as this version of the program reads it: another may read more of the same.
fn digest(body: &[u8]) -> String {
    format!("{VERSION} {:x}", Sha256::digest(body))
}

const VERSION: &str = env!("CARGO_PKG_VERSION");

impl Seen {
    /// As it is where this version of the program has read the list; else it is to be read again.
    fn by_us(self) -> Seen {
        let is_ours = self.digest.as_ref().and_then(|digest| digest.split(' ').next()) == Some(VERSION);
        if is_ours { self } else { Seen::default() }
    }
}

impl Source {
    fn at(&self) -> String {
        let other = std::env::var(self.variable).ok().filter(|url| !url.trim().is_empty());
        other.unwrap_or_else(|| self.url.to_owned())
    }
}
