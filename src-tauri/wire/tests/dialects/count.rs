//! How a question about tokens goes on to a member, and what is believed of its reply.

use wire::{Dialect, Form, Json, Member, Route, Target, TokenCount, format};

fn count(dialect: Dialect) -> &'static dyn TokenCount {
    format(dialect).token_count().unwrap()
}

fn relayed(dialect: Dialect, body: &str, served: &str) -> (String, String) {
    let body = Json::read(body.as_bytes().to_vec()).unwrap();
    let question = count(dialect).question(&body).unwrap();
    let route = Route { model: Some("bench/core"), form: Form::Usual };
    let request = format(dialect).decode(&question, &route).unwrap();
    let target = Target { served: served.into(), member: Member::of("e", served), ..Target::default() };
    let encoded = count(dialect).relay(&body, &request, &target).unwrap();
    assert!(encoded.notices.is_empty(), "{:?}", encoded.notices);
    (encoded.path, String::from_utf8(encoded.body).unwrap())
}

#[test]
fn only_the_name_and_our_own_fields_change() {
    let messages = r#""messages": [ {"role":"user","content":"hi"} ]"#;
    for (body, wanted) in [
        (
            format!(r#"{{"model":"bench/core", {messages}}}"#),
            format!(r#"{{"model":"claude-9", {messages}}}"#),
        ),
        (
            format!(
                r#"{{"x_new": 1.50, "bench": {{"reply":"all"}}, "model" : "core", {messages}, "with": []}}"#
            ),
            format!(r#"{{"x_new": 1.50, "model" : "claude-9", {messages}}}"#),
        ),
    ] {
        let (path, sent) = relayed(Dialect::Anthropic, &body, "claude-9");
        assert_eq!((path.as_str(), sent), ("/messages/count_tokens", wanted));
    }

    let contents = r#""contents": [ {"parts":[{"text":"hi"}]} ]"#;
    for (body, wanted) in [
        (format!("{{{contents}}}"), format!("{{{contents}}}")),
        (
            format!(r#"{{{contents}, "bench": {{}}, "xNew": 1.50}}"#),
            format!(r#"{{{contents}, "xNew": 1.50}}"#),
        ),
        (
            format!(r#"{{ "generateContentRequest": {{"model":"models/bench/core", {contents}}} }}"#),
            format!(r#"{{ "generateContentRequest": {{"model":"models/g-9", {contents}}} }}"#),
        ),
        (
            format!(
                r#"{{"with": [], "generate_content_request": {{{contents}, "with": []}}, "model": "x"}}"#
            ),
            format!(
                r#"{{"generate_content_request": {{{contents},"model":"models/g-9"}}, "model": "models/g-9"}}"#
            ),
        ),
    ] {
        let (path, sent) = relayed(Dialect::Gemini, &body, "g-9");
        assert_eq!((path.as_str(), sent), ("/models/g-9:countTokens", wanted));
    }
    let (path, _) = relayed(Dialect::Gemini, &format!("{{{contents}}}"), "tunedModels/a b");
    assert_eq!(path, "/tunedModels/a%20b:countTokens");
}

#[test]
fn a_count_that_cannot_be_true_is_none() {
    for (value, wanted) in [
        ("1", Some(1)),
        ("100000000", Some(100_000_000)),
        ("0", None),
        ("-3", None),
        ("100000001", None),
        ("18446744073709551616", None),
        ("12.5", None),
        ("\"12\"", None),
        ("null", None),
        ("[12]", None),
    ] {
        for (dialect, field) in [(Dialect::Anthropic, "input_tokens"), (Dialect::Gemini, "totalTokens")] {
            let reply = format!(r#"{{"{field}": {value}, "other": 7}}"#);
            assert_eq!(count(dialect).decode_reply(reply.as_bytes()), wanted, "{dialect:?} {value}");
        }
    }
    for reply in ["", "{}", "[]", "12", "<html>", r#"{"input_tokens": 12"#, r#"{"error": {"message": "no"}}"#]
    {
        assert_eq!(count(Dialect::Anthropic).decode_reply(reply.as_bytes()), None, "{reply}");
    }
    for dialect in [Dialect::Chat, Dialect::Responses, Dialect::Completions, Dialect::Ollama] {
        assert!(format(dialect).token_count().is_none(), "{dialect:?}");
    }
    for dialect in [Dialect::Anthropic, Dialect::Gemini] {
        let told = count(dialect).encode_reply(12);
        assert_eq!(count(dialect).decode_reply(&told), Some(12));
    }
}
