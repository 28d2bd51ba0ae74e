//! The upstream: a process of its own that answers with bytes made before, on one thread.

use std::{
    io::{self, Read},
    net::SocketAddr,
    sync::Arc,
    time::{Duration, Instant},
};

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpSocket, TcpStream},
    task::JoinSet,
};

use super::{
    http1::{self, Body},
    replies::{PACE, REST, Replies, SCRIPTS, SLOW_PACE, SLOW_PIECES, Script},
};

/// What [`Script::First`] waits before it speaks; as much again as conversations are not in step.
const WAIT: Duration = Duration::from_millis(20);
const OUT_OF_STEP: u64 = 16;

/// Says its address in a line on standard output and serves until standard input ends.
pub async fn serve() {
    let listener = listen().expect("a free port");
    println!("{}", listener.local_addr().expect("its address"));
    let replies = Arc::new(Replies::new());
    let mut connections = JoinSet::new();
    let mut ended = tokio::task::spawn_blocking(|| io::stdin().read(&mut [0]));
    loop {
        tokio::select! {
            accepted = listener.accept() => {
                let (stream, _) = accepted.expect("a connection");
                let replies = replies.clone();
                connections.spawn(async move {
                    // Whoever hangs up is done.
                    let _ = answer_all(stream, &replies).await;
                });
            }
            Some(_) = connections.join_next() => {}
            _ = &mut ended => return,
        }
    }
}

/// With room for a burst of connections.
fn listen() -> io::Result<TcpListener> {
    let socket = TcpSocket::new_v4()?;
    socket.bind(SocketAddr::from(([127, 0, 0, 1], 0)))?;
    socket.listen(1024)
}

async fn answer_all(mut stream: TcpStream, replies: &Replies) -> io::Result<()> {
    stream.set_nodelay(true)?;
    let mut request = Vec::with_capacity(64 * 1024);
    for turn in 0.. {
        request.clear();
        let Some(script) = read(&mut stream, &mut request).await? else { return Ok(()) };
        answer(&mut stream, replies, script, turn).await?;
    }
    Ok(())
}

/// A request, of which only the path is kept; `None` when the caller has no more.
async fn read(stream: &mut TcpStream, request: &mut Vec<u8>) -> io::Result<Option<Script>> {
    let head = loop {
        if stream.read_buf(request).await? == 0 {
            return Ok(None);
        }
        if let Some(head) = http1::head(request) {
            break head;
        }
    };
    let script = SCRIPTS.into_iter().find(|script| {
        let from = 1 + request.iter().position(|byte| *byte == b'/').unwrap_or(0);
        request[from..].starts_with(script.name().as_bytes())
    });
    let script = script.ok_or_else(|| io::Error::other("no such script"))?;
    match head.body {
        Body::Bytes(length) => {
            let mut missing = (head.length + length).saturating_sub(request.len());
            while missing > 0 {
                request.clear();
                request.reserve(64 * 1024);
                match stream.read_buf(request).await? {
                    0 => return Ok(None),
                    read => missing = missing.saturating_sub(read),
                }
            }
        }
        // crabllm asks for streams so.
        Body::Chunks => {
            while !request.ends_with(http1::LAST_CHUNK) {
                if stream.read_buf(request).await? == 0 {
                    return Ok(None);
                }
            }
        }
    }
    Ok(Some(script))
}

async fn answer(stream: &mut TcpStream, replies: &Replies, script: Script, turn: u64) -> io::Result<()> {
    match script {
        Script::Whole => stream.write_all(&replies.whole).await,
        Script::Stream => stream.write_all(&replies.stream).await,
        Script::Long => stream.write_all(&replies.long).await,
        Script::Packed => stream.write_all(&replies.packed).await,
        Script::First => {
            let began = Instant::now();
            // Connections differ by their ports.
            let step = (u64::from(stream.peer_addr()?.port()) + turn * 7) % OUT_OF_STEP;
            tokio::time::sleep(WAIT + Duration::from_millis(step)).await;
            let first = [&replies.begin[..], &Replies::first(began.elapsed())].concat();
            stream.write_all(&first).await?;
            paced(stream, replies, REST, PACE).await
        }
        Script::Slow => {
            stream.write_all(&replies.begin).await?;
            paced(stream, replies, SLOW_PIECES, SLOW_PACE).await
        }
    }
}

async fn paced(stream: &mut TcpStream, replies: &Replies, pieces: usize, pace: Duration) -> io::Result<()> {
    for _ in 0..pieces {
        tokio::time::sleep(pace).await;
        stream.write_all(&replies.piece).await?;
    }
    stream.write_all(&replies.end).await
}
