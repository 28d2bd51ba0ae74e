//! HTTP to providers, behind a small trait so that tests can put their own wire in its place.

use std::{
    io,
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering},
    },
    time::Duration,
};

use bytes::Bytes;
use futures_util::{
    StreamExt, TryStreamExt,
    future::BoxFuture,
    stream::{self, BoxStream},
};
use http::{HeaderMap, Method, header};
use secrecy_header::Headers;
use tokio_util::io::{ReaderStream, StreamReader};

use super::{
    far::Far,
    heard::Heard,
    near::{Address, Near},
};
use crate::api::coding::{Coding, codings, undone};

pub(super) const USER_AGENT: &str = concat!("benchwarmers/", env!("CARGO_PKG_VERSION"));
/// A connection is made within this.
pub(super) const CONNECT: Duration = Duration::from_secs(10);
/// An idle connection is kept for this.
pub(super) const IDLE: Duration = Duration::from_secs(90);

/// A request to a provider.
pub(crate) struct Outgoing {
    pub method: Method,
    pub url: String,
    pub headers: Headers,
    pub body: Bytes,
    pub sends: Sends,
}

/// How often a question goes out, whoever sends it once more, and what comes of it: for those who count what a provider
/// was asked and has said.
#[derive(Clone)]
pub(crate) struct Sends(Arc<dyn Counts>);

/// Whoever counts it.
pub(crate) trait Counts: Send + Sync {
    fn counted(&self) -> &Counted;

    /// Whether there is room for it once more, which it takes.
    fn has_room(&self) -> bool {
        true
    }

    /// It goes out, not for the first time.
    fn sent_again(&self) {}
}

#[derive(Default)]
pub(crate) struct Counted {
    times: AtomicU32,
    again: AtomicU32,
    heard: Heard,
}

impl Sends {
    pub(crate) fn of(counts: Arc<dyn Counts>) -> Sends {
        Sends(counts)
    }

    pub(crate) fn times(&self) -> u32 {
        self.0.counted().times()
    }

    /// Where what comes of it is told.
    pub(crate) fn heard(&self) -> &Heard {
        self.0.counted().heard()
    }

    fn goes_out(&self) {
        if self.0.counted().times.fetch_add(1, Ordering::Relaxed) > 0 {
            self.0.sent_again();
        }
    }

    /// Whether it may go out once more, on a new connection; it is counted then.
    pub(super) fn goes_out_again(&self) -> bool {
        let may = self.0.has_room();
        if may {
            self.0.counted().again.fetch_add(1, Ordering::Relaxed);
            self.goes_out();
        }
        may
    }
}

impl Default for Sends {
    fn default() -> Sends {
        Sends(Arc::new(Counted::default()))
    }
}

impl Counted {
    pub(crate) fn times(&self) -> u32 {
        self.times.load(Ordering::Relaxed)
    }

    /// How often of these it asked for room: a connection had been closed on it.
    pub(crate) fn again(&self) -> u32 {
        self.again.load(Ordering::Relaxed)
    }

    pub(crate) fn heard(&self) -> &Heard {
        &self.heard
    }
}

impl Counts for Counted {
    fn counted(&self) -> &Counted {
        self
    }
}

/// A provider's reply: the head, and the body as it comes.
pub(crate) struct Incoming {
    pub status: u16,
    pub headers: HeaderMap,
    pub body: BoxStream<'static, Result<Bytes, SendError>>,
    /// By a task of its connection's own, one piece at a time: more may have come than is there.
    pub is_handed_over: bool,
}

/// Why no reply, or no more of it, came. Never holds a URL: a query may carry a key.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum SendError {
    #[error("the host name could not be found (DNS)")]
    Dns,
    #[error("the connection was refused")]
    Refused,
    #[error("the connection could not be made within 10 s")]
    ConnectTimeout,
    #[error("the proxy that the environment names let nothing through: {0}")]
    Proxy(String),
    #[error("the TLS handshake failed: {0}")]
    Tls(String),
    #[error("the connection was closed before the answer was whole")]
    Reset,
    #[error("{0}")]
    Other(String),
}

impl SendError {
    /// Whether the request was not sent: it may be once more.
    pub(crate) fn is_unsent(&self) -> bool {
        matches!(self, SendError::Refused | SendError::ConnectTimeout | SendError::Proxy(_))
    }

    /// What the system's own error says of a connection, where it tells.
    pub(super) fn of_io(error: &io::Error) -> Option<SendError> {
        match error.kind() {
            io::ErrorKind::ConnectionRefused => Some(SendError::Refused),
            io::ErrorKind::ConnectionReset
            | io::ErrorKind::BrokenPipe
            | io::ErrorKind::ConnectionAborted
            | io::ErrorKind::UnexpectedEof => Some(SendError::Reset),
            _ => None,
        }
    }
}

pub(crate) trait Transport: Send + Sync {
    /// Sends a request. One that a kept connection is closed on before anything of a reply has come is sent once more
    /// on a new one where there is room for it ([`Sends`]), and fails when that is closed too.
    fn send(&self, request: Outgoing) -> BoxFuture<'_, Result<Incoming, SendError>>;
}

/// The ways there. What goes to this machine goes direct: a proxy named by the environment is for other machines.
pub(crate) struct Pooled {
    near: Near,
    remote: Far,
    loopback: Far,
}

impl Pooled {
    pub(crate) fn new() -> Result<Pooled, reqwest::Error> {
        Ok(Pooled { near: Near::default(), remote: Far::new()?, loopback: Far::direct()? })
    }
}

impl Transport for Pooled {
    fn send(&self, mut request: Outgoing) -> BoxFuture<'_, Result<Incoming, SendError>> {
        request.headers.or_set(header::ACCEPT_ENCODING, "gzip, br, deflate, zstd");
        Box::pin(async move {
            request.sends.goes_out();
            let url = std::mem::take(&mut request.url);
            if let Some(address) = Address::of(&url) {
                let incoming = self.near.send(address, request).await?;
                let codings = codings(&incoming.headers).unwrap_or_default();
                return Ok(plain(incoming, codings));
            }
            let far = if catalog::is_loopback(&url) { &self.loopback } else { &self.remote };
            let incoming = far.send(url, request).await?;
            // It undoes the others.
            let mut codings = codings(&incoming.headers).unwrap_or_default();
            codings.retain(|coding| *coding == Coding::Deflate);
            Ok(plain(incoming, codings))
        })
    }
}

/// With its codings undone. The caps are the reader's.
fn plain(incoming: Incoming, codings: Vec<Coding>) -> Incoming {
    if codings.is_empty() {
        return incoming;
    }
    let coded = incoming.body;
    let opened = async move {
        let coded = Box::new(StreamReader::new(coded.map_err(io::Error::other)));
        let plain = undone(coded, &codings, usize::MAX, usize::MAX).await.map_err(damaged)?;
        Ok(ReaderStream::new(plain).map_err(damaged))
    };
    Incoming { body: stream::once(opened).try_flatten().boxed(), ..incoming }
}

fn damaged(error: io::Error) -> SendError {
    error
        .downcast()
        .unwrap_or_else(|_| SendError::Other("the answer's coding is damaged or not whole".to_owned()))
}

mod secrecy_header {
    use http::{HeaderMap, HeaderName, HeaderValue};

    /// Request headers; the authorisation is marked sensitive so that no debug print shows it.
    #[derive(Default)]
    pub(crate) struct Headers(HeaderMap);

    impl Headers {
        pub(crate) fn set(&mut self, name: HeaderName, value: &str) {
            if let Ok(value) = HeaderValue::from_str(value) {
                self.0.insert(name, value);
            }
        }

        /// Where it is not set.
        pub(crate) fn or_set(&mut self, name: HeaderName, value: &'static str) {
            self.0.entry(name).or_insert(HeaderValue::from_static(value));
        }

        pub(crate) fn into_map(self) -> HeaderMap {
            self.0
        }

        pub(crate) fn secret(&mut self, name: HeaderName, value: &str) {
            if let Ok(mut value) = HeaderValue::from_str(value) {
                value.set_sensitive(true);
                self.0.insert(name, value);
            }
        }
    }
}
pub(crate) use secrecy_header::Headers as OutgoingHeaders;
