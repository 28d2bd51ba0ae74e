//! What an endpoint's own list says of a model, in the shape of whoever answers: each provider has names of its own for
//! the same few facts. The names are data; what they are seen in is in `tests/providers/*/listing.json`.

mod abilities;
mod price;

use serde_json::Value;

use crate::Facts;

/// What one item of a list says of its model. Numbers that cannot be are left out.
///
/// Known are OpenAI's and the lists of every preset: OpenRouter, Groq, Mistral, Gemini, the Hugging Face router, GitHub,
/// Together, Fireworks, Anthropic, Cohere, Cerebras, SambaNova, Moonshot, xAI (`/language-models`), Ollama (`/api/tags`
/// and `/api/show`), LM Studio (`/api/v0/models`, `/api/v1/models`), vLLM, llama.cpp, models.dev, and hubs such as LiteLLM.
pub fn facts_in_listing(item: &Value) -> Facts {
    let mut facts = Facts {
        context_window: loaded(item).or_else(|| least(item, WINDOWS)).or_else(|| in_model_info(item)),
        max_output: least(item, OUTPUTS),
        price: price::read(item),
        ..Facts::default()
    };
    abilities::read(item, &mut facts);
    if let Some(providers) = item.get("providers").and_then(Value::as_array) {
        together(providers, &mut facts);
    }
    facts.bounded()
}

/// Where the window stands. Of several in one row, all hold, so the smallest; the first row that is there is told.
const WINDOWS: &[&[&str]] = &[
    // LM Studio: as it is loaded, which may be less than the model could.
    &["/loaded_context_length"],
    // OpenRouter: what the model could, and what its first provider gives.
    &["/context_length", "/top_provider/context_length"],
    &["/context_window"],
    &["/max_context_length"],
    &["/max_model_len"],
    &["/limit/context"],
    &["/limits/max_context_length"],
    &["/limits/max_input_tokens"],
    &["/max_input_tokens"],
    &["/model_info/max_input_tokens"],
    &["/inputTokenLimit"],
    // llama.cpp: as it runs, else as the model was trained.
    &["/meta/n_ctx"],
    &["/meta/n_ctx_train"],
];

const OUTPUTS: &[&[&str]] = &[
    &["/top_provider/max_completion_tokens"],
    &["/max_completion_tokens"],
    &["/max_output_tokens"],
    &["/limit/output"],
    &["/limits/max_completion_tokens"],
    &["/limits/max_output_tokens"],
    &["/model_info/max_output_tokens"],
    &["/outputTokenLimit"],
    &["/max_output_length"],
    &["/max_tokens"],
];

fn least(item: &Value, rows: &[&[&str]]) -> Option<u64> {
    let of_row = |row: &&[&str]| row.iter().filter_map(|place| whole(item.pointer(place)?)).min();
    rows.iter().find_map(of_row)
}

/// A positive whole number; some write it as text.
fn whole(value: &Value) -> Option<u64> {
    let number = value.as_u64().or_else(|| value.as_str()?.parse().ok());
    number.filter(|number| *number > 0)
}

/// Ollama's `/api/show`: as its Modelfile runs it, else `<architecture>.context_length`.
fn in_model_info(item: &Value) -> Option<u64> {
    let parameters = item.get("parameters").and_then(Value::as_str).unwrap_or_default();
    let set = parameters.lines().find_map(|line| line.trim().strip_prefix("num_ctx")?.trim().parse().ok());
    let trained = || {
        let info = item.get("model_info")?.as_object()?;
        info.iter().find(|(name, _)| name.ends_with(".context_length")).and_then(|(_, value)| whole(value))
    };
    set.or_else(trained)
}

/// LM Studio's `/api/v1/models`: the smallest of its loaded instances.
fn loaded(item: &Value) -> Option<u64> {
    let instances = item.get("loaded_instances")?.as_array()?;
    instances.iter().filter_map(|instance| whole(instance.pointer("/config/context_length")?)).min()
}

/// The Hugging Face router: whichever provider serves the model, so what holds for all that are live.
fn together(providers: &[Value], facts: &mut Facts) {
    let is_live = |provider: &&Value| provider.get("status").is_none_or(|status| status == "live");
    let live: Vec<Facts> = providers.iter().filter(is_live).map(facts_in_listing).collect();
    let every = |of: fn(&Facts) -> Option<bool>| {
        let told: Option<Vec<bool>> = live.iter().map(of).collect();
        told.filter(|told| !told.is_empty()).map(|told| told.into_iter().all(|works| works))
    };
    facts.context_window =
        live.iter().filter_map(|facts| facts.context_window).min().or(facts.context_window);
    facts.tools = every(|facts| facts.tools).or(facts.tools);
    facts.structured_output = every(|facts| facts.structured_output).or(facts.structured_output);
    // The dearest, where all tell: nobody is to be surprised.
    let prices: Option<Vec<_>> = live.iter().map(|facts| facts.price.clone()).collect();
    let sum = |price: &crate::Price| price.input.unwrap_or(0.0) + price.output.unwrap_or(0.0);
    let dearest = prices.and_then(|prices| prices.into_iter().max_by(|a, b| sum(a).total_cmp(&sum(b))));
    facts.price = dearest.or(facts.price.take());
}
