//! The caller's half of the control API: what the command line speaks to a running gateway.
//!
//! Every command of the table is a method here, with the same arguments and reply as in the gateway.

use std::fmt;
use std::io;
use std::net::IpAddr;
use std::path::Path;
use std::time::Duration;

use bytes::{Buf, Bytes, BytesMut};
use gateway::Owner;
use gateway::view::LiveEvent;
use http::{Method, Request, Response, StatusCode, Uri, header};
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use tokio::net::TcpStream;
use tokio::task::JoinSet;
use tokio::time::timeout;

use crate::dto::Nothing;
use crate::{Code, ControlError, token};

const CONNECT: Duration = Duration::from_secs(3);
/// The slowest command asks a provider for its list.
const REPLY: Duration = Duration::from_secs(120);
/// Three of the gateway's keep-alives.
const SILENCE: Duration = Duration::from_secs(45);

/// A running gateway, reached over HTTP with its control token.
#[derive(Clone)]
pub struct Remote {
    url: String,
    /// `127.0.0.1:8123`
    authority: String,
    token: String,
}

/// Why a running gateway did not do what was asked.
#[derive(Debug, thiserror::Error)]
pub enum RemoteError {
    /// Nobody answers there, or no longer.
    #[error("no gateway answers at {url}: {why}")]
    NoServer { url: String, why: String },
    /// It answered, and refused.
    #[error(transparent)]
    Refused(#[from] ControlError),
    /// What answers there is not a gateway, or one of another version.
    #[error("{url} answered {what}; is it a Benchwarmers gateway of this version?")]
    Unexpected { url: String, what: String },
    #[error("{url} is not the address of a gateway; it looks like http://127.0.0.1:8123")]
    Address { url: String },
    #[error("{} cannot be read: {error}", path.display())]
    Token { path: std::path::PathBuf, error: io::Error },
}

impl Remote {
    /// A gateway at `url` (`http://127.0.0.1:8123`; a path behind it is ignored). Nothing is sent yet.
    pub fn new(url: &str, token: &str) -> Result<Remote, RemoteError> {
        let wrong = || RemoteError::Address { url: url.to_owned() };
        let uri: Uri = url.parse().map_err(|_| wrong())?;
        let (Some("http"), Some(host)) = (uri.scheme_str(), uri.host()) else { return Err(wrong()) };
        let authority = format!("{host}:{}", uri.port_u16().unwrap_or(80));
        Ok(Remote { url: format!("http://{authority}"), authority, token: token.trim().to_owned() })
    }

    /// The gateway at `url`, with the token that the data folder holds.
    pub fn with_token_of(data_dir: &Path, url: &str) -> Result<Remote, RemoteError> {
        let path = data_dir.join(token::FILE);
        match std::fs::read_to_string(&path) {
            Ok(token) => Remote::new(url, &token),
            Err(error) => Err(RemoteError::Token { path, error }),
        }
    }

    /// The gateway that owns a data folder, with the folder's token, when `url` is its address on this machine.
    /// `None` for any other address: the token is not for whoever listens there. Nothing is sent yet.
    pub fn owner_at(data_dir: &Path, url: &str) -> Result<Option<Remote>, RemoteError> {
        let wanted = Remote::new(url, "")?;
        let owner = Owner::read(data_dir).and_then(|owner| Remote::new(&owner.url, "").ok());
        let Some(owner) = owner.filter(Remote::is_on_loopback) else { return Ok(None) };
        let (host, port) = wanted.host_and_port();
        // What the name resolves to is not asked: the owner's own address is reached.
        let is_it = wanted.authority == owner.authority
            || (host.eq_ignore_ascii_case("localhost") && port == owner.host_and_port().1);
        if is_it { Remote::with_token_of(data_dir, &owner.url).map(Some) } else { Ok(None) }
    }

    /// The gateway that owns a data folder. `None` when nobody does, or nobody answers for it.
    ///
    /// Errors: the folder's token cannot be read, for want of permission.
    pub async fn owner_of(data_dir: &Path) -> Result<Option<Remote>, RemoteError> {
        let Some(owner) = Owner::read(data_dir).filter(|owner| !owner.url.is_empty()) else {
            return Ok(None);
        };
        let remote = match Remote::with_token_of(data_dir, &owner.url) {
            Err(RemoteError::Token { error, .. }) if error.kind() == io::ErrorKind::NotFound => {
                return Ok(None);
            }
            remote => remote?,
        };
        // A killed owner leaves its note behind, and another program may have its port by now.
        Ok(remote.status(Nothing {}).await.is_ok().then_some(remote))
    }

    /// `http://127.0.0.1:8123`, without a slash at the end.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Asks for the command `name`; the typed methods are better.
    pub async fn call<A, R>(&self, name: &str, args: &A) -> Result<R, RemoteError>
    where
        A: Serialize + Sync,
        R: DeserializeOwned,
    {
        let body = serde_json::to_vec(args).map_err(|error| self.unexpected(error))?;
        let asking = async {
            let (response, _line) = self.send(Method::POST, name, body).await?;
            let status = response.status();
            let body = response.into_body().collect().await.map_err(|error| self.lost(error))?.to_bytes();
            Ok::<_, RemoteError>((status, body))
        };
        let (status, body) =
            timeout(REPLY, asking).await.map_err(|_| self.lost("it did not reply in two minutes"))??;
        if !status.is_success() {
            return Err(self.refusal(status, &body));
        }
        serde_json::from_slice(&body).map_err(|error| self.unexpected(error))
    }

    /// Watches the gateway. The first event is a snapshot.
    pub async fn events(&self) -> Result<RemoteEvents, RemoteError> {
        let asking = self.send(Method::GET, "events", Vec::new());
        let (response, line) =
            timeout(REPLY, asking).await.map_err(|_| self.lost("it did not reply in two minutes"))??;
        let status = response.status();
        let body = response.into_body();
        if !status.is_success() {
            let body = body.collect().await.map_err(|error| self.lost(error))?.to_bytes();
            return Err(self.refusal(status, &body));
        }
        Ok(RemoteEvents { remote: self.clone(), body, _line: line, read: BytesMut::new(), looked: 0 })
    }

    fn is_on_loopback(&self) -> bool {
        let host = self.host_and_port().0.trim_matches(['[', ']']);
        host.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
    }

    fn host_and_port(&self) -> (&str, &str) {
        self.authority.rsplit_once(':').unwrap_or((&self.authority, ""))
    }

    async fn send(
        &self,
        method: Method,
        name: &str,
        body: Vec<u8>,
    ) -> Result<(Response<Incoming>, Line), RemoteError> {
        let stream = timeout(CONNECT, TcpStream::connect(&self.authority))
            .await
            .map_err(|_| self.lost("it does not take the connection"))?
            .map_err(|error| self.lost(error))?;
        let (mut sender, connection) =
            http1::handshake(TokioIo::new(stream)).await.map_err(|error| self.lost(error))?;
        let mut line = JoinSet::new();
        line.spawn(async move {
            // What goes wrong on the line is told by the response or its body.
            let _ = connection.await;
        });
        let request = Request::builder()
            .method(method)
            .uri(format!("/bench/admin/{name}"))
            .header(header::HOST, &self.authority)
            .header(header::AUTHORIZATION, format!("Bearer {}", self.token))
            .header(header::CONTENT_TYPE, "application/json")
            .body(Full::new(Bytes::from(body)))
            .map_err(|_| RemoteError::Address { url: self.url.clone() })?;
        let response = sender.send_request(request).await.map_err(|error| self.lost(error))?;
        Ok((response, line))
    }

    fn refusal(&self, status: StatusCode, body: &[u8]) -> RemoteError {
        let error = serde_json::from_slice::<Value>(body)
            .ok()
            .and_then(|mut body| Some(body.get_mut("error")?.take()));
        let Some(error) = error else { return self.unexpected(status) };
        match serde_json::from_value(error.clone()) {
            Ok(error) => RemoteError::Refused(error),
            // A code we do not know (a newer gateway) or the guard's refusal: its words will do.
            Err(_) => match error.get("message").and_then(Value::as_str) {
                Some(message) => RemoteError::Refused(ControlError::new(Code::Internal, message)),
                None => self.unexpected(status),
            },
        }
    }

    fn lost(&self, why: impl fmt::Display) -> RemoteError {
        RemoteError::NoServer { url: self.url.clone(), why: why.to_string() }
    }

    fn unexpected(&self, what: impl fmt::Display) -> RemoteError {
        RemoteError::Unexpected { url: self.url.clone(), what: what.to_string() }
    }
}

impl fmt::Debug for Remote {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Remote").field("url", &self.url).finish_non_exhaustive()
    }
}

/// Drives a connection for as long as it is held.
type Line = JoinSet<()>;

/// The gateway's events as they happen.
pub struct RemoteEvents {
    remote: Remote,
    body: Incoming,
    _line: Line,
    read: BytesMut,
    /// How far `read` was searched for the end of a line.
    looked: usize,
}

impl RemoteEvents {
    /// The next event, or `None` when the gateway has shut down. Dropped half way, it loses nothing.
    pub async fn next(&mut self) -> Result<Option<LiveEvent>, RemoteError> {
        loop {
            while let Some(line) = self.line() {
                if !line.trim_ascii().is_empty() {
                    return serde_json::from_slice(&line)
                        .map(Some)
                        .map_err(|error| self.remote.unexpected(error));
                }
            }
            let frame = timeout(SILENCE, self.body.frame())
                .await
                .map_err(|_| self.remote.lost("it has gone silent"))?;
            let Some(frame) = frame else { return Ok(None) };
            let frame = frame.map_err(|error| self.remote.lost(error))?;
            if let Ok(data) = frame.into_data() {
                self.read.extend_from_slice(&data);
            }
        }
    }

    fn line(&mut self) -> Option<BytesMut> {
        match self.read[self.looked..].iter().position(|byte| *byte == b'\n') {
            Some(end) => {
                let line = self.read.split_to(self.looked + end);
                self.read.advance(1);
                self.looked = 0;
                Some(line)
            }
            None => {
                self.looked = self.read.len();
                None
            }
        }
    }
}

#[cfg(test)]
mod tests;
