//! What a panel's request may carry to which member: documents, sound, files kept elsewhere, vendors' tools.

use bench_tests::{
    Gateway, Scenario, Upstream, http::Answer, panel_of, scenario::question, upstream::answers,
};
use serde_json::{Value, json};

const PDF: &str = "JVBERi0xLjQK";

/// A panel of one chat member for each alias, with its facts.
async fn panel(members: &[(&str, Value)]) -> (Upstream, Gateway) {
    let upstream = Upstream::start().await;
    let mut scenario = Scenario::new().endpoint("fake", &upstream.base());
    for (alias, facts) in members {
        upstream.model(alias, answers("Read."));
        scenario = scenario.model(alias, "fake", alias).facts(facts.clone());
    }
    let aliases: Vec<&str> = members.iter().map(|(alias, _)| *alias).collect();
    let gateway = scenario.collection("core", &aliases).start().await;
    (upstream, gateway)
}

fn holding(part: Value) -> Value {
    let mut body = question("");
    body["messages"][0]["content"] = json!([{"type": "text", "text": "what is in it?"}, part]);
    body
}

fn file(name: &str, data_url: &str) -> Value {
    json!({"type": "file", "file": {"filename": name, "file_data": data_url}})
}

fn seated(answer: &Answer) -> Vec<String> {
    assert_eq!(answer.status, 200, "{}", answer.text());
    let reply = answer.json();
    let seats = reply["bench"]["seats"].as_array().expect("seats").clone();
    seats.iter().map(|seat| seat["alias"].as_str().unwrap_or_default().to_owned()).collect()
}

fn skipped(answer: &Answer) -> Vec<String> {
    let reply = answer.json();
    let skipped = reply["bench"]["skipped"].as_array().expect("skipped").clone();
    skipped
        .iter()
        .map(|skip| {
            let word = |name: &str| skip[name].as_str().unwrap_or_default().to_owned();
            format!("{}: {}", word("alias"), word("why"))
        })
        .collect()
}

#[tokio::test]
async fn documents_and_audio_go_to_who_takes_them() {
    let (upstream, gateway) = panel(&[
        ("reads", json!({"pdf": true})),
        ("hears", json!({"audio": true, "pdf": false})),
        ("unknown", json!({})),
    ])
    .await;
    let pdf = file("a.pdf", &format!("data:application/pdf;base64,{PDF}"));
    let answer = gateway.http.chat(&holding(pdf.clone())).await;
    assert_eq!(seated(&answer), ["reads"]);
    assert_eq!(
        skipped(&answer),
        [
            "hears: does not read documents; if it does, set the fact pdf on the model",
            "unknown: not known to read documents; if it does, set the fact pdf on the model",
        ]
    );
    let sent = upstream.arrived("reads", 1).await.json();
    assert_eq!(sent["messages"][0]["content"][1], pdf, "untouched");

    let sound = json!({"type": "input_audio", "input_audio": {"data": "UklGRg==", "format": "wav"}});
    let answer = gateway.http.chat(&holding(sound.clone())).await;
    assert_eq!(seated(&answer), ["hears"]);
    let sent = upstream.arrived("hears", 1).await.json();
    assert_eq!(sent["messages"][0]["content"][1], sound, "untouched");
    assert!(upstream.asked("unknown").is_empty());
}

#[tokio::test]
async fn a_document_of_text_goes_to_everybody_as_text() {
    let (upstream, gateway) = panel(&[("reads", json!({"pdf": true})), ("unknown", json!({}))]).await;
    // "alpha,1\nb\u{e9}ta,2"
    let answer =
        gateway.http.chat(&holding(file("a.csv", "data:text/csv;base64,YWxwaGEsMQpiw6l0YSwy"))).await;
    assert_eq!(seated(&answer), ["reads", "unknown"]);
    assert_eq!(answer.header("x-bench-lossy"), "");
    for alias in ["reads", "unknown"] {
        let sent = upstream.arrived(alias, 1).await.json();
        let part = json!({"type": "text", "text": "a.csv\n\nalpha,1\nb\u{e9}ta,2"});
        assert_eq!(sent["messages"][0]["content"][1], part);
    }
}

#[tokio::test]
async fn nobody_who_takes_it_is_a_400_with_every_reason() {
    let (upstream, gateway) =
        panel(&[("alpha", json!({"vision": true})), ("beta", json!({"pdf": false}))]).await;
    let pdf = file("a.pdf", &format!("data:application/pdf;base64,{PDF}"));
    let sound = json!({"type": "input_audio", "input_audio": {"data": "UklGRg==", "format": "wav"}});
    for (part, code, fact) in [(pdf, "documents_not_read", "pdf"), (sound, "audio_not_heard", "audio")] {
        let said = gateway.http.chat(&holding(part)).await.refusal(400, "invalid_request_error", code);
        assert!(said.contains("alpha: ") && said.contains("beta: "), "{said}");
        assert!(said.contains(&format!("set the fact {fact} on the model")), "{said}");
    }
    assert!(upstream.asked("alpha").is_empty() && upstream.asked("beta").is_empty());
}

/// A fact says what a model can; its API says what can be told to it.
#[tokio::test]
async fn a_member_whose_api_cannot_say_it_is_skipped() {
    let upstream = Upstream::start().await;
    upstream.model("sees", answers("A duck."));
    let facts = json!({"vision": true, "pdf": true, "audio": true});
    let gateway = Scenario::new()
        .endpoint("one", &upstream.base())
        .model("chat", "one", "sees")
        .facts(facts.clone())
        .endpoint("two", &upstream.base())
        .api("ollama")
        .model("local", "two", "sees")
        .facts(facts)
        .collection("core", &["chat", "local"])
        .collection("here", &["local"])
        .start()
        .await;
    let picture = json!({"type": "image_url", "image_url": {"url": "https://example.org/duck.png"}});
    let answer = gateway.http.chat(&holding(picture.clone())).await;
    assert_eq!(seated(&answer), ["chat"]);
    assert_eq!(skipped(&answer), ["local: its API takes no image by URL"]);
    let mut body = holding(picture);
    body["model"] = json!("bench/here");
    let said = gateway.http.chat(&body).await.refusal(400, "invalid_request_error", "content_not_taken");
    assert!(said.contains("local: its API takes no image by URL"), "{said}");
    // A part that only Gemini can say, and no member of it.
    let video = json!({"inlineData": {"mimeType": "video/mp4", "data": "AAAA"}});
    let body = json!({"contents": [{"parts": [{"text": "what happens?"}, video]}]});
    let answer = gateway.http.post("/v1beta/models/bench/core:generateContent", &body).await;
    assert_eq!(answer.status, 400, "{}", answer.text());
    assert!(answer.text().contains("chat: its API takes no video"), "{}", answer.text());
}

/// Nothing is relayed in a panel, so what another service keeps has no way to a member; nor have tools.
#[tokio::test]
async fn what_only_a_relay_or_an_agent_can_use_is_refused_by_its_field() {
    let lab = panel_of([("alpha", answers("A").into())]).await;
    let user = |content: Value| json!([{"role": "user", "content": content}]);
    let with = |name: &str, value: Value| {
        let mut body = json!({"model": "bench/core", "max_tokens": 9, "messages": user(json!("q"))});
        body[name] = value;
        body
    };
    let source = json!({"type": "file", "file_id": "file_1"});
    let ask = |name: &str, value: Value| {
        let mut body = json!({"model": "bench/core", "input": "q"});
        body[name] = value;
        body
    };
    let gemini = |name: &str, value: Value| {
        let mut body = json!({"contents": [{"parts": [{"text": "q"}]}]});
        body[name] = value;
        body
    };
    let generate = "/v1beta/models/bench/core:generateContent";
    for (path, body, field) in [
        (
            "/v1/chat/completions",
            with("messages", user(json!([file_by_id()]))),
            "messages[0].content[0].file.file_id",
        ),
        (
            "/v1/responses",
            ask("input", user(json!([{"type": "input_file", "file_id": "file_1"}]))),
            "input[0].content[0].file_id",
        ),
        (
            "/v1/messages",
            with("messages", user(json!([{"type": "document", "source": source}]))),
            "messages[0].content[0].source.file_id",
        ),
        (generate, gemini("cachedContent", json!("cachedContents/1")), "cachedContent"),
        ("/v1/chat/completions", with("tools", json!([{"type": "web_search"}])), "tools"),
        ("/v1/responses", ask("tools", json!([{"type": "web_search"}])), "tools"),
        (
            "/v1/responses",
            ask("input", json!([{"type": "web_search_call", "id": "w"}, {"role": "user", "content": "q"}])),
            "input[0]",
        ),
        (
            "/v1/messages",
            with("tools", json!([{"type": "web_search_20250305", "name": "web_search"}])),
            "tools",
        ),
        (generate, gemini("tools", json!([{"googleSearch": {}}])), "tools"),
        (generate, gemini("tools", json!([{"codeExecution": {}}])), "tools"),
        ("/api/chat", with("tools", json!([{"type": "function", "function": {"name": "f"}}])), "tools"),
        (
            "/api/chat",
            with(
                "messages",
                json!([{"role": "tool", "tool_name": "f", "content": "x"}, {"role": "user", "content": "q"}]),
            ),
            "messages[0]",
        ),
    ] {
        let answer = lab.http().post(path, &body).await;
        assert_eq!(answer.status, 400, "{path} {body}: {}", answer.text());
        let reply = answer.json();
        let said = reply["error"]["message"].as_str().or(reply["error"].as_str()).unwrap_or_default();
        assert!(said.starts_with(field) && said.contains("bench/core:route"), "{path}: {said}");
    }
    for (path, body) in [
        ("/v1/chat/completions", with("tools", json!([]))),
        ("/v1/responses", ask("tools", json!([]))),
        ("/v1/messages", with("tools", json!([]))),
        (generate, gemini("tools", json!([]))),
    ] {
        assert_eq!(lab.http().post(path, &body).await.status, 200, "{path}: no tools are none");
    }
}

fn file_by_id() -> Value {
    json!({"type": "file", "file": {"file_id": "file_1"}})
}

/// What is known of a served id, and what the owner knows better.
#[tokio::test]
async fn quirks_come_from_data_and_the_owner_has_the_last_word() {
    let upstream = Upstream::start().await;
    upstream.model("gpt-5-mini", answers("A"));
    let gateway = Scenario::new()
        .endpoint("fake", &upstream.base())
        .model("known", "fake", "gpt-5-mini")
        .model("told", "fake", "gpt-5-mini")
        .model_with("quirks", json!({"own_sampling": false, "completion_budget": false, "developer": true}))
        .collection("core", &["known"])
        .collection("own", &["told"])
        .start()
        .await;
    let body = |collection: &str| {
        json!({"model": collection, "max_tokens": 50, "temperature": 0.5, "bench": {"options": true},
            "messages": [{"role": "developer", "content": "short"}, {"role": "user", "content": "q"}]})
    };
    let answer = gateway.http.chat(&body("core")).await;
    assert_eq!(answer.status, 200, "{}", answer.text());
    let lossy = answer.header("x-bench-lossy");
    assert!(lossy.contains("temperature=this model samples as it likes"), "{lossy}");
    let sent = upstream.arrived("gpt-5-mini", 1).await.json();
    assert_eq!((&sent["max_completion_tokens"], sent.get("max_tokens")), (&json!(50), None));
    assert_eq!((sent.get("temperature"), &sent["messages"][0]["role"]), (None, &json!("system")));
    assert_eq!(gateway.http.chat(&body("own")).await.header("x-bench-lossy"), "");
    let sent = upstream.arrived("gpt-5-mini", 2).await.json();
    assert_eq!((&sent["max_tokens"], sent.get("max_completion_tokens")), (&json!(50), None));
    assert_eq!((&sent["temperature"], &sent["messages"][0]["role"]), (&json!(0.5), &json!("developer")));
}
