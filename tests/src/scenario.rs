//! Endpoints, models and collections of a test, as a set-up file.

use serde_json::{Map, Value, json};

use crate::{Gateway, Home, Upstream, http::Http, upstream::Script};

/// A set-up file being written, and the environment its keys come from. Members only: no explorers, no reserves, and no
/// turn goes to another for the sake of variety.
#[derive(Clone, Debug)]
pub struct Scenario {
    pub home: Home,
    endpoints: Vec<Value>,
    models: Vec<Value>,
    collections: Vec<Value>,
    settings: Map<String, Value>,
}

impl Default for Scenario {
    fn default() -> Self {
        Scenario {
            home: Home::default(),
            endpoints: Vec::new(),
            models: Vec::new(),
            collections: Vec::new(),
            settings: ["max_explorers", "reserves", "rotate"]
                .map(|name| (name.to_owned(), json!(0)))
                .into_iter()
                .collect(),
        }
    }
}

impl Scenario {
    pub fn new() -> Self {
        Self::default()
    }

    pub fn endpoint(mut self, name: &str, base: &str) -> Self {
        self.endpoints.push(json!({"name": name, "base": base}));
        self
    }

    /// The dialect of the last endpoint.
    pub fn api(mut self, api: &str) -> Self {
        if let Some(endpoint) = self.endpoints.last_mut() {
            endpoint["api"] = json!(api);
        }
        self
    }

    /// A field of the last endpoint.
    pub fn endpoint_with(mut self, field: &str, value: impl Into<Value>) -> Self {
        if let Some(endpoint) = self.endpoints.last_mut() {
            endpoint[field] = value.into();
        }
        self
    }

    /// The last endpoint's key, by way of an environment variable.
    pub fn key(mut self, variable: &str, key: &str) -> Self {
        self.home.set(variable, key);
        if let Some(endpoint) = self.endpoints.last_mut() {
            endpoint["key_env"] = json!(variable);
        }
        self
    }

    pub fn model(mut self, alias: &str, endpoint: &str, served: &str) -> Self {
        self.models.push(json!({"alias": alias, "endpoint": endpoint, "served": served}));
        self
    }

    /// A field of the last model.
    pub fn model_with(mut self, field: &str, value: impl Into<Value>) -> Self {
        if let Some(model) = self.models.last_mut() {
            model[field] = value.into();
        }
        self
    }

    /// A field of every model so far.
    pub fn every_model(mut self, field: &str, value: &Value) -> Self {
        self.models.iter_mut().for_each(|model| model[field] = value.clone());
        self
    }

    /// The last model's facts.
    pub fn facts(self, facts: Value) -> Self {
        self.model_with("facts", facts)
    }

    pub fn collection(mut self, name: &str, members: &[&str]) -> Self {
        self.collections.push(json!({"name": name, "members": members}));
        self
    }

    /// A field of the last collection.
    pub fn with(mut self, field: &str, value: impl Into<Value>) -> Self {
        if let Some(collection) = self.collections.last_mut() {
            collection[field] = value.into();
        }
        self
    }

    pub fn setting(mut self, name: &str, value: impl Into<Value>) -> Self {
        self.settings.insert(name.into(), value.into());
        self
    }

    /// The set-up file.
    pub fn file(&self) -> Value {
        json!({
            "version": 1,
            "endpoints": self.endpoints,
            "models": self.models,
            "collections": self.collections,
            "settings": self.settings,
        })
    }

    /// Imports the file with `bench import`, then serves.
    pub async fn start(&self) -> Gateway {
        let file = self.home.file("setup.json", &self.file().to_string());
        self.home.bench(&["import", &file.to_string_lossy()]).await.exits(0);
        self.home.serve().await
    }
}

/// One upstream, one gateway.
#[derive(Debug)]
pub struct Lab {
    pub upstream: Upstream,
    pub gateway: Gateway,
}

/// The usual scenario: these models, each doing its script, on the endpoint `fake` (key in `FAKE_KEY`), all
/// members of the collection `core`. `alpha` is served as `vendor/alpha-1`.
pub async fn panel_of<const N: usize>(members: [(&str, Script); N]) -> Lab {
    let upstream = Upstream::start().await;
    let mut scenario = Scenario::new().endpoint("fake", &upstream.base()).key("FAKE_KEY", KEY);
    let names = members.each_ref().map(|(alias, _)| *alias);
    for (alias, script) in members {
        upstream.model(&served(alias), script);
        scenario = scenario.model(alias, "fake", &served(alias));
    }
    let gateway =
        scenario.collection("core", &names).with("description", "everyday second opinions").start().await;
    Lab { upstream, gateway }
}

/// The key of [`panel_of`]'s endpoint.
pub const KEY: &str = "sk-fake-7Qm2vXb9TzLr4NcW8yKd";

/// What [`panel_of`] calls an alias upstream.
pub fn served(alias: &str) -> String {
    format!("vendor/{alias}-1")
}

/// A chat request of one user turn to `bench/core`.
pub fn question(text: &str) -> Value {
    json!({"model": "bench/core", "messages": [{"role": "user", "content": text}]})
}

impl Lab {
    pub fn http(&self) -> &Http {
        &self.gateway.http
    }
}
