//! `:countTokens`: the body is `contents` alone, or a whole request as `generateContentRequest`.

use std::borrow::Cow;

use serde_json::Value;

use super::member;
use crate::{
    count::TokenCount,
    error::ApiError,
    format::Encoded,
    json,
    model::{Request, Target},
    relay::Body,
};

const WRAPPED: [&str; 2] = ["generateContentRequest", "generate_content_request"];

pub(super) struct Count;

impl TokenCount for Count {
    fn question<'a>(&self, body: &'a [u8]) -> Result<Cow<'a, [u8]>, ApiError> {
        let text = json::text_of(body)?;
        Ok(match wrapped(&text)? {
            Some((_, inner)) => Cow::Owned(inner.as_bytes().to_vec()),
            None => Cow::Borrowed(body),
        })
    }

    fn relay(&self, body: &[u8], request: &Request, target: &Target) -> Result<Encoded, ApiError> {
        let text = json::text_of(body)?;
        let path = member::path(&target.served, "countTokens");
        let Some((field, inner)) = wrapped(&text)? else {
            return Ok(Encoded { path, ..member::relay(body, request, target)? });
        };
        let encoded = member::relay(inner.as_bytes(), request, target)?;
        let mut inner = Body::new(&encoded.body)?;
        // Beside the path's, this form wants a model of its own.
        let name = Value::from(member::full_name(&target.served)).to_string();
        inner.set(&["model"], &name);
        let mut outer = Body::new(text.as_bytes())?;
        outer.set(&[field], &String::from_utf8_lossy(&inner.into_bytes()));
        if outer.has("model") {
            outer.set(&["model"], &name);
        }
        outer.remove(&["bench"]);
        outer.remove(&["with"]);
        Ok(Encoded { path, body: outer.into_bytes(), ..encoded })
    }

    fn field(&self) -> &'static str {
        "totalTokens"
    }
}

/// The request inside a body, raw, and the name it stands under.
fn wrapped(text: &str) -> Result<Option<(&'static str, &str)>, ApiError> {
    let root = json::root(text)?;
    Ok(WRAPPED.into_iter().find_map(|name| Some((name, root.get(name)?.get()))))
}
