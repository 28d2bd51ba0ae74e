//! One upstream, and a routed collection over members of any dialect.

use bench_tests::{
    Gate, Gateway, Lab, Scenario, Upstream,
    http::Http,
    scenario::KEY,
    upstream::{Api, Received, Reply, Script, Step},
};
use serde_json::{Value, json};

use super::{
    caller::{Ask, Caller},
    heard::Heard,
};

/// What a member is called, what it speaks, and what it does.
pub type Member = (&'static str, Api, Script);

/// A collection `core` of these, in this order, that is routed. Each is on an endpoint of its own, takes tools, and is
/// served as `<alias>-1`. Nothing rotates.
pub async fn routed(members: impl IntoIterator<Item = Member>) -> Lab {
    routed_as(members, |scenario| scenario).await
}

/// The same with more said of it.
pub async fn routed_as(
    members: impl IntoIterator<Item = Member>,
    more: impl FnOnce(Scenario) -> Scenario,
) -> Lab {
    let upstream = Upstream::start().await;
    let mut scenario = Scenario::new();
    let mut names = Vec::new();
    for (alias, api, script) in members {
        upstream.model(&served(alias), script);
        scenario = with_member(scenario, alias, &upstream.base_of(api), api);
        names.push(alias);
    }
    let scenario = scenario.collection("core", &names).with("reply", "route");
    let gateway = more(scenario).start().await;
    Lab { upstream, gateway }
}

/// A model on an endpoint of its own name.
pub fn with_member(scenario: Scenario, alias: &str, base: &str, api: Api) -> Scenario {
    let variable = format!("KEY_{}", alias.to_uppercase().replace('-', "_"));
    let scenario = scenario.endpoint(alias, base).api(api.name());
    let scenario = if api == Api::Ollama { scenario } else { scenario.key(&variable, KEY) };
    scenario.model(alias, alias, &served(alias)).facts(json!({"tools": true}))
}

pub fn served(alias: &str) -> String {
    format!("{alias}-1")
}

/// Says its own name, in the API it is asked in, streamed or whole as it is asked.
pub fn named(alias: &'static str) -> Script {
    Script::in_any(move |api, request| says(api, request, &format!("Said by {alias}.")))
}

/// Text, streamed or whole as it is asked.
pub fn says(api: Api, request: &Received, text: &str) -> Reply {
    let text: &'static str = Box::leak(text.to_owned().into_boxed_str());
    let said = [bench_tests::upstream::Said::Text(text)];
    request.told(api, &said, bench_tests::upstream::End::Proper)
}

/// Waits at the gate after the last piece that holds the words: what comes at once with its end has not begun.
pub fn heard_before(reply: Reply, words: &[u8], gate: &Gate) -> Reply {
    let holds = |step: &Step| matches!(step, Step::Send(bytes) if bytes.windows(words.len()).any(|window| window == words));
    let at = reply.steps.iter().rposition(holds).expect("the words");
    reply.at(at + 1, Step::Wait(gate.clone()))
}

/// Asks for a stream; once the head is there, which comes with the first piece, the gate is opened.
pub async fn head_then(http: &Http, caller: Caller, ask: &Ask, gate: &Gate) -> Heard {
    let response = caller.head(http, ask, true).await;
    gate.open();
    Heard::read(caller, true, response).await
}

/// What a member was asked so far.
pub fn asked(lab: &Lab, alias: &str) -> Vec<Received> {
    lab.upstream.asked(&served(alias))
}

/// Routed conversations as whoever watches sees them, the newest turn first.
pub async fn conversations(gateway: &Gateway) -> Vec<Value> {
    let mut live = crate::frames::Frames::live(gateway).await;
    live.until("\n").await;
    let snapshot = live.lines().into_iter().next().expect("a snapshot");
    snapshot["conversations"].as_array().cloned().expect("conversations")
}

/// `GET /bench/calls/{call}`
pub async fn call(gateway: &Gateway, id: &str) -> Value {
    let answer = gateway.http.get(&format!("/bench/calls/{id}")).await;
    assert_eq!(answer.status, 200, "{id}: {}", answer.text());
    answer.json()
}

/// `r20261129-154501-9f3a6c01`
pub fn is_conversation(id: &str) -> bool {
    id.strip_prefix('r').is_some_and(|rest| crate::checks::is_panel_id(&format!("p{rest}")))
}
