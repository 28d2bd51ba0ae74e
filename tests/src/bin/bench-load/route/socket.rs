//! A kept connection to any of the ways, on the bare socket: the load must cost little beside what it measures.

use std::{
    io,
    net::SocketAddr,
    time::{Duration, Instant},
};

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
};

use super::{
    http1::{self, Head},
    replies::{self, MARK},
};

/// As large as the largest answer's pieces, so that reading is no more calls than it must be.
const READ: usize = 256 * 1024;

pub struct Connection {
    stream: TcpStream,
    /// The last reply.
    reply: Vec<u8>,
}

/// How long a call took.
#[derive(Clone, Copy, Debug)]
pub struct Took {
    /// To the last byte.
    pub whole: Duration,
    /// To the first byte of content, less what the upstream says it took itself.
    pub first: Option<Duration>,
}

impl Connection {
    pub async fn open(to: SocketAddr) -> io::Result<Connection> {
        let stream = TcpStream::connect(to).await?;
        stream.set_nodelay(true)?;
        Ok(Connection { stream, reply: Vec::with_capacity(4 * READ) })
    }

    /// Sends a request and reads its reply to the end.
    pub async fn call(&mut self, request: &[u8]) -> io::Result<Took> {
        self.exchange(request, false).await
    }

    /// The same, and watches for the first content of [`Script::First`](replies::Script::First).
    pub async fn call_for_content(&mut self, request: &[u8]) -> io::Result<Took> {
        self.exchange(request, true).await
    }

    async fn exchange(&mut self, request: &[u8], watch: bool) -> io::Result<Took> {
        self.reply.clear();
        let (mut head, mut first) = (None, None);
        let began = Instant::now();
        self.stream.write_all(request).await?;
        loop {
            self.reply.reserve(READ);
            if self.stream.read_buf(&mut self.reply).await? == 0 {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            if watch && first.is_none() {
                first = replies::own_time(&self.reply).map(|own| began.elapsed().saturating_sub(own));
            }
            if head.is_none() {
                head = http1::head(&self.reply);
            }
            if head.as_ref().is_some_and(|head| http1::is_whole(&self.reply, head)) {
                return Ok(Took { whole: began.elapsed(), first });
            }
        }
    }

    /// Whether the last reply is the answer, all of it: a fast refusal must not pass for a fast answer. `Err` has
    /// what came instead.
    pub fn check(&self, marks: usize, streamed: bool) -> Result<(), String> {
        let head = http1::head(&self.reply).unwrap_or(Head { length: 0, body: http1::Body::Bytes(0) });
        let said = http1::payload(&self.reply, &head);
        let found = said.iter().filter(|byte| **byte == MARK).count();
        let ended = !streamed
            || [&b"[DONE]"[..], b"message_stop"].iter().any(|end| http1::find(&said, end).is_some());
        if self.reply.starts_with(b"HTTP/1.1 200") && found >= marks && ended {
            return Ok(());
        }
        let text = String::from_utf8_lossy(&self.reply[..self.reply.len().min(600)]);
        let begin = text.split_whitespace().collect::<Vec<&str>>().join(" ");
        Err(format!("{found} of {marks} pieces, {}: {begin}", if ended { "ended" } else { "not ended" }))
    }
}
