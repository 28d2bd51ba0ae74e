//! An alias with a call under way or in the records stands for one served model at one place.

use bench_tests::{
    Gate, Gateway, Lab,
    http::Answer,
    scenario::{panel_of, question, served},
    upstream::answers,
};
use serde_json::{Value, json};

/// Puts a model under an alias by a set-up file.
async fn import(gateway: &Gateway, alias: &str, served: &str) -> Answer {
    let file = json!({"version": 1, "models": [{"alias": alias, "endpoint": "fake", "served": served}]});
    gateway.admin("import_setup", &json!({"text": file.to_string()})).await
}

async fn register(gateway: &Gateway, alias: &str, served: &str) -> Answer {
    let models = json!([{"served": served, "alias": alias}]);
    gateway.admin("register_models", &json!({"endpoint": "fake", "models": models})).await
}

async fn served_under(gateway: &Gateway, alias: &str) -> Value {
    let setup = gateway.command("setup", &json!({})).await;
    let models = setup["models"].as_array().expect("models").clone();
    models.into_iter().find(|model| model["alias"] == alias).map_or(Value::Null, |it| it["served"].clone())
}

#[track_caller]
fn refused(answer: &Answer, words: &str) {
    let said = answer.json();
    assert_eq!(said["error"]["code"], "conflict", "{said}");
    assert!(said["error"]["message"].as_str().is_some_and(|it| it.contains(words)), "{said}");
}

async fn lab() -> Lab {
    panel_of([("alpha", answers("First.").into())]).await
}

#[tokio::test]
async fn a_set_up_file_puts_no_other_model_under_an_alias_that_has_a_record() {
    let lab = lab().await;
    lab.http().chat(&question("one")).await;
    let other = import(&lab.gateway, "alpha", "v/other").await;
    refused(
        &other,
        &format!("The alias alpha stands for {} at fake, and its record is under it", served("alpha")),
    );
    assert_eq!(served_under(&lab.gateway, "alpha").await, served("alpha"));

    // What else a file says of it is taken, and so is another alias.
    assert_eq!(import(&lab.gateway, "alpha", &served("alpha")).await.status, 200);
    assert_eq!(import(&lab.gateway, "beta", "v/other").await.status, 200);
    // One that was never called may be corrected.
    assert_eq!(import(&lab.gateway, "beta", "v/another").await.status, 200);
    assert_eq!(served_under(&lab.gateway, "beta").await, "v/another");
}

#[tokio::test]
async fn an_alias_whose_first_call_is_under_way_is_no_other_models() {
    let lab = lab().await;
    let gate = Gate::shut();
    lab.upstream.model(&served("alpha"), answers("First.").held(&gate));
    let stream = lab.http().stream(&question("one")).await;
    lab.upstream.arrived(&served("alpha"), 1).await;
    let words = format!("The alias alpha has calls under way to {} at fake", served("alpha"));
    refused(&import(&lab.gateway, "alpha", "v/other").await, &words);

    // Nor once it is removed.
    lab.gateway.command("delete_collection", &json!({"name": "core"})).await;
    lab.gateway.command("unregister_model", &json!({"name": "alpha"})).await;
    refused(&register(&lab.gateway, "alpha", "v/other").await, &words);
    refused(&import(&lab.gateway, "alpha", "v/other").await, &words);
    gate.open();
    stream.rest().await;
    refused(&register(&lab.gateway, "alpha", "v/other").await, "The alias alpha was another model's");
    assert_eq!(register(&lab.gateway, "alpha", &served("alpha")).await.status, 200, "its own again");
}

#[tokio::test]
async fn an_alias_that_was_never_called_may_be_another_models() {
    let lab = lab().await;
    assert_eq!(register(&lab.gateway, "gone", "v/one").await.status, 200);
    lab.gateway.command("unregister_model", &json!({"name": "gone"})).await;
    assert_eq!(register(&lab.gateway, "gone", "v/two").await.status, 200);
    assert_eq!(served_under(&lab.gateway, "gone").await, "v/two");
}
