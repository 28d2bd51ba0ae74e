//! What becomes of a turn that a member could not take: passed on, given back, or failed.

use std::time::Duration;

use bytes::Bytes;
use serde_json::Value;
use wire::{ApiError, Class, Kind, Origin, UpstreamError, Usage};

use crate::{evidence::is_rate_limit, view::TurnFailedOver};

/// A member's failure, before the caller has seen anything of it.
pub(crate) struct Failed {
    pub error: UpstreamError,
    /// The provider's own words about the caller's request, where they go back in the caller's own API.
    pub as_it_is: Option<AsItIs>,
    /// It had no room for a word: what it took, as far as that was told.
    pub out_of_room: Option<Usage>,
}

/// A provider's reply that goes back as it came, known keys masked.
#[derive(Clone, Debug)]
pub(crate) struct AsItIs {
    pub status: u16,
    pub body: Bytes,
}

/// Why a turn is not answered.
pub(crate) enum Refusal {
    /// With the `bench` object, once somebody has been asked.
    Api(Box<ApiError>, Option<Value>),
    AsItIs(AsItIs),
}

impl From<ApiError> for Refusal {
    fn from(error: ApiError) -> Refusal {
        Refusal::Api(Box::new(error), None)
    }
}

impl Failed {
    pub(crate) fn of(error: UpstreamError) -> Failed {
        Failed { error, as_it_is: None, out_of_room: None }
    }

    pub(crate) fn empty() -> Failed {
        Failed::of(UpstreamError {
            class: Class::Empty,
            status: None,
            message: "an empty answer".to_owned(),
            retry_after: None,
        })
    }

    /// Whether another member gets the turn. It does, but when the caller's own content is what was refused: nobody
    /// would take that.
    pub(crate) fn passes_on(&self) -> bool {
        let error = &self.error;
        match error.status {
            // An error inside a 200, a broken connection, an answer that never came.
            None => true,
            Some(401 | 402 | 403 | 404 | 408 | 409 | 429) => true,
            Some(status) if status >= 500 => true,
            Some(_) => !matches!(error.class, Class::BadRequest | Class::Other) || error.names_a_lack(),
        }
    }

    /// How long the same member is waited for before it is asked once more, when there is nobody else.
    pub(crate) fn once_more_after(&self) -> Option<Duration> {
        match (self.error.retry_after, self.error.class) {
            (Some(wait), _) => (wait <= LONGEST_WAIT).then_some(wait),
            // It never got the request.
            (None, Class::Network) => Some(Duration::ZERO),
            (None, _) => None,
        }
    }

    /// What its caller is told when nobody else is asked.
    pub(crate) fn given_back(self) -> Refusal {
        if let Some(as_it_is) = self.as_it_is {
            return Refusal::AsItIs(as_it_is);
        }
        let kind = match self.error.status {
            Some(413) => Kind::TooLarge,
            _ => Kind::InvalidRequest,
        };
        ApiError::new(kind, Origin::Upstream, "refused_by_member", self.error.message).into()
    }
}

/// The longest wait that a turn takes for the only member left.
const LONGEST_WAIT: Duration = Duration::from_secs(5);

/// What the caller is told when everybody failed: 429 with the shortest wait when each was a rate limit, 413 when each
/// was the size, else 502.
pub(crate) fn nobody_answered(
    collection: &str,
    failed_over: &[TurnFailedOver],
    errors: &[UpstreamError],
) -> ApiError {
    let reasons: Vec<String> = failed_over
        .iter()
        .map(|it| format!("{}: {}", it.from, wire::redact::shorten(&it.why, 200)))
        .collect();
    let message = format!("No member of bench/{collection} answered. {}", reasons.join("; "));
    let all = |is: fn(&UpstreamError) -> bool| !errors.is_empty() && errors.iter().all(is);
    let (kind, code) = if all(|error| error.class == Class::Capacity && is_rate_limit(error)) {
        (Kind::RateLimit, "all_rate_limited")
    } else if all(|error| error.class == Class::TooLarge) {
        (Kind::TooLarge, "too_large")
    } else {
        (Kind::Upstream, "no_answer")
    };
    let mut error = ApiError::new(kind, Origin::Upstream, code, message);
    if kind == Kind::RateLimit {
        error.retry_after = errors.iter().filter_map(|error| error.retry_after).min();
    }
    error
}

#[cfg(test)]
mod tests {
    use super::*;

    fn failed(class: Class, status: Option<u16>, wait: Option<u64>) -> Failed {
        Failed::of(UpstreamError {
            class,
            status,
            message: "said".to_owned(),
            retry_after: wait.map(Duration::from_secs),
        })
    }

    #[test]
    fn what_passes_a_turn_on() {
        for (class, status) in [
            (Class::Paywalled, Some(402)),
            (Class::Timeout, Some(408)),
            (Class::Capacity, Some(409)),
            (Class::Capacity, Some(429)),
            (Class::Other, Some(500)),
            (Class::Capacity, Some(503)),
            (Class::Capacity, Some(529)),
            (Class::SignIn, Some(401)),
            (Class::SignIn, Some(403)),
            (Class::NotFound, Some(404)),
            (Class::TooLarge, Some(400)),
            (Class::TooLarge, Some(413)),
            (Class::Network, None),
            (Class::Timeout, None),
            (Class::Empty, None),
            (Class::BadRequest, None),
        ] {
            assert!(failed(class, status, None).passes_on(), "{class:?} {status:?}");
        }
        for status in [400, 422] {
            assert!(!failed(Class::BadRequest, Some(status), None).passes_on(), "{status}");
        }
    }

    #[test]
    fn the_last_one_is_asked_once_more_when_that_may_help() {
        let after = |class, wait| failed(class, Some(429), wait).once_more_after().map(|it| it.as_secs());
        assert_eq!(after(Class::Capacity, Some(5)), Some(5));
        assert_eq!(after(Class::Capacity, Some(6)), None);
        assert_eq!(after(Class::Capacity, None), None);
        assert_eq!(failed(Class::Network, None, None).once_more_after(), Some(Duration::ZERO));
    }

    #[test]
    fn what_everybody_failing_is() {
        let limited = |wait| failed(Class::Capacity, Some(429), wait).error;
        let large = || failed(Class::TooLarge, Some(400), None).error;
        let busy = |status, wait| failed(Class::Capacity, Some(status), wait).error;
        let told = |errors: &[UpstreamError]| {
            let error = nobody_answered("core", &[], errors);
            (error.kind.status(), error.retry_after.map(|wait| wait.as_secs()))
        };
        assert_eq!(told(&[limited(Some(40)), limited(None), limited(Some(7))]), (429, Some(7)));
        assert_eq!(told(&[large(), large()]), (413, None));
        for mixed in [
            vec![limited(Some(1)), large()],
            vec![busy(529, None), limited(Some(1))],
            // That they say how long they are busy makes it no limit.
            vec![busy(503, Some(9)), busy(529, Some(9))],
            vec![],
        ] {
            assert_eq!(told(&mixed), (502, None), "{mixed:?}");
        }
    }
}
