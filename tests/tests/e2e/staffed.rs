//! Panels with more to them than members: explorers, stand-ins, mergers.

use bench_tests::{
    Gateway, Lab, Scenario, Upstream, eventually,
    scenario::{KEY, served},
    upstream::Script,
};
use serde_json::{Value, json};

/// The collection `core` of these members, beside whom the other models are registered; `more` sets what the
/// case is about.
pub async fn staffed<const N: usize>(
    models: [(&str, Script); N],
    members: &[&str],
    more: impl FnOnce(Scenario) -> Scenario,
) -> Lab {
    let upstream = Upstream::start().await;
    let mut scenario = Scenario::new().endpoint("fake", &upstream.base()).key("FAKE_KEY", KEY);
    for (alias, script) in models {
        upstream.model(&served(alias), script);
        scenario = scenario.model(alias, "fake", &served(alias));
    }
    let gateway = more(scenario.collection("core", members)).start().await;
    Lab { upstream, gateway }
}

/// The panel as the window has it, once `is` holds.
pub async fn panel_when(gateway: &Gateway, id: &str, is: impl Fn(&Value) -> bool) -> Value {
    eventually(&format!("the panel {id}"), || async {
        let panel = gateway.command("panel", &json!({"id": id})).await;
        is(&panel).then_some(panel)
    })
    .await
}

/// Aliases of the explorers that sat, in their seats' order.
pub fn explorers(reply: &Value) -> Vec<String> {
    let seats = crate::checks::seats(reply);
    let explorers = seats.iter().filter(|seat| seat["seat"] == "explorer");
    explorers.map(|seat| seat["alias"].as_str().unwrap_or_default().to_owned()).collect()
}

/// Gives a verdict that must be written down.
pub async fn judge(gateway: &Gateway, call: &str, useful: bool) {
    let body = json!({"call": call, "useful": useful});
    let answer = gateway.http.post("/bench/verdict", &body).await;
    assert_eq!(
        (answer.status.as_u16(), &answer.json()["recorded"]),
        (200, &json!(true)),
        "{}",
        answer.text()
    );
}
