//! A member's failure as it was read, in whatever shape: a status and body, an error inside a 200, a page.

use serde_json::Value;

use crate::{
    classify::{self, classify},
    error::{Class, UpstreamError},
    json::{self, lenient},
    redact::redact,
    wait,
};

/// Of a body this much is looked at for a page's title, a plain text, a stated wait.
const LOOKED_AT: usize = 64 * 1024;

/// A non-2xx reply.
pub(crate) fn read(status: u16, content_type: &str, body: &[u8]) -> UpstreamError {
    if (300..400).contains(&status) {
        let words =
            format!("HTTP {status}, a redirect, which is not followed: check the endpoint's base URL");
        return failed(Some(status), status, &words, "");
    }
    let head = String::from_utf8_lossy(&body[..body.len().min(LOOKED_AT)]);
    let trimmed = head.trim_start_matches('\u{feff}').trim();
    if content_type.to_ascii_lowercase().contains("html") || trimmed.starts_with('<') {
        return page(Some(status), &head);
    }
    let text = String::from_utf8_lossy(body);
    let value = lenient::whole(text.trim_start_matches('\u{feff}')).or_else(|| from_event(trimmed));
    match value {
        Some(value) if value.is_object() || value.is_array() => stated(Some(status), &value),
        _ if trimmed.is_empty() => {
            failed(Some(status), status, &format!("HTTP {status} with an empty body"), "")
        }
        _ => failed(Some(status), status, trimmed, ""),
    }
}

/// An error object inside a 200, whether the whole body or one event; `None` when the value is no error.
pub(crate) fn inside(value: &Value) -> Option<UpstreamError> {
    let is_error = match value.get("error") {
        None | Some(Value::Null | Value::Bool(false)) => {
            value.get("object").and_then(Value::as_str) == Some("error")
                || value.get("type").and_then(Value::as_str) == Some("error")
                || json::at(value, &["base_resp", "status_code"])
                    .and_then(Value::as_i64)
                    .is_some_and(|code| code != 0)
        }
        Some(Value::String(words)) => !words.trim().is_empty(),
        Some(_) => true,
    };
    is_error.then(|| stated(None, value))
}

/// An error in JSON, wherever it keeps its words.
pub(crate) fn stated(status: Option<u16>, value: &Value) -> UpstreamError {
    // Google's chat endpoint answers a list of one.
    let value = value.as_array().and_then(|list| list.first()).unwrap_or(value);
    let words = words(value).unwrap_or_else(|| match status {
        Some(status) => format!("HTTP {status}: {value}"),
        None => value.to_string(),
    });
    // llama.cpp says in a field of its own how large the window is.
    let words = match value.pointer("/error/n_ctx").and_then(Value::as_u64) {
        Some(window) if !words.contains(&window.to_string()) => format!("{words} (n_ctx: {window})"),
        _ => words,
    };
    let codes = codes(value);
    let assumed = status.or_else(|| numeric_code(value)).unwrap_or(classify::NO_STATUS);
    let mut error = failed(status, assumed, &words, &codes);
    if error.retry_after.is_none() {
        error.retry_after = wait::from_text(&value.to_string());
    }
    error
}

/// An HTML page where an answer should be. Only its title is told.
pub(crate) fn page(status: Option<u16>, html: &str) -> UpstreamError {
    let title = title(html);
    let named = title.as_deref().unwrap_or("no title");
    let message = match status {
        Some(status) => format!("HTTP {status}, an HTML page: {named}"),
        None => format!("an HTML page where an answer should be: {named}; check the endpoint's base URL"),
    };
    let class = classify::page(status.unwrap_or(classify::NO_STATUS), html);
    UpstreamError { class, status, message: redact(&message), retry_after: None }
}

/// A fault of the reply itself: cut off, too long, not JSON.
pub(crate) fn fault(class: Class, message: impl Into<String>) -> UpstreamError {
    UpstreamError { class, status: None, message: message.into(), retry_after: None }
}

/// Words with no structure around them.
pub(crate) fn plain(words: &str) -> UpstreamError {
    failed(None, classify::NO_STATUS, words.trim(), "")
}

fn failed(status: Option<u16>, assumed: u16, words: &str, codes: &str) -> UpstreamError {
    UpstreamError {
        class: classify(assumed, &format!("{words}\n{codes}")),
        status,
        message: redact(words),
        retry_after: wait::from_text(words),
    }
}

/// The first place that holds words, and the provider's own beside a hub's.
fn words(value: &Value) -> Option<String> {
    const PLACES: &[&str] = &[
        "/error/message",
        "/error/error/message",
        "/error/detail",
        "/error",
        "/message",
        "/detail",
        "/detail/0/msg",
        "/detail/message",
        "/errors/0/message",
        "/errors/0",
        "/error_description",
        "/base_resp/status_msg",
        "/msg",
        "/title",
    ];
    let (place, said) = PLACES.iter().find_map(|place| Some((*place, non_empty(value.pointer(place)?)?)))?;
    // Beside a fault of a field stands which one.
    if let Some(field) =
        value.pointer("/detail/0/loc").and_then(Value::as_array).filter(|_| place == "/detail/0/msg")
    {
        let path: Vec<String> =
            field.iter().map(|key| key.as_str().map_or_else(|| key.to_string(), str::to_owned)).collect();
        return Some(format!("{}: {said}", path.join(".")));
    }
    // A hub says that its provider failed and keeps the provider's words aside.
    match value.pointer("/error/metadata/raw").and_then(non_empty) {
        Some(raw) => {
            let inner = serde_json::from_str::<Value>(raw).ok().and_then(|value| words_of_inner(&value));
            Some(format!("{said}: {}", inner.as_deref().unwrap_or(raw)))
        }
        None => Some(said.to_owned()),
    }
}

fn words_of_inner(value: &Value) -> Option<String> {
    ["/error/message", "/message", "/error", "/detail"]
        .iter()
        .find_map(|place| non_empty(value.pointer(place)?).map(str::to_owned))
}

fn non_empty(value: &Value) -> Option<&str> {
    value.as_str().filter(|words| !words.trim().is_empty())
}

/// Machine words that help to tell what happened: `insufficient_quota`, `RESOURCE_EXHAUSTED`.
fn codes(value: &Value) -> String {
    ["/error/code", "/error/type", "/error/status", "/code", "/type", "/status"]
        .iter()
        .filter_map(|place| value.pointer(place)?.as_str())
        .collect::<Vec<_>>()
        .join("\n")
}

/// An HTTP status kept inside the body.
fn numeric_code(value: &Value) -> Option<u16> {
    ["/error/code", "/error/status", "/error/status_code", "/code", "/status", "/status_code"]
        .iter()
        .filter_map(|place| {
            let value = value.pointer(place)?;
            value.as_u64().or_else(|| value.as_str()?.parse().ok())
        })
        .find_map(|code| u16::try_from(code).ok().filter(|code| (400..600).contains(code)))
}

/// Some servers wrap an error reply as an event even with an error's status.
fn from_event(text: &str) -> Option<Value> {
    let data = text.lines().find_map(|line| line.strip_prefix("data:"))?;
    lenient::whole(data)
}

fn title(html: &str) -> Option<String> {
    let lower = html.to_ascii_lowercase();
    let open = lower.find("<title")?;
    let start = open + lower[open..].find('>')? + 1;
    let end = start + lower[start..].find("</")?;
    let title = html[start..end].split_whitespace().collect::<Vec<_>>().join(" ");
    (!title.is_empty()).then_some(title)
}
