//! A member's seat that fails for want of capacity is handed to a reserve: panel.md §5.

use bench_tests::{
    Lab, Scenario, Upstream,
    scenario::{KEY, question, served},
    sse::Ended,
    upstream::{
        Reply, Script, Step, answers, cut_after, empty, fails, quota_notice, rate_limited, refuses_key,
        stalls, without_head,
    },
};
use serde_json::{Value, json};

use crate::{
    apis::apis,
    checks::{content, panel_id, recorded, seat, seats},
    frames::Frames,
    staffed::{panel_when, staffed},
};

fn with_reserves(reserves: u32) -> impl FnOnce(Scenario) -> Scenario {
    move |scenario| scenario.setting("reserves", reserves)
}

/// The member beta is limited, and gamma is free.
async fn limited_beta() -> Lab {
    let models = [
        ("alpha", answers("Answer of alpha.").into()),
        ("beta", rate_limited(Some(7)).into()),
        ("gamma", answers("Answer of gamma.").into()),
    ];
    staffed(models, &["alpha", "beta"], with_reserves(1)).await
}

#[tokio::test]
async fn a_limited_member_is_stood_in_for_and_everything_says_so() {
    let lab = limited_beta().await;
    let mut live = Frames::live(&lab.gateway).await;
    live.until("\"snapshot\"").await;
    let answer = lab.http().chat(&question("whom?")).await;
    assert_eq!(answer.status, 200, "{}", answer.text());
    let reply = answer.json();
    let panel = panel_id(&reply);
    let (failed, stand_in) = (format!("{panel}.member2"), format!("{panel}.member2.r1"));

    let gamma = seat(&reply, "gamma");
    assert_eq!(
        [&gamma["call"], &gamma["seat"], &gamma["status"], &gamma["answer"], &gamma["stood_in_for"]],
        [&json!(stand_in), &json!("member"), &json!("ok"), &json!("Answer of gamma."), &json!("beta")]
    );
    assert_eq!(seats(&reply).len(), 2, "the failed call has no section of its own: {reply}");
    let why = "Rate limit reached for requests (429, wait 7 s)";
    let handed = json!({"seat": "member2", "call": failed, "from": "beta", "to": "gamma", "why": why});
    assert_eq!(reply["bench"]["failed_over"], json!([handed]));
    let text = content(&reply);
    let line = format!("## member — gamma\n\n`{stand_in}` · ok · ");
    assert!(
        text.contains(&line) && text.contains(&format!(" s · for beta, which failed: {why}\n")),
        "{text}"
    );
    assert!(text.contains("2 members"), "{text}");

    // Streamed it is the same.
    let streamed = lab.http().stream(&question("whom?")).await.rest().await;
    assert!(streamed.text().contains("for beta, which failed: Rate limit"), "{}", streamed.text());
    assert_eq!(seat(&streamed.finish(), "gamma")["stood_in_for"], "beta");

    // On record, each call by itself and in its panel.
    let kept = recorded(&lab.gateway, &failed).await;
    assert_eq!(
        (&kept["status"], &kept["error"], &kept["alias"]),
        (&json!("error"), &json!(why), &json!("beta"))
    );
    let kept = recorded(&lab.gateway, &stand_in).await;
    assert_eq!((&kept["kind"], &kept["answer"]), (&json!("reserve"), &json!("Answer of gamma.")));
    assert_eq!(kept["stood_in_for"], "beta", "{kept}");
    let kept = panel_when(&lab.gateway, &panel, |panel| panel["state"] == "done").await;
    assert_eq!(kept["failed_over"], json!([handed]));
    let calls: Vec<&Value> =
        kept["seats"].as_array().expect("seats").iter().map(|seat| &seat["call"]).collect();
    assert_eq!(calls, [&json!(format!("{panel}.member1")), &json!(failed), &json!(stand_in)]);
    assert_eq!(kept["seats"][2]["stood_in_for"], "beta");
    assert!(kept["seats"][2]["why"].as_str().is_some_and(|why| why.starts_with("best record")), "{kept}");

    // Whoever watches saw the handover, the stand-in and the notice.
    live.until("\"panel_ended\"").await;
    let of_type = |kind: &str| live.lines().into_iter().find(|event| event["type"] == kind);
    let handover = of_type("seat_failed_over").expect("the handover");
    assert_eq!((&handover["panel"], &handover["failed_over"]), (&json!(panel), &handed));
    let added = of_type("seat_added").expect("the stand-in");
    assert_eq!((&added["seat"]["call"], &added["seat"]["stood_in_for"]), (&json!(stand_in), &json!("beta")));
    let notice = of_type("noticed").expect("a notice");
    assert_eq!(notice["alert"]["kind"], "failed_over");
    let said = notice["alert"]["message"].as_str().unwrap_or_default();
    assert!(said.contains("beta") && said.contains("gamma") && said.contains("bench/core"), "{said}");
    assert!(
        lab.gateway.command("status", &json!({})).await["alerts"] == json!([]),
        "a notice does not stand"
    );
}

#[tokio::test]
async fn a_reserve_that_fails_too_is_the_seats_end_or_hands_it_on() {
    let models = || -> [(&str, Script); 4] {
        [
            ("alpha", answers("Answer of alpha.").into()),
            ("beta", rate_limited(None).into()),
            ("gamma", fails(503, "busy", "Over capacity").into()),
            ("omega", answers("Answer of omega.").into()),
        ]
    };
    let lab = staffed(models(), &["alpha", "beta"], with_reserves(1)).await;
    let reply = lab.http().chat(&question("hi")).await.json();
    let gamma = seat(&reply, "gamma");
    assert_eq!((&gamma["status"], &gamma["stood_in_for"]), (&json!("error"), &json!("beta")), "{gamma}");
    assert!(content(&reply).contains("for beta, which failed") && content(&reply).contains("Over capacity"));
    assert_eq!(lab.upstream.asked(&served("omega")).len(), 0, "one reserve a panel");

    let lab = staffed(models(), &["alpha", "beta"], with_reserves(2)).await;
    let reply = lab.http().chat(&question("hi")).await.json();
    let panel = panel_id(&reply);
    let omega = seat(&reply, "omega");
    assert_eq!(
        (&omega["call"], &omega["stood_in_for"], &omega["status"]),
        (&json!(format!("{panel}.member2.r2")), &json!("beta"), &json!("ok"))
    );
    let handed: Vec<_> = reply["bench"]["failed_over"].as_array().expect("a list").clone();
    let from_to: Vec<_> = handed.iter().map(|it| (&it["from"], &it["to"], &it["seat"])).collect();
    assert_eq!(
        from_to,
        [
            (&json!("beta"), &json!("gamma"), &json!("member2")),
            (&json!("gamma"), &json!("omega"), &json!("member2.r1"))
        ]
    );
    assert!(content(&reply).contains("for beta, which failed: Rate limit"), "{}", content(&reply));
    let kept = panel_when(&lab.gateway, &panel, |panel| panel["state"] == "done").await;
    assert_eq!(kept["seats"].as_array().map(Vec::len), Some(4), "{kept}");
}

/// What a member does, and whether another takes its seat.
fn failures() -> Vec<(&'static str, Script, bool)> {
    let status = |status, words| fails(status, "code", words).into();
    vec![
        ("limited", rate_limited(Some(7)).into(), true),
        ("credits", status(402, "Insufficient credits"), true),
        ("timeout", status(408, "Took too long"), true),
        ("broken", status(500, "Internal error"), true),
        ("gateway", status(502, "Bad gateway"), true),
        ("busy", status(503, "Over capacity"), true),
        ("edge", status(504, "Edge timeout"), true),
        ("overloaded", status(529, "Overloaded"), true),
        ("reset", without_head().into(), true),
        ("cut", cut_after(2).into(), true),
        ("silent", stalls().into(), true),
        ("stuck", cut_after(2).step(Step::Stall).into(), true),
        ("quota", quota_notice().into(), true),
        ("empty", empty().into(), true),
        ("overload-200", Reply::whole(200, "application/json", OVERLOADED).into(), true),
        ("bad", status(400, "temperature must be 1"), false),
        ("key", refuses_key().into(), false),
        ("forbidden", status(403, "Forbidden"), false),
        ("unknown", status(404, "The model does not exist"), false),
    ]
}

const OVERLOADED: &str = r#"{"error":{"message":"The engine is currently overloaded","code":503}}"#;

#[tokio::test]
async fn want_of_capacity_hands_a_seat_over_and_nothing_else_does() {
    let upstream = Upstream::start().await;
    // First by alias, with no record anywhere: everybody's reserve.
    upstream.model("spare", answers("Answer of the spare."));
    let mut scenario = Scenario::new()
        .setting("reserves", 1)
        .setting("idle_seconds", 5)
        .endpoint("spare", &upstream.base())
        .model("a-spare", "spare", "spare");
    let mut cases: Vec<_> = failures().into_iter().map(|(name, _, hands_over)| (name, hands_over)).collect();
    for (name, script, _) in failures() {
        upstream.model(name, script);
        // An endpoint each, so that an alert tells whose it is.
        scenario = scenario.endpoint(name, &upstream.base()).key("FAKE_KEY", KEY).model(name, name, name);
        scenario = scenario.collection(&format!("c-{name}"), &[name]);
    }
    let port =
        std::net::TcpListener::bind("127.0.0.1:0").and_then(|it| it.local_addr()).expect("a port").port();
    scenario = scenario
        .endpoint("nobody", &format!("http://127.0.0.1:{port}/v1"))
        .model("nobody", "nobody", "nobody")
        .collection("c-nobody", &["nobody"]);
    cases.push(("nobody", true));
    let gateway = scenario.start().await;
    for (case, hands_over) in cases {
        let body =
            json!({"model": format!("bench/c-{case}"), "messages": [{"role": "user", "content": "hi"}]});
        let answer = gateway.http.chat(&body).await;
        let bench = &answer.json()["bench"];
        let stood_in = bench["seats"][0]["stood_in_for"] == case;
        assert_eq!(stood_in, hands_over, "{case}: {bench}");
        assert_eq!(
            bench["failed_over"].as_array().map(Vec::len),
            Some(usize::from(hands_over)),
            "{case}: {bench}"
        );
        assert_eq!(answer.status, if hands_over { 200 } else { 502 }, "{case}: {}", answer.text());
        if hands_over {
            assert_eq!(bench["seats"][0]["answer"], "Answer of the spare.", "{case}");
            let why = bench["failed_over"][0]["why"].as_str().unwrap_or_default();
            assert!(!why.is_empty(), "{case} says nothing");
        }
    }
    let alerts = gateway.command("status", &json!({})).await["alerts"].clone();
    let refused: Vec<_> = alerts
        .as_array()
        .expect("alerts")
        .iter()
        .filter(|alert| alert["kind"] == "key_refused")
        .map(|alert| alert["subject"].as_str().unwrap_or_default())
        .collect();
    assert_eq!(refused, ["key", "forbidden"], "a refused key is the owner's to mend: {alerts}");
}

#[tokio::test]
async fn an_explorers_seat_is_not_handed_over() {
    let models = [
        ("alpha", answers("Answer of alpha.").into()),
        ("beta", rate_limited(None).into()),
        ("gamma", answers("Answer of gamma.").into()),
    ];
    let more = |it: Scenario| it.setting("reserves", 2).setting("max_explorers", 1);
    let lab = staffed(models, &["alpha"], more).await;
    let reply = lab.http().chat(&question("hi")).await.json();
    assert_eq!(seat(&reply, "beta")["status"], "error");
    assert_eq!((seats(&reply).len(), &reply["bench"]["failed_over"]), (2, &json!([])), "{reply}");
    assert_eq!(lab.upstream.asked(&served("gamma")).len(), 0);
}

#[tokio::test]
async fn when_nobody_answers_the_error_counts_those_that_handed_over_in_every_api() {
    let limited = || Script::from(rate_limited(Some(40)));
    for (beta, status, wait) in [
        // Its wait is the shorter one.
        (Script::from(rate_limited(Some(7))), 429, "7"),
        (fails(500, "boom", "under water").into(), 502, ""),
    ] {
        let lab = staffed([("alpha", limited()), ("beta", beta)], &["alpha"], with_reserves(1)).await;
        let first = lab.http().chat(&question("hi")).await;
        assert_eq!((first.status.as_u16(), first.header("retry-after")), (status, wait), "{}", first.text());
        let bench = &first.json()["bench"];
        assert_eq!(bench["seats"][0]["stood_in_for"], "alpha", "{bench}");
        let said = first.json()["error"]["message"].as_str().unwrap_or_default().to_owned();
        assert!(said.contains("alpha: ") && said.contains("beta: "), "every reason is given: {said}");
        for api in apis() {
            let answer = lab.http().post(api.path, &api.body).await;
            assert_eq!(answer.status, status, "{}: {}", api.name, answer.text());
            let said =
                answer.json().pointer(api.error).and_then(Value::as_str).unwrap_or_default().to_owned();
            assert!(said.contains("alpha: "), "{}: {}", api.name, answer.text());

            let (path, body) = api.streamed();
            let (text, ended) = Frames::post(lab.http(), path, &body).await.rest().await;
            assert!(api.pieces(&text).concat().contains("Rate limit reached"), "{}: {text}", api.name);
            assert!(text.contains("No seat of bench/core answered"), "{}: {text}", api.name);
            assert_eq!(ended, Ended::Broken, "{}: {text}", api.name);
        }
    }
}
