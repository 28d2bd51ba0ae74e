//! A text that stood in the set-up before its key was known is shown masked. Whoever saves an item sends it back as it was
//! shown: what they did not touch stays as it was.

use std::collections::{HashMap, HashSet};

use plan::Setup;
use serde::{Serialize, de::DeserializeOwned};
use serde_json::Value;
use vault::Vault;

/// What items were before a change, by their names of now.
pub(crate) struct Before<'a, T> {
    named: HashMap<&'a str, &'a T>,
    renamed: Option<&'a T>,
}

impl<'a, T> Before<'a, T> {
    pub(crate) fn of(before: &'a [T], after: &[T], name: fn(&T) -> &str) -> Before<'a, T> {
        let kept: HashSet<&str> = after.iter().map(name).collect();
        let mut gone = before.iter().filter(|was| !kept.contains(name(was)));
        let renamed = gone.next().filter(|_| gone.next().is_none());
        Before { named: before.iter().map(|it| (name(it), it)).collect(), renamed }
    }

    /// An item under a new name was the one that is not there any more, where there is one.
    pub(crate) fn was(&self, name: &str) -> Option<&'a T> {
        self.named.get(name).copied().or(self.renamed)
    }
}

/// Puts back each text of `after` that is, as it is shown, one of the same item in `before`.
pub(crate) fn restore(vault: &Vault, before: &Setup, after: &mut Setup) {
    items(&before.endpoints, &mut after.endpoints, |it| &it.name, vault);
    items(&before.models, &mut after.models, |it| &it.alias, vault);
    items(&before.collections, &mut after.collections, |it| &it.name, vault);
    items(&before.shapes, &mut after.shapes, |it| it.name.name(), vault);
}

fn items<T: Serialize + DeserializeOwned + PartialEq>(
    before: &[T],
    after: &mut [T],
    name: fn(&T) -> &str,
    vault: &Vault,
) {
    let before = Before::of(before, after, name);
    for item in after {
        let was = before.was(name(item));
        let Some(was) = was.filter(|was| *was != item) else { continue };
        let (Ok(was), Ok(mut value)) = (serde_json::to_value(was), serde_json::to_value(&*item)) else {
            continue;
        };
        let mut shown = HashMap::new();
        find(&was, vault, &mut shown);
        if !shown.is_empty()
            && put(&mut value, &shown)
            && let Ok(restored) = serde_json::from_value(value)
        {
            *item = restored;
        }
    }
}

/// The texts that are shown masked, by how that is; nothing for what stands for two.
type Shown = HashMap<String, Option<String>>;

fn find(value: &Value, vault: &Vault, shown: &mut Shown) {
    let mut text = |text: &String| {
        if let Some(masked) = vault.mask(text) {
            let known = shown.entry(masked).or_insert_with(|| Some(text.clone()));
            known.take_if(|known| known != text);
        }
    };
    match value {
        Value::String(said) => text(said),
        Value::Array(items) => items.iter().for_each(|item| find(item, vault, shown)),
        Value::Object(fields) => {
            fields.keys().for_each(text);
            fields.values().for_each(|value| find(value, vault, shown));
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// Whether anything was put back.
fn put(value: &mut Value, shown: &Shown) -> bool {
    let original = |text: &str| shown.get(text).cloned().flatten();
    match value {
        Value::String(text) => original(text).map(|original| *text = original).is_some(),
        Value::Array(items) => items.iter_mut().fold(false, |any, item| put(item, shown) | any),
        Value::Object(fields) => {
            let masked = fields.keys().any(|name| original(name).is_some());
            if masked {
                let named = std::mem::take(fields).into_iter();
                *fields = named.map(|(name, value)| (original(&name).unwrap_or(name), value)).collect();
            }
            fields.values_mut().fold(masked, |any, value| put(value, shown) | any)
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => false,
    }
}
