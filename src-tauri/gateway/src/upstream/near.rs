//! Plain http to this machine, where local models run. A connection is driven by whoever reads its answer and by no
//! task of its own: nothing is handed over on the way, and who stops reading closes it.

use std::{
    collections::HashMap,
    io,
    pin::{Pin, pin},
    sync::{Arc, Mutex, PoisonError},
    task::{Context, Poll},
};

use bytes::Bytes;
use futures_util::{Stream, StreamExt};
use http::{HeaderValue, Request, Response, header, uri::PathAndQuery};
use http_body_util::Full;
use hyper::{
    body::{Body, Incoming as Received},
    client::conn::{TrySendError, http1},
};
use hyper_util::rt::TokioIo;
use tokio::{
    net::TcpStream,
    time::{Instant, timeout},
};

use super::transport::{CONNECT, IDLE, Incoming, Outgoing, SendError, USER_AGENT};

/// Idle connections kept to one address.
const KEPT: usize = 64;

type Question = Request<Full<Bytes>>;

/// Connections that wait for their next question, by address.
#[derive(Clone, Default)]
pub(super) struct Near(Arc<Mutex<HashMap<String, Vec<Idle>>>>);

struct Idle {
    line: Line,
    since: Instant,
}

/// Where a question goes: `host:port`, and the path.
pub(super) struct Address<'u> {
    authority: &'u str,
    path: PathAndQuery,
}

impl Address<'_> {
    /// `None` for any URL that is not plainly this machine's; a library reads those.
    pub(super) fn of(url: &str) -> Option<Address<'_>> {
        let rest = url.strip_prefix("http://")?;
        let (authority, path) = rest.split_at(rest.find('/')?);
        let (host, port) = authority.rsplit_once(':')?;
        port.parse::<u16>().ok()?;
        let is_near = matches!(host, "127.0.0.1" | "localhost" | "[::1]");
        is_near.then_some(Address { authority, path: path.parse().ok()? })
    }
}

impl Near {
    pub(super) async fn send(&self, address: Address<'_>, outgoing: Outgoing) -> Result<Incoming, SendError> {
        let Address { authority, path } = address;
        let sends = outgoing.sends;
        let mut question = Request::new(Full::new(outgoing.body));
        *question.method_mut() = outgoing.method;
        *question.uri_mut() = path.into();
        *question.headers_mut() = outgoing.headers.into_map();
        let headers = question.headers_mut();
        headers.insert(header::USER_AGENT, HeaderValue::from_static(USER_AGENT));
        let host = HeaderValue::from_str(authority).map_err(|error| SendError::Other(error.to_string()))?;
        headers.insert(header::HOST, host);
        // Whoever waited may have been closed meanwhile: the question has not been sent then.
        while let Some(mut line) = self.take(authority) {
            let once_more = question.clone();
            let mut refused = match line.ask(question).await {
                Ok(response) => return Ok(self.incoming(authority, line, response)),
                Err(refused) => refused,
            };
            if let Some(unsent) = refused.take_message() {
                question = unsent;
                continue;
            }
            let error = classify(&refused.into_error());
            if error != SendError::Reset || line.has_heard() || !sends.goes_out_again() {
                return Err(error);
            }
            // It was most likely being closed as the question went out, which is sent once more on a new one.
            question = once_more;
            break;
        }
        let mut line = Line::open(authority).await?;
        match line.ask(question).await {
            Ok(response) => Ok(self.incoming(authority, line, response)),
            Err(refused) => Err(classify(&refused.into_error())),
        }
    }

    fn incoming(&self, authority: &str, line: Line, response: Response<Received>) -> Incoming {
        let (head, body) = response.into_parts();
        let answer = Answer { body, line: Some(line), near: self.clone(), authority: authority.to_owned() };
        Incoming {
            status: head.status.as_u16(),
            headers: head.headers,
            body: answer.boxed(),
            is_handed_over: false,
        }
    }

    /// The one that was used last, if it has not been closed since.
    fn take(&self, authority: &str) -> Option<Line> {
        let mut idle = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let kept = idle.get_mut(authority)?;
        loop {
            let Idle { line, since } = kept.pop()?;
            if since.elapsed() < IDLE && line.sender.is_ready() {
                return Some(line);
            }
        }
    }

    fn keep(&self, authority: &str, line: Line) {
        let mut idle = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let since = Instant::now();
        let kept = match idle.get_mut(authority) {
            Some(kept) => kept,
            None => idle.entry(authority.to_owned()).or_default(),
        };
        kept.retain(|it| since.duration_since(it.since) < IDLE);
        if kept.len() < KEPT {
            kept.push(Idle { line, since });
        }
    }
}

/// One connection.
struct Line {
    sender: http1::SendRequest<Full<Bytes>>,
    connection: http1::Connection<TokioIo<TcpStream>, Full<Bytes>>,
}

impl Line {
    async fn open(authority: &str) -> Result<Line, SendError> {
        let socket = match timeout(CONNECT, TcpStream::connect(authority)).await {
            Err(_) => return Err(SendError::ConnectTimeout),
            Ok(Err(error)) => {
                let known = SendError::of_io(&error);
                return Err(known.unwrap_or_else(|| SendError::Other(error.to_string())));
            }
            Ok(Ok(socket)) => socket,
        };
        let _ = socket.set_nodelay(true);
        let opened = http1::handshake(TokioIo::new(socket)).await;
        let (sender, connection) = opened.map_err(|error| classify(&error))?;
        Ok(Line { sender, connection })
    }

    /// Whether something of a reply had come when it ended.
    fn has_heard(self) -> bool {
        !self.connection.into_parts().read_buf.is_empty()
    }

    async fn ask(&mut self, question: Question) -> Result<Response<Received>, TrySendError<Question>> {
        let mut asked = pin!(self.sender.try_send_request(question));
        let mut has_ended = false;
        std::future::poll_fn(|context| {
            if !has_ended {
                has_ended = Pin::new(&mut self.connection).poll(context).is_ready();
            }
            asked.as_mut().poll(context)
        })
        .await
    }
}

/// An answer as it comes. Dropped before its end, its connection is closed.
struct Answer {
    body: Received,
    /// `None` once it has ended, or waits for the next question.
    line: Option<Line>,
    near: Near,
    authority: String,
}

impl Stream for Answer {
    type Item = Result<Bytes, SendError>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let mut is_driven = false;
        loop {
            match Pin::new(&mut self.body).poll_frame(context) {
                Poll::Ready(Some(Ok(frame))) => {
                    if let Ok(bytes) = frame.into_data() {
                        return Poll::Ready(Some(Ok(bytes)));
                    }
                }
                Poll::Ready(Some(Err(error))) => return Poll::Ready(Some(Err(classify(&error)))),
                Poll::Ready(None) => {
                    self.let_go(context);
                    return Poll::Ready(None);
                }
                Poll::Pending if is_driven => return Poll::Pending,
                Poll::Pending => {}
            }
            // It gives one piece at a time, when it is asked.
            is_driven = true;
            if let Some(line) = &mut self.line
                && Pin::new(&mut line.connection).poll(context).is_ready()
            {
                self.line = None;
            }
        }
    }
}

impl Answer {
    /// The answer is whole: its connection is free.
    fn let_go(&mut self, context: &mut Context<'_>) {
        let Some(mut line) = self.line.take() else { return };
        if Pin::new(&mut line.connection).poll(context).is_pending() && line.sender.is_ready() {
            self.near.keep(&self.authority, line);
        }
    }
}

fn classify(error: &hyper::Error) -> SendError {
    let cause = std::error::Error::source(error);
    if let Some(known) = cause.and_then(|cause| SendError::of_io(cause.downcast_ref::<io::Error>()?)) {
        return known;
    }
    if error.is_incomplete_message()
        || error.is_canceled()
        || error.is_closed()
        || error.is_body_write_aborted()
    {
        return SendError::Reset;
    }
    SendError::Other(error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_plain_spellings_of_this_machine_are_near() {
        for (url, wanted) in [
            ("http://127.0.0.1:11434/v1/chat", Some(("127.0.0.1:11434", "/v1/chat"))),
            ("http://localhost:1234/a?b=c", Some(("localhost:1234", "/a?b=c"))),
            ("http://[::1]:8080/", Some(("[::1]:8080", "/"))),
            ("http://127.0.0.1/v1", None),
            ("http://127.0.0.1:x/v1", None),
            ("http://127.0.0.1:80@evil.example:80/v1", None),
            ("http://localhost.evil.example:80/v1", None),
            ("http://10.0.0.1:80/v1", None),
            ("https://127.0.0.1:443/v1", None),
            ("http://127.0.0.1:80/a b", None),
            ("http://127.0.0.1:80", None),
        ] {
            let found = Address::of(url);
            let told = found.as_ref().map(|it| (it.authority, it.path.as_str()));
            assert_eq!(told, wanted, "{url}");
        }
    }

    async fn asked(near: &Near, url: &str) -> Result<Vec<u8>, SendError> {
        let outgoing = Outgoing {
            method: http::Method::POST,
            url: String::new(),
            headers: super::super::transport::OutgoingHeaders::default(),
            body: Bytes::from_static(b"{}"),
            sends: super::super::transport::Sends::default(),
        };
        let mut incoming = near.send(Address::of(url).unwrap(), outgoing).await?;
        let mut whole = Vec::new();
        while let Some(piece) = incoming.body.next().await {
            whole.extend_from_slice(&piece?);
        }
        Ok(whole)
    }

    /// Answers each connection's first questions with its own number, then closes it.
    async fn answer(listener: &tokio::net::TcpListener, questions: usize) {
        use tokio::io::{AsyncReadExt, AsyncWriteExt};
        for number in 0.. {
            let (mut socket, _) = listener.accept().await.unwrap();
            for _ in 0..questions {
                assert!(socket.read(&mut [0; 4096]).await.unwrap() > 0);
                let answer = format!("HTTP/1.1 200 OK\r\ncontent-length: 1\r\n\r\n{number}");
                socket.write_all(answer.as_bytes()).await.unwrap();
            }
        }
    }

    #[tokio::test]
    async fn a_connection_is_used_again_and_one_that_was_closed_meanwhile_is_not() {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/v1", listener.local_addr().unwrap());
        let near = Near::default();
        let mut answers = Vec::new();
        let asking = async {
            for _ in 0..5 {
                answers.extend(asked(&near, &url).await.unwrap());
            }
        };
        tokio::select! {
            () = asking => {}
            () = answer(&listener, 2) => {}
        }
        assert_eq!(answers, b"00112");
    }

    #[tokio::test]
    async fn an_answer_that_breaks_off_and_nobody_there_are_told() {
        use tokio::io::{AsyncReadExt, AsyncWriteExt};
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/v1", listener.local_addr().unwrap());
        let near = Near::default();
        let server = async {
            let (mut socket, _) = listener.accept().await.unwrap();
            assert!(socket.read(&mut [0; 4096]).await.unwrap() > 0);
            socket.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nhalf").await.unwrap();
        };
        assert_eq!(tokio::join!(asked(&near, &url), server).0, Err(SendError::Reset));
        drop(listener);
        assert_eq!(asked(&near, &url).await, Err(SendError::Refused));
    }
}
