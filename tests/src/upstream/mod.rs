//! The scripted upstream: a provider on `127.0.0.1:0` that does exactly what a test says, down to the byte.
//!
//! It is written on the socket, not on an HTTP library: a library will not cut a chunk in half, leave out the end
//! mark or reset the connection, and providers do all three.

mod api;
mod errand;
mod listing;
mod replies;
mod reply;
mod request;
mod said;
mod serve;
mod tools;

use std::{
    collections::HashMap,
    net::SocketAddr,
    sync::{Arc, Mutex, PoisonError},
};

use tokio::{net::TcpListener, sync::watch, task::JoinSet};

pub use api::{Api, End};
pub use errand::Errand;
pub use listing::Listing;
pub use replies::{
    TOKENS_IN, answers, chunk, cut_after, cut_mid_chunk, echoes_key, empty, error_event, error_in_200, fails,
    finish, html_page, huge_line, json_for_stream, never_ends, plain_text_error, quota_notice, rate_limited,
    refuses_key, resets_after, stalls, stream, tokens, without_head,
};
pub use reply::{Framing, Reply, Script, Step};
pub use request::Received;
pub use said::{COST, Cost, SEAL, Said};
pub use tools::{Call, Declared, Input, Turn};

use crate::within;

/// A running provider. Dropping it closes every connection.
#[derive(Debug)]
pub struct Upstream {
    address: SocketAddr,
    shared: Arc<Shared>,
    _tasks: JoinSet<()>,
}

#[derive(Debug)]
struct Shared {
    scripts: Mutex<HashMap<String, Script>>,
    listing: Mutex<Listing>,
    received: watch::Sender<Vec<Received>>,
}

impl Upstream {
    pub async fn start() -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.expect("a free port");
        let address = listener.local_addr().expect("its address");
        let shared = Arc::new(Shared {
            scripts: Mutex::default(),
            listing: Mutex::new(Listing::OpenAi),
            received: watch::Sender::new(Vec::new()),
        });
        let mut tasks = JoinSet::new();
        tasks.spawn(serve::accept(listener, shared.clone()));
        Upstream { address, shared, _tasks: tasks }
    }

    /// What is served under the id `served` does `script` from now on. A model nobody scripted is a 404.
    pub fn model(&self, served: &str, script: impl Into<Script>) {
        lock(&self.shared.scripts).insert(served.to_owned(), script.into());
    }

    /// What the list of models says from now on, and where it is.
    pub fn listing(&self, listing: Listing) {
        *lock(&self.shared.listing) = listing;
    }

    /// `http://127.0.0.1:PORT/v1`
    pub fn base(&self) -> String {
        self.base_of(Api::Chat)
    }

    /// The base of an endpoint that speaks `api`.
    pub fn base_of(&self, api: Api) -> String {
        self.root() + api.base()
    }

    /// `http://127.0.0.1:PORT`
    pub fn root(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Everything that was asked so far, in the order it arrived.
    pub fn received(&self) -> Vec<Received> {
        self.shared.received.borrow().clone()
    }

    /// Chat requests for `served` so far.
    pub fn asked(&self, served: &str) -> Vec<Received> {
        self.received().into_iter().filter(|request| request.model() == served).collect()
    }

    /// Waits for the `nth` (from 1) chat request for `served`.
    pub async fn arrived(&self, served: &str, nth: usize) -> Received {
        let mut received = self.shared.received.subscribe();
        let enough =
            received.wait_for(|all| all.iter().filter(|request| request.model() == served).count() >= nth);
        let all = within(&format!("request {nth} for {served}"), enough).await.expect("the upstream lives");
        all.iter().filter(|request| request.model() == served).nth(nth - 1).expect("counted").clone()
    }
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
