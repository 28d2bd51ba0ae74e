//! A key's text is told once, and is nowhere afterwards.

use bench_tests::{
    Scenario, Upstream,
    scenario::{KEY, question},
    upstream::{Api, Script, fails},
};
use http::Method;
use serde_json::json;

use super::{make, post, send};

/// Says, as an error, whatever it was sent.
fn echoes() -> Script {
    Script::by(|request| {
        let headers: Vec<String> =
            request.headers.iter().map(|(name, value)| format!("{name}: {value}")).collect();
        fails(500, "x", &format!("{} {} {}", request.path, headers.join(", "), request.json()))
    })
}

#[tokio::test]
async fn it_is_in_no_file_no_log_no_reply_and_no_request_of_ours() {
    let upstream = Upstream::start().await;
    for served in ["a", "b"] {
        upstream.model(served, echoes());
    }
    let mut scenario = Scenario::new()
        .endpoint("fake", &upstream.base())
        .key("FAKE_KEY", KEY)
        .model("alpha", "fake", "a")
        .endpoint("claude", &upstream.base_of(Api::Anthropic))
        .api("anthropic")
        .key("CLAUDE_KEY", KEY)
        .model("beta", "claude", "b")
        .collection("core", &["alpha", "beta"])
        .setting("keep_route_text", true);
    scenario.home.set("BENCH_LOG", "debug");
    let gateway = scenario.start().await;
    let key = make(&gateway, json!({"name": "desk"})).await;
    let lost = make(&gateway, json!({"name": "lost"})).await;
    gateway.command("revoke_key", &json!({"name": "lost"})).await;
    let (mut seen, mut coded) = (Vec::new(), Vec::new());
    let (chat, claude) = ("/v1/chat/completions", "/v1/messages");
    let turns = json!([{"role": "user", "content": "whom?"}]);
    let routed = json!({"model": "bench/core:route", "max_tokens": 9, "messages": turns});
    for key in [&key, &lost] {
        seen.push(post(&gateway, key, chat, &question("whom?")).await.text());
        for path in [chat, claude] {
            seen.push(post(&gateway, key, path, &routed).await.text());
            let bearer = format!("Bearer {key}");
            for name in ["x-api-key", "x-goog-api-key"] {
                let headers = [(name, key.as_str()), ("user-agent", bearer.as_str())];
                seen.push(send(&gateway, (&Method::POST, path), &headers, Some(&routed)).await.text());
            }
            for parameter in ["key", "api_key", "beta"] {
                let path = format!("{path}?{parameter}={key}");
                seen.push(send(&gateway, (&Method::POST, &path), &[], Some(&routed)).await.text());
            }
        }
        seen.push(send(&gateway, (&Method::GET, &format!("/v1/models/{key}")), &[], None).await.text());
        seen.push(send(&gateway, (&Method::GET, &format!("/nowhere/{key}")), &[], None).await.text());
        // As a URL may spell it: of the first characters, of one in the middle, of all.
        let all: String = key.bytes().map(|byte| format!("%{byte:02x}")).collect();
        let one = format!("{}%{:02X}{}", &key[..20], key.as_bytes()[20], &key[21..]);
        for spelled in [&format!("%62wk%5F{}", &key[4..]), &one, &all] {
            for path in [format!("/v1/models/{spelled}"), format!("/v1/responses/{spelled}")] {
                seen.push(send(&gateway, (&Method::GET, &path), &[], None).await.text());
            }
            coded.push((*spelled).clone());
        }
    }
    assert!(upstream.received().len() > 20, "{}", upstream.received().len());
    for received in upstream.received() {
        let told = format!("{} {:?} {}", received.path, received.headers, received.json());
        assert!(!told.contains("bwk_"), "{told}");
    }
    // A person pastes one into a question: whoever is asked gets it, and what is kept does not.
    let pasted = question(&format!("what is {key} for?"));
    seen.push(post(&gateway, &key, chat, &pasted).await.text());
    for (command, arguments) in [
        ("keys", json!({})),
        ("setup", json!({})),
        ("export_setup", json!({})),
        ("panels", json!({"before": null, "limit": 100})),
        ("conversations", json!({"before": null, "limit": 100})),
    ] {
        seen.push(gateway.command(command, &arguments).await.to_string());
    }
    for arguments in [&["key", "list"][..], &["--json", "key", "list"], &["log"], &["export"]] {
        let ran = gateway.bench(arguments).await.exits(0);
        seen.extend([ran.stdout, ran.stderr]);
    }
    let secrets = [&key, &lost].map(|key| key.trim_start_matches("bwk_").to_owned());
    for (at, text) in seen.iter().enumerate() {
        assert!(secrets.iter().all(|secret| !text.contains(secret)), "{at}: {text}");
    }
    let (home, _) = gateway.stop().await;
    let found =
        |bytes: &[u8], secret: &String| bytes.windows(secret.len()).any(|window| window == secret.as_bytes());
    for (path, bytes) in home.files() {
        assert!(!secrets.iter().any(|secret| found(&bytes, secret)), "a key is in {}", path.display());
    }
    let logs = home.logs();
    assert!(!secrets.iter().chain(&coded).any(|secret| logs.contains(secret)), "a key is in a log");
    assert!(logs.contains("path=\"/v1/models/\u{2022}\u{2022}\u{2022}\u{2022}\""), "{logs}");
    // Who called is.
    assert!(logs.contains("caller=\"desk\""), "{logs}");
}
