//! Errors carry kind, origin and retry advice; each dialect's file turns them into its own shape.

use std::time::Duration;

/// What went wrong, in the words every API has some form of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// 400
    InvalidRequest,
    /// 401
    Authentication,
    /// 403
    Permission,
    /// 404
    NotFound,
    /// 405
    MethodNotAllowed,
    /// 408
    Timeout,
    /// 413
    TooLarge,
    /// 415
    UnsupportedMediaType,
    /// 431
    HeadTooLarge,
    /// 429
    RateLimit,
    /// 500
    Internal,
    /// 501
    NotImplemented,
    /// 502: every model failed
    Upstream,
    /// 503: nothing could be seated, too busy, or shutting down
    Unavailable,
}

impl Kind {
    pub fn status(self) -> u16 {
        match self {
            Kind::InvalidRequest => 400,
            Kind::Authentication => 401,
            Kind::Permission => 403,
            Kind::NotFound => 404,
            Kind::MethodNotAllowed => 405,
            Kind::Timeout => 408,
            Kind::TooLarge => 413,
            Kind::UnsupportedMediaType => 415,
            Kind::HeadTooLarge => 431,
            Kind::RateLimit => 429,
            Kind::Internal => 500,
            Kind::NotImplemented => 501,
            Kind::Upstream => 502,
            Kind::Unavailable => 503,
        }
    }
}

/// Whose fault it was.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    Client,
    Gateway,
    Upstream,
}

/// An error for the caller, before it takes a dialect's shape.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{message}")]
pub struct ApiError {
    pub kind: Kind,
    pub origin: Origin,
    /// A short snake_case word: `collection_not_found`, `too_large`, `tools_in_panel`, …
    pub code: &'static str,
    /// Names the field and the way out.
    pub message: String,
    /// The shortest wait known, for `Retry-After`.
    pub retry_after: Option<Duration>,
    /// What would have been taken, as the header that says it: `allow` of a 405, `accept-encoding` of a 415.
    pub taken: Option<(&'static str, &'static str)>,
}

impl ApiError {
    pub fn new(kind: Kind, origin: Origin, code: &'static str, message: impl Into<String>) -> Self {
        ApiError { kind, origin, code, message: message.into(), retry_after: None, taken: None }
    }

    /// 400, the caller's content.
    pub fn invalid(code: &'static str, message: impl Into<String>) -> Self {
        Self::new(Kind::InvalidRequest, Origin::Client, code, message)
    }
}

/// Failure classes of a call to a provider (providers.md §4), used everywhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Class {
    SignIn,
    NotFound,
    Paywalled,
    Entitlement,
    Capacity,
    TooLarge,
    BadRequest,
    Timeout,
    Network,
    Empty,
    Other,
}

impl Class {
    /// Whether a member's seat goes to a reserve (panel.md §5): the model could not answer now, and another
    /// may. A refused key, a wrong name or a bad request is told, not papered over.
    pub fn fails_over(self) -> bool {
        match self {
            Class::Paywalled
            | Class::Capacity
            | Class::Timeout
            | Class::Network
            | Class::Empty
            | Class::Other => true,
            Class::SignIn | Class::NotFound | Class::Entitlement | Class::TooLarge | Class::BadRequest => {
                false
            }
        }
    }
}

/// A provider's failure as it was read: from a status and body, from an event inside a 200, or from the
/// stream's own faults (EOF without an end mark, an HTML page, over the cap).
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{message}")]
pub struct UpstreamError {
    pub class: Class,
    /// The HTTP status, where there was one that says something (a 200 with an error body has none).
    pub status: Option<u16>,
    /// The provider's words, redacted; never a page of HTML. Not cut: whoever knows the keys masks them first.
    pub message: String,
    /// The wait the provider stated, wherever it stated it.
    pub retry_after: Option<Duration>,
}
