//! What a member refuses by name is left out from then on, whoever asks, and kept; an answer that had no room for a word
//! gets more: providers.md §2. Turns of their own are in `route/learned.rs`.

use bench_tests::{
    Gateway, Lab, Scenario, Upstream, eventually,
    scenario::{KEY, question, served},
    upstream::{Api, Listing, Received, Reply, Script, answers, chunk, fails, finish, stream},
};
use serde_json::{Value, json};

use crate::{
    checks::{panel_id, recorded, seat},
    staffed::staffed,
};

/// Refuses a request whose body holds the field.
fn refuses(field: &'static str, words: &'static str, else_says: &'static str) -> Script {
    Script::by(move |request: &Received| match request.json().get(field) {
        Some(_) => fails(400, "invalid_request_error", words),
        None => answers(else_says),
    })
}

const USAGE: &str = "Unrecognized request argument supplied: stream_options";
const OPTION: &str = "Unknown parameter: 'frobnicate'.";

/// Whether each request for a model held the field.
fn held(lab: &Lab, alias: &str, field: &str) -> Vec<bool> {
    lab.upstream.asked(&served(alias)).iter().map(|asked| asked.json().get(field).is_some()).collect()
}

async fn restarted(lab: Lab) -> Lab {
    let (home, _) = lab.gateway.stop().await;
    Lab { upstream: lab.upstream, gateway: home.serve().await }
}

#[tokio::test]
async fn a_member_and_a_merger_are_asked_once_more_without_what_they_refuse_and_it_is_kept() {
    for (field, words) in [("stream_options", USAGE), ("frobnicate", OPTION)] {
        let refusing = |text| refuses(field, words, text);
        let models = [
            ("alpha", refusing("Answer of alpha.")),
            ("beta", answers("Answer of beta.").into()),
            ("editor", refusing("Merged.")),
        ];
        let lab = staffed(models, &["alpha", "beta"], |scenario| {
            let merged = scenario.with("reply", "merged").with("merger", "editor");
            merged.every_model("options", &json!({"frobnicate": 1, "temperature": 0.5}))
        })
        .await;
        let reply = lab.http().chat(&question("one")).await.json();
        assert_eq!(seat(&reply, "alpha")["status"], "ok", "{field}: {reply}");
        assert_eq!(reply["bench"]["merger"]["alias"], "editor", "{field}: {reply}");
        for alias in ["alpha", "editor"] {
            assert_eq!(held(&lab, alias, field), [true, false], "{field} {alias}");
            assert_eq!(held(&lab, alias, "temperature"), [true, true], "{field} {alias}: only that");
        }
        // Each is a call, and stands in the ledger.
        eventually("both calls of alpha", || async {
            let spend = lab.gateway.command("spend", &json!({"by": "model", "since": null})).await;
            let rows = spend["rows"].as_array().expect("rows").clone();
            rows.iter().any(|row| row["key"] == "alpha" && row["calls"] == 2).then_some(())
        })
        .await;

        let lab = restarted(lab).await;
        assert_eq!(lab.http().chat(&question("two")).await.status, 200);
        assert_eq!(held(&lab, "alpha", field), [true, false, false], "{field}");

        // At another address it may be another server.
        let moved = json!({"name": "fake", "base": lab.upstream.base().replace("127.0.0.1", "localhost"), "key_env": "FAKE_KEY",
                           "new": false, "allow_plain_http": false});
        lab.gateway.command("save_endpoint", &moved).await;
        let lab = restarted(lab).await;
        assert_eq!(lab.http().chat(&question("three")).await.status, 200);
        assert_eq!(held(&lab, "alpha", field), [true, false, false, true, false], "{field}");
    }
}

/// A parameter that its owner set is refused once, whoever asks first: a panel, a turn that is relayed or translated, a
/// probe.
#[tokio::test]
async fn an_owners_option_that_is_refused_does_not_go_out_again() {
    const HEAT: &str = "Unsupported parameter: 'temperature' is not supported with this model.";
    for asker in ["panel", "relayed", "translated", "probe"] {
        let lab = staffed([("alpha", refuses("temperature", HEAT, "Answer."))], &["alpha"], |scenario| {
            scenario.every_model("options", &json!({"temperature": 0.5, "top_p": 0.9}))
        })
        .await;
        let turn = json!({"model": "bench/core:route", "max_tokens": 64, "temperature": 0.7,
                          "messages": [{"role": "user", "content": "A turn."}]});
        match asker {
            "panel" => assert_eq!(lab.http().chat(&question("one")).await.status, 200),
            "relayed" => assert_eq!(lab.http().chat(&turn).await.status, 200),
            "translated" => assert_eq!(lab.http().post("/v1/messages", &turn).await.status, 200),
            _ => {
                lab.gateway.command("probe_model", &json!({"name": "alpha"})).await;
                eventually("it is probed", || async {
                    let queue = lab.gateway.command("onboarding", &json!({})).await;
                    (queue["items"][0]["state"] == "done").then_some(())
                })
                .await;
            }
        }
        let heated = held(&lab, "alpha", "temperature");
        assert!(heated.len() >= 2, "{asker}: {heated:?}");
        let with: Vec<usize> = (0..heated.len()).filter(|at| heated[*at]).collect();
        assert_eq!(with, [0], "{asker}: {heated:?}");
        assert!(asker == "probe" || heated.len() == 2, "{asker}: {heated:?}");
        assert!(held(&lab, "alpha", "top_p").iter().all(|held| *held), "{asker}: only that");
    }
}

#[tokio::test]
async fn a_picker_and_a_shadow_learn_too() {
    let upstream = Upstream::start().await;
    let choice = r#"{"choice": "code", "confidence": 0.91}"#;
    for (alias, script) in [
        ("alpha", answers("Answer of alpha.").into()),
        ("beta", refuses("temperature", "Unsupported value: 'temperature' does not support 0.5", "Of beta.")),
        ("judge", refuses("stream_options", USAGE, choice)),
    ] {
        let script: Script = script;
        upstream.model(&served(alias), script);
    }
    let mut scenario =
        Scenario::new().setting("max_explorers", 2).endpoint("fake", &upstream.base()).key("FAKE_KEY", KEY);
    for alias in ["alpha", "beta"] {
        scenario = scenario.model(alias, "fake", &served(alias));
    }
    let gateway = scenario
        .model("judge", "fake", &served("judge"))
        .model_with("role", "decision")
        .collection("core", &["alpha", "beta"])
        .with("shadow", 1)
        .start()
        .await;
    let lab = Lab { upstream, gateway };
    let reply = lab.http().chat(&question("Review this code.")).await.json();
    assert_eq!(reply["bench"]["shape_by"], "chosen by judge (0.91)", "{reply}");
    assert_eq!(held(&lab, "judge", "stream_options"), [true, false]);

    let turn = json!({"model": "bench/core:route", "temperature": 0.5,
                      "messages": [{"role": "user", "content": "A turn with a shadow."}]});
    let before = lab.upstream.asked(&served("beta")).len();
    let routed = lab.http().chat(&turn).await.json();
    assert_eq!(routed["bench"]["alias"], "alpha", "{routed}");
    eventually("the shadow's second call", || async {
        (lab.upstream.asked(&served("beta")).len() == before + 2).then_some(())
    })
    .await;
    assert_eq!(held(&lab, "beta", "temperature")[before..], [true, false]);
}

/// Over at its budget before the first word, in the bytes of its API; whole where that is asked.
fn out_of_room(api: Api, request: &Received) -> Reply {
    let lines = |lines: &[Value]| {
        lines.iter().fold(stream(), |reply, line| {
            let event = line["type"].as_str().map(|name| format!("event: {name}\n")).unwrap_or_default();
            reply.send(format!("{event}data: {line}\n\n"))
        })
    };
    match api {
        Api::Chat if request.json()["stream"] != true => Reply::whole(
            200,
            "application/json",
            json!({"id": "c", "object": "chat.completion", "created": 1, "model": "m",
                   "choices": [{"index": 0, "finish_reason": "length",
                                "message": {"role": "assistant", "content": ""}}],
                   "usage": {"prompt_tokens": 11, "completion_tokens": 16, "total_tokens": 27}})
            .to_string(),
        ),
        Api::Chat => stream()
            .send(chunk(json!({"reasoning_content": "Hm."}), None))
            .send(finish("length"))
            .send("data: [DONE]\n\n"),
        Api::Responses => lines(&[
            json!({"type": "response.created", "response": {"id": "r", "status": "in_progress"}}),
            json!({"type": "response.incomplete", "response": {"id": "r", "status": "incomplete", "output": [],
                   "incomplete_details": {"reason": "max_output_tokens"},
                   "usage": {"input_tokens": 11, "output_tokens": 16, "total_tokens": 27}}}),
        ]),
        Api::Anthropic => lines(&[
            json!({"type": "message_start", "message": {"id": "m", "type": "message", "role": "assistant",
                   "model": "m", "content": [], "usage": {"input_tokens": 11, "output_tokens": 1}}}),
            json!({"type": "message_delta", "delta": {"stop_reason": "max_tokens"},
                   "usage": {"output_tokens": 16}}),
            json!({"type": "message_stop"}),
        ]),
        Api::Gemini => lines(&[json!({
            "candidates": [{"content": {"role": "model", "parts": []}, "finishReason": "MAX_TOKENS", "index": 0}],
            "usageMetadata": {"promptTokenCount": 11, "thoughtsTokenCount": 16, "totalTokenCount": 27}})]),
        Api::Ollama => {
            let done = json!({"model": "m", "message": {"role": "assistant", "content": ""}, "done": true,
                              "done_reason": "length", "prompt_eval_count": 11, "eval_count": 16});
            Reply::new("application/x-ndjson").send(format!("{done}\n"))
        }
    }
}

/// The owner's budget of 16 tokens in an API's words, and where it stands in a body.
fn budget(api: Api) -> (Value, &'static str) {
    match api {
        Api::Chat => (json!({"max_tokens": 16}), "/max_tokens"),
        Api::Responses => (json!({"max_output_tokens": 16}), "/max_output_tokens"),
        Api::Anthropic => (json!({"max_tokens": 16}), "/max_tokens"),
        Api::Gemini => {
            (json!({"generationConfig": {"maxOutputTokens": 16}}), "/generationConfig/maxOutputTokens")
        }
        Api::Ollama => (json!({"options": {"num_predict": 16}}), "/options/num_predict"),
    }
}

/// No room for a word in 16 tokens, in the API it is asked in.
fn thinks_long() -> Script {
    Script::in_any(|api, request| match request.json().pointer(budget(api).1) {
        Some(room) if *room == 16 => out_of_room(api, request),
        _ => crate::route::says(api, request, "At last."),
    })
}

/// The budgets that a model was asked with.
fn budgets(lab: &Lab, api: Api) -> Vec<Value> {
    let asked = lab.upstream.asked(&served("alpha"));
    asked.iter().map(|asked| asked.json().pointer(budget(api).1).cloned().unwrap_or_default()).collect()
}

async fn thinker(api: Api, facts: Value) -> Lab {
    let upstream = Upstream::start().await;
    upstream.listing(Listing::OpenAi);
    upstream.model(&served("alpha"), thinks_long());
    let gateway = Scenario::new()
        .endpoint("fake", &upstream.base_of(api))
        .api(api.name())
        .key("FAKE_KEY", KEY)
        .model("alpha", "fake", &served("alpha"))
        .model_with("options", budget(api).0)
        .facts(facts)
        .collection("core", &["alpha"])
        .start()
        .await;
    Lab { upstream, gateway }
}

async fn failed(gateway: &Gateway, body: &Value) -> String {
    let answer = gateway.http.chat(body).await;
    assert_eq!(answer.status, 502, "{}", answer.text());
    answer.text()
}

#[tokio::test]
async fn an_answer_that_had_no_room_for_a_word_gets_twice_the_room_once() {
    for api in Api::ALL {
        let lab = thinker(api, json!({})).await;
        let reply = lab.http().chat(&question("one")).await.json();
        assert_eq!(seat(&reply, "alpha")["status"], "ok", "{api:?}: {reply}");
        let call = recorded(&lab.gateway, &format!("{}.member1", panel_id(&reply))).await;
        assert_eq!(call["answer"], "At last.", "{api:?}: {call}");
        assert_eq!(budgets(&lab, api), [16, 32], "{api:?}");
        // A turn, relayed and translated, streamed and whole.
        for stream in [false, true] {
            let before = budgets(&lab, api).len();
            let text = format!("A turn, streamed: {stream}");
            let turn = json!({"model": "bench/core:route", "stream": stream, "max_tokens": 16,
                              "messages": [{"role": "user", "content": text}]});
            let answer = lab.http().chat(&turn).await;
            assert!(answer.text().contains("last."), "{api:?}: {}", answer.text());
            assert_eq!(budgets(&lab, api)[before..], [16, 32], "{api:?}, streamed: {stream}");
        }
    }
}

#[tokio::test]
async fn where_there_is_no_more_room_it_is_asked_once() {
    let lab = thinker(Api::Chat, json!({"max_output": 16})).await;
    let said = failed(&lab.gateway, &question("one")).await;
    assert!(said.contains("an empty answer"), "{said}");
    assert_eq!(budgets(&lab, Api::Chat), [16]);
    let turn = json!({"model": "bench/core:route", "max_tokens": 16,
                      "messages": [{"role": "user", "content": "A turn."}]});
    failed(&lab.gateway, &turn).await;
    assert_eq!(budgets(&lab, Api::Chat), [16, 16]);
    // Twice is once: still empty, it stays so.
    lab.upstream.model(&served("alpha"), Script::in_any(out_of_room));
    lab.gateway.bench(&["model", "set", "alpha", "--fact", "max_output="]).await.exits(0);
    failed(&lab.gateway, &question("two")).await;
    assert_eq!(budgets(&lab, Api::Chat)[2..], [16, 32]);
}

/// Whose word a fact is, and what it says.
async fn fact(lab: &Lab, alias: &str, name: &str) -> Value {
    let sheet = lab.gateway.command("model", &json!({"name": alias})).await;
    let facts = sheet["facts"].as_array().expect("facts");
    let fact = facts.iter().find(|fact| fact["name"] == name).expect("every fact is there");
    json!([fact["value"], fact["source"]])
}

#[tokio::test]
async fn tools_and_images_that_are_refused_plainly_are_asked_of_others_until_it_is_probed() {
    let tools = json!([{"type": "function", "function": {"name": "look", "parameters": {"type": "object"}}}]);
    let picture = json!([{"type": "text", "text": "See?"},
        {"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBORw0KGgo="}}]);
    let turn = |name: &str, text: &str| match name {
        "tools" => json!({"model": "bench/core:route", "tools": tools,
                          "messages": [{"role": "user", "content": text}]}),
        _ => json!({"model": "bench/core:route", "messages": [{"role": "system", "content": text},
                                                            {"role": "user", "content": picture}]}),
    };
    let refusing = |words: &'static str| {
        Script::by(move |request: &Received| {
            let body = request.json();
            match body["tools"].is_array() || body.to_string().contains("image_url") {
                true => fails(400, "invalid_request_error", words),
                false => answers("Said by alpha."),
            }
        })
    };
    for (name, unclear, of_another, plain) in [
        (
            "tools",
            "This model doesn't support tool use in streaming mode",
            "llama3:8b does not support tools",
            "alpha-1 does not support tools",
        ),
        (
            "vision",
            "Unsupported image format: image/png",
            "llama3:8b does not support image input",
            "This model does not support image input",
        ),
    ] {
        let upstream = Upstream::start().await;
        upstream.model(&served("alpha"), refusing(unclear));
        upstream.model(&served("beta"), answers("Said by beta."));
        let able = |id: String| {
            json!({"id": id, "supported_parameters": ["tools"],
                                       "architecture": {"input_modalities": ["text", "image"]}})
        };
        let listed: Vec<Value> = ["alpha", "beta"].map(|alias| able(served(alias))).into();
        upstream.listing(Listing::Told(json!({"data": listed})));
        let scenario = Scenario::new().endpoint("fake", &upstream.base()).key("FAKE_KEY", KEY);
        let scenario =
            scenario.model("alpha", "fake", &served("alpha")).model("beta", "fake", &served("beta"));
        let gateway = scenario.collection("core", &["alpha", "beta"]).start().await;
        let lab = Lab { upstream, gateway };
        lab.gateway.command("test_endpoint", &json!({"name": "fake"})).await;
        assert_eq!(fact(&lab, "alpha", name).await, json!([true, "listing"]), "{name}");
        let asked = |lab: &Lab| lab.upstream.asked(&served("alpha")).len();

        for (text, before, words) in [("one", 0, unclear), ("two", 1, of_another)] {
            lab.upstream.model(&served("alpha"), refusing(words));
            assert_eq!(asked(&lab), before, "{name}: what is not plain teaches nothing");
            let reply = lab.http().chat(&turn(name, text)).await.json();
            assert_eq!(reply["bench"]["alias"], "beta", "{name}: {reply}");
        }
        lab.upstream.model(&served("alpha"), refusing(plain));
        let reply = lab.http().chat(&turn(name, "three")).await.json();
        assert_eq!(reply["bench"]["alias"], "beta", "{name}: {reply}");
        assert_eq!(asked(&lab), 3, "{name}");
        eventually("it is learned", || async {
            (fact(&lab, "alpha", name).await == json!([false, "learned"])).then_some(())
        })
        .await;
        let reply = lab.http().chat(&turn(name, "four")).await.json();
        assert_eq!(reply["bench"]["skipped"][0]["alias"], "alpha", "{name}: {reply}");
        let lab = restarted(lab).await;
        let reply = lab.http().chat(&turn(name, "five")).await.json();
        assert_eq!((&reply["bench"]["alias"], asked(&lab)), (&json!("beta"), 3), "{name}: kept");

        // It can now, and its owner has it tried afresh.
        lab.upstream.model(&served("alpha"), answers("Said by alpha."));
        lab.gateway.command("probe_model", &json!({"name": "alpha"})).await;
        eventually("it is probed", || async {
            let queue = lab.gateway.command("onboarding", &json!({})).await;
            (queue["items"][0]["state"] == "done").then_some(())
        })
        .await;
        assert_eq!(fact(&lab, "alpha", name).await, json!([true, "listing"]), "{name}");
        let reply = lab.http().chat(&turn(name, "six")).await.json();
        assert_eq!(reply["bench"]["alias"], "alpha", "{name}: {reply}");
    }
}
