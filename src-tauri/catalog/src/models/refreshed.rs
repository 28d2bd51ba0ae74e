//! The daily refresh: models.dev's whole list and OpenRouter's, cut down to what is used of them.

use std::{borrow::Cow, collections::BTreeMap, fmt::Write};

use serde::{Deserialize, Serialize};
use serde_json::{Value, value::RawValue};

use super::{MODELS, ModelCatalog};
use crate::{Facts, facts_in_listing, presets};

/// Why a refreshed list is not taken; what is known stays.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CatalogError {
    #[error("the list of models could not be read: {0}")]
    Unreadable(String),
    #[error("the list names no model of a known provider")]
    Empty,
}

/// models.dev's `api.json`, of which the presets' models are kept. An entry that does not read is passed over.
pub fn read_models_dev(body: &[u8]) -> Result<ModelCatalog, CatalogError> {
    #[derive(Deserialize)]
    struct Provider<'a> {
        #[serde(borrow, default)]
        models: BTreeMap<Cow<'a, str>, &'a RawValue>,
    }
    let providers: BTreeMap<Cow<'_, str>, &RawValue> =
        serde_json::from_slice(body).map_err(|error| CatalogError::Unreadable(error.to_string()))?;
    let mut text = Text::default();
    for preset in presets() {
        let name = preset.models_dev();
        let Some(provider) = providers.get(name) else { continue };
        let Ok(provider) = serde_json::from_str::<Provider<'_>>(provider.get()) else { continue };
        let read = |(served, entry): (&Cow<'_, str>, &&RawValue)| {
            let item: Value = serde_json::from_str(entry.get()).ok()?;
            answers(&item).then(|| (served.to_string(), facts_in_listing(&item)))
        };
        text.provider(name, provider.models.iter().filter_map(read));
    }
    text.finish()
}

/// OpenRouter's list, which is fresher and fuller than models.dev's for its own models.
pub fn read_openrouter(body: &[u8]) -> Result<ModelCatalog, CatalogError> {
    #[derive(Deserialize)]
    struct List<'a> {
        #[serde(borrow)]
        data: Vec<&'a RawValue>,
    }
    let list: List<'_> =
        serde_json::from_slice(body).map_err(|error| CatalogError::Unreadable(error.to_string()))?;
    let read = |item: &&RawValue| {
        let item: Value = serde_json::from_str(item.get()).ok()?;
        Some((item.get("id")?.as_str()?.to_owned(), facts_in_listing(&item)))
    };
    let mut text = Text::default();
    // By id, so that the same list is the same text.
    let models: BTreeMap<String, Facts> = list.data.iter().filter_map(read).collect();
    text.provider("openrouter", models.into_iter());
    text.finish()
}

/// models.dev lists what draws and films, too.
fn answers(item: &Value) -> bool {
    let output = item.pointer("/modalities/output").and_then(Value::as_array);
    output.is_none_or(|kinds| kinds.iter().any(|kind| kind == "text"))
}

/// A catalog as it is written.
#[derive(Default)]
struct Text {
    text: String,
    models: usize,
}

impl Text {
    fn provider(&mut self, name: &str, models: impl Iterator<Item = (String, Facts)>) {
        let mut between = if self.models == 0 { "{\n" } else { ",\n" };
        let mut begun = false;
        for (served, facts) in models.filter(|(_, facts)| !facts.is_empty()) {
            if !begun {
                self.text.push_str(between);
                // Writing to a text does not fail.
                let _ = write!(self.text, "{}:{MODELS}", Value::from(name));
                (between, begun) = ("\n", true);
            }
            self.text.push_str(between);
            let entry = serde_json::to_string(&Entry::of(&facts)).unwrap_or_else(|_| "{}".to_owned());
            let _ = write!(self.text, "{}:{entry}", Value::from(served));
            self.models += 1;
            between = ",\n";
        }
        if begun {
            self.text.push_str("\n}}");
        }
    }

    fn finish(mut self) -> Result<ModelCatalog, CatalogError> {
        if self.models == 0 {
            return Err(CatalogError::Empty);
        }
        self.text.push_str("\n}\n");
        Ok(ModelCatalog { text: Cow::Owned(self.text) })
    }
}

/// A model's facts in models.dev's shape.
#[derive(Serialize)]
struct Entry<'a> {
    limit: Limit,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_call: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reasoning: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    structured_output: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    modalities: Option<Modalities>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cost: Option<&'a crate::Price>,
}

#[derive(Serialize)]
struct Limit {
    #[serde(skip_serializing_if = "Option::is_none")]
    context: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    output: Option<u64>,
}

#[derive(Serialize)]
struct Modalities {
    input: Vec<&'static str>,
}

impl<'a> Entry<'a> {
    fn of(facts: &'a Facts) -> Entry<'a> {
        let listed = facts.vision.or(facts.audio).or(facts.pdf).is_some();
        let kinds =
            [("text", Some(true)), ("image", facts.vision), ("audio", facts.audio), ("pdf", facts.pdf)];
        let input =
            kinds.into_iter().filter(|(_, takes)| *takes == Some(true)).map(|(kind, _)| kind).collect();
        Entry {
            limit: Limit { context: facts.context_window, output: facts.max_output },
            tool_call: facts.tools,
            reasoning: facts.reasoning,
            structured_output: facts.structured_output,
            modalities: listed.then_some(Modalities { input }),
            cost: facts.price.as_ref(),
        }
    }
}
