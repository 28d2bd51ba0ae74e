//! HTTP/1.1 keep-alive and HTTP/2 without TLS.

use bench_tests::{panel_of, scenario::question, sse::EventStream, upstream::answers, within};
use bytes::Bytes;
use http::{Method, Request};
use http_body_util::Full;
use hyper_util::{client::legacy::Client, rt::TokioExecutor};
use tokio::io::{AsyncReadExt, AsyncWriteExt};

#[tokio::test]
async fn http_2_with_prior_knowledge() {
    let lab = panel_of([("alpha", answers("Answer of alpha.").into())]).await;
    let client: Client<_, Full<Bytes>> = Client::builder(TokioExecutor::new()).http2_only(true).build_http();
    let request = |method: Method, path: &str, body: String| {
        Request::builder()
            .method(method)
            .uri(format!("{}{path}", lab.http().url))
            .header("content-type", "application/json")
            .body(Full::new(Bytes::from(body)))
            .expect("a request")
    };
    let list = within("the list", client.request(request(Method::GET, "/v1/models", String::new())))
        .await
        .expect("h2");
    assert_eq!((list.version(), list.status().as_u16()), (http::Version::HTTP_2, 200));
    assert_eq!(bench_tests::http::whole(list).await.json()["data"][0]["id"], "bench/core");

    let mut body = question("hi");
    body["stream"] = serde_json::json!(true);
    let chat = request(Method::POST, "/v1/chat/completions", body.to_string());
    let streamed =
        EventStream::new(within("the stream", client.request(chat)).await.expect("h2")).rest().await;
    assert!(streamed.text().contains("Answer of alpha."), "{}", streamed.text());
    assert_eq!(streamed.data.last().map(String::as_str), Some("[DONE]"));

    let chat = request(Method::POST, "/v1/chat/completions", "{\"model\":7}".to_owned());
    let refused = bench_tests::http::whole(within("the 400", client.request(chat)).await.expect("h2")).await;
    assert_eq!(refused.status, 400);
}

#[tokio::test]
async fn one_connection_serves_request_after_request() {
    let lab = panel_of([("alpha", answers("Answer of alpha.").into())]).await;
    let mut connection = lab.http().connect().await;
    let host = lab.http().authority().to_owned();
    let body = question("hi").to_string();
    let requests = [
        (format!("GET /v1/models HTTP/1.1\r\nhost: {host}\r\n\r\n"), "bench/core"),
        (format!("GET /nope HTTP/1.1\r\nhost: {host}\r\n\r\n"), "not_found_error"),
        (
            format!(
                "POST /v1/chat/completions HTTP/1.1\r\nhost: {host}\r\ncontent-type: application/json\r\n\
                 content-length: {}\r\n\r\n{body}",
                body.len()
            ),
            "Answer of alpha.",
        ),
        (
            format!(
                "POST /v1/chat/completions HTTP/1.1\r\nhost: {host}\r\ncontent-type: application/json\r\ncontent-length: 2\r\n\r\n[]"
            ),
            "invalid_request_error",
        ),
        (format!("GET /health HTTP/1.1\r\nhost: {host}\r\n\r\n"), "\"ok\":true"),
    ];
    for (request, wanted) in requests {
        connection.write_all(request.as_bytes()).await.expect("written");
        let mut seen = String::new();
        while !seen.contains(wanted) {
            let mut piece = vec![0; 65536];
            let read = within(wanted, connection.read(&mut piece)).await.expect("read");
            assert_ne!(read, 0, "closed instead of {wanted:?}: {seen}");
            seen.push_str(&String::from_utf8_lossy(&piece[..read]));
        }
        assert!(!seen.to_lowercase().contains("connection: close"), "{seen}");
    }
}
