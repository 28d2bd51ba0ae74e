//! The control API of a whole gateway, over HTTP: what is refused and how, and both halves together.
#![expect(
    clippy::unwrap_used,
    reason = "tests fail by panicking; clippy.toml spares only the functions marked as tests"
)]

use std::path::Path;

use control::dto::{Ask, CallId, GiveVerdict, Name, Nothing, PanelsBefore};
use control::view::{LiveEvent, PanelState, SeatStatus};
use control::{Code, Host, Remote, RemoteError, StartOptions};
use serde_json::Value;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

async fn start(data_dir: &Path, ui_dir: Option<&Path>) -> (Host, Remote) {
    let options = StartOptions {
        data_dir: Some(data_dir.to_owned()),
        port: Some(0),
        program: "control tests",
        ui_dir: ui_dir.map(Path::to_owned),
    };
    let host = Host::start(options).await.unwrap();
    let remote = Remote::with_token_of(data_dir, &host.url()).unwrap();
    (host, remote)
}

/// One request as bytes; the status and the body.
async fn send(host: &Host, head: &str, body: &str) -> (u16, String) {
    let mut stream = TcpStream::connect(("127.0.0.1", host.port())).await.unwrap();
    let length = body.len();
    let request = format!("{head}\r\nConnection: close\r\nContent-Length: {length}\r\n\r\n{body}");
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.unwrap();
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    (head.split(' ').nth(1).unwrap().parse().unwrap(), body.to_owned())
}

#[tokio::test]
async fn refusals_and_their_shapes() {
    let dir = tempfile::tempdir().unwrap();
    let ui = tempfile::tempdir().unwrap();
    std::fs::write(ui.path().join("index.html"), "<!doctype html>").unwrap();
    let (host, _) = start(dir.path(), Some(ui.path())).await;
    let token = std::fs::read_to_string(dir.path().join("control.token")).unwrap();
    let port = host.port();
    let ours = format!("Host: 127.0.0.1:{port}");
    let known = format!("{ours}\r\nContent-Type: application/json\r\nAuthorization: Bearer {token}");

    // Request line, headers, body; then status, code and field.
    let stale = known.replace(&token[..8], "00000000");
    let page = format!("{known}\r\nOrigin: http://127.0.0.1:{port}\r\nSec-Fetch-Site: same-origin");
    let foreign = format!("{known}\r\nOrigin: http://evil.example");
    let cases: &[(&str, &str, &str, u16, &str, Value)] = &[
        ("POST /bench/admin/status", &known, "{}", 200, "", Value::Null),
        ("POST /bench/admin/status", &known, "", 200, "", Value::Null),
        ("POST /bench/admin/status", &page, "{}", 200, "", Value::Null),
        ("POST /bench/admin/status", &stale, "{}", 401, "denied", Value::Null),
        ("GET /bench/admin/events", &ours, "", 401, "denied", Value::Null),
        ("POST /bench/admin/status", &foreign, "{}", 403, "*", Value::Null),
        ("POST /bench/admin/nothing", &known, "{}", 404, "not_found", Value::Null),
        ("GET /bench/admin/status", &known, "", 405, "*", Value::Null),
        ("POST /bench/admin/ask", &known, "{", 400, "bad_input", Value::Null),
        ("POST /bench/admin/ask", &known, "[1]", 400, "bad_input", Value::Null),
        (
            "POST /bench/admin/register_models",
            &known,
            r#"{"endpoint":"a","models":[{"served":1,"alias":"a"}]}"#,
            400,
            "bad_input",
            "models[0].served".into(),
        ),
        ("POST /bench/admin/test_endpoint", &known, r#"{"name":"none"}"#, 404, "not_found", Value::Null),
        (
            "POST /bench/admin/import_setup",
            &known,
            r#"{"text":"{\"version\":1,\"models\":[{\"alias\":\"a\",\"endpoint\":\"grok\",\"served\":\"x\"}]}"}"#,
            400,
            "bad_input",
            "models[0].endpoint".into(),
        ),
    ];
    for (line, headers, body, status, code, field) in cases {
        let (given, text) = send(&host, &format!("{line} HTTP/1.1\r\n{headers}"), body).await;
        assert_eq!(given, *status, "{line} {headers} {body}: {text}");
        assert!(!text.contains(&token), "{line}: the token is not echoed");
        // `*`: the guard's own shape.
        if !code.is_empty() && *code != "*" {
            let error = &serde_json::from_str::<Value>(&text).unwrap()["error"];
            assert_eq!(
                (error["code"].as_str(), &error["field"]),
                (Some(*code), field),
                "{line} {body}: {text}"
            );
            assert!(error["message"].as_str().is_some_and(|message| !message.is_empty()), "{line}");
        }
    }

    let rebound = known.replace(&ours, "Host: evil.example");
    let (status, _) = send(&host, &format!("POST /bench/admin/status HTTP/1.1\r\n{rebound}"), "{}").await;
    assert_eq!(status, 403, "a foreign Host");
    let (status, page) = send(&host, &format!("GET /ui/ HTTP/1.1\r\n{ours}"), "").await;
    assert_eq!((status, page.as_str()), (200, "<!doctype html>"));
    host.shutdown().await;
}

#[tokio::test]
async fn a_panel_from_asking_to_its_verdict() {
    let dir = tempfile::tempdir().unwrap();
    let (host, remote) = start(dir.path(), None).await;
    let found = Remote::owner_of(dir.path()).await.unwrap().unwrap();
    assert_eq!(found.url(), host.url());

    let practice = remote.start_practice(Nothing {}).await.unwrap();
    assert!(practice.practice, "{practice:?}");
    let mut events = remote.events().await.unwrap();
    let Some(LiveEvent::Snapshot { panels, .. }) = events.next().await.unwrap() else {
        panic!("no snapshot")
    };
    assert!(panels.is_empty());

    let ask = Ask {
        collection: practice.name.clone(),
        prompt: "Is zero even?".to_owned(),
        system: String::new(),
        images: Vec::new(),
        with: Vec::new(),
        reply: String::new(),
        client: "control tests".to_owned(),
    };
    let asked = remote.ask(ask).await.unwrap().panel;
    let (mut started, mut text) = (false, String::new());
    let ended = loop {
        match events.next().await.unwrap().expect("the gateway serves") {
            LiveEvent::PanelStarted { panel } => started = panel.id == asked,
            LiveEvent::SeatDelta { call, text: piece, .. } if call == format!("{asked}.member1") => {
                text += &piece
            }
            LiveEvent::PanelEnded { panel } => break panel,
            _ => {}
        }
    };
    assert!(started, "the panel began after the snapshot");
    assert_eq!(
        (ended.id.as_str(), ended.state, ended.client.as_str()),
        (asked.as_str(), PanelState::Done, "control tests")
    );
    let first = ended.seats.iter().find(|seat| seat.call == format!("{asked}.member1")).unwrap();
    assert_eq!((first.status, &first.answer), (SeatStatus::Ok, &text), "the pieces are the answer");

    let answered = ended.seats.iter().filter(|seat| seat.status == SeatStatus::Ok).count();
    assert_eq!(remote.owed(Nothing {}).await.unwrap().calls.len(), answered);
    let verdict = GiveVerdict {
        call: first.call.clone(),
        useful: true,
        note: None,
        real: Some(vec!["it is".to_owned()]),
        false_claims: None,
    };
    assert!(remote.give_verdict(verdict.clone()).await.unwrap().recorded);
    assert!(!remote.give_verdict(verdict).await.unwrap().recorded, "the same again writes nothing");
    let Some(LiveEvent::VerdictChanged { verdict: Some(given), owed, .. }) = events.next().await.unwrap()
    else {
        panic!("no verdict on the bus")
    };
    assert_eq!((given.useful, given.real, owed as usize), (true, vec!["it is".to_owned()], answered - 1));
    assert!(remote.clear_verdict(CallId { call: first.call.clone() }).await.unwrap().recorded);
    assert_eq!(remote.owed(Nothing {}).await.unwrap().calls.len(), answered);
    let page = remote.panels(PanelsBefore { before: None, limit: 10 }).await.unwrap();
    assert_eq!((page.panels.len(), page.more), (1, false));

    let error = remote.delete_endpoint(Name { name: "practice".to_owned() }).await.unwrap_err();
    assert!(matches!(&error, RemoteError::Refused(error) if error.code == Code::Conflict), "{error:?}");

    // The stream of events ends with the gateway, and nobody is found any more.
    host.shutdown().await;
    while let Some(event) = events.next().await.unwrap() {
        assert!(matches!(event, LiveEvent::VerdictChanged { verdict: None, .. }), "{event:?}");
    }
    assert!(Remote::owner_of(dir.path()).await.unwrap().is_none());
    let error = remote.status(Nothing {}).await.unwrap_err();
    assert!(matches!(error, RemoteError::NoServer { .. }), "{error:?}");
}
