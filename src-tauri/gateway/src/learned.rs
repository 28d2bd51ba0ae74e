//! What members have been seen to refuse: they are asked otherwise from then on, whoever asks. By endpoint and served
//! name, and kept over a restart.

mod named;

use std::{
    collections::HashMap,
    sync::{Mutex, MutexGuard, PoisonError},
};

use plan::{Registered, Setup};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use store::{LearnedRow, Store, StoreError};
use wire::{Parameter, Quirks, UpstreamError};

use self::named::{Named, named};
use crate::{
    facts::{Place, place},
    gateway::Gateway,
};

#[derive(Default)]
pub(crate) struct Learned {
    refused: Mutex<HashMap<Place, Refused>>,
}

/// What a member refuses, as it is kept.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
struct Refused {
    /// In the order in which it was found out.
    parameters: Vec<Parameter>,
    /// Its owner's options, by where they stand: `generationConfig.topK`.
    options: Vec<String>,
}

const QUIRKS: &str = "quirks";

impl Learned {
    /// As it was kept. Blocks.
    pub(crate) fn load(store: &Store) -> Result<Learned, StoreError> {
        let rows = store.learned()?.into_iter().filter(|row| row.what == QUIRKS);
        let read = |row: LearnedRow| match serde_json::from_str(&row.body) {
            Ok(refused) => Some(((row.endpoint, row.served), refused)),
            Err(error) => {
                // It is learned again, at the cost of one refusal.
                tracing::warn!(row.endpoint, row.served, %error, "what was learned could not be read");
                None
            }
        };
        Ok(Learned { refused: Mutex::new(rows.filter_map(read).collect()) })
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<Place, Refused>> {
        self.refused.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What was learned of a model that is elsewhere now, or asked otherwise by its owner, says nothing any more.
    fn forget(&self, before: &Setup, after: &Setup) -> Vec<Place> {
        let mut known = self.lock();
        if known.is_empty() {
            return Vec::new();
        }
        let as_it_was = |(name, served): &Place| {
            let at = |setup: &Setup| {
                let endpoint = setup.endpoints.iter().find(|it| it.name == *name)?;
                let mut models = setup.models.iter();
                let model = models.find(|it| it.endpoint == *name && it.served == *served)?;
                let said = (endpoint.quirks, model.quirks, model.options.clone());
                Some((endpoint.base.clone(), endpoint.api, said))
            };
            at(before) == at(after)
        };
        let gone: Vec<Place> = known.keys().filter(|place| !as_it_was(place)).cloned().collect();
        gone.iter().for_each(|place| drop(known.remove(place)));
        gone
    }
}

impl Gateway {
    /// How a member departs from its dialect: as its catalog says, and as it has been learned.
    pub(crate) fn quirks(&self, it: &Registered) -> Quirks {
        let known = self.learned().lock();
        if known.is_empty() {
            return it.quirks;
        }
        known.get(&place(&it.model)).map_or(it.quirks, |refused| refused.over(it.quirks))
    }

    /// The owner's options for a model, without those that it has refused.
    pub(crate) fn options(&self, it: &Registered) -> Map<String, Value> {
        let mut options = it.model.options.clone();
        if !options.is_empty()
            && let Some(refused) = self.learned().lock().get(&place(&it.model))
        {
            refused.options.iter().for_each(|path| named::remove(&mut options, path));
        }
        options
    }

    /// Learns from a refusal that names a parameter, or an option of the owner's; whether it is asked otherwise from
    /// now on.
    pub(crate) fn learn(&self, it: &Registered, error: &UpstreamError) -> bool {
        let mut known = self.learned().lock();
        let refused = known.get(&place(&it.model)).cloned().unwrap_or_default();
        let Some(refused) = refused.and(it, error) else { return false };
        // Text and names: they always serialise.
        let body = serde_json::to_string(&refused).unwrap_or_default();
        known.insert(place(&it.model), refused);
        drop(known);
        if !it.practice {
            let (endpoint, served) = place(&it.model);
            let at_ms = self.clock().now_ms();
            let row = LearnedRow { endpoint, served, what: QUIRKS.to_owned(), body, at_ms };
            self.panel_tasks().spawn(self.store().keep_learned(row));
        }
        true
    }

    /// The set-up has changed: what does not hold any more is let go.
    pub(crate) fn forget_learned(&self, before: &Setup, after: &Setup) {
        for (endpoint, served) in self.learned().forget(before, after) {
            self.panel_tasks().spawn(self.store().forget_learned(endpoint, served, QUIRKS));
        }
    }
}

impl Refused {
    fn over(&self, quirks: Quirks) -> Quirks {
        self.parameters.iter().fold(quirks, |quirks, it| quirks.without(*it).unwrap_or(quirks))
    }

    /// With what this error says beside; `None` where that changes nothing. A parameter that is refused is left out
    /// whoever set it: the caller, or the owner with an option of its name.
    fn and(mut self, it: &Registered, error: &UpstreamError) -> Option<Refused> {
        let mut options = named(&it.model.options);
        options.retain(|option| !self.leaves_out(&option.path));
        let names = || options.iter().map(|option| option.said.as_str());
        let at = |is: &dyn Fn(&Named) -> bool| options.iter().find(|it| is(it)).map(|it| it.path.clone());
        // An option of the owner's that is named before it is what is refused.
        let parameter = error.refused_name().filter(|(name, parameter)| {
            let first = error.refused_field(names().chain([*name]));
            first.is_none_or(|first| first.eq_ignore_ascii_case(name))
                && self.over(it.quirks).without(*parameter).is_some()
        });
        let option = match parameter {
            // A budget goes under its other name, whoever set it.
            Some((_, Parameter::PlainBudget | Parameter::CompletionBudget)) => None,
            Some((name, _)) => {
                let outer = name.split('.').next().unwrap_or(name);
                at(&|option| option.said.eq_ignore_ascii_case(outer))
            }
            None => {
                let said = error.refused_field(names())?;
                at(&|option| option.said == said)
            }
        };
        self.parameters.extend(parameter.map(|(_, parameter)| parameter));
        self.options.extend(option);
        Some(self)
    }

    fn leaves_out(&self, option: &str) -> bool {
        self.options.iter().any(|known| known == option)
    }
}

#[cfg(test)]
mod tests {
    use catalog::{Endpoint, Model};
    use plan::Roster;
    use serde_json::json;
    use wire::Class;

    use super::*;

    fn setup() -> Setup {
        let mut model = Model::new("a", "fake", "a-1");
        model.options.insert("frobnicate".to_owned(), json!(1));
        Setup {
            endpoints: vec![Endpoint::new("fake", "https://example.com/v1")],
            models: vec![model],
            ..Setup::default()
        }
    }

    fn refusal(words: &str) -> UpstreamError {
        UpstreamError {
            class: Class::BadRequest,
            status: Some(400),
            message: words.to_owned(),
            retry_after: None,
        }
    }

    #[test]
    fn a_parameter_and_an_option_are_learned_once_each_and_kept_as_they_are() {
        let roster = Roster::new(&setup());
        let it = roster.get("a").unwrap();
        let refused = Refused::default();
        let refused = refused.and(it, &refusal("Unsupported parameter: 'max_tokens'")).unwrap();
        assert!(refused.over(it.quirks).completion_budget);
        assert_eq!(refused.clone().and(it, &refusal("Unsupported parameter: 'max_tokens'")), None);
        let refused = refused.and(it, &refusal("Unknown parameter: 'frobnicate'.")).unwrap();
        assert!(refused.leaves_out("frobnicate"));
        assert_eq!(refused.clone().and(it, &refusal("Unknown parameter: 'frobnicate'.")), None);
        assert_eq!(refused.clone().and(it, &refusal("Unknown parameter: 'other'.")), None);
        let kept = serde_json::to_string(&refused).unwrap();
        assert_eq!(kept, r#"{"parameters":["plain_budget"],"options":["frobnicate"]}"#);
        assert_eq!(serde_json::from_str::<Refused>(&kept).unwrap(), refused);
    }

    /// One refusal covers what is named, whoever set it, and nothing that is named beside it.
    #[test]
    fn an_option_that_is_refused_by_a_parameters_name_goes_with_it() {
        let learned = |options: Value, words: &str| {
            let mut setup = setup();
            setup.models[0].options = options.as_object().cloned().unwrap();
            let roster = Roster::new(&setup);
            let refused = Refused::default().and(roster.get("a").unwrap(), &refusal(words)).unwrap();
            (refused.parameters, refused.options)
        };
        let heat = "Unsupported parameter: 'temperature' is not supported with this model.";
        let effort = "Unsupported parameter: 'reasoning.effort' is not supported with this model.";
        let budget =
            "Unsupported parameter: 'max_tokens' is not supported. Use 'max_completion_tokens' instead.";
        let beside = "'temperature' is not supported when reasoning_effort is set";
        let meant = "Unknown parameter: 'frobnicate'. Did you mean 'temperature'?";
        for (options, words, parameters, left_out) in [
            (json!({}), heat, vec![Parameter::Sampling], vec![]),
            (json!({"temperature": 0.5, "top_p": 0.9}), heat, vec![Parameter::Sampling], vec!["temperature"]),
            (json!({"reasoning": {"effort": "low"}}), effort, vec![Parameter::Effort], vec!["reasoning"]),
            (json!({"reasoning_effort": "low"}), beside, vec![Parameter::Sampling], vec![]),
            // It goes under its other name.
            (json!({"max_tokens": 5}), budget, vec![Parameter::PlainBudget], vec![]),
            (json!({"max_completion_tokens": 5}), budget, vec![Parameter::PlainBudget], vec![]),
            (json!({"frobnicate": 1, "temperature": 0.5}), meant, vec![], vec!["frobnicate"]),
            // One within an object goes alone, by its own name where an API's options are held there.
            (
                json!({"generationConfig": {"seed": 1, "topK": 3}}),
                "Unknown name \"top_k\" at 'generation_config': Cannot find field.",
                vec![Parameter::Sampling],
                vec!["generationConfig.topK"],
            ),
            (
                json!({"generationConfig": {"thinkingConfig": {"depth": 1}, "seed": 1}}),
                "Invalid JSON payload received. Unknown name \"depth\" at 'generation_config.thinking_config': \
                 Cannot find field.",
                vec![],
                vec!["generationConfig.thinkingConfig.depth"],
            ),
            (
                json!({"options": {"mirostat": 1, "num_ctx": 9}}),
                "unsupported parameter: mirostat",
                vec![],
                vec!["options.mirostat"],
            ),
            (
                json!({"provider": {"sort": "price", "order": []}}),
                "Unknown parameter: 'provider.sort'. Fields are in no order.",
                vec![],
                vec!["provider.sort"],
            ),
        ] {
            let left_out: Vec<String> = left_out.into_iter().map(str::to_owned).collect();
            assert_eq!(learned(options.clone(), words), (parameters, left_out), "{options} {words}");
        }
    }

    #[test]
    fn what_is_left_out_of_an_object_leaves_the_rest_of_it() {
        let options = json!({"a.b": 1, "a": {"b": 2, "c": {"d": 3, "e": 4}}, "f": 5});
        for (path, wanted) in [
            ("a.b", json!({"a": {"b": 2, "c": {"d": 3, "e": 4}}, "f": 5})),
            ("a.c.d", json!({"a.b": 1, "a": {"b": 2, "c": {"e": 4}}, "f": 5})),
            ("a", json!({"a.b": 1, "f": 5})),
            ("f.g", options.clone()),
            ("x.y", options.clone()),
        ] {
            let mut left = options.as_object().cloned().unwrap();
            named::remove(&mut left, path);
            assert_eq!(Value::Object(left), wanted, "{path}");
        }
    }

    #[test]
    fn what_is_elsewhere_or_asked_otherwise_is_forgotten() {
        let before = setup();
        let with = |change: fn(&mut Setup)| {
            let mut after = before.clone();
            change(&mut after);
            let place = ("fake".to_owned(), "a-1".to_owned());
            let known = HashMap::from([(place, Refused::default())]);
            Learned { refused: Mutex::new(known) }.forget(&before, &after).len()
        };
        assert_eq!(with(|_| {}), 0);
        assert_eq!(with(|setup| setup.models[0].alias = "b".to_owned()), 0, "its name is ours");
        assert_eq!(with(|setup| setup.endpoints[0].base.push('2')), 1);
        assert_eq!(with(|setup| setup.endpoints[0].api = wire::Dialect::Responses), 1);
        assert_eq!(with(|setup| drop(setup.models[0].options.insert("x".to_owned(), json!(1)))), 1);
        assert_eq!(with(|setup| setup.models.clear()), 1);
    }
}
