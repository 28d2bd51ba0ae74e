//! What is done once a day, beside the requests: a backup, old texts and responses let go, endpoints listed,
//! the catalog of models fetched.

use std::time::Duration;

use plan::DAY_MS;

use crate::{api, gateway::Gateway};

/// Not at start: a start should be quick, and the day's first backup can wait a little.
const FIRST: Duration = Duration::from_secs(300);
const EVERY: Duration = Duration::from_secs(24 * 3600);

pub(crate) fn begin(gateway: &Gateway) {
    let gateway = gateway.clone();
    gateway.tasks().clone().spawn(async move {
        let mut wait = FIRST;
        loop {
            tokio::select! {
                () = tokio::time::sleep(wait) => {
                    daily(&gateway).await;
                    list_endpoints(&gateway).await;
                    if gateway.snapshot().setup.settings.catalog_refresh {
                        gateway.refresh_catalog().await;
                    }
                }
                () = gateway.stopping().cancelled() => return,
            }
            wait = EVERY;
        }
    });
}

/// Lists what the endpoints with registered models serve, so that the router does not pick a model that is gone.
/// Never on the request path, and a listing that fails changes nothing.
async fn list_endpoints(gateway: &Gateway) {
    let snapshot = gateway.snapshot();
    for endpoint in snapshot.setup.endpoints.iter().filter(|endpoint| !endpoint.is_practice()) {
        if snapshot.setup.models.iter().any(|model| model.endpoint == endpoint.name) {
            gateway.test_endpoint(endpoint).await;
        }
    }
}

async fn daily(gateway: &Gateway) {
    if let Err(error) = gateway.store().backup().await {
        tracing::warn!(%error, "the daily backup was not made");
    }
    let days = i64::from(gateway.snapshot().setup.settings.keep_text_days);
    let older_than = gateway.clock().now_ms() - days * DAY_MS;
    match gateway.store().prune_text(older_than).await {
        Ok(0) => {}
        Ok(emptied) => tracing::info!(emptied, days, "old texts were let go; counts and verdicts stay"),
        Err(error) => tracing::warn!(%error, "old texts could not be let go"),
    }
    match gateway.store().prune_responses(api::responses_since(gateway)).await {
        Ok(0) => {}
        Ok(removed) => tracing::info!(removed, "old responses were let go"),
        Err(error) => tracing::warn!(%error, "old responses could not be let go"),
    }
}
