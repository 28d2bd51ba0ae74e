//! One call to a member: the request out, the stream in, how it ended.

use std::{sync::Arc, time::Duration};

use bytes::Bytes;
use catalog::Endpoint;
use futures_util::{FutureExt, StreamExt, stream::BoxStream};
use http::{HeaderMap, HeaderName, Method, header};
use secrecy::{ExposeSecret, SecretString};
use tokio::time::{Instant, timeout_at};
use tokio_util::task::TaskTracker;
use wire::{Auth, Class, Encoded, Event, Finish, Format, Restore, UpstreamError, Usage};

use super::{
    heard::Heard,
    transport::{Incoming, Outgoing, OutgoingHeaders, SendError, Sends, Transport},
};
use crate::clock::Clock;

/// Streams, and the whole replies of providers that do not stream.
pub(crate) const ACCEPT: &str = "text/event-stream, application/x-ndjson, application/json";

/// The most that is read of an error body.
const ERROR_BODY: usize = 64 * 1024;

/// How long usage may come after the end mark.
pub(crate) const AFTER_FINISH: Duration = Duration::from_secs(2);

/// How long a seat may take.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    pub whole: Duration,
    pub idle: Duration,
}

pub(crate) struct Upstream {
    pub transport: Arc<dyn Transport>,
    pub clock: Clock,
    pub tasks: TaskTracker,
}

/// How a call ended.
#[derive(Debug)]
pub(crate) enum CallEnd {
    Ok,
    Empty,
    Error(UpstreamError),
}

/// What is known of a call when it is over.
#[derive(Debug)]
pub(crate) struct Outcome {
    pub end: CallEnd,
    pub answer: String,
    /// Tools that were called, where any were offered; an answer that is nothing else is empty.
    pub called: Vec<Called>,
    pub usage: Usage,
    pub seconds: f64,
    pub first_token_s: Option<f64>,
    /// The model the provider says answered.
    pub served_as: Option<String>,
    pub finish: Option<Finish>,
    /// Times it was sent.
    pub attempts: u32,
    /// Of the last reply, where one came.
    pub head: Option<Head>,
}

/// A tool that was called, its arguments as they came.
#[derive(Debug)]
pub(crate) struct Called {
    index: usize,
    pub name: String,
    pub arguments: String,
}

/// What a reply says beside its answer.
#[derive(Debug)]
pub(crate) struct Head {
    pub status: u16,
    pub headers: HeaderMap,
    /// Of a reply that is no 2xx, up to 64 KB.
    pub refusal: Vec<u8>,
}

/// A reply that is no 2xx: read, and as it came.
pub(crate) struct Refused {
    pub error: UpstreamError,
    /// Up to 64 KB.
    pub body: Vec<u8>,
}

impl Upstream {
    /// Asks one member. `on_text` gets the answer's pieces as they come.
    pub(crate) async fn ask(
        &self,
        endpoint: &Endpoint,
        encoded: &Encoded,
        body: Bytes,
        (key, sends): (Option<SecretString>, &Sends),
        limits: Limits,
        mut on_text: impl FnMut(&str),
    ) -> Outcome {
        let begun = Instant::now();
        let deadline = begun + limits.whole;
        let format = wire::format(endpoint.api);
        let url = url(endpoint, encoded);

        let mut reading = Reading::new(format, encoded.restore.clone(), begun, sends.heard());
        let mut is_first = true;
        let mut head = None;
        let end = loop {
            let outgoing = Outgoing {
                method: Method::POST,
                url: url.clone(),
                headers: headers(endpoint, key.as_ref(), ACCEPT, &encoded.headers),
                body: body.clone(),
                sends: sends.clone(),
            };
            let idle = |from: Instant| (from + limits.idle).min(deadline);
            let sent = match timeout_at(idle(Instant::now()), self.transport.send(outgoing)).await {
                Err(_) => break CallEnd::Error(out_of_time(limits, begun)),
                Ok(sent) => sent,
            };
            match sent {
                Err(error) if is_first && error.is_unsent() => is_first = false,
                Err(error) => break CallEnd::Error(network(&error)),
                Ok(mut incoming) if (200..300).contains(&incoming.status) => {
                    let headers = std::mem::take(&mut incoming.headers);
                    head = Some(Head { status: incoming.status, headers, refusal: Vec::new() });
                    break reading.stream(incoming, limits, deadline, &self.tasks, &mut on_text).await;
                }
                Ok(incoming) => {
                    let (status, headers) = (incoming.status, incoming.headers.clone());
                    let until = deadline.min(Instant::now() + limits.idle);
                    let Refused { error, body } = self.refused(format, incoming, until).await;
                    head = Some(Head { status, headers, refusal: body });
                    break CallEnd::Error(error);
                }
            }
        };
        let end = match end {
            CallEnd::Ok if reading.answer.trim().is_empty() => CallEnd::Empty,
            CallEnd::Ok if wire::quota_notice(&reading.answer) => CallEnd::Error(notice(&reading.answer)),
            end => end,
        };
        Outcome {
            end,
            answer: reading.answer,
            called: reading.called,
            // Before its end nothing of that is known.
            usage: reading.finish.map(|_| reading.usage).unwrap_or_default(),
            seconds: begun.elapsed().as_secs_f64(),
            first_token_s: reading.first_token_s,
            served_as: reading.served_as,
            finish: reading.finish,
            attempts: sends.times(),
            head,
        }
    }

    /// Reads a reply that is no 2xx. What has come of it by `deadline` is enough: the status says most.
    pub(crate) async fn refused(
        &self,
        format: &dyn Format,
        incoming: Incoming,
        deadline: Instant,
    ) -> Refused {
        let status = incoming.status;
        let headers = incoming.headers.clone();
        let body = read_at_most(incoming, ERROR_BODY, deadline).await;
        let mut error = format.decode_error(status, text_header(&headers, header::CONTENT_TYPE), &body);
        let now = self.clock.now_ms() / 1000;
        if let Some(wait) = wire::wait::from_headers(|name| headers.get(name)?.to_str().ok(), now) {
            error.retry_after = Some(wait);
        }
        Refused { error, body }
    }
}

/// The answer as far as it has been read.
struct Reading<'a> {
    heard: &'a Heard,
    format: &'static dyn Format,
    restore: Restore,
    begun: Instant,
    answer: String,
    called: Vec<Called>,
    usage: Usage,
    first_token_s: Option<f64>,
    served_as: Option<String>,
    finish: Option<Finish>,
}

impl<'a> Reading<'a> {
    fn new(format: &'static dyn Format, restore: Restore, begun: Instant, heard: &'a Heard) -> Reading<'a> {
        Reading {
            heard,
            format,
            restore,
            begun,
            answer: String::new(),
            called: Vec::new(),
            usage: Usage::default(),
            first_token_s: None,
            served_as: None,
            finish: None,
        }
    }

    async fn stream(
        &mut self,
        mut incoming: Incoming,
        limits: Limits,
        deadline: Instant,
        tasks: &TaskTracker,
        on_text: &mut impl FnMut(&str),
    ) -> CallEnd {
        let mut decoder = self.restore.over(self.format.decoder());
        let mut events = Vec::new();
        let mut deadline = deadline;
        let mut may_end = false;
        loop {
            if decoder.may_end() && !may_end {
                // Only usage and the end mark can come now. A provider that holds them back, or fills the time
                // with comments, is not waited for long.
                may_end = true;
                deadline = deadline.min(Instant::now() + AFTER_FINISH);
            }
            let until = (Instant::now() + limits.idle).min(deadline);
            let cut = match timeout_at(until, incoming.body.next()).await {
                Ok(Some(Ok(bytes))) => {
                    decoder.push(&bytes, &mut events);
                    None
                }
                Ok(None) => {
                    decoder.end(&mut events);
                    None
                }
                Ok(Some(Err(error))) => Some(network(&error)),
                Err(_) => Some(out_of_time(limits, self.begun)),
            };
            // What was said before a cut is kept; a cut is an end only where the finish reason had come.
            let may_end = may_end || decoder.may_end();
            if cut.is_some() {
                decoder.end(&mut events);
            }
            let ended = self.take(&mut events, on_text);
            match (cut, ended) {
                (Some(error), _) if !may_end => return CallEnd::Error(error),
                (_, Some(end)) => {
                    reuse(incoming.body, tasks);
                    return end;
                }
                (Some(error), None) => return CallEnd::Error(error),
                (None, None) => {}
            }
        }
    }

    /// Takes events in. A finish or an error is always the last.
    fn take(&mut self, events: &mut Vec<Event>, on_text: &mut impl FnMut(&str)) -> Option<CallEnd> {
        let mut end = None;
        for event in events.drain(..) {
            self.heard.take(&event);
            match event {
                Event::Text(text) | Event::Refusal(text) => {
                    self.first_token_s.get_or_insert_with(|| self.begun.elapsed().as_secs_f64());
                    on_text(&text);
                    self.answer.push_str(&text);
                }
                Event::Usage(usage) => self.usage.update(usage),
                Event::Model(model) => self.served_as = Some(model),
                Event::Finish { reason, .. } => {
                    self.finish = Some(reason);
                    end = Some(CallEnd::Ok);
                }
                Event::Error(error) => end = Some(CallEnd::Error(error)),
                Event::CallStart(start) => {
                    self.first_token_s.get_or_insert_with(|| self.begun.elapsed().as_secs_f64());
                    let called = Called { index: start.index, name: start.name, arguments: String::new() };
                    self.called.push(called);
                }
                Event::CallArguments { index, delta } => {
                    let called = self.called.iter_mut().rev().find(|called| called.index == index);
                    if let Some(called) = called {
                        called.arguments.push_str(&delta);
                    }
                }
                // What is asked for is text, or a call.
                _ => {}
            }
        }
        end
    }
}

/// Reads what is left of a body whose answer is whole, aside: a connection read to its end is used again.
pub(crate) fn reuse(mut body: BoxStream<'static, Result<Bytes, SendError>>, tasks: &TaskTracker) {
    // Mostly its end has come with its last bytes.
    if let Some(None) = body.next().now_or_never() {
        return;
    }
    tasks.spawn(async move {
        let rest = async { while let Some(Ok(_)) = body.next().await {} };
        let _ = tokio::time::timeout(AFTER_FINISH, rest).await;
    });
}

/// Headers to a provider: the content type, its dialect's own, the endpoint's own, its auth. Nothing of the
/// caller's.
pub(crate) fn headers(
    endpoint: &Endpoint,
    key: Option<&SecretString>,
    accept: &str,
    dialects: &[(&'static str, &str)],
) -> OutgoingHeaders {
    let mut headers = OutgoingHeaders::default();
    headers.set(header::CONTENT_TYPE, "application/json");
    headers.set(header::ACCEPT, accept);
    for (name, value) in dialects {
        headers.set(HeaderName::from_static(name), value);
    }
    for (name, value) in &endpoint.headers {
        if let Ok(name) = HeaderName::try_from(name.as_str()) {
            headers.set(name, value);
        }
    }
    if let Some(key) = key {
        match catalog::auth(endpoint) {
            Auth::Bearer => headers.secret(header::AUTHORIZATION, &format!("Bearer {}", key.expose_secret())),
            Auth::Header(name) => headers.secret(HeaderName::from_static(name), key.expose_secret()),
        }
    }
    headers
}

pub(super) async fn read_at_most(mut incoming: Incoming, cap: usize, deadline: Instant) -> Vec<u8> {
    let mut body = Vec::new();
    while let Ok(Some(Ok(bytes))) = timeout_at(deadline, incoming.body.next()).await {
        let room = cap - body.len();
        body.extend_from_slice(&bytes[..bytes.len().min(room)]);
        if body.len() == cap {
            break;
        }
    }
    body
}

/// Where an encoded request goes.
pub(crate) fn url(endpoint: &Endpoint, encoded: &Encoded) -> String {
    format!("{}{}", endpoint.base.trim_end_matches('/'), encoded.path)
}

pub(crate) fn text_header(headers: &HeaderMap, name: header::HeaderName) -> &str {
    headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default()
}

pub(crate) fn network(error: &SendError) -> UpstreamError {
    UpstreamError { class: Class::Network, status: None, message: error.to_string(), retry_after: None }
}

fn out_of_time(limits: Limits, begun: Instant) -> UpstreamError {
    if begun.elapsed() < limits.whole {
        return silence(limits.idle);
    }
    let message = format!("no whole answer within {} s", limits.whole.as_secs());
    UpstreamError { message, ..silence(limits.idle) }
}

pub(crate) fn silence(idle: Duration) -> UpstreamError {
    let message = format!("nothing came for {} s", idle.as_secs());
    UpstreamError { class: Class::Timeout, status: None, message, retry_after: None }
}

/// An answer that only says that a quota is used up.
pub(crate) fn notice(said: &str) -> UpstreamError {
    let message = wire::redact::redact(said);
    UpstreamError { class: Class::Capacity, status: None, message, retry_after: None }
}
