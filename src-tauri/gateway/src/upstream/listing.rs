//! What an endpoint serves, or in words what is wrong with it.

mod likely;
mod page;

use std::time::Duration;

use bytes::Bytes;
use catalog::{Endpoint, Facts};
use http::{Method, header};
use secrecy::SecretString;
use tokio::time::{Instant, error::Elapsed, timeout_at};
use wire::{Class, Dialect};

use self::{likely::likely_bases, page::Page};
use super::{
    call::{headers, read_at_most, text_header},
    transport::{Incoming, Outgoing, SendError, Sends, Transport},
};

/// A listing of 3,000 models is about a megabyte.
const BODY: usize = 16 * 1024 * 1024;
const PATIENCE: Duration = Duration::from_secs(15);
/// A provider that always has another page is not followed for ever.
const PAGES: usize = 20;
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

#[derive(Clone, Debug, PartialEq)]
pub struct ListedModel {
    pub served: String,
    /// What the list says of it.
    pub facts: Facts,
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
        for base in likely_bases(endpoint.api, &endpoint.base) {
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
    let message = if problem.path_may_be_wrong {
        format!("{} Check the base URL, and whether it speaks {}.", problem.message, whose(endpoint.api))
    } else {
        problem.message
    };
    EndpointTest {
        ok: false,
        message,
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
    let url = catalog::models_url(endpoint.api, base);
    let mut models: Vec<ListedModel> = Vec::new();
    let mut query = page::first(endpoint.api);
    for _ in 0..PAGES {
        let outgoing = Outgoing {
            method: Method::GET,
            url: format!("{url}{query}"),
            headers: headers(endpoint, key, "application/json", VERSIONS),
            body: Bytes::new(),
            sends: Sends::default(),
        };
        let sent = timeout_at(deadline, transport.send(outgoing)).await;
        let page = read_page(sent, endpoint, base, &url, key.is_some(), deadline).await?;
        let had = models.len();
        models.extend(page.models);
        unique(&mut models);
        match page.next {
            // A page that adds nothing would be followed by itself.
            Some(next) if models.len() > had => query = next,
            _ => break,
        }
    }
    Ok(models)
}

async fn read_page(
    sent: Result<Result<Incoming, SendError>, Elapsed>,
    endpoint: &Endpoint,
    base: &str,
    url: &str,
    with_key: bool,
    deadline: Instant,
) -> Result<Page, Problem> {
    let incoming = match sent {
        Err(_) => {
            return Err(Problem::new(format!("{base} did not answer within {} s.", PATIENCE.as_secs())));
        }
        Ok(Err(error)) => return Err(Problem::new(in_words(base, &error))),
        Ok(Ok(incoming)) => incoming,
    };
    let status = incoming.status;
    let content_type = text_header(&incoming.headers, header::CONTENT_TYPE).to_owned();
    let body = read_at_most(incoming, BODY, deadline).await;
    if (200..=299).contains(&status) {
        return page::read(endpoint.api, &body).ok_or_else(|| {
            let html = content_type.contains("html");
            let what = if html { "a web page" } else { "something that is not a model list" };
            Problem::path(format!("{url} answers with {what}."))
        });
    }
    match status {
        301..=308 => {
            return Err(Problem::path(format!("{url} redirects ({status}), which is not followed.")));
        }
        404 | 405 => return Err(Problem::path(format!("There is no model list at {url} ({status})."))),
        _ => {}
    }
    let error = wire::format(endpoint.api).decode_error(status, &content_type, &body);
    let said = error.message;
    // Gemini refuses a key with a 400.
    let refused = matches!(status, 401 | 403) || (status == 400 && error.class == Class::SignIn);
    Err(match (refused, with_key) {
        (true, true) => {
            let message = format!("The key was refused ({status}): {said}");
            Problem { key_refused: Some(said), ..Problem::new(message) }
        }
        (true, false) => Problem::new(format!("It wants a key ({status}): add one.")),
        (false, _) => Problem::new(format!("It answers with an error ({status}): {said}")),
    })
}

/// Drops ids that were listed before, which pages that moved under the reader repeat.
fn unique(models: &mut Vec<ListedModel>) {
    let mut seen = std::collections::HashSet::new();
    models.retain(|model| seen.insert(model.served.clone()));
}

fn whose(api: Dialect) -> &'static str {
    match api {
        Dialect::Chat | Dialect::Completions => "OpenAI's chat API",
        Dialect::Responses => "OpenAI's Responses API",
        Dialect::Anthropic => "Anthropic's API",
        Dialect::Gemini => "Gemini's API",
        Dialect::Ollama => "Ollama's API",
    }
}

fn in_words(base: &str, error: &SendError) -> String {
    match error {
        SendError::Dns => {
            format!("The host of {base} could not be found: check its spelling and the network.")
        }
        SendError::Refused => format!("Nothing listens at {base}: is it running, and is the port right?"),
        SendError::ConnectTimeout => format!("{base} could not be reached within 10 s."),
        SendError::Proxy(why) => {
            format!(
                "{base} could not be reached: the proxy that the environment names let nothing through ({why})."
            )
        }
        SendError::Tls(why) => format!("A safe connection to {base} could not be made ({why})."),
        SendError::Reset => format!("{base} closed the connection without answering: is it http or https?"),
        SendError::Other(why) => format!("{base} could not be asked: {why}."),
    }
}
