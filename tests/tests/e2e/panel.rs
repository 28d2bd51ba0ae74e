//! A panel, whole: wire.md §5.

use bench_tests::{
    panel_of,
    scenario::{KEY, question, served},
    upstream::{Script, TOKENS_IN, answers, chunk, fails, finish, stream, tokens},
};
use serde_json::{Value, json};

use crate::checks::{content, is_panel_id, panel_id, seat, seats};

#[tokio::test]
async fn the_reply_is_a_chat_completion_with_the_panel_beside_it() {
    let lab = panel_of([
        ("alpha", tokens(["Ask ", "the ", "lake."]).into()),
        ("beta", tokens(["Ask the sea."]).into()),
    ])
    .await;
    let answer = lab.http().chat(&question("whom?")).await;
    assert_eq!(answer.status, 200, "{}", answer.text());
    assert_eq!(answer.header("content-type").split(';').next(), Some("application/json"));
    let reply = answer.json();

    assert!(reply["id"].as_str().is_some_and(|id| id.starts_with("chatcmpl-")), "{}", reply["id"]);
    assert_eq!(reply["object"], "chat.completion");
    assert!(reply["created"].is_u64());
    assert_eq!(reply["model"], "bench/core");
    assert_eq!(reply["choices"].as_array().map(Vec::len), Some(1));
    assert_eq!(reply["choices"][0]["index"], 0);
    assert_eq!(reply["choices"][0]["message"]["role"], "assistant");
    assert_eq!(reply["choices"][0]["finish_reason"], "stop");
    let usage = &reply["usage"];
    assert_eq!(usage["prompt_tokens"], 2 * TOKENS_IN);
    assert_eq!(usage["completion_tokens"], 4);
    assert_eq!(usage["total_tokens"], 2 * TOKENS_IN + 4);

    let id = panel_id(&reply);
    assert!(is_panel_id(&id), "{id}");
    assert_eq!(answer.header("x-bench-panel"), id);
    assert!(
        answer.header("x-bench-overhead-ms").parse::<f64>().is_ok_and(|ms| ms >= 0.0),
        "{:?}",
        answer.headers
    );
    let bench = &reply["bench"];
    assert_eq!(bench["collection"], "bench/core");
    assert_eq!(bench["shape"], "general");
    assert!(bench["shape_by"].as_str().is_some_and(|by| !by.is_empty()), "{bench}");
    assert_eq!(bench["reply"], "all");
    assert_eq!(bench["merger"], Value::Null);
    assert_eq!(bench["note"], Value::Null);
    assert_eq!(bench["skipped"], json!([]));
    assert_eq!(bench["failed_over"], json!([]));
    assert!(bench["verdict"].as_str().is_some_and(|how| how.starts_with("POST /bench/verdict")), "{bench}");
    for (at, (alias, text, out)) in
        [("alpha", "Ask the lake.", 3), ("beta", "Ask the sea.", 1)].into_iter().enumerate()
    {
        let seat = &seats(&reply)[at];
        assert_eq!(seat["call"], format!("{id}.member{}", at + 1));
        assert_eq!(seat["seat"], "member");
        assert_eq!(seat["alias"], alias);
        assert_eq!(seat["status"], "ok");
        assert_eq!(seat["answer"], text);
        assert_eq!(seat["error"], "");
        assert_eq!(seat["tokens_in"], TOKENS_IN);
        assert_eq!(seat["tokens_out"], out);
        assert_eq!(seat["stood_in_for"], Value::Null);
        let (first, whole) = (seat["first_token_s"].as_f64(), seat["seconds"].as_f64());
        assert!(first.is_some() && first <= whole, "{seat}");
    }
}

#[tokio::test]
async fn the_text_is_markdown_section_by_section() {
    let lab = panel_of([
        ("alpha", answers("Ask the lake.").into()),
        ("beta", fails(500, "boom", "the engine room is under water").into()),
    ])
    .await;
    let reply = lab.http().chat(&question("whom?")).await.json();
    let (id, text) = (panel_id(&reply), content(&reply));

    let heading = text.lines().next().unwrap_or_default();
    assert!(heading.contains("bench/core") && text.contains(&id), "{text}");
    let alpha = text.find("## member — alpha").expect("alpha's section");
    let beta = text.find("## member — beta").expect("beta's section");
    assert!(alpha < beta, "members in order:\n{text}");
    let section = &text[alpha..beta];
    let under_the_title =
        section.lines().find(|line| line.contains(&format!("`{id}.member1`"))).expect("the call id");
    assert!(under_the_title.contains("ok"), "{under_the_title}");
    assert!(section.contains("\n\nAsk the lake.\n"), "{section}");
    let section = &text[beta..];
    assert!(section.contains(&format!("`{id}.member2`")) && section.contains("error"), "{section}");
    let italics = section.lines().find(|line| line.contains("under water")).expect("the error's words");
    assert!(italics.starts_with(['*', '_']) && italics.ends_with(['*', '_']), "{italics}");
    let after_the_rule = text.rsplit("\n---\n").next().expect("a rule");
    assert!(after_the_rule.contains("verdict"), "{after_the_rule}");
}

#[tokio::test]
async fn an_answer_passes_through_untouched() {
    let answer = "# Title\n\n```rust\nfn main() {}\n```\n\n北京 🦆 \u{202e} <b>&amp;</b>\n\n---\n\nno `stop`";
    let pieces: Vec<String> = answer.chars().map(String::from).collect();
    let lab = panel_of([("alpha", tokens(pieces.iter().map(String::as_str)).bytewise().into())]).await;
    let reply = lab.http().chat(&question("say it")).await.json();
    assert_eq!(seat(&reply, "alpha")["answer"], answer);
    assert!(content(&reply).contains(answer), "{}", content(&reply));
}

#[tokio::test]
async fn what_goes_to_a_member_is_its_request_and_nothing_of_the_callers() {
    let lab = panel_of([("alpha", answers("A").into())]).await;
    let body = json!({
        "model": "bench/core:all",
        "messages": [
            {"role": "system", "content": "Be short."},
            {"role": "user", "content": "one"},
            {"role": "assistant", "content": "uno"},
            {"role": "user", "content": [{"type": "text", "text": "two"}, {"type": "text", "text": "three"}]},
        ],
        "temperature": 0.25,
        "response_format": {"type": "json_object"},
        "with": [],
        "bench": {"reply": "all"},
        "stream": false,
    });
    let request = lab
        .http()
        .request(http::Method::POST, "/v1/chat/completions")
        .header("content-type", "application/json")
        .header("authorization", "Bearer the-callers-own-key")
        .header("cookie", "session=1")
        .header("x-forwarded-for", "10.0.0.9")
        .header("user-agent", "somebody/1.0");
    let answer = lab.http().send(request, body.to_string()).await;
    assert_eq!(answer.status, 200, "{}", answer.text());
    assert_eq!(answer.json()["model"], "bench/core:all");

    let sent = lab.upstream.arrived(&served("alpha"), 1).await;
    let json = sent.json();
    assert_eq!(sent.path, "/v1/chat/completions");
    assert_eq!(json["stream"], true);
    assert_eq!(json["stream_options"]["include_usage"], true);
    // Each seat keeps its own options; what was left out is said.
    assert!(json.get("temperature").is_none() && json.get("response_format").is_none(), "{json}");
    for left_out in ["temperature=", "response_format="] {
        assert!(answer.header("x-bench-lossy").contains(left_out), "{:?}", answer.headers);
    }
    // The window shows it too, and the records keep it.
    let recorded = lab.gateway.command("panels", &json!({"before": null, "limit": 1})).await;
    let lossy = recorded["panels"][0]["lossy"].as_array().expect("a list");
    for field in ["temperature", "response_format"] {
        let notice = lossy.iter().find(|it| it["field"] == field).expect(field);
        assert!(notice["reason"].as_str().is_some_and(|reason| !reason.is_empty()), "{notice}");
    }
    let roles: Vec<_> =
        json["messages"].as_array().expect("messages").iter().map(|turn| &turn["role"]).collect();
    assert_eq!(roles, ["system", "user", "assistant", "user"]);
    assert!(json.get("bench").is_none() && json.get("with").is_none(), "{json}");
    assert_eq!(sent.header("authorization"), Some(format!("Bearer {KEY}").as_str()));
    assert_eq!(sent.header("content-type"), Some("application/json"));
    for name in ["cookie", "x-forwarded-for", "x-request-id", "origin", "referer"] {
        assert_eq!(sent.header(name), None, "{name}");
    }
    assert!(!sent.header("user-agent").unwrap_or_default().contains("somebody"), "{:?}", sent.headers);
}

#[tokio::test]
async fn the_model_is_echoed_exactly_as_asked() {
    let lab = panel_of([("alpha", answers("A").into())]).await;
    for asked in ["bench/core", "core", "bench/core:all", "core:all"] {
        let mut body = question("hi");
        body["model"] = json!(asked);
        let reply = lab.http().chat(&body).await.json();
        assert_eq!(reply["model"], asked);
        assert_eq!(reply["bench"]["collection"], "bench/core", "{asked}");
        let streamed = lab.http().stream(&body).await.rest().await;
        assert!(
            streamed.chunks().iter().all(|chunk| chunk["model"] == asked),
            "{asked}: {:?}",
            streamed.data
        );
    }
}

#[tokio::test]
async fn the_routes_are_taken_without_v1_and_with_two() {
    let lab = panel_of([("alpha", answers("A").into())]).await;
    for path in
        ["/chat/completions", "/v1/v1/chat/completions", "/v1/chat/completions/", "/chat/completions/?x=y"]
    {
        let answer = lab.http().post(path, &question("hi")).await;
        assert_eq!(answer.status, 200, "{path}: {}", answer.text());
    }
}

#[tokio::test]
async fn text_that_json_makes_hard_is_carried() {
    let echo = Script::by(|request| {
        let turn = request.json()["messages"][0]["content"].clone();
        answers(turn.as_str().unwrap_or("not a string"))
    });
    let lab = panel_of([("alpha", echo)]).await;
    // A lone surrogate becomes U+FFFD; NUL is carried; of duplicate keys the last wins.
    for (content, want) in [
        (r#""abc\ud83d""#, "abc\u{fffd}"),
        (r#""a\u0000b""#, "a\0b"),
        (r#""\ud83e\udd86""#, "🦆"),
        (r#""first","content":"second""#, "second"),
    ] {
        let body = format!(r#"{{"model":"core","messages":[{{"role":"user","content":{content}}}]}}"#);
        let request = lab
            .http()
            .request(http::Method::POST, "/v1/chat/completions")
            .header("content-type", "application/json");
        let answer = lab.http().send(request, body).await;
        assert_eq!(answer.status, 200, "{content}: {}", answer.text());
        assert_eq!(seat(&answer.json(), "alpha")["answer"], want);
    }
}

#[tokio::test]
async fn an_unknown_nominee_is_named_among_the_skipped() {
    let lab = panel_of([("alpha", answers("A").into())]).await;
    let mut body = question("hi");
    body["with"] = json!(["gamma", "alpha", "gamma"]);
    let reply = lab.http().chat(&body).await.json();
    let skipped = reply["bench"]["skipped"].as_array().expect("skipped").clone();
    assert_eq!(skipped.len(), 1, "{skipped:?}");
    assert_eq!(skipped[0]["alias"], "gamma");
    assert!(skipped[0]["why"].as_str().is_some_and(|why| !why.is_empty()), "{skipped:?}");
    assert!(content(&reply).contains("Not asked: gamma"), "{}", content(&reply));
}

#[tokio::test]
async fn a_models_own_options_are_defaults() {
    let lab = panel_of([("alpha", answers("A").into())]).await;
    let file = json!({"version": 1, "models": [{
        "alias": "alpha", "endpoint": "fake", "served": served("alpha"),
        "options": {"temperature": 0.1, "max_tokens": 5},
    }]});
    let file = lab.gateway.home.file("options.json", &file.to_string());
    lab.gateway.bench(&["import", &file.to_string_lossy()]).await.exits(0);
    let mut body = question("hi");
    body["temperature"] = json!(0.9);
    assert_eq!(lab.http().chat(&body).await.status, 200);
    let sent = lab.upstream.arrived(&served("alpha"), 1).await.json();
    assert_eq!((&sent["max_tokens"], &sent["temperature"]), (&json!(5), &json!(0.1)));
    // The caller's go to every seat when it says so.
    body["bench"] = json!({"options": true});
    let answer = lab.http().chat(&body).await;
    assert_eq!((answer.status.as_u16(), answer.header("x-bench-lossy")), (200, ""));
    let sent = lab.upstream.arrived(&served("alpha"), 2).await.json();
    assert_eq!((&sent["max_tokens"], &sent["temperature"]), (&json!(5), &json!(0.9)));
}

#[tokio::test]
async fn usage_is_estimated_where_a_provider_does_not_count() {
    let uncounted = stream().send(chunk(json!({"content": "word ".repeat(40)}), None)).send(finish("stop"));
    let lab = panel_of([("alpha", uncounted.into())]).await;
    let reply = lab.http().chat(&question("how many?")).await.json();
    let usage = &reply["usage"];
    assert!(usage["prompt_tokens"].as_u64().is_some_and(|tokens| tokens > 0), "{usage}");
    assert!(usage["completion_tokens"].as_u64().is_some_and(|tokens| (40..80).contains(&tokens)), "{usage}");
    // A seat's own count stays unknown: an estimate is not a count.
    assert_eq!(seat(&reply, "alpha")["tokens_out"], Value::Null);
}

#[tokio::test]
async fn a_picture_goes_to_who_sees_and_stays_out_of_the_record() {
    let upstream = bench_tests::Upstream::start().await;
    upstream.model("eyes", answers("A duck."));
    upstream.model("blind", answers("?"));
    let gateway = bench_tests::Scenario::new()
        .endpoint("fake", &upstream.base())
        .model("eyes", "fake", "eyes")
        .facts(json!({"vision": true}))
        .model("blind", "fake", "blind")
        .collection("core", &["eyes", "blind"])
        .start()
        .await;
    let data = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJ".repeat(40);
    let picture = json!({"type": "image_url", "image_url": {"url": format!("data:image/png;base64,{data}"), "detail": "low"}});
    let mut body = question("");
    body["messages"][0]["content"] = json!([{"type": "text", "text": "what is it?"}, picture]);
    let reply = gateway.http.chat(&body).await.json();
    assert_eq!(seats(&reply).len(), 1, "{}", reply["bench"]);
    assert_eq!(reply["bench"]["shape"], "vision");
    assert_eq!(reply["bench"]["skipped"][0]["alias"], "blind");
    assert_eq!(upstream.asked("blind").len(), 0);
    let sent = upstream.arrived("eyes", 1).await.json();
    assert_eq!(sent["messages"][0]["content"][1], picture, "untouched");

    let kept = gateway.command("panel", &json!({"id": panel_id(&reply)})).await;
    let prompt = kept["prompt"].as_str().unwrap_or_default();
    assert!(prompt.contains("what is it?") && prompt.contains("[image: data URL, "), "{prompt}");
    let (home, _) = gateway.stop().await;
    for (path, bytes) in home.files() {
        assert!(
            !bytes.windows(60).any(|part| part == &data.as_bytes()[..60]),
            "the picture is in {}",
            path.display()
        );
    }
}

/// Counts are a provider's word. Two that cannot be added do not cost the panel.
#[tokio::test]
async fn absurd_counts_are_no_reason_to_lose_the_answers() {
    let absurd = || {
        stream()
            .send(chunk(json!({"content": "An answer."}), None))
            .send(finish("stop"))
            .send(format!(
                "data: {}\n\n",
                json!({"choices": [], "usage": {"prompt_tokens": u64::MAX, "completion_tokens": u64::MAX}})
            ))
            .send("data: [DONE]\n\n")
    };
    let lab = panel_of([("alpha", absurd().into()), ("beta", absurd().into())]).await;
    let answer = lab.http().chat(&question("hi")).await;
    assert_eq!(answer.status, 200, "{}", answer.text());
    assert_eq!(content(&answer.json()).matches("An answer.").count(), 2);
    assert!(lab.http().stream(&question("hi")).await.rest().await.text().contains("An answer."));
}
