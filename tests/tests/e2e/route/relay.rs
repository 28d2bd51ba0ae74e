//! Caller and member speak one API: bytes go through as they are, but for the model's name (wire.md §3).

use bench_tests::{
    Lab,
    http::Answer,
    upstream::{Api, Reply, Script},
};
use http::Method;
use serde_json::Value;

use super::{
    caller::Caller,
    lab::{asked, routed_as},
};

/// One exchange, to the byte. `bench/core:route` stands for the model where the caller names it, and `alpha-1-0613`
/// where the member does.
struct Exchange {
    caller: Caller,
    path: &'static str,
    headers: &'static [(&'static str, &'static str)],
    /// What the caller sends, streamed.
    request: &'static str,
    content_type: &'static str,
    stream: &'static str,
    /// The member's whole reply.
    whole: &'static str,
}

const ANTHROPIC: Exchange = Exchange {
    caller: Caller::Anthropic,
    path: "/v1/messages?beta=true",
    headers: &[
        ("anthropic-version", "2023-06-01"),
        ("anthropic-beta", "context-1m-2025-08-07,fine-grained-x"),
    ],
    request: r#"{ "max_tokens" :8000, "model":"bench/core:route",  "stream": true,"thinking":{"type":"enabled","budget_tokens":2048},
 "system":[{"type":"text","text":"You are Claude Code.","cache_control":{"type":"ephemeral","ttl":"1h"}}],
 "tools":[{"name":"look","input_schema":{"type":"object","properties":{"n":{"type":"number","maximum":1.50}}},"cache_control":{"type":"ephemeral"}},
          {"type":"web_search_20250305","name":"web_search","max_uses":5}, {"type":"bash_20250124","name":"bash"}],
 "messages":[{"role":"user","content":[{"type":"document","source":{"type":"base64","media_type":"application/pdf","data":"JVBERg=="},"citations":{"enabled":true}},{"type":"text","text":"read it \u00e9 \/"}]},
  {"role":"assistant","content":[{"type":"server_tool_use","id":"srvtoolu_1","name":"web_search","input":{"query":"x"}},{"type":"web_search_tool_result","tool_use_id":"srvtoolu_1","content":[]},{"type":"text","text":"So."}]},
  {"role":"user","content":"and now"},
  {"role":"assistant","content":[{"type":"thinking","thinking":"Hm.","signature":"EqQBCgIYAhIM=="},{"type":"redacted_thinking","data":"EmwKAh=="},{"type":"tool_use","id":"toolu_1","name":"look","input":{"n": 1.50}}]},
  {"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_1","is_error":true,"content":[{"type":"text","text":"no"}]}]}],
 "context_management":{"edits":[{"type":"clear_tool_uses_20250919"}]}, "unknown_field":[1.0,{"b":1,"a":2}] }"#,
    content_type: "text/event-stream; charset=utf-8",
    stream: "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"id\":\"msg_01\",\"type\":\"message\", \"role\":\"assistant\",\"model\": \"alpha-1-0613\",\"content\":[],\"stop_reason\":null,\"usage\":{\"input_tokens\":12,\"cache_read_input_tokens\":4,\"output_tokens\":1,\"service_tier\":\"standard\"}}}\n\n\
event: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"thinking\",\"thinking\":\"\",\"signature\":\"\"}}\n\n\
event: ping\ndata: {\"type\": \"ping\"}\n\n\
event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"thinking_delta\",\"thinking\":\"Hm.\"}}\n\n\
event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"signature_delta\",\"signature\":\"EqQBCgIYAhIM==\"}}\n\n\
event: content_block_stop\ndata: {\"type\":\"content_block_stop\",\"index\":0}\n\n\
event: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":1,\"content_block\":{\"type\":\"server_tool_use\",\"id\":\"srvtoolu_2\",\"name\":\"web_search\",\"input\":{}}}\n\n\
event: content_block_stop\ndata: {\"type\":\"content_block_stop\",\"index\":1}\n\n\
event: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":2,\"content_block\":{\"type\":\"text\",\"text\":\"\"}}\n\n\
event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":2,\"delta\":{\"type\":\"text_delta\",\"text\":\"Done: \\\"model\\\":\\\"alpha-1-0613\\\"\"}}\n\n\
event: content_block_stop\ndata: {\"type\":\"content_block_stop\",\"index\":2}\n\n\
event: message_delta\ndata: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"end_turn\",\"stop_sequence\":null},\"usage\":{\"output_tokens\":9}}\n\n\
event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n",
    whole: r#"{"id":"msg_1", "type":"message","model":"alpha-1-0613","role":"assistant","content":[{"type":"thinking","thinking":"Hm.","signature":"EqQBCgIYAhIM=="},{"type":"text","text":"Done.","citations":null}],"stop_reason":"end_turn","stop_sequence":null,"usage":{"input_tokens":12,"output_tokens":9},"odd":1.0 }"#,
};

const RESPONSES: Exchange = Exchange {
    caller: Caller::Responses,
    path: "/v1/responses",
    headers: &[("openai-beta", "responses=experimental")],
    request: r#"{"model" : "bench/core:route", "stream":true, "store":false,"include":["reasoning.encrypted_content"],
 "instructions":"You are Codex.","reasoning":{"effort":"high","summary":"auto"},"text":{"verbosity":"low"},
 "tools":[{"type":"custom","name":"apply_patch","format":{"type":"grammar","syntax":"lark","definition":"start: \"x\""}},{"type":"web_search"},{"type":"function","name":"look","strict":false,"parameters":{"type":"object","properties":{"b":{"type":"number","maximum":2.50},"a":{}}}}],
 "input":[{"type":"message","role":"user","content":[{"type":"input_text","text":"go \u00e9 \/"},{"type":"input_file","filename":"a.pdf","file_data":"data:application/pdf;base64,JVBERg=="}]},
  {"type":"web_search_call","id":"ws_1","status":"completed"}], "unknown_field":{"b":1.0,"a":2} }"#,
    content_type: "text/event-stream",
    stream: "event: response.created\ndata: {\"type\":\"response.created\",\"sequence_number\":0,\"response\":{\"id\":\"resp_1\",\"object\":\"response\",\"created_at\":1,\"model\":\"alpha-1-0613\",\"status\":\"in_progress\",\"output\":[]}}\n\n\
event: response.output_item.added\ndata: {\"type\":\"response.output_item.added\",\"sequence_number\":1,\"output_index\":0,\"item\":{\"id\":\"rs_0\",\"type\":\"reasoning\",\"summary\":[]}}\n\n\
event: response.output_item.done\ndata: {\"type\":\"response.output_item.done\",\"sequence_number\":2,\"output_index\":0,\"item\":{\"id\":\"rs_0\",\"type\":\"reasoning\",\"summary\":[],\"encrypted_content\":\"gAAAAB-sealed\"}}\n\n\
event: response.output_item.added\ndata: {\"type\":\"response.output_item.added\",\"sequence_number\":3,\"output_index\":1,\"item\":{\"id\":\"msg_1\",\"type\":\"message\",\"status\":\"in_progress\",\"role\":\"assistant\",\"content\":[]}}\n\n\
event: response.output_text.delta\ndata: {\"type\":\"response.output_text.delta\",\"sequence_number\":4,\"item_id\":\"msg_1\",\"output_index\":1,\"content_index\":0,\"delta\":\"Done.\",\"obfuscation\":\"aB3\"}\n\n\
event: response.completed\ndata: {\"type\":\"response.completed\",\"sequence_number\":5,\"response\":{\"id\":\"resp_1\",\"object\":\"response\",\"created_at\":1,\"model\":\"alpha-1-0613\",\"status\":\"completed\",\"output\":[{\"id\":\"msg_1\",\"type\":\"message\",\"status\":\"completed\",\"role\":\"assistant\",\"content\":[{\"type\":\"output_text\",\"text\":\"Done.\",\"annotations\":[]}]}],\"usage\":{\"input_tokens\":20,\"output_tokens\":5,\"total_tokens\":25}}}\n\n",
    whole: r#"{ "id":"resp_1","object":"response","created_at":1.0,"model":"alpha-1-0613","status":"completed","output":[{"id":"rs_0","type":"reasoning","summary":[],"encrypted_content":"gAAAAB-sealed"},{"id":"msg_1","type":"message","status":"completed","role":"assistant","content":[{"type":"output_text","text":"Done.","annotations":[]}]}],"usage":{"input_tokens":20,"output_tokens":5,"total_tokens":25}}"#,
};

const CHAT: Exchange = Exchange {
    caller: Caller::Chat,
    path: "/v1/chat/completions",
    headers: &[("openai-beta", "assistants=v2")],
    request: r#"{"stream" : true,"stream_options":{"include_usage":true}, "model":"bench/core:route",
 "messages":[{"role":"developer","content":"x"},{"role":"user","content":[{"type":"text","text":"go \u00e9 \/","cache_control":{"type":"ephemeral"}},{"type":"file","file":{"filename":"a.pdf","file_data":"data:application/pdf;base64,JVBERg=="}}]}],
 "tools":[{"type":"function","function":{"name":"look","parameters":{"type":"object","properties":{"b":{"maximum":2.50},"a":{}}}}}],
 "reasoning_effort":"high","logit_bias":{"50256":-100}, "unknown_field":[1.0,{"b":1,"a":2}] }"#,
    content_type: "text/event-stream",
    stream: ": OPENROUTER PROCESSING\n\n\
data: {\"id\":\"c1\",\"object\":\"chat.completion.chunk\",\"created\":1,\"model\":\"alpha-1-0613\",\"choices\":[{\"index\":0,\"delta\":{\"role\":\"assistant\",\"content\":\"\",\"reasoning\":\"Hm\",\"reasoning_details\":[{\"type\":\"reasoning.encrypted\",\"data\":\"x\"}]},\"finish_reason\":null}], \"system_fingerprint\": \"fp_1\"}\n\n\
data: {\"id\":\"c1\",\"object\":\"chat.completion.chunk\",\"created\":1,\"model\":\"alpha-1-0613\",\"choices\":[{\"index\":0,\"delta\":{\"content\":\"Done.\"},\"logprobs\":null,\"finish_reason\":null}]}\n\n\
data: {\"id\":\"c1\",\"object\":\"chat.completion.chunk\",\"created\":1,\"model\":\"alpha-1-0613\",\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\",\"native_finish_reason\":\"end\"}]}\n\n\
data: {\"id\":\"c1\",\"object\":\"chat.completion.chunk\",\"created\":1,\"model\":\"alpha-1-0613\",\"choices\":[],\"usage\":{\"prompt_tokens\":20,\"completion_tokens\":6,\"total_tokens\":26,\"cost\":0.0010}}\n\n",
    whole: r#"{"id":"c1","object":"chat.completion", "created":1,"model":"alpha-1-0613","choices":[{"index":0,"message":{"role":"assistant","content":"Done.","reasoning":"Hm","refusal":null},"logprobs":null,"finish_reason":"stop"}],"usage":{"prompt_tokens":20,"completion_tokens":6,"total_tokens":26,"cost":0.0010},"provider":"X"}"#,
};

const OLLAMA: Exchange = Exchange {
    caller: Caller::Ollama,
    path: "/api/chat",
    headers: &[],
    request: r#"{"model":"bench/core:route", "stream":true, "keep_alive":"10m","think":"high", "options":{"num_ctx":8192,"temperature":0.50},
 "messages":[{"role":"user","content":"go \u00e9 \/"}],"format":{"type":"object","properties":{"b":{},"a":{}}}, "unknown_field":[1.0] }"#,
    content_type: "application/x-ndjson",
    stream: "{\"model\":\"alpha-1-0613\",\"created_at\":\"2026-11-18T11:06:40.1Z\",\"message\":{\"role\":\"assistant\",\"content\":\"\",\"thinking\":\"Hm\"},\"done\":false}\n\
{\"model\":\"alpha-1-0613\",\"created_at\":\"2026-11-18T11:06:40.2Z\",\"message\":{\"role\":\"assistant\",\"content\":\"Done.\"},\"done\":false, \"odd\":1.0}\n\
{\"model\":\"alpha-1-0613\",\"created_at\":\"2026-11-18T11:06:40.3Z\",\"message\":{\"role\":\"assistant\",\"content\":\"\"},\"done\":true,\"done_reason\":\"stop\",\"prompt_eval_count\":9,\"eval_count\":2}\n",
    whole: r#"{"model":"alpha-1-0613","created_at":"2026-11-18T11:06:40.3Z","message":{"role":"assistant","content":"Done.","thinking":"Hm"},"done":true,"done_reason":"stop", "prompt_eval_count":9,"eval_count":2,"odd":1.0}"#,
};

const GEMINI: Exchange = Exchange {
    caller: Caller::Gemini,
    path: "/v1beta/models/bench/core:route:streamGenerateContent?alt=sse",
    headers: &[],
    request: r#"{ "contents":[{"role":"user","parts":[{"text":"go \u00e9 \/"},{"inlineData":{"mimeType":"application/pdf","data":"JVBERg=="}}]},
  {"role":"model","parts":[{"text":"Hm","thought":true},{"executableCode":{"language":"PYTHON","code":"1"}},{"codeExecutionResult":{"outcome":"OUTCOME_OK","output":"1"}}]},{"role":"user","parts":[{"text":"and"}]}],
 "tools":[{"codeExecution":{}},{"googleSearch":{}}], "safetySettings":[{"category":"HARM_CATEGORY_HARASSMENT","threshold":"BLOCK_NONE"}],
 "generationConfig":{"temperature":0.50,"thinkingConfig":{"thinkingBudget":-1,"includeThoughts":true}}, "unknownField":[1.0] }"#,
    content_type: "text/event-stream",
    stream: "data: {\"candidates\": [{\"content\": {\"parts\": [{\"text\": \"Hm\",\"thought\": true}],\"role\": \"model\"},\"index\": 0}],\"modelVersion\": \"alpha-1-0613\",\"responseId\": \"r9\"}\r\n\r\n\
data: {\"candidates\": [{\"content\": {\"parts\": [{\"text\": \"Done.\",\"thoughtSignature\": \"c2lnLTI=\"}],\"role\": \"model\"},\"finishReason\": \"STOP\",\"index\": 0,\"groundingMetadata\": {\"searchEntryPoint\": {}}}],\"usageMetadata\": {\"promptTokenCount\": 12,\"candidatesTokenCount\": 4,\"totalTokenCount\": 16},\"modelVersion\": \"alpha-1-0613\",\"responseId\": \"r9\"}\r\n\r\n",
    whole: "{\n  \"candidates\": [{\"content\": {\"parts\": [{\"text\": \"Done.\"}],\"role\": \"model\"},\"finishReason\": \"STOP\",\"index\": 0}],\n  \"usageMetadata\": {\"promptTokenCount\": 12, \"candidatesTokenCount\": 4, \"totalTokenCount\": 16},\n  \"modelVersion\": \"alpha-1-0613\",\n  \"odd\": 1.0\n}\n",
};

const ALL: [Exchange; 5] = [ANTHROPIC, RESPONSES, CHAT, OLLAMA, GEMINI];

/// The exchange's member: streamed, or whole, as it is asked.
fn script(it: &Exchange, bytewise: bool) -> Script {
    let (kind, stream, whole) = (it.content_type, it.stream, it.whole);
    let done = if it.caller == Caller::Chat { "data: [DONE]\n\n" } else { "" };
    Script::by(move |request| match request.wants_stream() {
        true => {
            let reply = Reply::new(kind).send(format!("{stream}{done}"));
            if bytewise { reply.bytewise() } else { reply }
        }
        false => Reply::whole(200, "application/json", whole),
    })
}

/// One member that takes all that the requests hold.
async fn relayed(own: Api, script: Script) -> Lab {
    let facts = serde_json::json!({"tools": true, "pdf": true, "vision": true});
    routed_as([("alpha", own, script)], |it| it.facts(facts)).await
}

async fn post(http: &bench_tests::http::Http, path: &str, it: &Exchange, body: &str) -> Answer {
    let mut request = http.request(Method::POST, path).header("content-type", "application/json");
    for (name, value) in it.headers {
        request = request.header(*name, *value);
    }
    http.send(request, body.to_owned()).await
}

/// The path that asks for a whole reply.
fn whole_path(it: &Exchange) -> String {
    it.path.replace("streamGenerateContent?alt=sse", "generateContent")
}

#[tokio::test]
async fn the_request_reaches_the_member_as_it_was_sent() {
    for it in ALL {
        let own = it.caller.own().expect("an agent");
        let lab = relayed(own, script(&it, false)).await;
        let answer = post(lab.http(), it.path, &it, it.request).await;
        let what = format!("{:?}", it.caller);
        assert_eq!(answer.status, 200, "{what}: {}", answer.text());
        let sent = asked(&lab, "alpha").pop().expect("asked");
        let wanted = it.request.replace("bench/core:route", "alpha-1");
        assert_eq!(String::from_utf8_lossy(&sent.body), wanted, "{what}");
        for (name, value) in it.headers {
            assert_eq!(sent.header(name), Some(*value), "{what}: {name}");
        }
        let path = it.path.replace("bench/core:route", "alpha-1");
        assert_eq!(sent.path, path, "{what}");
        assert_eq!(answer.header("x-bench-lossy"), "", "{what}: nothing is lost");
    }
}

#[tokio::test]
async fn the_answer_comes_back_as_it_was_said() {
    for it in ALL {
        let own = it.caller.own().expect("an agent");
        for bytewise in [false, true] {
            let lab = relayed(own, script(&it, bytewise)).await;
            let what = format!("{:?}, byte for byte: {bytewise}", it.caller);
            let answer = post(lab.http(), it.path, &it, it.request).await;
            let named = named(&it, it.stream);
            let said = answer.text();
            if it.caller == Caller::Chat {
                let (before, last) = said.split_at(named.len().min(said.len()));
                assert_eq!(before, named, "{what}");
                let data: Vec<&str> = last.lines().filter_map(|line| line.strip_prefix("data: ")).collect();
                assert_eq!(data.len(), 2, "{what}: {last}");
                let chunk: Value = serde_json::from_str(data[0]).expect("a chunk");
                assert_eq!(chunk["choices"], serde_json::json!([]), "{what}");
                assert_eq!(chunk["bench"]["alias"], "alpha", "{what}: {chunk}");
                assert_eq!(data[1], "[DONE]", "{what}");
            } else {
                assert_eq!(said, named, "{what}");
            }
            let kind = answer.header("content-type").split(';').next().map(str::to_owned);
            assert_eq!(kind.as_deref(), it.content_type.split(';').next(), "{what}");
        }
        // Whole.
        let lab = relayed(own, script(&it, false)).await;
        let body = it
            .request
            .replace("\"stream\": true", "\"stream\": false")
            .replace("\"stream\":true", "\"stream\":false");
        let body =
            body.replace("\"stream\" : true,\"stream_options\":{\"include_usage\":true}", "\"stream\":false");
        let answer = post(lab.http(), &whole_path(&it), &it, &body).await;
        let (said, named) = (answer.text(), named(&it, it.whole));
        let what = format!("{:?}, whole: {said}", it.caller);
        if it.caller == Caller::Gemini {
            assert_eq!(said, named, "{what}");
            continue;
        }
        // The `bench` object is put at the end of the reply's, and nothing else is touched.
        let at = said.rfind(",\"bench\":").unwrap_or_else(|| panic!("no bench: {what}"));
        let kept = named.trim_end().strip_suffix('}').expect("an object");
        assert_eq!(said[..at].trim_end(), kept.trim_end(), "{what}");
        assert_eq!(answer.json()["bench"]["reply"], "route", "{what}");
    }
}

/// As the caller sees it: what only says which model answered is put back.
fn named(it: &Exchange, said: &str) -> String {
    let (from, to) = match it.caller {
        Caller::Gemini => ("\"modelVersion\": \"alpha-1-0613\"", "\"modelVersion\": \"bench/core:route\""),
        Caller::Anthropic => {
            return said
                .replace("\"model\": \"alpha-1-0613\"", "\"model\": \"bench/core:route\"")
                .replace("\"model\":\"alpha-1-0613\"", "\"model\":\"bench/core:route\"");
        }
        _ => ("\"model\":\"alpha-1-0613\"", "\"model\":\"bench/core:route\""),
    };
    said.replace(from, to)
}

/// A caller's own secrets stay here, whatever way they are sent.
#[tokio::test]
async fn nothing_else_of_the_callers_goes_on() {
    for it in ALL {
        let own: Api = it.caller.own().expect("an agent");
        let lab = relayed(own, script(&it, false)).await;
        let path = match it.path.contains('?') {
            true => format!("{}&key=callers-secret", it.path),
            false => format!("{}?key=callers-secret", it.path),
        };
        let mut request = lab.http().request(Method::POST, &path).header("content-type", "application/json");
        for (name, value) in [
            ("authorization", "Bearer callers-secret"),
            ("x-api-key", "callers-secret"),
            ("x-goog-api-key", "callers-secret"),
            ("cookie", "a=callers-secret"),
            ("x-forwarded-for", "callers-secret"),
            ("x-session-id", "callers-secret"),
            ("openai-organization", "callers-secret"),
            ("x-stainless-lang", "callers-secret"),
        ] {
            request = request.header(name, value);
        }
        let answer = lab.http().send(request, it.request.to_owned()).await;
        assert_eq!(answer.status, 200, "{:?}: {}", it.caller, answer.text());
        let sent = asked(&lab, "alpha").pop().expect("asked");
        let all = format!("{} {:?}", sent.path, sent.headers);
        assert!(!all.contains("callers-secret"), "{:?}: {all}", it.caller);
    }
}
