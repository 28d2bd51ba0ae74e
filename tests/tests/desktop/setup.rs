//! A provider that a test scripts, in the application's set-up.

use bench_tests::{Upstream, http::Answer, within};
use serde_json::{Value, json};
use tokio::task::JoinSet;

use crate::app::App;

/// `bench/core` of these models of the provider, which serves each under its alias. No explorers, no reserves.
pub fn core(provider: &Upstream, models: &[&str], key_env: Option<&str>) -> Value {
    let mut endpoint = json!({"name": "lab", "base": provider.base()});
    if let Some(variable) = key_env {
        endpoint["key_env"] = json!(variable);
    }
    let models_of = models.iter().map(|alias| json!({"alias": alias, "endpoint": "lab", "served": alias}));
    json!({
        "version": 1,
        "endpoints": [endpoint],
        "models": models_of.collect::<Vec<_>>(),
        "collections": [{"name": "core", "members": models}],
        "settings": {"max_explorers": 0, "reserves": 0},
    })
}

/// A client that waits for its answer.
pub struct Asking(JoinSet<Answer>);

/// Some client asks `bench/core`, not streamed.
pub fn ask(app: &App, prompt: &str) -> Asking {
    let http = app.http.clone();
    let asked = json!({"model": "bench/core", "messages": [{"role": "user", "content": prompt}]});
    let mut client = JoinSet::new();
    client.spawn(async move { http.chat(&asked).await });
    Asking(client)
}

impl Asking {
    pub async fn answer(mut self) -> Answer {
        within("the client's answer", self.0.join_next())
            .await
            .expect("it was asked")
            .expect("it did not panic")
    }
}
