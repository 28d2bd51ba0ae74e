//! Reports of other projects that the gateway's own edges must survive, by the report's id. Which report is tried
//! where is listed in `src-tauri/wire/tests/wire_bugs/reports.txt`.

use async_compression::tokio::bufread::{DeflateEncoder, ZlibEncoder};
use bench_tests::{
    panel_of,
    scenario::{question, served},
    upstream::{Reply, answers, chunk, finish, stream, tokens},
};
use http::Method;
use serde_json::{Value, json};
use tokio::io::{AsyncRead, AsyncReadExt};

/// W149, W150: the path with its query, and everything that costs tokens counted.
#[tokio::test]
async fn w149_w150_a_count_has_the_system_the_tools_and_the_images_in_it() {
    let lab = panel_of([("alpha", answers("A").into())]).await;
    let count = async |body: &Value| {
        let answer = lab.http().post("/v1/messages/count_tokens?beta=true", body).await;
        assert_eq!(answer.status, 200, "{}", answer.text());
        answer.json()["input_tokens"].as_u64().expect("a count")
    };
    let mut body = json!({"model": "core", "messages": [{"role": "user", "content": "hi"}]});
    let bare = count(&body).await;
    body["system"] = json!("s".repeat(400));
    let with_system = count(&body).await;
    assert_eq!(with_system - bare, 110, "four characters a token and a tenth");
    let schema =
        json!({"type": "object", "properties": {"city": {"type": "string", "description": "d".repeat(400)}}});
    body["tools"] = json!([{"name": "weather", "description": "Tells it.", "input_schema": schema}]);
    let with_tools = count(&body).await;
    assert!(with_tools > with_system + 110, "{with_tools} of {with_system}");
    let source = json!({"type": "base64", "media_type": "image/png", "data": "iVBORw0KGgo="});
    body["messages"][0]["content"] =
        json!([{"type": "text", "text": "hi"}, {"type": "image", "source": source}]);
    assert_eq!(count(&body).await - with_tools, 2_500);
}

/// W157: what is not ASCII in a request never reaches a header as it is.
#[tokio::test]
async fn w157_headers_are_ascii_whatever_is_asked() {
    let lab = panel_of([("alpha", answers("A").into())]).await;
    let mut body = question("hi");
    body["小米/mimo"] = json!(1);
    let answer = lab.http().chat(&body).await;
    assert_eq!(answer.status, 200, "{}", answer.text());
    assert!(answer.header("x-bench-lossy").contains("not sent to members"), "{:?}", answer.headers);
    for (name, value) in &answer.headers {
        assert!(value.as_bytes().iter().all(|byte| (b' '..=b'~').contains(byte)), "{name}: {value:?}");
    }
    body["model"] = json!("小米/mimo");
    assert_eq!(lab.http().chat(&body).await.status, 404);
    let request = lab
        .http()
        .request(Method::POST, "/v1/chat/completions")
        .header("content-type", "application/json")
        .header("x-request-id", http::HeaderValue::from_bytes("小米".as_bytes()).expect("bytes"));
    let answer = lab.http().send(request, question("hi").to_string()).await;
    assert!(answer.header("x-request-id").is_ascii() && !answer.header("x-request-id").is_empty());
}

/// W158, W159, W184: of the caller's headers none goes on: not who it came through, not what was for this
/// connection alone, not another API's features.
#[tokio::test]
async fn w158_w159_w184_nothing_of_the_callers_head_reaches_a_provider() {
    let lab = panel_of([("alpha", answers("A").into())]).await;
    let body = question("hi").to_string();
    let head = format!(
        "POST /v1/chat/completions HTTP/1.1\r\nhost: {}\r\ncontent-type: application/json\r\n\
         connection: close, foo, upgrade\r\nfoo: 1\r\nupgrade: h2c\r\nkeep-alive: timeout=5\r\nte: trailers\r\n\
         proxy-connection: keep-alive\r\nforwarded: for=10.0.0.9\r\nvia: 1.1 proxy\r\nx-real-ip: 10.0.0.9\r\n\
         x-forwarded-for: 10.0.0.9\r\nx-forwarded-host: h\r\nx-forwarded-proto: https\r\n\
         anthropic-beta: interleaved-thinking-2025-05-14,x\r\nopenai-beta: y\r\ncontent-length: {}\r\n\r\n",
        lab.http().authority(),
        body.len()
    );
    let back = lab.http().raw((head + &body).as_bytes()).await;
    assert!(back.starts_with("HTTP/1.1 200"), "{back}");
    let sent = lab.upstream.arrived(&served("alpha"), 1).await;
    for name in [
        "foo",
        "upgrade",
        "keep-alive",
        "te",
        "proxy-connection",
        "forwarded",
        "via",
        "x-real-ip",
        "x-forwarded-for",
        "x-forwarded-host",
        "x-forwarded-proto",
        "anthropic-beta",
        "openai-beta",
    ] {
        assert_eq!(sent.header(name), None, "{name}");
    }
    assert!(!sent.header("connection").unwrap_or_default().contains("foo"), "{:?}", sent.headers);
}

/// W171: deflate is zlib's by the standard and bare in some servers' minds.
#[tokio::test]
async fn w171_deflate_from_a_provider_is_zlibs_or_bare() {
    let said = format!("{}{}data: [DONE]\n\n", chunk(json!({"content": "an answer"}), None), finish("stop"));
    let zlib = encoded(ZlibEncoder::new(said.as_bytes())).await;
    let bare = encoded(DeflateEncoder::new(said.as_bytes())).await;
    let failure = json!({"error": {"message": "no such field"}}).to_string();
    let failure = encoded(DeflateEncoder::new(failure.as_bytes())).await;
    let deflated = |status, kind: &str, body: Vec<u8>| {
        Reply::whole(status, kind, body).header("content-encoding", "deflate")
    };
    let lab = panel_of([
        ("zlib", deflated(200, "text/event-stream", zlib).into()),
        ("bare", deflated(200, "text/event-stream", bare).into()),
        ("failing", deflated(400, "application/json", failure).into()),
    ])
    .await;
    let reply = lab.http().chat(&question("hi")).await.json();
    let seats = reply["bench"]["seats"].as_array().expect("seats");
    let told: Vec<(&Value, &Value)> = seats.iter().map(|seat| (&seat["answer"], &seat["status"])).collect();
    assert_eq!(told[..2], [(&json!("an answer"), &json!("ok")), (&json!("an answer"), &json!("ok"))]);
    assert!(seats[2]["error"].as_str().is_some_and(|error| error.contains("no such field")), "{reply}");
}

/// W181, W190: what a provider says is kept and told as data: NUL in an answer, a page in place of one.
#[tokio::test]
async fn w181_w190_nul_is_kept_and_a_page_is_told_by_its_title() {
    let page =
        format!("<html><head><title>502 Bad Gateway</title></head>{}</html>", "<p>x</p>".repeat(7_500));
    let lab = panel_of([
        ("nul", tokens(["a\0", "b"]).into()),
        ("page", Reply::whole(502, "text/html", page).into()),
    ])
    .await;
    let reply = lab.http().chat(&question("a\0b")).await.json();
    let seats = reply["bench"]["seats"].as_array().expect("seats");
    assert_eq!(seats[0]["answer"], "a\0b");
    let error = seats[1]["error"].as_str().expect("an error");
    assert!(error.contains("502 Bad Gateway") && error.len() < 300, "{error}");
    let call = seats[0]["call"].as_str().expect("a call");
    let kept = crate::checks::recorded(&lab.gateway, call).await;
    assert_eq!(kept["answer"], "a\0b", "{kept}");
}

/// W180: a provider that says nonsense for ever is hung up on, and the panel ends.
#[tokio::test]
async fn w180_nonsense_without_an_end_frees_its_seat() {
    let nonsense = (0..200).fold(stream(), |reply, _| reply.send("data: {\"x\n\n"));
    let lab = panel_of([
        ("alpha", nonsense.step(bench_tests::upstream::Step::Stall).into()),
        ("beta", answers("B").into()),
    ])
    .await;
    let reply = lab.http().chat(&question("hi")).await.json();
    assert_eq!(reply["bench"]["seats"][0]["status"], "error", "{reply}");
    assert_eq!(reply["bench"]["seats"][1]["answer"], "B");
    lab.upstream.arrived(&served("alpha"), 1).await.hung_up().await;
}

async fn encoded(mut encoder: impl AsyncRead + Unpin) -> Vec<u8> {
    let mut out = Vec::new();
    encoder.read_to_end(&mut out).await.expect("it encodes");
    out
}
