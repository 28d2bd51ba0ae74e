//! A caller that is refused while it is still sending reads why: it never sees a reset instead.

use bench_tests::{Lab, http::whole, panel_of, upstream::answers, within};
use bytes::Bytes;
use http::Request;
use http_body_util::Full;
use hyper_util::{client::legacy::Client, rt::TokioExecutor};
use tokio::io::{AsyncReadExt, AsyncWriteExt};

const MB: usize = 1 << 20;

async fn lab() -> Lab {
    panel_of([("alpha", answers("Answer of alpha.").into())]).await
}

/// Sends it all, and only then reads: what most clients do.
async fn sent_then_read(lab: &Lab, head: &str, rest: usize) -> String {
    let mut socket = lab.http().connect().await;
    let head = head.replace("HOST", lab.http().authority());
    within("the head", socket.write_all(head.as_bytes())).await.expect("the head is taken");
    let piece = vec![b'a'; MB];
    for _ in 0..rest / MB {
        within("a piece", socket.write_all(&piece)).await.expect("the gateway goes on reading");
    }
    let mut back = Vec::new();
    within("the reply", socket.read_to_end(&mut back)).await.expect("no reset");
    String::from_utf8_lossy(&back).into_owned()
}

#[tokio::test]
async fn a_refusal_is_read_after_whatever_was_sent() {
    let lab = lab().await;
    // More than any buffer between the two holds, and more than is read before the reply.
    let length = 160 * MB;
    let post = |path: &str, header: &str| {
        format!("POST {path} HTTP/1.1\r\nhost: HOST\r\n{header}\r\ncontent-length: {length}\r\n\r\n")
    };
    let json = "content-type: application/json";
    let chunked =
        format!("POST /v1/messages HTTP/1.1\r\nhost: HOST\r\n{json}\r\ntransfer-encoding: chunked\r\n");
    for (what, head, status) in [
        ("too large", post("/v1/chat/completions", json), "413"),
        ("no JSON", post("/v1/chat/completions", "content-type: text/plain"), "415"),
        ("no path", post("/v1/nowhere", json), "404"),
        ("a foreign page", post("/v1/messages", &format!("{json}\r\norigin: https://a.example")), "403"),
        ("no coding of ours", post("/api/chat", &format!("{json}\r\ncontent-encoding: compress")), "415"),
        ("a chunk too large", format!("{chunked}\r\n{length:x}\r\n"), "413"),
        ("a head without end", "GET /v1/models HTTP/1.1\r\nhost: HOST\r\nx-long: ".to_owned(), "431"),
        ("no HTTP", "hello\r\n".to_owned(), "400"),
    ] {
        let reply = sent_then_read(&lab, &head, length).await;
        assert!(reply.starts_with(&format!("HTTP/1.1 {status} ")), "{what}: {reply:.300}");
    }
}

#[tokio::test]
async fn over_http_2_too() {
    let lab = lab().await;
    let client: Client<_, Full<Bytes>> = Client::builder(TokioExecutor::new()).http2_only(true).build_http();
    let long = Bytes::from(vec![b'a'; 160 * MB]);
    for (content_type, status) in [("application/json", 413), ("text/plain", 415)] {
        let request = Request::post(format!("{}/v1/messages", lab.http().url))
            .header("content-type", content_type)
            .body(Full::new(long.clone()))
            .expect("a request");
        let answer = whole(within("the answer", client.request(request)).await.expect("no reset")).await;
        assert_eq!(answer.status, status, "{}", answer.text());
        assert_eq!(answer.json()["type"], "error");
    }
}
