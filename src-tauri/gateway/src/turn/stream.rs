//! A turn whose reply is streamed: the member's body, mapped, at the pace at which the caller reads it.

use std::{io, time::Duration};

use bytes::Bytes;
use futures_util::future::BoxFuture;
use serde_json::Value;
use tokio::{sync::oneshot, time::timeout};
use wire::{ApiError, Dialect, EventEncoder, Form, Kind, Notice, Origin, ReplyHead, Silence};

use super::{
    Turn,
    answering::Answering,
    commit::lost,
    failure::{AsItIs, Refusal},
};
use crate::{
    api::{Keeping, LAST_WORDS, Silences, shutting_down},
    gateway::Gateway,
    panel::{ON_DISK, describe},
    view::TurnStatus,
};

/// How long the head waits for the first piece, so that a turn that fails everywhere keeps its status.
const HEAD_WAIT: Duration = Duration::from_secs(15);

type Committed = (Box<Turn>, Result<Answering, Refusal>);

pub(crate) struct Streaming {
    gateway: Gateway,
    state: State,
    encoder: Box<dyn EventEncoder>,
    dialect: Dialect,
    form: Form,
    silences: Silences,
    keeping: Option<Keeping>,
    kept: Option<Kept>,
    finishes_alone: bool,
    /// The head went out without a member's word: it has been silent for so long that it is shown to be alive at once.
    late: bool,
}

enum State {
    /// Members are still being tried; keep-alives go out. `None` when it was lost inside.
    Committing(BoxFuture<'static, Option<Committed>>),
    Flowing(Box<Turn>, Box<Answering>),
    Finished,
    /// The error event is out; next the connection is cut, so that nobody takes this for a plain end.
    Failed,
}

impl State {
    /// A member has the turn: what only asking it took is let go.
    fn flowing(mut turn: Box<Turn>, mut answering: Answering) -> State {
        answering.committed(turn.keeps_text);
        turn.forget_question();
        State::Flowing(turn, Box::new(answering))
    }
}

/// What the head of a stream says, where the member is known by then.
pub(crate) struct Begun {
    pub alias: String,
    pub notices: Vec<Notice>,
    /// Of the time before the first member was asked.
    pub overhead_ms: f64,
}

impl Streaming {
    /// Waits for the first piece, at most 15 s.
    pub(crate) async fn begin(
        turn: Box<Turn>,
        mut head: ReplyHead,
        keeping: Option<Keeping>,
    ) -> Result<(Streaming, Option<Begun>), Refusal> {
        let dialect = turn.request.dialect;
        let finishes_alone = turn.finishes_alone();
        let gateway = turn.gateway.clone();
        let form = head.form;
        head.input_tokens = Some(turn.estimate);
        let mut committing = committing(turn);
        let (state, begun) = match timeout(HEAD_WAIT, &mut committing).await {
            Err(_) => (State::Committing(committing), None),
            Ok(None) => return Err(lost().into()),
            Ok(Some((turn, Err(refusal)))) => {
                turn.ends_failed().await;
                return Err(refusal);
            }
            Ok(Some((turn, Ok(mut answering)))) => {
                let alias = answering.asked.model.alias.clone();
                let notices = std::mem::take(&mut answering.asked.encoded.notices);
                let overhead_ms = turn.record.own_ms();
                let begun = Begun { alias, notices, overhead_ms };
                (State::flowing(turn, answering), Some(begun))
            }
        };
        let streaming = Streaming {
            late: begun.is_none(),
            gateway,
            state,
            encoder: wire::format(dialect).encoder(head),
            dialect,
            form,
            silences: Silences::default(),
            kept: keeping.is_some().then(Kept::default),
            keeping,
            finishes_alone,
        };
        Ok((streaming, begun))
    }

    /// The next bytes; `None` at the end, an error where the connection is to be cut.
    pub(crate) async fn next(&mut self) -> Option<io::Result<Bytes>> {
        if std::mem::take(&mut self.late) {
            let alive = self.bare_keep_alive();
            if !alive.is_empty() {
                return Some(Ok(alive.into()));
            }
        }
        loop {
            match &mut self.state {
                State::Finished => return None,
                State::Failed => {
                    tokio::time::sleep(LAST_WORDS).await;
                    return Some(Err(io::Error::other("the turn failed")));
                }
                State::Committing(committing) => match self.silences.unless(committing).await {
                    Err(_) => {
                        let alive = self.bare_keep_alive();
                        if !alive.is_empty() {
                            return Some(Ok(alive.into()));
                        }
                    }
                    Ok(committed) => {
                        if let Some(out) = self.committed(committed).await {
                            return Some(Ok(out));
                        }
                    }
                },
                State::Flowing(turn, answering) => {
                    let out = answering.out(&mut *self.encoder);
                    if let Some(kept) = self.kept.as_mut().filter(|_| answering.is_relay()) {
                        kept.take(&out);
                    }
                    if answering.watch.is_over() {
                        return Some(Ok(self.over(out).await));
                    }
                    if !out.is_empty() {
                        return Some(Ok(out.into()));
                    }
                    turn.record.note();
                    if let Err(silence) = self.silences.unless(answering.read()).await {
                        let alive = match answering.is_relay() {
                            true => self.bare_keep_alive(),
                            false => self.encoder.keep_alive(silence),
                        };
                        if !alive.is_empty() {
                            return Some(Ok(alive.into()));
                        }
                    }
                }
            }
        }
    }

    /// What of the encoder's `words` about an error goes behind a relay's own bytes, of which `out` are the last. Where
    /// the member has told of the error itself, only what the API wants after that.
    fn error_in_relay<'w>(&self, words: &'w [u8], out: &[u8], untold: bool) -> &'w [u8] {
        match (self.dialect, untold) {
            // What it says before belongs to a reply of its own.
            (Dialect::Responses, true) => from(words, b"event: error"),
            (_, true) => words,
            (Dialect::Chat, false) => from(words, b"data: [DONE]"),
            (Dialect::Responses, false) if place(out, b"response.failed").is_none() => {
                from(words, b"event: response.failed")
            }
            (_, false) => &[],
        }
    }

    /// One that may stand before the first event, and between any two of a relay: those go out whole.
    fn bare_keep_alive(&mut self) -> Vec<u8> {
        match (self.dialect, self.form) {
            // Between the items of an array nothing can stand that says nothing.
            (_, Form::Array) => Vec::new(),
            // The encoder would begin a message of its own.
            (Dialect::Anthropic, _) => b"event: ping\ndata: {\"type\": \"ping\"}\n\n".to_vec(),
            _ => self.encoder.keep_alive(Silence::Short),
        }
    }

    /// Somebody answers, or nobody does, after the head has gone out.
    async fn committed(&mut self, committed: Option<Committed>) -> Option<Bytes> {
        self.state = State::Failed;
        match committed {
            None => Some(self.encoder.error(&lost(), None).into()),
            Some((turn, Err(refusal))) => {
                turn.ends_failed().await;
                let (error, bench) = in_words(refusal);
                Some(self.encoder.error(&error, bench.as_ref()).into())
            }
            Some((turn, Ok(answering))) => {
                self.state = State::flowing(turn, answering);
                None
            }
        }
    }

    /// The member is done. What it said last goes out once the turn is on record.
    async fn over(&mut self, mut out: Vec<u8>) -> Bytes {
        let State::Flowing(turn, mut answering) = std::mem::replace(&mut self.state, State::Finished) else {
            return out.into();
        };
        let bench = turn.bench();
        let status = match &answering.watch.error {
            None => {
                answering.reuse(self.gateway.tasks());
                let last = answering.last(&mut *self.encoder, &bench);
                out.extend(last);
                TurnStatus::Ok
            }
            Some(error) => {
                self.state = State::Failed;
                let error = match answering.is_stopped() {
                    true => shutting_down(),
                    false => {
                        let said = turn.gateway.scrub(&describe(error));
                        let message =
                            format!("{} stopped in the middle: {said}", answering.asked.model.alias);
                        ApiError::new(Kind::Upstream, Origin::Upstream, "broken_answer", message)
                    }
                };
                let words = self.encoder.error(&error, Some(&bench));
                let told = match answering.is_relay() {
                    true => self.error_in_relay(&words, &out, answering.error_is_untold()),
                    false => &words,
                };
                out.extend_from_slice(told);
                TurnStatus::Error
            }
        };
        let shadows = match status {
            TurnStatus::Ok => turn.shadows(&answering.asked.model.alias),
            _ => None,
        };
        let written = turn.record.end(Some(&mut answering.watch), status);
        if let (TurnStatus::Ok, Some(keeping)) = (status, self.keeping.take()) {
            let told = self.kept.take().filter(|_| answering.is_relay());
            match (told, self.encoder.take_reply()) {
                (Some(kept), _) => kept.keep(keeping).await,
                (None, Some(reply)) => keeping.keep(reply.to_string()).await,
                (None, None) => {}
            }
        }
        if let Some(written) = written {
            let _ = timeout(ON_DISK, written).await;
        }
        if let Some(shadows) = shadows {
            shadows.begin();
        }
        out.into()
    }
}

impl Drop for Streaming {
    /// The caller hung up. The member is let go with what holds it here, unless the owner has the turn finish alone.
    fn drop(&mut self) {
        let State::Flowing(turn, mut answering) = std::mem::replace(&mut self.state, State::Finished) else {
            return;
        };
        let tasks = self.gateway.panel_tasks().clone();
        if self.finishes_alone {
            tasks.spawn(finish_alone(turn, *answering));
            return;
        }
        answering.let_go();
        if let Some(written) = turn.record.end(Some(&mut answering.watch), TurnStatus::Cancelled) {
            tasks.spawn(written);
        }
    }
}

/// Tries the members. Where the turn is to finish though its caller hangs up, in a task of its own.
fn committing(mut turn: Box<Turn>) -> BoxFuture<'static, Option<Committed>> {
    if !turn.finishes_alone() {
        return Box::pin(async move {
            let committed = turn.commit().await;
            Some((turn, committed))
        });
    }
    let (tell, told) = oneshot::channel();
    let tasks = turn.gateway.panel_tasks().clone();
    tasks.spawn(async move {
        let committed = turn.commit().await;
        match tell.send((turn, committed)) {
            Ok(()) => {}
            Err((turn, Ok(answering))) => finish_alone(turn, answering).await,
            Err((turn, Err(_))) => turn.ends_failed().await,
        }
    });
    Box::pin(async move { told.await.ok() })
}

/// Reads an answer to its end for the record alone.
async fn finish_alone(mut turn: Box<Turn>, mut answering: Answering) {
    turn.record.note();
    while !answering.watch.is_over() {
        answering.read().await;
        answering.forget();
    }
    let status = if answering.watch.error.is_some() { TurnStatus::Error } else { TurnStatus::Ok };
    if let Some(written) = turn.record.end(Some(&mut answering.watch), status) {
        let _ = written.await;
    }
}

/// From where these words stand; nothing where they do not.
fn from<'a>(bytes: &'a [u8], words: &[u8]) -> &'a [u8] {
    place(bytes, words).map_or(&[], |at| &bytes[at..])
}

fn place(bytes: &[u8], words: &[u8]) -> Option<usize> {
    bytes.windows(words.len()).position(|window| window == words)
}

/// After the head nothing can go back as it came.
fn in_words(refusal: Refusal) -> (ApiError, Option<Value>) {
    match refusal {
        Refusal::Api(error, bench) => (*error, bench),
        Refusal::AsItIs(AsItIs { body, .. }) => {
            let said = wire::redact::shorten(&String::from_utf8_lossy(&body), 300);
            (ApiError::new(Kind::InvalidRequest, Origin::Upstream, "refused_by_member", said), None)
        }
    }
}

/// A relayed response that is kept: the object of its last event, as the caller was told it.
#[derive(Default)]
struct Kept {
    events: wire::sse::Decoder,
    last: Option<String>,
}

impl Kept {
    fn take(&mut self, bytes: &[u8]) {
        let mut frames = Vec::new();
        let _ = self.events.push(bytes, &mut frames);
        let ends = |event: &str| matches!(event, "response.completed" | "response.incomplete");
        let last = frames.into_iter().rev().find(|frame| ends(&frame.event));
        self.last = last.map(|frame| frame.data).or(self.last.take());
    }

    async fn keep(self, keeping: Keeping) {
        let Some(event) = self.last.and_then(|data| serde_json::from_str::<Value>(&data).ok()) else {
            return;
        };
        let response = &event["response"];
        if let Some(id) = response["id"].as_str() {
            keeping.under(id).keep(response.to_string()).await;
        }
    }
}
