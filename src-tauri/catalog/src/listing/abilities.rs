use serde_json::Value;

use crate::Facts;

/// One thing a model can do, and its names in lists.
struct Ability {
    of: fn(&mut Facts) -> &mut Option<bool>,
    names: &'static [&'static str],
}

const ABILITIES: &[Ability] = &[
    Ability {
        of: |facts| &mut facts.tools,
        names: &[
            "tools",
            "tool_use",
            "tool_call",
            "tool_calls",
            "tool_calling",
            "tool_choice",
            "function_calling",
            "trained_for_tool_use",
        ],
    },
    Ability { of: |facts| &mut facts.vision, names: &["vision", "image_input", "image_in", "image"] },
    Ability { of: |facts| &mut facts.reasoning, names: &["reasoning", "thinking"] },
    Ability {
        of: |facts| &mut facts.structured_output,
        names: &[
            "structured_outputs",
            "structured_output",
            "json_schema",
            "response_schema",
            "structured_decoding",
        ],
    },
    Ability { of: |facts| &mut facts.pdf, names: &["pdf", "pdf_input", "file", "document"] },
    Ability { of: |facts| &mut facts.audio, names: &["audio", "audio_input"] },
];

/// Fills in what the item says the model can do, and what it says the model cannot.
pub(super) fn read(item: &Value, facts: &mut Facts) {
    for ability in ABILITIES {
        let told = flag(item, ability.names).or_else(|| flag(item.get("model_info")?, ability.names));
        let told = told.or_else(|| in_object(item.get("capabilities")?, ability.names));
        *(ability.of)(facts) = told.or_else(|| in_lists(item, ability.names));
    }
    modalities(item, facts);
    // LM Studio.
    if item.get("type").and_then(Value::as_str) == Some("vlm") {
        facts.vision = facts.vision.or(Some(true));
    }
}

/// `"supports_tools": true`; models.dev's and Gemini's `"reasoning": true`.
fn flag(item: &Value, names: &[&str]) -> Option<bool> {
    let object = item.as_object()?;
    let told = |key: &str| object.get(key)?.as_bool();
    names.iter().find_map(|name| told(&format!("supports_{name}")).or_else(|| told(name)))
}

/// Mistral's `{"vision": true}`, Anthropic's `{"image_input": {"supported": true}}`.
fn in_object(capabilities: &Value, names: &[&str]) -> Option<bool> {
    let object = capabilities.as_object()?;
    names.iter().find_map(|name| {
        let value = object.get(*name)?;
        value.as_bool().or_else(|| value.get("supported")?.as_bool())
    })
}

/// Lists of names. Two of them are known to be whole: what they leave out the model cannot.
fn in_lists(item: &Value, names: &[&str]) -> Option<bool> {
    let list = |name: &str| item.get(name).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let has = |list: &[Value], wanted: &str| {
        list.iter().filter_map(Value::as_str).any(|name| name.to_lowercase().replace('-', "_") == wanted)
    };
    let parameters = list("supported_parameters");
    let capabilities = list("capabilities");
    let said = [parameters, capabilities, list("features"), list("supported_features")];
    if names.iter().any(|name| said.iter().any(|list| has(list, name))) {
        return Some(true);
    }
    // OpenRouter's parameters, and Ollama's capabilities, which begin with what every model of it can.
    let of_parameters = !parameters.is_empty() && PARAMETERS.iter().any(|name| names.contains(name));
    let of_ollama = has(capabilities, "completion") && OLLAMAS.iter().any(|name| names.contains(name));
    (of_parameters || of_ollama).then_some(false)
}

const PARAMETERS: &[&str] = &["tools", "structured_outputs", "reasoning"];
const OLLAMAS: &[&str] = &["tools", "vision", "thinking"];

/// What may come in, where it is listed. Only images and sound are told by every such list.
fn modalities(item: &Value, facts: &mut Facts) {
    const PLACES: &[&str] = &[
        "/architecture/input_modalities",
        "/supported_input_modalities",
        "/input_modalities",
        "/modalities/input",
    ];
    let Some(listed) = PLACES.iter().find_map(|place| item.pointer(place)?.as_array()) else { return };
    let has = |names: &[&str]| listed.iter().filter_map(Value::as_str).any(|name| names.contains(&name));
    facts.vision = Some(has(&["image"]));
    facts.audio = Some(has(&["audio"]));
    if has(&["pdf", "file", "document"]) {
        facts.pdf = Some(true);
    }
}
