//! Whether an owner's options for a model can be what its API takes. Only those that every provider of an API reads
//! alike are known here: another is passed on as it is.

use serde_json::{Map, Number, Value};
use wire::Dialect;

use crate::{Endpoint, EndpointKind, FieldError};

/// What an option must be.
#[derive(Clone, Copy)]
enum Is {
    /// A whole number, at least this.
    Whole(i64),
    /// A number from one to the other.
    Number(f64, f64),
    Temperature,
    YesOrNo,
    Text,
    TextOrTexts,
    Texts,
    Object,
}

/// By its name with `_`: Google's camel case is read as that too.
const KNOWN: &[(&str, Is)] = &[
    ("max_tokens", Is::Whole(1)),
    ("max_completion_tokens", Is::Whole(1)),
    ("max_output_tokens", Is::Whole(1)),
    // Without end, and as much as the window holds.
    ("num_predict", Is::Whole(-2)),
    ("num_ctx", Is::Whole(1)),
    ("temperature", Is::Temperature),
    ("top_p", Is::Number(0.0, 1.0)),
    ("min_p", Is::Number(0.0, 1.0)),
    // Off, for those who count from there.
    ("top_k", Is::Whole(-1)),
    ("top_logprobs", Is::Whole(0)),
    ("seed", Is::Whole(i64::MIN)),
    ("frequency_penalty", Is::Number(-2.0, 2.0)),
    ("presence_penalty", Is::Number(-2.0, 2.0)),
    ("repetition_penalty", Is::Number(0.0, f64::MAX)),
    ("repeat_penalty", Is::Number(0.0, f64::MAX)),
    ("parallel_tool_calls", Is::YesOrNo),
    ("reasoning_effort", Is::Text),
    ("verbosity", Is::Text),
    ("user", Is::Text),
    ("stop", Is::TextOrTexts),
    ("stop_sequences", Is::Texts),
    ("thinking", Is::Object),
    ("thinking_config", Is::Object),
    ("generation_config", Is::Object),
    ("output_config", Is::Object),
    ("reasoning", Is::Object),
];

/// Objects that hold options as the body does.
const HOLDERS: [&str; 2] = ["options", "generation_config"];

/// The options that cannot be right, each with its field (`options.max_tokens`) and what it must be. A `null` says
/// nothing.
pub fn wrong_options(endpoint: Option<&Endpoint>, options: &Map<String, Value>) -> Vec<FieldError> {
    let mut wrong = Vec::new();
    look(endpoint, options, "options", &mut wrong);
    wrong
}

fn look(endpoint: Option<&Endpoint>, options: &Map<String, Value>, place: &str, wrong: &mut Vec<FieldError>) {
    for (name, value) in options.iter().filter(|(_, value)| !value.is_null()) {
        let (known, place) = (snake(name), format!("{place}.{name}"));
        if let Some(must) =
            KNOWN.iter().find(|(it, _)| *it == known).and_then(|(_, is)| is.says_not(value, endpoint))
        {
            wrong.push(FieldError::new(
                place,
                format!("{must}, not {value}; leave it out for the provider's own"),
            ));
        } else if let Some(inner) = value.as_object().filter(|_| HOLDERS.contains(&known.as_str())) {
            look(endpoint, inner, &place, wrong);
        }
    }
}

impl Is {
    /// What the value must be, where it is not.
    fn says_not(self, value: &Value, endpoint: Option<&Endpoint>) -> Option<String> {
        let is_text = Value::is_string;
        let are_texts = |value: &Value| value.as_array().is_some_and(|texts| texts.iter().all(is_text));
        let (is_right, must) = match self {
            Is::Whole(i64::MIN) => (whole(value).is_some(), "a whole number".to_owned()),
            Is::Whole(least) => {
                (whole(value).is_some_and(|it| it >= least), format!("a whole number from {least}"))
            }
            Is::Number(least, f64::MAX) => {
                (value.as_f64().is_some_and(|it| it >= least), format!("a number from {least}"))
            }
            Is::Number(least, most) => (
                value.as_f64().is_some_and(|it| (least..=most).contains(&it)),
                format!("a number from {least} to {most}"),
            ),
            Is::Temperature => return Is::Number(0.0, hottest(endpoint)).says_not(value, endpoint),
            Is::YesOrNo => (value.is_boolean(), "true or false".to_owned()),
            Is::Text => (is_text(value), "a text".to_owned()),
            Is::TextOrTexts => (is_text(value) || are_texts(value), "a text, or a list of texts".to_owned()),
            Is::Texts => (are_texts(value), "a list of texts".to_owned()),
            Is::Object => (value.is_object(), "an object".to_owned()),
        };
        (!is_right).then_some(must)
    }
}

/// Up to where an API takes a temperature: a runtime on this machine samples as it is told.
fn hottest(endpoint: Option<&Endpoint>) -> f64 {
    match endpoint {
        Some(endpoint) if endpoint.api == Dialect::Ollama || endpoint.kind() == EndpointKind::Local => {
            f64::MAX
        }
        Some(endpoint) if endpoint.api == Dialect::Anthropic => 1.0,
        _ => 2.0,
    }
}

/// `5`, and `5.0`.
fn whole(value: &Value) -> Option<i64> {
    let number: &Number = value.as_number()?;
    // Exact in an f64 up to 2^53.
    let round = |it: f64| (it.fract() == 0.0 && it.abs() <= 9_007_199_254_740_992.0).then_some(it as i64);
    number.as_i64().or_else(|| round(number.as_f64()?))
}

fn snake(name: &str) -> String {
    let mut snake = String::with_capacity(name.len() + 4);
    for c in name.chars() {
        if c.is_ascii_uppercase() {
            snake.push('_');
        }
        snake.push(c.to_ascii_lowercase());
    }
    snake
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn wrong(endpoint: &Endpoint, options: &Value) -> Vec<String> {
        let options = options.as_object().unwrap();
        wrong_options(Some(endpoint), options).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn what_an_option_must_be_is_said_with_its_field() {
        let out = "; leave it out for the provider's own";
        let chat = Endpoint::new("aa", "https://example.com/v1");
        let claude = Endpoint { api: Dialect::Anthropic, ..chat.clone() };
        let gemini = Endpoint { api: Dialect::Gemini, ..chat.clone() };
        let ollama = Endpoint { api: Dialect::Ollama, ..chat.clone() };
        for (endpoint, options, said) in [
            (&chat, json!({"max_tokens": -1}), "options.max_tokens: a whole number from 1, not -1"),
            (&chat, json!({"max_tokens": "5"}), "options.max_tokens: a whole number from 1, not \"5\""),
            (&chat, json!({"max_tokens": 1.5}), "options.max_tokens: a whole number from 1, not 1.5"),
            (
                &chat,
                json!({"max_completion_tokens": 0}),
                "options.max_completion_tokens: a whole number from 1, not 0",
            ),
            (&chat, json!({"max_tokens": 1e19}), "options.max_tokens: a whole number from 1, not 1e+19"),
            (&chat, json!({"temperature": 2.1}), "options.temperature: a number from 0 to 2, not 2.1"),
            (&chat, json!({"temperature": "NaN"}), "options.temperature: a number from 0 to 2, not \"NaN\""),
            (&claude, json!({"temperature": 1.5}), "options.temperature: a number from 0 to 1, not 1.5"),
            (&ollama, json!({"temperature": -1}), "options.temperature: a number from 0, not -1"),
            (
                &ollama,
                json!({"options": {"num_ctx": 0}}),
                "options.options.num_ctx: a whole number from 1, not 0",
            ),
            (
                &gemini,
                json!({"generationConfig": {"topP": 2}}),
                "options.generationConfig.topP: a number from 0 to 1, not 2",
            ),
            (
                &gemini,
                json!({"maxOutputTokens": true}),
                "options.maxOutputTokens: a whole number from 1, not true",
            ),
            (&gemini, json!({"generationConfig": 5}), "options.generationConfig: an object, not 5"),
            (&chat, json!({"presence_penalty": 3}), "options.presence_penalty: a number from -2 to 2, not 3"),
            (&chat, json!({"seed": 1.5}), "options.seed: a whole number, not 1.5"),
            (
                &chat,
                json!({"parallel_tool_calls": "no"}),
                "options.parallel_tool_calls: true or false, not \"no\"",
            ),
            (&chat, json!({"reasoning_effort": 1}), "options.reasoning_effort: a text, not 1"),
            (&chat, json!({"stop": [1]}), "options.stop: a text, or a list of texts, not [1]"),
            (
                &claude,
                json!({"stop_sequences": "END"}),
                "options.stop_sequences: a list of texts, not \"END\"",
            ),
            (&claude, json!({"thinking": "on"}), "options.thinking: an object, not \"on\""),
        ] {
            assert_eq!(wrong(endpoint, &options), [format!("{said}{out}")], "{options}");
        }
        assert_eq!(wrong(&chat, &json!({"top_p": 5, "x": -1, "top_k": "a"})).len(), 2, "each is named");
    }

    #[test]
    fn what_may_be_right_is_left_alone() {
        let chat = Endpoint::new("aa", "https://example.com/v1");
        let local = Endpoint::new("aa", "http://127.0.0.1:1234/v1");
        let ollama = Endpoint { api: Dialect::Ollama, ..chat.clone() };
        for (endpoint, options) in [
            (&chat, json!({"max_tokens": 4096, "temperature": 0, "top_p": 1, "seed": -1, "stop": ["a"]})),
            (&chat, json!({"max_tokens": 5.0, "max_completion_tokens": null, "top_k": -1, "x": "0123"})),
            (&chat, json!({"reasoning": {"effort": "low"}, "provider": {"max_tokens": "x"}})),
            (&local, json!({"temperature": 4.5, "min_p": 0.1})),
            (
                &ollama,
                json!({"num_predict": -2, "options": {"temperature": 3}, "keep_alive": -1, "think": "high"}),
            ),
        ] {
            assert_eq!(wrong(endpoint, &options), Vec::<String>::new());
        }
    }
}
