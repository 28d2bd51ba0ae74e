//! What every member is asked, whichever dialect it speaks: one conversation, written for each.

use libtest_mimic::Trial;
use serde_json::{Value, json};
use wire::{Dialect, Encoded, Event, Route, Target, format};

use crate::trial;

pub fn trials() -> Vec<Trial> {
    let mut trials = Vec::new();
    let mut add = |id: &str, what: &str, check: fn(Dialect)| {
        for dialect in Dialect::ALL.iter().copied().filter(|dialect| format(*dialect).is_spoken_to_members())
        {
            trials.push(trial(format!("{id} a member of {dialect:?}: {what}"), move || check(dialect)));
        }
    };
    add("W036", "empty arguments of an earlier call are an empty object", |dialect| {
        for empty in ["", " ", "{}"] {
            let asked = ask(dialect, json!([user("go"), call("a", "now", empty), result("a", json!("x"))]));
            let calls = arguments(&asked.body);
            assert_eq!(calls, ["{}"], "{}", text(&asked));
        }
    });
    add("W038", "arguments keep their keys' order and their numbers", |dialect| {
        let written = r#"{"z":1.0,"a":12345678901234567890123,"e":1e5,"m":-0.10}"#;
        let asked = ask(dialect, json!([user("go"), call("a", "f", written), result("a", json!("x"))]));
        let quoted = json!(written).to_string();
        assert!(text(&asked).contains(written) || text(&asked).contains(&quoted), "{}", text(&asked));
    });
    add("W038", "arguments that are no object are sent, and told where they are put into one", |dialect| {
        let asked = ask(dialect, json!([user("go"), call("a", "f", "[1,2"), result("a", json!("x"))]));
        assert!(text(&asked).contains("[1,2"), "{}", text(&asked));
        let is_text = matches!(dialect, Dialect::Chat | Dialect::Responses);
        assert_eq!(listed(&asked).iter().any(|notice| notice.contains("no object")), !is_text);
    });
    add("W039", "one result a call, the last in the first one's place", |dialect| {
        let asked = ask(
            dialect,
            json!([
                user("go"),
                call("c", "f", "{}"),
                result("c", json!("first")),
                result("c", json!("last"))
            ]),
        );
        assert!(text(&asked).contains("last") && !text(&asked).contains("first"), "{}", text(&asked));
        assert_eq!(listed(&asked), ["messages[3]=a second result of one call, put in the first one's place"]);
    });
    add("W040", "ids and names are of the characters it takes, and are given back", |dialect| {
        let long = "n".repeat(90);
        for (id, name) in [("functions.read:0", "a.b"), ("é", "b/c"), (long.as_str(), long.as_str())] {
            let body = json!({
                "messages": [user("go"), call(id, name, "{}"), result(id, json!("x"))],
                "tools": [tool(name, json!({"type": "object"}))],
                "tool_choice": {"type": "function", "function": {"name": name}}
            });
            let asked = encode(dialect, &body);
            let rules = format(dialect).rules();
            let sent = names(&asked.body);
            assert!(!sent.is_empty());
            for name in sent {
                assert!(rules.names.fits(&name), "{name}: {}", text(&asked));
            }
            let sent: Value = serde_json::from_slice(&asked.body).unwrap();
            let declared = find(&sent["tools"], "name")[0].as_str().unwrap().to_owned();
            let start = wire::CallStart { id: "x".to_owned(), name: declared, ..wire::CallStart::default() };
            let events = asked.restore.events(vec![Event::CallStart(start)]);
            assert!(matches!(&events[0], Event::CallStart(start) if start.name == name), "{events:?}");
        }
    });
    add("W077", "no empty texts beside others", |dialect| {
        let parts = json!([{"type": "text", "text": ""}, {"type": "text", "text": "b"}]);
        let asked = ask(dialect, json!([{"role": "user", "content": parts}]));
        assert!(!text(&asked).contains("\"text\":\"\"") && !text(&asked).contains("\\n"), "{}", text(&asked));
    });
    add("W077", "a turn of the model that says nothing is not sent", |dialect| {
        let empty = json!({"role": "assistant", "content": ""});
        let asked = ask(dialect, json!([user("a"), empty, user("b")]));
        assert!(
            !text(&asked).contains("assistant") && !text(&asked).contains("model\",\"parts"),
            "{}",
            text(&asked)
        );
    });
    add("W079", "a result without its call is a user turn", |dialect| {
        let asked = ask(dialect, json!([result("gone", json!("42")), user("and?")]));
        for word in ["tool_result", "function_call_output", "functionResponse", "\"role\":\"tool\""] {
            assert!(!text(&asked).contains(word), "{}", text(&asked));
        }
        assert!(text(&asked).contains("42"));
        assert_eq!(listed(&asked), ["messages[0]=a result without its call, sent as a user turn"]);
    });
    add("W084", "an image, asked or in a result, is never part of a text", |dialect| {
        let parts = json!([{"type": "text", "text": "see"}, image()]);
        let asked = ask(
            dialect,
            json!([{"role": "user", "content": parts}, call("a", "f", "{}"), result("a", json!([image()]))]),
        );
        let body: Value = serde_json::from_slice(&asked.body).unwrap();
        let found = strings(&body).into_iter().filter(|text| text.contains(PNG)).collect::<Vec<_>>();
        assert_eq!(found.len(), 2, "{body}");
        let url = format!("data:image/png;base64,{PNG}");
        assert!(found.iter().all(|text| *text == PNG || *text == url), "{body}");
    });
    add("W087", "cache marks only where they are known", |dialect| {
        let marked = json!([{"type": "text", "text": "a", "cache_control": {"type": "ephemeral"}}]);
        let asked = ask(dialect, json!([{"role": "system", "content": marked}, user("b")]));
        let takes = dialect == Dialect::Anthropic;
        assert_eq!(text(&asked).contains("cache_control"), takes, "{}", text(&asked));
        let lost = ["messages[0].content[0].cache_control=not sent to members"];
        assert_eq!(listed(&asked), if takes { &[][..] } else { &lost });
    });
    add("W090", "a longer conversation begins with the bytes of the shorter", |dialect| {
        let all = [
            json!({"role": "system", "content": "Be brief."}),
            user("go"),
            call("a", "f", r#"{"z":1,"a":2}"#),
            result("a", json!("x")),
            json!({"role": "assistant", "content": "Done."}),
            user("more"),
            call("b", "f", "{}"),
            result("b", json!("y")),
        ];
        let turns = |count: usize| {
            let body = json!({"messages": all[..count], "tools": [tool("f", json!({"type": "object", "properties": {"z": {}, "a": {}}}))]});
            let sent = text(&encode(dialect, &body)).to_owned();
            assert_eq!(sent, text(&encode(dialect, &body)));
            sent
        };
        for (count, more) in [(2, 4), (4, 6), (6, 8)] {
            let (short, long) = (turns(count), turns(more));
            let start = ["\"messages\":[", "\"input\":[", "\"contents\":["];
            let start = start.iter().find_map(|name| Some(short.find(name)? + name.len() - 1)).unwrap();
            assert_eq!(short[..start], long[..start], "what stands before the turns");
            let mut values = serde_json::Deserializer::from_str(&short[start..]).into_iter::<Value>();
            values.next().unwrap().unwrap();
            // Without the bracket that ends them.
            let turns = &short[start..start + values.byte_offset() - 1];
            assert!(long[start..].starts_with(turns), "{short}\n{long}");
        }
    });
    add("W096", "no role that it does not know", |dialect| {
        let turn = |role: &str, said: &str| json!({"role": role, "content": said});
        let asked = ask(dialect, json!([turn("developer", "a"), user("b"), turn("system", "c"), user("d")]));
        let body: Value = serde_json::from_slice(&asked.body).unwrap();
        let known: &[&str] = match dialect {
            Dialect::Responses => &["user", "assistant", "system", "developer"],
            Dialect::Anthropic => &["user", "assistant"],
            Dialect::Gemini => &["user", "model"],
            _ => &["user", "assistant", "system", "tool"],
        };
        for role in find(&body, "role") {
            assert!(known.contains(&role.as_str().unwrap()), "{role}: {body}");
        }
        for said in ["a", "b", "c", "d"] {
            assert!(
                strings(&body).iter().any(|text| text.split('\n').any(|line| line == said)),
                "{said}: {body}"
            );
        }
    });
    add("W098", "a free-form tool is one it has, the grammar with it", |dialect| {
        let grammar = json!({"type": "grammar", "grammar": {"syntax": "lark", "definition": "start: /.+/s"}});
        let body = json!({"messages": [user("a")],
            "tools": [{"type": "custom", "custom": {"name": "apply_patch", "format": grammar}}]});
        let asked = encode(dialect, &body);
        let body: Value = serde_json::from_slice(&asked.body).unwrap();
        assert!(strings(&body["tools"]).iter().any(|text| text.contains("start: /.+/s")), "{body}");
        let is_function = !find(&body["tools"], "required").is_empty();
        assert_eq!(is_function, dialect != Dialect::Responses, "{body}");
    });
    add("W100", "no choice among no tools", |dialect| {
        for tools in [json!([]), Value::Null] {
            let body = json!({"messages": [user("a")], "tools": tools, "tool_choice": "auto", "parallel_tool_calls": true});
            let asked = encode(dialect, &body);
            assert!(!text(&asked).contains("tool"), "{}", text(&asked));
        }
    });
    add("W101", "a tool without parameters, or with a choice at the root", |dialect| {
        for parameters in [Value::Null, json!({"oneOf": [{"type": "object", "properties": {"a": {}}}]})] {
            let body = json!({"messages": [user("a")], "tools": [tool("x", parameters)]});
            let asked = encode(dialect, &body);
            let body: Value = serde_json::from_slice(&asked.body).unwrap();
            let schemas = ["parameters", "input_schema"].map(|name| find(&body["tools"], name)).concat();
            for schema in &schemas {
                assert!(
                    schema["type"].as_str().is_some_and(|kind| kind.eq_ignore_ascii_case("object")),
                    "{body}"
                );
            }
            // Gemini takes a function without parameters, and no empty object.
            assert!(schemas.len() == 1 || dialect == Dialect::Gemini, "{body}");
        }
    });
    add("W103", "no choice and one call at a time", |dialect| {
        let body = json!({"messages": [user("a")], "tools": [tool("f", json!({"type": "object"}))],
            "tool_choice": "none", "parallel_tool_calls": false});
        let asked = encode(dialect, &body);
        assert!(!text(&asked).contains("parallel"), "{}", text(&asked));
    });
    add("W105", "one call at a time is said or told as lost", |dialect| {
        let body = json!({"messages": [user("a")], "tools": [tool("f", json!({"type": "object"}))],
            "tool_choice": "required", "parallel_tool_calls": false});
        let asked = encode(dialect, &body);
        let is_told = listed(&asked).iter().any(|notice| notice.starts_with("parallel_tool_calls="));
        assert!(text(&asked).contains("parallel") != is_told, "{} {:?}", text(&asked), listed(&asked));
        let sent: Value = serde_json::from_slice(&asked.body).unwrap();
        if dialect == Dialect::Anthropic {
            assert_eq!(sent["tool_choice"], json!({"type": "any", "disable_parallel_tool_use": true}));
        }
    });
    add("W110", "text, image and text keep their order, or it is told", |dialect| {
        let parts = json!([{"type": "text", "text": "before"}, image(), {"type": "text", "text": "after"}]);
        let asked = ask(dialect, json!([{"role": "user", "content": parts}]));
        let at = |what: &str| text(&asked).find(what).unwrap();
        let in_order = at("before") < at(PNG) && at(PNG) < at("after");
        assert!(
            in_order != (listed(&asked) == ["messages[0]=its images are put before its text"]),
            "{:?}",
            listed(&asked)
        );
    });
    add("W114", "only fields that it has, and what it has not is told", |dialect| {
        let asked = encode(
            dialect,
            &json!({
                "messages": [user("a")], "stream": true, "stream_options": {"include_usage": true}, "store": true,
                "user": "u", "metadata": {"k": "v"}, "prompt_cache_key": "k", "prompt_cache_retention": "24h",
                "prompt_cache_options": {"mode": "x"}, "service_tier": "flex", "seed": 1, "stop": ["x"], "top_k": 3,
                "logit_bias": {"1": 2}, "frequency_penalty": 0.5, "max_completion_tokens": 50, "temperature": 0.5,
                "safety_identifier": "s", "unheard_of": 1
            }),
        );
        let body: Value = serde_json::from_slice(&asked.body).unwrap();
        let fields = body.as_object().unwrap().keys().map(String::as_str).collect::<Vec<_>>();
        let known: &[&str] = match dialect {
            Dialect::Chat => &[
                "model",
                "messages",
                "stream",
                "stream_options",
                "seed",
                "stop",
                "top_k",
                "logit_bias",
                "frequency_penalty",
                "max_completion_tokens",
                "max_tokens",
                "temperature",
            ],
            Dialect::Responses => {
                &["model", "input", "stream", "store", "temperature", "max_output_tokens", "prompt_cache_key"]
            }
            Dialect::Anthropic => {
                &["model", "messages", "max_tokens", "stream", "temperature", "top_k", "stop_sequences"]
            }
            Dialect::Gemini => &["contents", "generationConfig"],
            _ => &["model", "messages", "stream", "options"],
        };
        for field in &fields {
            assert!(known.contains(field), "{field}: {body}");
        }
        for lost in [
            "prompt_cache_retention",
            "prompt_cache_options",
            "unheard_of",
            "service_tier",
            "safety_identifier",
        ] {
            let told = format!("{lost}=not sent to members");
            assert!(listed(&asked).contains(&told), "{lost}: {:?}", listed(&asked));
        }
    });
    add("W115", "a result as parts, as an object, as a list", |dialect| {
        for (content, said) in [
            (json!([{"type": "text", "text": "x y"}]), "x y"),
            (json!({"z": 1, "a": 2.0}), r#"{"z":1,"a":2.0}"#),
            (json!([1, {}]), "[1,{}]"),
        ] {
            let asked = ask(dialect, json!([user("go"), call("a", "f", "{}"), result("a", content)]));
            let body: Value = serde_json::from_slice(&asked.body).unwrap();
            assert!(strings(&body).iter().any(|text| text == said), "{said}: {body}");
        }
    });
    add("W147", "the form of the answer is asked for", |dialect| {
        let schema = json!({"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"], "additionalProperties": false});
        let body = json!({"messages": [user("a")], "response_format":
            {"type": "json_schema", "json_schema": {"name": "x", "schema": schema, "strict": true}}});
        let asked = encode(dialect, &body);
        let body: Value = serde_json::from_slice(&asked.body).unwrap();
        let at = match dialect {
            Dialect::Chat => "/response_format/json_schema/schema",
            Dialect::Responses => "/text/format/schema",
            Dialect::Anthropic => "/output_config/format/schema",
            Dialect::Gemini => "/generationConfig/responseJsonSchema",
            _ => "/format",
        };
        assert_eq!(body.pointer(at), Some(&schema), "{body}");
    });
    add("W151", "half a surrogate pair goes on as U+FFFD", |dialect| {
        let body = br#"{"messages":[{"role":"user","content":"abc\ud83d"}]}"#;
        let request = format(Dialect::Chat).decode_request(body, &Route::default()).unwrap();
        let sent: Value =
            serde_json::from_slice(&format(dialect).encode_request(&request, &target()).body).unwrap();
        assert!(strings(&sent).iter().any(|text| text == "abc\u{fffd}"), "{sent}");
    });
    add("W152", "a tool's schema keeps the order of its keys", |dialect| {
        let schema =
            json!({"type": "object", "properties": {"z": {"type": "string"}, "a": {"type": "string"}}});
        let asked = encode(dialect, &json!({"messages": [user("a")], "tools": [tool("f", schema)]}));
        assert!(
            text(&asked).find("\"z\":").unwrap() < text(&asked).find("\"a\":").unwrap(),
            "{}",
            text(&asked)
        );
    });
    add("W154", "names that fall together are told apart", |dialect| {
        let body =
            json!({"messages": [user("a")], "tools": [tool("a.b", json!({})), tool("a_b", json!({}))]});
        let asked = encode(dialect, &body);
        let sent = names(&asked.body);
        assert!(sent.len() == 2 && sent[0] != sent[1], "{sent:?}");
    });
    add("W181", "NUL is carried", |dialect| {
        let asked = ask(dialect, json!([user("go"), call("a", "f", "{}"), result("a", json!("a\0b"))]));
        assert!(text(&asked).contains("a\\u0000b"), "{}", text(&asked));
    });
    add("W183", "a document goes as one, or a mark stands in its place and it is told", |dialect| {
        let file = json!({"type": "file", "file": {"filename": "a.pdf", "file_data": "data:application/pdf;base64,JVBERi0="}});
        let asked =
            ask(dialect, json!([{"role": "user", "content": [{"type": "text", "text": "read"}, file]}]));
        let body: Value = serde_json::from_slice(&asked.body).unwrap();
        let takes = dialect != Dialect::Ollama;
        let found = strings(&body).into_iter().filter(|text| text.contains("JVBERi0=")).collect::<Vec<_>>();
        assert_eq!(found.len(), usize::from(takes), "{body}");
        assert!(
            found.iter().all(|text| *text == "JVBERi0=" || *text == "data:application/pdf;base64,JVBERi0=")
        );
        assert_eq!(listed(&asked).is_empty(), takes, "{:?}", listed(&asked));
    });
    trials
}

const PNG: &str = "iVBORw0KGgo=";

fn image() -> Value {
    json!({"type": "image_url", "image_url": {"url": format!("data:image/png;base64,{PNG}")}})
}

fn target() -> Target {
    Target { served: "m".to_owned(), callers_options: true, ..Target::default() }
}

fn ask(dialect: Dialect, messages: Value) -> Encoded {
    encode(dialect, &json!({ "messages": messages }))
}

/// A chat caller's body as a member of the dialect is asked it.
fn encode(dialect: Dialect, body: &Value) -> Encoded {
    let request =
        format(Dialect::Chat).decode_request(body.to_string().as_bytes(), &Route::default()).unwrap();
    format(dialect).encode_request(&request, &target())
}

fn text(asked: &Encoded) -> &str {
    std::str::from_utf8(&asked.body).unwrap()
}

fn listed(asked: &Encoded) -> Vec<String> {
    asked.notices.iter().map(|notice| format!("{}={}", notice.field, notice.reason)).collect()
}

fn user(text: &str) -> Value {
    json!({"role": "user", "content": text})
}

fn tool(name: &str, parameters: Value) -> Value {
    json!({"type": "function", "function": {"name": name, "parameters": parameters}})
}

fn call(id: &str, name: &str, arguments: &str) -> Value {
    json!({"role": "assistant", "content": null, "tool_calls": [{"id": id, "type": "function", "function": {"name": name, "arguments": arguments}}]})
}

fn result(id: &str, content: Value) -> Value {
    json!({"role": "tool", "tool_call_id": id, "content": content})
}

/// Every value that stands under a field of this name, wherever.
fn find<'v>(value: &'v Value, name: &str) -> Vec<&'v Value> {
    match value {
        Value::Array(items) => items.iter().flat_map(|item| find(item, name)).collect(),
        Value::Object(fields) => fields
            .iter()
            .flat_map(|(key, field)| {
                let own = (key == name).then_some(field);
                own.into_iter().chain(find(field, name)).collect::<Vec<_>>()
            })
            .collect(),
        _ => Vec::new(),
    }
}

/// Every string in it.
fn strings(value: &Value) -> Vec<String> {
    match value {
        Value::String(text) => vec![text.clone()],
        Value::Array(items) => items.iter().flat_map(strings).collect(),
        Value::Object(fields) => fields.values().flat_map(strings).collect(),
        _ => Vec::new(),
    }
}

/// The names of the tools that are declared.
fn names(body: &[u8]) -> Vec<String> {
    let body: Value = serde_json::from_slice(body).unwrap();
    find(&body["tools"], "name").iter().map(|name| name.as_str().unwrap().to_owned()).collect()
}

/// The arguments of every call, as text.
fn arguments(body: &[u8]) -> Vec<String> {
    let body: Value = serde_json::from_slice(body).unwrap();
    let turns = ["messages", "input", "contents"].map(|name| body.get(name).cloned().unwrap_or_default());
    let fields = turns.iter().flat_map(|turns| {
        ["arguments", "args"].iter().flat_map(|name| find(turns, name)).chain(find(turns, "input"))
    });
    fields
        .map(|arguments| match arguments {
            Value::String(text) => text.clone(),
            other => other.to_string(),
        })
        .collect()
}
