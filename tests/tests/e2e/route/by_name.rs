//! A model asked for by its own name, and what lists hold: wire.md §2.

use bench_tests::upstream::Api;
use http::Method;
use serde_json::{Value, json};

use super::{
    caller::{Ask, Caller, Turn},
    lab::{asked, named, routed_as},
};

#[tokio::test]
async fn only_that_model_is_asked() {
    for api in Api::ALL {
        let members = [("alpha", Api::Chat, named("alpha")), ("beta", api, named("beta"))];
        let lab = routed_as(members, |it| it.model_with("ad_hoc", true)).await;
        for caller in Caller::ALL {
            for stream in [false, true] {
                let ask = Ask::of(&format!("{caller:?} {stream}")).model("bench/model/beta");
                let heard = caller.either(lab.http(), &ask, stream).await;
                let what = format!("{caller:?} over {api:?}, streamed: {stream}: {}", heard.raw);
                assert!(heard.is_whole(), "{what}");
                assert_eq!((heard.by(), heard.text().as_str()), ("beta", "Said by beta."), "{what}");
                if !caller.is_gemini() {
                    assert_eq!(heard.model.as_deref(), Some("bench/model/beta"), "{what}");
                }
                if let Some(bench) = &heard.bench {
                    assert_eq!(
                        (&bench["collection"], &bench["reply"]),
                        (&json!("bench/model/beta"), &json!("route")),
                        "{what}"
                    );
                }
            }
        }
        assert_eq!(asked(&lab, "alpha").len(), 0);
    }
}

#[tokio::test]
async fn it_fails_alone_and_an_unknown_one_is_a_404() {
    let fails = bench_tests::upstream::Script::in_any(|api, _| api.fails(500, "Internal error"));
    let members = [("alpha", Api::Chat, named("alpha")), ("beta", Api::Chat, fails)];
    let lab = routed_as(members, |it| it).await;
    for caller in Caller::ALL {
        let heard = caller.ask(lab.http(), &Ask::of("hi").model("bench/model/beta")).await;
        assert_eq!(heard.status, 502, "{caller:?}: {}", heard.raw);
        let heard = caller.ask(lab.http(), &Ask::of("hi").model("bench/model/nobody")).await;
        assert_eq!(heard.status, 404, "{caller:?}: {}", heard.raw);
        assert!(heard.said_error().contains("nobody"), "{caller:?}: {}", heard.raw);
    }
    assert_eq!(asked(&lab, "alpha").len(), 0);
    // What it cannot take is refused, with why.
    let heard = Caller::Chat
        .ask(lab.http(), &Ask::of("hi").model("bench/model/alpha").turn(Turn::Picture("see".into())))
        .await;
    assert_eq!(heard.status, 400, "{}", heard.raw);
    assert!(heard.said_error().contains("not known to see images"), "{}", heard.raw);
}

/// Every list, each in its own shape: the names in it, without what a shape puts before them.
async fn listed(http: &bench_tests::http::Http) -> Vec<(&'static str, Vec<String>)> {
    let mut lists = Vec::new();
    for (name, path, header, at, field, before) in [
        ("openai", "/v1/models", None, "data", "id", ""),
        ("anthropic", "/v1/models", Some(("anthropic-version", "2023-06-01")), "data", "id", ""),
        ("gemini", "/v1beta/models", None, "models", "name", "models/"),
        ("ollama", "/api/tags", None, "models", "name", ""),
    ] {
        let mut request = http.request(Method::GET, path);
        if let Some((header, value)) = header {
            request = request.header(header, value);
        }
        let list = http.send(request, "").await.json();
        let names = list[at].as_array().unwrap_or_else(|| panic!("{name}: {list}")).iter();
        let names = names.map(|entry| {
            let said = entry[field].as_str().unwrap_or_else(|| panic!("{name}: {entry}"));
            said.strip_prefix(before).expect("its prefix").to_owned()
        });
        lists.push((name, names.collect()));
    }
    lists
}

#[tokio::test]
async fn lists_hold_each_mode_and_models_only_where_the_owner_wants() {
    let members = || [("alpha", Api::Chat, named("alpha")), ("beta", Api::Anthropic, named("beta"))];
    let collections = [
        "bench/core",
        "bench/core:all",
        "bench/core:merged",
        "bench/panels",
        "bench/panels:merged",
        "bench/panels:route",
    ];
    for models in [false, true] {
        let lab =
            routed_as(members(), |it| it.collection("panels", &["alpha"]).setting("list_models", models))
                .await;
        for (name, listed) in listed(lab.http()).await {
            let mut wanted: Vec<&str> = collections.to_vec();
            if models {
                wanted.extend(["bench/model/alpha", "bench/model/beta"]);
            }
            assert_eq!(listed, wanted, "{name}, models: {models}");
        }
        // A name that is listed, and one that is not, can be looked up.
        for id in ["bench/core", "bench/panels:route", "bench/model/alpha"] {
            let one = lab.http().get(&format!("/v1/models/{id}")).await;
            assert_eq!((one.status.as_u16(), &one.json()["id"]), (200, &json!(id)), "{}", one.text());
        }
        let shown = lab.http().post("/api/show", &json!({"model": "bench/core"})).await.json();
        let can: Vec<&str> =
            shown["capabilities"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
        assert!(can.contains(&"completion") && can.contains(&"tools"), "{shown}");
    }
}
