//! The caller's half against scripted answers; the two halves together are in `tests/http.rs`.

use axum::Router;
use axum::body::Body;
use axum::routing::{get, post};
use bytes::Bytes;
use gateway::view::LiveEvent;
use http::{HeaderMap, StatusCode};
use serde_json::Value;
use tokio::net::TcpListener;
use tokio::task::JoinSet;

use super::{Remote, RemoteError};
use crate::Code;
use crate::dto::Nothing;

/// Serves `app` until the set is dropped.
async fn serve(app: Router) -> (Remote, JoinSet<()>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/", listener.local_addr().unwrap());
    let mut serving = JoinSet::new();
    serving.spawn(async move { axum::serve(listener, app).await.unwrap() });
    (Remote::new(&url, "token\n").unwrap(), serving)
}

async fn answered(status: u16, body: &'static str) -> RemoteError {
    let status = StatusCode::from_u16(status).unwrap();
    let (remote, _serving) =
        serve(Router::new().route("/bench/admin/status", post(move || async move { (status, body) }))).await;
    remote.status(Nothing {}).await.unwrap_err()
}

#[test]
fn addresses() {
    let cases = [
        ("http://127.0.0.1:8123", Some("http://127.0.0.1:8123")),
        ("http://127.0.0.1:8123/v1/", Some("http://127.0.0.1:8123")),
        ("http://localhost", Some("http://localhost:80")),
        ("http://[::1]:8123", Some("http://[::1]:8123")),
        ("https://127.0.0.1:8123", None),
        ("127.0.0.1:8123", None),
        ("bench", None),
        ("", None),
    ];
    for (given, wanted) in cases {
        let url = Remote::new(given, "t").ok().map(|remote| remote.url().to_owned());
        assert_eq!(url.as_deref(), wanted, "{given}");
    }
}

#[tokio::test]
async fn what_is_sent() {
    let app = Router::new().route(
        "/bench/admin/echo",
        post(|headers: HeaderMap, body: String| async move {
            let header = |name: &str| headers.get(name).unwrap().to_str().unwrap().to_owned();
            serde_json::json!([header("authorization"), header("content-type"), body]).to_string()
        }),
    );
    let (remote, _serving) = serve(app).await;
    let sent: Value = remote.call("echo", &serde_json::json!({"a": 1})).await.unwrap();
    assert_eq!(sent, serde_json::json!(["Bearer token", "application/json", "{\"a\":1}"]));
    assert!(!format!("{remote:?}").contains("token\""), "{remote:?}");
}

#[tokio::test]
async fn refusals() {
    let body = r#"{"error":{"code":"conflict","message":"It is a member of core.","field":"name"}}"#;
    let RemoteError::Refused(error) = answered(409, body).await else { panic!("not a refusal") };
    assert_eq!((error.code, error.field.as_deref()), (Code::Conflict, Some("name")));
    assert_eq!(error.message, "It is a member of core.");

    // A code of a newer gateway, and the guard's own shape: the words survive.
    let body = r#"{"error":{"code":"too_new","message":"Something new."}}"#;
    assert_eq!(answered(418, body).await.to_string(), "Something new.");

    let stranger = answered(404, "<html>not found</html>").await;
    assert!(
        matches!(&stranger, RemoteError::Unexpected { what, .. } if what == "404 Not Found"),
        "{stranger:?}"
    );
    let stranger = answered(200, "{}").await;
    assert!(matches!(&stranger, RemoteError::Unexpected { .. }), "{stranger:?}");
}

#[tokio::test]
async fn nobody_there() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    drop(listener);
    let error = Remote::new(&url, "t").unwrap().status(Nothing {}).await.unwrap_err();
    assert!(matches!(&error, RemoteError::NoServer { .. }), "{error:?}");
    assert!(error.to_string().starts_with(&format!("no gateway answers at {url}: ")), "{error}");
}

#[tokio::test]
async fn owners() {
    let dir = tempfile::tempdir().unwrap();
    let owner = |url: &str| {
        let text = serde_json::json!({"pid": 1, "program": "bench serve", "url": url}).to_string();
        std::fs::write(dir.path().join("owner.json"), text).unwrap();
    };
    assert!(Remote::owner_of(dir.path()).await.unwrap().is_none(), "an empty folder");
    owner("");
    assert!(Remote::owner_of(dir.path()).await.unwrap().is_none(), "an owner that does not listen yet");
    let (remote, _serving) = serve(Router::new()).await;
    owner(remote.url());
    assert!(Remote::owner_of(dir.path()).await.unwrap().is_none(), "no token");
    std::fs::write(dir.path().join("control.token"), "t").unwrap();
    assert!(Remote::owner_of(dir.path()).await.unwrap().is_none(), "another program has the port");
    std::fs::write(dir.path().join("owner.json"), "{").unwrap();
    assert!(Remote::owner_of(dir.path()).await.unwrap().is_none(), "half a note");
}

#[test]
fn the_folders_token_is_for_its_owner_on_this_machine() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("control.token"), "t").unwrap();
    let cases = [
        ("http://127.0.0.1:8123", "http://127.0.0.1:8123/", Some("http://127.0.0.1:8123")),
        ("http://127.0.0.1:8123", "http://localhost:8123", Some("http://127.0.0.1:8123")),
        ("http://[::1]:8123", "http://[::1]:8123", Some("http://[::1]:8123")),
        ("http://127.0.0.1:8123", "http://127.0.0.1:8124", None),
        ("http://127.0.0.1:8123", "http://localhost:8124", None),
        ("http://127.0.0.1:8123", "http://127.0.0.1", None),
        ("http://127.0.0.1:8123", "http://127.0.0.2:8123", None),
        ("http://127.0.0.1:8123", "http://127.0.0.1:8123@example.org:8123", None),
        ("http://127.0.0.1:8123", "http://192.0.2.1:8123", None),
        // Whoever wrote the note.
        ("http://192.0.2.1:8123", "http://192.0.2.1:8123", None),
        ("http://example.org:8123", "http://localhost:8123", None),
        ("", "http://127.0.0.1:8123", None),
    ];
    for (owner, url, wanted) in cases {
        let note = serde_json::json!({"pid": 1, "program": "bench serve", "url": owner}).to_string();
        std::fs::write(dir.path().join("owner.json"), note).unwrap();
        let remote = Remote::owner_at(dir.path(), url).unwrap();
        assert_eq!(remote.as_ref().map(Remote::url), wanted, "{url}, owned by {owner}");
    }
    assert!(matches!(Remote::owner_at(dir.path(), "bench"), Err(RemoteError::Address { .. })));
}

#[tokio::test]
async fn events_cut_anywhere() {
    let text = "{\"type\":\"setup_changed\"}\n\n\n{\"type\":\"seat_delta\",\"panel\":\"p\",\"call\":\"p.member1\",\
                \"at\":3,\"text\":\"é\\n\"}\n{\"type\":\"missed\"}\n";
    for size in [1, 2, 7, text.len()] {
        let app = Router::new().route(
            "/bench/admin/events",
            get(move || async move {
                let pieces = text
                    .as_bytes()
                    .chunks(size)
                    .map(|piece| Ok::<_, std::io::Error>(Bytes::from_static(piece)));
                Body::from_stream(futures_util::stream::iter(pieces.collect::<Vec<_>>()))
            }),
        );
        let (remote, _serving) = serve(app).await;
        let mut events = remote.events().await.unwrap();
        assert!(matches!(events.next().await.unwrap(), Some(LiveEvent::SetupChanged {})), "{size}");
        let Some(LiveEvent::SeatDelta { at, text, .. }) = events.next().await.unwrap() else {
            panic!("{size}")
        };
        assert_eq!((at, text.as_str()), (3, "é\n"), "{size}");
        assert!(matches!(events.next().await.unwrap(), Some(LiveEvent::Missed {})), "{size}");
        assert!(events.next().await.unwrap().is_none(), "{size}");
    }
}

#[tokio::test]
async fn events_refused() {
    let (remote, _serving) = serve(Router::new()).await;
    let error = remote.events().await.err().unwrap();
    assert!(matches!(&error, RemoteError::Unexpected { what, .. } if what == "404 Not Found"), "{error:?}");
}
