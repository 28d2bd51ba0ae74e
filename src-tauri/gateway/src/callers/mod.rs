//! Gateway keys (guard.md): whose calls a request makes, and what they may. The keys of endpoints are another thing
//! (`keys.rs`).

mod caller;
mod judged;
mod key;
mod made;
mod rate;
mod slowed;

use std::sync::Arc;

use arc_swap::ArcSwap;
use http::HeaderMap;
use store::{Store, StoreError};
use wire::{ApiError, Dialect};

pub(crate) use self::caller::Caller;
pub use self::made::{GatewayKeyError, NewGatewayKey};
use self::{
    judged::{Judged, presented},
    key::Key,
    slowed::Slowed,
};
use crate::gateway::Gateway;

/// The caller of whatever carries no gateway key: programs of this machine, the window, the command line.
pub(crate) const LOCAL: &str = "local";

/// Every gateway key there is, as requests see them: immutable, and swapped whole when one is made.
pub(crate) struct Callers {
    keys: ArcSwap<Vec<Arc<Key>>>,
    /// Held while one is made or revoked: changes are serial.
    changing: tokio::sync::Mutex<()>,
    slowed: Slowed,
}

impl Callers {
    /// Blocks.
    pub(crate) fn load(store: &Store) -> Result<Callers, StoreError> {
        let keys = store.gateway_keys()?.into_iter().map(|row| Arc::new(Key::of(row))).collect();
        Ok(Callers {
            keys: ArcSwap::from_pointee(keys),
            changing: tokio::sync::Mutex::default(),
            slowed: Slowed::default(),
        })
    }

    /// In the order they were made.
    pub(crate) fn all(&self) -> Arc<Vec<Arc<Key>>> {
        self.keys.load_full()
    }
}

impl Gateway {
    /// Whose request this is, by the key that it carries. One that is refused for it is slowed first.
    ///
    /// Errors: 401, where the owner requires a key and this is none that is good.
    pub(crate) async fn caller(
        &self,
        headers: &HeaderMap,
        dialect: Dialect,
        query: &str,
    ) -> Result<Caller, ApiError> {
        let callers = self.callers();
        let is_required = self.snapshot().setup.settings.require_keys;
        if !is_required && callers.keys.load().is_empty() {
            return Ok(Caller::default());
        }
        let now_ms = self.clock().now_ms();
        let judged = callers.judge(presented(headers, dialect, query).as_deref(), now_ms);
        if let Judged::Good(key) = &judged
            && key.use_at(now_ms)
        {
            // Not waited for, and what it tells too late is told at the end.
            drop(self.store().gateway_key_used(key.id, now_ms));
        }
        let caller = judged.caller(is_required);
        if caller.is_err() {
            tokio::select! {
                () = callers.slowed.wait(now_ms) => {}
                () = self.stopping().cancelled() => {}
            }
        }
        caller
    }

    /// Tells the store when keys were used last, as the gateway ends.
    pub(crate) fn tell_last_uses(&self) {
        for key in self.callers().all().iter() {
            if let Some(used_ms) = key.untold_ms() {
                drop(self.store().gateway_key_used(key.id, used_ms));
            }
        }
    }
}

/// A caller as it is shown: a key by its name, this machine not at all.
pub(crate) fn shown(caller: &str) -> Option<String> {
    (caller != LOCAL && !caller.is_empty()).then(|| caller.to_owned())
}
