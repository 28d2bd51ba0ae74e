//! A panel, streamed: wire.md §6.

use bench_tests::{
    Gate, panel_of,
    scenario::question,
    sse::Ended,
    upstream::{Step, TOKENS_IN, answers, fails, tokens},
};
use serde_json::{Value, json};

use crate::checks::{content, is_panel_id, panel_id, seat, seats};

#[tokio::test]
async fn the_head_says_what_it_is() {
    let lab = panel_of([("alpha", answers("A").into())]).await;
    let stream = lab.http().stream(&question("hi")).await;
    let header =
        |name: &str| stream.headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default();
    assert_eq!(header("content-type").split(';').next(), Some("text/event-stream"));
    assert_eq!(header("cache-control"), "no-cache");
    assert_eq!(header("x-accel-buffering"), "no");
    assert!(!header("x-request-id").is_empty());
    let id = header("x-bench-panel").to_owned();
    assert!(is_panel_id(&id), "{id}");
    let streamed = stream.rest().await;
    assert_eq!(panel_id(&streamed.finish()), id);
}

#[tokio::test]
async fn the_order_rules_hold() {
    let lab = panel_of([("alpha", tokens(["A", "a"]).into()), ("beta", answers("B").into())]).await;
    let streamed = lab.http().stream(&question("hi")).await.rest().await;
    assert_eq!(streamed.ended, Ended::Properly);
    assert_eq!(streamed.comments, 0, "keep-alives only after ten silent seconds");
    assert_eq!(streamed.data.iter().filter(|data| *data == "[DONE]").count(), 1);
    assert_eq!(streamed.data.last().map(String::as_str), Some("[DONE]"));

    let chunks = streamed.chunks();
    assert_eq!(
        chunks.len(),
        streamed.data.len() - 1,
        "every event but the last is a chunk: {:?}",
        streamed.data
    );
    let with_role: Vec<usize> =
        (0..chunks.len()).filter(|&at| chunks[at]["choices"][0]["delta"].get("role").is_some()).collect();
    assert_eq!(with_role, [0], "role on the first chunk only");
    for chunk in &chunks {
        assert_eq!(chunk["object"], "chat.completion.chunk");
        assert_eq!((&chunk["id"], &chunk["created"]), (&chunks[0]["id"], &chunks[0]["created"]));
        assert!(chunk["id"].as_str().is_some_and(|id| id.starts_with("chatcmpl-")), "{chunk}");
        assert!(chunk.get("usage").is_none_or(Value::is_null), "usage was not asked for: {chunk}");
    }
    let finish = streamed.finish();
    assert_eq!(Some(&finish), chunks.last(), "the finish comes last");
    assert_eq!(finish["choices"][0]["finish_reason"], "stop");
    assert!(finish["choices"][0]["delta"].get("content").is_none_or(|text| text.is_null()), "{finish}");
    assert_eq!(finish["bench"]["collection"], "bench/core");
    assert_eq!(finish["bench"]["reply"], "all");
    assert_eq!(seat(&finish, "alpha")["answer"], "Aa");
    assert_eq!(seat(&finish, "beta")["status"], "ok");
    assert!(
        chunks.iter().filter(|chunk| chunk.get("bench").is_some()).count() == 1,
        "bench on one chunk only"
    );
}

#[tokio::test]
async fn usage_comes_only_when_asked_in_a_chunk_without_choices() {
    let lab = panel_of([("alpha", tokens(["A", "a"]).into()), ("beta", answers("B").into())]).await;
    let mut body = question("hi");
    body["stream_options"] = json!({"include_usage": true});
    let streamed = lab.http().stream(&body).await.rest().await;
    let chunks = streamed.chunks();
    let usage = chunks.last().expect("chunks");
    assert_eq!(usage["choices"], json!([]));
    assert_eq!(usage["usage"]["prompt_tokens"], 2 * TOKENS_IN);
    assert_eq!(usage["usage"]["completion_tokens"], 3);
    assert_eq!(usage["usage"]["total_tokens"], 2 * TOKENS_IN + 3);
    let told = chunks.iter().filter(|chunk| chunk["usage"].is_object()).count();
    assert_eq!(told, 1, "{:?}", streamed.data);

    body["stream_options"] = json!({"include_usage": false});
    let streamed = lab.http().stream(&body).await.rest().await;
    assert!(streamed.chunks().iter().all(|chunk| !chunk["usage"].is_object()), "{:?}", streamed.data);
}

#[tokio::test]
async fn each_section_comes_the_moment_its_seat_finishes() {
    let (beta, gamma) = (Gate::shut(), Gate::shut());
    let lab = panel_of([
        ("alpha", answers("Answer of alpha.").into()),
        ("beta", answers("Answer of beta.").held(&beta).into()),
        // Its head and first words come early; its section still waits for its end.
        ("gamma", answers("Answer of gamma.").at(3, Step::Wait(gamma.clone())).into()),
    ])
    .await;
    let mut stream = lab.http().stream(&question("hi")).await;
    let first = stream.until("Answer of alpha.").await;
    assert!(first.contains("## member — alpha"), "{first}");
    assert!(!first.contains("## member — beta") && !first.contains("## member — gamma"), "{first}");
    gamma.open();
    let second = stream.until("Answer of gamma.").await;
    assert!(!second.contains("## member — beta"), "{second}");
    beta.open();
    stream.until("Answer of beta.").await;
    let rest = stream.rest().await;
    let statuses: Vec<_> = seats(&rest.finish()).iter().map(|seat| seat["alias"].clone()).collect();
    assert_eq!(statuses, ["alpha", "beta", "gamma"], "bench keeps the members' order");
}

#[tokio::test]
async fn the_pieces_joined_are_the_whole_reply_but_for_the_order_of_seats() {
    let beta = Gate::shut();
    let lab = panel_of([
        ("beta", answers("Answer of beta.\n\nWith two paragraphs.").held(&beta).into()),
        ("alpha", answers("Answer of alpha.").into()),
        ("broken", fails(500, "boom", "no luck").into()),
        ("empty", tokens([]).into()),
    ])
    .await;
    let mut stream = lab.http().stream(&question("hi")).await;
    let begun = stream.until("Answer of alpha.").await;
    beta.open();
    let rest = stream.rest().await;
    let streamed = begun + &rest.text();
    let streamed_id = panel_id(&rest.finish());

    let whole = lab.http().chat(&question("hi")).await.json();
    let text = content(&whole);
    assert!(streamed.find("## member — alpha") < streamed.find("## member — beta"), "{streamed}");
    assert_eq!(sections(&streamed, &streamed_id), sections(text, &panel_id(&whole)));
    assert_eq!(sections(text, "").len(), 5, "a heading and four seats:\n{text}");
}

/// A reply's parts, sorted, without what differs between any two panels: the id and the seconds. The closing
/// lines follow the last seat, so they are a part of their own.
fn sections(text: &str, id: &str) -> Vec<String> {
    let text = if id.is_empty() { text.to_owned() } else { text.replace(id, "PANEL") };
    let text: String = text.chars().filter(|c| !c.is_ascii_digit() && *c != '.').collect();
    let (body, closing) = text.rsplit_once("\n---\n").expect("closing lines after a rule");
    let mut parts: Vec<String> = body.split("\n## ").map(|part| part.trim().to_owned()).collect();
    parts.sort();
    if !id.is_empty() {
        parts.push(closing.trim().to_owned());
    }
    parts
}

#[tokio::test]
async fn a_refusal_before_the_head_keeps_its_status() {
    let lab = panel_of([("alpha", answers("A").into())]).await;
    for (field, value, status) in [
        ("model", json!("bench/nope"), 404),
        ("messages", json!("hi"), 400),
        ("tools", json!([{"type": "function", "function": {"name": "f"}}]), 400),
    ] {
        let mut body = question("hi");
        body[field] = value;
        let response = lab.http().stream_head(&body).await;
        assert_eq!(response.status(), status, "{field}");
        let answer = bench_tests::http::whole(response).await;
        assert!(answer.json()["error"]["message"].is_string(), "{}", answer.text());
    }
}

#[tokio::test]
async fn the_head_goes_out_while_every_seat_still_thinks() {
    let gate = Gate::shut();
    let lab = panel_of([("alpha", answers("A").held(&gate).into())]).await;
    // Would hang here, not fail, if the head waited for the seat.
    let mut stream = lab.http().stream(&question("hi")).await;
    let heading = stream.until("bench/core").await;
    assert!(!heading.contains("## member"), "{heading}");
    gate.open();
    stream.until("## member — alpha").await;
}
