//! How many tokens a question has (wire.md §9): the member's own count where only one can be meant, else the
//! gateway's estimate. The reply says which.

use axum::response::Response;
use catalog::{Endpoint, Model};
use http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use plan::Collection;
use wire::{
    ApiError, Dialect, Json, Kind, Member, Origin, ReplyMode, Request, Route, Target, TokenCount,
    estimate_tokens,
};

use super::{
    Call,
    ask::{AskedFor, asked_for},
    reply,
};
use crate::{setup::Snapshot, upstream};

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
    let (asked, mode) = asked_for(&snapshot, &request)?;
    let member = match mode {
        ReplyMode::Route => routed(call, &snapshot, &asked, &request, headers),
        _ => only_member(call, &snapshot, &asked.collection, &request),
    };
    let (how, reply) = match member {
        Some((model, endpoint)) if endpoint.api == call.dialect => {
            let asking = Asking { counting, request: &request, body, features };
            (call.exact(&asking, model, endpoint).await).map(|reply| ("exact", reply))
        }
        _ => None,
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
}

impl Call<'_> {
    /// The member's own reply, when it holds a count.
    async fn exact(&self, asking: &Asking<'_>, model: &Model, endpoint: &Endpoint) -> Option<Vec<u8>> {
        let gateway = self.gateway;
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
        let encoded = asking.counting.relay(asking.body, asking.request, &target).ok()?;
        let key = gateway.key(&endpoint).await;
        let transport = gateway.transport();
        let said = upstream::count(transport, &endpoint, key.as_ref(), encoded, asking.features).await?;
        asking.counting.decode_reply(&said)?;
        Some(gateway.scrub(&String::from_utf8(said).ok()?).into_bytes())
    }
}

/// The one member of the collection that could be asked this.
fn only_member<'a>(
    call: &Call<'_>,
    snapshot: &'a Snapshot,
    collection: &Collection,
    request: &Request,
) -> Option<(&'a Model, &'a Endpoint)> {
    let members = call.gateway.members_for(collection, request);
    let [alias] = &members[..] else { return None };
    let model = snapshot.model(alias)?;
    Some((model, snapshot.endpoint(&model.endpoint)?))
}

/// The member that a turn of this conversation would go to, where that is known.
fn routed<'a>(
    call: &Call<'_>,
    snapshot: &'a Snapshot,
    asked: &AskedFor,
    request: &Request,
    headers: &HeaderMap,
) -> Option<(&'a Model, &'a Endpoint)> {
    let kept = call.gateway.kept_model(&asked.collection, request, headers);
    let alias = match &asked.collection.members[..] {
        [alias] => alias.clone(),
        _ => kept?,
    };
    let model = snapshot.model(&alias).filter(|model| model.retired.is_none())?;
    Some((model, snapshot.endpoint(&model.endpoint)?))
}

fn counts_nothing() -> ApiError {
    ApiError::new(
        Kind::NotFound,
        Origin::Client,
        "path_not_found",
        "this API has no request that counts tokens",
    )
}
