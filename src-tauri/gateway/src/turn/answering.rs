//! A member's answer as it comes: its body is read when the caller is ready for more, and in no other task, so that a
//! slow reader slows the member and one that hangs up stops it.

use std::time::Duration;

use bytes::Bytes;
use futures_util::{FutureExt, StreamExt, stream::BoxStream};
use http::HeaderMap;
use tokio::time::{Instant, timeout_at};
use tokio_util::{sync::CancellationToken, task::TaskTracker};
use wire::{
    Class, Event, EventDecoder, EventEncoder, Form, Request, Restore, UpstreamError,
    relay::{self, Relay},
};

use super::{asked::Asked, watch::Watch};
use crate::upstream::{AFTER_FINISH, Incoming, SendError, network, reuse, silence, text_header};

/// What has arrived is taken together up to this size, so that what came together goes out together.
const TOGETHER: usize = 64 * 1024;

/// The most that is held before the first piece: reasoning.
const HELD: usize = 32 * 1024 * 1024;

pub(crate) struct Answering {
    pub asked: Asked,
    pub watch: Watch,
    body: BoxStream<'static, Result<Bytes, SendError>>,
    is_handed_over: bool,
    reader: Reader,
    /// Read, and not gone on yet: the caller's bytes of a relay, the events of a translation.
    bytes: Vec<u8>,
    events: Vec<Event>,
    /// The error was not among the member's own bytes.
    untold: bool,
    last_byte: Instant,
    idle: Duration,
    /// Its own, of the gateway's end.
    closing: CancellationToken,
}

enum Reader {
    Relay(Box<Relay>),
    /// One whole reply that goes on as it is.
    Whole(Restore),
    Translation(Box<dyn EventDecoder>),
}

impl Answering {
    /// From a reply's head on.
    pub(crate) fn new(
        asked: Asked,
        incoming: Incoming,
        request: &Request,
        watch: Watch,
        idle: Duration,
        closing: CancellationToken,
    ) -> Answering {
        // A member may send one whole reply where a stream was asked for: only a stream can be relayed as one.
        let relayed = asked.relayed && request.form != Form::Array;
        let reader = match (relayed, is_stream(&incoming.headers)) {
            (true, true) if request.stream => Reader::Relay(Box::new(Relay::new(request, asked.member))),
            (true, false) if !request.stream => Reader::Whole(relay::restore(request, asked.member)),
            _ => {
                let decoder = wire::format(asked.endpoint.api).decoder();
                Reader::Translation(asked.encoded.restore.over(decoder))
            }
        };
        Answering {
            asked,
            watch,
            body: incoming.body,
            is_handed_over: incoming.is_handed_over,
            reader,
            bytes: Vec::new(),
            events: Vec::new(),
            untold: false,
            last_byte: Instant::now(),
            idle,
            closing,
        }
    }

    /// Whether its bytes go on as they are.
    pub(crate) fn is_relay(&self) -> bool {
        matches!(self.reader, Reader::Relay(_) | Reader::Whole(_))
    }

    /// The whole reply as the member sent it, where it goes on as it is.
    pub(crate) fn take_whole(&mut self) -> Option<Vec<u8>> {
        matches!(self.reader, Reader::Whole(_)).then(|| std::mem::take(&mut self.bytes))
    }

    /// Reads what comes next, all of it that is there. Loses nothing when it is dropped before it is done.
    pub(crate) async fn read(&mut self) {
        let may_end = self.may_end();
        let patience = if may_end { AFTER_FINISH.min(self.idle) } else { self.idle };
        let came = tokio::select! {
            biased;
            () = self.closing.cancelled() => return self.end(Some(stopped())),
            came = timeout_at(self.last_byte + patience, self.body.next()) => came,
        };
        match came {
            Ok(next) => {
                let mut next = Some(next);
                let mut taken = 0;
                while let Some(piece) = next {
                    match piece {
                        Some(Ok(bytes)) => {
                            taken += bytes.len();
                            self.take(&bytes);
                        }
                        Some(Err(error)) => self.end(Some(network(&error))),
                        None => self.end(None),
                    }
                    if self.watch.is_over() || taken >= TOGETHER {
                        break;
                    }
                    next = self.body.next().now_or_never();
                    if next.is_none() && self.is_handed_over {
                        // The connection's own task gives one piece at a time: it may have read more.
                        tokio::task::yield_now().await;
                        next = self.body.next().now_or_never();
                    }
                }
                self.last_byte = Instant::now();
            }
            Err(_) => self.end(Some(silence(self.idle))),
        }
    }

    /// What may go to the caller by now: a relay's bytes, or the events as the encoder writes them.
    pub(crate) fn out(&mut self, encoder: &mut dyn EventEncoder) -> Vec<u8> {
        if self.is_relay() {
            return std::mem::take(&mut self.bytes);
        }
        let mut out = Vec::new();
        for event in self.events.drain(..) {
            out.extend(encoder.event(&event));
        }
        out
    }

    /// What was read goes nowhere.
    pub(crate) fn forget(&mut self) {
        self.bytes.clear();
        self.events.clear();
    }

    /// The events read so far.
    pub(crate) fn take_events(&mut self) -> Vec<Event> {
        std::mem::take(&mut self.events)
    }

    /// What is written after everything the member said.
    pub(crate) fn last(&mut self, encoder: &mut dyn EventEncoder, bench: &serde_json::Value) -> Vec<u8> {
        match &mut self.reader {
            Reader::Relay(relay) => relay.finish(Some(bench)),
            Reader::Whole(_) => Vec::new(),
            Reader::Translation(_) => encoder.finish(self.watch.usage, Some(bench)),
        }
    }

    /// The first piece is out: from here on only what is recorded is read.
    pub(crate) fn committed(&mut self, keeps_text: bool) {
        // It has been sent, and is not sent again.
        self.asked.body = Bytes::new();
        if let Reader::Relay(relay) = &mut self.reader
            && !keeps_text
        {
            relay.only_what_counts();
        }
    }

    /// Lets the connection be used again, once the answer is whole.
    pub(crate) fn reuse(&mut self, tasks: &TaskTracker) {
        let body = std::mem::replace(&mut self.body, futures_util::stream::empty().boxed());
        reuse(body, tasks);
    }

    /// Nobody reads on. An answer whose finish reason has come is whole, with what it took.
    pub(crate) fn let_go(&mut self) {
        if self.may_end() && !self.watch.is_over() {
            self.end(None);
        }
    }

    fn may_end(&self) -> bool {
        match &self.reader {
            Reader::Relay(relay) => relay.may_end(),
            Reader::Whole(_) => false,
            Reader::Translation(decoder) => decoder.may_end(),
        }
    }

    fn take(&mut self, bytes: &[u8]) {
        let known = self.events.len();
        match &mut self.reader {
            Reader::Relay(relay) => {
                let out = relay.push(bytes, &mut self.events);
                append(&mut self.bytes, out);
                self.watch.heard().take_bytes(relay.take_unread());
            }
            Reader::Whole(_) => {
                self.bytes.extend_from_slice(bytes);
                self.watch.heard().take_bytes(bytes.len() as u64);
            }
            Reader::Translation(decoder) => decoder.push(bytes, &mut self.events),
        }
        self.watched(known);
        if self.watch.first_piece.is_none() && self.bytes.len() > HELD {
            self.watch.error.get_or_insert(too_long());
        }
    }

    /// The body ended, or will not go on: `cut` says why. An answer whose finish reason has come is whole.
    fn end(&mut self, cut: Option<UpstreamError>) {
        let cut = cut.filter(|_| !self.may_end());
        let known = self.events.len();
        let mut held = Vec::new();
        match &mut self.reader {
            Reader::Relay(relay) => held = relay.end(&mut self.events),
            Reader::Whole(restore) => {
                let format = wire::format(self.asked.endpoint.api);
                self.events = restore.events(format.decode_reply(&self.bytes));
                if self.events.iter().any(|event| matches!(event, Event::Finish { .. })) {
                    self.watch.heard().forget_bytes();
                }
            }
            Reader::Translation(decoder) => decoder.end(&mut self.events),
        }
        self.watched(known);
        // What the transport says of a cut tells more than that the end mark is missing.
        if cut.is_some() {
            self.watch.error = cut;
        }
        self.untold = self.watch.error.is_some();
        // Half an event would swallow the one that tells of the error.
        if !self.untold {
            append(&mut self.bytes, held);
        }
    }

    /// Whether it was the gateway that stopped.
    pub(crate) fn is_stopped(&self) -> bool {
        self.watch.error.is_some() && self.closing.is_cancelled()
    }

    /// Whether a relay's caller has yet to be told of the error: what the member said of it has gone on.
    pub(crate) fn error_is_untold(&self) -> bool {
        self.untold
    }

    fn watched(&mut self, known: usize) {
        for event in &self.events[known..] {
            self.watch.take(event);
        }
        if self.is_relay() {
            self.events.clear();
        }
    }
}

/// A relay's own bytes go on without a copy when nothing waits.
fn append(bytes: &mut Vec<u8>, more: Vec<u8>) {
    if bytes.is_empty() { *bytes = more } else { bytes.extend(more) }
}

fn is_stream(headers: &HeaderMap) -> bool {
    let content_type = text_header(headers, http::header::CONTENT_TYPE).to_ascii_lowercase();
    // Some say nothing, or that they send text.
    !content_type.starts_with("application/json") && !content_type.starts_with("text/html")
}

fn stopped() -> UpstreamError {
    let message = "Benchwarmers is stopping".to_owned();
    UpstreamError { class: Class::Other, status: None, message, retry_after: None }
}

fn too_long() -> UpstreamError {
    let message = "32 MB came before the answer began, or were one answer".to_owned();
    UpstreamError { class: Class::Other, status: None, message, retry_after: None }
}

#[cfg(test)]
mod tests {
    use futures_util::stream;
    use http::HeaderValue;
    use wire::{Dialect, ReplyHead, Route};

    use super::*;
    use crate::{origins::Origins, upstream::Sends};

    const IDLE: Duration = Duration::from_secs(90);

    fn piece(text: &str) -> Bytes {
        Bytes::from(format!(
            "data: {{\"id\":\"c\",\"model\":\"m\",\"choices\":[{{\"index\":0,\"delta\":{{{text}}}}}]}}\n\n"
        ))
    }

    fn answering(
        api: Dialect,
        body: impl futures_util::Stream<Item = Result<Bytes, SendError>> + Send + 'static,
    ) -> Answering {
        let question =
            br#"{"model":"bench/x:route","stream":true,"messages":[{"role":"user","content":"q"}]}"#;
        let request = wire::format(Dialect::Chat).decode_request(question, &Route::default()).unwrap();
        let endpoint = catalog::Endpoint { api, ..catalog::Endpoint::new("fake", "http://127.0.0.1:1") };
        let target = wire::Target::default();
        let asked = Asked {
            model: catalog::Model::new("alpha", "fake", "m"),
            relayed: api == Dialect::Chat,
            encoded: wire::format(api).encode_request(&request, &target),
            endpoint,
            member: wire::Member(1),
            body: Bytes::new(),
        };
        let mut headers = HeaderMap::new();
        headers.insert(http::header::CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
        let incoming = Incoming { status: 200, headers, body: body.boxed(), is_handed_over: false };
        let watch = Watch::new(Origins::new().listen(wire::Member(1), "c"), Sends::default(), false, false);
        Answering::new(asked, incoming, &request, watch, IDLE, CancellationToken::new())
    }

    #[tokio::test(start_paused = true)]
    async fn a_member_that_says_nothing_is_given_up_after_its_time() {
        let mut it = answering(Dialect::Chat, stream::pending());
        let begun = Instant::now();
        // Looked at again and again, as while keep-alives go out.
        while !it.watch.is_over() {
            let _ = tokio::time::timeout(Duration::from_secs(10), it.read()).await;
        }
        assert_eq!(begun.elapsed(), IDLE);
        let error = it.watch.error.take().unwrap();
        assert_eq!((error.class, error.message.as_str()), (Class::Timeout, "nothing came for 90 s"));
    }

    #[tokio::test(start_paused = true)]
    async fn every_byte_gives_it_its_time_anew() {
        let comments = stream::unfold(0, |n| async move {
            tokio::time::sleep(Duration::from_secs(60)).await;
            (n < 3).then(|| (Ok(Bytes::from_static(b": thinking\n\n")), n + 1))
        });
        let mut it = answering(Dialect::Chat, comments.chain(stream::pending()));
        let begun = Instant::now();
        while !it.watch.is_over() {
            it.read().await;
        }
        // Three minutes of comments, a fourth step that ends the body.
        assert_eq!(begun.elapsed(), Duration::from_secs(3 * 60) + IDLE);
    }

    #[tokio::test(start_paused = true)]
    async fn an_answer_whose_finish_has_come_is_whole_though_its_end_does_not_come() {
        let said = stream::iter([Ok(piece("\"content\":\"a\"")), Ok(finish())]);
        let mut it = answering(Dialect::Chat, said.chain(stream::pending()));
        let begun = Instant::now();
        while !it.watch.is_over() {
            it.read().await;
        }
        assert_eq!(begun.elapsed(), AFTER_FINISH);
        assert_eq!((it.watch.error.clone(), it.watch.finish), (None, Some(wire::Finish::Stop)));
    }

    fn finish() -> Bytes {
        Bytes::from_static(b"data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\n")
    }

    #[tokio::test]
    async fn what_came_together_goes_out_together() {
        let said =
            ["\"content\":\"a\"", "\"content\":\"b\"", "\"content\":\"c\""].map(|text| Ok(piece(text)));
        let mut it = answering(Dialect::Chat, stream::iter(said).chain(stream::pending()));
        it.read().await;
        let mut encoder = wire::format(Dialect::Chat).encoder(ReplyHead::default());
        let out = String::from_utf8(it.out(&mut *encoder)).unwrap();
        assert_eq!(out.matches("data: ").count(), 3, "{out}");
        assert_eq!(out.matches("\"model\":\"bench/x:route\"").count(), 3, "{out}");
    }

    #[tokio::test]
    async fn a_cut_is_told_by_what_the_connection_says() {
        let said = stream::iter([Ok(piece("\"content\":\"a\"")), Err(SendError::Reset)]);
        let mut it = answering(Dialect::Chat, said);
        while !it.watch.is_over() {
            it.read().await;
        }
        assert_eq!(it.watch.error.as_ref().map(|error| error.class), Some(Class::Network));
        assert!(it.error_is_untold());
    }
}
