use std::collections::HashMap;

use wire::Class;

use crate::DAY_MS;

/// Models that fail in a way that waiting does not mend, and since when (providers.md §4). Times are ms since 1970.
///
/// A day, in UTC, fails when such a failure was met in it and no call was answered. Days on which nothing was asked,
/// or only limits and broken lines were met, say nothing. One answer, and all is forgotten.
#[derive(Clone, Debug, Default)]
pub struct Health {
    /// By endpoint and served name.
    failing: HashMap<Key, Failing>,
    /// The last day on which each answered.
    answered: HashMap<Key, i64>,
}

type Key = (String, String);

/// What a model has failed with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failing {
    /// The first failure since it last answered.
    pub since_ms: i64,
    pub last_ms: i64,
    /// Failing days.
    pub days: u32,
    pub class: Class,
    /// The provider's words, of the last failure.
    pub words: String,
}

/// Failing days after which a model is retiring.
pub const RETIRING_DAYS: u32 = 3;

/// Whether waiting does not mend a failure: the model is not there, not for this account, or not to be had without
/// paying; it says nothing; or the provider refuses it for a reason of its own. A 5xx is the provider's own trouble.
pub fn is_structural(class: Class, status: Option<u16>) -> bool {
    match class {
        Class::NotFound | Class::Entitlement | Class::Paywalled | Class::Empty => true,
        Class::Other => status.is_none_or(|status| status < 500),
        Class::SignIn
        | Class::Capacity
        | Class::TooLarge
        | Class::BadRequest
        | Class::Timeout
        | Class::Network => false,
    }
}

impl Health {
    /// A call was answered.
    pub fn answered(&mut self, endpoint: &str, served: &str, at_ms: i64) {
        let (key, today) = (key(endpoint, served), day(at_ms));
        if self.failing.get(&key).is_some_and(|failing| day(failing.last_ms) <= today) {
            self.failing.remove(&key);
        }
        let last = self.answered.entry(key).or_insert(today);
        *last = today.max(*last);
    }

    /// A call has failed, with its HTTP status where there was one; other failures than structural ones change
    /// nothing. Gives the state of a model that is retiring from now on.
    pub fn failed(
        &mut self,
        endpoint: &str,
        served: &str,
        (class, status): (Class, Option<u16>),
        words: &str,
        at_ms: i64,
    ) -> Option<&Failing> {
        let (key, today) = (key(endpoint, served), day(at_ms));
        let has_answered = self.answered.get(&key).is_some_and(|answered| *answered >= today);
        if has_answered || !is_structural(class, status) {
            return None;
        }
        let new = || Failing { since_ms: at_ms, last_ms: at_ms, days: 0, class, words: String::new() };
        let failing = self.failing.entry(key).or_insert_with(new);
        // A clock may have been set back: a day that is over does not count again.
        let is_new_day = failing.days == 0 || today > day(failing.last_ms);
        failing.days += u32::from(is_new_day);
        failing.last_ms = failing.last_ms.max(at_ms);
        (failing.class, failing.words) = (class, words.to_owned());
        (is_new_day && failing.days == RETIRING_DAYS).then_some(&*failing)
    }

    /// What a model has failed with, when it is retiring.
    pub fn retiring(&self, endpoint: &str, served: &str) -> Option<&Failing> {
        // Almost always nothing is failing, and a key costs two copies.
        if self.failing.is_empty() {
            return None;
        }
        self.failing.get(&key(endpoint, served)).filter(|failing| failing.days >= RETIRING_DAYS)
    }

    /// Its owner has changed something: it starts anew. Says whether it was failing.
    pub fn clear(&mut self, endpoint: &str, served: &str) -> bool {
        self.failing.remove(&key(endpoint, served)).is_some()
    }
}

fn key(endpoint: &str, served: &str) -> Key {
    (endpoint.to_owned(), served.to_owned())
}

fn day(at_ms: i64) -> i64 {
    at_ms.div_euclid(DAY_MS)
}
