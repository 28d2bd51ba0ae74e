//! Bodies in, under a cap and a time limit; and what a response holds while its body goes out.

use std::{
    error::Error,
    io,
    pin::{Pin, pin},
    task::{Context, Poll},
    time::Duration,
};

use axum::body::Body;
use bytes::Bytes;
use http::{Request, header};
use http_body_util::{BodyExt, LengthLimitError, Limited};
use hyper::body::{Body as HttpBody, Frame, Incoming, SizeHint};
use tokio::io::AsyncReadExt;
use tokio_util::io::StreamReader;
use wire::{ApiError, Kind, Origin};

use super::coding::{self, Coding, TooMuch};
use crate::guard::BODY_CAP;

/// What a caller has to send its body.
const PATIENCE: Duration = Duration::from_secs(30);

/// How much of a body past the cap is read and thrown away, and how long its next piece is waited for. A caller
/// that is still sending when the connection closes sees a reset, not the reply that says why.
const THROWN_AWAY: usize = 64 * 1024 * 1024;
const THROWING_PATIENCE: Duration = Duration::from_millis(500);

/// What a coded body may hold: a coding adds a little to what it cannot make smaller.
const CODED_CAP: usize = BODY_CAP + BODY_CAP / 64;

/// The whole body, its codings undone as it arrives: 413 over the cap, 408 when it does not come.
pub(crate) async fn read<B>(request: Request<B>) -> Result<Vec<u8>, ApiError>
where
    B: HttpBody<Data = Bytes, Error: Into<Box<dyn Error + Send + Sync>>> + Send,
{
    // Who asks first has sent nothing yet, and reads the refusal.
    let asks_first = request.headers().contains_key(header::EXPECT);
    let codings = coding::codings(request.headers());
    let mut body = pin!(request.into_body());
    let stated = body.size_hint().lower();
    let codings = match codings {
        Ok(codings) if stated <= cap(&codings) as u64 => codings,
        refused => {
            if !asks_first {
                throw_away(body).await;
            }
            return Err(refused.err().unwrap_or_else(too_large));
        }
    };
    match tokio::time::timeout(PATIENCE, whole(body.as_mut(), &codings)).await {
        Err(_) => {
            let message = format!("body: it was not received within {} s", PATIENCE.as_secs());
            Err(ApiError::new(Kind::Timeout, Origin::Client, "body_timeout", message))
        }
        Ok(Ok(bytes)) => Ok(bytes),
        Ok(Err(error)) => {
            throw_away(body).await;
            Err(in_words(&error, &codings))
        }
    }
}

async fn whole<B>(body: Pin<&mut B>, codings: &[Coding]) -> io::Result<Vec<u8>>
where
    B: HttpBody<Data = Bytes, Error: Into<Box<dyn Error + Send + Sync>>> + Send,
{
    let mut whole = Vec::new();
    let stated = body.size_hint().lower() as usize;
    let mut arriving = Limited::new(body, cap(codings)).map_err(not_arrived);
    if codings.is_empty() {
        whole.reserve_exact(stated);
        while let Some(frame) = arriving.frame().await {
            if let Ok(piece) = frame?.into_data() {
                whole.extend_from_slice(&piece);
            }
        }
        return Ok(whole);
    }
    let coded = Box::new(StreamReader::new(arriving.into_data_stream()));
    let mut reader = coding::undone(coded, codings, CODED_CAP, BODY_CAP).await?;
    while reader.read_buf(&mut whole).await? > 0 {
        // A small body may be much work: others get their turn.
        tokio::task::coop::consume_budget().await;
    }
    Ok(whole)
}

fn not_arrived(error: Box<dyn Error + Send + Sync>) -> io::Error {
    if error.is::<LengthLimitError>() { io::Error::other(TooMuch) } else { io::Error::other(Broken) }
}

fn cap(codings: &[Coding]) -> usize {
    if codings.is_empty() { BODY_CAP } else { CODED_CAP }
}

/// The connection ended before the body did.
#[derive(Debug, thiserror::Error)]
#[error("the connection broke")]
struct Broken;

fn in_words(error: &io::Error, codings: &[Coding]) -> ApiError {
    let is = |fault: fn(&(dyn Error + Send + Sync + 'static)) -> bool| error.get_ref().is_some_and(fault);
    if is(|fault| fault.is::<TooMuch>()) {
        too_large()
    } else if is(|fault| fault.is::<Broken>()) {
        ApiError::invalid("body", "body: the connection broke before it was whole")
    } else {
        coding::malformed(error, codings)
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

    /// Half of a deflated body, then what `rest` does.
    async fn coded(rest: impl futures_util::Stream<Item = io::Result<Bytes>> + Send + 'static) -> ApiError {
        let half = stream::iter([Ok(Bytes::from_static(&[1, 8, 0, 0xf7, 0xff, b'{']))]);
        let body = Body::from_stream(futures_util::StreamExt::chain(half, rest));
        read(Request::post("/").header("content-encoding", "deflate").body(body).unwrap()).await.unwrap_err()
    }

    #[tokio::test(start_paused = true)]
    async fn a_coded_body_that_stops_coming_is_told_from_one_that_is_malformed() {
        let error = coded(stream::pending()).await;
        assert_eq!((error.kind.status(), error.code), (408, "body_timeout"));
        let error = coded(stream::iter([Err(io::ErrorKind::ConnectionReset.into())])).await;
        assert_eq!((error.kind.status(), error.code), (400, "body"));
        let error = coded(stream::empty()).await;
        assert_eq!((error.kind.status(), error.code), (400, "content_encoding"));
        assert!(error.message.contains("decoded as deflate: "), "{}", error.message);
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
