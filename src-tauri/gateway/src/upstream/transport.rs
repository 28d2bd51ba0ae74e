//! HTTP to providers, behind a small trait so that tests can put their own wire in its place.

use std::{io, time::Duration};

use bytes::Bytes;
use futures_util::{
    StreamExt, TryStreamExt,
    future::BoxFuture,
    stream::{self, BoxStream},
};
use http::{HeaderMap, Method, header};
use secrecy_header::Headers;
use tokio_util::io::{ReaderStream, StreamReader};

use super::near::{Address, Near};
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
    #[error("the TLS handshake failed: {0}")]
    Tls(String),
    #[error("the connection was closed before the answer was whole")]
    Reset,
    #[error("{0}")]
    Other(String),
}

impl SendError {
    /// Whether the request cannot have reached the provider's application: it may be sent once more.
    pub(crate) fn before_any_byte(&self) -> bool {
        matches!(self, SendError::Refused | SendError::ConnectTimeout | SendError::Reset)
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
    fn send(&self, request: Outgoing) -> BoxFuture<'_, Result<Incoming, SendError>>;
}

/// The pooled clients. Loopback goes direct: a proxy named by the environment is for other machines.
pub(crate) struct Pooled {
    near: Near,
    remote: reqwest::Client,
    loopback: reqwest::Client,
}

impl Pooled {
    pub(crate) fn new() -> Result<Pooled, reqwest::Error> {
        let builder = || {
            reqwest::Client::builder()
                .user_agent(USER_AGENT)
                .connect_timeout(CONNECT)
                .redirect(reqwest::redirect::Policy::none())
                // Undone here: reqwest knows zlib's deflate only, and some servers send it bare.
                .no_deflate()
                .tcp_nodelay(true)
                .pool_idle_timeout(IDLE)
        };
        let near = Near::default();
        Ok(Pooled { near, remote: builder().build()?, loopback: builder().no_proxy().build()? })
    }
}

impl Transport for Pooled {
    fn send(&self, mut request: Outgoing) -> BoxFuture<'_, Result<Incoming, SendError>> {
        request.headers.or_set(header::ACCEPT_ENCODING, "gzip, br, deflate, zstd");
        Box::pin(async move {
            let url = std::mem::take(&mut request.url);
            if let Some(address) = Address::of(&url) {
                let incoming = self.near.send(address, request).await?;
                let codings = codings(&incoming.headers).unwrap_or_default();
                return Ok(plain(incoming, codings));
            }
            let client = if catalog::is_loopback(&url) { &self.loopback } else { &self.remote };
            let sent = client.request(request.method, url).headers(request.headers.into_map());
            let response = sent.body(request.body).send().await.map_err(|error| classify(&error))?;
            let (status, headers) = (response.status().as_u16(), response.headers().clone());
            let body = response.bytes_stream().map_err(|error| classify(&error)).boxed();
            // It undoes the others.
            let mut codings = codings(&headers).unwrap_or_default();
            codings.retain(|coding| *coding == Coding::Deflate);
            Ok(plain(Incoming { status, headers, body, is_handed_over: true }, codings))
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

/// Reads the cause chain: reqwest's own text names the URL, which may hold secrets.
fn classify(error: &reqwest::Error) -> SendError {
    let mut texts = Vec::new();
    let mut source = std::error::Error::source(error);
    while let Some(cause) = source {
        if let Some(known) = cause.downcast_ref().and_then(SendError::of_io) {
            return known;
        }
        texts.push(cause.to_string());
        source = cause.source();
    }
    let text = texts.join(": ").to_lowercase();
    if text.contains("dns") || text.contains("lookup") || text.contains("name resolution") {
        SendError::Dns
    } else if error.is_timeout() && error.is_connect() {
        SendError::ConnectTimeout
    } else if text.contains("certificate") || text.contains("handshake") || text.contains("tls") {
        SendError::Tls(texts.last().cloned().unwrap_or_default())
    } else if error.is_body() || error.is_decode() || text.contains("closed") || text.contains("incomplete") {
        SendError::Reset
    } else {
        SendError::Other(texts.last().cloned().unwrap_or_else(|| "the request could not be sent".to_owned()))
    }
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
