//! A panel's reply, plain or streamed.

use std::{io, time::Duration};

use axum::{body::Body, response::Response};
use bytes::Bytes;
use futures_util::stream;
use http::{HeaderValue, StatusCode};
use wire::{ApiError, Dialect, EventEncoder, Kind, Origin, Reply, ReplyHead, ReplyMode, Request};

use super::{Call, ask::Question, reply, responses::Keeping, silence::Silences};
use crate::panel::{Asking, PanelEnd, Running, Update, run};

/// From the error event to the cut. A client's streams drop what is not read yet when the connection breaks, so a
/// busy one needs the time; one that heeds the event has hung up long before.
pub(crate) const LAST_WORDS: Duration = Duration::from_secs(1);

pub(super) async fn ask(
    call: &Call<'_>,
    collection: String,
    reply_mode: ReplyMode,
    question: Question,
) -> Result<Response, ApiError> {
    let Question { request, head, keeping, client, begun, .. } = question;
    refuse_what_panels_lack(&collection, &request)?;
    let stream = request.stream;
    let stream_type = wire::format(call.dialect).stream_type(request.form);
    let seated = call.gateway.seat(Asking {
        collection,
        reply: reply_mode,
        request,
        caller: call.caller.clone(),
        client,
    })?;
    let lossy = reply::lossy(call.gateway, &seated.notices);
    let running = run(call.gateway, seated);
    let before_ms = begun.elapsed().as_secs_f64() * 1000.0;
    let panel = running.panel.clone();
    let mut response = if stream {
        let encoder = wire::format(call.dialect).encoder(head);
        let mut response = streamed(running, encoder, keeping, stream_type);
        response.headers_mut().insert(reply::OVERHEAD, reply::milliseconds(before_ms));
        response
    } else {
        whole(call, head, running, keeping, before_ms).await
    };
    let headers = response.headers_mut();
    if let Ok(id) = HeaderValue::from_str(&panel.id) {
        headers.insert(reply::PANEL, id);
    }
    if let Some(lossy) = lossy {
        headers.insert(reply::LOSSY, lossy);
    }
    Ok(response)
}

/// What no panel may answer (wire.md §4).
fn refuse_what_panels_lack(name: &str, request: &Request) -> Result<(), ApiError> {
    if let Some(place) = request.tool_use() {
        let message = format!(
            "{place}: a panel takes no tools, tool calls or tool results; an agent asks for bench/{name}:route"
        );
        return Err(ApiError::invalid("tools_in_panel", message));
    }
    // Nothing is relayed in a panel: every member is asked in words of its own.
    if let Some(mut error) = request.kept_elsewhere() {
        error.message.push_str(&format!(", or ask for bench/{name}:route with a member of this API"));
        return Err(error);
    }
    Ok(())
}

async fn whole(
    call: &Call<'_>,
    head: ReplyHead,
    mut running: Running,
    keeping: Option<Keeping>,
    before_ms: f64,
) -> Response {
    while let Some(update) = running.updates.recv().await {
        let Update::End(end) = update else { continue };
        let overhead_ms = before_ms + end.overhead_ms;
        // Its reply has no room for the bench object.
        let seats = (call.dialect == Dialect::Gemini).then(|| reply::seats(&end.seats));
        let mut response = ended(call, &head, keeping, *end).await;
        response.headers_mut().insert(reply::OVERHEAD, reply::milliseconds(overhead_ms));
        if let Some(seats) = seats {
            response.headers_mut().insert(reply::SEATS, seats);
        }
        return response;
    }
    call.refuse(&panel_lost(), None)
}

async fn ended(call: &Call<'_>, head: &ReplyHead, keeping: Option<Keeping>, end: PanelEnd) -> Response {
    if let Some(error) = &end.failed {
        return call.refuse(error, Some(&end.bench));
    }
    let reply = Reply::of_text(end.text, end.usage);
    let body = wire::format(call.dialect).encode_reply(head, &reply, Some(&end.bench));
    if let Some(keeping) = keeping {
        keeping.keep(String::from_utf8_lossy(&body).into_owned()).await;
    }
    reply::json(StatusCode::OK, body)
}

/// A panel always tells its end, also when it is cancelled; without one it failed inside.
fn panel_lost() -> ApiError {
    let message = "the gateway failed while the panel ran; answers that had come are on record";
    ApiError::new(Kind::Internal, Origin::Gateway, "internal", message)
}

/// A reply that goes out section by section, at the pace its reader reads.
struct Streaming {
    running: Running,
    encoder: Box<dyn EventEncoder>,
    state: State,
    silences: Silences,
    keeping: Option<Keeping>,
}

enum State {
    Open,
    Finished,
    /// The error event is out; next the connection is cut, so that nobody takes this for a plain end.
    Failed,
}

fn streamed(
    running: Running,
    encoder: Box<dyn EventEncoder>,
    keeping: Option<Keeping>,
    content_type: &'static str,
) -> Response {
    let streaming =
        Streaming { running, encoder, state: State::Open, silences: Silences::default(), keeping };
    let body = Body::from_stream(stream::unfold(streaming, |mut streaming| async move {
        let piece = streaming.next().await?;
        Some((piece, streaming))
    }));
    reply::stream(body, content_type)
}

impl Streaming {
    async fn next(&mut self) -> Option<io::Result<Bytes>> {
        match self.state {
            State::Finished => return None,
            State::Failed => {
                tokio::time::sleep(LAST_WORDS).await;
                return Some(Err(io::Error::other("the panel failed")));
            }
            State::Open => {}
        }
        let piece = match self.silences.unless(self.running.updates.recv()).await {
            Err(silence) => self.encoder.keep_alive(silence),
            Ok(Some(Update::Text(text))) => self.text(text).await,
            Ok(Some(Update::End(end))) => self.end(*end).await,
            Ok(None) => {
                self.state = State::Failed;
                self.encoder.error(&panel_lost(), None)
            }
        };
        Some(Ok(Bytes::from(piece)))
    }

    /// What has come by now goes out together: a slow reader is not sent a merge word by word.
    async fn text(&mut self, mut text: String) -> Vec<u8> {
        let mut ended = None;
        while let Ok(update) = self.running.updates.try_recv() {
            match update {
                Update::Text(more) => text.push_str(&more),
                Update::End(end) => ended = Some(*end),
            }
        }
        let mut piece = self.encoder.text(&text);
        if let Some(end) = ended {
            piece.extend(self.end(end).await);
        }
        piece
    }

    async fn end(&mut self, end: PanelEnd) -> Vec<u8> {
        match &end.failed {
            Some(error) => {
                self.state = State::Failed;
                self.encoder.error(error, Some(&end.bench))
            }
            None => {
                self.state = State::Finished;
                let last = self.encoder.finish(end.usage, Some(&end.bench));
                if let (Some(reply), Some(keeping)) = (self.encoder.take_reply(), self.keeping.take()) {
                    keeping.keep(reply.to_string()).await;
                }
                last
            }
        }
    }
}
