//! Each way a seat fails, and a panel in which nobody answers.

use bench_tests::{
    Gateway, Scenario, Upstream, panel_of,
    scenario::{question, served},
    sse::Ended,
    upstream::{
        Framing, Reply, Script, Step, answers, chunk, cut_after, cut_mid_chunk, empty, error_event,
        error_in_200, fails, finish, html_page, huge_line, json_for_stream, never_ends, plain_text_error,
        quota_notice, rate_limited, refuses_key, resets_after, stalls, stream, tokens, without_head,
    },
};
use serde_json::{Value, json};

use crate::checks::{content, panel_id, recorded, seat, seats};

/// What the model does, the seat's status, and words its error must hold.
fn failing() -> Vec<(&'static str, Script, &'static str, &'static [&'static str])> {
    let ends_early: &[&str] = &["end"];
    vec![
        ("rate-limit", rate_limited(Some(7)).into(), "error", &["Rate limit reached"]),
        ("key", refuses_key().into(), "error", &["Incorrect API key"]),
        ("credits", fails(402, "payment", "Insufficient credits").into(), "error", &["Insufficient credits"]),
        ("broken", fails(500, "boom", "the engine room is under water").into(), "error", &["under water"]),
        ("overload", fails(529, "overloaded", "Overloaded").into(), "error", &["Overloaded"]),
        (
            "plain",
            plain_text_error(502, "upstream connect error").into(),
            "error",
            &["upstream connect error"],
        ),
        ("page-503", html_page(503).into(), "error", &["503"]),
        ("page-200", html_page(200).into(), "error", &["page"]),
        ("no-head", without_head().into(), "error", &[]),
        ("reset", resets_after(2).into(), "error", &[]),
        ("cut", cut_after(2).into(), "error", ends_early),
        ("cut-chunk", cut_mid_chunk(2).into(), "error", &[]),
        ("error-200", error_in_200("the model is asleep").into(), "error", &["the model is asleep"]),
        ("event", error_event(2, "lost the thread").into(), "error", &["lost the thread"]),
        ("empty", empty().into(), "empty", &[]),
        ("quota", quota_notice().into(), "error", &["quota"]),
        (
            "lying-json",
            Reply::whole(200, "text/event-stream", "{\"error\":{\"message\":\"no seats left\"}}").into(),
            "error",
            &["no seats left"],
        ),
        ("nothing", Reply::whole(200, "text/event-stream", "").into(), "error", &[]),
        (
            "unknown",
            fails(404, "model_not_found", "The model does not exist").into(),
            "error",
            &["does not exist"],
        ),
        ("bad", fails(400, "bad", "temperature must be 1").into(), "error", &["temperature must be 1"]),
    ]
}

/// Odd, and yet an answer.
fn odd() -> Vec<(&'static str, Script)> {
    let text = |text: &str| chunk(json!({"content": text}), None);
    vec![
        ("json", json_for_stream("an answer").into()),
        ("bytewise", tokens(["an ", "answer"]).bytewise().into()),
        ("no-done", stream().send(text("an answer")).send(finish("stop")).into()),
        ("no-finish", stream().send(text("an answer")).send("data: [DONE]\n\n").into()),
        ("until-close", tokens(["an answer"]).framed(Framing::UntilClose).into()),
        ("with-length", tokens(["an answer"]).framed(Framing::Length).into()),
        ("crlf", stream().send(text("an answer").replace('\n', "\r\n")).send("data:[DONE]\r\n\r\n").into()),
        (
            "comments",
            stream()
                .send(": ping\n\n")
                .send("event: x\n")
                .send(text("an answer"))
                .send("data: [DONE]\n\n")
                .into(),
        ),
        ("bom", stream().send("\u{feff}").send(text("an answer")).send("data: [DONE]\n\n").into()),
        (
            "null-choices",
            stream()
                .send("data: {\"choices\":null}\n\n")
                .send("data: {\"choices\":[]}\n\n")
                .send("data: {}\n\n")
                .send(text("an answer"))
                .send("data: [DONE]\n\n")
                .into(),
        ),
        (
            "compressed",
            Reply::whole(200, "text/event-stream", GZIPPED).header("content-encoding", "gzip").into(),
        ),
        ("hangs-after-done", tokens(["an answer"]).step(Step::Stall).into()),
        (
            "wrong-type",
            Reply { headers: vec![("content-type".into(), "text/plain".into())], ..tokens(["an answer"]) }
                .into(),
        ),
    ]
}

/// `an answer`, its finish and `[DONE]`, as gzip.
const GZIPPED: &[u8] =
    b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x02\x03\x1d\xcc\x31\x0a\x80\x30\x0c\x05\xd0\xbd\xa7\x90\x3f\x3b\
      \x38\x67\xd6\x55\x0f\x20\x22\xc1\x46\x2c\x48\x2a\x26\xa0\x20\xbd\xbb\xe2\xfc\xe0\x45\x76\xa6\xea\
      \xc1\xb2\xe5\xb4\x88\x81\xc6\x07\x49\xa3\xdc\xa0\xa6\x46\x94\xdd\x19\xf4\x71\x56\x17\x75\x10\x58\
      \x2b\x56\xbb\xe4\x44\xa9\xb1\x26\x4d\xb6\xcd\xa7\xb0\x65\xfd\xd0\x3c\x1f\x28\x53\x09\x21\xfe\xef\
      \xd8\x0e\x7d\x37\x85\xf0\x02\x73\xde\x9a\x39\x66\x00\x00\x00";

/// A gateway in which every case sits beside a good seat, in a collection named after the case.
async fn beside_a_good_seat(cases: Vec<(&'static str, Script)>) -> (Upstream, Gateway) {
    let upstream = Upstream::start().await;
    upstream.model("good", answers("Still here."));
    let mut scenario = Scenario::new().endpoint("fake", &upstream.base()).model("good", "fake", "good");
    for (name, script) in cases {
        upstream.model(name, script);
        scenario = scenario.model(name, "fake", name).collection(&format!("c-{name}"), &["good", name]);
    }
    let gateway = scenario.start().await;
    (upstream, gateway)
}

async fn ask(gateway: &Gateway, case: &str) -> Value {
    let body = json!({"model": format!("bench/c-{case}"), "messages": [{"role": "user", "content": "hi"}]});
    let answer = gateway.http.chat(&body).await;
    assert_eq!(answer.status, 200, "{case}: {}", answer.text());
    answer.json()
}

#[tokio::test]
async fn a_seat_that_fails_is_told_and_kept_beside_the_ones_that_answer() {
    let cases = failing();
    let scripts = cases.iter().map(|(name, script, ..)| (*name, script.clone())).collect();
    let (_upstream, gateway) = beside_a_good_seat(scripts).await;
    for (case, _, status, words) in cases {
        let reply = ask(&gateway, case).await;
        assert_eq!(seat(&reply, "good")["answer"], "Still here.", "{case}");
        let failed = seat(&reply, case);
        assert_eq!(failed["status"], status, "{case}: {}", brief(&failed));
        let error = failed["error"].as_str().unwrap_or_default();
        if status == "error" {
            assert!(!error.is_empty(), "{case} says nothing");
        }
        for word in words {
            assert!(error.to_lowercase().contains(&word.to_lowercase()), "{case}: no {word:?} in {error:?}");
        }
        assert!(error.len() <= 1000 && !error.contains("<p>") && !error.contains("<html"), "{case}: {error}");
        let text = content(&reply);
        assert!(text.contains(&format!("## member — {case}")), "{case}: {text}");
        assert!(!text.contains("Our engineers have been told"), "{case} shows the page");

        let kept = recorded(&gateway, failed["call"].as_str().expect("a call id")).await;
        assert_eq!(kept["status"], status, "{case} in the record");
    }
}

#[tokio::test]
async fn a_reply_past_32_mb_is_an_error_and_hung_up_on() {
    let lab = panel_of([("pieces", never_ends(34).into()), ("line", huge_line(33 << 20).into())]).await;
    let reply = lab.http().chat(&question("hi")).await.json();
    for alias in ["pieces", "line"] {
        let seat = brief(&seat(&reply, alias));
        assert_eq!(seat["status"], "error", "{seat}");
        assert!(seat["error"].as_str().is_some_and(|error| error.contains("32")), "{seat}");
    }
    lab.upstream.arrived(&served("pieces"), 1).await.hung_up().await;
}

#[tokio::test]
async fn an_odd_reply_that_is_an_answer_is_one() {
    let names: Vec<_> = odd().into_iter().map(|(name, _)| name).collect();
    let (_upstream, gateway) = beside_a_good_seat(odd()).await;
    for case in names {
        let reply = ask(&gateway, case).await;
        let seat = seat(&reply, case);
        assert_eq!((&seat["status"], &seat["answer"]), (&json!("ok"), &json!("an answer")), "{case}: {seat}");
    }
}

/// A provider that closes a kept connection as it is used has not been asked; one that closes a new one has.
#[tokio::test]
async fn a_kept_connection_lost_before_any_byte_is_made_good() {
    let used = Script::turns(vec![answers("One."), without_head(), answers("Two.")]);
    let lab = panel_of([("alpha", used)]).await;
    for (answer, asked) in [("One.", 1), ("Two.", 3)] {
        let reply = lab.http().chat(&question("hi")).await.json();
        assert_eq!(seat(&reply, "alpha")["answer"], answer, "{reply}");
        assert_eq!(lab.upstream.asked(&served("alpha")).len(), asked);
    }
    let lab = panel_of([("alpha", Script::turns(vec![without_head(), answers("Too late.")]))]).await;
    let reply = lab.http().chat(&question("hi")).await.json();
    assert_eq!(seat(&reply, "alpha")["status"], "error", "{reply}");
    assert_eq!(lab.upstream.asked(&served("alpha")).len(), 1);
}

#[tokio::test]
async fn a_seat_silent_for_too_long_is_let_go() {
    let upstream = Upstream::start().await;
    upstream.model("good", answers("Still here."));
    upstream.model("silent", stalls());
    upstream.model("stuck", cut_after(2).step(Step::Stall));
    let gateway = Scenario::new()
        .setting("idle_seconds", 5)
        .endpoint("fake", &upstream.base())
        .model("good", "fake", "good")
        .model("silent", "fake", "silent")
        .model("stuck", "fake", "stuck")
        .collection("core", &["good", "silent", "stuck"])
        .start()
        .await;
    let reply = gateway.http.chat(&question("hi")).await.json();
    assert_eq!(seat(&reply, "good")["status"], "ok");
    for alias in ["silent", "stuck"] {
        let seat = seat(&reply, alias);
        assert_eq!(seat["status"], "error", "{seat}");
        assert!(
            seat["error"].as_str().is_some_and(|error| error.contains("5 s")),
            "it says how long: {seat}"
        );
        upstream.arrived(alias, 1).await.hung_up().await;
    }
}

#[tokio::test]
async fn nobody_home_at_the_endpoint() {
    let port = {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
        listener.local_addr().expect("an address").port()
    };
    let gateway = Scenario::new()
        .endpoint("gone", &format!("http://127.0.0.1:{port}/v1"))
        .model("alpha", "gone", "a")
        .collection("core", &["alpha"])
        .start()
        .await;
    let answer = gateway.http.chat(&question("hi")).await;
    assert_eq!(answer.status, 502);
    let error = seat(&answer.json(), "alpha")["error"].as_str().unwrap_or_default().to_lowercase();
    assert!(error.contains("refused") || error.contains("connect"), "{error}");
}

#[tokio::test]
async fn when_every_failure_is_a_rate_limit_it_is_a_429_with_the_shortest_wait() {
    let lab = panel_of([
        ("alpha", rate_limited(Some(40)).into()),
        ("beta", rate_limited(Some(7)).into()),
        ("gamma", rate_limited(None).into()),
    ])
    .await;
    let answer = lab.http().chat(&question("hi")).await;
    assert_eq!(answer.status, 429, "{}", answer.text());
    assert_eq!(answer.header("retry-after"), "7");
    let body = answer.json();
    assert_eq!(body["error"]["type"], "rate_limit_error");
    assert!(body["error"]["message"].as_str().is_some_and(|message| message.contains("alpha")), "{body}");
    assert_eq!(seats(&body).len(), 3, "bench stands beside error");
    assert_eq!(body["bench"]["collection"], "bench/core");
}

#[tokio::test]
async fn when_they_fail_in_different_ways_it_is_a_502() {
    let lab = panel_of([("alpha", rate_limited(Some(7)).into()), ("beta", cut_after(1).into())]).await;
    let answer = lab.http().chat(&question("hi")).await;
    assert_eq!(answer.status, 502, "{}", answer.text());
    let body = answer.json();
    assert_eq!(body["error"]["type"], "server_error");
    assert_eq!(body["error"]["param"], Value::Null);
    let message = body["error"]["message"].as_str().unwrap_or_default().to_lowercase();
    assert!(!message.contains("overloaded"), "{message}");
    assert_eq!(seats(&body).len(), 2);
    assert_eq!(answer.header("x-bench-panel"), panel_id(&body));
}

#[tokio::test]
async fn a_provider_that_refuses_the_key_is_not_the_callers_401() {
    let lab = panel_of([("alpha", refuses_key().into())]).await;
    let answer = lab.http().chat(&question("hi")).await;
    // A client would throw away its own key for a 401.
    assert_eq!(answer.status, 502, "{}", answer.text());
}

#[tokio::test]
async fn streamed_it_is_the_sections_then_the_error_and_no_proper_end() {
    let lab =
        panel_of([("alpha", rate_limited(Some(9)).into()), ("beta", error_in_200("asleep").into())]).await;
    let streamed = lab.http().stream(&question("hi")).await.rest().await;
    let text = streamed.text();
    assert!(text.contains("## member — alpha") && text.contains("## member — beta"), "{text}");
    assert!(text.contains("Rate limit reached") && text.contains("asleep"), "{text}");
    let events = streamed.json();
    let error = events.last().expect("events");
    assert_eq!(error["error"]["type"], "server_error", "{error}");
    assert!(error["error"]["message"].is_string(), "{error}");
    assert_eq!(seats(error).len(), 2, "bench stands beside error");
    assert_eq!(streamed.data.last().map(String::as_str), Some("[DONE]"));
    assert_eq!(streamed.ended, Ended::Broken, "a stream that failed never ends like one that finished");
    let finished = streamed.chunks().iter().any(|chunk| chunk["choices"][0]["finish_reason"].is_string());
    assert!(!finished, "nor does it say a finish reason: {:?}", streamed.data);
}

#[tokio::test]
async fn a_redirect_is_not_followed() {
    let elsewhere = Upstream::start().await;
    elsewhere.model("alpha", answers("from elsewhere"));
    let to = format!("{}/chat/completions", elsewhere.base());
    let redirect = Reply::whole(307, "text/plain", "moved").header("location", &to);
    let lab = panel_of([("alpha", redirect.into())]).await;
    let answer = lab.http().chat(&question("hi")).await;
    assert_eq!(answer.status, 502, "{}", answer.text());
    assert_eq!(elsewhere.received().len(), 0);
}

/// A seat without its answer, which may be 32 MB.
fn brief(seat: &Value) -> Value {
    let mut seat = seat.clone();
    seat["answer"] = json!("…");
    seat
}
