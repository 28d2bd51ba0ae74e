//! What callers get.

use libtest_mimic::Trial;
use wire::{
    ApiError, Dialect, EventEncoder, Kind, Origin, Reply, ReplyHead, Silence, Usage, format,
    relay::PublicEvents, sse,
};

use crate::trial;

pub fn trials() -> Vec<Trial> {
    let cases: [(&str, fn()); 8] = [
        ("W009 one data: prefix a line", || {
            let mut out = Vec::new();
            sse::write(&mut out, Some("x"), "{\"a\":\n1}");
            assert_eq!(text(out), "event: x\ndata: {\"a\":\ndata: 1}\n\n");
        }),
        ("W017 private events are left out of a relay, and every other byte stays", || {
            let public = [
                "event: response.created\r\ndata: {\"type\":\"response.created\", \"response\": {}}\r\n\r\n",
                ": a comment\n\n",
                "data: {\"type\":\"response.completed\",\"response\":{}}\n\n",
            ];
            let private = [
                "event: codex.rate_limits\r\ndata: {\"type\":\"codex.rate_limits\"}\r\n\r\n",
                "data: {\"type\":\"codex.response.metadata\"}\n\n",
                "event: responsesapi.websocket_timing\ndata: x\n\n",
            ];
            let sent: String =
                public.iter().zip(private).map(|(public, private)| format!("{private}{public}")).collect();
            for cut in 0..=sent.len() {
                let mut relay = PublicEvents::new(format(Dialect::Responses));
                let (before, after) = sent.as_bytes().split_at(cut);
                let out = [relay.push(before), relay.push(after), relay.end()].concat();
                assert_eq!(text(out), public.concat(), "cut at byte {cut}");
                assert_eq!(relay.dropped(), 3);
            }
        }),
        ("W018 a keep-alive is a comment", || {
            assert_eq!(text(encoder(false).keep_alive(Silence::Short)), ": keep-alive\n\n");
        }),
        ("W019 an answer holds no comment", || {
            let mut encoder = encoder(true);
            let mut out = encoder.text("hi");
            out.extend(encoder.finish(USAGE, None));
            assert!(text(out).lines().all(|line| line.is_empty() || line.starts_with("data: ")));
        }),
        ("W048 role first, finish alone, usage after it", || {
            let mut encoder = encoder(true);
            let mut out = encoder.text("a");
            out.extend(encoder.text("b"));
            out.extend(encoder.finish(USAGE, None));
            let head =
                r#"{"id":"chatcmpl-1","object":"chat.completion.chunk","created":7,"model":"bench/x:all""#;
            let chunks = [
                r#"[{"index":0,"delta":{"role":"assistant","content":"a"},"finish_reason":null}]"#,
                r#"[{"index":0,"delta":{"content":"b"},"finish_reason":null}]"#,
                r#"[{"index":0,"delta":{},"finish_reason":"stop"}]"#,
                r#"[],"usage":{"prompt_tokens":3,"completion_tokens":2,"total_tokens":5}"#,
            ];
            let wanted: String =
                chunks.iter().map(|choices| format!("data: {head},\"choices\":{choices}}}\n\n")).collect();
            assert_eq!(text(out), wanted + "data: [DONE]\n\n");
        }),
        ("W052 no usage for a client that did not ask", || {
            let mut encoder = encoder(false);
            let mut out = encoder.text("a");
            out.extend(encoder.finish(USAGE, None));
            let out = text(out);
            assert!(!out.contains("usage") && !out.contains("\"choices\":[]"), "{out}");
        }),
        ("W061 details are numbers or absent", || {
            let reply = format(Dialect::Chat).encode_reply(&head(), &Reply::of_text("a", USAGE), None);
            let reply: serde_json::Value = serde_json::from_slice(&reply).unwrap();
            assert_eq!(
                reply["usage"].to_string(),
                r#"{"prompt_tokens":3,"completion_tokens":2,"total_tokens":5}"#
            );
        }),
        ("W174 an error after the 200 is no normal end", || {
            let mut encoder = encoder(false);
            let error = ApiError::new(Kind::Upstream, Origin::Upstream, "no_answer", "no seat answered");
            assert_eq!(
                text(encoder.error(&error, None)),
                "data: {\"error\":{\"message\":\"no seat answered\",\"type\":\"server_error\",\"param\":null,\
                 \"code\":\"no_answer\"}}\n\ndata: [DONE]\n\n"
            );
        }),
    ];
    cases.into_iter().map(|(name, check)| trial(name.to_owned(), check)).collect()
}

const USAGE: Usage =
    Usage { input: Some(3), output: Some(2), reasoning: None, cache_read: None, cache_write: None };

fn head() -> ReplyHead {
    ReplyHead { id: "1".to_owned(), created: 7, model: "bench/x:all".to_owned(), ..ReplyHead::default() }
}

fn encoder(include_usage: bool) -> Box<dyn EventEncoder> {
    format(Dialect::Chat).encoder(ReplyHead { include_usage, ..head() })
}

fn text(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes).unwrap()
}
