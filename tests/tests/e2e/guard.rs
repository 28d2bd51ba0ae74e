//! Who may call: guard.md, with wire.md §7's statuses.

use bench_tests::{
    Lab, panel_of,
    scenario::question,
    upstream::{Script, answers},
};
use http::Method;
use serde_json::json;

async fn lab() -> Lab {
    panel_of([("alpha", answers("A").into())]).await
}

/// A raw GET with these header lines.
async fn get(lab: &Lab, path: &str, headers: &[&str]) -> String {
    let headers: String = headers.iter().map(|line| format!("{line}\r\n")).collect();
    lab.http().raw(format!("GET {path} HTTP/1.1\r\n{headers}connection: close\r\n\r\n").as_bytes()).await
}

fn status(raw: &str) -> u16 {
    raw.split(' ').nth(1).and_then(|code| code.parse().ok()).unwrap_or_else(|| panic!("no status in {raw:?}"))
}

#[tokio::test]
async fn a_foreign_host_is_refused_but_for_health() {
    let lab = lab().await;
    let port = lab.gateway.port();
    for host in [
        "evil.example".to_owned(),
        format!("evil.example:{port}"),
        "127.0.0.1:1".to_owned(),
        format!("127.0.0.1.evil.example:{port}"),
        format!("localhost.evil.example:{port}"),
        format!("evil@127.0.0.1:{port}x"),
        format!("192.168.0.9:{port}"),
    ] {
        let raw = get(&lab, "/v1/models", &[&format!("host: {host}")]).await;
        assert!(matches!(status(&raw), 400 | 403), "{host}: {raw}");
        if !host.contains('@') {
            assert_eq!(status(&raw), 403, "{host}: {raw}");
            assert!(raw.contains("\"permission_error\""), "{host}: {raw}");
        }
        assert!(!raw.contains("bench/core"), "{host} learns nothing: {raw}");
    }
    for host in [
        format!("127.0.0.1:{port}"),
        format!("localhost:{port}"),
        format!("LOCALHOST:{port}"),
        format!("[::1]:{port}"),
    ] {
        assert_eq!(status(&get(&lab, "/v1/models", &[&format!("host: {host}")]).await), 200, "{host}");
    }
    assert_eq!(status(&get(&lab, "/health", &["host: evil.example"]).await), 200);
    assert!(matches!(status(&get(&lab, "/v1/models", &[]).await), 400 | 403), "no Host at all");
}

#[tokio::test]
async fn a_foreign_origin_is_refused() {
    let lab = lab().await;
    let host = format!("host: {}", lab.http().authority());
    for header in [
        "origin: https://evil.example",
        "origin: null",
        "origin: http://127.0.0.1:1",
        "origin: http://localhost",
        "sec-fetch-site: cross-site",
        "sec-fetch-site: same-site",
    ] {
        let raw = get(&lab, "/v1/models", &[&host, header]).await;
        assert_eq!(status(&raw), 403, "{header}: {raw}");
        assert!(raw.contains("\"permission_error\""), "{header}: {raw}");
        assert!(!raw.to_lowercase().contains("access-control-allow-origin"), "{header}: {raw}");
    }
    let own = format!("origin: {}", lab.http().url);
    for header in [own.as_str(), "sec-fetch-site: same-origin", "sec-fetch-site: none"] {
        assert_eq!(status(&get(&lab, "/v1/models", &[&host, header]).await), 200, "{header}");
    }
    // A page's POST spends nothing.
    let request = lab
        .http()
        .request(Method::POST, "/v1/chat/completions")
        .header("content-type", "application/json")
        .header("origin", "https://evil.example");
    assert_eq!(lab.http().send(request, question("hi").to_string()).await.status, 403);
    assert_eq!(lab.upstream.received().len(), 0);
}

#[tokio::test]
async fn a_preflight_from_elsewhere_is_refused() {
    let lab = lab().await;
    let request = lab
        .http()
        .request(Method::OPTIONS, "/v1/chat/completions")
        .header("origin", "https://evil.example")
        .header("access-control-request-method", "POST")
        .header("access-control-request-headers", "content-type");
    let answer = lab.http().send(request, "").await;
    assert_eq!(answer.status, 403, "{}", answer.text());
    assert!(
        answer.headers.keys().all(|name| !name.as_str().starts_with("access-control-allow")),
        "{:?}",
        answer.headers
    );
}

#[tokio::test]
async fn a_post_is_json() {
    let lab = lab().await;
    let post = |headers: &[(&str, &str)]| {
        let mut request = lab.http().request(Method::POST, "/v1/chat/completions");
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        lab.http().send(request, question("hi").to_string())
    };
    for kind in [
        "text/plain",
        "text/plain;charset=UTF-8",
        "application/x-www-form-urlencoded",
        "multipart/form-data; boundary=x",
        "application/jsonx",
        "",
    ] {
        let answer = post(&[("content-type", kind)]).await;
        assert_eq!(answer.status, 415, "{kind:?}: {}", answer.text());
        let error = &answer.json()["error"];
        assert_eq!(error["type"], "invalid_request_error", "{error}");
        assert!(
            error["message"].as_str().is_some_and(|message| message.contains("application/json")),
            "{error}"
        );
    }
    assert_eq!(lab.upstream.received().len(), 0);
    for kind in [
        "application/json",
        "application/json; charset=utf-8",
        "Application/JSON",
        "application/json;profile=\"x\"",
    ] {
        assert_eq!(post(&[("content-type", kind)]).await.status, 200, "{kind}");
    }
    // None at all: some native clients. A browser always sends one of these beside it.
    assert_eq!(post(&[]).await.status, 200);
    let own = lab.http().url.clone();
    for header in [
        ("origin", own.as_str()),
        ("sec-fetch-site", "same-origin"),
        ("sec-fetch-mode", "no-cors"),
        ("sec-fetch-dest", "empty"),
    ] {
        assert_eq!(post(&[header]).await.status, 415, "{header:?}");
    }
}

#[tokio::test]
async fn past_20_mb_is_a_413_and_the_connection_lives_to_say_so() {
    let lab = lab().await;
    let filler = "a".repeat(21 << 20);
    let answer = lab.http().chat(&question(&filler)).await;
    let said = answer.refusal(413, "invalid_request_error", "too_large");
    assert!(said.contains("20 MB"), "{said}");

    // Chunked: the length is not known before it is too much.
    let mut chunked = format!(
        "POST /v1/chat/completions HTTP/1.1\r\nhost: {}\r\ncontent-type: application/json\r\n\
         transfer-encoding: chunked\r\nconnection: close\r\n\r\n",
        lab.http().authority()
    )
    .into_bytes();
    for _ in 0..21 {
        chunked.extend_from_slice(b"100000\r\n");
        chunked.resize(chunked.len() + (1 << 20), b' ');
        chunked.extend_from_slice(b"\r\n");
    }
    chunked.extend_from_slice(b"0\r\n\r\n");
    let raw = lab.http().raw(&chunked).await;
    assert_eq!(status(&raw), 413, "{raw}");

    // A claim is enough: nobody has to send it first.
    let claim = format!(
        "POST /v1/chat/completions HTTP/1.1\r\nhost: {}\r\ncontent-type: application/json\r\n\
         content-length: 99999999999\r\nconnection: close\r\n\r\n",
        lab.http().authority()
    );
    assert_eq!(status(&lab.http().raw(claim.as_bytes()).await), 413);
    assert_eq!(lab.upstream.received().len(), 0);
    assert_eq!(lab.http().chat(&question("hi")).await.status, 200);
}

#[tokio::test]
async fn just_under_20_mb_is_asked() {
    let length = Script::by(|request| answers(&request.body.len().to_string()));
    let lab = panel_of([("alpha", length)]).await;
    let filler = "a".repeat((20 << 20) - 1000);
    let answer = lab.http().chat(&question(&filler)).await;
    assert_eq!(answer.status, 200, "{}", answer.text().chars().take(300).collect::<String>());
    assert!(lab.upstream.received()[0].body.len() > filler.len());
}

#[tokio::test]
async fn a_body_in_chunks_is_read() {
    let lab = lab().await;
    let body = question("hi").to_string();
    let mut raw = format!(
        "POST /v1/chat/completions HTTP/1.1\r\nhost: {}\r\ncontent-type: application/json\r\n\
         transfer-encoding: chunked\r\nconnection: close\r\n\r\n",
        lab.http().authority()
    );
    for byte in body.chars() {
        raw.push_str(&format!("1\r\n{byte}\r\n"));
    }
    raw.push_str("0\r\n\r\n");
    let raw = lab.http().raw(raw.as_bytes()).await;
    assert_eq!(status(&raw), 200, "{raw}");
}

#[tokio::test]
async fn every_reply_carries_a_request_id() {
    let lab = lab().await;
    let with = |id: &[u8]| {
        let value = http::HeaderValue::from_bytes(id).expect("a header value");
        lab.http().send(lab.http().request(Method::GET, "/v1/models").header("x-request-id", value), "")
    };
    let longest = "x".repeat(128);
    for id in ["mine-1", "a b~!", longest.as_str()] {
        assert_eq!(with(id.as_bytes()).await.header("x-request-id"), id);
    }
    let too_long = "x".repeat(129);
    for id in [too_long.as_bytes(), "é".as_bytes(), b"", b"a\tb"] {
        let answer = with(id).await;
        let ours = answer.header("x-request-id");
        assert!(!ours.is_empty() && ours.as_bytes() != id && ours.len() <= 128, "{ours}");
    }
    let (one, other) = (lab.http().get("/v1/models").await, lab.http().get("/v1/models").await);
    assert_ne!(one.header("x-request-id"), other.header("x-request-id"));
    for path in ["/nope", "/health", "/", "/v1/models/nope", "/bench/calls/nope"] {
        assert!(!lab.http().get(path).await.header("x-request-id").is_empty(), "{path}");
    }
}

#[tokio::test]
async fn what_is_not_there_and_what_cannot_be_done() {
    let lab = lab().await;
    for path in ["/nope", "/v1/nope", "/bench", "/bench/nope", "/v2/models", "/%00", "/v1/chat"] {
        let answer = lab.http().get(path).await;
        assert_eq!(answer.status, 404, "{path}: {}", answer.text());
        assert_eq!(answer.json()["error"]["type"], "not_found_error", "{path}");
        assert!(answer.json()["error"]["message"].as_str().is_some_and(|said| said.len() > 10), "{path}");
    }
    for (method, path, allow) in [
        (Method::GET, "/v1/chat/completions", "POST"),
        (Method::DELETE, "/v1/models", "GET, HEAD"),
        (Method::PUT, "/v1/chat/completions", "POST"),
        (Method::GET, "/v1/messages", "POST"),
        (Method::GET, "/v1beta/models/bench/core:generateContent", "POST"),
        (Method::POST, "/api/tags", "GET, HEAD"),
        (Method::GET, "/bench/verdict", "POST"),
        (Method::PATCH, "/health", "GET, HEAD"),
    ] {
        let request = lab.http().request(method.clone(), path).header("content-type", "application/json");
        let answer = lab.http().send(request, "{}").await;
        assert_eq!(answer.status, 405, "{method} {path}: {}", answer.text());
        let reply = answer.json();
        let said = reply["error"]["message"].as_str().or(reply["error"].as_str()).unwrap_or_default();
        assert!(said.contains(allow), "{method} {path}: {reply}");
        assert_eq!(answer.header("allow"), allow, "{method} {path} says what is allowed");
    }
}

#[tokio::test]
async fn nonsense_on_the_wire_harms_nobody() {
    let lab = lab().await;
    for nonsense in [
        &b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03"[..],
        b"GET\r\n\r\n",
        b"GET / HTTP/9.9\r\n\r\n",
        b"\r\n\r\n\r\n",
    ] {
        use tokio::io::{AsyncReadExt, AsyncWriteExt};
        let mut stream = lab.http().connect().await;
        stream.write_all(nonsense).await.expect("written");
        stream.shutdown().await.expect("said");
        let mut back = Vec::new();
        let _ = bench_tests::within("the end of nonsense", stream.read_to_end(&mut back)).await;
    }
    assert_eq!(lab.http().chat(&question("hi")).await.status, 200);
}

#[tokio::test]
async fn a_head_has_room_for_64_kb() {
    let lab = lab().await;
    let host = format!("host: {}", lab.http().authority());
    let filler = |bytes: usize| format!("x-filler: {}", "a".repeat(bytes));
    let get = async |path: &str, bytes: usize| get(&lab, path, &[&host, &filler(bytes)]).await;
    assert_eq!(status(&get("/v1/models", 60 << 10).await), 200);
    for bytes in [70 << 10, 200 << 10] {
        let raw = get("/v1/models", bytes).await;
        assert_eq!(status(&raw), 431, "{bytes}: {raw}");
        assert!(raw.contains("\"code\":\"head_too_large\"") && raw.contains("64 KB"), "{bytes}: {raw}");
        assert!(raw.contains("\r\nx-request-id: req_"), "{bytes}: {raw}");
        let raw = get("/v1beta/models", bytes).await;
        assert!(status(&raw) == 431 && raw.contains("INVALID_ARGUMENT"), "{bytes}: {raw}");
    }
    // Nobody reads on for ever.
    let raw = get("/v1/models", 300 << 10).await;
    assert_eq!(status(&raw), 431, "{raw}");
}

#[tokio::test]
async fn the_control_api_wants_its_token_and_no_origin() {
    let lab = lab().await;
    let token =
        std::fs::read_to_string(lab.gateway.home.data().join("control.token")).expect("control.token");
    let right = format!("Bearer {}", token.trim());
    let post = |headers: Vec<(&str, String)>| {
        let mut request = lab
            .http()
            .request(Method::POST, "/bench/admin/status")
            .header("content-type", "application/json");
        for (name, value) in headers {
            request = request.header(name, value);
        }
        lab.http().send(request, "{}")
    };
    assert_eq!(post(vec![("authorization", right.clone())]).await.status, 200);
    assert!(matches!(post(vec![]).await.status.as_u16(), 401 | 403));
    assert!(matches!(post(vec![("authorization", "Bearer x".into())]).await.status.as_u16(), 401 | 403));
    let own = lab.http().url.clone();
    assert_eq!(post(vec![("authorization", right), ("origin", own)]).await.status, 403);

    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let file = std::fs::metadata(lab.gateway.home.data().join("control.token")).expect("control.token");
        assert_eq!(file.permissions().mode() & 0o777, 0o600);
    }
    let home = lab.gateway.kill().await;
    let again = home.serve().await;
    let new = std::fs::read_to_string(again.home.data().join("control.token")).expect("control.token");
    assert_ne!(token, new, "new at each start");
}

#[tokio::test]
async fn the_gateway_never_says_star() {
    let lab = lab().await;
    for path in ["/v1/models", "/health", "/"] {
        let answer = lab.http().get(path).await;
        assert_eq!(answer.header("access-control-allow-origin"), "", "{path}");
        assert_eq!(answer.header("access-control-allow-credentials"), "", "{path}");
    }
    assert_eq!(lab.http().post("/bench/verdict", &json!({})).await.header("access-control-allow-origin"), "");
}
