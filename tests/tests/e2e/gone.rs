//! A model that its owner retires while a panel runs is called no more by it: control's `retire_model`.

use bench_tests::{
    Gate, Scenario,
    scenario::{question, served},
    upstream::{Script, answers, rate_limited},
};
use serde_json::json;

use crate::{checks::seat, staffed::staffed};

#[tokio::test]
async fn one_retired_meanwhile_neither_merges_nor_stands_in() {
    let gate = Gate::shut();
    let models = [
        ("alpha", answers("Answer of alpha.").into()),
        ("beta", Script::from(answers("Answer of beta.").held(&gate))),
        ("gamma", Script::from(rate_limited(None).held(&gate))),
        ("best", answers("Answer of best.").into()),
        ("spare", answers("Answer of spare.").into()),
        ("editor", answers("Merged.").into()),
    ];
    let set = |it: Scenario| {
        let it = it.with("reply", "merged").with("merger", "editor");
        it.setting("reserves", 1).setting("max_explorers", 0)
    };
    let lab = staffed(models, &["alpha", "beta", "gamma"], set).await;
    let stream = lab.http().stream(&question("whom?")).await;
    lab.upstream.arrived(&served("beta"), 1).await;
    lab.upstream.arrived(&served("gamma"), 1).await;
    // Either would be the next by its alias or its collection.
    for alias in ["best", "editor"] {
        lab.gateway.command("retire_model", &json!({"alias": alias, "why": "its key leaked"})).await;
    }
    gate.open();
    let finish = stream.rest().await.finish();
    let bench = &finish["bench"];
    assert_eq!((&bench["reply"], &bench["merger"]["alias"]), (&json!("merged"), &json!("alpha")), "{bench}");
    assert_eq!(seat(&finish, "spare")["stood_in_for"], "gamma", "{bench}");
    for alias in ["best", "editor"] {
        assert_eq!(lab.upstream.asked(&served(alias)).len(), 0, "{alias} was called");
    }
}
