//! Responses that are kept: gone on from, looked up, listed, deleted.

use bench_tests::{
    Gate, Gateway, Lab,
    http::Answer,
    panel_of,
    scenario::{KEY, served},
    upstream::{Script, answers, fails},
};
use http::Method;
use http_body_util::BodyExt;
use serde_json::{Value, json};

/// `alpha` says how many turns it was sent.
fn counting() -> Script {
    Script::by(|request| {
        let turns = request.json()["messages"].as_array().map_or(0, Vec::len);
        answers(&format!("Turns: {turns}."))
    })
}

async fn lab() -> Lab {
    panel_of([("alpha", counting())]).await
}

async fn ask(gateway: &Gateway, body: Value) -> Answer {
    let mut body = body;
    body["model"] = json!("bench/core");
    gateway.http.post("/v1/responses", &body).await
}

/// A response that must be answered.
async fn response(gateway: &Gateway, body: Value) -> Value {
    let answer = ask(gateway, body).await;
    assert_eq!(answer.status, 200, "{}", answer.text());
    answer.json()
}

/// The last event of a streamed response, and the response in it.
async fn streamed(gateway: &Gateway, mut body: Value) -> (String, Value) {
    body["stream"] = json!(true);
    let answer = ask(gateway, body).await;
    assert_eq!(answer.status, 200, "{}", answer.text());
    let mut last = events(&answer.text()).pop().expect("an event");
    (last["type"].as_str().unwrap_or_default().to_owned(), last["response"].take())
}

/// The data of each event.
fn events(text: &str) -> Vec<Value> {
    let data = text.lines().filter_map(|line| line.strip_prefix("data: "));
    data.map(|data| serde_json::from_str(data).expect("JSON")).collect()
}

async fn delete(gateway: &Gateway, path: &str) -> Answer {
    gateway.http.send(gateway.http.request(Method::DELETE, path), "").await
}

fn id(response: &Value) -> &str {
    response["id"].as_str().unwrap_or_else(|| panic!("no id in {response}"))
}

fn said(response: &Value) -> &str {
    response["output"][0]["content"][0]["text"].as_str().unwrap_or_else(|| panic!("no text in {response}"))
}

/// What `alpha` was sent last: role and text of every turn.
fn sent(lab: &Lab) -> Vec<(String, String)> {
    let last = lab.upstream.asked(&served("alpha")).pop().expect("asked");
    let text = |value: &Value| value.as_str().unwrap_or_else(|| panic!("{value}")).to_owned();
    let turns = last.json()["messages"].as_array().expect("messages").clone();
    turns.iter().map(|turn| (text(&turn["role"]), text(&turn["content"]))).collect()
}

fn turns(turns: &[(&str, &str)]) -> Vec<(String, String)> {
    turns.iter().map(|(role, text)| ((*role).to_owned(), (*text).to_owned())).collect()
}

#[tokio::test]
async fn three_turns_reach_the_member_in_order_without_earlier_instructions() {
    let lab = lab().await;
    let one = response(&lab.gateway, json!({"input": "one?", "instructions": "said then"})).await;
    assert!(said(&one).contains("Turns: 2."), "{one}");
    assert_eq!((&one["store"], &one["previous_response_id"]), (&json!(true), &Value::Null));
    let second = [json!({"role": "user", "content": [{"type": "input_text", "text": "two?"}]})];
    let two =
        response(&lab.gateway, json!({"input": second, "previous_response_id": id(&one), "store": true}))
            .await;
    assert_eq!((&two["store"], &two["previous_response_id"]), (&json!(true), &one["id"]));
    let body = json!({"input": "three?", "previous_response_id": id(&two), "instructions": "said now"});
    let answer = ask(&lab.gateway, body).await;
    let wanted = [
        ("system", "said now"),
        ("user", "one?"),
        ("assistant", said(&one)),
        ("user", "two?"),
        ("assistant", said(&two)),
        ("user", "three?"),
    ];
    assert_eq!(sent(&lab), turns(&wanted));
    assert_eq!(answer.header("x-bench-lossy"), "", "nothing of it is lost");
    assert_ne!(id(&one), id(&two));
    // A second conversation from the same beginning.
    response(&lab.gateway, json!({"input": "else?", "previous_response_id": id(&one)})).await;
    assert_eq!(sent(&lab), turns(&[("user", "one?"), ("assistant", said(&one)), ("user", "else?")]));
    // The record of a panel tells the whole conversation too.
    let panels = lab.gateway.command("panels", &json!({"before": null, "limit": 1})).await;
    assert_eq!((&panels["panels"][0]["turns"], &panels["panels"][0]["prompt"]), (&json!(3), &json!("else?")));
}

#[tokio::test]
async fn streamed_and_plain_turns_go_on_from_each_other_across_a_restart_and_a_kill() {
    let lab = lab().await;
    let Lab { upstream, gateway } = lab;
    let (last, one) = streamed(&gateway, json!({"input": "one?"})).await;
    assert_eq!(last, "response.completed");
    assert_eq!(gateway.http.get(&format!("/v1/responses/{}", id(&one))).await.json(), one, "as it was told");
    let (home, _) = gateway.stop().await;
    let gateway = home.serve().await;
    let two = response(&gateway, json!({"input": "two?", "previous_response_id": id(&one)})).await;
    // It was on disk before the reply's last byte.
    let gateway = gateway.kill().await.serve().await;
    let (_, three) = streamed(&gateway, json!({"input": "three?", "previous_response_id": id(&two)})).await;
    let gateway = gateway.kill().await.serve().await;
    let lab = Lab { upstream, gateway };
    response(&lab.gateway, json!({"input": "four?", "previous_response_id": id(&three)})).await;
    let wanted = [
        ("user", "one?"),
        ("assistant", said(&one)),
        ("user", "two?"),
        ("assistant", said(&two)),
        ("user", "three?"),
        ("assistant", said(&three)),
        ("user", "four?"),
    ];
    assert_eq!(sent(&lab), turns(&wanted));
}

#[tokio::test]
async fn a_response_is_looked_up_listed_and_deleted_by_every_path() {
    let lab = lab().await;
    let gateway = &lab.gateway;
    let one = response(gateway, json!({"input": "one?", "metadata": {"a": "b"}})).await;
    let two = response(
        gateway,
        json!({"input": [{"role": "user", "content": "two?"}], "previous_response_id": id(&one)}),
    )
    .await;
    for base in ["/v1/responses", "/responses", "/v1/v1/responses"] {
        let answer = gateway.http.get(&format!("{base}/{}?include[]=x", id(&one))).await;
        assert_eq!((answer.status.as_u16(), answer.json()), (200, one.clone()), "{base}");
        assert_eq!(answer.header("content-type"), "application/json");
    }
    let items = |query: &str| format!("/v1/responses/{}/input_items{query}", id(&two));
    let list = gateway.http.get(&items("?order=asc")).await.json();
    let texts: Vec<&str> = list["data"]
        .as_array()
        .expect("items")
        .iter()
        .map(|item| item["content"][0]["text"].as_str().unwrap_or_else(|| panic!("{item}")))
        .collect();
    assert_eq!(texts, ["one?", said(&one), "two?"]);
    let newest = gateway.http.get(&items("?limit=1")).await.json();
    assert_eq!(
        (&newest["data"][0]["content"][0]["text"], &newest["has_more"]),
        (&json!("two?"), &json!(true))
    );
    let next = gateway
        .http
        .get(&items(&format!("?limit=1&after={}", newest["last_id"].as_str().expect("an id"))))
        .await;
    assert_eq!(next.json()["data"][0]["id"], one["output"][0]["id"]);
    let message =
        gateway.http.get(&items("?limit=0")).await.refusal(400, "invalid_request_error", "invalid_value");
    assert_eq!(message, "limit: 1 to 100, not 0");
    gateway.http.get(&format!("/v1/responses/{}?stream=true", id(&two))).await.refusal(
        400,
        "invalid_request_error",
        "no_stream",
    );
    let posted = gateway.http.post(&format!("/v1/responses/{}", id(&two)), &json!({})).await;
    assert_eq!((posted.status.as_u16(), posted.header("allow")), (405, "GET, HEAD, DELETE"));

    let deleted = delete(gateway, &format!("/v1/responses/{}", id(&one))).await;
    assert_eq!(
        (deleted.status.as_u16(), deleted.json()),
        (200, json!({"id": one["id"], "object": "response", "deleted": true}))
    );
    let path = format!("/responses/{}", id(&one));
    gateway.http.get(&path).await.refusal(404, "not_found_error", "response_not_found");
    delete(gateway, &path).await.refusal(404, "not_found_error", "response_not_found");
    let gone = ask(gateway, json!({"input": "and?", "previous_response_id": id(&one)})).await;
    gone.refusal(404, "not_found_error", "previous_response_not_found");
    // What went on from it still knows what was said.
    response(gateway, json!({"input": "three?", "previous_response_id": id(&two)})).await;
    assert_eq!(sent(&lab)[..2], turns(&[("user", "one?"), ("assistant", said(&one))]));
    assert_eq!(delete(gateway, &format!("/v1/v1/responses/{}", id(&two))).await.status, 200);
}

#[tokio::test]
async fn what_is_not_to_be_stored_is_not_and_can_still_go_on() {
    let lab = lab().await;
    let one = response(&lab.gateway, json!({"input": "one?"})).await;
    let body = json!({"input": "unwritten words", "store": false, "previous_response_id": id(&one)});
    let two = response(&lab.gateway, body.clone()).await;
    let (_, three) = streamed(&lab.gateway, body).await;
    for response in [&two, &three] {
        assert_eq!(response["store"], false);
        assert!(said(response).contains("Turns: 3."), "{response}");
        let path = format!("/v1/responses/{}", id(response));
        lab.gateway.http.get(&path).await.refusal(404, "not_found_error", "response_not_found");
        let on = ask(&lab.gateway, json!({"input": "and?", "previous_response_id": id(response)})).await;
        on.refusal(404, "not_found_error", "previous_response_not_found");
    }
}

#[tokio::test]
async fn an_id_that_is_not_kept_is_refused_before_anybody_is_asked() {
    let lab = lab().await;
    let body = json!({"model": "bench/core", "messages": [{"role": "user", "content": "hi"}]});
    let chat = lab.http().chat(&body).await.json();
    let asked = lab.upstream.received().len();
    let long = "x".repeat(3_000);
    let ids = [
        "resp_0",
        "",
        " ",
        "resp_",
        id(&chat),
        "../../etc/passwd",
        "resp_\u{0}",
        "répöñsé",
        "' OR 1=1 --",
        long.as_str(),
    ];
    for wrong in ids {
        for stream in [false, true] {
            let answer =
                ask(&lab.gateway, json!({"input": "hi", "previous_response_id": wrong, "stream": stream}))
                    .await;
            let message = answer.refusal(404, "not_found_error", "previous_response_not_found");
            assert!(message.starts_with("previous_response_id: no response"), "{wrong}: {message}");
            assert!(message.len() < 400, "{message}");
            assert_eq!(answer.header("content-type"), "application/json");
        }
    }
    for (wrong, status) in [(json!(1), 400), (json!(["resp_1"]), 400), (json!({}), 400), (Value::Null, 200)] {
        let answer = ask(&lab.gateway, json!({"input": "hi", "previous_response_id": wrong})).await;
        assert_eq!(answer.status, status, "{wrong}: {}", answer.text());
    }
    assert_eq!(lab.upstream.received().len(), asked + 1, "nobody was asked but for the last");
    for wrong in ["resp_0", "%00", "..%2F..%2Fetc", "%ff", "x%20y", long.as_str()] {
        let path = format!("/v1/responses/{wrong}");
        lab.http().get(&path).await.refusal(404, "not_found_error", "response_not_found");
        delete(&lab.gateway, &path).await.refusal(404, "not_found_error", "response_not_found");
        let items = lab.http().get(&format!("{path}/input_items")).await;
        items.refusal(404, "not_found_error", "response_not_found");
    }
    for path in ["/v1/responses/resp_0/cancel", "/v1/responses/resp_0/input_items/x"] {
        lab.http().get(path).await.refusal(404, "not_found_error", "path_not_found");
    }
    for (field, code) in [("conversation", "stored_conversation"), ("background", "no_background")] {
        let mut body = json!({"input": "hi"});
        body[field] = if field == "background" { json!(true) } else { json!("conv_1") };
        ask(&lab.gateway, body).await.refusal(400, "invalid_request_error", code);
    }
}

#[tokio::test]
async fn a_page_of_another_site_may_not_read_or_delete_a_response() {
    let lab = lab().await;
    let one = response(&lab.gateway, json!({"input": "one?"})).await;
    let path = format!("/v1/responses/{}", id(&one));
    for method in [Method::GET, Method::DELETE] {
        for (name, value) in
            [("origin", "https://evil.example"), ("sec-fetch-site", "cross-site"), ("host", "evil.example")]
        {
            let request = lab.http().request(method.clone(), &path).header(name, value);
            let answer = lab.http().send(request, "").await;
            assert_eq!(answer.status, 403, "{method} {name}: {}", answer.text());
        }
    }
    assert_eq!(lab.http().get(&path).await.status, 200);
}

#[tokio::test]
async fn a_response_that_failed_or_was_left_is_not_kept() {
    let gate = Gate::shut();
    let lab = panel_of([(
        "alpha",
        Script::by({
            let gate = gate.clone();
            move |request| match request.json()["messages"].to_string().contains("slow") {
                true => answers("Late.").held(&gate),
                false => fails(500, "broken", "it broke"),
            }
        }),
    )])
    .await;
    let begin = async |input: &str| {
        let request =
            lab.http().request(Method::POST, "/v1/responses").header("content-type", "application/json");
        let body = json!({"model": "bench/core", "input": input, "stream": true}).to_string();
        lab.http().head(request, body).await.into_body()
    };
    let mut stream = begin("hi").await;
    let mut told = String::new();
    while let Some(Ok(frame)) = bench_tests::within("the next event", stream.frame()).await {
        told.push_str(&String::from_utf8_lossy(frame.data_ref().expect("data")));
    }
    let failed = events(&told).pop().expect("an event");
    assert_eq!(
        (&failed["type"], &failed["response"]["status"]),
        (&json!("response.failed"), &json!("failed"))
    );
    // Its caller leaves while the panel runs, which goes on without it.
    let mut left = begin("slow").await;
    let frame =
        bench_tests::within("the first event", left.frame()).await.expect("a frame").expect("no reset");
    let created = events(&String::from_utf8_lossy(frame.data_ref().expect("data"))).swap_remove(0);
    drop(left);
    gate.open();
    bench_tests::eventually("the panel to end", || async {
        let page = lab.gateway.command("panels", &json!({"before": null, "limit": 1})).await;
        (page["panels"][0]["state"] == "done").then_some(())
    })
    .await;
    for event in [&failed, &created] {
        let path = format!("/v1/responses/{}", id(&event["response"]));
        lab.http().get(&path).await.refusal(404, "not_found_error", "response_not_found");
    }
}

#[tokio::test]
async fn a_key_is_masked_in_what_is_kept_and_the_conversation_goes_on() {
    // A short key may be a word of the API itself.
    let mut scenario = bench_tests::Scenario::new();
    let upstream = bench_tests::Upstream::start().await;
    upstream.model(&served("alpha"), counting());
    scenario = scenario.endpoint("fake", &upstream.base()).key("FAKE_KEY", KEY);
    scenario = scenario.endpoint("local", &upstream.base()).key("LOCAL_KEY", "message");
    let gateway =
        scenario.model("alpha", "fake", &served("alpha")).collection("core", &["alpha"]).start().await;
    let lab = Lab { upstream, gateway };
    let body = json!({"input": format!("what is {KEY} for?"), "instructions": KEY, "metadata": {"k": KEY}});
    let one = response(&lab.gateway, body).await;
    assert_eq!(sent(&lab)[1].1, format!("what is {KEY} for?"), "the member is asked as it was said");
    let kept = lab.http().get(&format!("/v1/responses/{}", id(&one))).await.json();
    assert_eq!((&kept["output"][0]["type"], said(&kept)), (&json!("message"), said(&one)));
    assert!(!kept.to_string().contains(KEY), "{kept}");
    response(&lab.gateway, json!({"input": "and?", "previous_response_id": id(&one)})).await;
    assert_eq!(sent(&lab)[..2], turns(&[("user", "what is •••• for?"), ("assistant", said(&one))]));
    let (home, _) = lab.gateway.stop().await;
    for (path, bytes) in home.files() {
        let found = bytes.windows(KEY.len()).any(|window| window == KEY.as_bytes());
        assert!(!found, "the key is in {}", path.display());
    }
}
