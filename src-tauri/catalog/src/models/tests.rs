use serde_json::{Value, json};

use super::*;
use crate::{Price, preset, presets};

fn endpoint(id: &str) -> Endpoint {
    let preset = preset(id).expect(id);
    Endpoint { api: preset.api, ..Endpoint::new("here", preset.base.replace("{resource}", "mine")) }
}

fn price(input: f64, output: f64) -> (Option<f64>, Option<f64>) {
    (Some(input), Some(output))
}

#[test]
fn the_shipped_file_is_what_it_says() {
    let file: Value = serde_json::from_slice(ModelCatalog::SHIPPED.as_bytes()).expect("JSON");
    assert_eq!(file["about"]["dated"], SNAPSHOT_DATE);
    assert!(SNAPSHOT_DATE.parse::<jiff::civil::Date>().is_ok());
    for source in file["about"]["sources"].as_array().expect("sources") {
        assert!(source["from"].is_string() && source["licence"].is_string(), "{source}");
    }
    assert!(ModelCatalog::SHIPPED.as_bytes().len() < 300_000);
    let known: Vec<&str> = presets().iter().map(Preset::models_dev).collect();
    let mut models = 0;
    for (provider, entry) in file.as_object().expect("an object").iter().filter(|(name, _)| *name != "about")
    {
        let at = known.iter().position(|name| name == provider);
        let preset = &presets()[at.unwrap_or_else(|| unreachable!("{provider} is no preset's"))];
        for (served, item) in entry["models"].as_object().expect("models") {
            let facts = snapshot(&endpoint(&preset.id), served);
            assert_eq!(facts, facts_in_listing(item), "{provider} {served}: as it is looked up");
            assert!(!facts.is_empty(), "{provider} {served}");
            models += 1;
        }
    }
    assert!(models > 800, "{models} models");
    // Local runtimes serve what their owner put there; GitHub's own list says all that is known.
    let missing: Vec<_> = presets()
        .iter()
        .filter(|preset| file.get(preset.models_dev()).is_none())
        .map(|preset| &preset.id)
        .collect();
    assert_eq!(missing, ["github", "ollama", "lm-studio", "llama-cpp", "vllm", "jan"]);
}

#[test]
fn models_are_known_as_they_are_served() {
    let of = |id: &str, served: &str| snapshot(&endpoint(id), served);
    let sums = |facts: &Facts| facts.price.as_ref().map(|price| (price.input, price.output));
    let gpt = of("openai", "gpt-4.1");
    assert_eq!((gpt.context_window, gpt.max_output), (Some(1_047_576), Some(32_768)));
    assert_eq!((gpt.tools, gpt.vision, gpt.reasoning), (Some(true), Some(true), Some(false)));
    assert_eq!(sums(&gpt), Some(price(2.0, 8.0)));
    assert_eq!(of("openai", "gpt-4.1-2025-04-14"), gpt, "a date that is not in the list");
    assert_ne!(of("openai", "gpt-4o-2024-05-13"), of("openai", "gpt-4o"), "and one that is");
    assert_eq!(of("google", "models/gemini-2.5-pro"), of("google", "gemini-2.5-pro"));
    assert_eq!(of("google", "gemini-2.5-pro").context_window, Some(1_048_576));
    assert_eq!(sums(&of("anthropic", "claude-haiku-4-5")), Some(price(1.0, 5.0)));
    assert_eq!(of("groq", "llama-3.3-70b-versatile").max_output, Some(32_768));
    assert_eq!(of("together", "meta-llama/Llama-3.3-70B-Instruct-Turbo").tools, Some(true));
    assert_eq!(sums(&of("sambanova", "DeepSeek-V3.1")), Some(price(3.0, 4.5)));
    for (id, served) in
        [("openai", "claude-haiku-4-5"), ("openai", ""), ("openai", "\"x\n"), ("ollama", "gpt-4.1")]
    {
        assert_eq!(of(id, served), Facts::default(), "{id} {served}");
    }
    assert_eq!(snapshot(&Endpoint::new("here", "https://example.com/v1"), "gpt-4.1"), Facts::default());
}

#[test]
fn prices_hold_where_they_are_known() {
    let here = snapshot(&endpoint("moonshot"), "kimi-k2.5");
    let there = snapshot(&Endpoint::new("here", "https://api.moonshot.cn/v1"), "kimi-k2.5");
    assert!(here.price.is_some());
    assert_eq!(there, Facts { price: None, ..here });
}

#[test]
fn models_dev_is_cut_down_to_what_is_used() {
    let model = json!({"id": "kimi-x", "name": "Kimi", "reasoning": true, "tool_call": true, "attachment": false,
        "modalities": {"input": ["text", "image", "video"], "output": ["text"]}, "open_weights": true,
        "cost": {"input": 0.6, "output": 2.5, "cache_read": 0.15, "tiers": []},
        "limit": {"context": 262144, "output": 65536}});
    let body = json!({
        "moonshotai": {"id": "moonshotai", "env": ["K"], "models": {"kimi-x": model, "odd \"one\"": {"limit": {"context": 1000}},
            "draws": {"modalities": {"output": ["image"]}, "limit": {"context": 1000}},
            "broken": 7, "nothing": {"name": "x"}}},
        "nobody": {"models": {"kimi-x": model}},
        "openai": {"models": "broken"},
        "xai": {"models": {}},
        "groq": {"models": {"a": {"limit": {"context": 4096, "output": 0}, "cost": {"input": -1, "output": 2}}}},
    });
    let catalog = read_models_dev(&serde_json::to_vec(&body).expect("json")).expect("a catalog");
    let wanted = Facts {
        context_window: Some(262_144),
        max_output: Some(65_536),
        tools: Some(true),
        reasoning: Some(true),
        vision: Some(true),
        audio: Some(false),
        price: Some(Price { input: Some(0.6), output: Some(2.5), cache_read: Some(0.15), cache_write: None }),
        ..Facts::default()
    };
    let window = |tokens| Facts { context_window: Some(tokens), ..Facts::default() };
    for catalog in [catalog.clone(), ModelCatalog::kept(catalog.as_bytes().to_vec()).expect("kept")] {
        assert_eq!(catalog.facts(&endpoint("moonshot"), "kimi-x"), wanted);
        assert_eq!(catalog.facts(&endpoint("moonshot"), "odd \"one\""), window(1000));
        assert_eq!(catalog.facts(&endpoint("groq"), "a"), window(4096));
        for served in ["draws", "broken", "nothing"] {
            assert_eq!(catalog.facts(&endpoint("moonshot"), served), Facts::default(), "{served}");
        }
    }
    let again = read_models_dev(catalog.as_bytes()).expect("its own shape");
    assert_eq!(again, catalog);
    let shipped = read_models_dev(ModelCatalog::SHIPPED.as_bytes()).expect("its own shape");
    assert_eq!(shipped.facts(&endpoint("openai"), "gpt-4.1"), snapshot(&endpoint("openai"), "gpt-4.1"));
}

#[test]
fn openrouters_list_is_a_catalog_of_its_models() {
    let body = json!({"data": [
        {"id": "b/two:free", "context_length": 8192, "pricing": {"prompt": "0", "completion": "0"},
            "architecture": {"input_modalities": ["text", "file"]}, "supported_parameters": ["tools"]},
        {"id": "a/one", "context_length": 4096}, {"name": "no id"}, 7]});
    let catalog = read_openrouter(&serde_json::to_vec(&body).expect("json")).expect("a catalog");
    let two = catalog.facts(&endpoint("openrouter"), "b/two:free");
    assert_eq!((two.context_window, two.pdf, two.tools), (Some(8192), Some(true), Some(true)));
    assert!(two.price.is_some_and(|price| price.is_free()));
    assert_eq!(catalog.facts(&endpoint("openrouter"), "a/one").context_window, Some(4096));
    assert_eq!(catalog.facts(&endpoint("openai"), "a/one"), Facts::default());
}

#[test]
fn a_list_that_is_none_is_not_taken() {
    for body in ["", "<html>", "[]", "{\"data\":7}"] {
        let outcomes = [read_models_dev(body.as_bytes()), read_openrouter(body.as_bytes())];
        for outcome in outcomes {
            assert!(outcome.is_err(), "{body}: {outcome:?}");
        }
    }
    assert_eq!(read_models_dev(b"{}"), Err(CatalogError::Empty));
    assert_eq!(read_openrouter(b"{\"data\":[]}"), Err(CatalogError::Empty));
    assert!(ModelCatalog::kept(vec![0xff]).is_err());
}
