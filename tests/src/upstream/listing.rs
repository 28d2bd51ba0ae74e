use serde_json::json;

use super::{Received, Reply, replies};

/// What the provider's list of models answers; the ids are the scripted models'. It is at `/v1/models`, or
/// where the API it is of has it.
#[derive(Clone, Debug)]
pub enum Listing {
    /// `{"object":"list","data":[{"id":…}]}`
    OpenAi,
    /// This body.
    Told(serde_json::Value),
    /// This body by these validators, and 304 to who has it: `ETag`, or else `Last-Modified`.
    Dated { body: serde_json::Value, etag: &'static str, last_modified: &'static str },
    /// `[{"id":…}]`, as some do.
    Bare,
    /// Anthropic's, one model a page however many are asked for.
    Anthropic,
    /// Gemini's at `/v1beta/models`, one model a page, with one that only embeds.
    Gemini,
    /// Ollama's at `/api/tags`.
    Ollama,
    /// Gemini's 400 to a key it does not know.
    GeminiRefused,
    /// 401
    Refused,
    /// A web page.
    Html,
    /// 404
    Missing,
}

impl Listing {
    pub(super) fn path(&self) -> &'static str {
        match self {
            Listing::Gemini | Listing::GeminiRefused => "/v1beta/models",
            Listing::Ollama => "/api/tags",
            _ => "/v1/models",
        }
    }

    pub(super) fn reply(&self, mut ids: Vec<String>, query: &str, request: &Received) -> Reply {
        ids.sort();
        let entries: Vec<_> = ids
            .iter()
            .map(|id| json!({"id": id, "object": "model", "created": 1, "owned_by": "fake"}))
            .collect();
        match self {
            Listing::OpenAi => json_reply(&json!({"object": "list", "data": entries})),
            Listing::Told(body) => json_reply(body),
            Listing::Dated { body, etag, last_modified } => {
                let has = |name, value: &str| !value.is_empty() && request.header(name) == Some(value);
                if has("if-none-match", etag) || has("if-modified-since", last_modified) {
                    return Reply::whole(304, "application/json", "");
                }
                let given = [("etag", etag), ("last-modified", last_modified)];
                let given = given.into_iter().filter(|(_, value)| !value.is_empty());
                given.fold(json_reply(body), |reply, (name, value)| reply.header(name, value))
            }
            Listing::Bare => json_reply(&json!(entries)),
            Listing::Anthropic => {
                let at = after(query, "after_id").map_or(0, |last| {
                    ids.iter().position(|id| *id == last).expect("an id that was listed") + 1
                });
                let id = &ids[at];
                json_reply(&json!({
                    "data": [{"type": "model", "id": id, "display_name": id, "max_input_tokens": 200_000}],
                    "first_id": id,
                    "last_id": id,
                    "has_more": at + 1 < ids.len(),
                }))
            }
            Listing::Gemini => {
                let at =
                    after(query, "pageToken").map_or(0, |at| at.parse().expect("a token that was given"));
                let mut page = json!({"models": [
                    {"name": format!("models/{}", ids[at]), "inputTokenLimit": 1_048_576,
                     "supportedGenerationMethods": ["generateContent", "countTokens"]},
                    {"name": format!("models/embedding-{at}"), "supportedGenerationMethods": ["embedContent"]},
                ]});
                if at + 1 < ids.len() {
                    page["nextPageToken"] = json!((at + 1).to_string());
                }
                json_reply(&page)
            }
            Listing::Ollama => {
                let models: Vec<_> = ids.iter().map(|id| json!({"name": id, "model": id})).collect();
                json_reply(&json!({"models": models}))
            }
            Listing::GeminiRefused => Reply::whole(
                400,
                "application/json",
                json!({"error": {
                    "code": 400,
                    "message": "API key not valid. Please pass a valid API key.",
                    "status": "INVALID_ARGUMENT",
                    "details": [{"reason": "API_KEY_INVALID"}],
                }})
                .to_string(),
            ),
            Listing::Refused => replies::refuses_key(),
            Listing::Html => replies::html_page(200),
            Listing::Missing => replies::fails(404, "not_found", "no such page"),
        }
    }
}

/// A field of a query, decoded.
fn after(query: &str, field: &str) -> Option<String> {
    let value = query.split('&').find_map(|part| part.strip_prefix(field)?.strip_prefix('='))?;
    Some(percent_encoding::percent_decode_str(value).decode_utf8_lossy().into_owned())
}

fn json_reply(body: &serde_json::Value) -> Reply {
    Reply::whole(200, "application/json", body.to_string())
}
