//! How many tokens a question has, by the member's own count.

use std::time::Duration;

use bytes::Bytes;
use catalog::Endpoint;
use http::Method;
use secrecy::SecretString;
use tokio::time::{Instant, timeout_at};
use wire::{Encoded, UpstreamError};

use super::{
    call::{Refused, Upstream, headers, network, read_at_most, silence, url},
    transport::{Outgoing, Sends},
};

/// Who asks for a count waits for it before it asks anything else.
const PATIENCE: Duration = Duration::from_secs(5);

/// A count is a number and a few words.
const BODY: usize = 64 * 1024;

impl Upstream {
    /// Asks for a count once: the body of a 200 that came in time. `features` are the caller's that go on with a relayed
    /// body.
    pub(crate) async fn count(
        &self,
        endpoint: &Endpoint,
        (key, sends): (Option<SecretString>, &Sends),
        (encoded, body): (&Encoded, Bytes),
        features: &[(&'static str, String)],
    ) -> Result<Vec<u8>, UpstreamError> {
        let deadline = Instant::now() + PATIENCE;
        let url = url(endpoint, encoded);
        let mut dialects: Vec<(&str, &str)> = encoded.headers.clone();
        dialects.extend(features.iter().map(|(name, value)| (*name, value.as_str())));
        let outgoing = Outgoing {
            method: Method::POST,
            url,
            headers: headers(endpoint, key.as_ref(), "application/json", &dialects),
            body,
            sends: sends.clone(),
        };
        let sent = timeout_at(deadline, self.transport.send(outgoing)).await;
        let incoming = sent.map_err(|_| silence(PATIENCE))?.map_err(|error| network(&error))?;
        if incoming.status == 200 {
            return Ok(read_at_most(incoming, BODY, deadline).await);
        }
        let Refused { error, .. } = self.refused(wire::format(endpoint.api), incoming, deadline).await;
        Err(error)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use futures_util::{StreamExt, future::BoxFuture, stream};
    use http::HeaderMap;
    use tokio_util::task::TaskTracker;
    use wire::{Dialect, Restore};

    use super::*;
    use crate::{
        clock::Clock,
        upstream::transport::{Incoming, SendError, Transport},
    };

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
            let upstream = Upstream {
                transport: Arc::new(Slow { head, body, status }),
                clock: Clock::from_fn(|| 0),
                tasks: TaskTracker::new(),
            };
            let said =
                upstream.count(&endpoint, (None, &Sends::default()), (&encoded, Bytes::new()), &[]).await;
            let format = wire::format(Dialect::Anthropic).token_count().unwrap();
            let counted = said.ok().and_then(|said| format.decode_reply(&said));
            assert_eq!(counted, wanted, "{head:?} {body:?} {status}");
            assert!(begun.elapsed() <= PATIENCE, "{head:?} {body:?}: {:?}", begun.elapsed());
        }
    }
}
