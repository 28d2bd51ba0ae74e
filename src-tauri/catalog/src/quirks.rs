//! What a member does otherwise than its API says: typed, known by patterns in a data file, and the owner's to
//! overrule.

use std::sync::LazyLock;

use serde::{Deserialize, Serialize};
use wire::{Dialect, ThinkingScale};

use crate::{Endpoint, Model, Preset, preset::preset_of};

/// A closed set, each as [`wire::Quirks`] has it. What is left out is as the rules before say, and at last as the
/// API says.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Quirks {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cache_marks: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cache_ttl: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub signed_thinking: Option<bool>,
    /// `as_asked`, `budget` or `effort`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub thinking: Option<ThinkingScale>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reasoning_back: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub one_system: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub alternate: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub developer: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub completion_budget: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub own_sampling: Option<bool>,
}

/// What is known of a model as this endpoint serves it: the rules that fit, then the endpoint's own, then the
/// model's.
pub fn quirks(endpoint: &Endpoint, model: &Model) -> wire::Quirks {
    let preset = preset_of(&endpoint.base);
    let served = model.served.to_ascii_lowercase();
    let fitting = RULES.iter().filter(|rule| rule.fits(endpoint.api, preset, &served));
    fitting
        .map(|rule| rule.quirks)
        .chain([endpoint.quirks, model.quirks])
        .fold(Quirks::default(), |known, over| over.over(known))
        .to_wire()
}

impl Quirks {
    pub fn is_empty(&self) -> bool {
        *self == Quirks::default()
    }

    /// These, and of `known` what these say nothing about.
    fn over(self, known: Quirks) -> Quirks {
        Quirks {
            cache_marks: self.cache_marks.or(known.cache_marks),
            cache_ttl: self.cache_ttl.or(known.cache_ttl),
            signed_thinking: self.signed_thinking.or(known.signed_thinking),
            thinking: self.thinking.or(known.thinking),
            reasoning_back: self.reasoning_back.or(known.reasoning_back),
            one_system: self.one_system.or(known.one_system),
            alternate: self.alternate.or(known.alternate),
            developer: self.developer.or(known.developer),
            completion_budget: self.completion_budget.or(known.completion_budget),
            own_sampling: self.own_sampling.or(known.own_sampling),
        }
    }

    fn to_wire(self) -> wire::Quirks {
        wire::Quirks {
            cache_marks: self.cache_marks.unwrap_or_default(),
            cache_ttl: self.cache_ttl.unwrap_or_default(),
            signed_thinking: self.signed_thinking.unwrap_or_default(),
            thinking: self.thinking.unwrap_or_default(),
            reasoning_back: self.reasoning_back.unwrap_or_default(),
            one_system: self.one_system.unwrap_or_default(),
            alternate: self.alternate.unwrap_or_default(),
            developer: self.developer.unwrap_or_default(),
            completion_budget: self.completion_budget.unwrap_or_default(),
            own_sampling: self.own_sampling.unwrap_or_default(),
            // The others are learned.
            ..wire::Quirks::default()
        }
    }
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Rule {
    api: Option<Dialect>,
    #[serde(default)]
    presets: Vec<String>,
    #[serde(default)]
    served: Vec<String>,
    #[serde(default)]
    except: Vec<String>,
    quirks: Quirks,
    #[cfg_attr(not(test), expect(dead_code, reason = "for whoever reads the file; a test wants it there"))]
    why: String,
}

impl Rule {
    fn fits(&self, api: Dialect, preset: Option<&Preset>, served: &str) -> bool {
        let like = |patterns: &[String]| patterns.iter().any(|pattern| is_like(served, pattern));
        self.api.is_none_or(|only| only == api)
            && (self.presets.is_empty() || preset.is_some_and(|preset| self.presets.contains(&preset.id)))
            && (self.served.is_empty() || like(&self.served))
            && !like(&self.except)
    }
}

/// Whether the pattern describes the whole text; `*` is any run of characters.
pub(crate) fn is_like(text: &str, pattern: &str) -> bool {
    match pattern.split_once('*') {
        None => text == pattern,
        Some((begins, rest)) => {
            let Some(text) = text.strip_prefix(begins) else { return false };
            // Served ids and patterns are short: every place is tried.
            rest.is_empty() || text.char_indices().any(|(at, _)| is_like(&text[at..], rest))
        }
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    rule: Vec<Rule>,
}

#[expect(
    clippy::expect_used,
    reason = "the file is embedded and a test reads it: it cannot fail in the field"
)]
static RULES: LazyLock<Vec<Rule>> =
    LazyLock::new(|| read(include_str!("../quirks.toml")).expect("quirks.toml is valid"));

fn read(text: &str) -> Result<Vec<Rule>, toml::de::Error> {
    toml::from_str::<File>(text).map(|file| file.rule)
}

#[cfg(test)]
mod tests;
