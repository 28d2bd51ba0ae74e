//! Which path is which API, whatever spelling of the base URL a person pasted (wire.md §1).

use http::{HeaderMap, Method};
use wire::{ApiError, Dialect, Form, Kind, Origin};

use super::name::{self, decoded};
use crate::practice;

/// What a request asks for.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Route {
    Root,
    Health,
    Models,
    /// The id, decoded.
    Model(String),
    /// A question to a collection, in the path's dialect; Gemini names the model in the path.
    Ask(Form, Option<String>),
    /// How many tokens a question has; Gemini names the model in the path.
    Count(Option<String>),
    /// A response that is kept, by its id, decoded; to read or to delete.
    Response(String),
    /// What that response was made from.
    ResponseInput(String),
    OllamaTags,
    OllamaShow,
    OllamaVersion,
    OllamaRunning,
    Verdict,
    Pending,
    Record,
    /// The call id, decoded.
    Call(String),
    PracticeModels,
    PracticeChat,
}

/// The API a request belongs to: what is refused there takes its error shape. Our own routes use chat's. Three APIs
/// list models at one path (wire.md §1), and their callers tell themselves apart by a header.
pub(crate) fn dialect(path: &str, headers: &HeaderMap) -> Dialect {
    let path = without_version(path.trim_end_matches('/'));
    let is =
        |root: &str| path.strip_prefix(root).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
    match path {
        _ if is("/messages") => Dialect::Anthropic,
        _ if is("/responses") => Dialect::Responses,
        _ if is("/completions") => Dialect::Completions,
        _ if is("/api") => Dialect::Ollama,
        _ if is("/v1beta") || gemini_method(path).is_some() => Dialect::Gemini,
        _ if is("/models") => lister(headers),
        _ => Dialect::Chat,
    }
}

fn lister(headers: &HeaderMap) -> Dialect {
    let has = |name: &str| headers.contains_key(name);
    if has("x-goog-api-key") || has("x-goog-api-client") {
        Dialect::Gemini
    } else if has("anthropic-version") {
        Dialect::Anthropic
    } else {
        Dialect::Chat
    }
}

/// Reads method, path and query: 404, or 405 naming what the path takes.
pub(crate) fn route(method: &Method, path: &str, query: &str) -> Result<Route, ApiError> {
    let path = path.trim_end_matches('/');
    let route = named(path, query).ok_or_else(|| no_such_path(path))?;
    let reads = method == Method::GET || method == Method::HEAD;
    let (allowed, fits) = match route {
        Route::Ask(..)
        | Route::Count(_)
        | Route::OllamaShow
        | Route::Verdict
        | Route::Pending
        | Route::PracticeChat => ("POST", method == Method::POST),
        Route::Response(_) => ("GET, HEAD, DELETE", reads || method == Method::DELETE),
        _ => ("GET, HEAD", reads),
    };
    if fits { Ok(route) } else { Err(not_allowed(allowed)) }
}

fn named(path: &str, query: &str) -> Option<Route> {
    if let Some(own) = path.strip_prefix("/bench/") {
        return match own {
            "verdict" => Some(Route::Verdict),
            "pending" => Some(Route::Pending),
            "record" => Some(Route::Record),
            _ => own.strip_prefix("calls/").map(|id| Route::Call(decoded(id))),
        };
    }
    if let Some(practice) = path.strip_prefix(practice::PATH) {
        return match practice {
            "/models" => Some(Route::PracticeModels),
            "/chat/completions" => Some(Route::PracticeChat),
            _ => None,
        };
    }
    let unversioned = without_version(path);
    if let Some((model, method)) = gemini_method(unversioned) {
        let events = name::query(query, "alt").as_deref() == Some("sse");
        return match method {
            "generateContent" => Some(Route::Ask(Form::Usual, Some(model))),
            "streamGenerateContent" if events => Some(Route::Ask(Form::Events, Some(model))),
            "streamGenerateContent" => Some(Route::Ask(Form::Array, Some(model))),
            "countTokens" => Some(Route::Count(Some(model))),
            _ => None,
        };
    }
    match unversioned {
        "" => Some(Route::Root),
        "/health" => Some(Route::Health),
        "/models" | "/v1beta/models" => Some(Route::Models),
        "/chat/completions" | "/completions" | "/responses" | "/messages" | "/api/chat" => {
            Some(Route::Ask(Form::Usual, None))
        }
        "/api/generate" => Some(Route::Ask(Form::Generate, None)),
        "/messages/count_tokens" => Some(Route::Count(None)),
        "/api/tags" => Some(Route::OllamaTags),
        "/api/show" => Some(Route::OllamaShow),
        "/api/version" => Some(Route::OllamaVersion),
        "/api/ps" => Some(Route::OllamaRunning),
        rest => {
            if let Some(kept) = rest.strip_prefix("/responses/") {
                return response(kept);
            }
            let model = rest.strip_prefix("/v1beta").unwrap_or(rest).strip_prefix("/models/")?;
            Some(Route::Model(decoded(model)))
        }
    }
}

/// What follows `/responses/`.
fn response(rest: &str) -> Option<Route> {
    match rest.split_once('/') {
        // Words of the API for what is not served here, and no ids.
        None if matches!(rest, "input_tokens" | "compact") => None,
        None => Some(Route::Response(decoded(rest))),
        Some((id, "input_items")) => Some(Route::ResponseInput(decoded(id))),
        Some(_) => None,
    }
}

/// `models/<name>:<method>`, under `/v1beta` or `/v1`; one SDK drops `models/` when the name holds a slash. The
/// name may hold a colon of its own (`bench/core:all`).
fn gemini_method(unversioned: &str) -> Option<(String, &str)> {
    let rest = unversioned.strip_prefix("/v1beta").unwrap_or(unversioned);
    let rest = rest
        .strip_prefix("/models/")
        .or_else(|| rest.strip_prefix('/').filter(|it| it.starts_with("bench/")))?;
    let (model, method) = rest.rsplit_once(':')?;
    let known = matches!(method, "generateContent" | "streamGenerateContent" | "countTokens");
    known.then(|| (decoded(model), method))
}

/// People paste base URLs with the version, without it, and with it twice.
fn without_version(path: &str) -> &str {
    let strip = |path| {
        let rest = str::strip_prefix(path, "/v1")?;
        (rest.is_empty() || rest.starts_with('/')).then_some(rest)
    };
    let once = strip(path).unwrap_or(path);
    strip(once).unwrap_or(once)
}

fn no_such_path(path: &str) -> ApiError {
    let path = wire::redact::shorten(path, 120);
    let message = format!(
        "there is nothing at {path}. OpenAI clients use the base URL …/v1; Anthropic, Ollama and Gemini clients use it without"
    );
    ApiError::new(Kind::NotFound, Origin::Client, "path_not_found", message)
}

fn not_allowed(allowed: &'static str) -> ApiError {
    let message = format!("method: this path takes {allowed}");
    let error = ApiError::new(Kind::MethodNotAllowed, Origin::Client, "method_not_allowed", message);
    ApiError { taken: Some(("allow", allowed)), ..error }
}

#[cfg(test)]
mod tests {
    use http::{HeaderName, HeaderValue};

    use super::*;

    #[test]
    fn paths_in_every_spelling() {
        let model = |id: &str| Some(Route::Model(id.to_owned()));
        for (path, wanted) in [
            ("", Some(Route::Root)),
            ("/", Some(Route::Root)),
            ("/v1", Some(Route::Root)),
            ("/health", Some(Route::Health)),
            ("/v1/models", Some(Route::Models)),
            ("/models/", Some(Route::Models)),
            ("/v1/v1/models", Some(Route::Models)),
            ("/v1beta/models", Some(Route::Models)),
            ("/v1beta/models/bench/core", Some(Route::Model("bench/core".to_owned()))),
            ("/v1/models/bench/core", model("bench/core")),
            ("/v1/models/bench%2Fcore%3Aall/", model("bench/core:all")),
            ("/api/tags", Some(Route::OllamaTags)),
            ("/api/version", Some(Route::OllamaVersion)),
            ("/api/ps", Some(Route::OllamaRunning)),
            ("/bench/calls/p1.member1", Some(Route::Call("p1.member1".to_owned()))),
            ("/v1/responses/resp_1", Some(Route::Response("resp_1".to_owned()))),
            ("/responses/a%2Fb/", Some(Route::Response("a/b".to_owned()))),
            ("/v1/v1/responses/resp_1/input_items", Some(Route::ResponseInput("resp_1".to_owned()))),
            ("/v1/responses/resp_1/cancel", None),
            ("/v1/responses/input_tokens", None),
            ("/v1/v1/v1/models", None),
            ("/bench", None),
            ("/bench/records", None),
            ("/practice/v1", None),
            ("/api/pull", None),
            ("/v1beta/tunedModels", None),
        ] {
            assert_eq!(route(&Method::GET, path, "").ok(), wanted, "{path}");
        }
    }

    #[test]
    fn questions_and_their_api() {
        let gemini = |form| Route::Ask(form, Some("bench/core".to_owned()));
        for (path, query, dialect_of, wanted) in [
            ("/v1/chat/completions", "", Dialect::Chat, Route::Ask(Form::Usual, None)),
            ("/chat/completions", "", Dialect::Chat, Route::Ask(Form::Usual, None)),
            ("/v1/v1/chat/completions/", "", Dialect::Chat, Route::Ask(Form::Usual, None)),
            ("/v1/completions", "", Dialect::Completions, Route::Ask(Form::Usual, None)),
            ("/responses", "", Dialect::Responses, Route::Ask(Form::Usual, None)),
            ("/v1/v1/messages", "beta=true", Dialect::Anthropic, Route::Ask(Form::Usual, None)),
            ("/v1/messages/count_tokens", "beta=true", Dialect::Anthropic, Route::Count(None)),
            ("/api/chat", "", Dialect::Ollama, Route::Ask(Form::Usual, None)),
            ("/api/generate", "", Dialect::Ollama, Route::Ask(Form::Generate, None)),
            ("/api/show", "", Dialect::Ollama, Route::OllamaShow),
            ("/v1beta/models/bench/core:generateContent", "", Dialect::Gemini, gemini(Form::Usual)),
            ("/v1/models/bench/core:streamGenerateContent", "", Dialect::Gemini, gemini(Form::Array)),
            ("/v1beta/bench/core:streamGenerateContent", "alt=sse", Dialect::Gemini, gemini(Form::Events)),
            (
                "/v1beta/models/bench%2Fcore:countTokens",
                "",
                Dialect::Gemini,
                Route::Count(Some("bench/core".to_owned())),
            ),
            (
                "/v1beta/models/core:all:generateContent",
                "",
                Dialect::Gemini,
                Route::Ask(Form::Usual, Some("core:all".to_owned())),
            ),
            ("/bench/verdict", "", Dialect::Chat, Route::Verdict),
            ("/bench/pending", "", Dialect::Chat, Route::Pending),
            ("/practice/v1/chat/completions", "", Dialect::Chat, Route::PracticeChat),
        ] {
            assert_eq!(route(&Method::POST, path, query).ok(), Some(wanted), "{path}");
            assert_eq!(dialect(path, &HeaderMap::new()), dialect_of, "{path}");
        }
    }

    #[test]
    fn who_lists_models_is_told_by_headers() {
        for (path, header, wanted) in [
            ("/v1/models", "accept", Dialect::Chat),
            ("/v1/models", "x-goog-api-key", Dialect::Gemini),
            ("/models/bench/core", "x-goog-api-client", Dialect::Gemini),
            ("/v1/models/bench/core/", "anthropic-version", Dialect::Anthropic),
            ("/v1beta/models", "anthropic-version", Dialect::Gemini),
            ("/v1/chat/completions", "anthropic-version", Dialect::Chat),
            ("/v1/models/core:countTokens", "anthropic-version", Dialect::Gemini),
        ] {
            let headers =
                HeaderMap::from_iter([(HeaderName::from_static(header), HeaderValue::from_static("1"))]);
            assert_eq!(dialect(path, &headers), wanted, "{path} with {header}");
        }
    }

    #[test]
    fn methods() {
        let status =
            |method, path| route(&method, path, "").map_err(|error| (error.kind.status(), error.taken));
        assert!(status(Method::HEAD, "/v1/models").is_ok());
        assert!(status(Method::DELETE, "/responses/resp_1").is_ok());
        for (method, path, allowed) in [
            (Method::POST, "/v1/models", "GET, HEAD"),
            (Method::GET, "/v1/chat/completions", "POST"),
            (Method::GET, "/v1/messages", "POST"),
            (Method::DELETE, "/bench/verdict", "POST"),
            (Method::OPTIONS, "/bench/record", "GET, HEAD"),
            (Method::POST, "/v1/responses/resp_1", "GET, HEAD, DELETE"),
            (Method::DELETE, "/v1/responses/resp_1/input_items", "GET, HEAD"),
            (Method::DELETE, "/v1/responses", "POST"),
        ] {
            assert_eq!(status(method, path), Err((405, Some(("allow", allowed)))));
        }
        assert_eq!(status(Method::DELETE, "/nowhere").map_err(|(status, _)| status), Err(404));
    }
}
