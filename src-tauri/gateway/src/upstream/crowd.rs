//! How many requests are under way at each server. HTTP/2 carries them all on one connection, and the pool opens no
//! second one: more than its server allows would wait there, unsent, for a stream to end, and an answer takes minutes.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use http::Version;
use reqwest::Url;

/// Well below the hundred streams that servers usually allow, and should: one that was let go of here may count there
/// for a moment longer.
pub(super) const MOST: usize = 64;

#[derive(Clone, Default)]
pub(super) struct Crowd(Arc<Mutex<HashMap<String, Server>>>);

#[derive(Default)]
struct Server {
    under_way: usize,
    /// It speaks HTTP/1, where each request has a connection of its own.
    is_plain: bool,
}

/// A request that counts, until it is dropped.
pub(super) struct Place {
    crowd: Crowd,
    server: String,
    is_full: bool,
}

impl Crowd {
    pub(super) fn enter(&self, url: &Url) -> Place {
        let port = url.port_or_known_default().unwrap_or_default();
        let server = format!("{}:{port}", url.host_str().unwrap_or_default());
        let mut servers = self.lock();
        let known = servers.entry(server.clone()).or_default();
        let is_full = known.under_way >= MOST && !known.is_plain;
        known.under_way += 1;
        Place { crowd: self.clone(), server, is_full }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<String, Server>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Place {
    /// Whether the kept connection may have no room for it.
    pub(super) fn is_full(&self) -> bool {
        self.is_full
    }

    /// It goes on being held where its reply came on a connection that is shared.
    pub(super) fn held(self, version: Version) -> Option<Place> {
        let is_plain = version < Version::HTTP_2;
        if let Some(server) = self.crowd.lock().get_mut(&self.server) {
            server.is_plain = is_plain;
        }
        (!is_plain).then_some(self)
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        if let Some(server) = self.crowd.lock().get_mut(&self.server) {
            server.under_way -= 1;
        }
    }
}
