use serde::{Deserialize, Serialize};
use wire::Usage;

use crate::{FieldError, ModelRole, Quirks, Retired, family, valid_alias};

/// A registered model: `alias` is ours, `served` the provider's id.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Model {
    pub alias: String,
    pub endpoint: String,
    pub served: String,
    #[serde(default)]
    pub role: ModelRole,
    /// Never chosen automatically.
    #[serde(default)]
    pub ad_hoc: bool,
    #[serde(default, skip_serializing_if = "Facts::is_empty")]
    pub facts: Facts,
    /// Default options merged into every request body (`max_tokens`, `temperature`, …).
    #[serde(default, skip_serializing_if = "serde_json::Map::is_empty")]
    pub options: serde_json::Map<String, serde_json::Value>,
    /// Since when and why it is never called again; its record stays.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retired: Option<Retired>,
    /// What it does otherwise than its API says; over its endpoint's.
    #[serde(default, skip_serializing_if = "Quirks::is_empty")]
    pub quirks: Quirks,
}

impl Model {
    /// A model with nothing known of it.
    pub fn new(alias: impl Into<String>, endpoint: impl Into<String>, served: impl Into<String>) -> Model {
        Model {
            alias: alias.into(),
            endpoint: endpoint.into(),
            served: served.into(),
            role: ModelRole::default(),
            ad_hoc: false,
            facts: Facts::default(),
            options: serde_json::Map::new(),
            retired: None,
            quirks: Quirks::default(),
        }
    }

    /// The underlying model whatever serves it.
    pub fn family(&self) -> String {
        family(&self.served)
    }

    /// Alias, served id, role, facts, retirement and options, in that order; the first that is wrong. Whether
    /// the endpoint exists, and whether any shape knows the role, is the set-up's to say.
    pub fn check(&self) -> Result<(), FieldError> {
        if !valid_alias(&self.alias) {
            return Err(FieldError::new(
                "alias",
                "1 to 64 letters, digits, -, _ and ., beginning with a letter or digit",
            ));
        }
        if !valid_served(&self.served) {
            return Err(FieldError::new("served", "the provider's id of the model, at most 256 characters"));
        }
        self.role.check()?;
        self.facts.check()?;
        if let Some(retired) = &self.retired {
            retired.check()?;
        }
        match OUR_FIELDS.iter().find(|field| self.options.contains_key(**field)) {
            Some(field) => {
                Err(FieldError::new(format!("options.{field}"), "set by the gateway; leave it out"))
            }
            None => Ok(()),
        }
    }
}

/// Whether it may be what a provider calls a model.
pub fn valid_served(served: &str) -> bool {
    !served.trim().is_empty() && served.len() <= 256 && !served.contains(char::is_control)
}

/// Body fields a default option would break a panel with.
const OUR_FIELDS: [&str; 4] = ["model", "messages", "stream", "stream_options"];

/// A smaller window holds no question.
const LEAST_WINDOW: u64 = 512;

/// Past any real window; keeps arithmetic on estimates far from overflow.
const MOST_TOKENS: u64 = 1_000_000_000;

/// What is known of a model; `None` is unknown.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, ts_rs::TS)]
#[serde(deny_unknown_fields, default)]
pub struct Facts {
    #[serde(skip_serializing_if = "Option::is_none")]
    #[ts(optional, type = "number")]
    pub context_window: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[ts(optional, type = "number")]
    pub max_output: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub tools: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub vision: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub reasoning: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub structured_output: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub pdf: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub audio: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub price: Option<Price>,
}

/// US dollars for a million tokens.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, ts_rs::TS)]
#[serde(deny_unknown_fields, default)]
pub struct Price {
    #[serde(skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub input: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub output: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub cache_read: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub cache_write: Option<f64>,
}

impl Facts {
    /// The names of all facts, as they are shown.
    pub const NAMES: [&str; 9] = [
        "context_window",
        "max_output",
        "tools",
        "vision",
        "reasoning",
        "structured_output",
        "pdf",
        "audio",
        "price",
    ];

    pub fn is_empty(&self) -> bool {
        *self == Facts::default()
    }

    /// Without what cannot be: facts from outside are not to be trusted with arithmetic.
    pub(crate) fn bounded(mut self) -> Facts {
        self.context_window =
            self.context_window.filter(|tokens| (LEAST_WINDOW..=MOST_TOKENS).contains(tokens));
        self.max_output = self.max_output.filter(|tokens| (1..=MOST_TOKENS).contains(tokens));
        self.price = self.price.filter(|price| price.check().is_ok());
        self
    }

    fn check(&self) -> Result<(), FieldError> {
        for (field, value, least) in
            [("context_window", self.context_window, LEAST_WINDOW), ("max_output", self.max_output, 1)]
        {
            if value.is_some_and(|value| !(least..=MOST_TOKENS).contains(&value)) {
                return Err(FieldError::new(
                    format!("facts.{field}"),
                    format!("{least} to {MOST_TOKENS} tokens, or leave it out when it is not known"),
                ));
            }
        }
        self.price.as_ref().map_or(Ok(()), Price::check)
    }
}

impl Price {
    /// US dollars for a call's tokens; `None` where the price, or what was used, is not known and makes a difference:
    /// what is free costs nothing however much of it was used.
    ///
    /// Cached input that was read is never dearer than fresh, so it costs as much where its price is not known. Written,
    /// it may cost twice as much: with tokens written and no price for them, the cost is not known. Reasoning is
    /// part of the output.
    pub fn cost(&self, usage: &Usage) -> Option<f64> {
        let (input, output) = (self.input?, self.output?);
        let (read, written) = (usage.cache_read.unwrap_or(0), usage.cache_write.unwrap_or(0));
        let write = match self.cache_write {
            Some(price) => price,
            None if written == 0 || input == 0.0 => 0.0,
            None => return None,
        };
        let million = |tokens: Option<u64>, price: f64| match price {
            0.0 => Some(0.0),
            price => Some(tokens? as f64 * price / 1e6),
        };
        Some(
            million(usage.input_beside_cache(), input)?
                + million(Some(read), self.cache_read.unwrap_or(input))?
                + million(Some(written), write)?
                + million(usage.output, output)?,
        )
    }

    /// Whether input and output are known to cost nothing.
    pub fn is_free(&self) -> bool {
        self.input == Some(0.0) && self.output == Some(0.0)
    }

    fn check(&self) -> Result<(), FieldError> {
        let prices = [
            ("input", self.input),
            ("output", self.output),
            ("cache_read", self.cache_read),
            ("cache_write", self.cache_write),
        ];
        for (field, price) in prices {
            // Not `price < 0.0`: a NaN must fail too.
            if price.is_some_and(|price| !(0.0..=100_000.0).contains(&price)) {
                return Err(FieldError::new(
                    format!("facts.price.{field}"),
                    "US dollars for a million tokens, 0 to 100000",
                ));
            }
        }
        Ok(())
    }
}

/// Whether a model that was free no longer is. What was never known to be free has not changed, and a price that is
/// no longer told has not risen.
pub fn went_paid(before: Option<&Price>, now: Option<&Price>) -> bool {
    let costs = |price: &Price| [price.input, price.output].iter().flatten().any(|price| *price > 0.0);
    before.is_some_and(Price::is_free) && now.is_some_and(costs)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn model() -> Model {
        Model::new("alpha", "fake", "vendor/alpha-1")
    }

    fn error_of(model: Model) -> String {
        model.check().expect_err("should be refused").to_string()
    }

    #[test]
    fn free_models_that_went_paid() {
        let price = |input, output| Some(Price { input, output, ..Price::default() });
        let (free, paid) = (price(Some(0.0), Some(0.0)), price(Some(0.0), Some(0.1)));
        for (before, now, wanted) in [
            (&free, &paid, true),
            (&free, &price(Some(0.1), None), true),
            (&free, &free, false),
            (&free, &None, false),
            (&free, &price(None, None), false),
            (&None, &paid, false),
            (&price(Some(0.0), None), &paid, false),
            (&paid, &paid, false),
            (&paid, &free, false),
        ] {
            assert_eq!(went_paid(before.as_ref(), now.as_ref()), wanted, "{before:?} {now:?}");
        }
    }

    #[test]
    fn the_example_of_the_set_up_file_reads() {
        let model: Model = serde_json::from_value(json!({
            "alias": "alpha", "endpoint": "fake", "served": "vendor/alpha-1", "role": "general", "ad_hoc": false,
            "facts": {"context_window": 128000, "max_output": 8192, "tools": true, "vision": true,
                "reasoning": false, "structured_output": true, "pdf": false, "audio": false,
                "price": {"input": 0.5, "output": 1.5, "cache_read": 0.05, "cache_write": 0.6}},
            "options": {"max_tokens": 4096, "temperature": 0.2}
        }))
        .expect("a model");
        assert_eq!(model.check(), Ok(()));
        assert_eq!(model.facts.context_window, Some(128_000));
        assert_eq!(model.family(), "alpha1");
    }

    #[test]
    fn the_first_wrong_field_is_named() {
        assert_eq!(model().check(), Ok(()));
        assert!(error_of(Model { alias: "a b".into(), ..model() }).starts_with("alias: 1 to 64"));
        assert!(error_of(Model { served: " ".into(), ..model() }).starts_with("served: "));
        assert!(error_of(Model { served: "a\nb".into(), ..model() }).starts_with("served: "));
        let window = |n| Model { facts: Facts { context_window: Some(n), ..Facts::default() }, ..model() };
        assert!(error_of(window(511)).starts_with("facts.context_window: 512 to"));
        assert_eq!(window(512).check(), Ok(()));
        assert!(error_of(window(u64::MAX)).starts_with("facts.context_window: "));
        let price = |n| {
            let price = Some(Price { output: Some(n), ..Price::default() });
            Model { facts: Facts { price, ..Facts::default() }, ..model() }
        };
        assert_eq!(price(0.0).check(), Ok(()));
        assert!(error_of(price(-0.1)).starts_with("facts.price.output: US dollars"));
        assert!(error_of(price(f64::NAN)).starts_with("facts.price.output: "));
    }

    #[test]
    fn options_may_not_take_over_the_request() {
        for name in ["model", "messages", "stream", "stream_options"] {
            let mut model = model();
            model.options.insert(name.to_owned(), json!(1));
            assert!(error_of(model).starts_with(&format!("options.{name}: set by the gateway")));
        }
    }
}
