//! Which class a failure has, the wait it states, and what of its words is told.

use std::time::Duration;

use wire::{Class, Dialect, UpstreamError, format, wait};

fn read(status: u16, body: &str) -> UpstreamError {
    format(Dialect::Chat).decode_error(status, "application/json", body.as_bytes())
}

/// An error whose words are `message`.
fn class(status: u16, message: &str) -> Class {
    let body = serde_json::json!({"error": {"message": message}}).to_string();
    read(status, &body).class
}

#[test]
fn the_status_alone() {
    for (status, wanted) in [
        (301, Class::NotFound),
        (400, Class::BadRequest),
        (401, Class::SignIn),
        (402, Class::Paywalled),
        (403, Class::SignIn),
        (404, Class::NotFound),
        (405, Class::NotFound),
        (408, Class::Timeout),
        (410, Class::NotFound),
        (413, Class::TooLarge),
        (415, Class::BadRequest),
        (422, Class::BadRequest),
        (429, Class::Capacity),
        (451, Class::Entitlement),
        (500, Class::Other),
        (502, Class::Other),
        (503, Class::Capacity),
        (504, Class::Timeout),
        (522, Class::Network),
        (524, Class::Timeout),
        (529, Class::Capacity),
        (599, Class::Other),
    ] {
        assert_eq!(class(status, "x"), wanted, "{status}");
    }
}

#[test]
fn words_that_say_more_than_the_status() {
    for (status, words, wanted) in [
        (400, "This model's maximum context length is 8192 tokens.", Class::TooLarge),
        (400, "prompt is too long: 210000 tokens > 200000 maximum", Class::TooLarge),
        (
            400,
            "The input token count (1048577) exceeds the maximum number of tokens allowed",
            Class::TooLarge,
        ),
        (500, "the request exceeds the available context size", Class::TooLarge),
        (
            413,
            "Request too large for model on tokens per minute (TPM): Limit 6000, Requested 9000",
            Class::Capacity,
        ),
        (429, "You exceeded your current quota. Please retry in 12s", Class::Capacity),
        (400, "Your credit balance is too low to access the API", Class::Paywalled),
        (403, "Key limit exceeded (total limit)", Class::Paywalled),
        (400, "API key not valid. Please pass a valid API key.", Class::SignIn),
        (403, "Your organization must be verified to use this model", Class::Entitlement),
        (403, "Project does not have access to model x", Class::Entitlement),
        (400, "User location is not supported for the API use.", Class::Entitlement),
        (404, "The model `x` does not exist or you do not have access to it.", Class::NotFound),
        (404, "No endpoints found matching your data policy", Class::Entitlement),
        (400, "x is not a valid model ID", Class::NotFound),
        (500, "The server is overloaded", Class::Capacity),
        (502, "connect error: connection refused", Class::Network),
        (500, "upstream timed out", Class::Timeout),
        (403, "Rate limit exceeded", Class::Capacity),
    ] {
        assert_eq!(class(status, words), wanted, "{status} {words}");
    }
    let spent = r#"{"error":{"message":"You exceeded your current quota, please check your plan and billing details.","type":"insufficient_quota","code":"insufficient_quota"}}"#;
    assert_eq!(read(429, spent).class, Class::Paywalled);
}

#[test]
fn what_hands_a_seat_over() {
    let all = [
        (Class::SignIn, false),
        (Class::NotFound, false),
        (Class::Paywalled, true),
        (Class::Entitlement, false),
        (Class::Capacity, true),
        (Class::TooLarge, false),
        (Class::BadRequest, false),
        (Class::Timeout, true),
        (Class::Network, true),
        (Class::Empty, true),
        (Class::Other, true),
    ];
    for (class, wanted) in all {
        assert_eq!(class.fails_over(), wanted, "{class:?}");
    }
}

#[test]
fn the_words_wherever_they_stand() {
    for (body, wanted) in [
        (r#"{"error":{"message":"a"}}"#, "a"),
        (r#"{"error":"a"}"#, "a"),
        (r#"{"message":"a"}"#, "a"),
        (r#"{"detail":"a"}"#, "a"),
        (r#"{"detail":[{"msg":"a"}]}"#, "a"),
        (r#"{"errors":[{"message":"a"}]}"#, "a"),
        (r#"[{"error":{"message":"a"}}]"#, "a"),
        (
            r#"{"error":{"message":"Provider returned error","metadata":{"raw":"{\"error\":{\"message\":\"inner\"}}"}}}"#,
            "Provider returned error: inner",
        ),
        (
            r#"{"error":{"message":"Provider returned error","metadata":{"raw":"plain"}}}"#,
            "Provider returned error: plain",
        ),
        (r#"{"error":{"code":7}}"#, r#"HTTP 400: {"error":{"code":7}}"#),
        ("plain words", "plain words"),
        ("", "HTTP 400 with an empty body"),
        ("data: {\"error\":\"a\"}\n\n", "a"),
    ] {
        assert_eq!(read(400, body).message, wanted, "{body}");
    }
}

#[test]
fn a_redirect_says_what_to_check() {
    let error = format(Dialect::Chat).decode_error(308, "text/html", b"<html><title>Moved</title></html>");
    assert_eq!(error.message, "HTTP 308, a redirect, which is not followed: check the endpoint's base URL");
    assert_eq!((error.class, error.status), (Class::NotFound, Some(308)));
}

#[test]
fn what_is_told_holds_no_secrets_and_is_left_whole() {
    let words = format!(
        "bad image data:image/png;base64,{} at https://u:p@h/x?key=k1 {}",
        "A".repeat(500),
        "é".repeat(900)
    );
    let message = read(400, &serde_json::json!({"error": words}).to_string()).message;
    assert!(message.starts_with("bad image [data URL] at https://[user]@h/x?[query] éé"), "{message}");
    // Known keys are masked by those who know them, and half a key cannot be: the cut comes after.
    assert!(message.ends_with(&"é".repeat(900)), "{message}");
}

#[test]
fn the_wait_wherever_it_is_stated() {
    for (text, seconds) in [
        ("Please try again in 20s.", Some(20.0)),
        ("Please try again in 1m2.5s.", Some(62.5)),
        ("try again in 350ms", Some(0.35)),
        ("Try again in 2 minutes", Some(120.0)),
        ("try again in about 1 hour and 5 minutes.", Some(3900.0)),
        ("Please retry in 12.57s.", Some(12.57)),
        ("Retry after 30 seconds", Some(30.0)),
        ("retry after 7", Some(7.0)),
        (r#"{"retry_after": 12.5}"#, Some(12.5)),
        (r#"{"retry_after_ms": 1500}"#, Some(1.5)),
        (r#"{"retry_after_seconds":3}"#, Some(3.0)),
        (r#""retryDelay": "12s""#, Some(12.0)),
        (r#"{"retryDelay":{"seconds":9}}"#, Some(9.0)),
        ("limit reached, please wait 2m59.56s", Some(179.56)),
        ("Your limit resets in 3h", Some(10_800.0)),
        ("try again later", None),
        ("wait for 3 apples", None),
        ("no wait", None),
        ("retry after -5", None),
        ("", None),
    ] {
        assert_eq!(wait::from_text(text), seconds.map(Duration::from_secs_f64), "{text}");
    }
    let body = r#"{"error":{"code":429,"message":"Resource exhausted","status":"RESOURCE_EXHAUSTED","details":[{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"36.5s"}]}}"#;
    assert_eq!(read(429, body).retry_after, Some(Duration::from_secs_f64(36.5)));
}
