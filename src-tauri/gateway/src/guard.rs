//! Who may call (guard.md): checked before anything is read. A page in a browser must not be able to spend
//! calls or read records, whatever name it gave this machine (DNS rebinding) and whatever form it posts.

use http::{HeaderMap, Method, header};
use wire::{ApiError, Kind, Origin};

/// The most a body may hold, decoded.
pub(crate) const BODY_CAP: usize = 20 * 1024 * 1024;

/// The most a head's fields may hold.
pub(crate) const HEAD_CAP: usize = 64 * 1024;

/// Checks a request's head. `authority` is the request target's, where it has one (h2, or the absolute form);
/// `port` is ours.
pub(crate) fn check(
    method: &Method,
    path: &str,
    authority: Option<&str>,
    headers: &HeaderMap,
    port: u16,
) -> Result<(), ApiError> {
    check_size(headers)?;
    if path == "/health" {
        return Ok(());
    }
    check_host(authority, headers, port)?;
    check_origin(headers, port)?;
    if method == Method::POST {
        check_content_type(headers)?;
    }
    Ok(())
}

fn check_size(headers: &HeaderMap) -> Result<(), ApiError> {
    let fields = headers.iter().map(|(name, value)| name.as_str().len() + value.len());
    if fields.sum::<usize>() <= HEAD_CAP {
        return Ok(());
    }
    let message = format!("headers: larger than {} KB together; send fewer or shorter ones", HEAD_CAP / 1024);
    Err(ApiError::new(Kind::HeadTooLarge, Origin::Client, "head_too_large", message))
}

/// Every name the request gives us must be ours, and there must be one.
fn check_host(authority: Option<&str>, headers: &HeaderMap, port: u16) -> Result<(), ApiError> {
    let hosts = headers.get_all(header::HOST).into_iter().map(|host| host.to_str().unwrap_or_default());
    let mut names = hosts.chain(authority).peekable();
    if names.peek().is_some() && names.all(|name| is_ours(name, port)) {
        return Ok(());
    }
    let message = format!(
        "Host: only 127.0.0.1:{port}, localhost:{port} and [::1]:{port} are served; use one of these as the base URL"
    );
    Err(ApiError::new(Kind::Permission, Origin::Client, "host_not_allowed", message))
}

/// A loopback name with our port.
fn is_ours(authority: &str, port: u16) -> bool {
    let Some((host, stated)) = authority.rsplit_once(':').filter(|(_, port)| !port.contains(']')) else {
        return port == 80 && is_loopback_name(authority);
    };
    stated.parse() == Ok(port) && is_loopback_name(host)
}

fn is_loopback_name(host: &str) -> bool {
    host.eq_ignore_ascii_case("localhost") || host == "127.0.0.1" || host == "[::1]"
}

fn check_origin(headers: &HeaderMap, port: u16) -> Result<(), ApiError> {
    let refused =
        |message: &str| Err(ApiError::new(Kind::Permission, Origin::Client, "origin_not_allowed", message));
    for origin in headers.get_all(header::ORIGIN) {
        let own = origin
            .to_str()
            .ok()
            .and_then(|origin| origin.strip_prefix("http://"))
            .is_some_and(|authority| is_ours(authority, port));
        if !own {
            return refused("Origin: a web page of another origin may not call the gateway");
        }
    }
    for site in headers.get_all("sec-fetch-site") {
        if !matches!(site.as_bytes(), b"same-origin" | b"none") {
            return refused("Sec-Fetch-Site: a web page of another site may not call the gateway");
        }
    }
    Ok(())
}

fn check_content_type(headers: &HeaderMap) -> Result<(), ApiError> {
    let Some(content_type) = headers.get(header::CONTENT_TYPE) else {
        // Some native clients send none; a browser always sends one of these with it.
        let from_browser =
            headers.keys().any(|name| *name == header::ORIGIN || name.as_str().starts_with("sec-fetch-"));
        return if from_browser { Err(wrong_type()) } else { Ok(()) };
    };
    let essence = content_type.to_str().unwrap_or_default().split(';').next().unwrap_or_default().trim();
    if essence.eq_ignore_ascii_case("application/json") { Ok(()) } else { Err(wrong_type()) }
}

fn wrong_type() -> ApiError {
    let message = "Content-Type: a POST must be application/json";
    let error = ApiError::new(Kind::UnsupportedMediaType, Origin::Client, "content_type", message);
    ApiError { taken: Some(("accept", "application/json")), ..error }
}

/// The caller's request id if it is plain ASCII of at most 128 characters, else `fresh`.
pub(crate) fn request_id(headers: &HeaderMap, fresh: impl FnOnce() -> String) -> String {
    headers
        .get("x-request-id")
        .and_then(|id| id.to_str().ok())
        .filter(|id| {
            (1..=128).contains(&id.len()) && id.bytes().all(|byte| byte.is_ascii_graphic() || byte == b' ')
        })
        .map_or_else(fresh, str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outcome(method: Method, host: &str, headers: &[(&'static str, &str)]) -> Option<u16> {
        let host = ("host", host);
        let with_host = std::iter::once(&host).chain(headers);
        let headers: HeaderMap = with_host
            .map(|(name, value)| (http::HeaderName::from_static(name), value.parse().unwrap()))
            .collect();
        check(&method, "/v1/models", None, &headers, 8123).err().map(|error| error.kind.status())
    }

    #[test]
    fn hosts() {
        for host in ["127.0.0.1:8123", "localhost:8123", "LOCALHOST:8123", "[::1]:8123"] {
            assert_eq!(outcome(Method::GET, host, &[]), None, "{host}");
        }
        for host in [
            "evil.example",
            "evil.example:8123",
            "127.0.0.1",
            "127.0.0.1:8124",
            "127.0.0.1.evil.example:8123",
            "localhost.evil:8123",
            "",
            ":8123",
            "[::1]",
            "127.0.0.2:8123",
            "user@127.0.0.1:8123",
        ] {
            assert_eq!(outcome(Method::GET, host, &[]), Some(403), "{host}");
        }
        assert!(check(&Method::GET, "/health", Some("evil.example"), &HeaderMap::new(), 8123).is_ok());
        assert!(check(&Method::GET, "/v1/models", None, &HeaderMap::new(), 8123).is_err());
        assert!(check(&Method::GET, "/v1/models", Some("[::1]:8123"), &HeaderMap::new(), 8123).is_ok());
        let ours = HeaderMap::from_iter([(header::HOST, "127.0.0.1:8123".parse().unwrap())]);
        assert!(check(&Method::GET, "/v1/models", Some("evil.example:8123"), &ours, 8123).is_err());
    }

    #[test]
    fn origins() {
        let host = "127.0.0.1:8123";
        for (name, value, wanted) in [
            ("origin", "http://127.0.0.1:8123", None),
            ("origin", "http://localhost:8123", None),
            ("origin", "https://evil.example", Some(403)),
            ("origin", "http://127.0.0.1:3000", Some(403)),
            ("origin", "null", Some(403)),
            ("sec-fetch-site", "same-origin", None),
            ("sec-fetch-site", "none", None),
            ("sec-fetch-site", "cross-site", Some(403)),
            ("sec-fetch-site", "same-site", Some(403)),
        ] {
            assert_eq!(outcome(Method::GET, host, &[(name, value)]), wanted, "{name}: {value}");
        }
    }

    #[test]
    fn content_types() {
        let host = "127.0.0.1:8123";
        let post = |headers: &[(&'static str, &str)]| outcome(Method::POST, host, headers);
        assert_eq!(post(&[("content-type", "application/json")]), None);
        assert_eq!(post(&[("content-type", "Application/JSON; charset=utf-8")]), None);
        assert_eq!(post(&[("content-type", "text/plain")]), Some(415));
        assert_eq!(post(&[("content-type", "application/json-seq")]), Some(415));
        assert_eq!(post(&[("content-type", "application/x-www-form-urlencoded")]), Some(415));
        assert_eq!(post(&[]), None);
        assert_eq!(post(&[("origin", "http://127.0.0.1:8123")]), Some(415));
        assert_eq!(post(&[("sec-fetch-mode", "cors")]), Some(415));
    }

    #[test]
    fn request_ids() {
        let id = |value: &str| {
            let headers = HeaderMap::from_iter([(
                http::HeaderName::from_static("x-request-id"),
                value.parse().unwrap(),
            )]);
            request_id(&headers, || "fresh".to_owned())
        };
        assert_eq!(id("abc-1"), "abc-1");
        assert_eq!(id(&"x".repeat(129)), "fresh");
        assert_eq!(id(""), "fresh");
        assert_eq!(request_id(&HeaderMap::new(), || "fresh".to_owned()), "fresh");
    }
}
