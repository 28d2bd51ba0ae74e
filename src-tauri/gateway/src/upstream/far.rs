//! HTTP to other machines, and to this one where the URL is not plainly its: TLS, proxies, HTTP/2.

use std::{cell::Cell, sync::OnceLock};

use futures_util::{StreamExt, TryStreamExt};
use reqwest::{Client, ClientBuilder, Request};
use tower::util::MapRequestLayer;

use super::{
    crowd::{Crowd, Place},
    transport::{CONNECT, IDLE, Incoming, Outgoing, SendError, USER_AGENT},
};

tokio::task_local! {
    /// Whether a connection was opened for the request that the task sends.
    static OPENED: Cell<bool>;
}

pub(super) struct Far {
    pooled: Client,
    /// Keeps no connection, so that each request has a new one. Made when it is first needed.
    unpooled: OnceLock<Client>,
    builder: fn() -> ClientBuilder,
    /// What is under way on the pool's connections.
    crowd: Crowd,
}

impl Far {
    /// By the proxy that the environment names, if it names one.
    pub(super) fn new() -> Result<Far, reqwest::Error> {
        Far::by(builder)
    }

    /// Past any proxy.
    pub(super) fn direct() -> Result<Far, reqwest::Error> {
        Far::by(|| builder().no_proxy())
    }

    pub(super) fn by(builder: fn() -> ClientBuilder) -> Result<Far, reqwest::Error> {
        let pooled = builder()
            .pool_idle_timeout(IDLE)
            // A connection is opened from within the request's own task, when none that is kept is free.
            .connector_layer(MapRequestLayer::new(|to| {
                let _ = OPENED.try_with(|opened| opened.set(true));
                to
            }))
            .build()?;
        Ok(Far { pooled, unpooled: OnceLock::new(), builder, crowd: Crowd::default() })
    }

    /// A kept connection that is closed before anything of a reply has come was most likely being closed as the
    /// request went out: it is sent once more, on a new one. Half a head counts as nothing here, as hyper does not
    /// tell them apart. One for which the kept connection has no room has a new one at once.
    pub(super) async fn send(&self, url: String, outgoing: Outgoing) -> Result<Incoming, SendError> {
        let Outgoing { method, headers, body, sends, .. } = outgoing;
        let request = self.pooled.request(method, url).headers(headers.into_map()).body(body);
        let request = request.build().map_err(|error| classify(&error))?;
        let place = self.crowd.enter(request.url());
        if place.is_full() {
            return execute(self.unpooled()?, request, None).await;
        }
        let once_more = request.try_clone();
        let first = async {
            let sent = execute(&self.pooled, request, Some(place)).await;
            (sent, OPENED.with(Cell::get))
        };
        match (OPENED.scope(Cell::new(false), first).await, once_more) {
            ((Err(SendError::Reset), false), Some(request)) if sends.goes_out_again() => {
                execute(self.unpooled()?, request, None).await
            }
            ((sent, _), _) => sent,
        }
    }

    fn unpooled(&self) -> Result<&Client, SendError> {
        if self.unpooled.get().is_none() {
            let made = (self.builder)().pool_max_idle_per_host(0).build();
            let _ = self.unpooled.set(made.map_err(|error| classify(&error))?);
        }
        self.unpooled.get().ok_or(SendError::Reset)
    }
}

pub(super) fn builder() -> ClientBuilder {
    Client::builder()
        .user_agent(USER_AGENT)
        .connect_timeout(CONNECT)
        .redirect(reqwest::redirect::Policy::none())
        // Undone by the transport: reqwest knows zlib's deflate only, and some servers send it bare.
        .no_deflate()
        .tcp_nodelay(true)
}

/// The place is held for as long as the reply is read.
async fn execute(client: &Client, request: Request, place: Option<Place>) -> Result<Incoming, SendError> {
    let response = client.execute(request).await.map_err(|error| classify(&error))?;
    let (status, headers) = (response.status().as_u16(), response.headers().clone());
    let place = place.and_then(|place| place.held(response.version()));
    let body = response.bytes_stream().map_err(move |error| {
        let _held = &place;
        classify(&error)
    });
    let body = body.boxed();
    Ok(Incoming { status, headers, body, is_handed_over: true })
}

/// Reads the cause chain: reqwest's own text names the URL, which may hold secrets.
fn classify(error: &reqwest::Error) -> SendError {
    let (mut texts, mut known) = (Vec::new(), None);
    let mut source = std::error::Error::source(error);
    while let Some(cause) = source {
        known = known.or_else(|| cause.downcast_ref().and_then(SendError::of_io));
        texts.push(cause.to_string());
        source = cause.source();
    }
    let text = texts.join(": ").to_lowercase();
    if text.contains("tunnel error") {
        return SendError::Proxy(texts.last().cloned().unwrap_or_default());
    }
    if let Some(known) = known {
        return known;
    }
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
