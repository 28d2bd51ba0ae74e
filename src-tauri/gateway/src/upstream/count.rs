//! How many tokens a question has, by the member's own count.

use std::time::Duration;

use catalog::Endpoint;
use http::Method;
use secrecy::SecretString;
use tokio::time::{Instant, timeout_at};
use wire::Encoded;

use super::{
    call::{headers, read_at_most, url},
    transport::{Outgoing, Transport},
};

/// Who asks for a count waits for it before it asks anything else.
const PATIENCE: Duration = Duration::from_secs(5);

/// A count is a number and a few words.
const BODY: usize = 64 * 1024;

/// Asks once; `None` when no 200 came in time. `features` are the caller's that go on with a relayed body.
pub(crate) async fn count(
    transport: &dyn Transport,
    endpoint: &Endpoint,
    key: Option<&SecretString>,
    encoded: Encoded,
    features: &[(&'static str, String)],
) -> Option<Vec<u8>> {
    let deadline = Instant::now() + PATIENCE;
    let url = url(endpoint, &encoded);
    let mut dialects: Vec<(&str, &str)> = encoded.headers;
    dialects.extend(features.iter().map(|(name, value)| (*name, value.as_str())));
    let outgoing = Outgoing {
        method: Method::POST,
        url,
        headers: headers(endpoint, key, "application/json", &dialects),
        body: encoded.body.into(),
    };
    let incoming = timeout_at(deadline, transport.send(outgoing)).await.ok()?.ok()?;
    match incoming.status {
        200 => Some(read_at_most(incoming, BODY, deadline).await),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;
    use futures_util::{StreamExt, future::BoxFuture, stream};
    use http::HeaderMap;
    use wire::{Dialect, Restore};

    use super::*;
    use crate::upstream::transport::{Incoming, SendError};

    /// Answers after a while, and its body comes a while after that.
    struct Slow {
        head: Duration,
        body: Duration,
        status: u16,
    }

    impl Transport for Slow {
        fn send(&self, _: Outgoing) -> BoxFuture<'_, Result<Incoming, SendError>> {
            let body = self.body;
            let piece = async move {
                tokio::time::sleep(body).await;
                Ok(Bytes::from_static(b"{\"input_tokens\":7}"))
            };
            Box::pin(async move {
                tokio::time::sleep(self.head).await;
                let body = stream::once(piece).boxed();
                Ok(Incoming { status: self.status, headers: HeaderMap::new(), body, is_handed_over: false })
            })
        }
    }

    #[tokio::test(start_paused = true)]
    async fn what_does_not_come_in_5_seconds_is_not_waited_for() {
        let endpoint = Endpoint { api: Dialect::Anthropic, ..Endpoint::new("e", "http://127.0.0.1:9/v1") };
        for (head, body, status, wanted) in [
            (0, 0, 200, Some(7)),
            (2, 2, 200, Some(7)),
            (6, 0, 200, None),
            (3, 3, 200, None),
            (0, 3600, 200, None),
            (0, 0, 404, None),
            (0, 0, 204, None),
            (0, 0, 302, None),
        ] {
            let (head, body) = (Duration::from_secs(head), Duration::from_secs(body));
            let begun = Instant::now();
            let encoded = Encoded {
                path: "/messages/count_tokens".to_owned(),
                headers: Vec::new(),
                body: Vec::new(),
                notices: Vec::new(),
                restore: Restore::default(),
            };
            let said = count(&Slow { head, body, status }, &endpoint, None, encoded, &[]).await;
            let format = wire::format(Dialect::Anthropic).token_count().unwrap();
            let counted = said.and_then(|said| format.decode_reply(&said));
            assert_eq!(counted, wanted, "{head:?} {body:?} {status}");
            assert!(begun.elapsed() <= PATIENCE, "{head:?} {body:?}: {:?}", begun.elapsed());
        }
    }
}
