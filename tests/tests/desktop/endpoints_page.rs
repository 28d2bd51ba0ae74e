//! The page of endpoints: limits are set and their bars shown, a rest is ended, and no key is anywhere in the page.

use bench_tests::{
    Upstream, eventually,
    scenario::served,
    upstream::{answers, rate_limited},
};
use serde_json::json;

use crate::{app::Start, window::marked};

const KEY: &str = "sk-desktop-Kq8TzW3hPv6NsB";

pub async fn limits_and_rests() {
    let provider = Upstream::start().await;
    provider.model(&served("alpha"), answers("Answer of alpha."));
    let (app, window) = Start::new().env("LAB_KEY", KEY).driven().await;
    window.at("first-run").await;
    let setup = json!({
        "version": 1,
        "endpoints": [{"name": "lab", "base": provider.base(), "key_env": "LAB_KEY"}],
        "models": [{"alias": "alpha", "endpoint": "lab", "served": served("alpha")}],
        "collections": [{"name": "core", "members": ["alpha"]}],
    });
    app.import(&setup).await;

    window.click(&marked("nav-endpoints")).await;
    window.click("[data-test=endpoint][data-name=lab]").await;
    window.click(&marked("edit-limits")).await;
    window.write(&marked("limit-rpm"), "30").await;
    window.click(&marked("save-limits")).await;
    window.texts_when(&marked("rule-rpm"), |texts| texts.concat().contains("0 of 30")).await;

    let question = json!({"model": "bench/core", "messages": [{"role": "user", "content": "one"}]});
    app.http.chat(&question).await;
    window.texts_when(&marked("rule-rpm"), |texts| texts.concat().contains("1 of 30")).await;
    window.picture("endpoint-limits").await;

    provider.model(&served("alpha"), rate_limited(Some(600)));
    app.http.chat(&question).await;
    let rests =
        window.texts_when("[data-test=cooling-one][data-name=alpha]", |texts| !texts.is_empty()).await;
    assert!(rests.concat().contains("min"), "{rests:?}");
    window.picture("endpoint-rests").await;
    window.click(&marked("clear-cooldown")).await;
    window.texts_when(&marked("cooling-one"), |texts| texts.is_empty()).await;
    eventually("nothing rests", async || {
        (app.command("limits", &json!({})).await["cooling"] == json!([])).then_some(())
    })
    .await;

    for page in ["nav-endpoints", "nav-models", "nav-spend", "nav-settings"] {
        window.click(&marked(page)).await;
        let page = window.promise("Promise.resolve(document.documentElement.outerHTML)").await;
        let html = page["ok"].as_str().expect("the page");
        assert!(html.len() > 1_000, "the whole page: {} bytes", html.len());
        assert!(!html.contains(KEY), "the page holds the key");
    }
}
