//! HTTP/2: more requests than a connection carries, and connections that go away. Without TLS, by prior knowledge; what a
//! connection may carry is the same.

use std::{sync::Arc, time::Duration};

use bytes::Bytes;
use futures_util::{StreamExt, future::join_all};
use h2::{Reason, server};
use http::{Method, Response};
use tokio::{
    net::{TcpListener, TcpStream},
    sync::{Notify, Semaphore, mpsc},
    task::JoinSet,
    time::timeout,
};

use super::{
    far::{Far, builder},
    transport::{Incoming, Outgoing, OutgoingHeaders, SendError, Sends},
};

const CALLERS: usize = 250;
/// What most servers allow.
const STREAMS: u32 = 100;
/// A hang is a failure.
const PATIENCE: Duration = Duration::from_secs(30);

async fn served() -> (Far, TcpListener, String) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://127.0.0.1:{}/v1", listener.local_addr().unwrap().port());
    (Far::by(|| builder().no_proxy().http2_prior_knowledge()).unwrap(), listener, url)
}

async fn ask(far: &Far, url: &str) -> Result<Incoming, SendError> {
    let headers = OutgoingHeaders::default();
    let outgoing = Outgoing {
        method: Method::POST,
        url: String::new(),
        headers,
        body: Bytes::from_static(b"{}"),
        sends: Sends::default(),
    };
    timeout(PATIENCE, far.send(url.to_owned(), outgoing)).await.expect("a head in time")
}

async fn whole(mut incoming: Incoming) -> Result<String, SendError> {
    let mut whole = Vec::new();
    while let Some(piece) = timeout(PATIENCE, incoming.body.next()).await.expect("a piece in time") {
        whole.extend_from_slice(&piece?);
    }
    Ok(String::from_utf8(whole).unwrap())
}

#[tokio::test]
async fn more_callers_than_streams_are_all_asked_at_once() {
    let (far, listener, url) = served().await;
    let (asked, mut all) = mpsc::unbounded_channel();
    let gate = Arc::new(Semaphore::new(0));
    let mut tasks = JoinSet::new();
    let own = gate.clone();
    tasks.spawn(async move {
        let mut connections = JoinSet::new();
        loop {
            let (socket, _) = listener.accept().await.unwrap();
            connections.spawn(crowded(socket, asked.clone(), own.clone()));
        }
    });
    let callers =
        async { join_all((0..CALLERS).map(|_| async { whole(ask(&far, &url).await?).await })).await };
    // Nobody is answered before everybody was asked.
    let opening = async {
        for _ in 0..CALLERS {
            timeout(PATIENCE, all.recv()).await.expect("each is asked while the others wait");
        }
        gate.add_permits(CALLERS);
    };
    let (answers, ()) = futures_util::future::join(callers, opening).await;
    assert_eq!(answers, vec![Ok("1".to_owned()); CALLERS]);
    // And what is over leaves its room.
    gate.add_permits(1);
    assert_eq!(whole(ask(&far, &url).await.unwrap()).await, Ok("1".to_owned()));
}

async fn crowded(socket: TcpStream, asked: mpsc::UnboundedSender<()>, gate: Arc<Semaphore>) {
    let mut connection =
        server::Builder::new().max_concurrent_streams(STREAMS).handshake::<_, Bytes>(socket).await.unwrap();
    let mut streams = JoinSet::new();
    while let Some(Ok((_, respond))) = connection.accept().await {
        asked.send(()).unwrap();
        let gate = gate.clone();
        streams.spawn(async move {
            gate.acquire().await.unwrap().forget();
            answer(respond, "1");
        });
    }
}

#[tokio::test]
async fn a_stream_that_was_refused_unseen_is_asked_for_again() {
    let (far, listener, url) = served().await;
    let mut tasks = JoinSet::new();
    tasks.spawn(async move {
        let (socket, _) = listener.accept().await.unwrap();
        let mut connection = server::handshake(socket).await.unwrap();
        let (_, mut first) = connection.accept().await.unwrap().unwrap();
        first.send_reset(Reason::REFUSED_STREAM);
        while let Some(Ok((_, respond))) = connection.accept().await {
            answer(respond, "again");
        }
    });
    assert_eq!(whole(ask(&far, &url).await.unwrap()).await, Ok("again".to_owned()));
}

#[tokio::test]
async fn an_answer_ends_whole_on_a_connection_that_takes_no_more() {
    let (far, listener, url) = served().await;
    let mut tasks = JoinSet::new();
    tasks.spawn(async move {
        let (socket, _) = listener.accept().await.unwrap();
        let mut old = server::handshake(socket).await.unwrap();
        let (_, mut respond) = old.accept().await.unwrap().unwrap();
        let mut body = respond.send_response(Response::new(()), false).unwrap();
        body.send_data(Bytes::from_static(b"half"), false).unwrap();
        old.graceful_shutdown();
        // Whatever was on its way already is answered here.
        let serving_old = async {
            while let Some(Ok((_, respond))) = old.accept().await {
                answer(respond, "old")
            }
        };
        let serving_new = async {
            let (socket, _) = listener.accept().await.unwrap();
            let mut new = server::handshake(socket).await.unwrap();
            while let Some(Ok((_, respond))) = new.accept().await {
                answer(respond, "new");
                let _ = body.send_data(Bytes::from_static(b" and half"), true);
            }
        };
        futures_util::future::join(serving_old, serving_new).await;
    });
    let first = ask(&far, &url).await.unwrap();
    while whole(ask(&far, &url).await.unwrap()).await == Ok("old".to_owned()) {}
    assert_eq!(whole(first).await, Ok("half and half".to_owned()));
    assert_eq!(whole(ask(&far, &url).await.unwrap()).await, Ok("new".to_owned()));
}

#[tokio::test]
async fn an_answer_that_breaks_off_is_an_error_and_the_next_has_another_connection() {
    let (far, listener, url) = served().await;
    let heard = Arc::new(Notify::new());
    let mut tasks = JoinSet::new();
    let own = heard.clone();
    tasks.spawn(async move {
        let (socket, _) = listener.accept().await.unwrap();
        let mut old = server::handshake(socket).await.unwrap();
        let (_, mut respond) = old.accept().await.unwrap().unwrap();
        let mut body = respond.send_response(Response::new(()), false).unwrap();
        body.send_data(Bytes::from_static(b"half"), false).unwrap();
        tokio::select! {
            _ = old.accept() => {}
            () = own.notified() => {}
        }
        old.abrupt_shutdown(Reason::INTERNAL_ERROR);
        while old.accept().await.is_some() {}
        drop(old);
        let (socket, _) = listener.accept().await.unwrap();
        let mut new = server::handshake(socket).await.unwrap();
        while let Some(Ok((_, respond))) = new.accept().await {
            answer(respond, "new");
        }
    });
    let first = ask(&far, &url).await.unwrap();
    heard.notify_one();
    assert_eq!(whole(first).await, Err(SendError::Reset));
    assert_eq!(whole(ask(&far, &url).await.unwrap()).await, Ok("new".to_owned()));
}

fn answer(mut respond: server::SendResponse<Bytes>, text: &'static str) {
    let mut body = respond.send_response(Response::new(()), false).unwrap();
    body.send_data(Bytes::from_static(text.as_bytes()), true).unwrap();
}
