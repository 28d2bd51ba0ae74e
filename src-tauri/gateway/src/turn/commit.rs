//! From a turn to the member that answers it: members are tried in their order until one has begun to answer
//! (route.md §4). Until then the caller has seen nothing, and whoever fails is passed over unseen.

use std::{collections::VecDeque, time::Duration};

use bytes::Bytes;
use futures_util::future::join;
use http::{HeaderName, Method, header};
use plan::Registered;
use tokio::time::{Instant, timeout_at};
use wire::{ApiError, Dialect, Finish, Kind, Origin, UpstreamError};

use super::{
    Turn,
    answering::Answering,
    asked::{Asked, Said},
    failure::{AsItIs, Failed, Refusal, nobody_answered},
    watch::Watch,
};
use crate::{
    api::shutting_down,
    asking::Again,
    facts::Holds,
    gateway::Gateway,
    metered::{Call, Purpose},
    panel::cleaned_error,
    upstream::{ACCEPT, Incoming, Outgoing, Sends, headers, network, notice, silence, text_header, url},
};

/// Members tried in one turn.
const MOST: usize = 3;

/// How long an error's body is waited for.
const ERROR_PATIENCE: Duration = Duration::from_secs(5);

impl Turn {
    /// The first member that answers, with its first piece in hand; or why nobody does.
    pub(crate) async fn commit(&mut self) -> Result<Answering, Refusal> {
        let closing = self.gateway.closing().clone();
        tokio::select! {
            committed = self.try_members() => committed,
            () = closing.cancelled() => Err(shutting_down().into()),
        }
    }

    async fn try_members(&mut self) -> Result<Answering, Refusal> {
        let mut waiting: VecDeque<String> = self.order.iter().map(|it| it.alias.clone()).collect();
        let mut next = waiting.pop_front();
        for tries_left in (0..MOST).rev() {
            let Some(alias) = next.take() else { break };
            match self.ask(&alias, tries_left == 0 || waiting.is_empty()).await? {
                Ok(answering) => {
                    self.record.answers();
                    return Ok(answering);
                }
                Err(failed) if failed.passes_on() => {
                    // What was limited may be the key that others are called with too: they come last.
                    waiting.make_contiguous().sort_by_cached_key(|alias| self.rests(alias));
                    next = waiting.pop_front().filter(|_| tries_left > 0);
                    self.record.failed(failed.error, next.as_deref());
                }
                Err(failed) => {
                    self.record.failed(failed.error.clone(), None);
                    return Err(failed.given_back());
                }
            }
        }
        let error = nobody_answered(&self.collection.name, self.record.failed_over(), self.record.errors());
        Err(Refusal::Api(Box::new(error), Some(self.bench())))
    }

    /// Whether a member is left alone by now.
    fn rests(&self, alias: &str) -> bool {
        let now_ms = self.gateway.clock().now_ms();
        self.snapshot.roster.get(alias).is_some_and(|it| self.gateway.cooling(it, now_ms).is_some())
    }

    /// Asks one member; the last one is asked once more when that may help.
    ///
    /// Errors: what is wrong with the caller's body for every member of its API.
    async fn ask(&mut self, alias: &str, is_last: bool) -> Result<Result<Answering, Failed>, ApiError> {
        let (mut again, mut otherwise) = (false, Again::default());
        let mut was: Option<Failed> = None;
        loop {
            // A turn keeps the set-up it began with, and whom its owner has retired meanwhile is called no more.
            if self.gateway.is_gone(alias) {
                return Ok(Err(Failed::of(gone(alias))));
            }
            let said = Said { request: &self.request, body: &self.body, conversation: &self.conversation };
            let Some(asked) = Asked::new(&self.gateway, &self.snapshot, alias, said) else {
                return Ok(Err(Failed::of(gone(alias))));
            };
            let mut asked = asked?;
            match asked.widened(&self.gateway, &self.snapshot, &otherwise) {
                Some(body) => asked.body = body,
                // It has all the room that there is.
                None => return Ok(Err(was.unwrap_or_else(Failed::empty))),
            }
            let failed = match self.attempt(asked).await {
                Ok(answering) => return Ok(Ok(answering)),
                Err(failed) => failed,
            };
            // What it has just been learned to refuse, it is asked without.
            let it = self.snapshot.roster.get(alias);
            if otherwise.learns(|| it.is_some_and(|it| self.gateway.learn(it, &failed.error))) {
                continue;
            }
            if failed.out_of_room.as_ref().is_some_and(|usage| otherwise.widens(usage)) {
                was = Some(failed);
                continue;
            }
            match failed.once_more_after() {
                Some(wait) if is_last && !again && failed.passes_on() => {
                    again = true;
                    tokio::time::sleep(wait).await;
                }
                _ => return Ok(Err(failed)),
            }
        }
    }

    /// One call to a member, up to its first piece; else why not.
    async fn attempt(&mut self, asked: Asked) -> Result<Answering, Failed> {
        self.record.asks(&asked);
        let snapshot = self.snapshot.clone();
        let alias = asked.model.alias.clone();
        let Some(it) = snapshot.roster.get(&alias) else { return Err(Failed::of(gone(&alias))) };
        let call = Call {
            snapshot: &snapshot,
            it,
            purpose: Purpose::Route,
            collection: &self.collection.name,
            caller: &self.caller,
            body: &asked.body,
            estimate: self.estimate,
            holds: Holds::of(&self.request),
        };
        let sends = match self.gateway.admit(call).await {
            Ok(metered) => self.record.sends(metered),
            Err(paced) => return Err(Failed::of(paced)),
        };
        let answering = self.first_piece(it, asked, sends).await;
        answering.inspect_err(|failed| {
            self.record.attempt_failed(&failed.error);
        })
    }

    async fn first_piece(
        &mut self,
        it: &Registered,
        asked: Asked,
        sends: Sends,
    ) -> Result<Answering, Failed> {
        let streamed = self.request.stream;
        let sending =
            send(&self.gateway, (it, &asked, sends.clone()), &self.features, streamed, self.patience);
        // Noted once it has gone out, while the member is at it.
        let (sent, ()) = join(sending, async { self.record.note() }).await;
        let incoming = sent?;
        let listening = self.gateway.origins().listen(asked.member, &self.conversation);
        let watch = Watch::new(listening, sends, self.early, self.keeps_text);
        let closing = self.gateway.closing().child_token();
        let mut answering =
            Answering::new(asked, incoming, &self.request, watch, self.patience.idle, closing);
        loop {
            answering.read().await;
            let begun = answering.watch.first_piece.is_some();
            if begun {
                self.record.begins();
            }
            if let Some(error) = answering.watch.error.take() {
                return Err(Failed::of(cleaned(&self.gateway, error)));
            }
            // A reply that goes out whole may fail over to its last byte.
            if begun && (self.request.stream || answering.watch.is_over()) {
                return Ok(answering);
            }
            if !begun && answering.watch.finish.is_some() {
                return Err(match answering.watch.is_notice() {
                    true => Failed::of(cleaned(&self.gateway, notice(answering.watch.opening()))),
                    false => {
                        let is_cut = answering.watch.finish == Some(Finish::Length);
                        let out_of_room = is_cut.then_some(answering.watch.usage);
                        Failed { out_of_room, ..Failed::empty() }
                    }
                });
            }
        }
    }
}

/// What beside the body of a relayed turn switches features of its API.
#[derive(Clone)]
pub(super) struct Features {
    headers: Vec<(&'static str, String)>,
    /// With its `?`, or empty.
    query: String,
}

impl Features {
    pub(super) fn new(api: Dialect, headers: Vec<(&'static str, String)>, query: &str) -> Features {
        // Gemini's says how the answer is framed, which goes with its path; a key is nobody's but the gateway's.
        let kept = query.split('&').filter(|pair| {
            let is_key = pair.split('=').next() == Some("key") || vault::gateway_key::is_in(pair);
            api != Dialect::Gemini && !pair.is_empty() && !is_key
        });
        let kept: Vec<&str> = kept.collect();
        let query = if kept.is_empty() { String::new() } else { format!("?{}", kept.join("&")) };
        Features { headers, query }
    }
}

/// How long a member may be silent, and how long a reply may take that comes all at once.
#[derive(Clone, Copy)]
pub(super) struct Patience {
    pub idle: Duration,
    pub whole: Duration,
}

/// Sends a turn to a member: the reply's head, when it is a 2xx. `streamed` is what the caller wants.
pub(super) async fn send(
    gateway: &Gateway,
    (it, asked, sends): (&Registered, &Asked, Sends),
    features: &Features,
    streamed: bool,
    patience: Patience,
) -> Result<Incoming, Failed> {
    let at_once = asked.relayed && !streamed;
    let key = gateway.key(&asked.endpoint).await;
    let accept = if at_once { "application/json" } else { ACCEPT };
    let mut outgoing = headers(&asked.endpoint, key.as_ref(), accept, &asked.encoded.headers);
    let mut url = url(&asked.endpoint, &asked.encoded);
    if asked.relayed {
        for (name, value) in &features.headers {
            outgoing.set(HeaderName::from_static(name), value);
        }
        url.push_str(&features.query);
    }
    let upstream = gateway.upstream();
    let outgoing = Outgoing { method: Method::POST, url, headers: outgoing, body: asked.body.clone(), sends };
    let patience = if at_once { patience.whole } else { patience.idle };
    let sent = match timeout_at(Instant::now() + patience, upstream.transport.send(outgoing)).await {
        Err(_) => Err(silence(patience)),
        Ok(Err(error)) => Err(network(&error)),
        Ok(Ok(incoming)) => Ok(incoming),
    };
    let incoming = sent.map_err(Failed::of)?;
    gateway.note_headers(&asked.endpoint, it, &incoming.headers);
    if (200..300).contains(&incoming.status) {
        return Ok(incoming);
    }
    let (status, is_json, head) = (incoming.status, is_json(&incoming), incoming.headers.clone());
    let format = wire::format(asked.endpoint.api);
    let refused = upstream.refused(format, incoming, Instant::now() + ERROR_PATIENCE).await;
    if status == 429 {
        gateway.note_refusal(&asked.endpoint, it, (status, &head, &refused.body));
    }
    let goes_back = asked.relayed && is_json && !refused.body.is_empty();
    let as_it_is = goes_back.then(|| AsItIs {
        status,
        body: Bytes::from(gateway.scrub(&String::from_utf8_lossy(&refused.body))),
    });
    Err(Failed { as_it_is, ..Failed::of(cleaned(gateway, refused.error)) })
}

fn cleaned(gateway: &Gateway, error: UpstreamError) -> UpstreamError {
    UpstreamError { message: cleaned_error(gateway, &error.message), ..error }
}

fn is_json(incoming: &Incoming) -> bool {
    text_header(&incoming.headers, header::CONTENT_TYPE).to_ascii_lowercase().contains("json")
}

fn gone(alias: &str) -> UpstreamError {
    UpstreamError {
        class: wire::Class::Other,
        status: None,
        message: format!("{alias} was retired or removed while the turn ran"),
        retry_after: None,
    }
}

/// A turn that was cut off from inside.
pub(crate) fn lost() -> ApiError {
    let message = "the gateway failed while the turn ran";
    ApiError::new(Kind::Internal, Origin::Gateway, "internal", message)
}
