//! Counts of tokens, in one meaning however they are told.

use wire::Dialect;

use crate::{
    decode,
    support::{decode_as, render},
};

#[test]
fn usage_wherever_it_stands() {
    for chunk in [
        r#"{"choices":[],"x_groq":{"usage":{"prompt_tokens":3,"completion_tokens":1}}}"#,
        r#"{"choices":[{"delta":{},"usage":{"prompt_tokens":3,"completion_tokens":1}}]}"#,
        r#"{"usage":{"input_tokens":3.0,"output_tokens":1}}"#,
    ] {
        let body = format!("data: {chunk}\n\ndata: {chunk}\n\ndata: [DONE]\n\n");
        assert_eq!(
            render(&decode([body.as_bytes()])),
            "usage in=3 out=1\nfinish stop (inferred)\n",
            "{chunk}"
        );
    }
}

/// Which provider says it how: the sources are in the catalog's `tests/providers/*/replies.json`.
#[test]
fn usage_of_one_meaning_however_it_is_counted() {
    let cases = [
        // Reasoning in the output, with all of the output and without a total.
        (
            r#""usage":{"prompt_tokens":9,"completion_tokens":5,"total_tokens":14,"completion_tokens_details":{"reasoning_tokens":3}}"#,
            "in=9 out=5 reasoning=3",
        ),
        (
            r#""usage":{"prompt_tokens":9,"completion_tokens":5,"completion_tokens_details":{"reasoning_tokens":5}}"#,
            "in=9 out=5 reasoning=5",
        ),
        // Beside it: the total holds both, whichever is more.
        (
            r#""usage":{"prompt_tokens":9,"completion_tokens":5,"total_tokens":17,"completion_tokens_details":{"reasoning_tokens":3}}"#,
            "in=9 out=8 reasoning=3",
        ),
        (
            r#""usage":{"prompt_tokens":9,"completion_tokens":5,"total_tokens":54,"completion_tokens_details":{"reasoning_tokens":40}}"#,
            "in=9 out=45 reasoning=40",
        ),
        // Miscounted by one; the total may hold what is no reasoning.
        (
            r#""usage":{"prompt_tokens":9,"completion_tokens":5,"total_tokens":15,"completion_tokens_details":{"reasoning_tokens":6}}"#,
            "in=9 out=6 reasoning=6",
        ),
        (
            r#""usage":{"prompt_tokens":9,"completion_tokens":5,"total_tokens":14,"completion_tokens_details":{"reasoning_tokens":6}}"#,
            "in=9 out=6 reasoning=6",
        ),
        (
            r#""usage":{"prompt_tokens":9,"completion_tokens":5,"total_tokens":99,"completion_tokens_details":{"reasoning_tokens":2}}"#,
            "in=9 out=7 reasoning=2",
        ),
        (r#""usage":{"prompt_tokens":9,"completion_tokens":5,"total_tokens":99}"#, "in=9 out=5"),
        // Apart, and in no total.
        (
            r#""usage":{"prompt_tokens":9,"completion_tokens":5,"total_tokens":14,"reasoning_tokens":40}"#,
            "in=9 out=45 reasoning=40",
        ),
        (
            r#""usage":{"prompt_tokens":9,"completion_tokens":5,"total_tokens":14,"reasoning_tokens":4}"#,
            "in=9 out=5 reasoning=4",
        ),
        // What was written to the cache, under its other name.
        (
            r#""usage":{"prompt_tokens":9,"completion_tokens":5,"prompt_tokens_details":{"cached_tokens":0,"cache_creation_input_tokens":8}}"#,
            "in=9 out=5 cache_read=0 cache_write=8",
        ),
        (
            r#""usage":{"prompt_tokens":9,"completion_tokens":5,"cache_creation_input_tokens":8}"#,
            "in=9 out=5 cache_write=8",
        ),
        // llama.cpp's timings, which say no more than its usage where that says it.
        (
            r#""usage":{"prompt_tokens":9,"completion_tokens":5},"timings":{"cache_n":7,"prompt_n":2}"#,
            "in=9 out=5 cache_read=7",
        ),
        (
            r#""usage":{"prompt_tokens":9,"completion_tokens":5,"prompt_tokens_details":{"cached_tokens":6}},"timings":{"cache_n":7}"#,
            "in=9 out=5 cache_read=6",
        ),
    ];
    for (fields, usage) in cases {
        let body = format!("data: {{\"choices\":[],{fields}}}\n\ndata: [DONE]\n\n");
        let wanted = format!("usage {usage}\nfinish stop (inferred)\n");
        assert_eq!(render(&decode([body.as_bytes()])), wanted, "{fields}");
    }
}

/// Thinking is part of the output, and told only at the end.
#[test]
fn what_claude_thought_is_counted() {
    let stream = concat!(
        "data: {\"type\":\"message_start\",\"message\":{\"usage\":{\"input_tokens\":47,\"output_tokens\":2}}}\n\n",
        "data: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"end_turn\"},",
        "\"usage\":{\"output_tokens\":373,\"output_tokens_details\":{\"thinking_tokens\":62}}}\n\n",
        "data: {\"type\":\"message_stop\"}\n\n"
    );
    let wanted = "usage in=47 out=2\nusage in=47 out=373 reasoning=62\nfinish stop\n";
    assert_eq!(render(&decode_as(Dialect::Anthropic, [stream.as_bytes()])), wanted);
}
