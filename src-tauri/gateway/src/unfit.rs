//! What no change of the set-up may do, whoever makes it, and no text that is kept beside it.

use std::collections::HashSet;

use catalog::{FieldError, Model};
use plan::Setup;
use serde::Serialize;
use serde_json::Value;
use vault::Vault;

use crate::unmasked::Before;

/// Why a change that is well formed was refused.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unfit {
    /// A name that another model had.
    #[error("The alias {0} was another model's, whose record is under it; choose another.")]
    NameGivenUp(String),
    #[error(
        "The alias {alias} stands for {served} at {endpoint}, and its record is under it; give the other model \
         another alias."
    )]
    NameOfAnother { alias: String, endpoint: String, served: String },
    #[error(
        "The alias {alias} has calls under way to {served} at {endpoint}, whose record will be under it; choose \
         another."
    )]
    UnderWay { alias: String, endpoint: String, served: String },
    /// `item` is `model fast`, `field` a path in it; `of` is whose key it is, in words.
    #[error(
        "{item}: {field}: this text contains {of}. Texts of the set-up are kept, shown and exported, so take it out; an \
         endpoint's key is kept with bench endpoint key."
    )]
    HoldsKey { item: String, field: String, of: String },
    #[error(
        "{item}: {field}: this text holds ••••, which stands for a key that is not shown; write it without."
    )]
    Masked { item: String, field: String },
    /// An option that no provider of the API would take; `message` says what it must be.
    #[error("{item}: {field}: {message}")]
    Option { item: String, field: String, message: String },
}

/// Refuses an option of a model that cannot be right, and did not stand there before.
pub(crate) fn options_are_right(before: &Setup, after: &Setup) -> Result<(), Unfit> {
    wrong_options(before, after).into_iter().next().map_or(Ok(()), Err)
}

/// The options in `after` and not in `before` that cannot be right.
pub(crate) fn wrong_options(before: &Setup, after: &Setup) -> Vec<Unfit> {
    let wrong = |setup: &Setup, model: &Model| {
        let endpoint = setup.endpoints.iter().find(|endpoint| endpoint.name == model.endpoint);
        catalog::wrong_options(endpoint, &model.options)
    };
    let mut found = Vec::new();
    for model in &after.models {
        let was = before.models.iter().find(|was| was.alias == model.alias);
        if was.is_some_and(|was| was.options == model.options) || model.options.is_empty() {
            continue;
        }
        let stood = was.map_or_else(Vec::new, |was| wrong(before, was));
        let new = wrong(after, model).into_iter().filter(|error| !stood.contains(error));
        let item = || format!("model {}", model.alias);
        found.extend(new.map(|FieldError { field, message }| Unfit::Option { item: item(), field, message }));
    }
    found
}

/// Refuses a new text that holds a known key, or what may be a gateway key. Blocks: keys of new endpoints are looked up first.
pub(crate) fn holds_no_key(vault: &Vault, before: &Setup, after: &Setup) -> Result<(), Unfit> {
    for endpoint in &after.endpoints {
        vault.key(&endpoint.name, endpoint.key_env.as_deref());
    }
    match keys_in(vault, before, after).into_iter().next() {
        Some(unfit) => Err(unfit),
        None => Ok(()),
    }
}

/// Where texts that are in `after` and not in `before` hold one.
pub(crate) fn keys_in(vault: &Vault, before: &Setup, after: &Setup) -> Vec<Unfit> {
    let mut found = Vec::new();
    items("endpoint", &before.endpoints, &after.endpoints, |it| &it.name, vault, &mut found);
    items("model", &before.models, &after.models, |it| &it.alias, vault, &mut found);
    items("collection", &before.collections, &after.collections, |it| &it.name, vault, &mut found);
    items("shape", &before.shapes, &after.shapes, |it| it.name.name(), vault, &mut found);
    found
}

fn items<T: PartialEq + Serialize>(
    kind: &str,
    before: &[T],
    after: &[T],
    name: fn(&T) -> &str,
    vault: &Vault,
    found: &mut Vec<Unfit>,
) {
    let before = Before::of(before, after, name);
    for item in after {
        let was = before.was(name(item));
        if was == Some(item) {
            continue;
        }
        // Strings, numbers and maps with string keys: they always serialise.
        let value = |it: &T| serde_json::to_value(it).unwrap_or_default();
        let mut stood = HashSet::new();
        if let Some(was) = was {
            texts(&value(was), "", &mut |_, text| {
                stood.insert(text.to_owned());
            });
        }
        let place = format!("{kind} {}", name(item));
        texts(&value(item), "", &mut |field, text| {
            if !stood.contains(text) {
                found.extend(key_in(vault, &place, field, text));
            }
        });
    }
}

/// Why a text of this field of an item may not be kept.
pub(crate) fn key_in(vault: &Vault, item: &str, field: &str, text: &str) -> Option<Unfit> {
    let shown = |text: &str| vault.mask(text).unwrap_or_else(|| text.to_owned());
    let place = || (shown(item), shown(field));
    if text.contains(vault::MASK) {
        let (item, field) = place();
        return Some(Unfit::Masked { item, field });
    }
    let of = match vault.whose_key_in(text).as_deref() {
        Some("") => "a key".to_owned(),
        Some(name) => format!("the key of endpoint {name}"),
        None if vault::gateway_key::is_in(text) => "a gateway key".to_owned(),
        None => return None,
    };
    let (item, field) = place();
    Some(Unfit::HoldsKey { item, field, of })
}

/// Every text in a value, the names of its fields too, with where it stands: `options.user`, `tags[0]`.
fn texts(value: &Value, place: &str, each: &mut dyn FnMut(&str, &str)) {
    match value {
        Value::String(text) => each(place, text),
        Value::Array(items) => {
            items.iter().enumerate().for_each(|(at, item)| texts(item, &format!("{place}[{at}]"), each));
        }
        Value::Object(fields) => {
            for (name, value) in fields {
                let place = if place.is_empty() { name.clone() } else { format!("{place}.{name}") };
                each(&place, name);
                texts(value, &place, each);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}
