use std::{fmt::Write as _, io, sync::Arc};

use bytes::Bytes;
use tokio::{
    io::{AsyncBufReadExt, AsyncWriteExt, BufReader},
    net::{
        TcpListener, TcpStream,
        tcp::{OwnedReadHalf, OwnedWriteHalf},
    },
    task::JoinSet,
};

use super::{Framing, Received, Reply, Shared, Step, lock, replies, request};

pub(super) async fn accept(listener: TcpListener, shared: Arc<Shared>) {
    let mut connections = JoinSet::new();
    while let Ok((stream, _)) = listener.accept().await {
        connections.spawn(connection(stream, shared.clone()));
        while connections.try_join_next().is_some() {}
    }
}

async fn connection(stream: TcpStream, shared: Arc<Shared>) {
    // Every write is its own packet: a script that cuts must be seen cut.
    let _ = stream.set_nodelay(true);
    let (read, mut write) = stream.into_split();
    let mut read = BufReader::new(read);
    while let Some(request) = request::read(&mut read).await {
        let reply = decide(&shared, &request);
        let gone = request.gone.clone();
        shared.received.send_modify(|all| all.push(request));
        let played = tokio::select! {
            played = play(&mut write, &reply) => played,
            () = closed(&mut read) => {
                gone.open();
                return;
            }
        };
        match played {
            Ok(After::Next) => {}
            Ok(After::Close) => return,
            Err(_) => {
                gone.open();
                return;
            }
        }
    }
}

fn decide(shared: &Shared, request: &Received) -> Reply {
    let (path, query) = request.path.split_once('?').unwrap_or((&request.path, ""));
    match (request.method.as_str(), path, request.api()) {
        ("GET", path, _) if path == lock(&shared.listing).path() => {
            let models: Vec<String> = lock(&shared.scripts).keys().cloned().collect();
            lock(&shared.listing).reply(models, query, request)
        }
        ("POST", _, Some(api)) => match lock(&shared.scripts).get(&request.model()) {
            Some(script) => script.decide(request),
            None => api.fails(404, &format!("The model `{}` does not exist", request.model())),
        },
        _ => replies::fails(404, "not_found", &format!("Unknown request URL: {} {path}", request.method)),
    }
}

/// Resolves when the other side has closed; bytes of a next request do not count.
async fn closed(read: &mut BufReader<OwnedReadHalf>) {
    match read.fill_buf().await {
        Ok([]) | Err(_) => {}
        Ok(_) => std::future::pending().await,
    }
}

enum After {
    Next,
    Close,
}

async fn play(to: &mut OwnedWriteHalf, reply: &Reply) -> io::Result<After> {
    for step in &reply.before {
        if let Some(after) = take(to, step, Framing::UntilClose).await? {
            return Ok(after);
        }
    }
    if !reply.head {
        return Ok(After::Close);
    }
    to.write_all(head(reply).as_bytes()).await?;
    for step in &reply.steps {
        if let Some(after) = take(to, step, reply.framing).await? {
            return Ok(after);
        }
    }
    match reply.framing {
        Framing::Chunked => to.write_all(b"0\r\n\r\n").await?,
        Framing::Length => {}
        Framing::UntilClose => return Ok(After::Close),
    }
    Ok(After::Next)
}

fn head(reply: &Reply) -> String {
    let mut head = format!("HTTP/1.1 {} {}\r\n", reply.status, reason(reply.status));
    for (name, value) in &reply.headers {
        let _ = write!(head, "{name}: {value}\r\n");
    }
    match reply.framing {
        Framing::Chunked => head.push_str("transfer-encoding: chunked\r\n"),
        Framing::Length => {
            let _ = write!(head, "content-length: {}\r\n", reply.steps.iter().map(length).sum::<usize>());
        }
        Framing::UntilClose => head.push_str("connection: close\r\n"),
    }
    head + "\r\n"
}

fn reason(status: u16) -> &'static str {
    http::StatusCode::from_u16(status).ok().and_then(|status| status.canonical_reason()).unwrap_or("Status")
}

fn length(step: &Step) -> usize {
    match step {
        Step::Send(bytes) | Step::Bytewise(bytes) | Step::Raw(bytes) => bytes.len(),
        _ => 0,
    }
}

async fn take(to: &mut OwnedWriteHalf, step: &Step, framing: Framing) -> io::Result<Option<After>> {
    match step {
        Step::Send(bytes) => write(to, bytes, framing).await?,
        Step::Bytewise(bytes) => {
            for at in 0..bytes.len() {
                write(to, &bytes.slice(at..=at), framing).await?;
            }
        }
        Step::Raw(bytes) => to.write_all(bytes).await?,
        Step::Wait(gate) => gate.passed().await,
        Step::Pause(time) => tokio::time::sleep(*time).await,
        Step::Stall => std::future::pending().await,
        Step::Close => return Ok(Some(After::Close)),
        Step::Reset => {
            to.as_ref().set_zero_linger()?;
            return Ok(Some(After::Close));
        }
    }
    Ok(None)
}

async fn write(to: &mut OwnedWriteHalf, bytes: &Bytes, framing: Framing) -> io::Result<()> {
    if bytes.is_empty() {
        return Ok(());
    }
    if framing == Framing::Chunked {
        let mut framed = format!("{:x}\r\n", bytes.len()).into_bytes();
        framed.extend_from_slice(bytes);
        framed.extend_from_slice(b"\r\n");
        return to.write_all(&framed).await;
    }
    to.write_all(bytes).await
}
