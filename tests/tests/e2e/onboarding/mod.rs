//! Models are registered from a list and probed, one after another (providers.md §3).

mod found;
mod offered;
mod queue;

use bench_tests::{
    Gateway, Lab, Scenario, Upstream, eventually,
    scenario::KEY,
    upstream::{Api, Call, Input, Received, Reply, Script, answers},
};
use serde_json::{Value, json};

/// An endpoint that serves these and no model registered; `a` is served as `v/a`.
async fn lab<const N: usize>(models: [(&str, Script); N]) -> Lab {
    lab_with(json!({}), models).await
}

/// The same with limits.
async fn lab_with<const N: usize>(limits: Value, models: [(&str, Script); N]) -> Lab {
    let upstream = Upstream::start().await;
    for (alias, script) in models {
        upstream.model(&served(alias), script);
    }
    let scenario = Scenario::new()
        .endpoint("fake", &upstream.base())
        .endpoint_with("limits", limits)
        .key("FAKE_KEY", KEY)
        .setting("max_explorers", 1);
    let gateway = scenario.start().await;
    Lab { upstream, gateway }
}

fn served(alias: &str) -> String {
    format!("v/{alias}")
}

/// A model that can do these of `tools` and `vision`, and answers what a probe asks beside.
fn can(what: &'static [&'static str]) -> Script {
    Script::by(move |request| probed(request, what))
}

fn probed(request: &Received, what: &[&str]) -> Reply {
    let body = request.json();
    match step(&body) {
        "tool" if what.contains(&"tools") => {
            let input = Input::Arguments(json!({"timezone": "Europe/Lisbon"}));
            Api::Chat.calls(&Api::Chat.turn(&body), &Call { tool: "get_time".to_owned(), input })
        }
        "tool" => answers("It is late."),
        "vision" if what.contains(&"vision") => answers("A Green triangle."),
        "vision" => answers("A green circle."),
        "large" => answers(
            text(&body)
                .split("Row 171: its code is ")
                .nth(1)
                .expect("row 171")
                .split(',')
                .next()
                .expect("a code"),
        ),
        _ => answers("ready"),
    }
}

/// Which probe a request is.
fn step(body: &Value) -> &'static str {
    let parts = body["messages"][0]["content"].as_array();
    let shows = parts.is_some_and(|parts| parts.iter().any(|part| part["type"] == "image_url"));
    match () {
        () if body["tools"].is_array() => "tool",
        () if shows => "vision",
        () if text(body).contains("Row 171") => "large",
        () => "word",
    }
}

fn text(body: &Value) -> String {
    match &body["messages"][0]["content"] {
        Value::String(text) => text.clone(),
        parts => parts.as_array().into_iter().flatten().filter_map(|part| part["text"].as_str()).collect(),
    }
}

fn steps_asked(lab: &Lab, alias: &str) -> Vec<&'static str> {
    lab.upstream.asked(&served(alias)).iter().map(|request| step(&request.json())).collect()
}

async fn onboard(gateway: &Gateway, aliases: &[&str], mode: &str) -> Value {
    gateway.command("onboard", &wanted(aliases, mode)).await
}

fn wanted(aliases: &[&str], mode: &str) -> Value {
    let models: Vec<Value> =
        aliases.iter().map(|alias| json!({"served": served(alias), "alias": alias})).collect();
    json!({"endpoint": "fake", "models": models, "mode": mode})
}

async fn items(gateway: &Gateway) -> Vec<Value> {
    gateway.command("onboarding", &json!({})).await["items"].as_array().expect("items").clone()
}

/// A model's place in the queue once it is in this state.
async fn item(gateway: &Gateway, alias: &str, state: &str) -> Value {
    let what = format!("{alias} is {state}");
    eventually(&what, || async {
        let items = items(gateway).await;
        items.into_iter().find(|item| item["alias"] == alias && item["state"] == state)
    })
    .await
}

/// `step outcome`, of each step.
fn outcomes(item: &Value) -> Vec<String> {
    let log = item["log"].as_array().expect("a log").iter();
    log.map(|entry| format!("{} {}", entry["step"], entry["outcome"]).replace('"', "")).collect()
}

async fn models(gateway: &Gateway) -> Vec<Value> {
    gateway.command("setup", &json!({})).await["models"].as_array().expect("models").clone()
}
