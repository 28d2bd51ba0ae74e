//! Which models have calls under way, by what their aliases stood for when those began: the record of such a call is yet
//! to come, so its alias is no other model's.

use std::{
    collections::HashMap,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

use catalog::Model;
use plan::Setup;

use crate::{
    facts::{Place, place},
    names::Names,
};

/// Made anew with each set-up. A call counts itself without a lock.
#[derive(Default)]
pub(crate) struct UnderWay(HashMap<String, Vec<(Place, Arc<AtomicUsize>)>>);

/// A call that is under way until this is dropped.
pub(crate) struct Begun(Option<Arc<AtomicUsize>>);

impl UnderWay {
    /// For the models of the next set-up, with what is under way in this one and before.
    pub(crate) fn next(&self, setup: &Setup, names: &Names) -> UnderWay {
        let mut next = UnderWay::default();
        for (alias, counts) in &self.0 {
            let counts = counts.iter().filter(|(_, count)| count.load(Ordering::Relaxed) > 0);
            next.0.entry(alias.clone()).or_default().extend(counts.cloned());
        }
        for model in &setup.models {
            let place = place(model);
            // What was renamed is the same work.
            let called = |alias: &&String| **alias == model.alias || names.now(alias) == Some(&model.alias);
            let before = self.0.keys().filter(called).find_map(|alias| self.count(alias, &place));
            let counts = next.0.entry(model.alias.clone()).or_default();
            if !counts.iter().any(|(known, _)| *known == place) {
                counts.push((place, before.cloned().unwrap_or_default()));
            }
        }
        next.0.retain(|_, counts| !counts.is_empty());
        next
    }

    /// A call to a model of this set-up begins.
    pub(crate) fn begin(&self, model: &Model) -> Begun {
        let counts = self.0.get(&model.alias).into_iter().flatten();
        let is_it = |(endpoint, served): &Place| (endpoint, served) == (&model.endpoint, &model.served);
        let count = counts.into_iter().find(|(place, _)| is_it(place)).map(|(_, count)| count.clone());
        if let Some(count) = &count {
            count.fetch_add(1, Ordering::Relaxed);
        }
        Begun(count)
    }

    /// Another place than this where the alias has calls under way.
    pub(crate) fn elsewhere(&self, alias: &str, place: &Place) -> Option<&Place> {
        let counts = self.0.get(alias).into_iter().flatten();
        let mut busy = counts.filter(|(_, count)| count.load(Ordering::Relaxed) > 0).map(|(place, _)| place);
        busy.find(|busy| *busy != place)
    }

    fn count(&self, alias: &str, place: &Place) -> Option<&Arc<AtomicUsize>> {
        let counts = self.0.get(alias)?;
        counts.iter().find(|(known, _)| known == place).map(|(_, count)| count)
    }
}

impl Drop for Begun {
    fn drop(&mut self) {
        if let Some(count) = &self.0 {
            count.fetch_sub(1, Ordering::Relaxed);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn setup(models: &[(&str, &str)]) -> Setup {
        let models = models.iter().map(|(alias, served)| Model::new(*alias, "fake", *served)).collect();
        Setup { models, ..Setup::default() }
    }

    fn at(served: &str) -> Place {
        ("fake".to_owned(), served.to_owned())
    }

    #[test]
    fn a_call_is_under_way_until_it_ends_whatever_becomes_of_its_model() {
        let (with, names) = (setup(&[("a", "x")]), Names::default());
        let first = UnderWay::default().next(&with, &names);
        let call = first.begin(&with.models[0]);
        let gone = first.next(&setup(&[]), &names).next(&setup(&[]), &names);
        assert_eq!(gone.elsewhere("a", &at("y")), Some(&at("x")));
        assert_eq!((gone.elsewhere("a", &at("x")), gone.elsewhere("b", &at("y"))), (None, None));
        // Back again, it counts on.
        let back = gone.next(&with, &names);
        let second = back.begin(&with.models[0]);
        drop(call);
        assert_eq!(gone.elsewhere("a", &at("y")), Some(&at("x")));
        drop(second);
        assert_eq!(gone.elsewhere("a", &at("y")), None);
        assert!(gone.next(&setup(&[]), &names).0.is_empty());
    }

    #[test]
    fn a_renamed_models_calls_are_under_way_under_both_names() {
        let (before, after) = (setup(&[("a", "x")]), setup(&[("b", "x")]));
        let first = UnderWay::default().next(&before, &Names::default());
        let call = first.begin(&before.models[0]);
        let renamed = first.next(&after, &Names::default().renamed("a", "b"));
        for alias in ["a", "b"] {
            assert_eq!(renamed.elsewhere(alias, &at("y")), Some(&at("x")), "{alias}");
        }
        drop(call);
        assert_eq!(renamed.elsewhere("b", &at("y")), None);
    }
}
