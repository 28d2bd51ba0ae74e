//! A model's own options in a relayed body: at its end, where the caller is silent, and no other byte changes.

use serde_json::{Value, json};
use wire::{Dialect, Quirks, Route, Target, format};

/// The body as it is relayed to a model with these options, and what was said of it.
fn relayed(dialect: Dialect, options: &Value, quirks: Quirks, body: &str) -> (String, Vec<String>) {
    let route = Route { model: Some("m"), ..Route::default() };
    let request = format(dialect).decode_request(body.as_bytes(), &route).unwrap();
    let options = options.as_object().cloned().unwrap();
    let target =
        Target { served: "m".to_owned(), options, quirks, callers_options: true, ..Target::default() };
    let encoded = format(dialect).relay_request(body.as_bytes(), &request, &target).unwrap();
    let told = encoded.notices.iter().map(|n| format!("{}={}", n.field, n.reason)).collect();
    (String::from_utf8(encoded.body).unwrap(), told)
}

#[test]
fn they_go_in_where_the_caller_is_silent() {
    const CHAT: &str = r#""model":"m", "messages":[{"role":"user","content":"q"}]"#;
    const CLAUDE: &str = r#""model":"m","max_tokens":99,"messages":[{"role":"user","content":"q"}]"#;
    const CODEX: &str = r#""model":"m","input":"q""#;
    const GEMINI: &str = r#""contents":[{"parts":[{"text":"q"}]}]"#;
    for (dialect, options, head, said, wanted) in [
        (Dialect::Chat, json!({}), CHAT, r#", "a":1e3 "#, r#", "a":1e3 "#),
        // In their owner's order, behind what the caller says.
        (
            Dialect::Chat,
            json!({"temperature": 0.2, "max_tokens": 5, "provider": {"sort": "price"}}),
            CHAT,
            r#", "a":1e3 "#,
            r#", "a":1e3 ,"temperature":0.2,"max_tokens":5,"provider":{"sort":"price"}"#,
        ),
        // What the caller says stands, whole and by either name; its null says nothing.
        (
            Dialect::Chat,
            json!({"temperature": 0.2, "max_tokens": 5, "provider": {"sort": "price"}, "seed": 1}),
            CHAT,
            r#","provider":{"order":[]},"temperature":1.0,"max_completion_tokens":9,"seed": null"#,
            r#","provider":{"order":[]},"temperature":1.0,"max_completion_tokens":9,"seed": 1"#,
        ),
        (
            Dialect::Chat,
            json!({"max_tokens": 5}),
            CHAT,
            r#","max_completion_tokens":null"#,
            r#","max_tokens":5"#,
        ),
        (
            Dialect::Chat,
            json!({"reasoning_effort": "low"}),
            CHAT,
            r#","reasoning":{"effort":"high"}"#,
            r#","reasoning":{"effort":"high"}"#,
        ),
        (Dialect::Anthropic, json!({"max_tokens": 5, "top_p": 0.5}), CLAUDE, "", r#","top_p":0.5"#),
        (
            Dialect::Anthropic,
            json!({"output_config": {"effort": "low", "x": 1}}),
            CLAUDE,
            r#","output_config":{"effort":"high"}"#,
            r#","output_config":{"effort":"high","x":1}"#,
        ),
        (
            Dialect::Anthropic,
            json!({"thinking": {"type": "enabled", "budget_tokens": 50}}),
            CLAUDE,
            "",
            r#","thinking":{"type":"enabled","budget_tokens":50}"#,
        ),
        (
            Dialect::Responses,
            json!({"reasoning": {"effort": "low"}, "text": {"verbosity": "low"}, "store": false}),
            CODEX,
            r#","reasoning":{ "summary":"auto" },"text":{"verbosity":"high"}"#,
            r#","reasoning":{ "summary":"auto" ,"effort":"low"},"text":{"verbosity":"high"},"store":false"#,
        ),
        (
            Dialect::Gemini,
            json!({"temperature": 0.2, "topK": 3, "generationConfig": {"seed": 7}, "labels": {"a": "b"}}),
            GEMINI,
            r#","generation_config":{"top_k": 5}"#,
            r#","generation_config":{"top_k": 5,"temperature":0.2,"seed":7},"labels":{"a":"b"}"#,
        ),
        (
            Dialect::Gemini,
            json!({"max_output_tokens": 9, "top_k": 3}),
            GEMINI,
            r#","generationConfig":{"maxOutputTokens": 5}"#,
            r#","generationConfig":{"maxOutputTokens": 5,"top_k":3}"#,
        ),
        (
            Dialect::Gemini,
            json!({"temperature": 0.2}),
            GEMINI,
            "",
            r#","generationConfig":{"temperature":0.2}"#,
        ),
        // How to think is joined too, where both think, and is said in one way.
        (
            Dialect::Gemini,
            json!({"generationConfig": {"thinkingConfig": {"includeThoughts": true, "thinkingLevel": "LOW"}}}),
            GEMINI,
            r#","generationConfig":{"thinkingConfig":{"thinkingBudget":99}}"#,
            r#","generationConfig":{"thinkingConfig":{"thinkingBudget":99,"includeThoughts":true}}"#,
        ),
        (
            Dialect::Gemini,
            json!({"thinking_config": {"include_thoughts": true, "thinking_budget": 5}}),
            GEMINI,
            r#","generationConfig":{"seed":1,"thinkingConfig":{"thinkingLevel":null}}"#,
            r#","generationConfig":{"seed":1,"thinkingConfig":{"include_thoughts":true,"thinking_budget":5}}"#,
        ),
        (
            Dialect::Gemini,
            json!({"thinkingConfig": {"includeThoughts": true}, "topK": 3}),
            GEMINI,
            r#","generationConfig":{"thinkingConfig":{"thinkingBudget":0}}"#,
            r#","generationConfig":{"thinkingConfig":{"thinkingBudget":0},"topK":3}"#,
        ),
        (
            Dialect::Gemini,
            json!({"generationConfig": {"thinkingConfig": {"thinkingBudget": 0}}}),
            GEMINI,
            r#","generationConfig":{"thinkingConfig":{"includeThoughts":true}}"#,
            r#","generationConfig":{"thinkingConfig":{"includeThoughts":true}}"#,
        ),
        (
            Dialect::Gemini,
            json!({"generationConfig": {"thinkingConfig": {"thinkingBudget": 0}}}),
            GEMINI,
            r#","generationConfig":{"seed":1}"#,
            r#","generationConfig":{"seed":1,"thinkingConfig":{"thinkingBudget":0}}"#,
        ),
        // Of what stands twice the last one counts.
        (
            Dialect::Gemini,
            json!({"temperature": 0.2, "seed": 7}),
            GEMINI,
            r#","generationConfig":{"temperature":1.0},"generationConfig":{"seed":1}"#,
            r#","generationConfig":{"temperature":0.2},"generationConfig":{"seed":1,"temperature":0.2}"#,
        ),
        (Dialect::Chat, json!({"seed": 7}), CHAT, r#","seed":1,"seed":null"#, r#","seed":7,"seed":7"#),
        (
            Dialect::Ollama,
            json!({"num_ctx": 8192, "keep_alive": "1h", "options": {"seed": 7}}),
            CHAT,
            r#","options":{"seed":1}"#,
            r#","options":{"seed":1,"num_ctx":8192},"keep_alive":"1h""#,
        ),
        (Dialect::Ollama, json!({"num_ctx": 8192}), CHAT, "", r#","options":{"num_ctx":8192}"#),
    ] {
        let body = format!("{{{head}{said}}}");
        let (sent, told) = relayed(dialect, &options, Quirks::default(), &body);
        assert_eq!(sent, format!("{{{head}{wanted}}}"), "{dialect:?} {options} {said}");
        assert!(told.is_empty(), "{told:?}");
        assert_eq!(relayed(dialect, &options, Quirks::default(), &body).0, sent, "the same every time");
    }
}

/// What the gateway sets itself, what a member refuses beside the rest of the question, a budget's other name.
#[test]
fn what_cannot_stand_there_is_left_out_and_told() {
    const CHAT: &str = r#""model":"m","messages":[{"role":"user","content":"q"}]"#;
    const BUDGET: &str = r#","thinking":{"type":"enabled","budget_tokens":2048}"#;
    let newer = Quirks { completion_budget: true, ..Quirks::default() };
    let plain = Quirks::default();
    let calls = r#""model":"m","max_tokens":99,"messages":[{"role":"user","content":"q"},{"role":"assistant","content":[{"type":"tool_use","id":"t","name":"f","input":{}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"t","content":"r"}]}]"#;
    let claude = r#""model":"m","max_tokens":4096,"messages":[{"role":"user","content":"q"}]"#;
    let thinks = json!({"thinking": {"type": "enabled", "budget_tokens": 50}});
    for (dialect, options, quirks, head, said, added, told) in [
        (
            Dialect::Chat,
            json!({"model": "other", "stream": false, "seed": 1}),
            plain,
            CHAT,
            "",
            r#","seed":1"#,
            vec!["options.model=set by the gateway", "options.stream=set by the gateway"],
        ),
        (Dialect::Chat, json!({"max_tokens": 5}), newer, CHAT, "", r#","max_completion_tokens":5"#, vec![]),
        (
            Dialect::Anthropic,
            json!({"temperature": 0.2, "top_k": 4, "top_p": 0.97}),
            plain,
            claude,
            BUDGET,
            r#","top_p":0.97"#,
            vec!["options.temperature=not taken beside thinking", "options.top_k=not taken beside thinking"],
        ),
        (
            Dialect::Anthropic,
            thinks.clone(),
            plain,
            claude,
            r#","temperature":0.3"#,
            "",
            vec!["options.thinking=not taken beside the caller's sampling"],
        ),
        (
            Dialect::Anthropic,
            json!({"thinking": {"type": "enabled", "budget_tokens": 4096}}),
            plain,
            claude,
            "",
            "",
            vec!["options.thinking=no room for thinking in so small an output"],
        ),
        (
            Dialect::Anthropic,
            thinks,
            plain,
            calls,
            "",
            "",
            vec!["options.thinking=turned off: the thinking before the last tool call is not there"],
        ),
    ] {
        let (sent, lost) = relayed(dialect, &options, quirks, &format!("{{{head}{said}}}"));
        assert_eq!(
            (sent, lost),
            (format!("{{{head}{said}{added}}}"), told.iter().map(|it| (*it).to_owned()).collect())
        );
    }
}

/// Translated as relayed: the API refuses a budget of thinking that the output has no room for.
#[test]
fn an_owners_thinking_gives_way_to_a_smaller_budget_of_the_callers() {
    let owners = |thinking: Value| json!({ "thinking": thinking });
    let enabled = owners(json!({"type": "enabled", "budget_tokens": 2000}));
    for (options, callers_options, most, said, max_tokens, stays) in [
        (enabled.clone(), true, None, r#","max_tokens":10"#, 10, false),
        (enabled.clone(), true, None, r#","max_tokens":2000"#, 2000, false),
        (enabled.clone(), true, None, r#","max_tokens":2001"#, 2001, true),
        (enabled.clone(), true, None, "", 8192, true),
        (enabled.clone(), true, Some(1500), r#","max_tokens":4000"#, 1500, false),
        // A panel's seat keeps its own: the caller's budget is not sent.
        (enabled, false, None, r#","max_tokens":10"#, 8192, true),
        (owners(json!({"type": "adaptive"})), true, None, r#","max_tokens":10"#, 10, true),
        (owners(json!({"type": "disabled"})), true, None, r#","max_tokens":10"#, 10, true),
    ] {
        let what = format!("{options} {said} {callers_options} {most:?}");
        let target = Target {
            served: "m".to_owned(),
            options: options.as_object().cloned().unwrap(),
            max_output: most,
            callers_options,
            ..Target::default()
        };
        let body = format!(r#"{{"model":"m","messages":[{{"role":"user","content":"q"}}]{said}}}"#);
        for dialect in [Dialect::Chat, Dialect::Anthropic] {
            let request = format(dialect).decode_request(body.as_bytes(), &Route::default()).unwrap();
            let mut sent = vec![format(Dialect::Anthropic).encode_request(&request, &target)];
            if dialect == Dialect::Anthropic && callers_options && !said.is_empty() {
                sent.push(format(dialect).relay_request(body.as_bytes(), &request, &target).unwrap());
            }
            for sent in sent {
                let body: Value = serde_json::from_slice(&sent.body).unwrap();
                assert_eq!(body["max_tokens"], max_tokens, "{what}: {body}");
                assert_eq!(body.get("thinking"), options.get("thinking").filter(|_| stays), "{what}: {body}");
                let told = sent.notices.iter().any(|it| {
                    it.field == "options.thinking"
                        && it.reason == "no room for thinking in so small an output"
                });
                assert_eq!(told, !stays, "{what}: {:?}", sent.notices);
            }
        }
    }
}
