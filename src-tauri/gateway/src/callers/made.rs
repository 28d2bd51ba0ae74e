//! Gateway keys as their owner makes, lists and revokes them.

use std::sync::Arc;

use plan::{Budget, BudgetOf};
use secrecy::{ExposeSecret, SecretString};
use store::{AuditEntry, GatewayKeyRow, StoreError};

use super::{
    LOCAL,
    key::{self, Key, Standing},
};
use crate::{
    clock::{self, rfc3339},
    gateway::Gateway,
    unfit::Unfit,
    view::{GatewayKeyView, KeySpending, KeyStanding, LiveEvent},
};

/// A gateway key to be made.
#[derive(Clone, Debug, Default)]
pub struct NewGatewayKey {
    pub name: String,
    /// Names without `bench/`; `None` is every collection, and every model under its own name.
    pub collections: Option<Vec<String>>,
    pub requests_a_minute: Option<u32>,
    pub budget: Option<Budget>,
    /// `+30d`, `+12h`, a day such as `2027-01-31` (its beginning, UTC), or RFC 3339.
    pub expires: Option<String>,
}

/// Why a gateway key was not made or revoked.
#[derive(Debug, thiserror::Error)]
pub enum GatewayKeyError {
    /// What was sent is wrong, at this field.
    #[error("{field}: {message}")]
    Field { field: String, message: String },
    #[error("{0}")]
    Unfit(#[from] Unfit),
    #[error("there is a gateway key \"{0}\" already; revoke it first, or choose another name")]
    Taken(String),
    #[error("there is no gateway key \"{0}\"")]
    Unknown(String),
    #[error("the key could not be made: the system has no randomness ({0})")]
    NoRandomness(String),
    #[error("nothing was changed, because it could not be saved: {0}")]
    NotSaved(#[from] StoreError),
}

const HOUR_MS: i64 = 3_600_000;
/// The end of the year 9999: what is later is no date.
const LATEST_MS: i64 = 253_402_300_799_999;
/// More than this is no limit.
const MOST_A_MINUTE: u32 = 10_000;

impl NewGatewayKey {
    /// When it ends, in Unix milliseconds.
    ///
    /// Errors: the first field that is wrong.
    fn check(
        &self,
        has_collection: impl Fn(&str) -> bool,
        now_ms: i64,
    ) -> Result<Option<i64>, GatewayKeyError> {
        let wrong =
            |field: &str, message: String| Err(GatewayKeyError::Field { field: field.to_owned(), message });
        if !catalog::valid_endpoint_name(&self.name) {
            let message =
                "2 to 32 lower-case letters, digits and -, beginning and ending with a letter or digit";
            return wrong("name", message.to_owned());
        }
        if self.name == LOCAL {
            return wrong("name", format!("\"{LOCAL}\" is this machine without a key; choose another name"));
        }
        let named = self.collections.as_deref();
        if named.is_some_and(<[String]>::is_empty) {
            return wrong(
                "collections",
                "name at least one, or leave it out for every collection".to_owned(),
            );
        }
        let unknown = named.unwrap_or_default().iter().enumerate().find(|(_, name)| !has_collection(name));
        if let Some((at, name)) = unknown {
            let name = wire::redact::shorten(name, 80);
            return wrong(&format!("collections[{at}]"), format!("there is no collection \"{name}\""));
        }
        if let Some(count) = self.requests_a_minute.filter(|count| !(1..=MOST_A_MINUTE).contains(count)) {
            return wrong(
                "requests_a_minute",
                format!("1 to {MOST_A_MINUTE}, not {count}; leave it out for no limit"),
            );
        }
        if let Some(Err(error)) = self.budget.as_ref().map(Budget::check) {
            return wrong(&error.field, error.message);
        }
        match self.expires.as_deref().map(|expires| ends(expires.trim(), now_ms)) {
            None => Ok(None),
            Some(Some(at_ms)) if at_ms > now_ms => Ok(Some(at_ms)),
            Some(Some(_)) => wrong("expires", "that is over already; name a time to come".to_owned()),
            Some(None) => {
                let message =
                    "write +30d, +12h, a day such as 2027-01-31, or RFC 3339; leave it out for never";
                wrong("expires", message.to_owned())
            }
        }
    }

    fn row(&self, text: &SecretString, expires_ms: Option<i64>, now_ms: i64) -> GatewayKeyRow {
        // Names and numbers always serialise.
        let json = |value: serde_json::Result<String>| value.unwrap_or_default();
        GatewayKeyRow {
            id: 0,
            name: self.name.clone(),
            sha256: key::hash_of(text.expose_secret().as_bytes()).unwrap_or_default(),
            last4: key::last4(text),
            created_ms: now_ms,
            collections_json: self.collections.as_ref().map(|it| json(serde_json::to_string(it))),
            requests_a_minute: self.requests_a_minute.map(u64::from),
            budget_json: self.budget.as_ref().map(|it| json(serde_json::to_string(it))),
            expires_ms,
            revoked_ms: None,
            used_ms: None,
        }
    }
}

impl Gateway {
    /// Makes a gateway key. Its text is given here and never again.
    pub async fn create_gateway_key(
        &self,
        actor: &str,
        mut new: NewGatewayKey,
    ) -> Result<(GatewayKeyView, SecretString), GatewayKeyError> {
        let callers = self.callers();
        let _serial = callers.changing.lock().await;
        let now_ms = self.clock().now_ms();
        let snapshot = self.snapshot();
        let expires_ms = new.check(|name| snapshot.collection(name).is_some(), now_ms)?;
        // It stands in lists, logs and records.
        self.hold_no_key("gateway key", [("name".to_owned(), new.name.as_str())]).await?;
        if let Some(names) = &mut new.collections {
            names.sort();
            names.dedup();
        }
        let before = callers.all();
        if before.iter().any(|it| it.name == new.name && it.standing(now_ms) == Standing::Good) {
            return Err(GatewayKeyError::Taken(new.name));
        }
        let text = key::new_text().map_err(|error| GatewayKeyError::NoRandomness(error.to_string()))?;
        let row = new.row(&text, expires_ms, now_ms);
        let audit = noted(actor, "added", &row.name, &detail(&row));
        let id = self.store().add_gateway_key(row.clone(), audit).await?;
        let key = Arc::new(Key::of(GatewayKeyRow { id, ..row }));
        callers.keys.store(Arc::new(before.iter().cloned().chain([key.clone()]).collect()));
        self.live().publish(LiveEvent::SetupChanged {});
        Ok((self.gateway_key_view(&key, now_ms), text))
    }

    /// Every gateway key there ever was, in the order they were made.
    pub fn gateway_keys(&self) -> Vec<GatewayKeyView> {
        let now_ms = self.clock().now_ms();
        self.callers().all().iter().map(|key| self.gateway_key_view(key, now_ms)).collect()
    }

    /// From now on the key of that name opens nothing; one that is revoked already stays as it is.
    pub async fn revoke_gateway_key(
        &self,
        actor: &str,
        name: &str,
    ) -> Result<GatewayKeyView, GatewayKeyError> {
        let callers = self.callers();
        let _serial = callers.changing.lock().await;
        let keys = callers.all();
        // Of those that have had the name, the last may still be good.
        let Some(key) = keys.iter().rev().find(|key| key.name == name) else {
            return Err(GatewayKeyError::Unknown(wire::redact::shorten(name, 80)));
        };
        let now_ms = self.clock().now_ms();
        if key.revoked_ms().is_none() {
            let audit = noted(actor, "revoked", name, &format!("••••{}", key.last4));
            self.store().revoke_gateway_key(key.id, now_ms, audit).await?;
            key.revoke(now_ms);
            self.live().publish(LiveEvent::SetupChanged {});
        }
        Ok(self.gateway_key_view(key, now_ms))
    }

    fn gateway_key_view(&self, key: &Key, now_ms: i64) -> GatewayKeyView {
        let spent = key.budget.as_ref().map(|budget| {
            let of = BudgetOf::Caller(key.name.clone());
            let budgets = self.limits().budgets();
            let spent = budgets.spent(&of, budget.per, now_ms);
            KeySpending {
                tokens: spent.tokens,
                tokens_unknown: spent.tokens_unknown,
                dollars: spent.dollars,
                cost_unknown: spent.cost_unknown,
                is_spent: budgets.over(&of, budget, now_ms).is_some(),
                resets_at: rfc3339(budget.per.ends(now_ms)),
            }
        });
        GatewayKeyView {
            name: key.name.clone(),
            last4: key.last4.clone(),
            standing: match key.standing(now_ms) {
                Standing::Good => KeyStanding::Good,
                Standing::Expired => KeyStanding::Expired,
                Standing::Revoked => KeyStanding::Revoked,
            },
            created: rfc3339(key.created_ms),
            collections: key.collections.clone(),
            requests_a_minute: key.requests_a_minute,
            budget: key.budget.clone(),
            spent,
            expires: key.expires_ms.map(rfc3339),
            revoked: key.revoked_ms().map(rfc3339),
            last_used: key.used_ms().map(rfc3339),
        }
    }
}

/// Unix milliseconds of a time from now on, a day of UTC, or an instant.
fn ends(expires: &str, now_ms: i64) -> Option<i64> {
    if let Some(ahead) = expires.strip_prefix('+') {
        let (count, hours) = match ahead.strip_suffix('d') {
            Some(days) => (days, 24),
            None => (ahead.strip_suffix('h')?, 1),
        };
        let count = count.parse::<u32>().ok()?;
        return now_ms.checked_add(i64::from(count) * hours * HOUR_MS).filter(|at_ms| *at_ms <= LATEST_MS);
    }
    clock::instant(expires).filter(|at_ms| *at_ms <= LATEST_MS)
}

fn noted(actor: &str, action: &str, name: &str, detail: &str) -> AuditEntry {
    AuditEntry {
        actor: actor.to_owned(),
        action: action.to_owned(),
        subject: format!("gateway key {name}"),
        detail: detail.to_owned(),
    }
}

/// What it may, for the audit log.
fn detail(row: &GatewayKeyRow) -> String {
    let GatewayKeyRow { last4, collections_json, requests_a_minute, budget_json, expires_ms, .. } = row;
    let parts = [
        Some(format!("••••{last4}")),
        collections_json.as_ref().map(|names| format!("collections {names}")),
        requests_a_minute.map(|count| format!("{count} requests a minute")),
        budget_json.as_ref().map(|budget| format!("budget {budget}")),
        expires_ms.map(|at_ms| format!("until {}", rfc3339(at_ms))),
    ];
    parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW_MS: i64 = 1_796_000_000_000;

    #[test]
    fn when_a_key_ends() {
        for (expires, wanted) in [
            ("+30d", Some(NOW_MS + 30 * 24 * HOUR_MS)),
            ("+12h", Some(NOW_MS + 12 * HOUR_MS)),
            ("2027-01-31", Some(1_801_353_600_000)),
            ("2027-01-31T00:00:00Z", Some(1_801_353_600_000)),
            ("2027-01-31T01:00:00+01:00", Some(1_801_353_600_000)),
            ("30d", None),
            ("+d", None),
            ("+-1d", None),
            ("+4294967295d", None),
            ("tomorrow", None),
            ("", None),
        ] {
            assert_eq!(ends(expires, NOW_MS), wanted, "{expires}");
        }
    }

    #[test]
    fn the_first_wrong_field_is_named() {
        let good = NewGatewayKey { name: "desk".to_owned(), ..NewGatewayKey::default() };
        let told = |new: NewGatewayKey| match new.check(|name| name == "core", NOW_MS) {
            Err(error) => error.to_string(),
            Ok(ends) => format!("{ends:?}"),
        };
        let named = |name: &str| NewGatewayKey { name: name.to_owned(), ..good.clone() };
        let of = |names: &[&str]| NewGatewayKey {
            collections: Some(names.iter().map(|name| (*name).to_owned()).collect()),
            ..good.clone()
        };
        let ends = |expires: &str| NewGatewayKey { expires: Some(expires.to_owned()), ..good.clone() };
        let name =
            "name: 2 to 32 lower-case letters, digits and -, beginning and ending with a letter or digit";
        for (new, wanted) in [
            (good.clone(), "None"),
            (of(&["core"]), "None"),
            (ends("2027-01-31"), "Some(1801353600000)"),
            (named("a"), name),
            (named("Desk"), name),
            (named("-desk"), name),
            (named("local"), "name: \"local\" is this machine without a key; choose another name"),
            (of(&[]), "collections: name at least one, or leave it out for every collection"),
            (of(&["core", "gone"]), "collections[1]: there is no collection \"gone\""),
            (of(&["bench/core"]), "collections[0]: there is no collection \"bench/core\""),
            (
                NewGatewayKey { requests_a_minute: Some(0), ..good.clone() },
                "requests_a_minute: 1 to 10000, not 0; leave it out for no limit",
            ),
            (
                NewGatewayKey {
                    budget: Some(Budget { tokens: Some(0), dollars: None, per: plan::Period::Day }),
                    ..good.clone()
                },
                "budget.tokens: at least 1, not 0",
            ),
            (ends("2020-01-01"), "expires: that is over already; name a time to come"),
            (
                ends("soon"),
                "expires: write +30d, +12h, a day such as 2027-01-31, or RFC 3339; leave it out for never",
            ),
        ] {
            assert_eq!(told(new), wanted);
        }
    }
}
