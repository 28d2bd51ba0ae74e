//! One answer written out of the seats': panel.md §7.

use bench_tests::{
    Gate, Lab, Scenario,
    scenario::{question, served},
    sse::Ended,
    upstream::{
        Api as MemberApi, End, Script, Step, TOKENS_IN, answers, chunk, cut_after, fails, rate_limited,
        stream,
    },
};
use serde_json::{Value, json};

use crate::{
    apis::apis,
    checks::{content, panel_id, recorded, seat, seats},
    frames::Frames,
    staffed::{judge, panel_when, staffed},
};

/// Two members that answer, and `editor`, who merges.
async fn merged_by(editor: impl Into<Script>) -> Lab {
    let models = [
        ("alpha", answers("Answer of alpha.").into()),
        ("beta", answers("Answer of beta.").into()),
        ("editor", editor.into()),
    ];
    staffed(models, &["alpha", "beta"], |it| it.with("reply", "merged").with("merger", "editor")).await
}

async fn asked(lab: &Lab) -> Value {
    let answer = lab.http().chat(&question("whom?")).await;
    assert_eq!(answer.status, 200, "{}", answer.text());
    answer.json()
}

#[tokio::test]
async fn the_merger_writes_the_answer_and_is_a_call_of_its_own() {
    let lab = merged_by(answers("Both say: ask. ")).await;
    let mut body = question("whom?");
    body["messages"] = json!([
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "Who?"},
        {"role": "assistant", "content": "Nobody."},
        {"role": "user", "content": "And whom?"},
    ]);
    let reply = lab.http().chat(&body).await.json();
    let panel = panel_id(&reply);
    let bench = &reply["bench"];
    assert_eq!((&bench["reply"], &bench["note"]), (&json!("merged"), &Value::Null));
    let merger = &bench["merger"];
    let call = format!("{panel}.merger");
    assert_eq!(
        [&merger["call"], &merger["seat"], &merger["alias"], &merger["status"]],
        [&json!(call), &json!("merger"), &json!("editor"), &json!("ok")]
    );
    assert_eq!(seats(&reply).len(), 2, "the merger has no seat: {bench}");
    let text = content(&reply);
    let (merge, line) = text.split_once("\n\n---\n\n").expect("a rule");
    assert_eq!(merge, "Both say: ask.");
    assert!(
        line.starts_with(&format!("Merged by editor (`{call}`) from alpha (`{panel}.member1`) ok, ")),
        "{line}"
    );
    assert!(line.contains(&format!("; beta (`{panel}.member2`) ok, ")), "{line}");

    // What it was told: the turns as text, and each answer under its label.
    let sent = lab.upstream.arrived(&served("editor"), 1).await.json();
    let told = sent["messages"][1]["content"].as_str().unwrap_or_default();
    for part in [
        "Be brief.",
        "[user]\n```\nWho?\n```\n",
        "[assistant]\n```\nNobody.",
        "And whom?",
        "## alpha\n\n```\nAnswer of alpha.\n```\n",
        "## beta",
    ] {
        assert!(told.contains(part), "no {part:?} in {told}");
    }
    let rules = sent["messages"][0]["content"].as_str().unwrap_or_default();
    assert!(rules.contains("dissent") && rules.contains("disagreed") && rules.contains("settled"), "{rules}");

    // Usage has it in, it is on record, and can be judged; nobody owes it a verdict.
    assert_eq!(reply["usage"]["prompt_tokens"], 3 * TOKENS_IN);
    assert_eq!(reply["usage"]["completion_tokens"], 3 + 3 + 3);
    let kept = recorded(&lab.gateway, &call).await;
    assert_eq!((&kept["kind"], &kept["answer"]), (&json!("merger"), &json!("Both say: ask. ")));
    judge(&lab.gateway, &call, true).await;
    let record = lab.http().get("/bench/record?collection=bench/core").await.json();
    assert_eq!(record["aliases"]["editor"]["useful"], 1, "{record}");
    let kept = panel_when(&lab.gateway, &panel, |panel| panel["state"] == "done").await;
    assert_eq!((&kept["reply"], &kept["seats"][2]["kind"]), (&json!("merged"), &json!("merger")));
}

#[tokio::test]
async fn a_merger_that_counts_nothing_is_estimated_by_what_it_was_sent() {
    let uncounted = stream().send(chunk(json!({"content": "One."}), None)).send("data: [DONE]\n\n");
    let lab = merged_by(uncounted).await;
    let counted = asked(&lab).await["usage"]["prompt_tokens"].as_u64().unwrap_or_default();
    let sent = lab.upstream.arrived(&served("editor"), 1).await.body.len() as u64;
    assert!(counted > 2 * TOKENS_IN + sent / 8, "{counted} for {sent} bytes");
}

#[tokio::test]
async fn every_api_gets_the_merge_word_by_word_and_the_same_text_whole() {
    for api in apis() {
        // Its second word and its third wait for the test: what comes together goes out together.
        let (second, third) = (Gate::shut(), Gate::shut());
        let merge = answers("One two three four.  \n");
        let lab = merged_by(merge.at(3, Step::Wait(third.clone())).at(2, Step::Wait(second.clone()))).await;
        let (path, body) = api.streamed();
        let mut stream = Frames::post(lab.http(), path, &body).await;
        stream.until("One").await;
        assert!(!stream.text.contains("two"), "{}", api.name);
        second.open();
        stream.until("two").await;
        let early = api.pieces(&stream.text);
        let begun = early.concat();
        assert!("One two ".starts_with(&begun) || begun.is_empty(), "{}: {early:?}", api.name);
        assert!(!stream.text.contains("three") && !stream.text.contains("Merged by"), "{}", api.name);
        third.open();
        let (text, ended) = stream.rest().await;
        assert_eq!(ended, Ended::Properly, "{}", api.name);
        let pieces = api.pieces(&text);
        let streamed = pieces.concat();
        assert!(pieces.len() > 2, "{}: {pieces:?}", api.name);
        assert!(
            streamed.starts_with("One two three four.\n\n---\n\nMerged by editor (`"),
            "{}: {streamed}",
            api.name
        );

        let whole = lab.http().post(api.path, &api.body).await;
        let reply = whole.json();
        let whole = reply
            .pointer(api.text)
            .and_then(Value::as_str)
            .unwrap_or_else(|| panic!("{}: {reply}", api.name));
        assert_eq!(without_ids(&streamed), without_ids(whole), "{}", api.name);
    }
}

/// The lines of a reply, in an order that seats have no part in.
fn in_order(text: &str) -> Vec<String> {
    let text = without_ids(text);
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    lines.sort();
    lines
}

/// Without what differs between two panels.
fn without_ids(text: &str) -> String {
    let words = text.split(' ').map(|word| word.find("`p2").map_or(word, |at| &word[..at]));
    words.collect::<Vec<_>>().join(" ").chars().filter(|letter| !letter.is_ascii_digit()).collect()
}

#[tokio::test]
async fn a_merger_of_every_api_can_write_it() {
    for api in MemberApi::ALL {
        let upstream = bench_tests::Upstream::start().await;
        upstream.model("alpha", answers("Answer of alpha."));
        upstream.model("beta", answers("Answer of beta."));
        upstream.model("editor", api.says("One answer."));
        let gateway = Scenario::new()
            .endpoint("fake", &upstream.base())
            .model("alpha", "fake", "alpha")
            .model("beta", "fake", "beta")
            .endpoint("other", &upstream.base_of(api))
            .api(api.name())
            .model("editor", "other", "editor")
            .collection("core", &["alpha", "beta"])
            .with("merger", "editor")
            .start()
            .await;
        let mut body = question("whom?");
        body["model"] = json!("bench/core:merged");
        let reply = gateway.http.chat(&body).await.json();
        assert!(content(&reply).starts_with("One answer.\n\n---\n"), "{}: {reply}", api.name());
    }
}

#[tokio::test]
async fn the_mode_is_the_bodys_then_the_names_then_the_collections() {
    let lab = merged_by(answers("One answer.")).await;
    for (model, body, wanted) in [
        ("bench/core", Value::Null, "merged"),
        ("bench/core:merged", Value::Null, "merged"),
        ("bench/core:all", Value::Null, "all"),
        ("bench/core:all", json!({"reply": "merged"}), "merged"),
        ("bench/core:merged", json!({"reply": "all"}), "all"),
        ("bench/core", json!({"reply": "all"}), "all"),
    ] {
        let mut asked = question("whom?");
        asked["model"] = json!(model);
        if !body.is_null() {
            asked["bench"] = body.clone();
        }
        let reply = lab.http().chat(&asked).await.json();
        assert_eq!(reply["bench"]["reply"], wanted, "{model} {body}");
        assert_eq!(
            content(&reply).contains("## member"),
            wanted == "all",
            "{model} {body}: {}",
            content(&reply)
        );
    }
}

/// Members that merge themselves: no merger is set. Each answers first and merges when it is asked to.
fn member(answer: &'static str, merges: impl Fn() -> bench_tests::Reply + Send + Sync + 'static) -> Script {
    Script::by(move |request| {
        let told = String::from_utf8_lossy(&request.body).into_owned();
        if told.contains("# The answers") { merges() } else { answers(answer) }
    })
}

async fn merging_members(alpha: Script, beta: Script) -> Lab {
    staffed([("alpha", alpha), ("beta", beta)], &["alpha", "beta"], |it| it.with("reply", "merged")).await
}

#[tokio::test]
async fn a_merger_that_fails_before_its_first_word_passes_to_a_second() {
    let lab = merging_members(
        member("Answer of alpha.", || rate_limited(Some(3))),
        member("Answer of beta.", || answers("Merged by the second.")),
    )
    .await;
    let streamed = lab.http().stream(&question("whom?")).await.rest().await;
    assert!(streamed.text().starts_with("Merged by the second.\n\n---\n"), "{}", streamed.text());
    let finish = streamed.finish();
    let bench = &finish["bench"];
    let panel = panel_id(&finish);
    assert_eq!((&bench["reply"], &bench["note"]), (&json!("merged"), &Value::Null), "{bench}");
    assert_eq!(
        (&bench["merger"]["alias"], &bench["merger"]["call"]),
        (&json!("beta"), &json!(format!("{panel}.merger.r1")))
    );
    let failed = recorded(&lab.gateway, &format!("{panel}.merger")).await;
    assert_eq!((&failed["alias"], &failed["status"]), (&json!("alpha"), &json!("error")));
}

#[tokio::test]
async fn a_merger_that_fails_after_its_first_word_leaves_every_answer() {
    let lab = merging_members(
        member("Answer of alpha.", || cut_after(2)),
        member("Answer of beta.", || answers("Never asked for.")),
    )
    .await;
    let streamed = lab.http().stream(&question("whom?")).await.rest().await;
    assert_eq!(streamed.ended, Ended::Properly);
    let text = streamed.text();
    let finish = streamed.finish();
    let whole = asked(&lab).await;
    assert_eq!(in_order(&text), in_order(content(&whole)));
    for (text, bench) in [(text.as_str(), &finish["bench"]), (content(&whole), &whole["bench"])] {
        assert!(
            text.starts_with("piece0 piece1\n\n---\n\n*Every answer follows: the merge broke off ("),
            "{text}"
        );
        assert!(text.contains("## member — alpha") && text.contains("Answer of beta."), "{text}");
        assert!(!text.contains("Never asked for"), "nobody goes on with another's words: {text}");
        assert_eq!(bench["reply"], "all");
        assert!(bench["note"].as_str().is_some_and(|note| note.contains("alpha")), "{bench}");
        assert_eq!(
            (&bench["merger"]["alias"], &bench["merger"]["status"]),
            (&json!("alpha"), &json!("error"))
        );
    }
    let kept = panel_when(&lab.gateway, &panel_id(&whole), |panel| panel["state"] == "done").await;
    assert_eq!((&kept["reply"], &kept["note"]), (&json!("all"), &whole["bench"]["note"]), "{kept}");
}

#[tokio::test]
async fn when_nobody_can_merge_it_is_every_answer_with_a_note() {
    let two = || {
        let (alpha, beta) = (answers(&"word ".repeat(800)), answers("Answer of beta."));
        [("alpha", alpha.into()), ("beta", beta.into()), ("editor", answers("One.").into())]
    };
    let small = |it: Scenario| {
        let it = it.with("reply", "merged").with("merger", "small");
        it.model("small", "fake", "small").facts(json!({"context_window": 600}))
    };
    let lab = staffed(two(), &["alpha", "beta"], small).await;
    let reply = asked(&lab).await;
    let note = reply["bench"]["note"].as_str().unwrap_or_default().to_owned();
    assert!(note.contains("small: ") && note.contains("600"), "{note}");
    assert_eq!((&reply["bench"]["reply"], &reply["bench"]["merger"]), (&json!("all"), &Value::Null));
    assert!(content(&reply).starts_with("*Every answer follows: not merged (small: "), "{}", content(&reply));
    assert!(content(&reply).contains("## member — beta"));
    let streamed = lab.http().stream(&question("whom?")).await.rest().await;
    assert_eq!(in_order(&streamed.text()), in_order(content(&reply)), "streamed it is the same");

    // A set merger that is retired is passed over, and a member merges.
    let retired = |it: Scenario| {
        let it = it.with("reply", "merged").with("merger", "old");
        it.model("old", "fake", "old").model_with("retired", json!({"at": "2026-03-01", "why": "gone"}))
    };
    let members = [
        ("alpha", member("Answer of alpha.", || answers("By alpha."))),
        ("beta", member("Answer of beta.", || answers("By beta."))),
    ];
    let lab = staffed(members, &["alpha", "beta"], retired).await;
    assert!(content(&asked(&lab).await).starts_with("By alpha.\n\n---\n"));

    // Both candidates fail at once.
    let lab = merging_members(
        member("Answer of alpha.", || fails(500, "boom", "under water")),
        member("Answer of beta.", bench_tests::upstream::empty),
    )
    .await;
    let reply = asked(&lab).await;
    let note = reply["bench"]["note"].as_str().unwrap_or_default();
    assert!(note.contains("alpha: under water") && note.contains("beta: an empty answer"), "{note}");
    assert!(content(&reply).contains("Answer of alpha.") && reply["bench"]["reply"] == "all");
}

#[tokio::test]
async fn one_answer_is_given_as_it_is_and_none_is_the_error() {
    let models = [
        ("alpha", answers("Answer of alpha.").into()),
        ("beta", fails(500, "boom", "under water").into()),
        ("editor", answers("One.").into()),
    ];
    let merged = |it: Scenario| it.with("reply", "merged").with("merger", "editor");
    let lab = staffed(models, &["alpha", "beta"], merged).await;
    for streams in [false, true] {
        let (text, bench) = if streams {
            let streamed = lab.http().stream(&question("whom?")).await.rest().await;
            (streamed.text(), streamed.finish()["bench"].clone())
        } else {
            let reply = asked(&lab).await;
            (content(&reply).to_owned(), reply["bench"].clone())
        };
        assert!(text.starts_with("Answer of alpha.\n\n---\n\nNothing to merge: alpha ("), "{text}");
        assert!(text.contains("beta (`") && text.contains("error"), "the others are named: {text}");
        assert_eq!((&bench["reply"], &bench["merger"]), (&json!("merged"), &Value::Null));
        assert_eq!(bench["note"], "not merged: alpha alone answered");
    }
    assert_eq!(lab.upstream.asked(&served("editor")).len(), 0);

    let models = [("alpha", fails(500, "boom", "under water").into()), ("editor", answers("One.").into())];
    let lab = staffed(models, &["alpha"], merged).await;
    let answer = lab.http().chat(&question("whom?")).await;
    assert_eq!((answer.status.as_u16(), &answer.json()["bench"]["reply"]), (502, &json!("merged")));
    let streamed = lab.http().stream(&question("whom?")).await.rest().await;
    assert_eq!(streamed.ended, Ended::Broken);
    assert!(
        streamed.text().contains("## member — alpha"),
        "the sections go out, then the error: {}",
        streamed.text()
    );
}

#[tokio::test]
async fn the_member_judged_most_useful_on_the_shape_merges() {
    let lab = merging_members(
        member("Answer of alpha.", || answers("By alpha.")),
        member("Answer of beta.", || answers("By beta.")),
    )
    .await;
    let reply = asked(&lab).await;
    assert_eq!(reply["bench"]["merger"]["alias"], "alpha", "members in their order");
    judge(&lab.gateway, &format!("{}.member2", panel_id(&reply)), true).await;
    assert_eq!(asked(&lab).await["bench"]["merger"]["alias"], "beta");
}

#[tokio::test]
async fn a_merge_is_kept_and_gone_on_from() {
    let lab = merged_by(answers("One answer.")).await;
    let ask = async |body: Value| lab.http().post("/v1/responses", &body).await.json();
    let first = ask(json!({"model": "bench/core", "input": "whom?"})).await;
    let id = first["id"].as_str().expect("an id");
    let second = ask(json!({"model": "bench/core", "input": "why?", "previous_response_id": id})).await;
    assert!(
        second["output"][0]["content"][0]["text"]
            .as_str()
            .is_some_and(|text| text.starts_with("One answer."))
    );
    let sent = lab.upstream.asked(&served("alpha")).pop().expect("asked").json();
    let turns: Vec<_> =
        sent["messages"].as_array().expect("turns").iter().map(|turn| &turn["role"]).collect();
    assert_eq!(turns, ["user", "assistant", "user"]);
    assert!(
        sent["messages"][1].to_string().contains("One answer.")
            && sent["messages"][1].to_string().contains("Merged by")
    );
}

#[tokio::test]
async fn an_image_is_a_placeholder_to_the_merger() {
    let models = [
        ("alpha", answers("A cat.").into()),
        ("blind", answers("Never asked.").into()),
        ("beta", answers("A dog.").into()),
        ("editor", answers("An animal.").into()),
    ];
    let upstream = bench_tests::Upstream::start().await;
    let mut scenario = Scenario::new().endpoint("fake", &upstream.base());
    for (alias, script) in models {
        let script: Script = script;
        upstream.model(alias, script);
        scenario = scenario.model(alias, "fake", alias);
        if ["alpha", "beta"].contains(&alias) {
            scenario = scenario.facts(json!({"vision": true}));
        }
    }
    let scenario = scenario.collection("core", &["alpha", "blind", "beta"]).with("merger", "editor");
    let gateway = scenario.collection("dark", &["blind"]).start().await;
    let image = json!({"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBORw0KGgo="}});
    let messages = json!([{"role": "user", "content": [{"type": "text", "text": "What is it?"}, image]}]);
    let reply = gateway.http.chat(&json!({"model": "bench/core:merged", "messages": messages})).await.json();
    assert!(content(&reply).starts_with("An animal."), "{reply}");
    assert_eq!((seats(&reply).len(), &reply["bench"]["skipped"][0]["alias"]), (2, &json!("blind")));
    assert_eq!(reply["bench"]["shape"], "vision");
    let told = upstream.arrived("editor", 1).await.json().to_string();
    assert!(told.contains("[image: ") && !told.contains("iVBORw0KGgo"), "{told}");
    let answer = gateway.http.chat(&json!({"model": "bench/dark", "messages": messages})).await;
    assert_eq!((answer.status.as_u16(), &answer.json()["error"]["code"]), (400, &json!("images_not_seen")));
}

#[tokio::test]
async fn a_caller_who_leaves_in_the_merge_leaves_it_running_or_cancels_it() {
    for (mode, status) in [("finish", "ok"), ("cancel", "cancelled")] {
        let gate = Gate::shut();
        let editor = answers("One two three four.").at(2, Step::Wait(gate.clone()));
        let models = [
            ("alpha", answers("Answer of alpha.").into()),
            ("beta", answers("Answer of beta.").into()),
            ("editor", Script::from(editor)),
        ];
        let set = |it: Scenario| {
            it.with("reply", "merged").with("merger", "editor").setting("panel_on_hangup", mode)
        };
        let lab = staffed(models, &["alpha", "beta"], set).await;
        let mut stream = lab.http().stream(&question("whom?")).await;
        let panel = stream.headers["x-bench-panel"].to_str().expect("ASCII").to_owned();
        stream.until("One").await;
        let editor = lab.upstream.arrived(&served("editor"), 1).await;
        drop(stream);
        if mode == "cancel" {
            editor.hung_up().await;
        }
        gate.open();
        let kept = panel_when(&lab.gateway, &panel, |panel| panel["state"] == "done").await;
        assert_eq!(kept["seats"][2]["status"], status, "{mode}: {kept}");
        assert_eq!(kept["seats"][0]["status"], "ok", "{mode}: {kept}");
    }
}

#[tokio::test]
async fn a_panel_that_is_called_off_before_its_merge_asks_no_merger() {
    let gate = Gate::shut();
    let beta = answers("Answer of beta.").held(&gate);
    let models = [
        ("alpha", answers("Answer of alpha.").into()),
        ("gamma", answers("Answer of gamma.").into()),
        ("beta", Script::from(beta)),
        ("editor", answers("One.").into()),
    ];
    let set = |it: Scenario| {
        it.with("reply", "merged").with("merger", "editor").setting("panel_on_hangup", "cancel")
    };
    let lab = staffed(models, &["alpha", "gamma", "beta"], set).await;
    let stream = lab.http().stream(&question("whom?")).await;
    let panel = stream.headers["x-bench-panel"].to_str().expect("ASCII").to_owned();
    let asked = lab.upstream.arrived(&served("beta"), 1).await;
    recorded(&lab.gateway, &format!("{panel}.member1")).await;
    recorded(&lab.gateway, &format!("{panel}.member2")).await;
    drop(stream);
    asked.hung_up().await;
    let kept = panel_when(&lab.gateway, &panel, |panel| panel["state"] == "done").await;
    assert_eq!(kept["seats"].as_array().map(Vec::len), Some(3), "no merger among them: {kept}");
    assert_eq!(lab.upstream.asked(&served("editor")).len(), 0);
}

#[tokio::test]
async fn a_stand_in_is_merged_like_its_member() {
    let models = [
        ("alpha", answers("Answer of alpha.").into()),
        ("beta", rate_limited(None).into()),
        ("gamma", answers("Answer of gamma.").into()),
        ("zeta", MemberApi::Chat.streams(["One", " answer."], End::Proper).into()),
    ];
    let set = |it: Scenario| it.with("reply", "merged").with("merger", "zeta").setting("reserves", 1);
    let lab = staffed(models, &["alpha", "beta"], set).await;
    let reply = asked(&lab).await;
    assert!(content(&reply).contains("gamma for beta (`"), "{}", content(&reply));
    assert_eq!(seat(&reply, "gamma")["stood_in_for"], "beta");
    assert_eq!(reply["usage"]["completion_tokens"], 3 + 3 + 2, "failed calls cost nobody");
}
