//! Who may take a turn, and in which words the others may not: route.md §1.

use bench_tests::{Scenario, upstream::Api};
use serde_json::{Value, json};

use super::{
    caller::{Ask, Caller, Turn},
    heard::Heard,
    lab::{asked, named, routed_as, with_member},
};
use bench_tests::{Lab, Upstream};

/// The reason that is given for an alias, or empty.
fn skipped(bench: &Value, alias: &str) -> String {
    let list = bench["skipped"].as_array().into_iter().flatten();
    let of = list.clone().find(|it| it["alias"] == alias);
    let of = of.map(|it| {
        assert_eq!(it["seat"], "member", "{it}");
        it["why"].as_str().unwrap_or_default().to_owned()
    });
    of.unwrap_or_default()
}

/// Members of every kind, and one that takes everything. Nobody has a record: the order is this one.
async fn all_kinds() -> Lab {
    let upstream = Upstream::start().await;
    let base = upstream.base();
    let mut scenario = Scenario::new().setting("max_calls", 10);
    let everything = json!({"tools": true, "vision": true, "pdf": true, "audio": true});
    let names = ["gone", "costly", "eyes", "painter", "picker", "bare", "unsure", "blind", "tiny", "rest"];
    for alias in names {
        upstream.model(&super::lab::served(alias), named(alias));
        scenario = with_member(scenario, alias, &base, Api::Chat);
        scenario = match alias {
            "costly" => scenario.model_with("ad_hoc", true),
            "eyes" => scenario.facts(everything.clone()).model_with("role", "vision"),
            "painter" => scenario.model_with("role", "image"),
            "picker" => scenario.model_with("role", "decision"),
            "bare" => scenario.facts(json!({"tools": false, "vision": true, "pdf": true, "audio": true})),
            "unsure" => scenario.facts(json!({"vision": true, "pdf": true, "audio": true})),
            "blind" => scenario.facts(json!({"tools": true})),
            "tiny" => scenario.facts(
                json!({"tools": true, "vision": true, "pdf": true, "audio": true, "context_window": 600}),
            ),
            _ => scenario.facts(everything.clone()),
        };
    }
    let gateway = scenario.collection("core", &names).with("reply", "route").start().await;
    gateway.command("retire_model", &json!({"alias": "gone", "why": "it was renamed"})).await;
    Lab { upstream, gateway }
}

#[tokio::test]
async fn each_exclusion_has_its_words() {
    let lab = all_kinds().await;
    let pdf = json!({"type": "file", "file": {"filename": "a.pdf", "file_data": "data:application/pdf;base64,JVBERg=="}});
    let sound = json!({"type": "input_audio", "input_audio": {"data": "UklGRg==", "format": "wav"}});
    let part =
        |part: &Value| json!([{"role": "user", "content": [{"type": "text", "text": "what is it?"}, part]}]);
    let always = [
        ("gone", "it was renamed"),
        ("costly", "ad hoc, never chosen automatically; ask for bench/model/costly"),
        ("painter", "its role is image; such a model never sits"),
        ("picker", "its role is decision; such a model never sits"),
    ];
    let no_tools = [
        ("bare", "takes no tools; if it does, set the fact tools on the model"),
        ("unsure", "not known to take tools; if it does, set the fact tools on the model"),
    ];
    let eyes = ("eyes", "its role is vision and the request holds no image");
    let long = "w ".repeat(2_000);
    for (what, ask, by, because) in [
        ("text", Ask::of("plain text"), "bare", vec![eyes]),
        ("tools", Ask::of("with tools").tools(), "blind", [&[eyes][..], &no_tools[..]].concat()),
        ("length", Ask::of(&long).tools(), "blind", [&[eyes][..], &no_tools[..]].concat()),
        (
            "image",
            Ask::of("x").turn(Turn::Picture("see".into())).with("tools", tool()),
            "eyes",
            no_tools.to_vec(),
        ),
        ("document", Ask::of("").with("messages", part(&pdf)).with("tools", tool()), "rest", {
            let blind = ("blind", "not known to read documents; if it does, set the fact pdf on the model");
            [&[eyes, blind][..], &no_tools[..]].concat()
        }),
        ("audio", Ask::of("").with("messages", part(&sound)).with("tools", tool()), "rest", {
            let blind = ("blind", "not known to hear audio; if it does, set the fact audio on the model");
            [&[eyes, blind][..], &no_tools[..]].concat()
        }),
    ] {
        let ask = if matches!(what, "document" | "audio") {
            // Tiny would take it.
            let padding = json!({"role": "user", "content": "w".repeat(4_000)});
            let mut ask = ask;
            ask.more["messages"].as_array_mut().expect("messages").push(padding);
            ask
        } else {
            ask
        };
        let heard = Caller::Chat.ask(lab.http(), &ask).await;
        assert_eq!((heard.status, heard.by()), (200, by), "{what}: {}", heard.raw);
        let bench = heard.bench.clone().expect("bench");
        for (alias, why) in always {
            assert!(skipped(&bench, alias).contains(why), "{what}: {alias}: {bench}");
        }
        for (alias, why) in because {
            assert_eq!(skipped(&bench, alias), why, "{what}: {bench}");
        }
        if matches!(what, "length" | "document" | "audio") {
            let tiny = skipped(&bench, "tiny");
            assert!(
                tiny.starts_with("the prompt is about ") && tiny.ends_with("its window is 600"),
                "{what}: {tiny}"
            );
        }
        if what == "image" {
            assert_eq!(
                skipped(&bench, "blind"),
                "not known to see images; if it does, set the fact vision on the model"
            );
        }
    }
    for alias in ["gone", "costly", "painter", "picker", "tiny"] {
        assert_eq!(asked(&lab, alias).len(), 0, "{alias}");
    }
}

/// One function, in chat's words.
fn tool() -> Value {
    json!([{"type": "function", "function": {"name": "look", "parameters": {"type": "object", "properties": {}}}}])
}

#[tokio::test]
async fn a_tool_result_alone_wants_a_member_that_takes_tools() {
    let bare = |scenario: Scenario| scenario.facts(json!({"tools": false}));
    let lab =
        routed_as([("beta", Api::Chat, named("beta")), ("alpha", Api::Chat, named("alpha"))], bare).await;
    let ask = Ask::of("look")
        .turn(Turn::Assistant(vec![super::heard::Part::Call(super::heard::Called {
            id: "call_1".into(),
            name: "look".into(),
            arguments: "{}".into(),
            ..super::heard::Called::default()
        })]))
        .turn(Turn::Result { id: "call_1".into(), name: "look".into(), text: "dark".into(), picture: false });
    for caller in Caller::AGENTS {
        let heard = caller.ask(lab.http(), &ask).await;
        assert_eq!((heard.status, heard.by()), (200, "beta"), "{caller:?}: {}", heard.raw);
    }
}

/// None left: each API's own error, with every reason.
#[tokio::test]
async fn nobody_left_is_told_with_every_reason() {
    let lab =
        routed_as([("alpha", Api::Chat, named("alpha")), ("beta", Api::Chat, named("beta"))], |scenario| {
            let facts = json!({"tools": false, "context_window": 600});
            // Both.
            scenario.every_model("facts", &facts)
        })
        .await;
    for caller in Caller::ALL {
        for stream in [false, true] {
            let what = format!("{caller:?}, streamed: {stream}");
            let heard = caller.either(lab.http(), &Ask::of(&"w ".repeat(3_000)), stream).await;
            assert_eq!(heard.status, 413, "{what}: {}", heard.raw);
            names_both(&heard, "its window is 600", &what);
            if Caller::AGENTS.contains(&caller) {
                let heard = caller.either(lab.http(), &Ask::of("hi").tools(), stream).await;
                assert_eq!(heard.status, 400, "{what}: {}", heard.raw);
                names_both(&heard, "takes no tools", &what);
                let seen = Ask::of("hi").turn(Turn::Picture("see".into()));
                let heard = caller.either(lab.http(), &seen, stream).await;
                // A picture alone is counted as more than the window holds.
                assert!(matches!(heard.status, 400 | 413), "{what}: {}", heard.raw);
            }
        }
    }
    assert_eq!(lab.upstream.received().len(), 0, "nobody was asked");
}

fn names_both(heard: &Heard, why: &str, what: &str) {
    let said = heard.said_error();
    assert_eq!(said.matches(why).count(), 2, "{what}: {said}");
    assert!(said.contains("alpha: ") && said.contains("beta: "), "{what}: {said}");
}

#[tokio::test]
async fn without_a_key_nobody_can_be_asked() {
    let lab = routed_as([("alpha", Api::Anthropic, named("alpha"))], |scenario| {
        scenario.endpoint_with("key_env", "NOT_SET").endpoint_with("kind", "provider")
    })
    .await;
    for caller in Caller::ALL {
        let heard = caller.ask(lab.http(), &Ask::of("hi")).await;
        assert_eq!(heard.status, 400, "{caller:?}: {}", heard.raw);
        assert!(heard.said_error().contains("has no key"), "{caller:?}: {}", heard.raw);
    }
    assert_eq!(asked(&lab, "alpha").len(), 0);
}

/// A tool that only its vendor runs: a member of that API is the only one that may take it where it is needed, else it
/// is left out and listed.
#[tokio::test]
async fn a_vendors_own_tool_goes_to_its_vendor_or_is_left_out() {
    let search = [
        (Caller::Anthropic, json!({"type": "web_search_20250305", "name": "web_search"})),
        (Caller::Responses, json!({"type": "web_search"})),
        (Caller::Gemini, json!({"googleSearch": {}})),
    ];
    for (caller, tool) in search {
        let own = caller.own().expect("an agent");
        let lab =
            routed_as([("other", Api::Chat, named("other")), ("native", own, named("native"))], |it| it)
                .await;
        // Alone it is needed.
        let alone = Ask::of("find it").with("tools", json!([tool]));
        let heard = caller.ask(lab.http(), &alone).await;
        assert_eq!((heard.status, heard.by()), (200, "native"), "{caller:?}: {}", heard.raw);
        if !caller.is_gemini() {
            let why = skipped(heard.bench.as_ref().expect("bench"), "other");
            assert!(why.contains("is run by its vendor only"), "{caller:?}: {why}");
        }
        // Beside others it is not.
        let mut beside = Ask::of("find it otherwise").tools();
        let mut tools = caller.body(&beside, false)["tools"].clone();
        tools.as_array_mut().expect("tools").push(tool.clone());
        beside = beside.with("tools", tools);
        let heard = caller.ask(lab.http(), &beside).await;
        assert_eq!((heard.status, heard.by()), (200, "other"), "{caller:?}: {}", heard.raw);
        assert!(heard.header("x-bench-lossy").contains("tools"), "{caller:?}: {:?}", heard.headers);
        let sent = asked(&lab, "other").pop().expect("asked").json();
        assert_eq!(sent["tools"].as_array().map(Vec::len), Some(2), "{caller:?}: {sent}");
        assert!(!sent["tools"].to_string().contains("earch"), "{caller:?}: {sent}");

        // Nobody of that API: refused, and told why.
        let lab = routed_as([("other", Api::Chat, named("other"))], |it| it).await;
        let heard = caller.ask(lab.http(), &alone).await;
        assert_eq!(heard.status, 400, "{caller:?}: {}", heard.raw);
        assert!(heard.said_error().contains("is run by its vendor only"), "{caller:?}: {}", heard.raw);
    }
}
