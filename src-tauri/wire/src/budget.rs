//! How long an answer may be, in tokens, as a body says it: read, and given more room where all of it was spent on
//! thinking.

use crate::{
    dialect::Dialect,
    json::{Json, Object},
    model::Quirks,
    relay::Body,
};

/// The most tokens that the answer to a body for a member of `api` may have; `None` where it does not say. The larger
/// where it says so twice.
pub fn budget(api: Dialect, body: &[u8]) -> Option<u64> {
    let body = Json::read(body.to_vec()).ok()?;
    places(api, Quirks::default()).iter().filter_map(|path| stated(&body, path)).max()
}

/// A body as it was sent to a member of `api`, with twice the budget for its answer, and at most `most` where that is
/// known. Where it states none, with twice of `spent`.
///
/// `None` where it has all that there is to have.
pub fn with_twice_the_budget(
    api: Dialect,
    body: &[u8],
    spent: u64,
    most: Option<u64>,
    quirks: Quirks,
) -> Option<Vec<u8>> {
    let body = Json::read(body.to_vec()).ok()?;
    let places = places(api, quirks);
    let stated = places.iter().find_map(|path| Some((*path, stated(&body, path)?)));
    let (path, now) = stated.unwrap_or((places[0], spent));
    let twice = now.max(1).saturating_mul(2);
    let twice = most.map_or(twice, |most| twice.min(most));
    (twice > now).then_some(())?;
    let mut body = Body::new(&body).ok()?;
    body.set(path, &twice.to_string());
    Some(body.into_bytes())
}

fn stated(body: &Json, path: &[&str]) -> Option<u64> {
    let found = path.iter().try_fold(body.root(), |found, field| Object::of(found)?.get(field))?;
    found.get().parse().ok()
}

/// Where the budget stands, first where it is put when it stands nowhere.
fn places(api: Dialect, quirks: Quirks) -> &'static [&'static [&'static str]] {
    match api {
        Dialect::Chat if quirks.completion_budget => &[&["max_completion_tokens"], &["max_tokens"]],
        Dialect::Chat => &[&["max_tokens"], &["max_completion_tokens"]],
        Dialect::Responses => &[&["max_output_tokens"]],
        Dialect::Gemini => &[
            &["generationConfig", "maxOutputTokens"],
            &["generationConfig", "max_output_tokens"],
            &["generation_config", "max_output_tokens"],
            &["generation_config", "maxOutputTokens"],
        ],
        Dialect::Ollama => &[&["options", "num_predict"]],
        Dialect::Anthropic | Dialect::Completions => &[&["max_tokens"]],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_budget_is_read_where_it_stands() {
        for (api, body, wanted) in [
            (Dialect::Chat, r#"{"max_tokens": 16, "a":1e3}"#, Some(16)),
            (Dialect::Chat, r#"{"max_completion_tokens":16,"max_tokens":17}"#, Some(17)),
            (Dialect::Chat, r#"{"a":{"max_tokens":16}}"#, None),
            (Dialect::Chat, r#"{"max_tokens":null}"#, None),
            (Dialect::Completions, r#"{"max_tokens":16}"#, Some(16)),
            (Dialect::Responses, r#"{"max_output_tokens":16}"#, Some(16)),
            (Dialect::Anthropic, r#"{"max_tokens":16}"#, Some(16)),
            (Dialect::Gemini, r#"{"generation_config":{"maxOutputTokens":16}}"#, Some(16)),
            (Dialect::Ollama, r#"{"options":{"num_predict":16}}"#, Some(16)),
            // As much as there is.
            (Dialect::Ollama, r#"{"options":{"num_predict":-1}}"#, None),
            (Dialect::Ollama, "", None),
        ] {
            assert_eq!(budget(api, body.as_bytes()), wanted, "{body}");
        }
    }

    #[test]
    fn the_budget_is_doubled_where_it_stands_and_nothing_else_is_touched() {
        let plain = Quirks::default();
        let newer = Quirks { completion_budget: true, ..plain };
        for (api, quirks, body, most, wanted) in [
            (Dialect::Chat, plain, r#"{"max_tokens": 16, "a":1e3}"#, None, r#"{"max_tokens": 32, "a":1e3}"#),
            (
                Dialect::Chat,
                plain,
                r#"{"max_completion_tokens":16}"#,
                None,
                r#"{"max_completion_tokens":32}"#,
            ),
            (Dialect::Chat, plain, r#"{"a":1}"#, None, r#"{"a":1,"max_tokens":200}"#),
            (Dialect::Chat, newer, r#"{"a":1}"#, None, r#"{"a":1,"max_completion_tokens":200}"#),
            (Dialect::Chat, plain, r#"{"max_tokens":16}"#, Some(20), r#"{"max_tokens":20}"#),
            (Dialect::Responses, plain, r#"{"max_output_tokens":16}"#, None, r#"{"max_output_tokens":32}"#),
            (Dialect::Anthropic, plain, r#"{"max_tokens":16}"#, None, r#"{"max_tokens":32}"#),
            (
                Dialect::Gemini,
                plain,
                r#"{"generation_config":{"max_output_tokens":16,"top_k":1}}"#,
                None,
                r#"{"generation_config":{"max_output_tokens":32,"top_k":1}}"#,
            ),
            (
                Dialect::Gemini,
                plain,
                r#"{"generationConfig":{"topK":1}}"#,
                None,
                r#"{"generationConfig":{"topK":1,"maxOutputTokens":200}}"#,
            ),
            (
                Dialect::Ollama,
                plain,
                r#"{"options":{"num_predict":16}}"#,
                None,
                r#"{"options":{"num_predict":32}}"#,
            ),
            (Dialect::Ollama, plain, r#"{"a":1}"#, None, r#"{"a":1,"options":{"num_predict":200}}"#),
        ] {
            let twice = with_twice_the_budget(api, body.as_bytes(), 100, most, quirks);
            assert_eq!(String::from_utf8(twice.unwrap_or_default()).unwrap(), wanted, "{body}");
        }
        let all_there_is = br#"{"max_tokens":16}"#;
        assert_eq!(with_twice_the_budget(Dialect::Chat, all_there_is, 100, Some(16), plain), None);
    }
}
