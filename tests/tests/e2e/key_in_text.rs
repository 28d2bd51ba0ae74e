//! A key that its owner wrote into a text of the set-up: refused at the door, masked where it stood before.

use base64::{Engine, prelude::BASE64_STANDARD};
use bench_tests::{
    Gateway, Home, Lab, Scenario, Upstream,
    http::Answer,
    panel_of,
    scenario::{KEY, question, served},
    upstream::{Listing, Reply, answers, fails},
};
use serde_json::{Value, json};
use store::{OpenOptions, SetupChange, SetupItem, Store};

use crate::checks::panel_id;

/// Nobody's, as far as this gateway knows.
const GATEWAY_KEY: &str = "bwk_QmFzZTY0dXJsIGlzIHdoYXQga2V5cyBhcmUgbWFk-_Z";

async fn lab() -> Lab {
    panel_of([("alpha", answers("First.").into())]).await
}

async fn import(gateway: &Gateway, file: Value) -> Answer {
    gateway.admin("import_setup", &json!({"text": file.to_string()})).await
}

#[tokio::test]
async fn it_is_refused_with_the_field_that_holds_it() {
    let lab = lab().await;
    let before = lab.gateway.command("export_setup", &json!({})).await;
    let written = format!("uses {KEY}");
    let escaped = KEY.replacen('s', "%73", 1);
    let encoded = BASE64_STANDARD.encode(format!("user:{KEY}"));
    let model = |more: Value| {
        let mut model = json!({"alias": "beta", "endpoint": "fake", "served": "v/b"});
        model.as_object_mut().expect("object").extend(more.as_object().expect("object").clone());
        json!({"version": 1, "models": [model]})
    };
    let endpoint = |more: Value| {
        let mut endpoint = json!({"name": "other", "base": "https://example.com/v1"});
        endpoint.as_object_mut().expect("object").extend(more.as_object().expect("object").clone());
        json!({"version": 1, "endpoints": [endpoint]})
    };
    for (file, item, field) in [
        (model(json!({"options": {"user": KEY}})), "model beta", "options.user"),
        (model(json!({"options": {"a": [1, {"b": written}]}})), "model beta", "options.a[1].b"),
        (model(json!({"options": {KEY: 1}})), "model beta", "options.\u{2022}\u{2022}\u{2022}\u{2022}"),
        (model(json!({"served": written})), "model beta", "served"),
        (
            model(json!({"retired": {"why": written, "at": "2026-01-01T00:00:00Z"}})),
            "model beta",
            "retired.why",
        ),
        (model(json!({"options": {"a": format!("by {encoded}")}})), "model beta", "options.a"),
        (endpoint(json!({"base": format!("https://example.com/{escaped}/v1")})), "endpoint other", "base"),
        (
            json!({"version": 1, "collections": [{"name": "core", "members": ["alpha"], "description": written}]}),
            "collection core",
            "description",
        ),
    ] {
        let answer = import(&lab.gateway, file.clone()).await;
        let said = answer.json();
        assert!(!answer.text().contains(KEY), "{said}");
        assert_eq!(said["error"]["field"], field, "{said}");
        let wanted = format!("{item}: {field}: this text contains the key of endpoint fake.");
        assert!(said["error"]["message"].as_str().is_some_and(|it| it.starts_with(&wanted)), "{said}");
        assert_eq!(answer.status, 400);
    }

    // What stands for a key that is not shown is no text to be kept.
    let answer =
        import(&lab.gateway, model(json!({"options": {"user": "my \u{2022}\u{2022}\u{2022}\u{2022}"}})))
            .await;
    assert_eq!(answer.json()["error"]["field"], "options.user", "{}", answer.text());

    // By every other way in too.
    let option = format!("user={KEY}");
    let refused = lab.gateway.bench(&["model", "set", "alpha", "--option", &option]).await.exits(1);
    assert!(
        refused.stderr.contains("options.user: this text contains the key of endpoint fake"),
        "{refused:?}"
    );
    let refused = lab.gateway.bench(&["model", "retire", "alpha", "--why", &written]).await.exits(1);
    assert!(refused.stderr.contains("this text contains the key of endpoint fake"), "{refused:?}");
    let base = format!("https://example.com/{KEY}/v1");
    let save =
        json!({"name": "third", "base": base, "key_env": "FAKE_KEY", "new": true, "allow_plain_http": false});
    let refused = lab.gateway.admin("save_endpoint", &save).await;
    assert_eq!(refused.json()["error"]["field"], "base", "{}", refused.text());
    assert_eq!(lab.gateway.command("export_setup", &json!({})).await, before, "nothing was changed");
    let (home, _) = lab.gateway.stop().await;
    nowhere(&home);
}

#[track_caller]
fn nowhere(home: &Home) {
    for (path, bytes) in home.files() {
        let found = bytes.windows(KEY.len()).any(|window| window == KEY.as_bytes());
        assert!(!found, "the key is in {}", path.display());
    }
    assert!(!home.logs().contains(KEY), "the key is in a log");
}

/// What is kept beside the set-up: the dismissed list, the queue, who asked, and what a provider lists or calls itself.
#[tokio::test]
async fn no_other_text_that_is_kept_holds_one() {
    let upstream = Upstream::start().await;
    let reply = json!({"model": KEY, "choices": [{"message": {"content": "Hi."}, "finish_reason": "stop"}]});
    upstream.model("a", Reply::whole(200, "application/json", reply.to_string()));
    let listed = [json!({"id": "a"}), json!({"id": KEY}), json!({"id": format!("v/{KEY}:free")})];
    upstream.listing(Listing::Told(json!({ "data": listed })));
    let gateway = Scenario::new()
        .endpoint("fake", &upstream.base())
        .key("FAKE_KEY", KEY)
        .model("alpha", "fake", "a")
        .collection("core", &["alpha"])
        .start()
        .await;
    let written = format!("v/{KEY}");
    let one = |served: &str, alias: &str| json!([{"served": "v/x", "alias": "x"}, {"served": served, "alias": alias}]);
    for (command, given, field) in [
        ("dismiss_models", json!({"endpoint": "fake", "served": ["a", KEY]}), "served[1]"),
        ("dismiss_models", json!({"endpoint": "fake", "served": [written]}), "served[0]"),
        (
            "onboard",
            json!({"endpoint": "fake", "models": one(&written, "b"), "mode": "quick"}),
            "models[1].served",
        ),
        ("onboard", json!({"endpoint": "fake", "models": one("b", KEY), "mode": "quick"}), "models[1].alias"),
        ("register_models", json!({"endpoint": "fake", "models": one(&written, "b")}), "served"),
    ] {
        let answer = gateway.admin(command, &given).await;
        let said = answer.json();
        assert!(!answer.text().contains(KEY), "{said}");
        assert_eq!(said["error"]["field"], field, "{said}");
        assert_eq!(answer.status, 400, "{said}");
        assert!(said.to_string().contains("this text contains the key of endpoint fake"), "{said}");
    }
    assert_eq!(gateway.command("onboarding", &json!({})).await["items"], json!([]));

    // A list offers the others, and says why not all.
    let test = gateway.command("test_endpoint", &json!({"name": "fake"})).await;
    assert_eq!(
        test["message"],
        "It answers with 3 models. 2 models are left out, as a key is part of the id."
    );
    assert_eq!(test["models"].as_array().map(Vec::len), Some(1), "{test}");

    let asked = json!({"collection": "core", "prompt": "hi", "client": written});
    gateway.command("ask", &asked).await;
    let reply = gateway.http.chat(&question("hi")).await.json();
    let panel = gateway.command("panel", &json!({"id": panel_id(&reply)})).await;
    assert_eq!(panel["seats"][0]["swapped_for"], "\u{2022}\u{2022}\u{2022}\u{2022}", "{panel}");
    gateway
        .http
        .post(
            "/v1/chat/completions",
            &json!({"model": "bench/model/alpha", "messages": [{"role": "user", "content": "hi"}]}),
        )
        .await;
    let (home, _) = gateway.stop().await;
    nowhere(&home);
}

/// An alias is shown to every caller.
#[tokio::test]
async fn no_model_is_renamed_to_one() {
    let lab = lab().await;
    for to in [KEY.to_owned(), format!("pre-{KEY}")] {
        let ran = lab.gateway.bench(&["model", "rename", "alpha", &to]).await;
        assert_ne!(ran.code, 0, "{ran:?}");
        assert!(ran.stderr.contains("this text contains the key of endpoint"), "{ran:?}");
        assert!(!ran.stderr.contains(KEY), "{ran:?}");
    }
    lab.gateway.bench(&["model", "rename", "alpha", "omega"]).await.exits(0);
}

/// A dummy key is a word, which a text may hold.
#[tokio::test]
async fn a_word_that_is_a_key_too_is_no_refusal() {
    let upstream = Upstream::start().await;
    upstream.model("a", answers("First."));
    let gateway = Scenario::new()
        .endpoint("lm-studio", &upstream.base())
        .key("LM_STUDIO_KEY", "lm-studio")
        .model("alpha", "lm-studio", "a")
        .collection("core", &["alpha"])
        .start()
        .await;
    let file = json!({"version": 1, "collections": [
        {"name": "core", "members": ["alpha"], "description": "what lm-studio serves"}]});
    assert_eq!(import(&gateway, file).await.status, 200);
    let setup = gateway.command("setup", &json!({})).await;
    assert_eq!(setup["collections"][0]["description"], "what lm-studio serves");
}

/// One that stood there before its key was known, or in a set-up of an older version: it starts, masks and warns.
#[tokio::test]
async fn one_that_stands_there_already_is_masked_on_the_way_out() {
    let upstream = Upstream::start().await;
    upstream.model("a", answers("First."));
    let mut home = Home::default();
    let file = json!({"version": 1, "endpoints": [{"name": "fake", "base": upstream.base(), "key_env": "FAKE_KEY"}],
        "models": [{"alias": "alpha", "endpoint": "fake", "served": "a", "options": {"user": KEY}}],
        "collections": [{"name": "core", "members": ["alpha"], "description": format!("uses {KEY}")}]});
    let path = home.file("setup.json", &file.to_string());
    home.bench(&["import", &path.to_string_lossy()]).await.exits(0);
    home.set("FAKE_KEY", KEY);
    let gateway = home.serve().await;
    let mut seen = Vec::new();
    for command in ["setup", "export_setup"] {
        seen.push(gateway.command(command, &json!({})).await.to_string());
    }
    for arguments in
        [&["export"][..], &["collection", "list"], &["model", "show", "alpha"], &["--json", "log"]]
    {
        let ran = gateway.bench(arguments).await;
        seen.extend([ran.stdout, ran.stderr]);
    }
    for path in ["/v1/models", "/v1/models/bench/core", "/v1beta/models", "/api/tags", "/bench/record"] {
        seen.push(gateway.http.get(path).await.text());
    }
    for (at, text) in seen.iter().enumerate() {
        assert!(!text.contains(KEY), "{at}: {text}");
    }
    let setup = gateway.command("setup", &json!({})).await;
    assert_eq!(setup["collections"][0]["description"], "uses \u{2022}\u{2022}\u{2022}\u{2022}");
    // It is no obstacle to another change, and the model is asked as it was set up.
    let change = json!({"version": 1, "settings": {"max_calls": 4}});
    assert_eq!(import(&gateway, change).await.status, 200);
    let ran = gateway.bench(&["model", "set", "alpha", "--role", "code"]).await;
    ran.exits(0);
    // Nor to one of the same item: what comes back as it is shown stays as it was.
    gateway.bench(&["model", "set", "alpha", "--option", "temperature=0.5"]).await.exits(0);
    gateway.bench(&["collection", "save", "core", "--reply", "merged"]).await.exits(0);
    gateway.bench(&["collection", "save", "core", "--reply", "all", "--tag", "x"]).await.exits(0);
    let masked = "uses it: \u{2022}\u{2022}\u{2022}\u{2022}";
    let refused = gateway.bench(&["collection", "save", "core", "--description", masked]).await.exits(1);
    assert!(refused.stderr.contains("collection core: description: this text holds"), "{refused:?}");
    let reply = gateway.http.chat(&question("hi")).await;
    assert_eq!(reply.status, 200, "{}", reply.text());
    let sent = upstream.arrived("a", 1).await.json();
    assert_eq!((&sent["user"], &sent["temperature"]), (&json!(KEY), &json!(0.5)));
    let setup = gateway.command("setup", &json!({})).await;
    assert_eq!(setup["collections"][0]["description"], "uses \u{2022}\u{2022}\u{2022}\u{2022}");
    gateway.bench(&["collection", "save", "core", "--description", "uses nothing"]).await.exits(0);
    gateway.bench(&["model", "rename", "alpha", "omega"]).await.exits(0);
    gateway.bench(&["model", "rename", "omega", "alpha"]).await.exits(0);
    let (home, _) = gateway.stop().await;
    let logs = home.logs();
    assert!(
        logs.contains("model alpha: options.user: this text contains the key of endpoint fake"),
        "{logs}"
    );
    assert!(!logs.contains(KEY), "the key is in a log");
}

/// A provider repeats what it was sent, encoded.
#[tokio::test]
async fn a_key_in_base64_is_masked_too() {
    let encoded = BASE64_STANDARD.encode(format!("user:{KEY}"));
    let part = &encoded[8..encoded.len() - 4];
    let lab = panel_of([
        ("alpha", fails(401, "invalid_api_key", &format!("Bad credentials: Basic {encoded}")).into()),
        ("beta", answers(&format!("You sent {encoded}.")).into()),
    ])
    .await;
    let reply = lab.http().chat(&question("hi")).await;
    assert!(reply.text().contains("You sent dXN"), "{}", reply.text());
    let panel = lab.gateway.command("panel", &json!({"id": panel_id(&reply.json())})).await.to_string();
    for text in [reply.text(), panel, lab.gateway.command("setup", &json!({})).await.to_string()] {
        assert!(!text.contains(part), "{text}");
    }
    let (home, _) = lab.gateway.stop().await;
    for (path, bytes) in home.files() {
        let found = bytes.windows(part.len()).any(|window| window == part.as_bytes());
        assert!(!found, "the key is in {}", path.display());
    }
}

/// A gateway key is known by its shape, whoever's it is, also as a URL and JSON spell it.
#[tokio::test]
async fn a_gateway_key_is_refused_in_every_text_as_a_providers_is() {
    let lab = lab().await;
    let gateway = &lab.gateway;
    let before = gateway.command("export_setup", &json!({})).await;
    let model = |more: Value| {
        let mut model = json!({"alias": "beta", "endpoint": "fake", "served": "v/b"});
        model.as_object_mut().expect("object").extend(more.as_object().expect("object").clone());
        json!({"version": 1, "models": [model]})
    };
    let in_url: String = GATEWAY_KEY.bytes().map(|byte| format!("%{byte:02x}")).collect();
    for written in
        [GATEWAY_KEY.to_owned(), format!("a {GATEWAY_KEY}!"), GATEWAY_KEY.replace('_', "%5F"), in_url]
    {
        let collection = json!([{"name": "core", "members": ["alpha"], "description": written}]);
        let onboard = json!([{"served": written, "alias": "b"}]);
        let endpoint = json!([{"name": "other", "base": format!("https://example.com/{GATEWAY_KEY}/v1")}]);
        let at = "2026-01-01T00:00:00Z";
        for (command, given, field) in [
            ("import_setup", json!({"version": 1, "collections": collection}), "description"),
            ("import_setup", json!({"version": 1, "endpoints": endpoint}), "base"),
            ("import_setup", model(json!({"options": {"user": written}})), "options.user"),
            ("import_setup", model(json!({"options": {&written: 1}})), "options."),
            ("import_setup", model(json!({"served": written})), "served"),
            ("import_setup", model(json!({"retired": {"why": written, "at": at}})), "retired.why"),
            ("dismiss_models", json!({"endpoint": "fake", "served": ["a", written]}), "served[1]"),
            ("onboard", json!({"endpoint": "fake", "models": onboard, "mode": "quick"}), "models[0].served"),
            ("register_models", json!({"endpoint": "fake", "models": onboard}), "served"),
        ] {
            let given = if command == "import_setup" { json!({"text": given.to_string()}) } else { given };
            let answer = gateway.admin(command, &given).await;
            let said = answer.json();
            assert_eq!(answer.status, 400, "{command} {given}: {said}");
            assert!(said["error"]["field"].as_str().is_some_and(|it| it.starts_with(field)), "{said}");
            assert!(answer.text().contains("this text contains a gateway key"), "{said}");
            assert!(!answer.text().contains(&written), "{said}");
        }
    }
    for arguments in [
        &["model", "retire", "alpha", "--why", GATEWAY_KEY][..],
        &["model", "rename", "alpha", GATEWAY_KEY],
        &["model", "set", "alpha", "--option", &format!("user={GATEWAY_KEY}")],
        &["collection", "save", "core", "--description", GATEWAY_KEY],
    ] {
        let refused = gateway.bench(arguments).await.exits(1);
        assert!(refused.stderr.contains("this text contains a gateway key"), "{refused:?}");
        assert!(!refused.stderr.contains(GATEWAY_KEY), "{refused:?}");
    }
    assert_eq!(gateway.command("export_setup", &json!({})).await, before, "nothing was changed");
}

/// One that an older version took in.
#[tokio::test]
async fn a_gateway_key_that_stands_there_already_is_masked_on_the_way_out() {
    let lab = lab().await;
    let Lab { gateway, upstream } = lab;
    gateway.bench(&["collection", "save", "core", "--description", "by PLACEHOLDER"]).await.exits(0);
    gateway.bench(&["model", "set", "alpha", "--option", "user=PLACEHOLDER"]).await.exits(0);
    let home = gateway.kill().await;
    let options = OpenOptions { path: home.data(), now: std::sync::Arc::new(|| 0), max_pages: None };
    let store = Store::open(options).expect("the records").store;
    for item in store.setup_items().expect("set-up") {
        let body = item.body.replace("PLACEHOLDER", GATEWAY_KEY);
        store
            .change_setup(vec![SetupChange::Put(SetupItem { body, ..item })], Vec::new())
            .await
            .expect("kept");
    }
    store.close();
    let gateway = home.serve().await;
    let mut seen = Vec::new();
    for command in ["setup", "export_setup"] {
        seen.push(gateway.command(command, &json!({})).await.to_string());
    }
    for arguments in [
        &["export"][..],
        &["collection", "list"],
        &["collection", "show", "core"],
        &["model", "show", "alpha"],
    ] {
        let ran = gateway.bench(arguments).await;
        seen.extend([ran.stdout, ran.stderr]);
    }
    for path in ["/v1/models", "/v1/models/bench/core", "/v1beta/models", "/api/tags", "/v1/models/nobody"] {
        seen.push(gateway.http.get(path).await.text());
    }
    for (at, text) in seen.iter().enumerate() {
        assert!(!text.contains(GATEWAY_KEY), "{at}: {text}");
    }
    let setup = gateway.command("setup", &json!({})).await;
    assert_eq!(setup["collections"][0]["description"], "by \u{2022}\u{2022}\u{2022}\u{2022}");
    // What comes back as it is shown stays as it was.
    gateway.bench(&["model", "set", "alpha", "--option", "temperature=0.5"]).await.exits(0);
    gateway.bench(&["collection", "save", "core", "--tag", "x"]).await.exits(0);
    assert_eq!(gateway.http.chat(&question("hi")).await.status, 200);
    let sent = upstream.asked(&served("alpha")).pop().expect("asked").json();
    assert_eq!((&sent["user"], &sent["temperature"]), (&json!(GATEWAY_KEY), &json!(0.5)));
    let (home, _) = gateway.stop().await;
    let logs = home.logs();
    assert!(logs.contains("collection core: description: this text contains a gateway key"), "{logs}");
    assert!(!logs.contains(GATEWAY_KEY), "the key is in a log");
}

/// A name is shown wherever its calls are.
#[tokio::test]
async fn no_gateway_key_is_called_like_a_key() {
    let key = "lowerkey-9a8b7c6d5e4f3g2h";
    let upstream = Upstream::start().await;
    upstream.model("a", answers("First."));
    let scenario = Scenario::new().endpoint("fake", &upstream.base()).key("FAKE_KEY", key);
    let gateway = scenario.model("alpha", "fake", "a").collection("core", &["alpha"]).start().await;
    let refused = gateway.admin("create_key", &json!({"name": key})).await;
    let said = refused.json();
    assert_eq!((refused.status.as_u16(), &said["error"]["field"]), (400, &json!("name")), "{said}");
    let wanted = "gateway key: name: this text contains the key of endpoint fake";
    assert!(said["error"]["message"].as_str().is_some_and(|it| it.starts_with(wanted)), "{said}");
    assert!(!refused.text().contains(key), "{said}");
    assert_eq!(gateway.command("keys", &json!({})).await, json!([]));
}

/// Names of fields are their caller's words too.
#[tokio::test]
async fn the_name_of_a_field_is_masked_where_it_is_kept_or_told() {
    let lab = lab().await;
    let message = json!([{"role": "user", "content": "whom?"}]);
    let masked = "\u{2022}\u{2022}\u{2022}\u{2022}";
    for (path, model) in [
        ("/v1/chat/completions", "bench/core"),
        ("/v1/messages", "bench/core"),
        ("/v1/messages", "bench/core:route"),
    ] {
        for key in [KEY, GATEWAY_KEY] {
            let asked = json!({"model": model, "max_tokens": 9, key: 1, "messages": message});
            let asked = lab.http().post(path, &asked).await;
            assert_eq!(asked.status, 200, "{}", asked.text());
            let lossy = asked.header("x-bench-lossy");
            assert!(lossy.contains("????="), "{model}: {lossy}");
            let bench = &asked.json()["bench"];
            if let Some(id) = bench["panel"].as_str() {
                let panel = lab.gateway.command("panel", &json!({"id": id})).await;
                let lossy = panel["lossy"].as_array().expect("a list");
                assert!(lossy.iter().any(|it| it["field"] == masked), "{panel}");
            }
        }
    }
    let input =
        json!([{"role": "user", "content": [{"type": "input_text", "text": "x", KEY: 1}], GATEWAY_KEY: "2"}]);
    let metadata = json!({KEY: "a", GATEWAY_KEY: "b", "user": KEY});
    let body = json!({"model": "bench/core", "input": input, "metadata": metadata});
    let response = lab.http().post("/v1/responses", &body).await;
    assert_eq!(response.status, 200, "{}", response.text());
    let id = response.json()["id"].as_str().expect("id").to_owned();
    let mut seen = Vec::new();
    for path in [format!("/v1/responses/{id}"), format!("/v1/responses/{id}/input_items")] {
        let kept = lab.http().get(&path).await;
        assert_eq!(kept.status, 200, "{}", kept.text());
        seen.push(kept.text());
    }
    assert!(seen[0].contains(&format!("\"user\":\"{masked}\"")), "{}", seen[0]);
    let (home, _) = lab.gateway.stop().await;
    nowhere(&home);
    for (path, bytes) in home.files() {
        let found = bytes.windows(GATEWAY_KEY.len()).any(|window| window == GATEWAY_KEY.as_bytes());
        assert!(!found, "the gateway key is in {}", path.display());
    }
    for text in seen {
        assert!(!text.contains(KEY) && !text.contains(GATEWAY_KEY), "{text}");
    }
}
