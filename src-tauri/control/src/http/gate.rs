//! Who may use the control API: whoever can read the data folder, and no web page but our own.

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::middleware::Next;
use axum::response::Response;
use http::{HeaderMap, HeaderValue, StatusCode, header};
use subtle::ConstantTimeEq;

use super::refuse;
use crate::{Code, ControlError};

#[derive(Clone)]
pub(super) struct Gate {
    pub(super) token: Arc<str>,
    /// Whether pages of this gateway's own origin may ask (there is a window at `/ui/`).
    pub(super) own_pages: bool,
}

pub(super) async fn check(State(gate): State<Gate>, request: Request, next: Next) -> Response {
    // The page first: a foreign page learns nothing about its token.
    if !gate.page_may_ask(&request) {
        let error =
            ControlError::new(Code::Denied, "The control API does not answer web pages of other origins.");
        return refuse(StatusCode::FORBIDDEN, &error);
    }
    if !gate.knows(request.headers()) {
        let error = ControlError::new(
            Code::Denied,
            "The control token is missing or not of this start; it is in control.token in the data folder.",
        );
        let mut response = refuse(StatusCode::UNAUTHORIZED, &error);
        response.headers_mut().insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        return response;
    }
    next.run(request).await
}

impl Gate {
    fn knows(&self, headers: &HeaderMap) -> bool {
        let Some(given) = headers.get(header::AUTHORIZATION) else { return false };
        let Some((scheme, token)) = given.as_bytes().split_at_checked(7) else { return false };
        // An empty token would let anybody in; no start makes one.
        !self.token.is_empty()
            && scheme.eq_ignore_ascii_case(b"bearer ")
            && bool::from(token.ct_eq(self.token.as_bytes()))
    }

    fn page_may_ask(&self, request: &Request) -> bool {
        let headers = request.headers();
        let site = headers.get("sec-fetch-site").map(HeaderValue::as_bytes);
        if site.is_some_and(|site| site != b"same-origin" && site != b"none") {
            return false;
        }
        match headers.get(header::ORIGIN) {
            None => true,
            Some(origin) => self.own_pages && own_origin(request).is_some_and(|own| own == *origin),
        }
    }
}

/// The origin of pages this very request's host serves. The guard has checked that the host is ours.
fn own_origin(request: &Request) -> Option<String> {
    let host = match request.headers().get(header::HOST) {
        Some(host) => host.to_str().ok()?,
        // HTTP/2 carries it in the request line.
        None => request.uri().authority()?.as_str(),
    };
    Some(format!("http://{host}"))
}
