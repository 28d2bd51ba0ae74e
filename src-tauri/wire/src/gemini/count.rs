//! `:countTokens`: the body is `contents` alone, or a whole request as `generateContentRequest`.

use serde_json::Value;

use super::member;
use crate::{
    count::TokenCount,
    error::ApiError,
    format::Encoded,
    json::Json,
    model::{Request, Target},
    relay::Body,
};

const WRAPPED: [&str; 2] = ["generateContentRequest", "generate_content_request"];

pub(super) struct Count;

impl TokenCount for Count {
    fn question(&self, body: &Json) -> Result<Json, ApiError> {
        Ok(wrapped(body)?.map_or_else(|| body.clone(), |(_, inner)| inner))
    }

    fn relay(&self, body: &Json, request: &Request, target: &Target) -> Result<Encoded, ApiError> {
        let path = member::path(&target.served, "countTokens");
        let Some((field, inner)) = wrapped(body)? else {
            return Ok(Encoded { path, ..member::relay(body, request, target)? });
        };
        let encoded = member::relay(&inner, request, target)?;
        let relayed = Json::read(encoded.body)?;
        let mut inner = Body::new(&relayed)?;
        // Beside the path's, this form wants a model of its own.
        let name = Value::from(member::full_name(&target.served)).to_string();
        inner.set(&["model"], &name);
        let mut outer = Body::new(body)?;
        outer.set(&[field], &String::from_utf8_lossy(&inner.into_bytes()));
        if outer.has("model") {
            outer.set(&["model"], &name);
        }
        outer.remove(&["bench"]);
        outer.remove(&["with"]);
        Ok(Encoded {
            path,
            body: outer.into_bytes(),
            headers: encoded.headers,
            notices: encoded.notices,
            restore: encoded.restore,
        })
    }

    fn field(&self) -> &'static str {
        "totalTokens"
    }
}

/// The request inside a body, and the name it stands under.
fn wrapped(body: &Json) -> Result<Option<(&'static str, Json)>, ApiError> {
    let root = body.fields()?;
    let Some((name, found)) = WRAPPED.into_iter().find_map(|name| Some((name, root.get(name)?))) else {
        return Ok(None);
    };
    Ok(Some((name, Json::of(found.get().to_owned())?)))
}
