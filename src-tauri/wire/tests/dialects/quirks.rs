//! What a member does otherwise than its dialect says, each quirk on and off.

use serde_json::{Value, json};
use wire::{Dialect, Quirks, Request, Route, Target, ThinkingScale, format};

fn read(dialect: Dialect, body: &Value) -> Request {
    format(dialect).decode_request(body.to_string().as_bytes(), &Route::default()).unwrap()
}

fn sent(member: Dialect, request: &Request, quirks: Quirks, options: Value) -> (Value, Vec<String>) {
    let options = options.as_object().cloned().unwrap_or_default();
    let target = Target { callers_options: true, quirks, options, ..Target::default() };
    let encoded = format(member).encode_request(request, &target);
    let lost = encoded.notices.iter().map(|n| format!("{}={}", n.field, n.reason)).collect();
    (serde_json::from_slice(&encoded.body).unwrap(), lost)
}

#[test]
fn w107_the_budget_goes_by_the_name_the_member_takes() {
    let user = json!([{"role": "user", "content": "q"}]);
    let newer = Quirks { completion_budget: true, ..Quirks::default() };
    for (asked, owners, quirks, wanted) in [
        (json!({"max_tokens": 50}), json!({}), newer, json!({"max_completion_tokens": 50})),
        (json!({"max_completion_tokens": 50}), json!({}), newer, json!({"max_completion_tokens": 50})),
        (json!({"max_tokens": 50}), json!({"max_tokens": 9}), newer, json!({"max_completion_tokens": 50})),
        (json!({}), json!({"max_tokens": 9}), newer, json!({"max_completion_tokens": 9})),
        (json!({"max_tokens": 50}), json!({}), Quirks::default(), json!({"max_tokens": 50})),
        (json!({}), json!({"max_tokens": 9}), Quirks::default(), json!({"max_tokens": 9})),
    ] {
        let mut body = json!({"messages": user});
        body.as_object_mut().unwrap().extend(asked.as_object().unwrap().clone());
        let (body, lost) = sent(Dialect::Chat, &read(Dialect::Chat, &body), quirks, owners);
        let mut budgets = body.as_object().unwrap().clone();
        budgets.retain(|name, _| name.starts_with("max_"));
        assert_eq!((Value::Object(budgets), lost), (wanted, vec![]), "{asked}");
    }
}

#[test]
fn a_model_that_samples_as_it_likes_is_not_told_how() {
    let body = json!({"messages": [{"role": "user", "content": "q"}], "temperature": 0.5, "top_p": 0.9,
        "logit_bias": {}, "seed": 7, "stop": "END"});
    let quirks = Quirks { own_sampling: true, ..Quirks::default() };
    let request = read(Dialect::Chat, &body);
    let (told, lost) = sent(Dialect::Chat, &request, quirks, json!({}));
    assert_eq!((told.get("temperature"), told.get("top_p"), told.get("logit_bias")), (None, None, None));
    assert_eq!((&told["seed"], &told["stop"]), (&json!(7), &json!("END")));
    let reason = |name: &str| format!("{name}=this model samples as it likes");
    assert_eq!(lost, ["temperature", "top_p", "logit_bias"].map(reason));
    let (told, lost) = sent(Dialect::Responses, &request, quirks, json!({}));
    assert_eq!((told.get("temperature"), told.get("top_p")), (None, None));
    assert!(lost.contains(&reason("temperature")) && lost.contains(&reason("top_p")), "{lost:?}");
    let (told, lost) = sent(Dialect::Chat, &request, Quirks::default(), json!({}));
    assert_eq!((&told["temperature"], lost), (&json!(0.5), vec![]));
}

#[test]
fn a_developer_turn_goes_to_who_knows_the_role() {
    let request = read(Dialect::Chat, &json!({"messages": [{"role": "developer", "content": "q"}]}));
    for (developer, role, lost) in
        [(true, "developer", vec![]), (false, "system", vec!["messages[0].role=developer sent as system"])]
    {
        let (body, told) =
            sent(Dialect::Chat, &request, Quirks { developer, ..Quirks::default() }, json!({}));
        assert_eq!(
            (&body["messages"][0]["role"], told),
            (&json!(role), lost.iter().map(|l| (*l).to_owned()).collect())
        );
    }
}

/// The callers' own words go to a server that is not known to differ; known models get their own scale.
#[test]
fn thinking_in_the_scale_the_member_knows() {
    for (asked, scale, thinking, effort) in [
        (json!({"type": "enabled"}), ThinkingScale::AsAsked, json!({"type": "enabled"}), Value::Null),
        (
            json!({"type": "enabled", "budget_tokens": 2048}),
            ThinkingScale::AsAsked,
            json!({"type": "enabled", "budget_tokens": 2048}),
            Value::Null,
        ),
        (
            json!({"type": "enabled"}),
            ThinkingScale::Budget,
            json!({"type": "enabled", "budget_tokens": 4096}),
            Value::Null,
        ),
        (
            json!({"type": "adaptive"}),
            ThinkingScale::Budget,
            json!({"type": "enabled", "budget_tokens": 4096}),
            Value::Null,
        ),
        (
            json!({"type": "enabled", "budget_tokens": 2048}),
            ThinkingScale::Effort,
            json!({"type": "adaptive"}),
            json!("low"),
        ),
        (json!({"type": "disabled"}), ThinkingScale::Effort, json!({"type": "disabled"}), Value::Null),
    ] {
        let body = json!({"messages": [{"role": "user", "content": "q"}], "thinking": asked});
        let quirks = Quirks { thinking: scale, ..Quirks::default() };
        let (body, _) = sent(Dialect::Anthropic, &read(Dialect::Anthropic, &body), quirks, json!({}));
        assert_eq!(
            (&body["thinking"], &body["output_config"]["effort"]),
            (&thinking, &effort),
            "{asked} {scale:?}"
        );
    }
}

#[test]
fn a_relay_leaves_unsigned_thinking_out_where_it_is_refused() {
    let body = json!({"model": "m", "max_tokens": 9, "messages": [
        {"role": "user", "content": "q"},
        {"role": "assistant", "content": [{"type": "thinking", "thinking": "t"}, {"type": "text", "text": "a"}]},
        {"role": "user", "content": "and?"}
    ]});
    let request = read(Dialect::Anthropic, &body);
    for signed_thinking in [true, false] {
        let quirks = Quirks { signed_thinking, ..Quirks::default() };
        let target = Target { quirks, ..Target::default() };
        let text = body.to_string();
        let relayed = format(Dialect::Anthropic).relay_request(text.as_bytes(), &request, &target).unwrap();
        let kept = String::from_utf8_lossy(&relayed.body).contains("\"thinking\"");
        assert_eq!((kept, relayed.notices.is_empty()), (!signed_thinking, !signed_thinking));
    }
}

/// The body as it is relayed, and what was said of it.
fn relayed(dialect: Dialect, body: &str, target: &Target) -> (String, Vec<String>) {
    let request = format(dialect).decode_request(body.as_bytes(), &Route::default()).unwrap();
    let encoded = format(dialect).relay_request(body.as_bytes(), &request, target).unwrap();
    let lost = encoded.notices.iter().map(|n| format!("{}={}", n.field, n.reason)).collect();
    (String::from_utf8(encoded.body).unwrap(), lost)
}

#[test]
fn a_relayed_body_is_bent_in_place() {
    const MODEL: &str = r#""model":"m""#;
    let cut = |field: &str| format!("{field}=cut from 900 to 100, the most this model writes");
    let own = |field: &str| format!("{field}=this model samples as it likes");
    let plain = Quirks::default();
    let newer = Quirks { completion_budget: true, ..plain };
    let older = Quirks { plain_budget: true, ..plain };
    let samples = Quirks { own_sampling: true, ..plain };
    let refusing = Quirks { no_effort: true, no_parallel: true, no_usage: true, ..plain };
    let chat = r#""messages":[{"role":"user","content":"q"}]"#;
    let claude = r#""max_tokens":9,"messages":[{"role":"user","content":"q"}]"#;
    let gemini = r#""contents":[{"parts":[{"text":"q"}]}]"#;
    for (dialect, quirks, limit, asked, wanted, lost) in [
        (
            Dialect::Chat,
            newer,
            None,
            format!(r#"{{"max_tokens": 50 ,{chat},{MODEL}}}"#),
            format!(r#"{{"max_completion_tokens": 50 ,{chat},{MODEL}}}"#),
            vec![],
        ),
        (
            Dialect::Chat,
            newer,
            None,
            format!(r#"{{{chat},"max_tokens":50,{MODEL},"max_completion_tokens":7}}"#),
            format!(r#"{{{chat},{MODEL},"max_completion_tokens":7}}"#),
            vec![],
        ),
        (
            Dialect::Chat,
            older,
            None,
            format!(r#"{{{chat},"max_completion_tokens":50,{MODEL}}}"#),
            format!(r#"{{{chat},"max_tokens":50,{MODEL}}}"#),
            vec![],
        ),
        (
            Dialect::Chat,
            older,
            None,
            format!(r#"{{"max_tokens":50,{chat},{MODEL},"max_completion_tokens":7}}"#),
            format!(r#"{{{chat},{MODEL},"max_tokens":7}}"#),
            vec![],
        ),
        (
            Dialect::Chat,
            newer,
            Some(100),
            format!(r#"{{"max_tokens":900,{chat},{MODEL}}}"#),
            format!(r#"{{"max_completion_tokens":100,{chat},{MODEL}}}"#),
            vec![cut("max_tokens")],
        ),
        (
            Dialect::Chat,
            plain,
            Some(100),
            format!(r#"{{"max_tokens":950,"max_completion_tokens":900,{chat},{MODEL}}}"#),
            format!(r#"{{"max_tokens":100,"max_completion_tokens":100,{chat},{MODEL}}}"#),
            vec![cut("max_completion_tokens")],
        ),
        (
            Dialect::Chat,
            samples,
            None,
            format!(r#"{{"temperature":0.5,{chat},"top_p":1,"seed":7,"logit_bias":{{}},{MODEL}}}"#),
            format!(r#"{{{chat},"seed":7,{MODEL}}}"#),
            vec![own("temperature"), own("top_p"), own("logit_bias")],
        ),
        (
            Dialect::Chat,
            refusing,
            None,
            format!(
                r#"{{"stream":true,"stream_options":{{"include_usage":true}},{chat},"tools":[{{"type":"function","function":{{"name":"f"}}}}],"parallel_tool_calls":false,"reasoning_effort":"low",{MODEL}}}"#
            ),
            format!(
                r#"{{"stream":true,{chat},"tools":[{{"type":"function","function":{{"name":"f"}}}}],{MODEL}}}"#
            ),
            vec![
                "stream_options=this server does not take it".to_owned(),
                "reasoning_effort=this model is not told how much to think".to_owned(),
                "parallel_tool_calls=this model is not told whether to call side by side".to_owned(),
            ],
        ),
        (
            Dialect::Chat,
            refusing,
            None,
            format!(r#"{{"stream":true,{chat},{MODEL}}}"#),
            format!(r#"{{"stream":true,{chat},{MODEL}}}"#),
            vec![],
        ),
        (
            Dialect::Anthropic,
            samples,
            Some(5),
            format!(r#"{{{claude},"top_k":5,"temperature":1,{MODEL}}}"#),
            format!(r#"{{{},{MODEL}}}"#, claude.replace('9', "5")),
            vec![
                own("temperature"),
                own("top_k"),
                "max_tokens=cut from 9 to 5, the most this model writes".to_owned(),
            ],
        ),
        (
            Dialect::Anthropic,
            refusing,
            None,
            format!(
                r#"{{{claude},"thinking":{{"type":"adaptive"}},"output_config":{{"effort":"low","x":1}},{MODEL}}}"#
            ),
            format!(r#"{{{claude},"output_config":{{"x":1}},{MODEL}}}"#),
            vec![
                "output_config.effort=this model is not told how much to think".to_owned(),
                "thinking=this model is not told how much to think".to_owned(),
            ],
        ),
        (
            Dialect::Responses,
            samples,
            Some(100),
            format!(r#"{{"input":"q","max_output_tokens":900,"temperature":0,{MODEL}}}"#),
            format!(r#"{{"input":"q","max_output_tokens":100,{MODEL}}}"#),
            vec![own("temperature"), cut("max_output_tokens")],
        ),
        (
            Dialect::Gemini,
            samples,
            Some(100),
            format!(
                r#"{{{gemini},"generationConfig":{{"topK":1,"maxOutputTokens": 900,"temperature":0.1}}}}"#
            ),
            format!(r#"{{{gemini},"generationConfig":{{"maxOutputTokens": 100}}}}"#),
            vec![
                own("generationConfig.temperature"),
                own("generationConfig.topK"),
                cut("generationConfig.maxOutputTokens"),
            ],
        ),
        (
            Dialect::Gemini,
            plain,
            Some(100),
            format!(r#"{{{gemini},"generation_config":{{"max_output_tokens":900}}}}"#),
            format!(r#"{{{gemini},"generation_config":{{"max_output_tokens":100}}}}"#),
            vec![cut("generation_config.max_output_tokens")],
        ),
        (
            Dialect::Ollama,
            samples,
            Some(100),
            format!(r#"{{{chat},"options":{{"num_predict":900,"temperature":0,"num_ctx":1e3}},{MODEL}}}"#),
            format!(r#"{{{chat},"options":{{"num_predict":100,"num_ctx":1e3}},{MODEL}}}"#),
            vec![own("options.temperature"), cut("options.num_predict")],
        ),
        (
            Dialect::Ollama,
            refusing,
            None,
            format!(r#"{{{chat},"think":true,{MODEL}}}"#),
            format!(r#"{{{chat},{MODEL}}}"#),
            vec!["think=this model is not told how much to think".to_owned()],
        ),
    ] {
        let target = Target { served: "m".to_owned(), max_output: limit, quirks, ..Target::default() };
        assert_eq!(relayed(dialect, &asked, &target), (wanted, lost), "{asked}");
    }
}

#[test]
fn what_a_member_refuses_to_be_told_is_not_said_in_any_dialect() {
    let quirks = Quirks {
        no_effort: true,
        no_parallel: true,
        no_usage: true,
        plain_budget: true,
        ..Quirks::default()
    };
    let body = json!({"messages": [{"role": "user", "content": "q"}], "reasoning_effort": "low", "max_completion_tokens": 9,
        "tools": [{"type": "function", "function": {"name": "f"}}], "parallel_tool_calls": false});
    let request = read(Dialect::Chat, &body);
    for member in [Dialect::Chat, Dialect::Anthropic, Dialect::Responses, Dialect::Gemini, Dialect::Ollama] {
        let (told, lost) = sent(member, &request, quirks, json!({}));
        let text = told.to_string();
        for word in ["effort", "think", "parallel", "stream_options", "max_completion_tokens"] {
            assert!(!text.contains(word), "{member:?} {word}: {text}");
        }
        assert!(
            lost.contains(&"reasoning_effort=this model is not told how much to think".to_owned()),
            "{lost:?}"
        );
    }
}
