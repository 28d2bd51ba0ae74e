//! The key that a request carries, and whether it lets it in.

use std::{borrow::Cow, sync::Arc};

use http::{HeaderMap, HeaderName, header};
use wire::{ApiError, Dialect, Kind, Origin};

use super::{
    Caller, Callers,
    key::{self, Key, Standing},
};
use crate::clock::rfc3339;

/// In the order in which they are looked for; the first that is there is judged.
const HEADERS: [HeaderName; 2] =
    [HeaderName::from_static("x-api-key"), HeaderName::from_static("x-goog-api-key")];

/// What a request's key is.
#[derive(Debug)]
pub(super) enum Judged {
    /// It carries none.
    Missing,
    /// It is no key of this gateway's.
    Unknown,
    Good(Arc<Key>),
    Expired(Arc<Key>),
    Revoked(Arc<Key>),
}

impl Callers {
    /// Compares with every key, in the time that takes. Where there are none, or the text cannot be one, nothing is
    /// hashed.
    pub(super) fn judge(&self, text: Option<&[u8]>, now_ms: i64) -> Judged {
        let Some(text) = text else { return Judged::Missing };
        let keys = self.keys.load();
        if keys.is_empty() {
            return Judged::Unknown;
        }
        let Some(hash) = key::hash_of(text) else { return Judged::Unknown };
        let found = keys.iter().fold(None, |found, key| if key.is(&hash) { Some(key) } else { found });
        match found.map(|key| (key.standing(now_ms), key.clone())) {
            None => Judged::Unknown,
            Some((Standing::Good, key)) => Judged::Good(key),
            Some((Standing::Expired, key)) => Judged::Expired(key),
            Some((Standing::Revoked, key)) => Judged::Revoked(key),
        }
    }
}

impl Judged {
    /// Who asks. Where keys are not required, whatever is no good key is this machine's.
    ///
    /// Errors: 401, what is wrong with the key and the way out.
    pub(super) fn caller(self, is_required: bool) -> Result<Caller, ApiError> {
        let (code, what) = match self {
            Judged::Good(key) => return Ok(Caller::of(key)),
            _ if !is_required => return Ok(Caller::default()),
            Judged::Missing => {
                ("key_missing", "this gateway takes no request without a gateway key".to_owned())
            }
            Judged::Unknown => ("key_unknown", "the key that was sent is none of this gateway's".to_owned()),
            Judged::Expired(key) => {
                let when = key.expires_ms.map(rfc3339).unwrap_or_default();
                ("key_expired", format!("the gateway key \"{}\" expired at {when}", key.name))
            }
            Judged::Revoked(key) => ("key_revoked", format!("the gateway key \"{}\" is revoked", key.name)),
        };
        let message = format!(
            "{what}: send one as Authorization: Bearer, x-api-key or x-goog-api-key. The gateway's owner makes keys \
             in Benchwarmers under Settings, or with `bench key create`"
        );
        let error = ApiError::new(Kind::Authentication, Origin::Client, code, message);
        Err(ApiError { taken: Some(("www-authenticate", "Bearer")), ..error })
    }
}

/// The text that a request carries as its key; one that is empty is none. In the query it is looked for on Gemini's
/// routes alone.
pub(super) fn presented<'a>(
    headers: &'a HeaderMap,
    dialect: Dialect,
    query: &'a str,
) -> Option<Cow<'a, [u8]>> {
    let bearer = headers.get(header::AUTHORIZATION).and_then(|value| bearer(value.as_bytes()));
    let named =
        || HEADERS.iter().find_map(|name| Some(trimmed(headers.get(name)?.as_bytes())).filter(not_empty));
    if let Some(text) = bearer.or_else(named) {
        return Some(Cow::Borrowed(text));
    }
    if dialect != Dialect::Gemini || !query.contains("key=") {
        return None;
    }
    let value = crate::api::query_value(query, "key")?;
    (!value.is_empty()).then(|| Cow::Owned(value.into_bytes()))
}

/// What follows the scheme, in whatever case that is written.
fn bearer(value: &[u8]) -> Option<&[u8]> {
    let (scheme, text) = value.split_at_checked("bearer".len())?;
    let is_bearer =
        scheme.eq_ignore_ascii_case(b"bearer") && text.first().is_some_and(u8::is_ascii_whitespace);
    is_bearer.then(|| trimmed(text)).filter(not_empty)
}

fn trimmed(text: &[u8]) -> &[u8] {
    text.trim_ascii()
}

fn not_empty(text: &&[u8]) -> bool {
    !text.is_empty()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(headers: &[(&str, &str)], dialect: Dialect, query: &str) -> Option<String> {
        let headers: HeaderMap = headers
            .iter()
            .map(|(name, value)| (HeaderName::from_bytes(name.as_bytes()).unwrap(), value.parse().unwrap()))
            .collect();
        presented(&headers, dialect, query).map(|text| String::from_utf8(text.into_owned()).unwrap())
    }

    #[test]
    fn the_first_key_that_is_there_is_judged() {
        let (bearer, api, goog) =
            (("authorization", "Bearer a"), ("x-api-key", "b"), ("x-goog-api-key", "c"));
        let chat = Dialect::Chat;
        for (headers, dialect, query, wanted) in [
            (vec![], chat, "", None),
            (vec![bearer, api, goog], chat, "", Some("a")),
            (vec![goog, api], chat, "", Some("b")),
            (vec![goog], chat, "", Some("c")),
            (vec![("authorization", "bEARER  a ")], chat, "", Some("a")),
            (vec![("authorization", "Bearer\ta\t ")], chat, "", Some("a")),
            (vec![("authorization", "Bearera"), api], chat, "", Some("b")),
            (vec![("authorization", "Basic a"), api], chat, "", Some("b")),
            (vec![("authorization", "Bearer "), api], chat, "", Some("b")),
            (vec![("authorization", "Bearer"), ("x-api-key", " ")], chat, "", None),
            (vec![], chat, "key=d", None),
            (vec![], Dialect::Gemini, "alt=sse&key=d", Some("d")),
            (vec![], Dialect::Gemini, "key=%62wk_d", Some("bwk_d")),
            (vec![], Dialect::Gemini, "key=d&key=e", Some("d")),
            (vec![], Dialect::Gemini, "monkey=d&key=", None),
            (vec![goog], Dialect::Gemini, "key=d", Some("c")),
        ] {
            assert_eq!(found(&headers, dialect, query).as_deref(), wanted, "{headers:?} {query}");
        }
    }
}
