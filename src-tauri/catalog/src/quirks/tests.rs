use wire::ThinkingScale::{AsAsked, Budget, Effort};

use super::*;

fn known(base: &str, api: Dialect, served: &str) -> wire::Quirks {
    let endpoint = Endpoint { api, ..Endpoint::new("fake", base) };
    quirks(&endpoint, &Model::new("alpha", "fake", served))
}

#[test]
fn the_file_is_valid() {
    for rule in read(include_str!("../../quirks.toml")).expect("quirks.toml") {
        assert!(!rule.quirks.is_empty(), "{}: a rule that says nothing", rule.why);
        assert!(!rule.why.trim().is_empty(), "{rule:?}: no reason");
        assert!(!rule.presets.is_empty() || !rule.served.is_empty(), "{}: fits everybody", rule.why);
        for preset in &rule.presets {
            assert!(crate::preset(preset).is_some(), "{}: no preset {preset}", rule.why);
        }
        for pattern in rule.served.iter().chain(&rule.except) {
            assert_eq!(
                *pattern,
                pattern.to_ascii_lowercase(),
                "{}: ids are compared in lower case",
                rule.why
            );
        }
    }
}

#[test]
fn patterns() {
    for (text, pattern) in
        [("a", "a"), ("abc", "a*"), ("abc", "*c"), ("abc", "*b*"), ("a", "*"), ("a-b-c", "a*-c")]
    {
        assert!(is_like(text, pattern), "{text} {pattern}");
    }
    for (text, pattern) in
        [("ab", "a"), ("abc", "b*"), ("abc", "*b"), ("", "a*"), ("a-b", "*-4"), ("aé", "*b*")]
    {
        assert!(!is_like(text, pattern), "{text} {pattern}");
    }
}

/// The ids that the Anthropic dialect once told apart by itself, and what it said of each.
#[test]
fn claude_models_think_in_their_own_scale() {
    let base = "https://api.anthropic.com/v1";
    for (served, scale) in [
        ("claude-opus-4-6", Effort),
        ("claude-sonnet-5", Effort),
        ("anthropic/claude-opus-4.6", Effort),
        ("us.anthropic.Claude-Opus-4-6-v1", Effort),
        ("claude-sonnet-4-5-20250929", Budget),
        ("claude-3-7-sonnet-latest", Budget),
        ("claude-opus-4", Budget),
        ("claude-opus-4-20250514", Budget),
        ("claude-opus-4-1", Budget),
        ("claude-sonnet-4@20250514", Budget),
        ("anthropic/claude-sonnet-4.5", Budget),
        ("claude-2.1", Budget),
        ("qwen3-max", AsAsked),
        ("glm-4-5", AsAsked),
    ] {
        let quirks = known(base, Dialect::Anthropic, served);
        let is_claude = scale != AsAsked;
        assert_eq!(
            (quirks.thinking, quirks.cache_ttl, quirks.signed_thinking),
            (scale, is_claude, is_claude),
            "{served}"
        );
    }
    assert_eq!(known(base, Dialect::Chat, "claude-opus-4-6"), wire::Quirks::default());
}

#[test]
fn presets_are_known_by_their_host_and_models_by_their_id() {
    type Wanted = fn(&mut wire::Quirks);
    let openai = "https://api.openai.com/v1";
    let cases: [(&str, Dialect, &str, Wanted); 14] = [
        (openai, Dialect::Chat, "gpt-4.1", |q| (q.developer, q.completion_budget) = (true, true)),
        (openai, Dialect::Chat, "gpt-5-mini", |q| {
            (q.developer, q.completion_budget, q.own_sampling) = (true, true, true);
        }),
        (openai, Dialect::Chat, "gpt-5-chat-latest", |q| (q.developer, q.completion_budget) = (true, true)),
        (openai, Dialect::Responses, "o3", |q| (q.developer, q.own_sampling) = (true, true)),
        ("https://me.openai.azure.com/openai/v1", Dialect::Chat, "o4-mini", |q| {
            (q.completion_budget, q.own_sampling) = (true, true);
        }),
        ("https://openrouter.ai/api/v1/", Dialect::Chat, "openai/gpt-5", |q| q.own_sampling = true),
        ("https://openrouter.ai/api/v1", Dialect::Chat, "anthropic/claude-opus-4.6", |q| {
            q.cache_marks = true
        }),
        ("https://openrouter.ai/api/v1", Dialect::Chat, "meta-llama/llama-4", |_| {}),
        ("https://api.deepseek.com/beta", Dialect::Chat, "deepseek-chat", |q| q.reasoning_back = true),
        ("https://api.deepseek.com/anthropic", Dialect::Anthropic, "deepseek-chat", |_| {}),
        ("https://api.perplexity.ai", Dialect::Chat, "sonar", |q| (q.one_system, q.alternate) = (true, true)),
        ("http://localhost:8080/v1", Dialect::Chat, "gemma-3-4b-it", |q| {
            (q.one_system, q.alternate) = (true, true);
        }),
        ("http://127.0.0.1:8080/v1", Dialect::Chat, "qwen3-8b", |_| {}),
        ("https://api.example.com/v1", Dialect::Chat, "gemma-3-4b-it", |_| {}),
    ];
    for (base, api, served, wanted) in cases {
        let mut quirks = wire::Quirks::default();
        wanted(&mut quirks);
        assert_eq!(known(base, api, served), quirks, "{served} at {base}");
    }
}

#[test]
fn the_owner_has_the_last_word_the_model_before_the_endpoint() {
    let mut endpoint = Endpoint::new("fake", "https://api.openai.com/v1");
    let mut model = Model::new("alpha", "fake", "gpt-5");
    endpoint.quirks =
        serde_json::from_str(r#"{"completion_budget": false, "alternate": true}"#).expect("quirks");
    model.quirks = serde_json::from_str(r#"{"alternate": false, "thinking": "budget"}"#).expect("quirks");
    let known = quirks(&endpoint, &model);
    assert_eq!((known.completion_budget, known.alternate, known.thinking), (false, false, Budget));
    assert!(known.developer && known.own_sampling, "what the owner says nothing about stays");
    let wrong = serde_json::from_str::<Quirks>(r#"{"sings": true}"#).expect_err("an unknown quirk");
    assert!(wrong.to_string().contains("sings"), "{wrong}");
}
