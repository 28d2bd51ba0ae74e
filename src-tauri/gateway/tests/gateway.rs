//! The gateway as a program holds it: opened on a folder, served, watched, shut down.

#![expect(clippy::unwrap_used, reason = "a test's helper fails its test")]

use std::sync::{
    Arc,
    atomic::{AtomicI64, Ordering},
};

use axum::{Router, routing::get};
use gateway::{
    Ask, Clock, Gateway, OpenError, Options,
    view::{AlertKind, LiveEvent, PanelState, SeatStatus},
};
use tokio::io::{AsyncReadExt, AsyncWriteExt};

async fn open(dir: &std::path::Path) -> Result<Gateway, OpenError> {
    let options = Options { data_dir: dir.to_owned(), program: "test".to_owned(), clock: Clock::system() };
    Gateway::open(options).await
}

/// Sends raw bytes and reads until the connection ends.
async fn raw(address: std::net::SocketAddr, request: &str) -> String {
    let mut socket = tokio::net::TcpStream::connect(address).await.unwrap();
    socket.write_all(request.as_bytes()).await.unwrap();
    let mut answer = String::new();
    socket.read_to_string(&mut answer).await.unwrap();
    answer
}

#[tokio::test]
async fn a_panic_is_a_500_with_the_request_id_and_the_next_request_is_served() {
    async fn boom() -> &'static str {
        panic!("as the test wants it")
    }
    let folder = tempfile::tempdir().unwrap();
    let gateway = open(folder.path()).await.unwrap();
    let serving = gateway.serve(0, Some(Router::new().route("/ui/boom", get(boom)))).await.unwrap();
    let host = serving.address.to_string();
    let request =
        format!("GET /ui/boom HTTP/1.1\r\nHost: {host}\r\nx-request-id: mine-1\r\nConnection: close\r\n\r\n");
    let answer = raw(serving.address, &request).await;
    assert!(answer.starts_with("HTTP/1.1 500"), "{answer}");
    assert!(answer.contains("x-request-id: mine-1"), "{answer}");
    assert!(answer.contains("\"code\":\"internal\"") && answer.contains("mine-1"), "{answer}");
    assert!(!answer.contains("as the test wants it"), "a panic's text stays inside: {answer}");
    let health =
        raw(serving.address, "GET /health HTTP/1.1\r\nHost: anyone\r\nConnection: close\r\n\r\n").await;
    assert!(health.starts_with("HTTP/1.1 200"), "{health}");
    serving.shutdown().await;
}

#[tokio::test]
async fn a_taken_port_gives_the_next_free_one_and_says_so() {
    let folder = tempfile::tempdir().unwrap();
    let gateway = open(folder.path()).await.unwrap();
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let wanted = taken.local_addr().unwrap().port();
    let serving = gateway.serve(wanted, None).await.unwrap();
    assert_ne!(serving.address.port(), wanted);
    let alerts = gateway.alerts();
    assert_eq!(alerts.len(), 1);
    assert_eq!(alerts[0].kind, AlertKind::PortTaken);
    assert!(alerts[0].message.contains(&wanted.to_string()), "{}", alerts[0].message);
    assert!(alerts[0].message.contains(&serving.address.port().to_string()), "{}", alerts[0].message);
    serving.shutdown().await;
}

#[tokio::test]
async fn a_folder_has_one_owner_who_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let first = open(folder.path()).await.unwrap();
    let serving = first.serve(0, None).await.unwrap();
    let Err(OpenError::InUse { owner, .. }) = open(folder.path()).await else { panic!("it must be refused") };
    let owner = owner.unwrap();
    assert_eq!((owner.pid, owner.program.as_str()), (std::process::id(), "test"));
    assert_eq!(owner.url, serving.url());
    serving.shutdown().await;
    drop(first);
    open(folder.path()).await.unwrap();
}

/// Follows a panel by its events alone, as the window does: pieces joined are the answer, and none is missed
/// or told twice.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn events_tell_a_whole_panel() {
    let folder = tempfile::tempdir().unwrap();
    let gateway = open(folder.path()).await.unwrap();
    let serving = gateway.serve(0, None).await.unwrap();
    gateway.start_practice("test").await.unwrap();
    let mut events = gateway.events();
    let Some(LiveEvent::Snapshot { panels, .. }) = events.next().await else {
        panic!("a snapshot comes first")
    };
    assert!(panels.is_empty());

    let ask = Ask {
        collection: "practice".to_owned(),
        prompt: "Is zero even?".to_owned(),
        system: String::new(),
        client: "test".to_owned(),
        ..Ask::default()
    };
    let asked = gateway.ask(ask).unwrap();
    let mut answers: std::collections::HashMap<String, String> = Default::default();
    let ended = loop {
        match events.next().await.unwrap() {
            LiveEvent::PanelStarted { panel } => {
                assert_eq!((panel.id.as_str(), panel.state), (asked.panel.as_str(), PanelState::Running));
                assert!(panel.practice);
            }
            LiveEvent::SeatDelta { call, at, text, .. } => {
                let answer = answers.entry(call).or_default();
                assert_eq!(answer.encode_utf16().count(), at as usize, "no gap and no repeat");
                answer.push_str(&text);
            }
            LiveEvent::PanelEnded { panel } => break panel,
            _ => {}
        }
    };
    assert_eq!(ended.state, PanelState::Done);
    let seats: Vec<_> =
        ended.seats.iter().map(|seat| (seat.seat.as_str(), seat.alias.as_str(), seat.status)).collect();
    assert_eq!(
        seats,
        [
            ("member1", "practice-quick", SeatStatus::Ok),
            ("member2", "practice-thinker", SeatStatus::Ok),
            ("member3", "practice-contrarian", SeatStatus::Ok),
            ("member4", "practice-limited", SeatStatus::Error),
            ("explorer", "practice-newcomer", SeatStatus::Ok),
            ("member4.r1", "practice-substitute", SeatStatus::Ok),
        ]
    );
    let handover = &ended.failed_over[0];
    assert_eq!((handover.from.as_str(), handover.to.as_str()), ("practice-limited", "practice-substitute"));
    assert_eq!(ended.seats[5].stood_in_for.as_deref(), Some("practice-limited"));
    for seat in ended.seats.iter().filter(|seat| seat.status == SeatStatus::Ok) {
        assert_eq!(answers.get(&seat.call), Some(&seat.answer), "{}", seat.alias);
    }

    // A later listener finds it, whether it is on disk yet or not.
    let Some(LiveEvent::Snapshot { panels, .. }) = gateway.events().next().await else {
        panic!("a snapshot")
    };
    assert_eq!(panels.iter().map(|panel| panel.id.as_str()).collect::<Vec<_>>(), [asked.panel.as_str()]);
    serving.shutdown().await;
    while let Some(event) = events.next().await {
        assert!(!matches!(event, LiveEvent::PanelStarted { .. }), "nothing begins after the end");
    }
}

/// A response can be gone on from for as long as the owner says, whether upkeep has removed it or not.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_response_is_kept_for_so_many_days() {
    let folder = tempfile::tempdir().unwrap();
    let now = Arc::new(AtomicI64::new(1_795_967_101_250));
    let clock = Clock::from_fn({
        let now = now.clone();
        move || now.load(Ordering::Relaxed)
    });
    let options = Options { data_dir: folder.path().to_owned(), program: "test".to_owned(), clock };
    let gateway = Gateway::open(options).await.unwrap();
    let serving = gateway.serve(0, None).await.unwrap();
    gateway.start_practice("test").await.unwrap();
    let address = serving.address;
    let ask = async |method: &str, path: &str, body: &str| {
        let length = body.len();
        let request = format!(
            "{method} {path} HTTP/1.1\r\nHost: {address}\r\nContent-Type: application/json\r\n\
             Content-Length: {length}\r\nConnection: close\r\n\r\n{body}"
        );
        let answer = raw(address, &request).await;
        let (head, body) = answer.split_once("\r\n\r\n").unwrap();
        let status = head.split(' ').nth(1).unwrap().parse::<u16>().unwrap();
        (status, serde_json::from_str::<serde_json::Value>(body).unwrap())
    };
    let (status, reply) =
        ask("POST", "/v1/responses", r#"{"model":"practice","input":"Is zero even?"}"#).await;
    assert_eq!(status, 200, "{reply}");
    let id = reply["id"].as_str().unwrap();
    let goes_on = format!(r#"{{"model":"practice","input":"Why?","previous_response_id":"{id}"}}"#);
    let path = format!("/v1/responses/{id}");

    const DAY: i64 = 24 * 3600 * 1000;
    now.fetch_add(30 * DAY, Ordering::Relaxed);
    assert_eq!(ask("GET", &path, "").await, (200, reply.clone()));
    now.fetch_add(1, Ordering::Relaxed);
    for (method, path, body, code) in [
        ("GET", path.clone(), "", "response_not_found"),
        ("GET", format!("{path}/input_items"), "", "response_not_found"),
        ("DELETE", path.clone(), "", "response_not_found"),
        ("POST", "/v1/responses".to_owned(), goes_on.as_str(), "previous_response_not_found"),
    ] {
        let (status, refused) = ask(method, &path, body).await;
        assert_eq!((status, &refused["error"]["code"]), (404, &code.into()), "{method} {path}: {refused}");
        assert!(refused["error"]["message"].as_str().unwrap().contains("30 days"), "{refused}");
    }
    let longer = |setup: &mut plan::Setup| -> Result<(), std::convert::Infallible> {
        setup.settings.responses_days = 31;
        Ok(())
    };
    gateway.change_setup("test", longer).await.unwrap();
    assert_eq!(ask("GET", &path, "").await, (200, reply.clone()));
    serving.shutdown().await;
}

/// Shutting down waits for a panel that runs, and writes it down.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn shutting_down_lets_a_panel_finish() {
    let folder = tempfile::tempdir().unwrap();
    let gateway = open(folder.path()).await.unwrap();
    let serving = gateway.serve(0, None).await.unwrap();
    gateway.start_practice("test").await.unwrap();
    let ask = Ask {
        collection: "practice".to_owned(),
        prompt: "Still there?".to_owned(),
        system: String::new(),
        client: "test".to_owned(),
        ..Ask::default()
    };
    let asked = gateway.ask(ask).unwrap();
    serving.shutdown().await;
    drop(gateway);

    let again = open(folder.path()).await.unwrap();
    let panel = again.panel(&asked.panel).unwrap().unwrap();
    assert_eq!(panel.state, PanelState::Done);
    assert_eq!(panel.seats.iter().filter(|seat| seat.status == SeatStatus::Ok).count(), 5);
}
