//! Who gets what a limit has room for: members in their order, whoever stands in for them, then explorers.

use bench_tests::{
    Lab, Scenario, Upstream,
    scenario::{KEY, question, served},
    upstream::answers,
};
use serde_json::json;

use crate::checks::seat;

/// Seats run side by side: which task is the first to run must not say who gets the room.
#[tokio::test]
async fn what_a_limit_has_room_for_goes_to_seats_in_their_order() {
    const ENDPOINTS: usize = 8;
    let upstream = Upstream::start().await;
    let mut scenario = Scenario::new().setting("max_explorers", 0).setting("reserves", 0);
    let mut collections = Vec::new();
    for at in 0..ENDPOINTS {
        let endpoint = format!("tight{at}");
        scenario = scenario
            .endpoint(&endpoint, &upstream.base())
            .endpoint_with("limits", json!({"rpm": 1}))
            .key(&format!("TIGHT{at}_KEY"), KEY);
        let aliases: Vec<String> = ["one", "two", "three"].map(|name| format!("{name}-{at}")).into();
        for alias in &aliases {
            upstream.model(&served(alias), answers("An answer."));
            scenario = scenario.model(alias, &endpoint, &served(alias));
        }
        collections.push((format!("core{at}"), aliases));
    }
    for (name, aliases) in &collections {
        let members: Vec<&str> = aliases.iter().map(String::as_str).collect();
        scenario = scenario.collection(name, &members).with("shape", "general");
    }
    let lab = Lab { upstream, gateway: scenario.start().await };
    for (name, aliases) in &collections {
        let body =
            json!({"model": format!("bench/{name}"), "messages": [{"role": "user", "content": "Hello"}]});
        let reply = lab.http().chat(&body).await.json();
        let statuses: Vec<_> = aliases.iter().map(|alias| seat(&reply, alias)["status"].clone()).collect();
        assert_eq!(statuses, ["ok", "error", "error"], "{name}");
    }
}

#[tokio::test]
async fn what_a_limit_has_room_for_goes_to_members_before_explorers() {
    let upstream = Upstream::start().await;
    let mut scenario = Scenario::new()
        .setting("max_explorers", 2)
        .setting("reserves", 0)
        .endpoint("tight", &upstream.base())
        .endpoint_with("limits", json!({"rpm": 1}))
        .key("TIGHT_KEY", KEY);
    for alias in ["alpha", "beta", "gamma"] {
        upstream.model(&served(alias), answers("An answer."));
        scenario = scenario.model(alias, "tight", &served(alias));
    }
    let lab = Lab {
        upstream,
        gateway: scenario.collection("core", &["beta"]).with("shape", "general").start().await,
    };
    let reply = lab.http().chat(&question("one")).await.json();
    let seats = reply["bench"]["seats"].as_array().expect("seats");
    let said: Vec<_> = seats.iter().map(|seat| (seat["alias"].as_str(), seat["status"].as_str())).collect();
    assert_eq!((said.len(), said[0]), (3, (Some("beta"), Some("ok"))), "{said:?}");
}

#[tokio::test]
async fn who_stands_in_for_a_member_at_its_limit_goes_before_explorers() {
    let upstream = Upstream::start().await;
    let mut scenario = Scenario::new().setting("max_explorers", 1).setting("reserves", 1);
    for (endpoint, variable, aliases) in
        [("aa", "AA_KEY", &["alpha"][..]), ("bb", "BB_KEY", &["beta", "gamma", "delta"])]
    {
        scenario = scenario
            .endpoint(endpoint, &upstream.base())
            .endpoint_with("limits", json!({"rpm": 1}))
            .key(variable, KEY);
        for alias in aliases {
            upstream.model(&served(alias), answers("An answer."));
            scenario = scenario.model(alias, endpoint, &served(alias));
        }
    }
    let scenario = scenario.collection("core", &["alpha"]).with("shape", "general");
    let lab = Lab { upstream, gateway: scenario.start().await };
    // A turn, so that alpha's minute is used up and beta's is not.
    assert_eq!(
        lab.http()
            .chat(&json!({"model": "bench/core:route", "messages": [{"role": "user", "content": "one"}]}))
            .await
            .json()["bench"]["alias"],
        "alpha"
    );
    let reply = lab.http().chat(&question("two")).await.json();
    let seats = reply["bench"]["seats"].as_array().expect("seats");
    let stands_in = seats.iter().find(|seat| seat["stood_in_for"] == "alpha").expect("a stand-in");
    assert_eq!(stands_in["status"], "ok", "{reply}");
    let sent = ["beta", "gamma", "delta"].map(|alias| lab.upstream.asked(&served(alias)).len());
    assert_eq!(sent.iter().sum::<usize>(), 1, "{reply}");
}
