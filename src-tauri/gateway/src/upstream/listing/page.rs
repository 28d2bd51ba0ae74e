//! One page of a model list, in the shape of whoever answers, and how the next is asked for.

use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::Value;
use wire::Dialect;

use super::ListedModel;

pub(super) struct Page {
    pub(super) models: Vec<ListedModel>,
    /// The query of the page after it.
    pub(super) next: Option<String>,
}

/// The query of the first page: the most a page may hold, where an API has pages and small ones by default.
pub(super) fn first(api: Dialect) -> String {
    match api {
        Dialect::Anthropic => "?limit=1000".to_owned(),
        Dialect::Gemini => "?pageSize=1000".to_owned(),
        _ => String::new(),
    }
}

/// OpenAI's and Anthropic's `{"data": [{"id"}]}`, a bare list, Ollama's and Gemini's `{"models": [{"name"}]}`,
/// or lists of strings. Whatever API was asked: providers that speak another's do not always list as it does.
pub(super) fn read(api: Dialect, body: &[u8]) -> Option<Page> {
    let value: Value = serde_json::from_slice(body).ok()?;
    let items = match &value {
        Value::Array(items) => items,
        Value::Object(object) => object.get("data").or_else(|| object.get("models"))?.as_array()?,
        _ => return None,
    };
    Some(Page { models: items.iter().filter_map(read_item).collect(), next: next(api, &value) })
}

fn next(api: Dialect, page: &Value) -> Option<String> {
    let cursor = |name: &str| {
        let cursor = page.get(name)?.as_str().filter(|cursor| !cursor.is_empty())?;
        Some(utf8_percent_encode(cursor, NON_ALPHANUMERIC).to_string())
    };
    let first = first(api);
    match api {
        Dialect::Anthropic if page.get("has_more")?.as_bool()? => {
            Some(format!("{first}&after_id={}", cursor("last_id")?))
        }
        Dialect::Gemini => Some(format!("{first}&pageToken={}", cursor("nextPageToken")?)),
        _ => None,
    }
}

fn read_item(item: &Value) -> Option<ListedModel> {
    let text = |name: &str| item.get(name).and_then(Value::as_str);
    let served = item.as_str().or_else(|| text("id")).or_else(|| text("name")).or_else(|| text("model"))?;
    if !generates(item) {
        return None;
    }
    // Gemini's listing names a model by its path.
    let served = served.strip_prefix("models/").unwrap_or(served);
    (!served.is_empty())
        .then(|| ListedModel { served: served.to_owned(), facts: catalog::facts_in_listing(item) })
}

/// Gemini lists what embeds, draws and films beside what answers, and says which is which.
fn generates(item: &Value) -> bool {
    match item.get("supportedGenerationMethods").and_then(Value::as_array) {
        Some(methods) => methods.iter().any(|method| method == "generateContent"),
        None => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn listings_in_every_known_shape() {
        let cases: [(&str, Option<&[&str]>); 10] = [
            (r#"{"models":[{"name":"models/gemini-9","inputTokenLimit":1000}]}"#, Some(&["gemini-9"])),
            (
                r#"{"models":[{"name":"models/a","supportedGenerationMethods":["generateContent"]},
                    {"name":"models/b","supportedGenerationMethods":["embedContent"]}]}"#,
                Some(&["a"]),
            ),
            (r#"{"data":[{"type":"model","id":"claude-x"}],"has_more":false}"#, Some(&["claude-x"])),
            (r#"{"object":"list","data":[{"id":"a"},{"id":"b"}]}"#, Some(&["a", "b"])),
            (r#"[{"id":"a"}]"#, Some(&["a"])),
            (r#"{"models":[{"name":"llama3:8b","model":"llama3:8b"}]}"#, Some(&["llama3:8b"])),
            (r#"["a"]"#, Some(&["a"])),
            (r#"{"data":[]}"#, Some(&[])),
            (r#"{"hello":1}"#, None),
            ("<html>", None),
        ];
        for (body, wanted) in cases {
            let served = read(Dialect::Chat, body.as_bytes())
                .map(|page| page.models.into_iter().map(|model| model.served).collect::<Vec<_>>());
            assert_eq!(served, wanted.map(|ids| ids.iter().map(|id| (*id).to_owned()).collect()), "{body}");
        }
    }

    #[test]
    fn the_next_page_is_asked_for_as_each_api_wants() {
        let anthropic = r#"{"data":[],"has_more":true,"last_id":"a/b"}"#;
        let gemini = r#"{"models":[],"nextPageToken":"x=="}"#;
        for (api, body, wanted) in [
            (Dialect::Anthropic, anthropic, Some("?limit=1000&after_id=a%2Fb")),
            (Dialect::Anthropic, r#"{"data":[],"has_more":false,"last_id":"a"}"#, None),
            (Dialect::Anthropic, r#"{"data":[],"has_more":true,"last_id":null}"#, None),
            (Dialect::Anthropic, r#"{"data":[]}"#, None),
            (Dialect::Gemini, gemini, Some("?pageSize=1000&pageToken=x%3D%3D")),
            (Dialect::Gemini, r#"{"models":[],"nextPageToken":""}"#, None),
            (Dialect::Chat, anthropic, None),
            (Dialect::Ollama, gemini, None),
        ] {
            let page = read(api, body.as_bytes()).expect(body);
            assert_eq!(page.next.as_deref(), wanted, "{api:?} {body}");
        }
    }
}
