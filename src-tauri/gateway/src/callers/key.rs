//! One gateway key: whose calls it makes, and what they may.

use std::{
    fmt,
    sync::{
        OnceLock,
        atomic::{AtomicI64, Ordering},
    },
};

use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use plan::Budget;
use secrecy::{ExposeSecret, SecretString};
use sha2::{Digest, Sha256};
use store::GatewayKeyRow;
use subtle::ConstantTimeEq;
use vault::gateway_key::{PREFIX, SECRET_CHARS, is_secret_char};

use super::rate::Rate;

/// How often the store is told of a key that is in use.
const TOLD_EVERY_MS: i64 = 60_000;
const NEVER: i64 = i64::MIN;

/// A gateway key as requests see it. What may change of it does so without a lock.
pub(crate) struct Key {
    pub id: i64,
    pub name: String,
    sha256: [u8; 32],
    pub last4: String,
    pub created_ms: i64,
    /// `None` is every collection, and every model under its own name.
    pub collections: Option<Vec<String>>,
    pub requests_a_minute: Option<u32>,
    pub budget: Option<Budget>,
    pub expires_ms: Option<i64>,
    revoked_ms: OnceLock<i64>,
    used_ms: AtomicI64,
    /// What the store was last told.
    told_ms: AtomicI64,
    pub(super) rate: Rate,
}

/// How a key stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Standing {
    Good,
    Expired,
    Revoked,
}

impl Key {
    /// As it is kept. A scope or a budget that cannot be read leaves a key with nothing it may do.
    pub(crate) fn of(row: GatewayKeyRow) -> Key {
        let unreadable = |error: serde_json::Error| {
            tracing::error!(name = row.name, %error, "a gateway key could not be read: it may do nothing");
        };
        let mut collections = row.collections_json.as_deref().map(|json| {
            serde_json::from_str(json).unwrap_or_else(|error| {
                unreadable(error);
                Vec::new()
            })
        });
        let budget = row.budget_json.as_deref().and_then(|json| {
            let read = serde_json::from_str(json).map_err(unreadable);
            if read.is_err() {
                collections = Some(Vec::new());
            }
            read.ok()
        });
        let used_ms = row.used_ms.unwrap_or(NEVER);
        Key {
            id: row.id,
            sha256: row.sha256,
            last4: row.last4,
            created_ms: row.created_ms,
            collections,
            requests_a_minute: row.requests_a_minute.and_then(|count| u32::try_from(count).ok()),
            budget,
            expires_ms: row.expires_ms,
            revoked_ms: row.revoked_ms.map(OnceLock::from).unwrap_or_default(),
            used_ms: AtomicI64::new(used_ms),
            told_ms: AtomicI64::new(used_ms),
            rate: Rate::default(),
            name: row.name,
        }
    }

    /// Whether this is the hash of its text, in the time that takes whatever the answer.
    pub(crate) fn is(&self, sha256: &[u8; 32]) -> bool {
        self.sha256[..].ct_eq(&sha256[..]).into()
    }

    pub(crate) fn standing(&self, now_ms: i64) -> Standing {
        if self.revoked_ms().is_some() {
            Standing::Revoked
        } else if self.expires_ms.is_some_and(|at_ms| at_ms <= now_ms) {
            Standing::Expired
        } else {
            Standing::Good
        }
    }

    pub(crate) fn revoked_ms(&self) -> Option<i64> {
        self.revoked_ms.get().copied()
    }

    /// From now on it opens nothing; the first time stands.
    pub(crate) fn revoke(&self, at_ms: i64) {
        let _ = self.revoked_ms.set(at_ms);
    }

    pub(crate) fn used_ms(&self) -> Option<i64> {
        Some(self.used_ms.load(Ordering::Relaxed)).filter(|at_ms| *at_ms != NEVER)
    }

    /// It is used; whether the store is to be told, which it is once a minute.
    pub(crate) fn use_at(&self, now_ms: i64) -> bool {
        self.used_ms.fetch_max(now_ms, Ordering::Relaxed);
        let told_ms = self.told_ms.load(Ordering::Relaxed);
        now_ms.saturating_sub(told_ms) >= TOLD_EVERY_MS
            && self.told_ms.compare_exchange(told_ms, now_ms, Ordering::Relaxed, Ordering::Relaxed).is_ok()
    }

    /// When it was used, where the store does not know that yet.
    pub(crate) fn untold_ms(&self) -> Option<i64> {
        self.used_ms().filter(|used_ms| *used_ms > self.told_ms.load(Ordering::Relaxed))
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_tuple("Key").field(&self.name).finish()
    }
}

/// A new key's text, which is told once.
///
/// Errors: the system has no randomness.
pub(crate) fn new_text() -> Result<SecretString, getrandom::Error> {
    let mut bytes = [0_u8; 32];
    getrandom::fill(&mut bytes)?;
    Ok(SecretString::from(format!("{PREFIX}{}", URL_SAFE_NO_PAD.encode(bytes))))
}

/// Of a text that may be a key, its hash; another text is nobody's.
pub(crate) fn hash_of(text: &[u8]) -> Option<[u8; 32]> {
    let secret = text.strip_prefix(PREFIX.as_bytes())?;
    is_secret(secret).then(|| Sha256::digest(text).into())
}

pub(crate) fn last4(text: &SecretString) -> String {
    let text = text.expose_secret();
    text[text.len().saturating_sub(4)..].to_owned()
}

fn is_secret(bytes: &[u8]) -> bool {
    bytes.len() == SECRET_CHARS && bytes.iter().all(|byte| is_secret_char(*byte))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(row: GatewayKeyRow) -> Key {
        Key::of(GatewayKeyRow { name: "desk".to_owned(), ..row })
    }

    #[test]
    fn a_text_is_one_keys_and_no_two_are_alike() {
        let (one, other) = (new_text().unwrap(), new_text().unwrap());
        let hash = |text: &SecretString| hash_of(text.expose_secret().as_bytes()).unwrap();
        let it = key(GatewayKeyRow { sha256: hash(&one), ..GatewayKeyRow::default() });
        assert!(it.is(&hash(&one)) && !it.is(&hash(&other)));
        assert_eq!((one.expose_secret().len(), last4(&one).len()), (47, 4));
        assert!(one.expose_secret().ends_with(&last4(&one)));
        for text in ["", "bwk_", "sk-1", &one.expose_secret()[..46], &format!("{}x", one.expose_secret())] {
            assert_eq!(hash_of(text.as_bytes()), None, "{text}");
        }
    }

    #[test]
    fn how_it_stands() {
        let it = key(GatewayKeyRow { expires_ms: Some(10), ..GatewayKeyRow::default() });
        assert_eq!(
            [9, 10, 11].map(|at_ms| it.standing(at_ms)),
            [Standing::Good, Standing::Expired, Standing::Expired]
        );
        it.revoke(7);
        it.revoke(8);
        assert_eq!((it.standing(9), it.revoked_ms()), (Standing::Revoked, Some(7)));
    }

    #[test]
    fn the_store_is_told_once_a_minute_and_the_rest_at_the_end() {
        let it = key(GatewayKeyRow::default());
        assert_eq!((it.used_ms(), it.untold_ms()), (None, None));
        let told = [1_000, 2_000, 60_999, 61_000, 61_001].map(|at_ms| it.use_at(at_ms));
        assert_eq!(told, [true, false, false, true, false]);
        assert_eq!((it.used_ms(), it.untold_ms()), (Some(61_001), Some(61_001)));
        let kept = key(GatewayKeyRow { used_ms: Some(5_000), ..GatewayKeyRow::default() });
        assert_eq!((kept.used_ms(), kept.use_at(6_000), kept.use_at(65_000)), (Some(5_000), false, true));
        assert_eq!(kept.untold_ms(), None);
    }
}
