//! Gateway keys (guard.md): whose calls a request makes, and what they may. `keys` beside it is about the keys of
//! endpoints, which are another thing.

mod key;
mod made;

use std::sync::Arc;

use arc_swap::ArcSwap;
use store::{Store, StoreError};

use self::key::Key;
pub use self::made::{GatewayKeyError, NewGatewayKey};

/// The caller of whatever carries no gateway key: programs of this machine, the window, the command line.
pub(crate) const LOCAL: &str = "local";

/// Every gateway key there is, as requests see them: immutable, and swapped whole when one is made.
pub(crate) struct Callers {
    keys: ArcSwap<Vec<Arc<Key>>>,
    /// Held while one is made or revoked: changes are serial.
    changing: tokio::sync::Mutex<()>,
}

impl Callers {
    /// Blocks.
    pub(crate) fn load(store: &Store) -> Result<Callers, StoreError> {
        let keys = store.gateway_keys()?.into_iter().map(|row| Arc::new(Key::of(row))).collect();
        Ok(Callers { keys: ArcSwap::from_pointee(keys), changing: tokio::sync::Mutex::default() })
    }

    /// In the order they were made.
    pub(crate) fn all(&self) -> Arc<Vec<Arc<Key>>> {
        self.keys.load_full()
    }
}
