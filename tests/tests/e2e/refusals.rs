//! What a panel cannot do, and bodies that are wrong: each with its status, its shape and the way out.

use bench_tests::{http::Answer, panel_of, scenario::question, upstream::answers};
use serde_json::{Value, json};

async fn lab() -> bench_tests::Lab {
    panel_of([("alpha", answers("A").into())]).await
}

/// The message of an error in the chat format's shape.
fn message(answer: &Answer, status: u16) -> String {
    assert_eq!(answer.status, status, "{}", answer.text());
    let error = &answer.json()["error"];
    for field in ["message", "type", "code"] {
        assert!(error[field].as_str().is_some_and(|text| !text.is_empty()), "{field} in {error}");
    }
    assert!(
        error["code"].as_str().is_some_and(|code| code.bytes().all(|b| b.is_ascii_lowercase() || b == b'_'))
    );
    assert_eq!(error.get("param"), Some(&Value::Null), "{error}");
    error["message"].as_str().unwrap_or_default().to_owned()
}

#[tokio::test]
async fn tools_have_no_place_in_a_panel() {
    let lab = lab().await;
    let mut body = question("hi");
    body["tools"] =
        json!([{"type": "function", "function": {"name": "get_time", "parameters": {"type": "object"}}}]);
    let said = lab.http().chat(&body).await.refusal(400, "invalid_request_error", "tools_in_panel");
    assert!(said.contains(":route"), "{said}");
    body["tools"] = json!([]);
    assert_eq!(lab.http().chat(&body).await.status, 200, "no tools are none");
    let mut body = question("hi");
    body["functions"] = json!([{"name": "get_time", "parameters": {"type": "object"}}]);
    assert!(message(&lab.http().chat(&body).await, 400).contains("functions"));
}

#[tokio::test]
async fn a_part_no_member_takes_is_refused() {
    let lab = lab().await;
    // A picture, when no member sees: 400 with every reason.
    let mut body = question("hi");
    let picture = json!({"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBORw0KGgo="}});
    body["messages"][0]["content"] = json!([{"type": "text", "text": "what is it?"}, picture]);
    let said = message(&lab.http().chat(&body).await, 400);
    assert!(said.contains("alpha") && said.contains("vision"), "{said}");
    for url in ["ftp://example.org/a.png", "file:///etc/passwd", "data:text/html;base64,PGI+", "a.png"] {
        body["messages"][0]["content"][1]["image_url"]["url"] = json!(url);
        let said = message(&lab.http().chat(&body).await, 400);
        assert!(said.contains("messages[0].content[1].image_url"), "{url}: {said}");
    }
}

#[tokio::test]
async fn tool_calls_and_results_are_an_agents() {
    let lab = lab().await;
    let call = json!({"id": "c1", "type": "function", "function": {"name": "f", "arguments": "{}"}});
    let mut body = question("hi");
    body["messages"] = json!([
        {"role": "user", "content": "hi"},
        {"role": "assistant", "content": null, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c1", "content": "42"},
    ]);
    let said = lab.http().chat(&body).await.refusal(400, "invalid_request_error", "tools_in_panel");
    assert!(said.contains(":route"), "{said}");
}

#[tokio::test]
async fn one_reply_a_request() {
    let lab = lab().await;
    let mut body = question("hi");
    body["n"] = json!(2);
    assert!(message(&lab.http().chat(&body).await, 400).contains('n'));
    body["n"] = json!(1);
    assert_eq!(lab.http().chat(&body).await.status, 200);
}

#[tokio::test]
async fn an_unknown_collection_or_none_lists_what_there_is() {
    let lab = lab().await;
    for model in ["bench/nope", "nope", "gpt-4o", "bench/", "bench/CORE!", "bench/core:sideways", "../core"] {
        let mut body = question("hi");
        body["model"] = json!(model);
        let said = lab.http().chat(&body).await.refusal(404, "not_found_error", "collection_not_found");
        assert!(said.contains("bench/core") && said.contains("everyday second opinions"), "{model}: {said}");
    }
    for body in [
        json!({"messages": question("hi")["messages"]}),
        json!({"model": "", "messages": question("hi")["messages"]}),
    ] {
        let said = message(&lab.http().chat(&body).await, 400);
        assert!(said.contains("bench/core") && said.contains("everyday second opinions"), "{said}");
    }
}

#[tokio::test]
async fn a_wrong_type_is_named_by_its_path() {
    let lab = lab().await;
    let user = |content: Value| json!([{"role": "user", "content": content}]);
    for (field, value, path) in [
        ("model", json!(7), "model"),
        ("model", json!(["core"]), "model"),
        ("messages", json!("hi"), "messages"),
        ("messages", json!({"role": "user"}), "messages"),
        ("messages", json!(["hi"]), "messages[0]"),
        (
            "messages",
            json!([{"role": "user", "content": "a"}, {"role": "user", "content": 5}]),
            "messages[1].content",
        ),
        ("messages", json!([{"role": 3, "content": "a"}]), "messages[0].role"),
        ("messages", json!([{"content": "a"}]), "messages[0].role"),
        ("messages", json!([{"role": "wizard", "content": "a"}]), "messages[0].role"),
        ("messages", user(json!(true)), "messages[0].content"),
        ("messages", user(json!({"text": "a"})), "messages[0].content"),
        (
            "messages",
            user(json!([{"type": "text", "text": "a"}, {"type": "text", "text": 5}])),
            "messages[0].content[1].text",
        ),
        ("messages", user(json!([7])), "messages[0].content[0]"),
        ("messages", user(json!([{"type": 7}])), "messages[0].content[0].type"),
        (
            "messages",
            user(json!([{"type": "image_url", "image_url": {"url": 5}}])),
            "messages[0].content[0].image_url.url",
        ),
        ("temperature", json!("hot"), "temperature"),
        ("top_p", json!([]), "top_p"),
        ("max_tokens", json!("many"), "max_tokens"),
        ("max_tokens", json!(-1), "max_tokens"),
        ("max_completion_tokens", json!(1.5), "max_completion_tokens"),
        ("stop", json!(5), "stop"),
        ("stream", json!("yes"), "stream"),
        ("stream_options", json!("usage"), "stream_options"),
        ("stream_options", json!({"include_usage": "yes"}), "stream_options.include_usage"),
        ("n", json!("one"), "n"),
        ("tools", json!({}), "tools"),
        ("with", json!("alpha"), "with"),
        ("with", json!([1]), "with[0]"),
        ("with", json!(vec!["a"; 33]), "with"),
        ("with", json!(["a", "b".repeat(65)]), "with[1]"),
        ("bench", json!([]), "bench"),
        ("bench", json!({"reply": 5}), "bench.reply"),
        ("bench", json!({"reply": "sometimes"}), "bench.reply"),
    ] {
        let mut body = question("hi");
        body[field] = value.clone();
        let said = message(&lab.http().chat(&body).await, 400);
        assert!(said.contains(path), "{field} = {value}: {path} is not in {said:?}");
        assert!(said.len() > path.len() + 5, "it says what was expected: {said:?}");
    }
    assert_eq!(lab.upstream.received().len(), 0, "nobody was asked");
}

#[tokio::test]
async fn null_is_absent() {
    let lab = lab().await;
    let mut body = question("hi");
    for field in [
        "tools",
        "functions",
        "stream",
        "stream_options",
        "n",
        "temperature",
        "max_tokens",
        "stop",
        "with",
        "bench",
    ] {
        body[field] = Value::Null;
    }
    let answer = lab.http().chat(&body).await;
    assert_eq!(answer.status, 200, "{}", answer.text());
}

#[tokio::test]
async fn a_body_that_is_no_object_is_a_400() {
    let lab = lab().await;
    for body in
        ["", "not json", "[]", "null", "7", "\"hi\"", "{\"model\":", "{\"model\":\"core\",}", "\u{feff}"]
    {
        let request = lab
            .http()
            .request(http::Method::POST, "/v1/chat/completions")
            .header("content-type", "application/json");
        let answer = lab.http().send(request, body).await;
        let said = message(&answer, 400);
        assert_eq!(answer.json()["error"]["type"], "invalid_request_error", "{body:?}");
        assert!(said.len() > 10, "{body:?}: {said}");
    }
    // Not UTF-8.
    let request = lab
        .http()
        .request(http::Method::POST, "/v1/chat/completions")
        .header("content-type", "application/json");
    message(&lab.http().send(request, &b"{\"model\":\"\xff\xfe\"}"[..]).await, 400);
    // Deeper than any stack.
    let deep = format!("{{\"model\":\"core\",\"messages\":{}{}}}", "[".repeat(100_000), "]".repeat(100_000));
    let request = lab
        .http()
        .request(http::Method::POST, "/v1/chat/completions")
        .header("content-type", "application/json");
    message(&lab.http().send(request, deep).await, 400);
    assert_eq!(lab.http().get("/health").await.status, 200);
}

#[tokio::test]
async fn nothing_to_ask_is_a_400() {
    let lab = lab().await;
    for messages in [
        json!([]),
        json!([{"role": "system", "content": "Be short."}]),
        json!([{"role": "user", "content": ""}]),
        json!([{"role": "user", "content": "  \n"}]),
        json!([{"role": "user", "content": []}]),
    ] {
        let mut body = question("hi");
        body["messages"] = messages.clone();
        let said = message(&lab.http().chat(&body).await, 400);
        assert!(said.contains("messages") || said.contains("text"), "{messages}: {said}");
    }
}

#[tokio::test]
async fn a_prompt_no_member_can_hold_is_a_413_that_names_them() {
    let upstream = bench_tests::Upstream::start().await;
    upstream.model("small", answers("A"));
    upstream.model("large", answers("B"));
    let scenario = bench_tests::Scenario::new()
        .endpoint("fake", &upstream.base())
        .model("small", "fake", "small")
        .facts(json!({"context_window": 4096}))
        .model("large", "fake", "large")
        .facts(json!({"context_window": 1_000_000}));
    let gateway = scenario
        .collection("core", &["small", "large"])
        .collection("lenient", &["small", "large"])
        .with("when_too_large", "skip")
        .start()
        .await;
    let mut body = question(&"word ".repeat(10_000));
    let said = message(&gateway.http.chat(&body).await, 413);
    assert!(said.contains("small") && said.contains("4096"), "{said}");
    body["model"] = json!("lenient");
    let reply = gateway.http.chat(&body).await.json();
    assert_eq!(reply["bench"]["seats"].as_array().map(Vec::len), Some(1), "{}", reply["bench"]);
    assert_eq!(reply["bench"]["skipped"][0]["alias"], "small");
}

#[tokio::test]
async fn nobody_to_seat_is_a_503_with_every_reason_or_a_400_when_images_are_why() {
    let upstream = bench_tests::Upstream::start().await;
    let gateway = bench_tests::Scenario::new()
        .endpoint("fake", &upstream.base())
        .model("eyes", "fake", "a")
        .model_with("role", "vision")
        .model("picker", "fake", "b")
        .model_with("role", "decision")
        .collection("core", &["picker"])
        .collection("gallery", &["eyes", "picker"])
        .start()
        .await;
    let said = message(&gateway.http.chat(&question("hi")).await, 503);
    assert!(said.contains("picker") && said.contains("decision"), "{said}");
    let mut body = question("hi");
    body["model"] = json!("bench/gallery");
    let said = message(&gateway.http.chat(&body).await, 400);
    assert!(said.contains("eyes") && said.contains("picker") && said.contains("image"), "{said}");
}
