//! A member's error reply, and the class, the words and the wait read from it.

use std::time::Duration;

use libtest_mimic::Trial;
use wire::{Class, Dialect, format, wait};

use crate::trial;

struct Case {
    id: &'static str,
    what: &'static str,
    status: u16,
    content_type: &'static str,
    body: String,
    class: Class,
    message: &'static str,
}

pub fn trials() -> Vec<Trial> {
    let mut trials: Vec<Trial> = cases()
        .into_iter()
        .map(|case| {
            trial(format!("{} {}", case.id, case.what), move || {
                let error =
                    format(Dialect::Chat).decode_error(case.status, case.content_type, case.body.as_bytes());
                assert_eq!((error.class, error.message.as_str()), (case.class, case.message));
                assert_eq!(error.status, Some(case.status));
            })
        })
        .collect();
    trials.extend(WAITS.iter().map(|(value, seconds)| {
        trial(format!("W161 Retry-After: {value}"), move || {
            assert_eq!(wait::from_value(value, NOW), seconds.map(Duration::from_secs_f64));
        })
    }));
    trials.push(trial("W161 a missing header is no wait".to_owned(), || {
        assert_eq!(wait::from_headers(|_| None, NOW), None);
        assert_eq!(wait::from_headers(|name| (name == "retry-after").then_some("7"), NOW), Some(secs(7.0)));
        assert_eq!(
            wait::from_headers(|name| (name == "retry-after-ms").then_some("1500"), NOW),
            Some(secs(1.5))
        );
    }));
    trials
}

fn secs(seconds: f64) -> Duration {
    Duration::from_secs_f64(seconds)
}

/// Sat, 25 Jul 2026 12:00:00 GMT
const NOW: i64 = 1_784_980_800;

const WAITS: &[(&str, Option<f64>)] = &[
    ("Sat, 25 Jul 2026 12:05:00 GMT", Some(300.0)),
    ("Saturday, 25-Jul-26 12:05:00 GMT", Some(300.0)),
    ("Sat Jul 25 12:05:00 2026", Some(300.0)),
    ("Sat, 25 Jul 2026 11:55:00 GMT", Some(0.0)),
    ("Thu, 01 Jan 1970 00:00:00 GMT", Some(0.0)),
    ("120", Some(120.0)),
    (" 0 ", Some(0.0)),
    ("1.5", Some(1.5)),
    ("2m59.56s", Some(179.56)),
    ("1h2m3s", Some(3723.0)),
    ("350ms", Some(0.35)),
    ("null", None),
    ("", None),
    ("-5", None),
    ("NaN", None),
    ("soon", None),
    ("5 apples", None),
    ("99999999999999999999999999", None),
];

fn cases() -> Vec<Case> {
    let case = |id, what, status, content_type, body: &str, class, message| Case {
        id,
        what,
        status,
        content_type,
        body: body.to_owned(),
        class,
        message,
    };
    vec![
        case(
            "W166",
            "the status is kept",
            401,
            "application/json",
            r#"{"error":{"message":"Incorrect API key provided","type":"invalid_request_error","code":"invalid_api_key"}}"#,
            Class::SignIn,
            "Incorrect API key provided",
        ),
        case(
            "W169",
            "a plain text body",
            502,
            "text/plain",
            "upstream connect error",
            Class::Network,
            "upstream connect error",
        ),
        case("W169", "an empty body", 500, "", "", Class::Other, "HTTP 500 with an empty body"),
        case(
            "W172",
            "a 4xx with JSON to a stream request",
            400,
            "text/event-stream",
            r#"{"error":{"message":"bad field"}}"#,
            Class::BadRequest,
            "bad field",
        ),
        case(
            "W172",
            "a 4xx whose error came as an event",
            400,
            "text/event-stream",
            "data: {\"error\":{\"message\":\"bad field\"}}\n\n",
            Class::BadRequest,
            "bad field",
        ),
        case("W173", "529", 529, "application/json", "{}", Class::Capacity, "HTTP 529: {}"),
        case(
            "W175",
            "a bot check is a passing fault of the network",
            403,
            "text/html; charset=UTF-8",
            "<!DOCTYPE html><html><head><title>Just a moment…</title></head><body>…</body></html>",
            Class::Network,
            "HTTP 403, an HTML page: Just a moment…",
        ),
        case(
            "W178",
            "a model's own rate limit",
            429,
            "application/json",
            r#"{"error":{"message":"Rate limit reached for model a","code":"rate_limit_exceeded"}}"#,
            Class::Capacity,
            "Rate limit reached for model a",
        ),
        case(
            "W190",
            "a page of 60 KB",
            502,
            "text/html",
            &format!("<html><head><title>502 Bad Gateway</title></head>{}</html>", "<p>x</p>".repeat(7_500)),
            Class::Other,
            "HTTP 502, an HTML page: 502 Bad Gateway",
        ),
        case(
            "W190",
            "a page with no content type",
            524,
            "",
            "\n<html><body>no title</body></html>",
            Class::Timeout,
            "HTTP 524, an HTML page: no title",
        ),
    ]
}
