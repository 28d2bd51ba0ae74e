//! What no translation can carry, in every dialect's words: where tools are used, what binds a request to its own
//! API, and what is left out for a member of another.

use serde_json::{Value, json};
use wire::{Dialect, Request, Route, Target, format};

fn read(dialect: Dialect, body: &Value) -> Request {
    let route = Route { model: Some("bench/core"), ..Route::default() };
    format(dialect).decode_request(body.to_string().as_bytes(), &route).unwrap()
}

/// A question in the dialect's words, with more fields.
fn asked(dialect: Dialect, more: Value) -> Request {
    let mut body = match dialect {
        Dialect::Responses => json!({"input": "q"}),
        Dialect::Gemini => json!({"contents": [{"role": "user", "parts": [{"text": "q"}]}]}),
        _ => json!({"messages": [{"role": "user", "content": "q"}]}),
    };
    for (name, value) in more.as_object().unwrap() {
        body[name] = value.clone();
    }
    read(dialect, &body)
}

fn function(dialect: Dialect) -> Value {
    let parameters = json!({"type": "object"});
    match dialect {
        Dialect::Responses => json!({"type": "function", "name": "f", "parameters": parameters}),
        Dialect::Anthropic => json!({"name": "f", "input_schema": parameters}),
        Dialect::Gemini => json!({"functionDeclarations": [{"name": "f"}]}),
        _ => json!({"type": "function", "function": {"name": "f", "parameters": parameters}}),
    }
}

use Dialect::{Anthropic, Chat, Gemini, Ollama, Responses};

#[test]
fn tools_are_seen_in_every_dialects_words() {
    let chat_call = json!({"id": "a", "type": "function", "function": {"name": "f", "arguments": "{}"}});
    for (dialect, more, place) in [
        (Chat, json!({"tools": [function(Chat)]}), "tools"),
        (Chat, json!({"tools": [{"type": "custom", "custom": {"name": "f"}}]}), "tools"),
        (Chat, json!({"tools": [{"type": "web_search"}]}), "tools"),
        (Chat, json!({"messages": [{"role": "assistant", "tool_calls": [chat_call]}]}), "messages[0]"),
        (Chat, json!({"messages": [{"role": "tool", "tool_call_id": "a", "content": "x"}]}), "messages[0]"),
        (Responses, json!({"tools": [function(Responses)]}), "tools"),
        (Responses, json!({"tools": [{"type": "web_search"}]}), "tools"),
        (
            Responses,
            json!({"tools": [{"type": "namespace", "name": "n", "tools": [function(Responses)]}]}),
            "tools",
        ),
        (
            Responses,
            json!({"input": [{"type": "function_call", "call_id": "a", "name": "f", "arguments": "{}"}]}),
            "input[0]",
        ),
        (
            Responses,
            json!({"input": [{"type": "function_call_output", "call_id": "a", "output": "x"}]}),
            "input[0]",
        ),
        (
            Responses,
            json!({"input": [{"role": "user", "content": "q"}, {"type": "web_search_call", "id": "w", "status": "completed"}]}),
            "input[1]",
        ),
        (Responses, json!({"input": [{"type": "mcp_list_tools", "id": "m", "tools": []}]}), "input[0]"),
        (Anthropic, json!({"tools": [function(Anthropic)]}), "tools"),
        (Anthropic, json!({"tools": [{"type": "web_search_20250305", "name": "web_search"}]}), "tools"),
        (
            Anthropic,
            json!({"messages": [{"role": "assistant", "content": [{"type": "tool_use", "id": "a", "name": "f", "input": {}}]}]}),
            "messages[0]",
        ),
        (
            Anthropic,
            json!({"messages": [{"role": "user", "content": [{"type": "tool_result", "tool_use_id": "a"}]}]}),
            "messages[0]",
        ),
        (
            Anthropic,
            json!({"messages": [{"role": "assistant", "content": [{"type": "server_tool_use", "id": "s", "name": "web_search", "input": {}}]}]}),
            "messages[0]",
        ),
        (Gemini, json!({"tools": [function(Gemini)]}), "tools"),
        (Gemini, json!({"tools": [{"googleSearch": {}}]}), "tools"),
        (Gemini, json!({"tools": [{"code_execution": {}}]}), "tools"),
        (Gemini, json!({"contents": [{"parts": [{"functionCall": {"name": "f"}}]}]}), "contents[0]"),
        (
            Gemini,
            json!({"contents": [{"parts": [{"functionResponse": {"name": "f", "response": {}}}]}]}),
            "contents[0]",
        ),
        (
            Gemini,
            json!({"contents": [{"role": "model", "parts": [{"executableCode": {"code": "1"}}]}]}),
            "contents[0]",
        ),
        (Ollama, json!({"tools": [function(Ollama)]}), "tools"),
        (
            Ollama,
            json!({"messages": [{"role": "assistant", "content": "", "tool_calls": [{"function": {"name": "f", "arguments": {}}}]}]}),
            "messages[0]",
        ),
        (Ollama, json!({"messages": [{"role": "tool", "tool_name": "f", "content": "x"}]}), "messages[0]"),
    ] {
        let found = asked(dialect, more.clone()).tool_use();
        assert!(
            found.as_deref().is_some_and(|found| found.starts_with(place)),
            "{dialect:?} {more}: {found:?}"
        );
    }
    for dialect in [Chat, Responses, Anthropic, Gemini, Ollama] {
        assert_eq!(asked(dialect, json!({"tools": []})).tool_use(), None, "{dialect:?}");
    }
    assert_eq!(asked(Gemini, json!({"tools": [{"functionDeclarations": []}]})).tool_use(), None);
}

/// A vendor-run tool binds where nothing of sense is left without it.
#[test]
fn vendors_tools_bind_where_the_question_needs_them() {
    let search = |dialect| match dialect {
        Anthropic => json!({"type": "web_search_20250305", "name": "web_search"}),
        Gemini => json!({"googleSearch": {}}),
        _ => json!({"type": "web_search"}),
    };
    let only = "is run by its vendor only, and there is no other tool";
    let forced = "it is the tool to be used";
    let results = "its results are in the conversation";
    for (dialect, more, bound) in [
        (Responses, json!({"tools": [search(Responses)]}), Some(("tools[0]: web_search", only))),
        (
            Responses,
            json!({"tools": [search(Responses), {"type": "file_search"}]}),
            Some(("tools[0]: web_search", only)),
        ),
        (Responses, json!({"tools": [search(Responses)], "tool_choice": "none"}), None),
        // Codex declares it beside its own, and works without.
        (Responses, json!({"tools": [function(Responses), search(Responses)]}), None),
        (
            Responses,
            json!({"tools": [function(Responses), search(Responses)], "tool_choice": "required"}),
            None,
        ),
        (
            Responses,
            json!({"tools": [function(Responses), search(Responses)], "tool_choice": {"type": "web_search"}}),
            Some(("tool_choice: web_search", forced)),
        ),
        (
            Responses,
            json!({"tools": [function(Responses), search(Responses)],
                "tool_choice": {"type": "allowed_tools", "mode": "auto", "tools": [{"type": "web_search"}]}}),
            Some(("tool_choice: web_search", "no other tool is allowed")),
        ),
        (
            Responses,
            json!({"tools": [function(Responses)], "input": [{"type": "web_search_call", "id": "w"}]}),
            Some(("input[0]: web_search_call", results)),
        ),
        (Anthropic, json!({"tools": [search(Anthropic)]}), Some(("tools[0]: web_search_20250305", only))),
        (Anthropic, json!({"tools": [search(Anthropic), function(Anthropic)]}), None),
        (
            Anthropic,
            json!({"tools": [search(Anthropic), function(Anthropic)], "tool_choice": {"type": "tool", "name": "web_search"}}),
            Some(("tool_choice: web_search_20250305", forced)),
        ),
        (
            Anthropic,
            json!({"messages": [{"role": "assistant", "content": [
                {"type": "web_search_tool_result", "tool_use_id": "s", "content": []}]}]}),
            Some(("messages[0].content[0]: web_search_tool_result", results)),
        ),
        (Gemini, json!({"tools": [search(Gemini)]}), Some(("tools[0]: googleSearch", only))),
        (Gemini, json!({"tools": [{"codeExecution": {}, "functionDeclarations": [{"name": "f"}]}]}), None),
        (
            Gemini,
            json!({"contents": [{"role": "model", "parts": [{"codeExecutionResult": {"output": "1"}}]}]}),
            Some(("contents[0].parts[0]: codeExecutionResult", results)),
        ),
        (Chat, json!({"tools": [{"type": "web_search"}]}), Some(("tools[0]: web_search", only))),
        (Chat, json!({"tools": [function(Chat)]}), None),
    ] {
        let request = asked(dialect, more.clone());
        let error = request.bound();
        let Some((begins, why)) = bound else {
            assert_eq!(error, None, "{dialect:?} {more}");
            continue;
        };
        let error = error.unwrap_or_else(|| panic!("{dialect:?} {more} is not bound"));
        assert_eq!((error.kind.status(), error.code), (400, "vendor_tool"));
        assert!(error.message.starts_with(begins) && error.message.contains(why), "{}", error.message);
    }
}

/// Where it does not bind it is left out for members of other APIs and listed, and goes to its own.
#[test]
fn vendors_tools_go_to_their_own_api_and_to_no_other() {
    for (dialect, tools, kind) in [
        (Responses, json!([function(Responses), {"type": "web_search"}]), "web_search"),
        (
            Anthropic,
            json!([function(Anthropic), {"type": "web_search_20250305", "name": "web_search"}]),
            "web_search_20250305",
        ),
        (Gemini, json!([function(Gemini), {"googleSearch": {}}]), "googleSearch"),
    ] {
        let request = asked(dialect, json!({ "tools": tools }));
        for member in [Chat, Responses, Anthropic, Gemini, Ollama] {
            let encoded = format(member).encode_request(&request, &Target::default());
            let sent = String::from_utf8_lossy(&encoded.body).contains(kind);
            let notice = format!("{kind} is run by its vendor only");
            let told = encoded.notices.iter().any(|n| n.field == "tools[1]" && n.reason == notice);
            let is_own = member == dialect;
            assert_eq!((sent, told), (is_own, !is_own), "{dialect:?} to {member:?}");
        }
    }
}

/// What another service keeps binds, is named by its field, and is carried by a relay byte for byte.
#[test]
fn what_is_kept_elsewhere_is_relayed_or_refused() {
    let user = |part: Value| json!([{"role": "user", "content": [part]}]);
    let image = |source: Value| json!({"type": "image", "source": source});
    let file = json!({"type": "file", "file_id": "file_1"});
    for (dialect, more, place, instead) in [
        (
            Chat,
            json!({"messages": user(json!({"type": "file", "file": {"file_id": "file_1"}}))}),
            "messages[0].content[0].file.file_id",
            "file_data",
        ),
        (
            Responses,
            json!({"input": user(json!({"type": "input_image", "file_id": "file_1"}))}),
            "input[0].content[0].file_id",
            "image_url",
        ),
        (
            Responses,
            json!({"input": user(json!({"type": "input_file", "file_id": "file_1"}))}),
            "input[0].content[0].file_id",
            "file_data",
        ),
        (
            Anthropic,
            json!({"messages": user(json!({"type": "document", "source": file}))}),
            "messages[0].content[0].source.file_id",
            "base64",
        ),
        (
            Anthropic,
            json!({"messages": user(json!({"type": "tool_result", "tool_use_id": "a", "content": [image(file.clone())]}))}),
            "messages[0].content[0].source.file_id",
            "base64",
        ),
        (
            Anthropic,
            json!({"messages": user(json!({"type": "container_upload", "file_id": "file_1"}))}),
            "messages[0].content[0].file_id",
            "a document or an image",
        ),
        (
            Gemini,
            json!({"contents": [{"parts": [{"fileData": {"fileUri": "gs://b/file_1.mp4", "mimeType": "video/mp4"}}]}]}),
            "contents[0].parts[0].fileData.fileUri",
            "inlineData",
        ),
        (
            Gemini,
            json!({"contents": [{"parts": [{"fileData": {"fileUri": "https://generativelanguage.googleapis.com/v1beta/files/file_1"}}]}]}),
            "contents[0].parts[0].fileData.fileUri",
            "inlineData",
        ),
        (Gemini, json!({"cached_content": "cachedContents/file_1"}), "cached_content", "its contents"),
    ] {
        let request = asked(dialect, more.clone());
        let error = request.kept_elsewhere().unwrap_or_else(|| panic!("{more} is not bound"));
        assert!(error.message.starts_with(&format!("{place}: ")), "{}", error.message);
        assert!(error.message.contains(instead), "{}", error.message);
        assert_eq!(request.bound(), Some(error));
        for member in [Chat, Responses, Anthropic, Gemini, Ollama].into_iter().filter(|it| *it != dialect) {
            let encoded = format(member).encode_request(&request, &Target::default());
            assert!(!encoded.notices.is_empty(), "{more} to {member:?}: nothing is told");
        }
        let mut body = more;
        body["model"] = json!("bench/core");
        let relayed =
            format(dialect).relay_request(body.to_string().as_bytes(), &request, &Target::default());
        assert!(String::from_utf8_lossy(&relayed.unwrap().body).contains("file_1"), "{dialect:?}");
    }
    assert_eq!(asked(Chat, json!({"cachedContent": "x"})).bound(), None, "a word of another API");
}
