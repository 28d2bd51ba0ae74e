//! Request bodies in the codings of wire.md §1, whole and broken, on every route that takes a body.

use async_compression::{
    Level, brotli,
    tokio::bufread::{BrotliEncoder, DeflateEncoder, GzipEncoder, ZlibEncoder, ZstdEncoder},
    zstd::CParameter,
};
use bench_tests::{
    Lab, Reply,
    http::{Answer, whole},
    panel_of,
    scenario::question,
    upstream::{Framing, Step, answers},
    within,
};
use bytes::Bytes;
use http::{Method, Request};
use http_body_util::Full;
use hyper_util::{client::legacy::Client, rt::TokioExecutor};
use serde_json::{Value, json};
use tokio::io::{AsyncRead, AsyncReadExt};

const MB: usize = 1 << 20;

/// The bytes in this coding; `raw` is deflate without zlib's frame.
async fn coded(coding: &str, bytes: &[u8]) -> Vec<u8> {
    match coding {
        "gzip" => drained(GzipEncoder::with_quality(bytes, Level::Fastest)).await,
        "br" => drained(BrotliEncoder::with_quality(bytes, Level::Fastest)).await,
        "zlib" => drained(ZlibEncoder::new(bytes)).await,
        "raw" => drained(DeflateEncoder::new(bytes)).await,
        "zstd" => drained(ZstdEncoder::new(bytes)).await,
        other => panic!("no encoder for {other}"),
    }
}

async fn drained(mut encoder: impl AsyncRead + Unpin) -> Vec<u8> {
    let mut out = Vec::new();
    encoder.read_to_end(&mut out).await.expect("it encodes");
    out
}

/// The codings one after another.
async fn stacked(codings: &[&str], bytes: &[u8]) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    for coding in codings {
        bytes = coded(coding, &bytes).await;
    }
    bytes
}

async fn lab() -> Lab {
    panel_of([("alpha", answers("Answer of alpha.").into())]).await
}

async fn post(lab: &Lab, path: &str, stated: &[&str], body: Vec<u8>) -> Answer {
    let mut request = lab.http().request(Method::POST, path).header("content-type", "application/json");
    for coding in stated {
        request = request.header("content-encoding", *coding);
    }
    lab.http().send(request, body).await
}

async fn ask(lab: &Lab, stated: &[&str], body: Vec<u8>) -> Answer {
    post(lab, "/v1/chat/completions", stated, body).await
}

#[tokio::test]
async fn every_coding_is_read() {
    let lab = lab().await;
    let text = question("Does it arrive?").to_string();
    let plain = text.as_bytes();
    let (first, second) = plain.split_at(plain.len() / 2);
    let in_two = async |coding| [coded(coding, first).await, coded(coding, second).await].concat();
    // A frame that is to be skipped (RFC 8878 §3.1.2) lies between two that are not.
    let skippable = b"\x50\x2a\x4d\x18\x03\0\0\0abc";
    let skipped = [coded("zstd", first).await, skippable.to_vec(), coded("zstd", second).await].concat();
    let widest = brotli::EncoderParams::default().window_size(24);
    let widest = drained(BrotliEncoder::with_params(plain, widest)).await;
    let window_8_mb = drained(ZstdEncoder::with_quality_and_params(
        plain,
        Level::Default,
        &[CParameter::window_log(23), CParameter::checksum_flag(true)],
    ))
    .await;
    let cases: Vec<(&str, &[&str], Vec<u8>)> = vec![
        ("gzip", &["gzip"], coded("gzip", plain).await),
        ("in capitals", &["GZip"], coded("gzip", plain).await),
        ("its old name", &["x-gzip"], coded("gzip", plain).await),
        ("gzip in two members", &["gzip"], in_two("gzip").await),
        ("br", &["br"], coded("br", plain).await),
        ("br with its widest window", &["br"], widest),
        ("zlib", &["deflate"], coded("zlib", plain).await),
        ("bare deflate", &["deflate"], coded("raw", plain).await),
        ("zstd", &["zstd"], coded("zstd", plain).await),
        ("zstd in two frames", &["zstd"], skipped),
        ("zstd with the widest window allowed", &["zstd"], window_8_mb),
        ("none", &["identity"], plain.to_vec()),
        ("empty", &[""], plain.to_vec()),
        ("two", &["gzip, br"], stacked(&["gzip", "br"], plain).await),
        ("two in two headers", &["gzip", "br"], stacked(&["gzip", "br"], plain).await),
        ("three", &["deflate ,identity,, ZSTD , gzip"], stacked(&["raw", "zstd", "gzip"], plain).await),
    ];
    for (at, (name, stated, body)) in cases.into_iter().enumerate() {
        let answer = ask(&lab, stated, body).await;
        assert_eq!(answer.status, 200, "{name}: {}", answer.text());
        let asked = lab.upstream.received();
        assert_eq!(asked.len(), at + 1, "{name}");
        assert_eq!(asked[at].json()["messages"][0]["content"], "Does it arrive?", "{name}");
        assert_eq!(asked[at].header("content-encoding"), None, "{name}: the coding is the caller's");
    }
}

#[tokio::test]
async fn what_is_broken_is_a_400_that_names_the_header() {
    let lab = lab().await;
    let text = question("Does it arrive?").to_string();
    let plain = text.as_bytes();
    let mut cases: Vec<(String, &str, Vec<u8>)> = Vec::new();
    for (coding, stated) in
        [("gzip", "gzip"), ("br", "br"), ("zlib", "deflate"), ("raw", "deflate"), ("zstd", "zstd")]
    {
        let sound = coded(coding, plain).await;
        cases.push((format!("{coding} cut"), stated, sound[..sound.len() - 1].to_vec()));
        cases.push((format!("{coding} cut early"), stated, sound[..sound.len() / 2].to_vec()));
        cases.push((format!("{coding} with more behind it"), stated, [&sound, &b"junk"[..]].concat()));
        cases.push((format!("{coding} that is not"), stated, plain.to_vec()));
        cases.push((format!("{coding} without a byte"), stated, Vec::new()));
    }
    let damaged = async |coding, from_end: usize| {
        let mut sound = coded(coding, plain).await;
        let at = sound.len() - from_end;
        sound[at] ^= 1;
        sound
    };
    cases.push(("gzip with a wrong checksum".into(), "gzip", damaged("gzip", 8).await));
    cases.push(("gzip with a wrong length".into(), "gzip", damaged("gzip", 4).await));
    cases.push(("zlib with a wrong checksum".into(), "deflate", damaged("zlib", 1).await));
    let checked = [CParameter::checksum_flag(true)];
    let mut zstd = drained(ZstdEncoder::with_quality_and_params(plain, Level::Default, &checked)).await;
    *zstd.last_mut().expect("bytes") ^= 1;
    cases.push(("zstd with a wrong checksum".into(), "zstd", zstd));
    let dictionary = ZstdEncoder::with_dict(plain, Level::Default, plain).expect("a dictionary");
    cases.push(("zstd that needs a dictionary".into(), "zstd", drained(dictionary).await));
    let wide = [CParameter::window_log(24)];
    let wide = drained(ZstdEncoder::with_quality_and_params(plain, Level::Default, &wide)).await;
    cases.push(("zstd with a window of 16 MB".into(), "zstd", wide));
    // RFC 7932 §9.1: these bits are reserved; a large window is what they are used for.
    let large = [&[0x11, 0x1e][..], &coded("br", plain).await].concat();
    cases.push(("br with a large window".into(), "br", large));
    cases.push(("two, in the other order".into(), "br, gzip", stacked(&["gzip", "br"], plain).await));
    cases.push(("two, and only one is there".into(), "gzip, br", coded("br", plain).await));
    for (name, stated, body) in cases {
        let answer = ask(&lab, &[stated], body).await;
        let said = answer.refusal(400, "invalid_request_error", "content_encoding");
        assert!(said.starts_with("content-encoding: ") && said.contains(stated), "{name}: {said}");
    }
    assert_eq!(lab.upstream.received().len(), 0);
    let sound = coded("gzip", plain).await;
    assert_eq!(ask(&lab, &["gzip"], sound).await.status, 200);
}

#[tokio::test]
async fn an_unknown_coding_is_a_415_with_those_that_are_taken() {
    let lab = lab().await;
    let text = question("hi").to_string();
    for (stated, named) in [
        ("compress", "\"compress\""),
        ("aes128gcm", "\"aes128gcm\""),
        ("gzip, lzma", "\"lzma\""),
        ("dcb", "\"dcb\""),
        ("gzip;q=1", "\"gzip;q=1\""),
        ("gzip gzip", "\"gzip gzip\""),
        ("*", "\"*\""),
        ("gzip, gzip, gzip, gzip", "4 times"),
    ] {
        let answer = ask(&lab, &[stated], text.clone().into_bytes()).await;
        let said = answer.refusal(415, "invalid_request_error", "content_encoding");
        assert!(said.contains(named) && said.contains("gzip, br, deflate, zstd"), "{stated}: {said}");
        assert_eq!(answer.header("accept-encoding"), "gzip, br, deflate, zstd", "{stated}");
    }
    let gemini = post(&lab, "/v1beta/models/bench/core:generateContent", &["compress"], b"{}".to_vec()).await;
    assert_eq!(
        (gemini.status.as_u16(), &gemini.json()["error"]["status"]),
        (415, &json!("INVALID_ARGUMENT"))
    );
    // A caller that is still sending reads the refusal all the same.
    let long = vec![b' '; 8 * MB];
    assert_eq!(ask(&lab, &["compress"], long).await.status, 415);
    assert_eq!(lab.upstream.received().len(), 0);
}

#[tokio::test]
async fn the_cap_is_on_what_is_decoded() {
    let lab = lab().await;
    let mut first = question("hi").to_string().into_bytes();
    first.resize(MB, b' ');
    let spaces = vec![b' '; MB];
    for coding in ["gzip", "zstd"] {
        let rest = coded(coding, &spaces).await.repeat(19);
        let mut body = [coded(coding, &first).await, rest].concat();
        assert_eq!(ask(&lab, &[coding], body.clone()).await.status, 200, "{coding}");
        body.extend(coded(coding, b" ").await);
        let said = ask(&lab, &[coding], body).await;
        let said = said.refusal(413, "invalid_request_error", "too_large");
        assert!(said.contains("20 MB"), "{coding}: {said}");
    }
    // Stored, not compressed: the coded body is the larger one.
    let mut body = first;
    body.resize(20 * MB, b' ');
    let stored = drained(ZlibEncoder::with_quality(&body[..], Level::Precise(0))).await;
    assert!(stored.len() > body.len());
    assert_eq!(ask(&lab, &["deflate"], stored).await.status, 200);
    body.push(b' ');
    assert_eq!(ask(&lab, &["br"], coded("br", &body).await).await.status, 413);
    assert_eq!(lab.upstream.received().len(), 3);
}

#[tokio::test]
async fn a_bomb_stops_at_the_cap() {
    let lab = lab().await;
    let ten_mb = vec![b' '; 10 * MB];
    // 10 MB that become 10 GB, 0.4 MB that become 10 GB, and the same once more packed.
    let gzip = coded("gzip", &ten_mb).await.repeat(1000);
    let zstd = coded("zstd", &ten_mb).await.repeat(1000);
    let twice = coded("gzip", &zstd).await;
    // What lies between two codings is capped too: 10 GB of nothing.
    let nothing = coded("gzip", &coded("gzip", b"").await.repeat(500_000)).await.repeat(1000);
    for (name, stated, bomb) in [
        ("gzip", "gzip", gzip),
        ("zstd", "zstd", zstd),
        ("zstd in gzip", "zstd, gzip", twice),
        ("nothing in gzip in gzip", "gzip, gzip", nothing),
    ] {
        let answer = ask(&lab, &[stated], bomb).await;
        assert_eq!(answer.status, 413, "{name}: {}", answer.text());
    }
    #[cfg(target_os = "linux")]
    {
        let status = std::fs::read_to_string(format!("/proc/{}/status", lab.gateway.pid())).expect("it runs");
        let most = status.lines().find_map(|line| line.strip_prefix("VmHWM:")?.trim().strip_suffix(" kB"));
        let most: usize = most.and_then(|kb| kb.parse().ok()).expect("its most memory");
        assert!(most < 256 * 1024, "it held {most} kB at most");
    }
    assert_eq!(lab.upstream.received().len(), 0);
    assert_eq!(lab.http().chat(&question("hi")).await.status, 200);
}

#[tokio::test]
async fn every_route_with_a_body_reads_them() {
    let lab = lab().await;
    let messages = json!([{"role": "user", "content": "hi"}]);
    let gemini = json!({"contents": [{"parts": [{"text": "hi"}]}]});
    let cases: Vec<(&str, Value, u16)> = vec![
        ("/v1/chat/completions", question("hi"), 200),
        ("/v1/completions", json!({"model": "core", "prompt": "hi"}), 200),
        ("/v1/responses", json!({"model": "core", "input": "hi"}), 200),
        ("/v1/messages", json!({"model": "core", "max_tokens": 9, "messages": messages}), 200),
        ("/v1/messages/count_tokens", json!({"model": "core", "messages": messages}), 200),
        ("/api/chat", json!({"model": "core", "stream": false, "messages": messages}), 200),
        ("/api/generate", json!({"model": "core", "stream": false, "prompt": "hi"}), 200),
        ("/api/show", json!({"model": "core"}), 200),
        ("/v1beta/models/bench/core:generateContent", gemini.clone(), 200),
        ("/v1beta/models/bench/core:streamGenerateContent", gemini.clone(), 200),
        ("/v1beta/models/bench/core:countTokens", gemini, 200),
        ("/bench/verdict", json!({"call": "p1.member1", "useful": true}), 404),
    ];
    for (path, body, status) in cases {
        let answer = post(&lab, path, &["br"], coded("br", body.to_string().as_bytes()).await).await;
        assert_eq!(answer.status, status, "{path}: {}", answer.text());
        let broken = post(&lab, path, &["br"], b"{}".to_vec()).await;
        assert_eq!(broken.status, 400, "{path}: {}", broken.text());
        assert!(broken.text().contains("content-encoding: "), "{path}: {}", broken.text());
    }
}

/// What members are told is taken (`accept-encoding`) is read when it comes.
#[tokio::test]
async fn answers_in_every_coding_are_read() {
    let sent = answers("Answer of alpha.").steps.into_iter().map(|step| match step {
        Step::Send(bytes) => bytes,
        other => panic!("{other:?}"),
    });
    let sent = sent.collect::<Vec<_>>().concat();
    for (coding, stated) in [("gzip", "gzip"), ("br", "br"), ("zlib", "deflate"), ("zstd", "zstd")] {
        let body = coded(coding, &sent).await;
        let reply =
            Reply::whole(200, "text/event-stream", body).header("content-encoding", stated).bytewise();
        let lab = panel_of([("alpha", reply.framed(Framing::Chunked).into())]).await;
        let answer = lab.http().chat(&question("hi")).await;
        assert_eq!(answer.json()["bench"]["seats"][0]["answer"], "Answer of alpha.", "{}", answer.text());
        let told = lab.upstream.received()[0].header("accept-encoding").unwrap_or_default().to_owned();
        assert!(told.split(',').any(|taken| taken.trim() == stated), "{told}");
    }
}

#[tokio::test]
async fn coded_bodies_in_chunks_and_over_http_2() {
    let lab = lab().await;
    let text = question("hi").to_string();
    for (coding, stated) in
        [("gzip", "gzip"), ("br", "br"), ("zlib", "deflate"), ("raw", "deflate"), ("zstd", "zstd")]
    {
        let body = coded(coding, text.as_bytes()).await;
        let mut raw = format!(
            "POST /v1/chat/completions HTTP/1.1\r\nhost: {}\r\ncontent-type: application/json\r\n\
             content-encoding: {stated}\r\ntransfer-encoding: chunked\r\nconnection: close\r\n\r\n",
            lab.http().authority()
        )
        .into_bytes();
        for byte in &body {
            raw.extend_from_slice(&[b'1', b'\r', b'\n', *byte, b'\r', b'\n']);
        }
        raw.extend_from_slice(b"0\r\n\r\n");
        let answer = lab.http().raw(&raw).await;
        assert!(answer.starts_with("HTTP/1.1 200"), "{coding} a byte a chunk: {answer}");

        let client: Client<_, Full<Bytes>> =
            Client::builder(TokioExecutor::new()).http2_only(true).build_http();
        let request = Request::post(format!("{}/v1/chat/completions", lab.http().url))
            .header("content-type", "application/json")
            .header("content-encoding", stated)
            .body(Full::new(Bytes::from(body)))
            .expect("a request");
        let answer = whole(within("the answer", client.request(request)).await.expect("h2")).await;
        assert_eq!(answer.status, 200, "{coding} over h2: {}", answer.text());
    }
    assert_eq!(lab.upstream.received().len(), 10);
}
