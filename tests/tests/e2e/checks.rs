//! What several subjects check about a panel's reply and its record.

use bench_tests::{Gateway, eventually, http::Answer};
use serde_json::Value;

/// `p20261129-154501-9f3a6c01`
pub fn is_panel_id(id: &str) -> bool {
    let parts: Vec<&str> = id.split('-').collect();
    let digits = |text: &str, length| text.len() == length && text.bytes().all(|byte| byte.is_ascii_digit());
    let hex =
        |text: &str| text.len() == 8 && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
    matches!(parts[..], [day, time, random]
        if day.strip_prefix('p').is_some_and(|day| digits(day, 8)) && digits(time, 6) && hex(random))
}

/// The seats of a reply's `bench` object.
pub fn seats(reply: &Value) -> Vec<Value> {
    reply["bench"]["seats"].as_array().cloned().unwrap_or_else(|| panic!("no bench.seats in {reply}"))
}

/// The seat of this alias.
pub fn seat(reply: &Value, alias: &str) -> Value {
    let seats = seats(reply);
    seats
        .iter()
        .find(|seat| seat["alias"] == alias)
        .cloned()
        .unwrap_or_else(|| panic!("no {alias} in {seats:?}"))
}

/// The panel's id, from a reply's `bench`.
pub fn panel_id(reply: &Value) -> String {
    reply["bench"]["panel"].as_str().unwrap_or_else(|| panic!("no bench.panel in {reply}")).to_owned()
}

/// The answer's text.
pub fn content(reply: &Value) -> &str {
    reply["choices"][0]["message"]["content"].as_str().unwrap_or_else(|| panic!("no content in {reply}"))
}

/// `GET /bench/calls/{id}`
pub async fn call(gateway: &Gateway, id: &str) -> Answer {
    gateway.http.get(&format!("/bench/calls/{id}")).await
}

/// Waits till the call is recorded with an answer or an error; gives it.
pub async fn recorded(gateway: &Gateway, id: &str) -> Value {
    eventually(&format!("{id} being recorded"), || async {
        let answer = call(gateway, id).await;
        let ended = answer.status == 200
            && !matches!(answer.json()["status"].as_str(), None | Some("waiting" | "answering"));
        ended.then(|| answer.json())
    })
    .await
}
