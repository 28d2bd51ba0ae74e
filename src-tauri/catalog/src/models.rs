//! What is known of the models of known providers before anybody asks: the catalog that is shipped (`models.json`, which
//! says from where and of when it is), and its daily refresh.
//!
//! All catalogs are one text in models.dev's shape with a model a line, and are looked up line by line: nothing of them
//! is held in memory but the text, and nothing of the shipped one until it is asked for.

mod refreshed;

pub use refreshed::{CatalogError, read_models_dev, read_openrouter};

use std::{borrow::Cow, str};

use crate::{
    Endpoint, Facts, facts_in_listing,
    preset::{Preset, preset_of},
    swap::undated,
};

/// The day the shipped catalog is of.
pub const SNAPSHOT_DATE: &str = "2026-08-18";

/// What the shipped catalog says of a model as the endpoint serves it; nothing of endpoints that are no preset's.
pub fn snapshot(endpoint: &Endpoint, served: &str) -> Facts {
    ModelCatalog::SHIPPED.facts(endpoint, served)
}

/// Facts of many models, by provider and served id.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModelCatalog {
    text: Cow<'static, str>,
}

impl ModelCatalog {
    pub const SHIPPED: ModelCatalog = ModelCatalog { text: Cow::Borrowed(include_str!("../models.json")) };

    /// A refreshed catalog as it was kept: what [`as_bytes`](Self::as_bytes) gave.
    pub fn kept(bytes: Vec<u8>) -> Result<ModelCatalog, CatalogError> {
        let text = String::from_utf8(bytes).map_err(|_| CatalogError::Unreadable("not UTF-8".to_owned()))?;
        Ok(ModelCatalog { text: Cow::Owned(text) })
    }

    /// To be kept: about 200 KB.
    pub fn as_bytes(&self) -> &[u8] {
        self.text.as_bytes()
    }

    /// What it says of a model as the endpoint serves it. An id with a date that it does not know is looked up
    /// without, and has no price where the endpoint is in another part of the world.
    pub fn facts(&self, endpoint: &Endpoint, served: &str) -> Facts {
        let Some(preset) = preset_of(&endpoint.base) else { return Facts::default() };
        let served = served.strip_prefix("models/").unwrap_or(served);
        let models = self.models(preset);
        let mut facts = models
            .and_then(|models| line(models, served).or_else(|| line(models, undated(served)?)))
            .map(|item| facts_in_listing(&item))
            .unwrap_or_default();
        if !preset.has_known_prices_at(&endpoint.base) {
            facts.price = None;
        }
        facts
    }

    /// The lines of one provider.
    fn models(&self, preset: &Preset) -> Option<&str> {
        let head = format!("\n\"{}\":{MODELS}\n", preset.models_dev());
        let start = self.text.find(&head)? + head.len() - 1;
        let rest = self.text.get(start..)?;
        rest.get(..rest.find("\n}}")?)
    }
}

const MODELS: &str = "{\"models\":{";

/// The model's line, read.
fn line(models: &str, served: &str) -> Option<serde_json::Value> {
    let key = format!("\n{}:", serde_json::Value::from(served));
    let rest = models.get(models.find(&key)? + key.len()..)?;
    let line = rest.lines().next()?;
    serde_json::from_str(line.strip_suffix(',').unwrap_or(line)).ok()
}

#[cfg(test)]
mod tests;
