//! The command line and panels in full: explorers, stand-ins, merging, images, and what is known of models.

use bench_tests::{
    Bench, Gate, Home, Lab, Scenario, Upstream,
    scenario::{KEY, served},
    upstream::{Reply, Script, Step, answers, fails, tokens},
    within,
};
use serde_json::{Value, json};
use tokio::io::AsyncReadExt;

/// These models on one endpoint, the first two in `core`; the rest may explore and stand in.
async fn lab(models: Vec<(&str, Script)>, explorers: u32, reserves: u32) -> Lab {
    let upstream = Upstream::start().await;
    let mut scenario = Scenario::new()
        .endpoint("fake", &upstream.base())
        .key("FAKE_KEY", KEY)
        .setting("max_explorers", explorers)
        .setting("reserves", reserves);
    let members: Vec<&str> = models.iter().map(|(alias, _)| *alias).take(2).collect();
    for (alias, script) in models {
        upstream.model(&served(alias), script);
        scenario = scenario.model(alias, "fake", &served(alias));
    }
    let gateway = scenario.collection("core", &members).start().await;
    Lab { upstream, gateway }
}

/// Answers as `alpha`, and merges as `merge` says.
fn and_merges(merge: Reply) -> Script {
    Script::by(
        move |request| {
            if is_merge(&request.json()) { merge.clone() } else { answers("Answer of alpha.") }
        },
    )
}

fn is_merge(request: &Value) -> bool {
    request["messages"][0]["content"].to_string().contains("Write the one answer")
}

/// A command line without quotes.
async fn run(home: &Home, words: &str) -> Bench {
    home.bench(&words.split(' ').collect::<Vec<_>>()).await
}

fn beta() -> (&'static str, Script) {
    ("beta", answers("Answer of beta.").into())
}

#[tokio::test]
async fn a_merged_answer_is_written_as_it_comes_and_nothing_else() {
    let gate = Gate::shut();
    let merge = tokens(["Both ", "agree."]).at(2, Step::Wait(gate.clone()));
    let lab = lab(vec![("alpha", and_merges(merge)), beta()], 0, 0).await;
    let home = &lab.gateway.home;
    home.bench(&["collection", "save", "core", "--merger", "alpha"]).await.exits(0);
    let mut child = home
        .command(&["ask", "core:merged", "whom?"])
        .stdin(std::process::Stdio::null())
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .expect("bench ask starts");
    let mut out = child.stdout.take().expect("piped");
    let mut read = Vec::new();
    while !String::from_utf8_lossy(&read).contains("Both") {
        let byte = within("the merge's first word on stdout", out.read_u8()).await.expect("a byte");
        read.push(byte);
    }
    gate.open();
    within("the rest", out.read_to_end(&mut read)).await.expect("read");
    assert_eq!(String::from_utf8_lossy(&read), "Both agree.\n");
    let ended = within("its end", child.wait_with_output()).await.expect("waited");
    assert_eq!(ended.status.code(), Some(0));
    let told = String::from_utf8_lossy(&ended.stderr);
    for words in [".member1", ".member2", ".merger", ", merged, ", "judge with: bench verdict p"] {
        assert!(told.contains(words), "{words} is not in {told}");
    }
}

#[tokio::test]
async fn one_answer_is_given_as_it_is_and_a_merge_that_fails_gives_every_answer() {
    let lab = lab(
        vec![
            ("alpha", and_merges(fails(400, "bad", "cannot merge"))),
            ("beta", fails(500, "x", "no").into()),
        ],
        0,
        0,
    )
    .await;
    let only = lab.gateway.bench(&["ask", "core", "--merged", "whom?"]).await.exits(0);
    assert_eq!(only.stdout, "Answer of alpha.\n");
    assert!(only.stderr.contains("not merged: alpha alone answered"), "{}", only.stderr);

    lab.upstream.model(&served("beta"), answers("Answer of beta."));
    lab.gateway.bench(&["collection", "save", "core", "--merger", "alpha"]).await.exits(0);
    let every = lab.gateway.bench(&["ask", "core", "--merged", "whom?"]).await.exits(0);
    for section in ["## member — alpha\n\nAnswer of alpha.", "## member — beta\n\nAnswer of beta."] {
        assert!(every.stdout.contains(section), "{}", every.stdout);
    }
    assert!(every.stderr.contains("not merged (alpha: "), "{}", every.stderr);
}

#[tokio::test]
async fn a_merge_that_breaks_off_stays_apart_from_the_answers() {
    let broken = bench_tests::upstream::cut_after(2);
    let lab = lab(vec![("alpha", and_merges(broken)), beta()], 0, 0).await;
    lab.gateway.bench(&["collection", "save", "core", "--merger", "alpha"]).await.exits(0);
    let told = lab.gateway.bench(&["ask", "core:merged", "whom?"]).await.exits(0);
    let (merge, answers) = told.stdout.split_once("\n\n---\n").unwrap_or_else(|| panic!("{}", told.stdout));
    assert_eq!(merge.trim_end(), "piece0 piece1");
    assert!(answers.contains("## member — beta\n\nAnswer of beta."), "{answers}");
    assert!(told.stderr.contains("the merge broke off"), "{}", told.stderr);
}

#[tokio::test]
async fn a_stand_in_and_explorers_are_told_with_why() {
    let models = vec![
        ("alpha", answers("Answer of alpha.").into()),
        ("beta", fails(429, "rate_limited", "too many").into()),
        ("gamma", answers("Answer of gamma.").into()),
        ("delta", answers("Answer of delta.").into()),
    ];
    let lab = lab(models, 1, 1).await;
    let told = lab.gateway.bench(&["ask", "core", "whom?", "--with", "delta", "--with", "nobody"]).await;
    let told = told.exits(0);
    for section in [
        "## member — alpha\n\nAnswer of alpha.",
        "## explorer — delta\n\nAnswer of delta.",
        "## member — gamma for beta\n\nAnswer of gamma.",
    ] {
        assert!(told.stdout.contains(section), "{section:?} is not in {}", told.stdout);
    }
    for line in [
        "member2: beta failed, gamma stands in",
        "member2 passed from beta to gamma: ",
        "failed over",
        "gamma for beta",
        "not asked: nobody (",
    ] {
        assert!(told.stderr.contains(line), "{line:?} is not in {}", told.stderr);
    }
}

#[tokio::test]
async fn a_late_explorer_is_told_as_late() {
    let gate = Gate::shut();
    let models = vec![
        ("alpha", answers("Answer of alpha.").into()),
        beta(),
        ("gamma", answers("Answer of gamma.").held(&gate).into()),
    ];
    let lab = lab(models, 1, 0).await;
    lab.gateway.bench(&["settings", "set", "explorer_grace=0"]).await.exits(0);
    let told = lab.gateway.bench(&["ask", "core", "whom?"]).await.exits(0);
    assert!(told.stderr.contains("gamma is late: it goes on, and its answer is recorded"), "{}", told.stderr);
    assert!(!told.stdout.contains("gamma"), "{}", told.stdout);
    gate.open();
}

#[tokio::test]
async fn an_image_goes_to_whom_the_command_line_says_can_see() {
    let lab = lab(vec![("alpha", answers("A cat.").into()), beta()], 0, 0).await;
    let home = &lab.gateway.home;
    let picture = home.file("cat.bin", "GIF89a of a cat");
    let picture = picture.to_string_lossy();
    let asked = ["ask", "core", "--image", &picture];
    let blind = home.bench(&asked).await.exits(1);
    assert!(blind.stderr.contains("vision"), "it names the fact to set: {}", blind.stderr);

    let set = home.bench(&["model", "set", "alpha", "--fact", "vision=true"]).await.exits(0);
    assert!(set.stdout.contains("vision"), "{}", set.stdout);
    let seen = home.bench(&asked).await.exits(0);
    assert!(seen.stdout.contains("A cat."), "{}", seen.stdout);
    assert!(seen.stderr.contains("not asked: beta ("), "{}", seen.stderr);
    let sent = lab.upstream.arrived(&served("alpha"), 1).await.json();
    let parts = sent["messages"][0]["content"].as_array().cloned().unwrap_or_default();
    let url = "data:image/gif;base64,R0lGODlhIG9mIGEgY2F0";
    assert_eq!(parts.len(), 1, "no empty text beside it: {sent}");
    assert_eq!(parts[0]["image_url"]["url"], url, "{sent}");

    let text = home.file("cat.png", "not a picture");
    let refused = home.bench(&["ask", "core", "see?", "--image", &text.to_string_lossy()]).await.exits(2);
    assert!(
        refused.stderr.contains("cat.png: this is not a PNG, JPEG, GIF or WebP image"),
        "{}",
        refused.stderr
    );
}

#[tokio::test]
async fn what_is_known_of_a_model_is_set_and_taken_back() {
    let lab = lab(vec![("alpha", answers("x").into()), beta()], 0, 0).await;
    let home = &lab.gateway.home;
    let set = |words: &'static str| run(home, words);
    let one =
        set("--json model set alpha --role code --ad-hoc true --fact price.input=0.5 --option top_p=0.9");
    let one = one.await.exits(0).json()[0].clone();
    assert_eq!((&one["role"], &one["ad_hoc"]), (&json!("code"), &json!(true)));
    assert_eq!((&one["facts"], &one["options"]), (&json!({"price": {"input": 0.5}}), &json!({"top_p": 0.9})));
    // What is not given stays; without a value a fact is unknown again.
    let two =
        set("--json model set alpha --fact vision=true --fact price= --option top_p=").await.exits(0).json();
    assert_eq!((&two[0]["facts"], &two[0]["options"]), (&json!({"vision": true}), &json!({})));
    assert_eq!(two[0]["role"], "code");
    for (words, code, said) in [
        ("model set alpha --fact visoin=true", 2, "visoin"),
        ("model set alpha --fact context_window=7", 1, "facts.context_window: 512 to"),
        ("model set alpha --role boss", 1, "unknown role \"boss\"; use one of general, "),
        ("model set alpha --option stream=false", 1, "options.stream: set by the gateway"),
        ("model set nobody --role code", 1, "there is no model nobody"),
        ("model retire nobody --why gone", 1, "There is no model \"nobody\""),
    ] {
        let refused = set(words).await.exits(code);
        assert!(refused.stderr.contains(said), "{words}: {}", refused.stderr);
    }
    let shown = set("model retire beta --why slow").await.exits(0).stdout;
    assert!(shown.contains("retired 20") && shown.contains(": slow"), "{shown}");
    let told = set("ask core hi").await.exits(0).stderr;
    assert!(told.contains("not asked: beta (retired on 20") && told.contains("slow"), "{told}");
    set("model restore beta").await.exits(0);
    assert!(!set("ask core hi").await.exits(0).stderr.contains("not asked"));
}

#[tokio::test]
async fn who_would_sit_and_why() {
    let models = vec![
        ("alpha", answers("x").into()),
        beta(),
        ("gamma", answers("x").into()),
        ("delta", answers("x").into()),
    ];
    let lab = lab(models, 1, 1).await;
    lab.gateway.bench(&["model", "set", "delta", "--role", "image"]).await.exits(0);
    let json = lab.gateway.bench(&["--json", "panel", "core", "--shape", "review"]).await.exits(0).json();
    let seats: Vec<_> = json["seats"].as_array().expect("a list").iter().map(|it| &it["alias"]).collect();
    assert_eq!(seats, ["alpha", "beta", "gamma"], "{json}");
    assert_eq!(json["shape"], "review");
    let shown = lab.gateway.bench(&["panel", "bench/core", "--shape", "review"]).await.exits(0).stdout;
    let lines: Vec<&str> = shown.lines().collect();
    assert!(lines[0].starts_with("bench/core, shape review ("), "{shown}");
    assert!(lines.iter().any(|line| line.starts_with("explorer  gamma  ")), "{shown}");
    assert!(lines.iter().any(|line| line.starts_with("1 ") && line.ends_with("  delta")), "{shown}");
    let explorers = lab.gateway.bench(&["--json", "panel"]).await.exits(0).json();
    assert!(
        explorers["seats"].as_array().is_some_and(|seats| seats.iter().all(|it| it["kind"] == "explorer"))
    );
    let refused = lab.gateway.bench(&["panel", "core", "--shape", "square"]).await.exits(1);
    assert!(refused.stderr.contains("shape: there is no shape \"square\""), "{}", refused.stderr);
    lab.gateway.bench(&["panel", "nope"]).await.exits(1);
}

#[tokio::test]
async fn a_collections_reply_and_merger_are_saved_and_shown() {
    let lab = lab(vec![("alpha", and_merges(answers("Merged."))), beta()], 0, 0).await;
    let home = &lab.gateway.home;
    run(home, "collection save core --reply merged --merger alpha").await.exits(0);
    let shown = run(home, "collection show bench/core").await.exits(0).stdout;
    for line in ["members         alpha, beta", "reply           merged", "merger          alpha"] {
        assert!(shown.lines().any(|it| it == line), "{line:?} is not in {shown}");
    }
    assert_eq!(run(home, "ask core hi").await.exits(0).stdout, "Merged.\n");
    // A flag goes before what the collection says.
    assert!(run(home, "ask core hi --all").await.exits(0).stdout.contains("## member — alpha"));
    let refused = run(home, "collection save core --merger nobody").await.exits(1);
    assert!(refused.stderr.contains("nobody"), "{}", refused.stderr);
    run(home, "collection show nope").await.exits(1);
}

#[tokio::test]
async fn settings_are_read_and_changed() {
    let lab = lab(vec![("alpha", answers("x").into()), beta()], 0, 0).await;
    let home = &lab.gateway.home;
    run(home, "settings set max_calls=4 panel_on_hangup=cancel").await.exits(0);
    assert_eq!(run(home, "settings get max_calls").await.exits(0).stdout, "4\n");
    assert_eq!(run(home, "settings get panel_on_hangup").await.exits(0).stdout, "cancel\n");
    let all = run(home, "--json settings get").await.exits(0).json();
    assert_eq!((&all["max_calls"], &all["idle_seconds"]), (&json!(4), &json!(90)));
    for (words, code, said) in [
        ("settings set max_calls=99", 1, "max_calls: 1 to 10, not 99"),
        ("settings set max_calls=many", 2, "many"),
        ("settings set max_cals=1", 2, "there is no setting max_cals; there are max_calls, "),
        ("settings get max_cals", 2, "there is no setting max_cals"),
    ] {
        let refused = run(home, words).await.exits(code);
        assert!(refused.stderr.contains(said), "{words}: {}", refused.stderr);
    }
    assert_eq!(run(home, "--json settings get").await.exits(0).json(), all, "nothing changed");
}

#[tokio::test]
async fn the_log_and_the_search_in_it() {
    let lab = lab(vec![("alpha", answers("It deadlocks.").into()), beta()], 0, 0).await;
    let home = &lab.gateway.home;
    assert_eq!(run(home, "log").await.exits(0).stdout, "no panels yet\n");
    for prompt in ["first question", "second question"] {
        home.bench(&["ask", "core", prompt]).await.exits(0);
    }
    let shown = run(home, "log").await.exits(0).stdout;
    let prompts: Vec<_> =
        shown.lines().skip(1).filter_map(|line| line.split("  ").last()).map(str::trim).collect();
    assert_eq!(prompts, ["second question", "first question"], "{shown}");
    let one = run(home, "log -n 1").await.exits(0);
    let newest =
        one.stdout.lines().nth(1).and_then(|line| line.split(' ').next()).unwrap_or_default().to_owned();
    assert!(one.stderr.contains(&format!("there are more: --before {newest}")), "{}", one.stderr);
    let older = home.bench(&["--json", "log", "--before", &newest]).await.exits(0).json();
    assert_eq!(older["panels"][0]["prompt"], "first question");
    let hits = run(home, "--json log --search second").await.exits(0).json();
    assert_eq!(
        (hits["hits"].as_array().map(Vec::len), &hits["hits"][0]["in_prompt"]),
        (Some(1), &json!(true))
    );
    let said = run(home, "log --search deadlocks").await.exits(0).stdout;
    assert!(said.lines().skip(1).all(|line| line.contains("  member1  ")), "{said}");
    assert_eq!(said.lines().count(), 3, "{said}");
    let none = run(home, "log --search nowhere").await.exits(0).stdout;
    assert_eq!(none, "these words stand nowhere together\n");
}
