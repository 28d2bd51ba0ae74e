//! What a model's owner set for it, put into a relayed body where its caller is silent.

use serde_json::Value;

use super::Body;
use crate::notice::Notice;

/// Where a dialect holds the options of a model's owner.
pub(crate) struct Home {
    /// Fields that the gateway sets itself.
    pub ours: &'static [&'static str],
    /// The object that holds all options but those named beside it; `None` where all are fields of the body.
    pub within: Option<(&'static str, &'static [&'static str])>,
    /// Objects that are joined field by field, whichever object holds them.
    pub joined: &'static [&'static str],
    /// Names in one object of which only one is said.
    pub either: &'static [[&'static str; 2]],
    /// Whether the first name says the same as the second, which is the dialect's.
    pub is_one: fn(&str, &str) -> bool,
}

impl Home {
    pub const BODY: Home =
        Home { ours: &[], within: None, joined: &[], either: &[], is_one: |name, known| name == known };
}

/// Puts each option at the end, always in the same order, so that a member's prompt cache holds. What the caller says,
/// by whatever name, stays; its `null` says nothing.
pub(crate) fn add<'o>(
    body: &mut Body<'_>,
    options: impl IntoIterator<Item = (&'o String, &'o Value)>,
    home: &Home,
    notices: &mut Vec<Notice>,
) {
    for (name, value) in options {
        let is = |known: &&str| (home.is_one)(name, known);
        let within = home.within.filter(|(outer, beside)| !is(outer) && !beside.iter().any(is));
        if home.ours.iter().any(is) {
            notices.push(Notice::new(format!("options.{name}"), "set by the gateway"));
        } else if let Some((outer, _)) = within {
            put(body, home, &[outer, name], value);
        } else {
            put(body, home, &[name], value);
        }
    }
}

fn put(body: &mut Body<'_>, home: &Home, path: &[&str], value: &Value) {
    let Some((name, outer)) = path.split_last() else { return };
    let beside = |name| [outer, &[name]].concat();
    let joined = home.joined.iter().find(|known| (home.is_one)(name, known));
    if let Some((known, fields)) = joined.zip(value.as_object()) {
        let inner = beside(*known);
        return fields
            .iter()
            .for_each(|(name, value)| put(body, home, &[&inner[..], &[name]].concat(), value));
    }
    let is = |known: &str| (home.is_one)(name, known);
    let other = |[a, b]: &[&'static str; 2]| is(a).then_some(*b).or_else(|| is(b).then_some(*a));
    let other = home.either.iter().find_map(other).map(beside);
    if other.as_ref().is_some_and(|other| body.says(other, home.is_one)) || body.says(path, home.is_one) {
        return;
    }
    if let Some(other) = other {
        body.remove(&other);
    }
    let path = body.as_spelled(path, home.is_one);
    let path: Vec<&str> = path.iter().map(String::as_str).collect();
    body.set(&path, &value.to_string());
}
