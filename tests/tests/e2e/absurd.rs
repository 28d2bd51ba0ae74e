//! Numbers that cannot be meant, by every way in: each is refused with its field, and nothing is changed.

use bench_tests::{Scenario, Upstream, upstream::answers};
use http::Method;
use serde_json::{Value, json};

/// Past a whole number, past any number, and below nothing.
const NUMBERS: [&str; 4] = ["-1", "1e400", "18446744073709551616", "\"5\""];

const FACTS: [&str; 6] =
    ["context_window", "max_output", "price.input", "price.output", "price.cache_read", "price.cache_write"];

/// Where it stands in an object: `price.input` as `{"price": {"input": …}}`.
fn within(field: &str, number: &str) -> String {
    field.rsplit('.').fold(number.to_owned(), |value, name| format!("{{\"{name}\": {value}}}"))
}

#[tokio::test]
async fn numbers_that_cannot_be_meant_are_refused_with_their_field() {
    let upstream = Upstream::start().await;
    upstream.model("a", answers("Hi."));
    let gateway = Scenario::new()
        .endpoint("fake", &upstream.base())
        .model("alpha", "fake", "a")
        .collection("core", &["alpha"])
        .start()
        .await;
    let before = gateway.command("export_setup", &json!({})).await;
    let token = std::fs::read_to_string(gateway.home.data().join("control.token")).expect("control.token");
    // As it is written: a number past any is none of a `Value`'s.
    let admin = async |command: &str, body: String| {
        let request = gateway
            .http
            .request(Method::POST, &format!("/bench/admin/{command}"))
            .header("content-type", "application/json")
            .header("authorization", format!("Bearer {}", token.trim()));
        gateway.http.send(request, body).await
    };
    let import = |file: String| json!({ "text": file }).to_string();
    let mut cases: Vec<(&str, String, String)> = Vec::new();
    for number in NUMBERS {
        for field in FACTS {
            let facts = within(field, number);
            let model =
                format!(r#"{{"alias": "alpha", "endpoint": "fake", "served": "a", "facts": {facts}}}"#);
            cases.push((
                "import_setup",
                import(format!(r#"{{"version": 1, "models": [{model}]}}"#)),
                format!("models[0].facts.{field}"),
            ));
            cases.push((
                "save_model",
                format!(r#"{{"alias": "alpha", "facts": {facts}}}"#),
                format!("facts.{field}"),
            ));
        }
        for field in ["rpm", "tpd"] {
            let limits = within(field, number);
            let endpoint =
                format!(r#"{{"name": "fake", "base": "{}", "limits": {limits}}}"#, upstream.base());
            cases.push((
                "import_setup",
                import(format!(r#"{{"version": 1, "endpoints": [{endpoint}]}}"#)),
                format!("endpoints[0].limits.{field}"),
            ));
        }
        for field in ["max_tokens", "top_p"] {
            let options = within(field, number);
            cases.push((
                "save_model",
                format!(r#"{{"alias": "alpha", "options": {options}}}"#),
                format!("options.{field}"),
            ));
        }
        for field in ["tokens", "dollars"] {
            let budget = format!(r#"{{"{field}": {number}, "per": "day"}}"#);
            let collection = format!(r#"{{"name": "core", "members": ["alpha"], "budget": {budget}}}"#);
            cases.push((
                "import_setup",
                import(format!(r#"{{"version": 1, "collections": [{collection}]}}"#)),
                format!("collections[0].budget.{field}"),
            ));
        }
    }
    for (command, body, field) in &cases {
        // Whole dollars there may be many of.
        if body.contains("dollars") && body.contains("18446744073709551616") {
            continue;
        }
        let answer = admin(command, body.clone()).await;
        assert_eq!(answer.status, 400, "{command} {body}: {}", answer.text());
        let said = answer.json();
        let named = said["error"]["field"].as_str().unwrap_or_default();
        // What a kind of value is refused for is said of the object that holds it, or of itself.
        assert!(field.starts_with(named) && named.len() > 4, "{command} {body}: {said}, not {field}");
        assert!(said["error"]["message"].as_str().is_some_and(|it| it.contains(named)), "{said}");
    }
    for number in ["-1", "1e400", "18446744073709551616", "NaN", "five"] {
        for field in FACTS {
            let ran = gateway.bench(&["model", "set", "alpha", "--fact", &format!("{field}={number}")]).await;
            assert_ne!(ran.code, 0, "{field} {number}: {ran:?}");
            assert!(ran.stderr.contains(field), "{field} {number}: {ran:?}");
        }
    }
    let options =
        ["max_tokens=-1", "max_tokens=\"5\"", "temperature=NaN", "top_p=0123", "seed=1e400", "top_k=--5"];
    for option in options {
        let ran = gateway.bench(&["model", "set", "alpha", "--option", option]).await;
        assert_ne!(ran.code, 0, "{option}: {ran:?}");
        let name = option.split('=').next().unwrap_or_default();
        assert!(ran.stderr.contains(name), "{option}: {ran:?}");
    }
    assert_eq!(gateway.command("export_setup", &json!({})).await, before, "nothing was changed");
    gateway.bench(&["model", "set", "alpha", "--option", "x=\"0123\""]).await.exits(0);
    let setup = gateway.command("setup", &json!({})).await;
    assert_eq!(setup["models"][0]["options"]["x"], Value::from("0123"));
}
