//! Bodies in, under a cap and a time limit; and what a response holds while its body goes out.

use std::{
    pin::{Pin, pin},
    task::{Context, Poll},
    time::Duration,
};

use axum::body::Body;
use bytes::Bytes;
use http::{Request, header};
use http_body_util::{BodyExt, LengthLimitError, Limited};
use hyper::body::{Body as HttpBody, Frame, Incoming, SizeHint};
use wire::{ApiError, Kind, Origin};

use crate::guard::BODY_CAP;

/// What a caller has to send its body.
const PATIENCE: Duration = Duration::from_secs(30);

/// How much of a body past the cap is read and thrown away, and how long its next piece is waited for. A caller
/// that is still sending when the connection closes sees a reset, not the reply that says why.
const THROWN_AWAY: usize = 64 * 1024 * 1024;
const THROWING_PATIENCE: Duration = Duration::from_millis(500);

/// The whole body: 413 over the cap, 408 when it does not come.
pub(crate) async fn read<B>(request: Request<B>) -> Result<Bytes, ApiError>
where
    B: HttpBody<Data = Bytes, Error: Into<Box<dyn std::error::Error + Send + Sync>>>,
{
    if let Some(coding) =
        request.headers().get(header::CONTENT_ENCODING).filter(|coding| *coding != "identity")
    {
        let coding = String::from_utf8_lossy(coding.as_bytes()).into_owned();
        let message = format!("Content-Encoding: {coding} is not read yet; send the body uncompressed");
        return Err(ApiError::new(Kind::UnsupportedMediaType, Origin::Client, "content_encoding", message));
    }
    // Who asks first has sent nothing yet, and reads the refusal.
    let asks_first = request.headers().contains_key(header::EXPECT);
    let mut body = pin!(request.into_body());
    if body.size_hint().lower() > BODY_CAP as u64 {
        if !asks_first {
            throw_away(body).await;
        }
        return Err(too_large());
    }
    match tokio::time::timeout(PATIENCE, Limited::new(body.as_mut(), BODY_CAP).collect()).await {
        Err(_) => {
            let message = format!("body: it was not received within {} s", PATIENCE.as_secs());
            Err(ApiError::new(Kind::Timeout, Origin::Client, "body_timeout", message))
        }
        Ok(Ok(collected)) => Ok(collected.to_bytes()),
        Ok(Err(error)) if error.is::<LengthLimitError>() => {
            throw_away(body).await;
            Err(too_large())
        }
        Ok(Err(_)) => Err(ApiError::invalid("body", "body: the connection broke before it was whole")),
    }
}

/// Refuses a request whose body was not read: a caller that is still sending would see a reset, not the refusal.
pub(crate) async fn unread(request: Request<Incoming>) {
    let asks_first = request.headers().contains_key(header::EXPECT);
    let body = request.into_body();
    if !asks_first && !body.is_end_stream() {
        throw_away(pin!(body)).await;
    }
}

async fn throw_away<B: HttpBody<Data = Bytes>>(mut body: Pin<&mut B>) {
    let all = async {
        let mut left = THROWN_AWAY;
        while let Ok(Some(Ok(frame))) = tokio::time::timeout(THROWING_PATIENCE, body.frame()).await {
            match left.checked_sub(frame.data_ref().map_or(0, Bytes::len)) {
                Some(rest) => left = rest,
                None => return,
            }
        }
    };
    // However it goes, the reply is sent.
    let _ = tokio::time::timeout(PATIENCE, all).await;
}

fn too_large() -> ApiError {
    let message = format!(
        "body: larger than {} MB. Images make bodies large: send them smaller, or as http(s) URLs",
        BODY_CAP / 1024 / 1024
    );
    ApiError::new(Kind::TooLarge, Origin::Client, "too_large", message)
}

/// A response body that keeps `held` until it has gone out: its request is open for so long.
pub(crate) struct Held<T> {
    body: Body,
    _held: T,
}

impl<T> Held<T> {
    pub(crate) fn new(body: Body, held: T) -> Held<T> {
        Held { body, _held: held }
    }
}

impl<T: Unpin> HttpBody for Held<T> {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        Pin::new(&mut self.body).poll_frame(context)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use futures_util::stream;

    use super::*;

    async fn outcome(body: Body) -> Result<usize, u16> {
        read(Request::new(body)).await.map(|bytes| bytes.len()).map_err(|error| error.kind.status())
    }

    #[tokio::test(start_paused = true)]
    async fn a_body_that_does_not_come_is_a_408() {
        let stuck = stream::pending::<Result<Bytes, Infallible>>();
        assert_eq!(outcome(Body::from_stream(stuck)).await, Err(408));
    }

    #[tokio::test]
    async fn the_cap_holds_for_stated_and_for_unstated_lengths() {
        assert_eq!(outcome(Body::from(vec![b' '; BODY_CAP])).await, Ok(BODY_CAP));
        assert_eq!(outcome(Body::from(vec![b' '; BODY_CAP + 1])).await, Err(413));
        let megabyte = || Ok::<_, Infallible>(Bytes::from(vec![b' '; 1 << 20]));
        let unstated = |count| Body::from_stream(stream::iter((0..count).map(move |_| megabyte())));
        assert_eq!(outcome(unstated(20)).await, Ok(20 << 20));
        assert_eq!(outcome(unstated(21)).await, Err(413));
    }
}
