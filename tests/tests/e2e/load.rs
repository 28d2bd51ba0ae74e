//! Many at once.

use bench_tests::{
    Gate, panel_of,
    scenario::{question, served},
    upstream::{Script, answers},
};
use serde_json::json;
use tokio::task::JoinSet;

use crate::checks::{panel_id, seat};

fn echo(gate: &Gate) -> Script {
    let gate = gate.clone();
    Script::by(move |request| {
        let asked = request.json()["messages"][0]["content"].as_str().unwrap_or_default().to_owned();
        answers(&format!("You said {asked}.")).held(&gate)
    })
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn sixty_four_panels_at_once_each_get_their_own_answers() {
    let gate = Gate::shut();
    let lab = panel_of([("alpha", echo(&gate)), ("beta", echo(&gate))]).await;
    let mut asking = JoinSet::new();
    for number in 0..64 {
        let http = lab.http().clone();
        asking.spawn(async move {
            let mut body = question(&format!("number {number}"));
            if number % 2 == 0 {
                return (number, http.chat(&body).await.json());
            }
            body["stream"] = json!(true);
            (number, http.stream(&body).await.rest().await.finish())
        });
    }
    // All of them are in flight before the first is answered.
    lab.upstream.arrived(&served("alpha"), 64).await;
    lab.upstream.arrived(&served("beta"), 64).await;
    gate.open();
    let mut ids = std::collections::BTreeSet::new();
    while let Some(done) = asking.join_next().await {
        let (number, reply) = done.expect("asked");
        for alias in ["alpha", "beta"] {
            assert_eq!(seat(&reply, alias)["answer"], format!("You said number {number}."));
        }
        ids.insert(panel_id(&reply));
    }
    assert_eq!(ids.len(), 64, "ids are unique");
    let record = lab.http().get("/bench/record?collection=bench/core").await.json();
    assert_eq!(record["collection"], "bench/core");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn past_1024_open_requests_one_is_told_to_come_back() {
    let gate = Gate::shut();
    let lab = panel_of([("alpha", echo(&gate))]).await;
    let mut asking = JoinSet::new();
    for number in 0..1024 {
        let http = lab.http().clone();
        asking.spawn(async move { http.chat(&question(&format!("number {number}"))).await.status });
    }
    lab.upstream.arrived(&served("alpha"), 1024).await;
    let refused = lab.http().chat(&question("one more")).await;
    assert_eq!(refused.status, 503, "{}", refused.text());
    assert!(refused.header("retry-after").parse::<u32>().is_ok_and(|wait| wait > 0), "{:?}", refused.headers);
    assert!(refused.json()["error"]["message"].is_string());
    gate.open();
    while let Some(status) = asking.join_next().await {
        assert_eq!(status.expect("asked"), 200);
    }
    assert_eq!(lab.http().chat(&question("one more")).await.status, 200);
}
