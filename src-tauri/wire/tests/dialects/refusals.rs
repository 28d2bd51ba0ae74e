//! What a provider's refusal says of the provider (`refusals.txt`), and what is learned from it.

use serde_json::json;
use wire::{AskedWith, Class, Dialect, Lack, Parameter, Quirks, UpstreamError, format};

#[test]
fn what_providers_say_is_told_apart() {
    let table = include_str!("refusals.txt");
    let mut told = 0;
    let mut lines = table.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    while let Some(head) = lines.next() {
        let body = lines.next().unwrap();
        let [status, class, kind, parameter, _from] =
            head.split('|').map(str::trim).collect::<Vec<_>>().try_into().unwrap();
        for dialect in Dialect::ALL {
            let error =
                format(*dialect).decode_error(status.parse().unwrap(), "application/json", body.as_bytes());
            assert_eq!(json!(error.class), class, "{body}: {error:?}");
            assert_eq!(error.names_a_lack(), kind == "lack", "{body}: {error:?}");
            let refused = error.refused_parameter().map_or("-", word);
            assert_eq!(refused, parameter, "{body}: {error:?}");
        }
        told += 1;
    }
    assert!(told > 30, "{told} refusals");
}

#[test]
fn what_a_model_does_not_take_is_read_only_where_it_is_said_plainly() {
    let mut lines =
        include_str!("lacks.txt").lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    let mut told = 0;
    while let Some(head) = lines.next() {
        let body = lines.next().unwrap();
        let [status, lack, _from] = head.split('|').map(str::trim).collect::<Vec<_>>().try_into().unwrap();
        for dialect in Dialect::ALL {
            let error =
                format(*dialect).decode_error(status.parse().unwrap(), "application/json", body.as_bytes());
            // Of whatever model it is said, and whatever was sent.
            let all = AskedWith { served: "", tools: true, images: true };
            let found = match error.lack(all) {
                Some(Lack::Tools) => "tools",
                Some(Lack::Images) => "images",
                None => "-",
            };
            assert_eq!(found, lack, "{body}: {error:?}");
            assert!(error.lack(all).is_none() || error.names_a_lack(), "another may take it: {error:?}");
        }
        told += 1;
    }
    assert!(told > 30, "{told} refusals");
}

#[test]
fn a_lack_is_of_what_was_sent_and_of_the_model_that_was_asked() {
    let (tools, images) = ((true, false), (false, true));
    for (words, served, sent, is_told) in [
        ("This model does not support tools", "a-1", tools, true),
        ("This model does not support tools", "a-1", images, false),
        ("This model does not support image input", "a-1", tools, false),
        ("This model does not support image input", "a-1", images, true),
        ("registry.ollama.ai/library/gemma:7b does not support tools", "gemma:7b", tools, true),
        ("gemma:latest does not support tools", "gemma", tools, true),
        ("gemma:latest does not support tools", "llama3:8b", tools, false),
        ("model gemma-7b does not support tools.", "Vendor/Gemma-7B", tools, true),
        ("model 'gemma-7b' does not support tools.", "vendor/llama-3", tools, false),
        ("Function calling is not enabled for models/gemma-3-1b-it", "gemma-3-1b-it", tools, true),
        ("Function calling is not enabled for models/gemma-3-1b-it", "gemini-2.5-flash", tools, false),
        ("llava-13b is not a multimodal model", "llava-13b", images, true),
        ("llava-13b is not a multimodal model", "qwen-vl", images, false),
    ] {
        let error = UpstreamError {
            class: Class::BadRequest,
            status: Some(400),
            message: words.to_owned(),
            retry_after: None,
        };
        let asked = AskedWith { served, tools: sent.0, images: sent.1 };
        assert_eq!(error.lack(asked).is_some(), is_told, "{words} {asked:?}");
    }
}

#[test]
fn what_is_learned_ends_when_nothing_is_left_to_change() {
    use Parameter::*;
    let mut quirks = Quirks { developer: true, cache_marks: true, reasoning_back: true, ..Quirks::default() };
    let all = [Sampling, Effort, Parallel, Usage, CacheMarks, Developer, ReasoningBack];
    for parameter in all {
        quirks = quirks.without(parameter).unwrap();
        assert_eq!(quirks.without(parameter), None, "{parameter:?} once");
    }
    let wanted = Quirks {
        own_sampling: true,
        no_effort: true,
        no_parallel: true,
        no_usage: true,
        ..Quirks::default()
    };
    assert_eq!(quirks, wanted);
    let newer = Quirks::default().without(PlainBudget).unwrap();
    assert_eq!(newer, Quirks { completion_budget: true, ..Quirks::default() });
    let older = newer.without(CompletionBudget).unwrap();
    assert_eq!(older, Quirks { plain_budget: true, ..Quirks::default() });
    assert_eq!((older.without(PlainBudget), older.without(CompletionBudget)), (None, None));
}

fn word(parameter: Parameter) -> &'static str {
    match parameter {
        Parameter::PlainBudget => "plain_budget",
        Parameter::CompletionBudget => "completion_budget",
        Parameter::Sampling => "sampling",
        Parameter::Effort => "effort",
        Parameter::Parallel => "parallel",
        Parameter::Usage => "usage",
        Parameter::CacheMarks => "cache_marks",
        Parameter::Developer => "developer",
        Parameter::ReasoningBack => "reasoning_back",
    }
}
