//! How many tokens a question has (wire.md §9): the member's own count where only one can be meant, else the
//! gateway's estimate. The reply says which.

use std::sync::Arc;

use axum::response::Response;
use bytes::Bytes;
use http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use plan::{Collection, Registered};
use wire::{
    ApiError, Class, Dialect, Json, Kind, Member, Origin, ReplyMode, Request, Route, Target, TokenCount,
    UpstreamError, estimate_tokens,
};

use super::{
    Call,
    ask::{AskedFor, asked_for},
    reply,
};
use crate::{
    facts::Holds,
    metered::{self, Ended, Purpose},
    setup::Snapshot,
};

const COUNT: HeaderName = HeaderName::from_static("x-bench-count");

/// Answers in the shape of the API that asks. The collection must be one that can be asked.
pub(crate) async fn tokens(
    call: &Call<'_>,
    route: &Route<'_>,
    headers: &HeaderMap,
    body: Vec<u8>,
) -> Result<Response, ApiError> {
    let features = &features(call.dialect, headers)[..];
    let format = wire::format(call.dialect);
    let counting = format.token_count().ok_or_else(counts_nothing)?;
    let body = &Json::read(body)?;
    let request = format.decode(&counting.question(body)?, route)?;
    let snapshot = call.gateway.snapshot();
    let (asked, mode) = asked_for(call, &snapshot, &request)?;
    call.caller.asks(call.gateway.clock().now_ms())?;
    let member = match mode {
        ReplyMode::Route => routed(call, &snapshot, &asked, &request, headers),
        _ => only_member(call, &snapshot, &asked.collection, &request),
    };
    let (how, reply) = match member {
        Some(it) => {
            let collection = &asked.collection.name;
            let asking = Asking { counting, request: &request, body, features, collection };
            (call.exact(&asking, &snapshot, it).await).map(|reply| ("exact", reply))
        }
        None => None,
    }
    .unwrap_or_else(|| ("estimate", counting.encode_reply(estimate_tokens(&request))));
    let mut response = reply::json(StatusCode::OK, reply);
    response.headers_mut().insert(COUNT, HeaderValue::from_static(how));
    Ok(response)
}

/// The caller's headers that a member of the same dialect is told too.
pub(crate) fn features(dialect: Dialect, headers: &HeaderMap) -> Vec<(&'static str, String)> {
    let stated = |name| -> Vec<&str> {
        headers.get_all(name).into_iter().filter_map(|value| value.to_str().ok()).collect()
    };
    let names = wire::format(dialect).feature_headers().iter();
    names.map(|name| (*name, stated(*name).join(","))).filter(|(_, value)| !value.is_empty()).collect()
}

/// A question to be counted, as the caller asked it.
struct Asking<'a> {
    counting: &'static dyn TokenCount,
    request: &'a Request,
    body: &'a Json,
    features: &'a [(&'static str, String)],
    collection: &'a str,
}

impl Call<'_> {
    /// The member's own reply, when it holds a count. It is not asked while it cools down, nor over its limits.
    async fn exact(&self, asking: &Asking<'_>, snapshot: &Arc<Snapshot>, it: &Registered) -> Option<Vec<u8>> {
        let (gateway, model) = (self.gateway, &it.model);
        let endpoint = snapshot.endpoint(&model.endpoint).filter(|endpoint| endpoint.api == self.dialect)?;
        if gateway.cooling(it, gateway.clock().now_ms()).is_some() {
            return None;
        }
        let endpoint = gateway.resolve(endpoint);
        let member = Member::of(&endpoint.name, &model.served);
        // A seal that the member cannot read would be refused here too.
        let own = gateway.origins().own(asking.request, member, None);
        let target = Target {
            served: model.served.clone(),
            member,
            made: own.made,
            foreign: own.foreign,
            ..Target::default()
        };
        let mut encoded = asking.counting.relay(asking.body, asking.request, &target).ok()?;
        let key = gateway.key(&endpoint).await;
        let body = Bytes::from(std::mem::take(&mut encoded.body));
        let counting = metered::Call {
            snapshot,
            it,
            purpose: Purpose::Count,
            collection: asking.collection,
            caller: &self.caller,
            body: &body,
            estimate: 0,
            holds: Holds::of(asking.request),
        };
        let metered = gateway.admit(counting).await.ok()?;
        let sends = metered.sends();
        let said =
            gateway.upstream().count(&endpoint, (key, &sends), (&encoded, body.clone()), asking.features);
        let counted = said.await.and_then(|said| {
            let text = String::from_utf8(said).ok();
            text.filter(|said| asking.counting.decode_reply(said.as_bytes()).is_some()).ok_or_else(no_count)
        });
        let (status, error) = match &counted {
            Ok(_) => ("ok", None),
            Err(error) => ("error", Some(error)),
        };
        drop(gateway.spent(metered.end(&Ended { status, error, ..Ended::default() })));
        Some(gateway.scrub(&counted.ok()?).into_bytes())
    }
}

fn no_count() -> UpstreamError {
    UpstreamError {
        class: Class::Other,
        status: None,
        message: "no count came".to_owned(),
        retry_after: None,
    }
}

/// The one member of the collection that could be asked this.
fn only_member<'a>(
    call: &Call<'_>,
    snapshot: &'a Snapshot,
    collection: &Collection,
    request: &Request,
) -> Option<&'a Registered> {
    let members = call.gateway.members_for(collection, request);
    let [alias] = &members[..] else { return None };
    snapshot.roster.get(alias)
}

/// The member that a turn of this conversation would go to, where that is known.
fn routed<'a>(
    call: &Call<'_>,
    snapshot: &'a Snapshot,
    asked: &AskedFor,
    request: &Request,
    headers: &HeaderMap,
) -> Option<&'a Registered> {
    let kept = call.gateway.kept_model(&asked.collection, &call.caller, request, headers);
    let alias = match &asked.collection.members[..] {
        [alias] => alias.clone(),
        _ => kept?,
    };
    snapshot.roster.get(&alias).filter(|it| it.model.retired.is_none())
}

fn counts_nothing() -> ApiError {
    ApiError::new(
        Kind::NotFound,
        Origin::Client,
        "path_not_found",
        "this API has no request that counts tokens",
    )
}
