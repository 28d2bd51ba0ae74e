//! What an endpoint serves, or in words what is wrong with it.

use std::time::Duration;

use bytes::Bytes;
use catalog::Endpoint;
use http::{Method, header};
use secrecy::SecretString;
use serde_json::Value;
use tokio::time::{Instant, timeout_at};
use wire::Dialect;

use super::{
    call::{headers, read_at_most, text_header},
    transport::{Outgoing, SendError, Transport},
};

/// A listing of 3,000 models is about a megabyte.
const BODY: usize = 16 * 1024 * 1024;
const PATIENCE: Duration = Duration::from_secs(15);
/// Anthropic refuses a listing without it; nobody else reads it.
const VERSIONS: &[(&str, &str)] = &[("anthropic-version", "2023-06-01")];

/// The outcome of asking an endpoint for its models.
#[derive(Debug)]
pub struct EndpointTest {
    pub ok: bool,
    /// In words.
    pub message: String,
    /// A base that answered where the given one did not.
    pub suggested_base: Option<String>,
    pub models: Vec<ListedModel>,
    /// What the provider said when it refused the key.
    pub key_refused: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListedModel {
    pub served: String,
    pub context_window: Option<u64>,
}

/// Lists an endpoint's models; where its path seems wrong, tries the likely right ones.
pub(crate) async fn list_models(
    transport: &dyn Transport,
    endpoint: &Endpoint,
    key: Option<SecretString>,
) -> EndpointTest {
    let first = one_listing(transport, endpoint, &endpoint.base, key.as_ref()).await;
    let problem = match first {
        Ok(models) => return answered(models),
        Err(problem) => problem,
    };
    if problem.path_may_be_wrong {
        for base in likely_bases(&endpoint.base) {
            if let Ok(models) = one_listing(transport, endpoint, &base, key.as_ref()).await {
                return EndpointTest {
                    ok: false,
                    message: format!(
                        "{} At {base} it answers with {}: the base URL is likely {base}.",
                        problem.message,
                        count(models.len())
                    ),
                    suggested_base: Some(base),
                    models: Vec::new(),
                    key_refused: None,
                };
            }
        }
    }
    EndpointTest {
        ok: false,
        message: problem.message,
        suggested_base: None,
        models: Vec::new(),
        key_refused: problem.key_refused,
    }
}

fn answered(models: Vec<ListedModel>) -> EndpointTest {
    let message = format!("It answers with {}.", count(models.len()));
    EndpointTest { ok: true, message, suggested_base: None, models, key_refused: None }
}

fn count(models: usize) -> String {
    match models {
        0 => "no models".to_owned(),
        1 => "1 model".to_owned(),
        many => format!("{many} models"),
    }
}

struct Problem {
    message: String,
    path_may_be_wrong: bool,
    key_refused: Option<String>,
}

impl Problem {
    fn new(message: impl Into<String>) -> Problem {
        Problem { message: message.into(), path_may_be_wrong: false, key_refused: None }
    }

    fn path(message: impl Into<String>) -> Problem {
        Problem { path_may_be_wrong: true, ..Problem::new(message) }
    }
}

async fn one_listing(
    transport: &dyn Transport,
    endpoint: &Endpoint,
    base: &str,
    key: Option<&SecretString>,
) -> Result<Vec<ListedModel>, Problem> {
    let deadline = Instant::now() + PATIENCE;
    let base = base.trim_end_matches('/');
    let url = match endpoint.api {
        Dialect::Ollama => format!("{base}/api/tags"),
        _ => catalog::models_url(base),
    };
    let outgoing = Outgoing {
        method: Method::GET,
        url: url.clone(),
        headers: headers(endpoint, key, "application/json", VERSIONS),
        body: Bytes::new(),
    };
    let incoming = match timeout_at(deadline, transport.send(outgoing)).await {
        Err(_) => {
            return Err(Problem::new(format!("{base} did not answer within {} s.", PATIENCE.as_secs())));
        }
        Ok(Err(error)) => return Err(Problem::new(in_words(base, &error))),
        Ok(Ok(incoming)) => incoming,
    };
    let status = incoming.status;
    let content_type = text_header(&incoming.headers, header::CONTENT_TYPE).to_owned();
    let body = read_at_most(incoming, BODY, deadline).await;
    match status {
        200..=299 => read_listing(&body).ok_or_else(|| {
            let what = if content_type.contains("html") {
                "a web page"
            } else {
                "something that is not a model list"
            };
            Problem::path(format!("{base}/models answers with {what}."))
        }),
        301..=308 => Err(Problem::path(format!(
            "{base}/models redirects ({status}), which is not followed: set the final base URL."
        ))),
        401 | 403 => {
            let said = wire::format(endpoint.api).decode_error(status, &content_type, &body).message;
            let message = if key.is_some() {
                format!("The key was refused ({status}): {said}")
            } else {
                format!("It wants a key ({status}): add one.")
            };
            Err(Problem { key_refused: key.is_some().then_some(said), ..Problem::new(message) })
        }
        404 | 405 => Err(Problem::path(format!("There is no model list at {base}/models ({status})."))),
        _ => {
            let said = wire::format(endpoint.api).decode_error(status, &content_type, &body).message;
            Err(Problem::new(format!("It answers with an error ({status}): {said}")))
        }
    }
}

fn in_words(base: &str, error: &SendError) -> String {
    match error {
        SendError::Dns => {
            format!("The host of {base} could not be found: check its spelling and the network.")
        }
        SendError::Refused => format!("Nothing listens at {base}: is it running, and is the port right?"),
        SendError::ConnectTimeout => format!("{base} could not be reached within 10 s."),
        SendError::Tls(why) => format!("A safe connection to {base} could not be made ({why})."),
        SendError::Reset => format!("{base} closed the connection without answering: is it http or https?"),
        SendError::Other(why) => format!("{base} could not be asked: {why}."),
    }
}

/// OpenAI's `{"data": [{"id"}]}`, a bare list, Ollama's `{"models": [{"name"}]}`, or lists of strings.
fn read_listing(body: &[u8]) -> Option<Vec<ListedModel>> {
    let value: Value = serde_json::from_slice(body).ok()?;
    let items = match &value {
        Value::Array(items) => items,
        Value::Object(object) => object.get("data").or_else(|| object.get("models"))?.as_array()?,
        _ => return None,
    };
    let mut models: Vec<ListedModel> = items.iter().filter_map(read_item).collect();
    let mut seen = std::collections::HashSet::new();
    models.retain(|model| seen.insert(model.served.clone()));
    Some(models)
}

fn read_item(item: &Value) -> Option<ListedModel> {
    let text = |name: &str| item.get(name).and_then(Value::as_str);
    let served = item.as_str().or_else(|| text("id")).or_else(|| text("name")).or_else(|| text("model"))?;
    let context_window =
        ["context_length", "context_window", "max_context_length", "max_model_len", "inputTokenLimit"]
            .into_iter()
            .find_map(|name| item.get(name)?.as_u64());
    // Gemini's listing names a model by its path.
    let served = served.strip_prefix("models/").unwrap_or(served);
    (!served.is_empty()).then(|| ListedModel { served: served.to_owned(), context_window })
}

/// Bases a person likely meant: with the path they left out, without the one they pasted too much of.
fn likely_bases(base: &str) -> Vec<String> {
    let base = base.trim_end_matches('/');
    let Some((scheme, rest)) = base.split_once("://") else { return Vec::new() };
    let host = rest.split('/').next().unwrap_or(rest);
    let root = format!("{scheme}://{host}");
    let mut bases = Vec::new();
    for tail in ["/chat/completions", "/completions", "/models"] {
        if let Some(shorter) = base.strip_suffix(tail) {
            bases.push(shorter.to_owned());
        }
    }
    for tail in ["/v1", "/api/v1", "/openai/v1", "/api"] {
        bases.push(format!("{root}{tail}"));
    }
    bases.insert(0, format!("{base}/v1"));
    let mut seen = std::collections::HashSet::from([base.to_owned()]);
    bases.retain(|candidate| seen.insert(candidate.clone()));
    bases.truncate(6);
    bases
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn listings_in_every_known_shape() {
        let cases: [(&str, Option<&[&str]>); 8] = [
            (r#"{"models":[{"name":"models/gemini-9","inputTokenLimit":1000}]}"#, Some(&["gemini-9"])),
            (r#"{"object":"list","data":[{"id":"a"},{"id":"b"}]}"#, Some(&["a", "b"])),
            (r#"[{"id":"a"}]"#, Some(&["a"])),
            (r#"{"models":[{"name":"llama3:8b"}]}"#, Some(&["llama3:8b"])),
            (r#"["a","a"]"#, Some(&["a"])),
            (r#"{"data":[]}"#, Some(&[])),
            (r#"{"hello":1}"#, None),
            ("<html>", None),
        ];
        for (body, wanted) in cases {
            let served = read_listing(body.as_bytes())
                .map(|models| models.into_iter().map(|model| model.served).collect::<Vec<_>>());
            assert_eq!(served, wanted.map(|ids| ids.iter().map(|id| (*id).to_owned()).collect()), "{body}");
        }
    }

    #[test]
    fn likely_bases_add_and_remove() {
        assert_eq!(likely_bases("http://h:1/")[0], "http://h:1/v1");
        assert!(likely_bases("https://h/v1/chat/completions").contains(&"https://h/v1".to_owned()));
        assert!(!likely_bases("https://h/v1").contains(&"https://h/v1".to_owned()));
    }
}
