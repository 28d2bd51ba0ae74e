//! What first run can offer: local runtimes on loopback, provider keys in the environment.

use std::time::Duration;

use catalog::{Endpoint, EndpointKind, Preset, presets};
use futures_util::future::join_all;

use crate::{gateway::Gateway, upstream::list_models};

/// A local runtime that is there answers a listing in milliseconds.
const PATIENCE: Duration = Duration::from_millis(800);

/// A local runtime that answered.
#[derive(Debug)]
pub struct FoundRuntime {
    pub preset: &'static Preset,
    pub models: Vec<String>,
}

/// A variable that holds a known provider's key. The key itself is not looked at.
#[derive(Debug)]
pub struct FoundKey {
    pub preset: &'static Preset,
    pub variable: String,
}

impl Gateway {
    /// Asks every local runtime's usual address at once.
    pub async fn find_runtimes(&self) -> Vec<FoundRuntime> {
        let own = self.url().unwrap_or_default();
        let local = presets().iter().filter(|preset| preset.kind == EndpointKind::Local);
        let asked = local.filter(|preset| !preset.base.starts_with(&own)).map(|preset| async move {
            let endpoint = Endpoint { api: preset.api, ..Endpoint::new(&preset.id, &preset.base) };
            let listing = list_models(self.transport(), &endpoint, None);
            let test = tokio::time::timeout(PATIENCE, listing).await.ok()?;
            test.ok.then(|| FoundRuntime {
                preset,
                models: test.models.into_iter().map(|model| model.served).collect(),
            })
        });
        join_all(asked).await.into_iter().flatten().collect()
    }

    /// Providers whose key is in the environment, the first variable of each.
    pub fn find_keys(&self) -> Vec<FoundKey> {
        let set =
            |variable: &&String| std::env::var_os(variable.as_str()).is_some_and(|value| !value.is_empty());
        presets()
            .iter()
            .filter_map(|preset| {
                let variable = preset.key_env.iter().find(set)?.clone();
                Some(FoundKey { preset, variable })
            })
            .collect()
    }
}
