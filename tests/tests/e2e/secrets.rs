//! A key is in the environment and nowhere else.

use bench_tests::{
    panel_of,
    scenario::{KEY, question},
    upstream::{Script, answers, echoes_key, error_event, fails},
};
use serde_json::json;

use crate::checks::panel_id;

#[tokio::test]
async fn the_key_is_in_no_file_no_log_and_no_reply() {
    // Providers repeat keys in errors, in errors inside a stream, even in answers.
    let lab = panel_of([
        ("alpha", echoes_key()),
        ("beta", error_event(1, &format!("bad key {KEY} in use")).into()),
        ("gamma", fails(500, KEY, &format!("https://example.org/?key={KEY} failed")).into()),
        ("delta", answers("A clean answer.").into()),
    ])
    .await;
    let mut seen = Vec::new();
    seen.push(lab.http().chat(&question("hi")).await.text());
    seen.push(lab.http().stream(&question("hi")).await.rest().await.data.join("\n"));
    for (command, arguments) in [
        ("setup", json!({})),
        ("status", json!({})),
        ("export_setup", json!({})),
        ("owed", json!({})),
        ("panels", json!({"before": null, "limit": 10})),
        ("test_endpoint", json!({"name": "fake"})),
    ] {
        seen.push(lab.gateway.command(command, &arguments).await.to_string());
    }
    for arguments in [&["status"][..], &["export"], &["ask", "core", "hi"], &["--json", "ask", "core", "hi"]]
    {
        let ran = lab.gateway.bench(arguments).await;
        seen.push(ran.stdout);
        seen.push(ran.stderr);
    }
    for (at, text) in seen.iter().enumerate() {
        assert!(!text.contains(KEY), "{at}: {text}");
    }
    assert!(seen[0].contains("A clean answer."), "{}", seen[0]);
    // The key did go out, so it could have leaked.
    let sent = lab.upstream.received();
    assert!(sent.iter().any(|request| request.header("authorization") == Some(&format!("Bearer {KEY}"))));

    let (home, code) = lab.gateway.stop().await;
    assert_eq!(code, Some(0));
    let files = home.files();
    assert!(files.keys().any(|path| path.extension().is_some()), "{:?}", files.keys());
    for (path, bytes) in files {
        let found = bytes.windows(KEY.len()).any(|window| window == KEY.as_bytes());
        assert!(!found, "the key is in {}", path.display());
    }
    assert!(!home.logs().contains(KEY), "the key is in a log");
    assert!(!home.logs().contains("A clean answer."), "an answer is in a log");
}

/// Half a key is a leak too: wherever a text is cut, the key was masked before.
#[tokio::test]
async fn no_cut_leaves_part_of_the_key() {
    let part = &KEY[..12];
    // Around every length something is cut at (160, 200, 300, 500).
    let before: Vec<usize> = [160, 200, 300, 500].iter().flat_map(|at| at - 30..at + 6).step_by(6).collect();
    let echoes = |status: u16| {
        let before = before.clone();
        let asked = std::sync::atomic::AtomicUsize::new(0);
        Script::by(move |_| {
            let turn = asked.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
            fails(status, "x", &format!("{}{KEY}", "e ".repeat(before[turn % before.len()] / 2)))
        })
    };
    let lab = panel_of([("alpha", echoes(401)), ("beta", echoes(500))]).await;
    for _ in 0..before.len() {
        let reply = lab.http().chat(&question("hi")).await.text();
        assert!(reply.contains("e e e"), "{reply}");
        assert!(!reply.contains(part), "{reply}");
        let setup = lab.gateway.command("setup", &json!({})).await.to_string();
        assert!(setup.contains("was refused") && !setup.contains(part), "{setup}");
    }
    let (home, _) = lab.gateway.stop().await;
    for (path, bytes) in home.files() {
        let found = bytes.windows(part.len()).any(|window| window == part.as_bytes());
        assert!(!found, "part of the key is in {}", path.display());
    }
    assert!(!home.logs().contains(part), "part of the key is in a log");
}

/// A person pastes a key into a question, a system text or a note: the members get it, the records do not.
#[tokio::test]
async fn a_key_pasted_into_a_question_is_not_recorded() {
    let lab = panel_of([("alpha", answers("An answer.").into())]).await;
    let mut body = question(&format!("what is {KEY} for?"));
    body["messages"].as_array_mut().expect("messages").insert(0, json!({"role": "system", "content": KEY}));
    let id = panel_id(&lab.http().chat(&body).await.json());
    let verdict = json!({"call": format!("{id}.member1"), "useful": true, "note": KEY, "real": [KEY]});
    assert_eq!(lab.http().post("/bench/verdict", &verdict).await.status, 200);
    let sent = lab.upstream.received();
    assert!(sent.iter().any(|request| request.json()["messages"].to_string().contains(KEY)), "sent as asked");
    let panel = lab.gateway.command("panel", &json!({"id": id})).await;
    assert!(panel["prompt"].as_str().is_some_and(|prompt| prompt.starts_with("what is ")), "{panel}");
    let (home, _) = lab.gateway.stop().await;
    for (path, bytes) in home.files() {
        let found = bytes.windows(KEY.len()).any(|window| window == KEY.as_bytes());
        assert!(!found, "the key is in {}", path.display());
    }
}

#[tokio::test]
async fn the_access_log_holds_no_query_no_prompt_and_no_answer() {
    let upstream = bench_tests::Upstream::start().await;
    upstream.model("a", answers("A clean answer."));
    let mut scenario = bench_tests::Scenario::new()
        .endpoint("fake", &upstream.base())
        .model("alpha", "fake", "a")
        .collection("core", &["alpha"]);
    scenario.home.set("BENCH_LOG", "debug");
    let gateway = scenario.start().await;
    let answer =
        gateway.http.post("/v1/chat/completions?key=querysecret", &question("a private prompt")).await;
    assert_eq!(answer.status, 200);
    let (home, _) = gateway.stop().await;
    let logs = home.logs();
    assert!(logs.contains("/v1/chat/completions") && logs.contains("200"), "{logs}");
    for private in ["querysecret", "a private prompt", "A clean answer"] {
        assert!(!logs.contains(private), "{private} is in the log");
    }
}

/// Opening the encrypted file takes its time; a request that comes meanwhile is masked all the same.
#[tokio::test]
async fn a_key_pasted_before_the_keys_are_known_is_not_recorded() {
    let upstream = bench_tests::Upstream::start().await;
    upstream.model("a", answers("An answer."));
    let mut scenario = bench_tests::Scenario::new()
        .endpoint("fake", &upstream.base())
        .key("FAKE_KEY", KEY)
        .model("alpha", "fake", "a")
        .collection("core", &["alpha"]);
    let passphrase = "correct horse battery staple";
    scenario.home.bench_with(&["vault", "--passphrase-stdin"], passphrase).await.exits(0);
    scenario.home.set("BENCHWARMERS_VAULT_PASSPHRASE", passphrase);
    let gateway = scenario.start().await;
    let asked = json!({"model": "bench/core", "input": format!("what is {KEY} for?")});
    let answer = gateway.http.post("/v1/responses", &asked).await;
    assert_eq!(answer.status, 200, "{}", answer.text());
    let (home, _) = gateway.stop().await;
    for (path, bytes) in home.files() {
        let found = bytes.windows(KEY.len()).any(|window| window == KEY.as_bytes());
        assert!(!found, "the key is in {}", path.display());
    }
}
