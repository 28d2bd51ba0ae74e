//! Tool calls in a member's reply, and the events they must give however the reply is cut.

use libtest_mimic::Trial;

use crate::{
    support::{decode_cut_everywhere, render},
    trial,
};

type Case = (&'static str, &'static str, &'static [&'static str], &'static str);

pub fn trials() -> Vec<Trial> {
    let case = |(id, what, deltas, wanted): &Case| {
        let (deltas, wanted) = (*deltas, *wanted);
        trial(format!("{id} {what}"), move || {
            let stream: String = deltas.iter().map(|delta| frame(delta)).collect();
            assert_eq!(render(&decode_cut_everywhere(stream.as_bytes())), wanted);
        })
    };
    CASES.iter().map(case).collect()
}

/// A delta, a finish reason (`=reason`) or an end mark as a frame.
fn frame(delta: &str) -> String {
    match delta.strip_prefix('=') {
        Some(reason) => format!(
            "data: {{\"choices\":[{{\"index\":0,\"delta\":{{}},\"finish_reason\":\"{reason}\"}}]}}\n\n"
        ),
        None if delta == "[DONE]" => "data: [DONE]\n\n".to_owned(),
        None => format!("data: {{\"choices\":[{{\"index\":0,\"delta\":{{\"tool_calls\":[{delta}]}}}}]}}\n\n"),
    }
}

const CASES: &[Case] = &[
    (
        "W026",
        "a new id without an index is a new call",
        &[
            r#"{"id":"a","function":{"name":"f","arguments":"{\"x\":1}"}}"#,
            r#"{"id":"b","function":{"name":"f","arguments":"{\"x\""}}"#,
            r#"{"function":{"arguments":":2}"}}"#,
            "=tool_calls",
        ],
        "call 0 \"a\" f\narguments 0 \"{\\\"x\\\":1}\"\nend 0\ncall 1 \"b\" f\narguments 1 \"{\\\"x\\\"\"\narguments 1 \":2}\"\nend 1\nfinish tool_calls\n",
    ),
    (
        "W026",
        "a new name without id and index is a new call",
        &[
            r#"{"function":{"name":"f","arguments":"{}"}}"#,
            r#"{"function":{"name":"g","arguments":"{}"}}"#,
            "=tool_calls",
        ],
        "call 0 \"call_0\" f\narguments 0 \"{}\"\nend 0\ncall 1 \"call_1\" g\narguments 1 \"{}\"\nend 1\nfinish tool_calls\n",
    ),
    (
        "W026",
        "one index for all, told apart by ids",
        &[
            r#"{"index":0,"id":"a","function":{"name":"f","arguments":"{}"}}"#,
            r#"{"index":0,"id":"b","function":{"name":"f","arguments":"{}"}}"#,
            "=tool_calls",
        ],
        "call 0 \"a\" f\narguments 0 \"{}\"\nend 0\ncall 1 \"b\" f\narguments 1 \"{}\"\nend 1\nfinish tool_calls\n",
    ),
    (
        "W026",
        "interleaved calls keep their own arguments",
        &[
            r#"{"index":0,"id":"a","function":{"name":"f","arguments":""}},{"index":1,"id":"b","function":{"name":"g","arguments":""}}"#,
            r#"{"index":1,"function":{"arguments":"{\"b\""}}"#,
            r#"{"index":0,"function":{"arguments":"{\"a\":1}"}}"#,
            r#"{"index":1,"function":{"arguments":":2}"}}"#,
            "=tool_calls",
        ],
        "call 0 \"a\" f\ncall 1 \"b\" g\narguments 1 \"{\\\"b\\\"\"\narguments 0 \"{\\\"a\\\":1}\"\narguments 1 \":2}\"\nend 0\nend 1\nfinish tool_calls\n",
    ),
    (
        "W029",
        "an index that begins at 1",
        &[
            r#"{"index":1,"id":"a","function":{"name":"f","arguments":"{"}}"#,
            r#"{"index":1,"function":{"arguments":"}"}}"#,
            "=tool_calls",
        ],
        "call 0 \"a\" f\narguments 0 \"{\"\narguments 0 \"}\"\nend 0\nfinish tool_calls\n",
    ),
    (
        "W031",
        "a call without an id gets one by position",
        &[r#"{"index":0,"type":"function","function":{"name":"f","arguments":"{}"}}"#, "=tool_calls"],
        "call 0 \"call_0\" f\narguments 0 \"{}\"\nend 0\nfinish tool_calls\n",
    ),
    (
        "W032",
        "an empty id and name later on say nothing",
        &[
            r#"{"index":0,"id":"a","function":{"name":"f","arguments":"{"}}"#,
            r#"{"index":0,"id":"","function":{"name":"","arguments":"}"}}"#,
            "=tool_calls",
        ],
        "call 0 \"a\" f\narguments 0 \"{\"\narguments 0 \"}\"\nend 0\nfinish tool_calls\n",
    ),
    (
        "W034",
        "a turn of calls without a name is an error",
        &[r#"{"index":0,"id":"a","function":{"name":"","arguments":"{}"}}"#, "=tool_calls"],
        "error Other: the model called tools without naming any\n",
    ),
    (
        "W034",
        "one nameless call beside a good one is left out",
        &[
            r#"{"index":0,"id":"a","function":{"name":"","arguments":"{}"}},{"index":1,"id":"b","function":{"name":"g","arguments":"{}"}}"#,
            "=tool_calls",
        ],
        "call 0 \"b\" g\narguments 0 \"{}\"\nend 0\nfinish tool_calls\n",
    ),
    (
        "W036",
        "arguments that never came are {}",
        &[
            r#"{"index":0,"id":"a","function":{"name":"now","arguments":""}}"#,
            r#"{"index":0,"function":{"arguments":" "}}"#,
            "=tool_calls",
        ],
        "call 0 \"a\" now\narguments 0 \"{}\"\nend 0\nfinish tool_calls\n",
    ),
    (
        "W038",
        "arguments as an object keep their keys' order",
        &[r#"{"index":0,"id":"a","function":{"name":"f","arguments":{"z":1,"a":2}}}"#, "=tool_calls"],
        "call 0 \"a\" f\narguments 0 \"{\\\"z\\\":1,\\\"a\\\":2}\"\nend 0\nfinish tool_calls\n",
    ),
    (
        "W012",
        "[DONE] without a reason ends a call whose arguments are whole",
        &[
            r#"{"index":0,"id":"a","function":{"name":"f","arguments":"{}"}}"#,
            r#"{"index":1,"id":"b","function":{"name":"f","arguments":"{\"x"}}"#,
            "[DONE]",
        ],
        "call 0 \"a\" f\narguments 0 \"{}\"\nend 0\ncall 1 \"b\" f\narguments 1 \"{\\\"x\"\nfinish tool_calls (inferred)\n",
    ),
    (
        "W048",
        "a call cut off by the length is not ended",
        &[r#"{"index":0,"id":"a","function":{"name":"f","arguments":"{\"x"}}"#, "=length"],
        "call 0 \"a\" f\narguments 0 \"{\\\"x\"\nfinish length\n",
    ),
    (
        "W126",
        "a thought signature beside a call is kept with it",
        &[
            r#"{"index":0,"id":"a","function":{"name":"f","arguments":"{}"},"extra_content":{"google":{"thought_signature":"S=="}}}"#,
            "=tool_calls",
        ],
        "call 0 \"a\" f signature \"S==\"\narguments 0 \"{}\"\nend 0\nfinish tool_calls\n",
    ),
];
