//! One question in every API a caller may speak, and to members of every dialect.

use bench_tests::{
    Scenario, Upstream, panel_of,
    scenario::KEY,
    upstream::{Api as MemberApi, TOKENS_IN, answers, fails},
};
use http::Method;
use serde_json::{Value, json};

use crate::checks::is_panel_id;

/// An API: where it is asked, how, and where its reply has what.
pub struct Api {
    pub name: &'static str,
    pub path: &'static str,
    pub body: Value,
    /// The answer's text in a whole reply.
    pub text: &'static str,
    /// The panel's id in a whole reply; empty where the reply has no room.
    panel: &'static str,
    /// How a stream is asked for: a path, or a field of the body.
    stream: Stream,
    /// What the last piece of a stream holds.
    last: &'static str,
    /// Where an error's words are.
    pub error: &'static str,
}

enum Stream {
    Path(&'static str),
    Field,
}

impl Api {
    /// The same question, streamed: its path and its body.
    pub fn streamed(&self) -> (&'static str, Value) {
        let mut body = self.body.clone();
        match self.stream {
            Stream::Path(path) => (path, body),
            Stream::Field => {
                body["stream"] = json!(true);
                (self.path, body)
            }
        }
    }

    /// The pieces of text in a stream's bytes, as far as they are whole.
    pub fn pieces(&self, streamed: &str) -> Vec<String> {
        let text = match self.name {
            "chat" => "/choices/0/delta/content",
            "completions" => "/choices/0/text",
            "responses" => "/delta",
            "anthropic" => "/delta/text",
            _ => self.text,
        };
        streamed
            .lines()
            .map(|line| line.trim_start_matches("data: ").trim_matches(['[', ',', ']']))
            .filter_map(|line| serde_json::from_str::<Value>(line).ok())
            .filter_map(|event| Some(event.pointer(text)?.as_str()?.to_owned()))
            .filter(|piece| !piece.is_empty())
            .collect()
    }
}

pub fn apis() -> Vec<Api> {
    let messages = json!([{"role": "user", "content": "whom?"}]);
    vec![
        Api {
            name: "chat",
            path: "/v1/chat/completions",
            body: json!({"model": "bench/core", "messages": messages}),
            text: "/choices/0/message/content",
            panel: "/bench/panel",
            stream: Stream::Field,
            last: "[DONE]",
            error: "/error/message",
        },
        Api {
            name: "completions",
            path: "/v1/completions",
            body: json!({"model": "bench/core", "prompt": "whom?"}),
            text: "/choices/0/text",
            panel: "/bench/panel",
            stream: Stream::Field,
            last: "[DONE]",
            error: "/error/message",
        },
        Api {
            name: "responses",
            path: "/v1/responses",
            body: json!({"model": "bench/core", "input": "whom?"}),
            text: "/output/0/content/0/text",
            panel: "/bench/panel",
            stream: Stream::Field,
            last: "response.completed",
            error: "/error/message",
        },
        Api {
            name: "anthropic",
            path: "/v1/messages",
            body: json!({"model": "bench/core", "max_tokens": 500, "messages": messages}),
            text: "/content/0/text",
            panel: "/bench/panel",
            stream: Stream::Field,
            last: "message_stop",
            error: "/error/message",
        },
        Api {
            name: "ollama chat",
            path: "/api/chat",
            body: json!({"model": "bench/core:latest", "messages": messages, "stream": false}),
            text: "/message/content",
            panel: "/bench/panel",
            stream: Stream::Field,
            last: "\"done\":true",
            error: "/error",
        },
        Api {
            name: "ollama generate",
            path: "/api/generate",
            body: json!({"model": "core", "prompt": "whom?", "stream": false}),
            text: "/response",
            panel: "/bench/panel",
            stream: Stream::Field,
            last: "\"done\":true",
            error: "/error",
        },
        Api {
            name: "gemini",
            path: "/v1beta/models/bench/core:generateContent",
            body: json!({"contents": [{"role": "user", "parts": [{"text": "whom?"}]}]}),
            text: "/candidates/0/content/parts/0/text",
            panel: "",
            stream: Stream::Path("/v1beta/models/bench/core:streamGenerateContent?alt=sse"),
            last: "\"bench\"",
            error: "/error/message",
        },
        Api {
            name: "gemini array",
            path: "/v1beta/bench/core:generateContent",
            body: json!({"contents": [{"parts": [{"text": "whom?"}]}]}),
            text: "/candidates/0/content/parts/0/text",
            panel: "",
            stream: Stream::Path("/v1beta/models/bench/core:streamGenerateContent"),
            last: "\"bench\"",
            error: "/error/message",
        },
    ]
}

#[tokio::test]
async fn every_api_gets_every_members_answer() {
    let lab = panel_of([
        ("alpha", answers("Ask the lake.").into()),
        ("beta", answers("Ask the sea.").into()),
        ("gamma", fails(500, "boom", "under water").into()),
    ])
    .await;
    for api in apis() {
        let name = api.name;
        let answer = lab.http().post(api.path, &api.body).await;
        assert_eq!(answer.status, 200, "{name}: {}", answer.text());
        let reply = answer.json();
        let text =
            reply.pointer(api.text).and_then(Value::as_str).unwrap_or_else(|| panic!("{name}: {reply}"));
        for part in ["Ask the lake.", "Ask the sea.", "under water", "## member — alpha"] {
            assert!(text.contains(part), "{name}: no {part:?} in {text}");
        }
        let id = answer.header("x-bench-panel").to_owned();
        assert!(is_panel_id(&id), "{name}: {id}");
        match api.panel {
            "" => {
                let seats: Value = serde_json::from_str(answer.header("x-bench-seats")).expect("seats");
                assert_eq!(
                    seats[0],
                    json!({"call": format!("{id}.member1"), "seat": "member", "alias": "alpha", "status": "ok"})
                );
                assert_eq!(seats[2]["status"], "error");
            }
            panel => assert_eq!(reply.pointer(panel), Some(&json!(id)), "{name}: {reply}"),
        }

        let (path, body) = api.streamed();
        let streamed = lab.http().post(path, &body).await;
        assert_eq!(streamed.status, 200, "{name}: {}", streamed.text());
        let text = streamed.text();
        for part in ["Ask the lake.", "Ask the sea.", "under water"] {
            assert!(text.contains(part), "{name}: no {part:?} in {text}");
        }
        let last = text.trim_end().rsplit_once(if name == "gemini array" { "\n," } else { "\n" });
        let last = last.map_or(text.as_str(), |(_, last)| last);
        assert!(last.contains(api.last), "{name}: the last piece is {last}");
    }
}

#[tokio::test]
async fn every_api_is_refused_in_its_own_shape() {
    let lab = panel_of([("alpha", fails(429, "rate_limited", "slow down").into())]).await;
    for api in apis() {
        let name = api.name;
        // Nobody answers.
        let answer = lab.http().post(api.path, &api.body).await;
        assert_eq!(answer.status, 429, "{name}: {}", answer.text());
        let said = answer.json().pointer(api.error).and_then(Value::as_str).unwrap_or_default().to_owned();
        assert!(said.contains("slow down"), "{name}: {}", answer.text());
        // No such collection.
        let mut body = api.body.clone();
        let path = if api.panel.is_empty() {
            api.path.replace("bench/core", "bench/nowhere")
        } else {
            body["model"] = json!("bench/nowhere");
            api.path.to_owned()
        };
        let answer = lab.http().post(&path, &body).await;
        assert_eq!(answer.status, 404, "{name}: {}", answer.text());
        let reply = answer.json();
        let said = reply.pointer(api.error).and_then(Value::as_str).unwrap_or_default();
        assert!(said.contains("bench/core"), "{name}: it lists what there is: {reply}");
        match name {
            "anthropic" => {
                assert_eq!(
                    (&reply["type"], &reply["error"]["type"]),
                    (&json!("error"), &json!("not_found_error"))
                );
            }
            "gemini" | "gemini array" => {
                assert_eq!(
                    (&reply["error"]["code"], &reply["error"]["status"]),
                    (&json!(404), &json!("NOT_FOUND"))
                );
            }
            _ => {}
        }
        // Not JSON.
        let request = lab.http().request(Method::POST, api.path).header("content-type", "application/json");
        let answer = lab.http().send(request, "{").await;
        assert_eq!(answer.status, 400, "{name}: {}", answer.text());
        assert!(answer.json().pointer(api.error).is_some(), "{name}: {}", answer.text());
        // The guard's words too.
        let request = lab.http().request(Method::POST, api.path).header("content-type", "text/plain");
        let answer = lab.http().send(request, api.body.to_string()).await;
        assert_eq!(answer.status, 415, "{name}: {}", answer.text());
        assert!(answer.json().pointer(api.error).is_some(), "{name}: {}", answer.text());
    }
}

#[tokio::test]
async fn lists_and_counts_in_every_shape() {
    let lab = panel_of([("alpha", answers("A").into())]).await;
    let get = async |path: &str, header: Option<(&str, &str)>| {
        let mut request = lab.http().request(Method::GET, path);
        if let Some((name, value)) = header {
            request = request.header(name, value);
        }
        let answer = lab.http().send(request, "").await;
        assert_eq!(answer.status, 200, "{path}: {}", answer.text());
        answer.json()
    };
    let anthropic = Some(("anthropic-version", "2023-06-01"));
    assert_eq!(get("/v1/models", anthropic).await["data"][0]["type"], "model");
    assert_eq!(get("/v1/models/bench/core", anthropic).await["id"], "bench/core");
    assert_eq!(get("/v1beta/models", None).await["models"][0]["name"], "models/bench/core");
    assert_eq!(
        get("/v1/models", Some(("x-goog-api-key", "k"))).await["models"][0]["name"],
        "models/bench/core"
    );
    assert_eq!(get("/v1beta/models/bench/core", None).await["name"], "models/bench/core");
    assert_eq!(get("/api/tags", None).await["models"][0]["name"], "bench/core");
    assert!(get("/api/version", None).await["version"].is_string());
    assert_eq!(get("/api/ps", None).await["models"], json!([]));
    let shown = lab.http().post("/api/show", &json!({"model": "bench/core:latest"})).await;
    assert_eq!(shown.json()["model_info"]["general.architecture"], "benchwarmers", "{}", shown.text());
    let loaded = lab.http().post("/api/generate", &json!({"model": "core"})).await;
    assert_eq!((loaded.status.as_u16(), &loaded.json()["done"]), (200, &json!(true)), "{}", loaded.text());

    let messages = json!([{"role": "user", "content": "four words and more"}]);
    let count = lab
        .http()
        .post(
            "/v1/messages/count_tokens?beta=true",
            &json!({"model": "core", "system": "s".repeat(400), "messages": messages}),
        )
        .await;
    assert_eq!((count.status.as_u16(), count.header("x-bench-count")), (200, "estimate"), "{}", count.text());
    assert!(
        count.json()["input_tokens"].as_u64().is_some_and(|tokens| (110..140).contains(&tokens)),
        "{}",
        count.text()
    );
    let parts = json!({"contents": [{"parts": [{"text": "w".repeat(400)}]}]});
    for body in [parts.clone(), json!({"generateContentRequest": parts})] {
        let count = lab.http().post("/v1beta/models/bench/core:countTokens", &body).await;
        assert_eq!(count.json()["totalTokens"], 110, "{}", count.text());
    }
    let goes_on = json!({"model": "core", "input": "hi", "previous_response_id": "resp_1"});
    let answer = lab.http().post("/v1/responses", &goes_on).await;
    assert_eq!(
        (answer.status.as_u16(), &answer.json()["error"]["code"]),
        (404, &json!("previous_response_not_found"))
    );
}

/// Members are asked in the dialect of their endpoint, with its own way to send the key.
#[tokio::test]
async fn members_of_every_dialect_answer() {
    let upstream = Upstream::start().await;
    let names = MemberApi::ALL.map(MemberApi::name);
    let mut scenario = Scenario::new();
    for api in MemberApi::ALL {
        let name = api.name();
        upstream.model(&format!("{name}-1"), api.says(&format!("Said in {name}.")));
        scenario = scenario.endpoint(name, &upstream.base_of(api)).api(name);
        if api != MemberApi::Ollama {
            scenario = scenario.key(&format!("{}_KEY", name.to_uppercase()), KEY);
        }
        scenario = scenario.model(name, name, &format!("{name}-1"));
    }
    let gateway = scenario.collection("core", &names).start().await;
    let answer = gateway.http.chat(&bench_tests::scenario::question("hi")).await;
    assert_eq!(answer.status, 200, "{}", answer.text());
    let reply = answer.json();
    for (at, name) in names.into_iter().enumerate() {
        let seat = &reply["bench"]["seats"][at];
        let text = format!("Said in {name}.");
        assert_eq!((&seat["status"], &seat["answer"]), (&json!("ok"), &json!(text)), "{reply}");
        assert_eq!((&seat["tokens_in"], &seat["tokens_out"]), (&json!(TOKENS_IN), &json!(3)), "{reply}");
    }
    let bearer = format!("Bearer {KEY}");
    for (name, path, header, key) in [
        ("chat", "/v1/chat/completions", "authorization", Some(&*bearer)),
        ("responses", "/v1/responses", "authorization", Some(&*bearer)),
        ("anthropic", "/v1/messages", "x-api-key", Some(KEY)),
        ("gemini", "/v1beta/models/gemini-1:streamGenerateContent?alt=sse", "x-goog-api-key", Some(KEY)),
        ("ollama", "/api/chat", "authorization", None),
    ] {
        let sent = upstream.asked(&format!("{name}-1")).into_iter().next().expect("asked");
        assert_eq!((sent.path.as_str(), sent.header(header)), (path, key), "{name}");
        assert_eq!(sent.header("anthropic-version").is_some(), name == "anthropic", "{name}");
        for other in ["authorization", "x-api-key", "x-goog-api-key"] {
            assert!(other == header || sent.header(other).is_none(), "{name}: {other}");
        }
    }
}
