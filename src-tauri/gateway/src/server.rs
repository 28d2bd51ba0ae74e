//! The listener: connections in, requests to the API, and an orderly end.

use std::{
    io,
    net::{IpAddr, Ipv4Addr, SocketAddr},
    panic::AssertUnwindSafe,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use axum::{Router, body::Body, response::Response};
use futures_util::FutureExt;
use http::{HeaderValue, Request, header};
use hyper::{body::Incoming, service::service_fn};
use hyper_util::{
    rt::{TokioExecutor, TokioIo, TokioTimer},
    server::{conn::auto, graceful::GracefulShutdown},
};
use tokio::{net::TcpListener, sync::Semaphore, time::Instant};
use tokio_util::sync::CancellationToken;
use wire::{ApiError, Kind, Origin};

use crate::{
    alerts, api,
    callers::Caller,
    gateway::Gateway,
    guard,
    linger::{Lent, linger},
    onboarding,
};

/// Clients may open this many connections at once before the first is accepted.
const BACKLOG: i32 = 1024;
/// Requests open at once; the next is told to come back. A stream that is being relayed is one for as long as it takes.
const OPEN_REQUESTS: usize = 1024;
/// Files that the process may have open: each request has a socket on either side. Many systems give a quarter of it
/// unless asked, and macOS no more.
#[cfg(unix)]
const OPEN_FILES: u64 = 4096;
/// The most that is read of a request's head. What is larger than the guard allows and fits in here is refused in
/// the API's own words. hyper refuses the rest by itself, where it knows no request yet: a head past this or of
/// more than 100 fields (431), a target past 64 KB (414), what is not HTTP (400), each without a body or an id.
const HEAD_READ: usize = 4 * guard::HEAD_CAP;
/// A connection on which nothing is asked for so long is closed.
const QUIET: Duration = Duration::from_secs(75);
/// What streams get to finish at shutdown.
const DRAIN: Duration = Duration::from_secs(10);
/// What panels and turns that are cut off get to tell their callers, and to write down how they ended.
const LAST_WORDS: Duration = Duration::from_secs(2);
/// Of these, what a connection gets whose caller does not read.
const UNREAD: Duration = Duration::from_millis(1_500);
/// Ports tried after the wanted one.
const NEXT_PORTS: u16 = 50;

#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    #[error("no port could be opened at 127.0.0.1:{wanted} or after it: {source}")]
    Bind { wanted: u16, source: io::Error },
    #[error("the address could not be written to the data folder: {0}")]
    Announce(io::Error),
}

/// A gateway that listens.
pub struct Serving {
    gateway: Gateway,
    pub address: SocketAddr,
    /// The port that was asked for; another is used when it was taken.
    pub wanted_port: u16,
}

impl Gateway {
    /// Listens on loopback: on `port`, or the next free one when it is taken (0: any). `extra` answers
    /// `/bench/admin/…` and `/ui/…`.
    pub async fn serve(&self, port: u16, extra: Option<Router>) -> Result<Serving, ServeError> {
        #[cfg(unix)]
        open_files();
        let listener = bind(port).map_err(|source| ServeError::Bind { wanted: port, source })?;
        let address = listener.local_addr().map_err(|source| ServeError::Bind { wanted: port, source })?;
        self.listening(address).map_err(ServeError::Announce)?;
        if port != 0 && address.port() != port {
            alerts::port_taken(self, port, address.port());
        }
        let site =
            Arc::new(Site { gateway: self.clone(), extra, open: Arc::new(Semaphore::new(OPEN_REQUESTS)) });
        self.tasks().spawn(accept(listener, site));
        onboarding::begin(self);
        Ok(Serving { gateway: self.clone(), address, wanted_port: port })
    }
}

impl Serving {
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Refuses new work, lets panels and streams finish for up to 10 s, flushes the store.
    pub async fn shutdown(self) {
        let gateway = &self.gateway;
        let deadline = Instant::now() + DRAIN;
        gateway.stopping().cancel();
        gateway.panel_tasks().close();
        let panels = tokio::time::timeout_at(deadline, gateway.panel_tasks().wait()).await;
        gateway.unlisten().cancel();
        gateway.tasks().close();
        let connections = tokio::time::timeout_at(deadline, gateway.tasks().wait()).await;
        if panels.is_err() || connections.is_err() {
            tracing::warn!("some requests did not finish within {} s and were cut off", DRAIN.as_secs());
        }
        gateway.closing().cancel();
        let last_words = async {
            gateway.tasks().wait().await;
            gateway.panel_tasks().wait().await;
        };
        let _ = tokio::time::timeout(LAST_WORDS, last_words).await;
        gateway.tell_last_uses();
        let store = gateway.store().clone();
        let _ = tokio::task::spawn_blocking(move || store.close()).await;
    }
}

/// Raises the process's own limit as far as it may: a refusal leaves it as it is.
#[cfg(unix)]
fn open_files() {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
    let wanted = maximum.map_or(OPEN_FILES, |maximum| maximum.min(OPEN_FILES));
    if current.is_some_and(|current| current < wanted) {
        let _ = setrlimit(Resource::Nofile, Rlimit { current: Some(wanted), maximum });
    }
}

fn bind(wanted: u16) -> io::Result<TcpListener> {
    let mut taken = None;
    for port in (wanted..=wanted.saturating_add(if wanted == 0 { 0 } else { NEXT_PORTS })).chain([0]) {
        match listen(port) {
            Ok(listener) => return Ok(listener),
            Err(error) => taken = Some(error),
        }
    }
    Err(taken.unwrap_or_else(|| io::Error::from(io::ErrorKind::AddrInUse)))
}

fn listen(port: u16) -> io::Result<TcpListener> {
    let address = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), port);
    let socket =
        socket2::Socket::new(socket2::Domain::IPV4, socket2::Type::STREAM, Some(socket2::Protocol::TCP))?;
    // On Windows this would let two programs share the port.
    #[cfg(unix)]
    socket.set_reuse_address(true)?;
    socket.bind(&address.into())?;
    socket.listen(BACKLOG)?;
    socket.set_nonblocking(true)?;
    TcpListener::from_std(socket.into())
}

/// What every connection needs.
struct Site {
    gateway: Gateway,
    extra: Option<Router>,
    open: Arc<Semaphore>,
}

/// Accepts until the gateway stops, then waits for the open connections to finish what they are at.
async fn accept(listener: TcpListener, site: Arc<Site>) {
    let mut builder = auto::Builder::new(TokioExecutor::new());
    builder.http1().timer(TokioTimer::new()).header_read_timeout(QUIET).max_buf_size(HEAD_READ);
    builder.http2().timer(TokioTimer::new()).max_header_list_size(HEAD_READ as u32);
    let graceful = GracefulShutdown::new();
    let mut refusing = false;
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            () = site.gateway.unlisten().cancelled() => break,
        };
        let socket = match accepted {
            Ok((socket, _)) => {
                refusing = false;
                socket
            }
            Err(error) => {
                // Out of file descriptors, or a connection that died in the backlog: neither ends the service.
                if !std::mem::replace(&mut refusing, true) {
                    tracing::warn!(%error, "connections cannot be accepted");
                }
                tokio::time::sleep(Duration::from_millis(50)).await;
                continue;
            }
        };
        let _ = socket.set_nodelay(true);
        let tasks = site.gateway.tasks().clone();
        let unlisten = site.gateway.unlisten().clone();
        let closing = site.gateway.closing().clone();
        let site = site.clone();
        let activity = Arc::new(Activity::default());
        let quiet = quiet_for_too_long(activity.clone());
        let service = service_fn(move |request| {
            let (site, open) = (site.clone(), activity.begin());
            async move { Ok::<_, std::convert::Infallible>(answer(&site, request, open).await) }
        });
        let socket = Arc::new(socket);
        let connection = builder.serve_connection(TokioIo::new(Lent(socket.clone())), service).into_owned();
        let watched = graceful.watch(connection);
        tasks.spawn(async move {
            tokio::select! {
                // A caller that hangs up or breaks the protocol is no fault of ours.
                _ = watched => {}
                () = quiet => {}
                () = cut_off(closing) => {}
            }
            tokio::select! {
                () = linger(&socket) => {}
                () = unlisten.cancelled() => {}
            }
        });
    }
    drop(listener);
    graceful.shutdown().await;
}

/// Ends when the gateway has closed for long enough to tell a caller so.
async fn cut_off(closing: CancellationToken) {
    closing.cancelled().await;
    tokio::time::sleep(UNREAD).await;
}

/// What happens on one connection.
#[derive(Default)]
struct Activity {
    open: AtomicUsize,
    /// Counts every begin and end.
    changes: AtomicUsize,
}

/// One open request; it ends when its body has gone out.
struct Open(Arc<Activity>);

impl Activity {
    fn begin(self: &Arc<Activity>) -> Open {
        self.open.fetch_add(1, Ordering::Relaxed);
        self.changes.fetch_add(1, Ordering::Relaxed);
        Open(self.clone())
    }
}

impl Drop for Open {
    fn drop(&mut self) {
        self.0.open.fetch_sub(1, Ordering::Relaxed);
        self.0.changes.fetch_add(1, Ordering::Relaxed);
    }
}

/// Ends when nothing was asked for one to two times [`QUIET`]. hyper has a limit of its own for the head of a
/// request, and none before it knows the protocol's version, nor for HTTP/2.
async fn quiet_for_too_long(activity: Arc<Activity>) {
    loop {
        let before = activity.changes.load(Ordering::Relaxed);
        tokio::time::sleep(QUIET).await;
        let same = activity.changes.load(Ordering::Relaxed) == before;
        if same && activity.open.load(Ordering::Relaxed) == 0 {
            return;
        }
    }
}

/// One request, from head to response head; the body goes on by itself.
async fn answer(site: &Site, request: Request<Incoming>, open: Open) -> Response {
    let begun = Instant::now();
    let method = request.method().clone();
    let path = request.uri().path().to_owned();
    let dialect = api::dialect(&path, request.headers());
    let id = guard::request_id(request.headers(), || {
        format!("req_{:08x}{:08x}", site.gateway.random(), site.gateway.random())
    });
    let (mut response, caller) = match site.open.clone().try_acquire_owned() {
        Ok(permit) => {
            let answered = AssertUnwindSafe(api::answer(&site.gateway, site.extra.as_ref(), request, &id));
            let (response, caller) = answered.catch_unwind().await.unwrap_or_else(|_| {
                let message = format!("the gateway failed on this request; its id is {id}");
                let error = ApiError::new(Kind::Internal, Origin::Gateway, "internal", message);
                tracing::error!(id, path = site.gateway.scrub(&path), "a request panicked");
                (api::error_response(dialect, &error, &id, None), None)
            });
            // The request is open until its body has gone out.
            (response.map(|body| Body::new(api::Held::new(body, (permit, open)))), caller)
        }
        Err(_) => {
            let message = format!("{OPEN_REQUESTS} requests are open already; come back in a second");
            let mut error = ApiError::new(Kind::Unavailable, Origin::Gateway, "too_many_requests", message);
            error.retry_after = Some(Duration::from_secs(1));
            (api::error_response(dialect, &error, &id, None), None)
        }
    };
    if let Ok(id) = HeaderValue::from_str(&id) {
        response.headers_mut().insert("x-request-id", id);
    }
    let caller = caller.as_ref().map_or("-", Caller::name);
    response.headers_mut().entry(header::CACHE_CONTROL).or_insert(HeaderValue::from_static("no-store"));
    tracing::info!(
        target: "access",
        %method, path = site.gateway.scrub(&path), status = response.status().as_u16(), ms = begun.elapsed().as_millis() as u64,
        caller, "request"
    );
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_connection_is_quiet_only_when_nothing_is_open() {
        let activity = Arc::new(Activity::default());
        let begun = Instant::now();
        quiet_for_too_long(activity.clone()).await;
        assert_eq!(begun.elapsed(), QUIET);

        let open = activity.begin();
        let quiet = quiet_for_too_long(activity.clone());
        tokio::pin!(quiet);
        assert!(tokio::time::timeout(QUIET * 10, &mut quiet).await.is_err(), "a long answer is not quiet");
        drop(open);
        assert!(tokio::time::timeout(QUIET * 2, quiet).await.is_ok());
    }
}
