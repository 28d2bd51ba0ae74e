//! Where what is known of a model comes from, and what holds where sources differ.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::{Facts, Price};

/// In rising precedence.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, ts_rs::TS)]
#[serde(rename_all = "snake_case")]
pub enum FactSource {
    /// The catalog that came with the program.
    Snapshot,
    /// The daily refresh of it.
    Refresh,
    /// The endpoint's own list of models.
    Listing,
    /// What calls have shown.
    Learned,
    /// What the owner has set.
    Owner,
}

/// What every source but the owner says of one model as one endpoint serves it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct KnownFacts {
    pub snapshot: Facts,
    pub refresh: Facts,
    pub listing: Facts,
    /// Bounds that were met; capabilities that were seen working (`true`), or refused in so many words (`false`).
    pub learned: Facts,
}

/// What holds, and which source each fact is from, by the fact's field name.
///
/// The later source wins, but a bound that was learned only ever lowers what is known. The owner wins over all. A price is of one source; what a source leaves out of it is taken
/// from one before that has the same price for input and output.
pub fn effective(known: &KnownFacts, owner: &Facts) -> (Facts, BTreeMap<&'static str, FactSource>) {
    let mut sources = BTreeMap::new();
    let told = [
        (FactSource::Snapshot, &known.snapshot),
        (FactSource::Refresh, &known.refresh),
        (FactSource::Listing, &known.listing),
        (FactSource::Learned, &known.learned),
        (FactSource::Owner, owner),
    ];
    let mut bound = |name, of: fn(&Facts) -> Option<u64>| {
        pick(&mut sources, name, told, of, |source, before, now| {
            source == FactSource::Learned && before <= now
        })
    };
    let context_window = bound("context_window", |facts| facts.context_window);
    let max_output = bound("max_output", |facts| facts.max_output);
    let mut can = |name, of: fn(&Facts) -> Option<bool>| {
        let last = told.into_iter().filter_map(|(source, facts)| Some((source, of(facts)?))).next_back();
        last.map(|(source, works)| {
            sources.insert(name, source);
            works
        })
    };
    let (tools, vision) = (can("tools", |facts| facts.tools), can("vision", |facts| facts.vision));
    let reasoning = can("reasoning", |facts| facts.reasoning);
    let structured_output = can("structured_output", |facts| facts.structured_output);
    let (pdf, audio) = (can("pdf", |facts| facts.pdf), can("audio", |facts| facts.audio));
    let price = told.into_iter().fold(None, |before: Option<Price>, (source, facts)| match &facts.price {
        Some(price) if *price != Price::default() => {
            sources.insert("price", source);
            Some(completed(price, before.as_ref()))
        }
        _ => before,
    });
    let facts =
        Facts { context_window, max_output, tools, vision, reasoning, structured_output, pdf, audio, price };
    (facts, sources)
}

/// The last source's value; `keeps` says when the one before stays.
fn pick(
    sources: &mut BTreeMap<&'static str, FactSource>,
    name: &'static str,
    told: [(FactSource, &Facts); 5],
    of: fn(&Facts) -> Option<u64>,
    keeps: impl Fn(FactSource, u64, u64) -> bool,
) -> Option<u64> {
    let mut value = None;
    for (source, facts) in told {
        let Some(now) = of(facts) else { continue };
        if value.is_some_and(|before| keeps(source, before, now)) {
            continue;
        }
        value = Some(now);
        sources.insert(name, source);
    }
    value
}

/// A listing often says nothing of what a cached token costs.
fn completed(price: &Price, before: Option<&Price>) -> Price {
    let Some(before) = before.filter(|before| (before.input, before.output) == (price.input, price.output))
    else {
        return price.clone();
    };
    Price {
        cache_read: price.cache_read.or(before.cache_read),
        cache_write: price.cache_write.or(before.cache_write),
        ..price.clone()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    fn window(tokens: u64) -> Facts {
        Facts { context_window: Some(tokens), ..Facts::default() }
    }

    fn tools(works: bool) -> Facts {
        Facts { tools: Some(works), ..Facts::default() }
    }

    fn price(input: f64, output: f64, cache_read: Option<f64>) -> Facts {
        let price = Price { input: Some(input), output: Some(output), cache_read, cache_write: None };
        Facts { price: Some(price), ..Facts::default() }
    }

    #[test]
    fn the_later_source_wins_and_is_named() {
        use FactSource::*;
        let mut known = KnownFacts { snapshot: window(1000), ..KnownFacts::default() };
        let holds = |known: &KnownFacts, owner: &Facts| {
            let (facts, sources) = effective(known, owner);
            (facts.context_window, sources.get("context_window").copied())
        };
        let nothing = Facts::default();
        assert_eq!(holds(&KnownFacts::default(), &nothing), (None, None));
        assert_eq!(holds(&known, &nothing), (Some(1000), Some(Snapshot)));
        known.refresh = window(2000);
        assert_eq!(holds(&known, &nothing), (Some(2000), Some(Refresh)));
        known.listing = window(1500);
        assert_eq!(holds(&known, &nothing), (Some(1500), Some(Listing)));
        known.learned = window(1800);
        assert_eq!(holds(&known, &nothing), (Some(1500), Some(Listing)), "learned never raises");
        known.learned = window(900);
        assert_eq!(holds(&known, &nothing), (Some(900), Some(Learned)));
        assert_eq!(holds(&known, &window(4000)), (Some(4000), Some(Owner)));
        let only = KnownFacts { learned: window(700), ..KnownFacts::default() };
        assert_eq!(holds(&only, &nothing), (Some(700), Some(Learned)));
    }

    #[test]
    fn a_capability_is_learned_when_it_works_and_when_it_is_refused() {
        use FactSource::*;
        for (listing, learned, owner, wanted) in [
            (Some(false), Some(true), None, Some((true, Learned))),
            (Some(true), Some(false), None, Some((false, Learned))),
            (None, Some(false), None, Some((false, Learned))),
            (None, Some(false), Some(true), Some((true, Owner))),
            (None, Some(true), Some(false), Some((false, Owner))),
            (Some(false), None, None, Some((false, Listing))),
        ] {
            let facts = |works: Option<bool>| works.map(tools).unwrap_or_default();
            let known =
                KnownFacts { listing: facts(listing), learned: facts(learned), ..KnownFacts::default() };
            let (facts, sources) = effective(&known, &facts(owner));
            let found = facts.tools.map(|works| (works, sources["tools"]));
            assert_eq!(found, wanted, "{listing:?} {learned:?} {owner:?}");
        }
    }

    #[test]
    fn a_price_is_of_one_source() {
        let known =
            |listing| KnownFacts { snapshot: price(1.0, 2.0, Some(0.1)), listing, ..KnownFacts::default() };
        let read =
            |known: &KnownFacts| effective(known, &Facts::default()).0.price.map(|p| (p.input, p.cache_read));
        assert_eq!(
            read(&known(price(1.0, 2.0, None))),
            Some((Some(1.0), Some(0.1))),
            "the same price, completed"
        );
        assert_eq!(
            read(&known(price(0.0, 0.0, None))),
            Some((Some(0.0), None)),
            "free is free of the old one"
        );
        let empty = Facts { price: Some(Price::default()), ..Facts::default() };
        assert_eq!(read(&known(empty)), Some((Some(1.0), Some(0.1))), "a price without numbers says nothing");
    }

    #[test]
    fn every_fact_has_a_source() {
        let all = Facts {
            context_window: Some(1000),
            max_output: Some(100),
            tools: Some(true),
            vision: Some(true),
            reasoning: Some(true),
            structured_output: Some(true),
            pdf: Some(true),
            audio: Some(true),
            price: price(1.0, 2.0, Some(0.1)).price,
        };
        let (facts, sources) = effective(&KnownFacts::default(), &all);
        assert_eq!(facts, all);
        let fields = serde_json::to_value(&all).expect("json");
        let names: BTreeSet<_> = fields.as_object().expect("an object").keys().map(String::as_str).collect();
        assert_eq!(sources.keys().copied().collect::<BTreeSet<_>>(), names);
        assert_eq!(BTreeSet::from(Facts::NAMES), names);
    }
}
