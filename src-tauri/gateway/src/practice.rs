//! The practice endpoint: scripted models, built in, offline. It is an ordinary provider on a loopback path of
//! the gateway, reached through the ordinary client, so nothing about it is a special case.

use std::{convert::Infallible, time::Duration};

use axum::{body::Body, response::Response};
use bytes::Bytes;
use catalog::{Endpoint, EndpointKind, Model, ModelRole, PRACTICE_BASE};
use futures_util::stream;
use http::{StatusCode, header};
use plan::{Collection, Setup};
use serde_json::{Value, json};
use wire::{ApiError, Dialect};

pub(crate) const PATH: &str = "/practice/v1";
pub(crate) const NAME: &str = "practice";

/// A scripted model: what it says, and how fast.
struct Script {
    served: &'static str,
    description: &'static str,
    /// Before its first word.
    thinks: Duration,
    /// Between words.
    pace: Duration,
    says: Says,
}

enum Says {
    /// `{prompt}` is the question's beginning.
    Text(&'static str),
    /// Rate limited, with this wait stated.
    Limited(u32),
}

const SCRIPTS: [Script; 4] = [
    Script {
        served: "quick",
        description: "answers at once, in a few words",
        thinks: Duration::from_millis(150),
        pace: Duration::from_millis(12),
        says: Says::Text(
            "**Short answer** to “{prompt}”: start with the smallest version that can be wrong, and look at what it \
             does.\n\nThis is a practice model; its text is scripted and knows nothing of your question.",
        ),
    },
    Script {
        served: "thinker",
        description: "thinks first, then answers at length",
        thinks: Duration::from_millis(1800),
        pace: Duration::from_millis(28),
        says: Says::Text(
            "You asked: “{prompt}”\n\nThree things decide it.\n\n1. **What must not break.** Write that down as a check \
             before anything else.\n2. **What is likely to change.** Keep that part small and behind one name.\n3. \
             **What nobody will read.** Leave it out.\n\n```text\ncheck, then change, then look\n```\n\nI took my time \
             so that you can watch a slow seat beside a quick one. This is a practice model: judge its text as you \
             would a real one, nothing of it counts for real models.",
        ),
    },
    Script {
        served: "contrarian",
        description: "disagrees with the others",
        thinks: Duration::from_millis(600),
        pace: Duration::from_millis(20),
        says: Says::Text(
            "I see it the other way. Before answering “{prompt}”, ask whether it needs an answer: most of such work is \
             undone within a month.\n\n- The others will tell you to begin small. Beginning small is how large things \
             are begun badly.\n- A check written first protects the first idea, not the best one.\n\nOne of these \
             claims is false; mark it by selecting it. (A practice model, scripted.)",
        ),
    },
    Script {
        served: "limited",
        description: "is always rate limited",
        thinks: Duration::from_millis(80),
        pace: Duration::ZERO,
        says: Says::Limited(40),
    },
];

/// Adds the practice endpoint, its models and the collection to a set-up; what is there already stays.
pub(crate) fn add_to(setup: &mut Setup) -> Collection {
    if !setup.endpoints.iter().any(|endpoint| endpoint.name == NAME) {
        let kind = Some(EndpointKind::Practice);
        setup.endpoints.push(Endpoint { kind, ..Endpoint::new(NAME, PRACTICE_BASE) });
    }
    for script in &SCRIPTS {
        let alias = alias(script);
        if !setup.models.iter().any(|model| model.alias == alias) {
            setup.models.push(Model {
                alias,
                endpoint: NAME.to_owned(),
                served: script.served.to_owned(),
                role: ModelRole::General,
                ad_hoc: false,
                facts: Default::default(),
                options: Default::default(),
                quirks: Default::default(),
            });
        }
    }
    if let Some(collection) = setup.collections.iter().find(|collection| collection.name == NAME) {
        return collection.clone();
    }
    let collection = Collection {
        description: "Practice: scripted models, offline, free; to try panels and verdicts".to_owned(),
        tags: vec!["practice".to_owned()],
        ..Collection::new(NAME, SCRIPTS.iter().map(alias))
    };
    setup.collections.push(collection.clone());
    collection
}

fn alias(script: &Script) -> String {
    format!("practice-{}", script.served)
}

/// The listing of the practice endpoint.
pub(crate) fn models() -> Value {
    let data: Vec<Value> = SCRIPTS
        .iter()
        .map(|script| {
            json!({"id": script.served, "object": "model", "created": 0, "owned_by": "practice",
                "description": script.description, "context_length": 128_000})
        })
        .collect();
    json!({"object": "list", "data": data})
}

/// Answers a chat request as its model's script says.
pub(crate) async fn chat(body: &[u8]) -> Result<Response, ApiError> {
    let request = wire::format(Dialect::Chat).decode_request(body, &wire::Route::default())?;
    let Some(script) = SCRIPTS.iter().find(|script| script.served == request.model) else {
        let message = format!("the practice endpoint serves no model \"{}\"", request.model);
        return Err(ApiError::new(wire::Kind::NotFound, wire::Origin::Client, "model_not_found", message));
    };
    tokio::time::sleep(script.thinks).await;
    let text = match script.says {
        Says::Limited(seconds) => {
            let message = format!("Practice rate limit reached. Try again in {seconds} s.");
            let body =
                json!({"error": {"message": message, "type": "rate_limit_error", "code": "rate_limited"}});
            let mut response = Response::new(Body::from(body.to_string()));
            *response.status_mut() = StatusCode::TOO_MANY_REQUESTS;
            response.headers_mut().insert(header::RETRY_AFTER, seconds.into());
            response
                .headers_mut()
                .insert(header::CONTENT_TYPE, header::HeaderValue::from_static("application/json"));
            return Ok(response);
        }
        Says::Text(text) => text.replace("{prompt}", &beginning(&request.last_user_text())),
    };
    let input = wire::estimate_tokens(&request);
    Ok(stream_words(script, text, input))
}

fn beginning(prompt: &str) -> String {
    let line = prompt.split_whitespace().collect::<Vec<_>>().join(" ");
    let mut beginning: String = line.chars().take(80).collect();
    if beginning.len() < line.len() {
        beginning.push('…');
    }
    beginning
}

fn stream_words(script: &'static Script, text: String, input: u64) -> Response {
    let output = (text.chars().count() as u64).div_ceil(4);
    let chunk = |delta: Value, finish: Option<&str>| {
        let chunk = json!({"id": "practice", "object": "chat.completion.chunk", "created": 0, "model": script.served,
            "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]});
        Bytes::from(format!("data: {chunk}\n\n"))
    };
    let mut pieces: Vec<Bytes> =
        text.split_inclusive(' ').map(|word| chunk(json!({ "content": word }), None)).collect();
    pieces.push(chunk(json!({}), Some("stop")));
    let usage = json!({"id": "practice", "object": "chat.completion.chunk", "created": 0, "model": script.served,
        "choices": [], "usage": {"prompt_tokens": input, "completion_tokens": output, "total_tokens": input + output}});
    pieces.push(Bytes::from(format!("data: {usage}\n\ndata: [DONE]\n\n")));
    let paced = stream::unfold(pieces.into_iter(), move |mut pieces| async move {
        let piece = pieces.next()?;
        tokio::time::sleep(script.pace).await;
        Some((Ok::<_, Infallible>(piece), pieces))
    });
    let mut response = Response::new(Body::from_stream(paced));
    response
        .headers_mut()
        .insert(header::CONTENT_TYPE, header::HeaderValue::from_static("text/event-stream"));
    response
}
