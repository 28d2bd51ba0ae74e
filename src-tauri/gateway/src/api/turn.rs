//! A routed turn's reply, plain or streamed.

use axum::{body::Body, response::Response};
use futures_util::stream;
use http::{HeaderMap, HeaderValue, StatusCode};
use wire::{ApiError, Notice};

use super::{
    Call,
    ask::{AskedFor, Question},
    reply,
};
use crate::{
    gateway::Gateway,
    turn::{AsItIs, Begun, Refusal, Streaming, Taking, Turn},
};

/// What came beside the body.
pub(super) struct Sent {
    pub features: Vec<(&'static str, String)>,
    pub headers: HeaderMap,
    pub query: String,
}

pub(super) async fn take(
    call: &Call<'_>,
    asked: AskedFor,
    question: Question,
    sent: Sent,
) -> Result<Response, ApiError> {
    let Sent { features, headers, query } = sent;
    let Question { request, head, keeping, body, client, begun } = question;
    let AskedFor { collection, by_name } = asked;
    let streamed = request.stream;
    let stream_type = wire::format(call.dialect).stream_type(request.form);
    let caller = call.caller.clone();
    let taking =
        Taking { collection, by_name, request, body, query, features, headers, caller, client, begun };
    if !call.gateway.snapshot().is_practice_collection(&taking.collection) {
        call.gateway.vault().wait().await;
    }
    let turn = Turn::begin(call.gateway, taking)?;
    let conversation = turn.conversation().to_owned();
    let answered = match streamed {
        true => Box::pin(Streaming::begin(turn, head, keeping)).await.map(|(streaming, begun)| {
            let body = Body::from_stream(stream::unfold(Box::new(streaming), |mut streaming| async move {
                let piece = streaming.next().await?;
                Some((piece, streaming))
            }));
            let mut response = reply::stream(body, stream_type);
            if let Some(Begun { alias, notices, overhead_ms }) = begun {
                told(call.gateway, &mut response, &alias, &notices, overhead_ms);
            }
            response
        }),
        false => turn.whole(head, keeping).await.map(|whole| {
            let mut response = reply::json(StatusCode::OK, whole.body);
            told(call.gateway, &mut response, &whole.alias, &whole.notices, whole.overhead_ms);
            response
        }),
    };
    let mut response = match answered {
        Ok(response) => response,
        Err(Refusal::Api(error, bench)) => call.refuse(&error, bench.as_ref()),
        Err(Refusal::AsItIs(AsItIs { status, body })) => {
            reply::json(StatusCode::from_u16(status).unwrap_or(StatusCode::BAD_REQUEST), body)
        }
    };
    if let Ok(id) = HeaderValue::from_str(&conversation) {
        response.headers_mut().insert(reply::CONVERSATION, id);
    }
    Ok(response)
}

fn told(gateway: &Gateway, response: &mut Response, alias: &str, notices: &[Notice], overhead_ms: f64) {
    let headers = response.headers_mut();
    headers.extend(reply::name(alias).map(|alias| (reply::MODEL, alias)));
    headers.extend(reply::lossy(gateway, notices).map(|lossy| (reply::LOSSY, lossy)));
    headers.insert(reply::OVERHEAD, reply::milliseconds(overhead_ms));
}
