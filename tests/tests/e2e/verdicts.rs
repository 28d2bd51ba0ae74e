//! Verdicts and records over HTTP: panel.md §9.

use bench_tests::{Gateway, Lab, panel_of, scenario::question, upstream::answers};
use http::Method;
use serde_json::{Value, json};

use crate::checks::{call, panel_id};

async fn asked() -> (Lab, String) {
    let lab = panel_of([("alpha", answers("Answer of alpha.").into()), ("beta", answers("B").into())]).await;
    let id = panel_id(&lab.http().chat(&question("whom?")).await.json());
    (lab, id)
}

async fn verdict(gateway: &Gateway, body: Value) -> Value {
    let answer = gateway.http.post("/bench/verdict", &body).await;
    assert_eq!(answer.status, 200, "{body}: {}", answer.text());
    answer.json()
}

/// An alias's counts; one without verdicts may be left out.
async fn record(gateway: &Gateway, alias: &str) -> Value {
    let answer = gateway.http.get("/bench/record?collection=bench/core").await;
    assert_eq!(answer.status, 200, "{}", answer.text());
    let counts = answer.json()["aliases"][alias].clone();
    if counts.is_null() { json!({"useful": 0, "notUseful": 0, "judged": 0}) } else { counts }
}

#[tokio::test]
async fn a_verdict_is_counted_once_superseded_and_withdrawn() {
    let (lab, panel) = asked().await;
    let gateway = &lab.gateway;
    let alpha = format!("{panel}.member1");
    assert_eq!(record(gateway, "alpha").await["judged"], 0);

    let body =
        json!({"call": alpha, "useful": true, "note": "clear", "real": ["the lake"], "false": ["the sea"]});
    assert_eq!(verdict(gateway, body.clone()).await, json!({"ok": true, "recorded": true}));
    let alpha_record = record(gateway, "alpha").await;
    assert_eq!(
        (&alpha_record["useful"], &alpha_record["notUseful"], &alpha_record["judged"]),
        (&json!(1), &json!(0), &json!(1))
    );
    assert!(alpha_record["lastAt"].is_string() || alpha_record["lastAt"].is_number(), "{alpha_record}");

    assert_eq!(
        verdict(gateway, body).await,
        json!({"ok": true, "recorded": false}),
        "the same again writes nothing"
    );
    // Absent note and lists keep what was there, so this is the same too.
    assert_eq!(verdict(gateway, json!({"call": alpha, "useful": true})).await["recorded"], false);
    assert_eq!(record(gateway, "alpha").await["judged"], 1);

    assert_eq!(
        verdict(gateway, json!({"call": alpha, "useful": false, "note": "on reflection"})).await["recorded"],
        true
    );
    let alpha_record = record(gateway, "alpha").await;
    assert_eq!(
        (&alpha_record["useful"], &alpha_record["notUseful"], &alpha_record["judged"]),
        (&json!(0), &json!(1), &json!(1))
    );
    let kept = &call(gateway, &alpha).await.json()["verdict"];
    assert_eq!(kept["note"], "on reflection");
    assert_eq!(kept["real"], json!(["the lake"]), "what was not named was kept");
    assert_eq!(kept["false"], json!(["the sea"]));

    assert_eq!(verdict(gateway, json!({"call": alpha, "clear": true})).await["recorded"], true);
    assert_eq!(record(gateway, "alpha").await["judged"], 0);
    assert_eq!(verdict(gateway, json!({"call": alpha, "clear": true})).await["recorded"], false);
    assert_eq!(call(gateway, &alpha).await.json()["verdict"], Value::Null);
}

#[tokio::test]
async fn a_record_holds_counts_by_alias() {
    let (lab, panel) = asked().await;
    verdict(&lab.gateway, json!({"call": format!("{panel}.member2"), "useful": false})).await;
    let record = lab.http().get("/bench/record?collection=bench/core").await.json();
    assert_eq!(record["collection"], "bench/core");
    assert_eq!(record["task"], Value::Null);
    let aliases = record["aliases"].as_object().expect("aliases");
    assert_eq!(aliases["beta"]["notUseful"], 1);
    assert_eq!(aliases["beta"]["judged"], 1);
    assert!(aliases.get("alpha").is_none_or(|counts| counts["judged"] == 0), "{aliases:?}");
    let shaped = lab.http().get("/bench/record?collection=bench/core&shape=general").await.json();
    assert_eq!(shaped["aliases"]["beta"]["judged"], 1);
    let other = lab.http().get("/bench/record?collection=bench/core&shape=review").await.json();
    assert!(other["aliases"]["beta"].is_null() || other["aliases"]["beta"]["judged"] == 0, "{other}");
    let text = record.to_string();
    assert!(!text.contains("Answer of alpha"), "counts only: {text}");
}

#[tokio::test]
async fn wrong_types_are_named_and_nothing_is_written() {
    let (lab, panel) = asked().await;
    let alpha = format!("{panel}.member1");
    let many: Vec<String> = (0..21).map(|n| format!("claim {n}")).collect();
    for (body, path) in [
        (json!({"useful": true}), "call"),
        (json!({"call": 5, "useful": true}), "call"),
        (json!({"call": alpha}), "useful"),
        (json!({"call": alpha, "useful": "yes"}), "useful"),
        (json!({"call": alpha, "useful": true, "note": 5}), "note"),
        (json!({"call": alpha, "useful": true, "note": "n".repeat(2001)}), "note"),
        (json!({"call": alpha, "useful": true, "real": "one"}), "real"),
        (json!({"call": alpha, "useful": true, "real": ["a", 5]}), "real[1]"),
        (json!({"call": alpha, "useful": true, "false": many}), "false"),
        (json!({"call": alpha, "useful": true, "real": ["c".repeat(401)]}), "real"),
        (json!({"call": alpha, "clear": "yes"}), "clear"),
        (json!([]), ""),
    ] {
        let answer = lab.http().post("/bench/verdict", &body).await;
        assert_eq!(answer.status, 400, "{body}: {}", answer.text());
        let error = &answer.json()["error"];
        assert_eq!(error["type"], "invalid_request_error");
        assert!(
            error["message"].as_str().is_some_and(|said| said.contains(path)),
            "{body}: {path} not in {error}"
        );
    }
    assert_eq!(record(&lab.gateway, "alpha").await["judged"], 0);
    // At the limits it is taken; they are characters, not bytes.
    let claims: Vec<String> = (0..20).map(|_| "é".repeat(400)).collect();
    let body = json!({"call": alpha, "useful": true, "note": "é".repeat(2000), "real": claims});
    assert_eq!(verdict(&lab.gateway, body).await["recorded"], true);
}

#[tokio::test]
async fn an_unknown_call_is_a_404() {
    let (lab, panel) = asked().await;
    for id in
        ["nope", &format!("{panel}.member9"), &panel, "", "p20200101-000000-00000000.member1", "' OR 1=1 --"]
    {
        let answer = lab.http().post("/bench/verdict", &json!({"call": id, "useful": true})).await;
        assert!(answer.status == 404 || (id.is_empty() && answer.status == 400), "{id}: {}", answer.text());
        assert!(answer.json()["error"]["message"].is_string());
    }
    for id in ["nope", "..%2F..%2Fetc%2Fpasswd", "%27%20OR%201=1", &panel] {
        assert_eq!(call(&lab.gateway, id).await.status, 404, "{id}");
    }
}

#[tokio::test]
async fn a_call_is_shown_with_its_answer() {
    let (lab, panel) = asked().await;
    let answer = call(&lab.gateway, &format!("{panel}.member1")).await;
    assert_eq!(answer.status, 200);
    let kept = answer.json();
    assert_eq!(kept["call"], format!("{panel}.member1"));
    assert_eq!(kept["alias"], "alpha");
    assert_eq!(kept["status"], "ok");
    assert_eq!(kept["answer"], "Answer of alpha.");
    assert_eq!(kept["verdict"], Value::Null);
}

/// Read as kindly, and as strictly, as every other body.
#[tokio::test]
async fn a_verdict_body_is_read_like_every_other() {
    let (lab, panel) = asked().await;
    let alpha = format!("{panel}.member1");
    let post = async |body: String| {
        let request = lab.http().request(Method::POST, "/bench/verdict");
        let answer = lab.http().send(request.header("content-type", "application/json"), body).await;
        (answer.status.as_u16(), answer.text())
    };
    let (status, said) =
        post(format!(r#"{{"call":"{alpha}","useful":false,"useful":true,"note":"cut \ud83d"}}"#)).await;
    assert_eq!(status, 200, "the last of a repeated key wins, half a pair is U+FFFD: {said}");
    let call = call(&lab.gateway, &alpha).await.json();
    assert_eq!(
        (&call["verdict"]["useful"], &call["verdict"]["note"]),
        (&json!(true), &json!("cut \u{fffd}"))
    );
    for (body, word) in [
        (format!(r#"["{alpha}",true,null,null,null,false]"#), "object"),
        ("[]".to_owned(), "object"),
        (format!(r#"{{"call":"{alpha}","useful":true,"clear":true}}"#), "clear"),
        (format!(r#"{{"call":"{alpha}","useful":"yes"}}"#), "useful"),
        ("{".to_owned(), "JSON"),
    ] {
        let (status, said) = post(body.clone()).await;
        assert_eq!(status, 400, "{body}: {said}");
        assert!(said.contains(word), "{body}: {word} is not in {said}");
    }
}
