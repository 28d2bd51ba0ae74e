//! `POST /messages/count_tokens`: the body is a request's.

use super::member;
use crate::{
    count::TokenCount,
    error::ApiError,
    format::Encoded,
    json::Json,
    model::{Request, Target},
};

pub(super) struct Count;

impl TokenCount for Count {
    fn relay(&self, body: &Json, request: &Request, target: &Target) -> Result<Encoded, ApiError> {
        let encoded = member::relay(body, request, target)?;
        Ok(Encoded { path: "/messages/count_tokens".to_owned(), ..encoded })
    }

    fn field(&self) -> &'static str {
        "input_tokens"
    }
}
