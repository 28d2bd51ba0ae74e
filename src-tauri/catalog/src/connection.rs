use crate::{Endpoint, EndpointKind, Model};

/// What shares a rate limit: the endpoint's name, or, behind a hub or an aggregator, the endpoint's name and
/// the first segment of the model's `served`: `openrouter/anthropic`.
///
/// The first segment is the vendor an aggregator passes the call on to, or the provider a self-hosted hub has
/// configured under that name. A served id of one segment is the hub's own: the endpoint's name alone. Endpoint
/// names hold no `/`, so two connections of different endpoints are never the same text.
pub fn connection(endpoint: &Endpoint, model: &Model) -> String {
    let is_hub = matches!(endpoint.kind(), EndpointKind::Hub | EndpointKind::Aggregator);
    match model.served.trim_start_matches('/').split_once('/') {
        Some((part, _)) if is_hub && !part.is_empty() => format!("{}/{part}", endpoint.name),
        _ => endpoint.name.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_shares_a_limit() {
        for (kind, served, wanted) in [
            (None, "gpt-5", "here"),
            (None, "vendor/gpt-5", "here"),
            (Some(EndpointKind::Provider), "accounts/x/models/y", "here"),
            (Some(EndpointKind::Local), "library/qwen", "here"),
            (Some(EndpointKind::Practice), "a/b", "here"),
            (Some(EndpointKind::Aggregator), "anthropic/claude:free", "here/anthropic"),
            (Some(EndpointKind::Aggregator), "gpt-5", "here"),
            (Some(EndpointKind::Hub), "groq/meta/llama", "here/groq"),
            (Some(EndpointKind::Hub), "/groq/llama", "here/groq"),
            (Some(EndpointKind::Hub), "//x", "here"),
        ] {
            let endpoint = Endpoint { kind, ..Endpoint::new("here", "https://example.com") };
            assert_eq!(connection(&endpoint, &Model::new("a", "here", served)), wanted, "{kind:?} {served}");
        }
    }
}
