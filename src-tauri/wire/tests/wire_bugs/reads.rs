//! A member's reply body, and the events it must give however it is cut.

use libtest_mimic::Trial;

use crate::{
    support::{decode_cut_everywhere, render},
    trial,
};

struct Case {
    id: &'static str,
    what: &'static str,
    body: Vec<u8>,
    events: &'static str,
}

pub fn trials() -> Vec<Trial> {
    cases()
        .into_iter()
        .map(|case| {
            trial(format!("{} {}", case.id, case.what), move || {
                assert_eq!(render(&decode_cut_everywhere(&case.body)), case.events);
            })
        })
        .collect()
}

fn case(id: &'static str, what: &'static str, body: impl AsRef<[u8]>, events: &'static str) -> Case {
    Case { id, what, body: body.as_ref().to_vec(), events }
}

/// `data:` frames, then `[DONE]`.
fn frames(chunks: &[&str]) -> String {
    let data: String = chunks.iter().map(|chunk| format!("data: {chunk}\n\n")).collect();
    data + "data: [DONE]\n\n"
}

/// A chunk whose delta holds `content`.
fn says(content: &str) -> String {
    format!(r#"{{"choices":[{{"index":0,"delta":{{"content":"{content}"}}}}]}}"#)
}

const STOP: &str = r#"{"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}"#;

fn cases() -> Vec<Case> {
    let hi = says("hi");
    vec![
        // Framing.
        case(
            "W001",
            "CRLF line ends and no space after the colon",
            format!("event: message\r\ndata:{hi}\r\n\r\ndata:{STOP}\r\n\r\n"),
            "text \"hi\"\nfinish stop\n",
        ),
        case(
            "W001",
            "bare CR line ends",
            format!("data: {hi}\r\rdata: {STOP}\r\r"),
            "text \"hi\"\nfinish stop\n",
        ),
        case(
            "W003",
            "no space after data:",
            "data:{\"choices\":[{\"index\":0,\"delta\":{\"content\":\"hi\"}}]}\n\ndata:[DONE]\n\n",
            "text \"hi\"\nfinish stop (inferred)\n",
        ),
        case(
            "W004",
            "a character cut between chunks",
            frames(&[&says("北京")]),
            "text \"北京\"\nfinish stop (inferred)\n",
        ),
        case(
            "W005",
            "an emoji cut between chunks",
            frames(&[&says("🌍")]),
            "text \"🌍\"\nfinish stop (inferred)\n",
        ),
        case(
            "W005",
            "an invalid byte is one replacement and no stall",
            [
                b"data: {\"choices\":[{\"delta\":{\"content\":\"a".as_slice(),
                b"\xF0\x9F",
                b"b\"}}]}\n\ndata: [DONE]\n\n",
            ]
            .concat(),
            "text \"a\u{fffd}b\"\nfinish stop (inferred)\n",
        ),
        case(
            "W006",
            "one event of 1.5 MiB",
            frames(&[&says(&"x".repeat(3 * 512 * 1024))]),
            "text \"1572864 bytes\"\nfinish stop (inferred)\n",
        ),
        case(
            "W007",
            "one event of 600 KB",
            frames(&[&says(&"x".repeat(600_000))]),
            "text \"600000 bytes\"\nfinish stop (inferred)\n",
        ),
        case(
            "W008",
            "one event of 70 KB",
            frames(&[&says(&"x".repeat(70_000))]),
            "text \"70000 bytes\"\nfinish stop (inferred)\n",
        ),
        case(
            "W009",
            "JSON over two data lines",
            "data: {\"choices\":[{\"delta\":{\"content\":\ndata: \"hi\"}}]}\n\ndata: [DONE]\n\n",
            "text \"hi\"\nfinish stop (inferred)\n",
        ),
        // Ends.
        case(
            "W012",
            "[DONE] without a finish reason is a normal end",
            frames(&[&says("a"), &says("b")]),
            "text \"a\"\ntext \"b\"\nfinish stop (inferred)\n",
        ),
        case(
            "W012",
            "a finish reason without [DONE] is a normal end",
            format!("data: {hi}\n\ndata: {STOP}\n\n"),
            "text \"hi\"\nfinish stop\n",
        ),
        case(
            "W013",
            "cut off in the middle",
            format!("data: {}\n\ndata: {}\n\n", says("a"), says("b")),
            "text \"a\"\ntext \"b\"\nerror Network: the stream ended before its end mark\n",
        ),
        case(
            "W013",
            "cut off inside an event",
            format!("data: {}\n\ndata: {{\"choices\":[{{\"delta\":{{\"cont", says("a")),
            "text \"a\"\nerror Network: the stream ended before its end mark\n",
        ),
        case("W013", "nothing at all", "", "error Network: the reply ended before anything came\n"),
        case(
            "W013",
            "only comments",
            ": OPENROUTER PROCESSING\n\n",
            "error Network: the stream ended before its end mark\n",
        ),
        case(
            "W014",
            "a whole JSON reply to a stream request",
            r#"{"model":"m","choices":[{"index":0,"message":{"role":"assistant","content":"hi"},"finish_reason":"stop"}],"usage":{"prompt_tokens":3,"completion_tokens":1}}"#,
            "model m\ntext \"hi\"\nusage in=3 out=1\nfinish stop\n",
        ),
        case(
            "W014",
            "a whole JSON reply without a finish reason",
            r#"{"choices":[{"message":{"content":"hi"}}]}"#,
            "text \"hi\"\nfinish stop (inferred)\n",
        ),
        case(
            "W014",
            "whole JSON cut off",
            r#"{"choices":[{"message":{"content":"hi"#,
            "error Network: the reply's JSON broke off\n",
        ),
        case(
            "W014",
            "one chunk a line, not an event stream",
            format!("{}\n{}\n{STOP}\n", says("a"), says("b")),
            "text \"a\"\ntext \"b\"\nfinish stop\n",
        ),
        case(
            "W017",
            "events that are not of the protocol",
            format!(
                "data: {}\n\nevent: codex.rate_limits\ndata: {{\"type\":\"codex.rate_limits\"}}\n\nevent: x\ndata: not JSON\n\ndata: {STOP}\n\n",
                says("a")
            ),
            "text \"a\"\nfinish stop\n",
        ),
        case(
            "W018",
            "comments between events",
            format!(": OPENROUTER PROCESSING\n\ndata: {hi}\n\n: OPENROUTER PROCESSING\n\ndata: [DONE]\n\n"),
            "text \"hi\"\nfinish stop (inferred)\n",
        ),
        case(
            "W018",
            "comments that a hub sent on as data",
            format!(
                "data: : OPENROUTER PROCESSING\n\ndata: : OPENROUTER PROCESSING\n\ndata: {hi}\n\ndata: [DONE]\n\n"
            ),
            "text \"hi\"\nfinish stop (inferred)\n",
        ),
        case(
            "W020",
            "two frames glued on one line",
            "data: {\"object\":\"chat.completion.cdata: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"I\"}}]}\n\ndata: [DONE]\n\n",
            "text \"I\"\nfinish stop (inferred)\n",
        ),
        case(
            "W020",
            "two whole frames glued on one line",
            format!("data: {}data: {}\n\ndata: {STOP}data: [DONE]\n\n", says("a"), says("b")),
            "text \"a\"\ntext \"b\"\nfinish stop\n",
        ),
        case(
            "W020",
            "frames that lost the blank line between them",
            format!("data: {}\ndata: {}\ndata: [DONE]\n\n", says("a"), says("b")),
            "text \"a\"\ntext \"b\"\nfinish stop (inferred)\n",
        ),
        case(
            "W020",
            "one bad frame is passed over",
            format!(
                "data: {}\n\ndata: {{\"choices\":[{{\n\ndata: {}\n\ndata: [DONE]\n\n",
                says("a"),
                says("b")
            ),
            "text \"a\"\ntext \"b\"\nfinish stop (inferred)\n",
        ),
        case(
            "W020",
            "two bad frames end the turn",
            format!(
                "data: {}\n\ndata: {{\"x\n\ndata: {{\"y\n\ndata: {}\n\ndata: [DONE]\n\n",
                says("a"),
                says("b")
            ),
            "text \"a\"\nerror Other: 2 events of the stream could not be read as JSON\n",
        ),
        case(
            "W180",
            "nothing follows the error, however much is sent",
            format!("data: {{\"x\n\ndata: {{\"y\n\n{}", format!("data: {hi}\n\n").repeat(20)),
            "error Other: 2 events of the stream could not be read as JSON\n",
        ),
        case(
            "W025",
            "a tool delta without an index",
            frames(&[
                r#"{"choices":[{"index":0,"delta":{"tool_calls":[{"id":"a","type":"function","function":{"name":"f","arguments":"{}"}}]}}]}"#,
                &hi,
            ]),
            "call 0 \"a\" f\narguments 0 \"{}\"\ntext \"hi\"\nend 0\nfinish tool_calls (inferred)\n",
        ),
        case(
            "W046",
            "a call was streamed and the finish reason says stop",
            frames(&[
                r#"{"choices":[{"delta":{"tool_calls":[{"index":0,"id":"a","function":{"name":"f"}}]}}]}"#,
                STOP,
            ]),
            "call 0 \"a\" f\narguments 0 \"{}\"\nend 0\nfinish tool_calls\n",
        ),
        case(
            "W048",
            "length outweighs tool calls",
            frames(&[
                r#"{"choices":[{"delta":{"tool_calls":[{"index":0,"function":{"arguments":"{"}}]},"finish_reason":"length"}]}"#,
                r#"{"choices":[{"delta":{},"finish_reason":"tool_calls"}]}"#,
            ]),
            "finish length\n",
        ),
        case(
            "W076",
            "an empty content delta says nothing",
            frames(&[r#"{"choices":[{"delta":{"content":"","role":"assistant"}}]}"#, &hi]),
            "text \"hi\"\nfinish stop (inferred)\n",
        ),
        // Choices and usage.
        case(
            "W050",
            "a usage chunk with empty choices",
            frames(&[&hi, STOP, r#"{"choices":[],"usage":{"prompt_tokens":8,"completion_tokens":1}}"#]),
            "text \"hi\"\nusage in=8 out=1\nfinish stop\n",
        ),
        case(
            "W050",
            "a usage chunk with null choices",
            frames(&[&hi, STOP, r#"{"choices":null,"usage":{"prompt_tokens":8,"completion_tokens":1}}"#]),
            "text \"hi\"\nusage in=8 out=1\nfinish stop\n",
        ),
        case(
            "W050",
            "a usage chunk without choices",
            frames(&[&hi, STOP, r#"{"usage":{"prompt_tokens":8,"completion_tokens":1}}"#]),
            "text \"hi\"\nusage in=8 out=1\nfinish stop\n",
        ),
        case(
            "W051",
            "a usage chunk in the middle",
            frames(&[
                &says("a"),
                r#"{"choices":[],"usage":{"prompt_tokens":8,"completion_tokens":1}}"#,
                &says("b"),
            ]),
            "text \"a\"\nusage in=8 out=1\ntext \"b\"\nfinish stop (inferred)\n",
        ),
        case(
            "W057",
            "input counts include cached ones",
            frames(&[
                r#"{"choices":[],"usage":{"prompt_tokens":100,"completion_tokens":5,"prompt_tokens_details":{"cached_tokens":80}}}"#,
            ]),
            "usage in=100 out=5 cache_read=80\nfinish stop (inferred)\n",
        ),
        case(
            "W058",
            "DeepSeek's spelling of cached tokens",
            frames(&[
                r#"{"choices":[],"usage":{"prompt_tokens":100,"prompt_cache_hit_tokens":64,"prompt_cache_miss_tokens":36}}"#,
            ]),
            "usage in=100 cache_read=64\nfinish stop (inferred)\n",
        ),
        case(
            "W061",
            "null details are unknown, not zero",
            frames(&[
                r#"{"choices":[],"usage":{"prompt_tokens":1,"completion_tokens":2,"prompt_tokens_details":{"cached_tokens":null},"completion_tokens_details":null}}"#,
            ]),
            "usage in=1 out=2\nfinish stop (inferred)\n",
        ),
        case(
            "W062",
            "usage is cumulative: the last one stands",
            frames(&[
                r#"{"choices":[{"delta":{"content":"a"}}],"usage":{"prompt_tokens":10,"completion_tokens":1}}"#,
                r#"{"choices":[],"usage":{"prompt_tokens":10,"completion_tokens":5,"completion_tokens_details":{"reasoning_tokens":2}}}"#,
            ]),
            "text \"a\"\nusage in=10 out=1\nusage in=10 out=5 reasoning=2\nfinish stop (inferred)\n",
        ),
        case(
            "W092",
            "two spellings of the same reasoning",
            frames(&[
                r#"{"choices":[{"delta":{"reasoning":"a","reasoning_content":"a","reasoning_details":[{"type":"reasoning.text","text":"a"}]}}]}"#,
            ]),
            "thinking \"a\"\nfinish stop (inferred)\n",
        ),
        case(
            "W092",
            "reasoning_details alone",
            frames(&[
                r#"{"choices":[{"delta":{"reasoning_details":[{"type":"reasoning.text","text":"a"},{"type":"reasoning.encrypted","data":"x"}]}}]}"#,
            ]),
            "thinking \"a\"\nredacted \"x\"\nfinish stop (inferred)\n",
        ),
        case(
            "W132",
            "null content says nothing",
            frames(&[r#"{"choices":[{"index":0,"delta":{"role":"assistant","content":null}}]}"#, &hi]),
            "text \"hi\"\nfinish stop (inferred)\n",
        ),
        case(
            "W135",
            "finish_reason null to the end",
            frames(&[r#"{"choices":[{"index":0,"delta":{"content":"hi"},"finish_reason":null}]}"#]),
            "text \"hi\"\nfinish stop (inferred)\n",
        ),
        case(
            "W148",
            "several text parts are all of the answer, in order",
            r#"{"choices":[{"message":{"content":[{"type":"text","text":"a"},{"type":"text","text":"b"}]},"finish_reason":"stop"}]}"#,
            "text \"a\"\ntext \"b\"\nfinish stop\n",
        ),
        case(
            "W151",
            "a lone surrogate from a provider",
            frames(&[&says("abc\\ud83d")]),
            "text \"abc\u{fffd}\"\nfinish stop (inferred)\n",
        ),
        case(
            "W181",
            "NUL is carried",
            frames(&[&says("a\\u0000b")]),
            "text \"a\\0b\"\nfinish stop (inferred)\n",
        ),
        // Errors inside a 200.
        case(
            "W070",
            "an error event in the middle",
            format!(
                "data: {}\n\nevent: error\ndata: {{\"type\":\"error\",\"error\":{{\"type\":\"api_error\",\"message\":\"Internal server error\"}}}}\n\n",
                says("a")
            ),
            "text \"a\"\nerror Other: Internal server error\n",
        ),
        case(
            "W107",
            "a 200 with an error body",
            r#"{"error":{"message":"Unsupported parameter: 'max_tokens' is not supported with this model.","type":"invalid_request_error","param":"max_tokens","code":"unsupported_parameter"}}"#,
            "error BadRequest: Unsupported parameter: 'max_tokens' is not supported with this model.\n",
        ),
        case(
            "W107",
            "a 200 whose error is a string",
            r#"{"error":"model is loading"}"#,
            "error Other: model is loading\n",
        ),
        case(
            "W107",
            "an error that is null is none",
            r#"{"error":null,"choices":[{"message":{"content":"hi"},"finish_reason":"stop"}]}"#,
            "text \"hi\"\nfinish stop\n",
        ),
        case(
            "W107",
            "a list of one error",
            r#"[{"error":{"code":429,"message":"Quota exceeded. Please retry in 12.5s.","status":"RESOURCE_EXHAUSTED"}}]"#,
            "error Capacity: Quota exceeded. Please retry in 12.5s. (wait 12.5s)\n",
        ),
        case(
            "W163",
            "an error where a chunk belongs",
            "data: {\"error\":{\"message\":\"model at capacity\",\"code\":503}}\n\ndata: [DONE]\n\n",
            "error Capacity: model at capacity\n",
        ),
        case(
            "W173",
            "overloaded as an event before content",
            "event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\",\"message\":\"Overloaded\"}}\n\n",
            "error Capacity: Overloaded\n",
        ),
        case(
            "W174",
            "overloaded as an event after content",
            format!(
                "data: {}\n\nevent: error\ndata: {{\"type\":\"error\",\"error\":{{\"type\":\"overloaded_error\",\"message\":\"Overloaded\"}}}}\n\ndata: {}\n\n",
                says("a"),
                says("b")
            ),
            "text \"a\"\nerror Capacity: Overloaded\n",
        ),
        case(
            "W174",
            "a chunk with an error and a finish reason of error",
            frames(&[
                &says("a"),
                r#"{"error":{"code":502,"message":"Provider returned error"},"choices":[{"index":0,"delta":{"content":""},"finish_reason":"error"}]}"#,
            ]),
            "text \"a\"\nerror Other: Provider returned error\n",
        ),
        case(
            "W169",
            "plain text as the body of a 200",
            "upstream connect error or disconnect/reset before headers",
            "error Network: upstream connect error or disconnect/reset before headers\n",
        ),
        case(
            "W190",
            "an HTML page as the body of a 200",
            "<!DOCTYPE html><html><head><title>Sign in\n to  Wi-Fi</title></head><body>data: {}\n\n</body></html>",
            "error Other: an HTML page where an answer should be: Sign in to Wi-Fi; check the endpoint's base URL\n",
        ),
        case(
            "W024",
            "spaces sent to keep the connection open, before JSON and before events",
            format!("  \n \r\n\t data: {hi}\n\ndata: [DONE]\n\n"),
            "text \"hi\"\nfinish stop (inferred)\n",
        ),
    ]
}
