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
