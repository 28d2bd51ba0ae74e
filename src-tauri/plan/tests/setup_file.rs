//! The set-up file: what it says when it is wrong, and what an import does when it is right.

use catalog::{Endpoint, EndpointKind, Model, PRACTICE_BASE};
use plan::{Collection, OnHangup, Settings, Setup, SetupError, export, merge, parse};
use serde_json::{Value, json};

/// The example of setup-file.md.
fn example() -> Value {
    json!({
        "version": 1,
        "endpoints": [{
            "name": "fake", "base": "http://127.0.0.1:9900/v1", "api": "chat", "kind": "provider",
            "key_env": "FAKE_KEY", "headers": {"X-Title": "bench"},
            "limits": {"rpm": 60, "rpd": null, "tpm": null, "tpd": null, "rpmo": null}, "paid": false
        }],
        "models": [{
            "alias": "alpha", "endpoint": "fake", "served": "vendor/alpha-1", "role": "general", "ad_hoc": false,
            "facts": {
                "context_window": 128000, "max_output": 8192, "tools": true, "vision": true, "reasoning": false,
                "structured_output": true, "pdf": false, "audio": false,
                "price": {"input": 0.5, "output": 1.5, "cache_read": 0.05, "cache_write": 0.6}
            },
            "options": {"max_tokens": 4096, "temperature": 0.2}
        }],
        "collections": [{
            "name": "core", "description": "everyday second opinions", "tags": ["code"], "members": ["alpha"],
            "shape": "", "reply": "all", "merger": null
        }],
        "settings": {"max_calls": 5, "max_explorers": 2}
    })
}

fn import(current: &Setup, text: &str) -> Result<(Setup, Vec<String>), SetupError> {
    let (setup, changes) = merge(current, parse(text)?)?;
    Ok((setup, changes.iter().map(ToString::to_string).collect()))
}

fn imported(current: &Setup, file: &Value) -> (Setup, Vec<String>) {
    let outcome = import(current, &file.to_string());
    assert_eq!(outcome.as_ref().err(), None);
    outcome.unwrap_or_default()
}

/// The set-up of the example, with practice beside it as the first run makes it.
fn with_practice() -> Setup {
    let (mut setup, _) = imported(&Setup::default(), &example());
    setup
        .endpoints
        .push(Endpoint { kind: Some(EndpointKind::Practice), ..Endpoint::new("practice", PRACTICE_BASE) });
    setup.models.push(Model::new("quick", "practice", "quick"));
    setup.models.push(Model::new("slow", "practice", "slow"));
    setup.collections.push(Collection::new("practice", ["quick", "slow"]));
    setup
}

#[test]
fn the_example_is_imported_and_again_changes_nothing() {
    let (setup, changes) = imported(&Setup::default(), &example());
    assert_eq!(changes, ["added endpoint fake", "added model alpha", "added collection core"]);
    assert_eq!(setup.settings, Settings::default());
    let (again, changes) = imported(&setup, &example());
    assert_eq!(changes, Vec::<String>::new());
    assert_eq!(again, setup);
}

#[test]
fn every_section_but_the_version_may_be_absent() {
    let (setup, changes) = imported(&with_practice(), &json!({"version": 1}));
    assert_eq!((setup, changes), (with_practice(), Vec::new()));
    let (_, changes) = imported(&Setup::default(), &json!({"version": 1, "settings": {}}));
    assert_eq!(changes, Vec::<String>::new());
    assert!(import(&Setup::default(), "\u{feff}{\"version\": 1}").is_ok(), "a byte order mark is no fault");
}

#[test]
fn items_of_the_same_name_are_replaced_whole_and_nothing_is_removed() {
    let current = with_practice();
    let file = json!({
        "version": 1,
        "endpoints": [{"name": "fake", "base": "https://example.com/v1"}, {"name": "other", "base": "https://example.org"}],
        "models": [{"alias": "alpha", "endpoint": "other", "served": "alpha-2"}],
        "settings": {"max_calls": 7, "panel_on_hangup": "cancel"}
    });
    let (setup, changes) = imported(&current, &file);
    assert_eq!(
        changes,
        ["changed endpoint fake", "added endpoint other", "changed model alpha", "changed settings"]
    );
    assert_eq!(
        setup.endpoints[0],
        Endpoint::new("fake", "https://example.com/v1"),
        "left-out fields are at their defaults"
    );
    assert_eq!(setup.models[0], Model::new("alpha", "other", "alpha-2"));
    assert_eq!(setup.collections, current.collections);
    assert_eq!(setup.settings.max_calls, 7);
    assert_eq!(setup.settings.max_explorers, current.settings.max_explorers, "settings not named stay");
}

#[test]
fn a_wrong_file_says_where_and_what() {
    let with = |pointer: &str, value: Value| {
        let mut file = example();
        let (parent, key) = pointer.rsplit_once('/').expect("pointer");
        match file.pointer_mut(parent).expect(parent) {
            Value::Object(object) => object.insert(key.to_owned(), value).map_or((), drop),
            Value::Array(list) => list.push(value),
            other => panic!("{other}"),
        }
        file.to_string()
    };
    let model = |alias: &str, endpoint: &str| json!({"alias": alias, "endpoint": endpoint, "served": "x"});
    let cases: Vec<(String, &str)> = vec![
        // Not JSON, not this file.
        (String::new(), "line 1, column 0: not JSON: EOF while parsing a value"),
        ("{\"version\": 1,\n \"models\": [}".to_owned(), "line 2, column 13: not JSON: expected value"),
        ("{\"version\": 1} x".to_owned(), "line 1, column 16: not JSON: trailing characters"),
        ("[]".to_owned(), "set-up: expected an object: {\"version\": 1, …}"),
        ("{}".to_owned(), "version: missing; this program reads version 1"),
        (with("/version", json!("1")), "version: \"1\" is not a version; this program reads 1"),
        (with("/version", json!(0)), "version: 0 is not a version; this program reads 1"),
        (
            json!({"version": 2, "novelty": true}).to_string(),
            "version: 2 is newer than this program reads (1); update Benchwarmers, then import",
        ),
        // Wrong shapes, with their path.
        (with("/colections", json!([])), "colections: unknown field `colections`, expected one of"),
        (
            with("/endpoints/0/keys", json!("sk-1")),
            "endpoints[0].keys: unknown field `keys`, expected one of",
        ),
        (with("/endpoints/0/api", json!("soap")), "endpoints[0].api: unknown variant `soap`"),
        (
            with("/endpoints/0/limits", json!({"rpm": -1})),
            "endpoints[0].limits.rpm: invalid value: integer `-1`",
        ),
        (
            with("/endpoints/0/headers", json!({"X-N": 1})),
            "endpoints[0].headers.X-N: invalid type: integer `1`",
        ),
        (with("/models/0/facts", json!({"vison": true})), "models[0].facts.vison: unknown field `vison`"),
        (
            with("/models/0/served", json!(7)),
            "models[0].served: invalid type: integer `7`, expected a string",
        ),
        (with("/models/-", json!({"alias": "b", "served": "x"})), "models[1]: missing field `endpoint`"),
        (
            with("/collections/0/members", json!("alpha")),
            "collections[0].members: invalid type: string \"alpha\"",
        ),
        (
            with("/collections/0/shape", json!("poem")),
            "collections[0].shape: unknown shape \"poem\"; use one of general",
        ),
        (with("/models/0/role", json!("Code")), "models[0].role: 2 to 24 lower-case letters"),
        (
            with("/models/0/role", json!("genral")),
            "models[0].role: unknown role \"genral\"; use one of general, code, light, vision, image, decision, or name it",
        ),
        (
            with("/models/0/retired", json!({"at": "soon", "why": "x"})),
            "models[0].retired.at: the date it was retired",
        ),
        (with("/models/0/retired", json!({"at": "2026-11-29"})), "models[0].retired: missing field `why`"),
        (with("/shapes", json!([{"name": "law", "roles": []}])), "shapes[0].roles: at least one role"),
        (
            with("/shapes", json!([{"name": "law", "roles": ["a1"]}, {"name": "law", "roles": ["a1"]}])),
            "shapes[1].name: \"law\" is already shapes[0]",
        ),
        (with("/shapes", json!([{"name": "law", "role": "a1"}])), "shapes[0].role: unknown field `role`"),
        (with("/collections/0/reply", json!("some")), "collections[0].reply: unknown variant `some`"),
        (
            with("/settings/max_cals", json!(3)),
            "settings.max_cals: unknown field `max_cals`, expected one of",
        ),
        // Wrong values.
        (with("/endpoints/0/name", json!("Fake")), "endpoints[0].name: 2 to 32 lower-case letters"),
        (with("/endpoints/0/base", json!("fake.local/v1")), "endpoints[0].base: not a URL"),
        (with("/endpoints/0/base", json!("http://10.0.0.5/v1")), "endpoints[0].base: plain http to 10.0.0.5"),
        (
            with("/endpoints/0/base", json!("https://x.example/v1?key=1")),
            "endpoints[0].base: the base URL must not have a query",
        ),
        (
            with("/endpoints/0/key_env", json!("sk-abc.def")),
            "endpoints[0].key_env: the name of an environment variable",
        ),
        (
            with("/endpoints/0/headers", json!({"Authorization": "Bearer sk-SECRET"})),
            "endpoints[0].headers[\"Authorization\"]: a header must not carry a secret; keys belong in the keychain or in key_env",
        ),
        (
            with("/endpoints/-", json!({"name": "fake", "base": "https://x.example"})),
            "endpoints[1].name: \"fake\" is already endpoints[0]",
        ),
        (
            with("/endpoints/0/kind", json!("practice")),
            "endpoints[0].kind: practice is the built-in endpoint's own kind",
        ),
        (
            with("/endpoints/0/base", json!(PRACTICE_BASE)),
            "endpoints[0].base: bench:/practice/v1 is the built-in",
        ),
        (
            with("/endpoints/-", json!({"name": "practice", "base": PRACTICE_BASE, "kind": "practice"})),
            "endpoints[1].name: \"practice\" is the built-in practice endpoint; leave it out",
        ),
        (
            with("/endpoints/-", json!({"name": "practice", "base": "https://x.example"})),
            "endpoints[1].name: \"practice\" is the built-in practice endpoint; leave it out",
        ),
        (with("/models/-", model("b", "grok")), "models[1].endpoint: no endpoint \"grok\""),
        (
            with("/models/-", model("b", "practice")),
            "models[1].endpoint: practice models are built in; leave it out",
        ),
        (
            with("/models/-", model("quick", "fake")),
            "models[1].alias: \"quick\" is a practice model; choose another alias",
        ),
        (with("/models/-", model("alpha", "fake")), "models[1].alias: \"alpha\" is already models[0]"),
        (with("/models/-", model("a b", "fake")), "models[1].alias: 1 to 64 letters"),
        (with("/models/0/facts", json!({"context_window": 8})), "models[0].facts.context_window: 512 to"),
        (with("/models/0/facts", json!({"price": {"input": -1}})), "models[0].facts.price.input: US dollars"),
        (with("/models/0/options", json!({"stream": false})), "models[0].options.stream: set by the gateway"),
        (with("/collections/0/name", json!("c")), "collections[0].name: 2 to 32 lower-case letters"),
        (
            with("/collections/0/members", json!(["alpha", "gone"])),
            "collections[0].members[1]: no model \"gone\"",
        ),
        (with("/collections/0/merger", json!("gone")), "collections[0].merger: no model \"gone\""),
        (
            with("/collections/-", json!({"name": "core", "members": ["alpha"]})),
            "collections[1].name: \"core\" is already collections[0]",
        ),
        (with("/settings/max_calls", json!(11)), "settings.max_calls: 1 to 10, not 11"),
        (with("/settings/rotate", json!(1.25)), "settings.rotate: 0 to 1, not 1.25"),
        (with("/settings/rotate", json!("often")), "settings.rotate: invalid type: string \"often\""),
        (
            with("/settings/conversation_minutes", json!(43_201)),
            "settings.conversation_minutes: 1 to 43200, not 43201",
        ),
        (with("/settings/keep_route_text", json!(1)), "settings.keep_route_text: invalid type: integer `1`"),
        (
            with("/settings/route_on_hangup", json!("wait")),
            "settings.route_on_hangup: unknown variant `wait`, expected `finish` or `cancel`",
        ),
        (with("/collections/0/shadow", json!(4)), "collections[0].shadow: 0 to 3, not 4"),
        (with("/collections/0/shadow", json!(-1)), "collections[0].shadow: invalid value: integer `-1`"),
        (
            with("/collections/0/budget", json!({"per": "day"})),
            "collections[0].budget: tokens, dollars or both; leave it out",
        ),
        (with("/collections/0/budget", json!({"tokens": 5})), "collections[0].budget: missing field `per`"),
        (
            with("/collections/0/budget", json!({"tokens": 5, "per": "week"})),
            "collections[0].budget.per: unknown variant `week`, expected `day` or `month`",
        ),
        (
            with("/collections/0/budget", json!({"dollars": -1, "per": "day"})),
            "collections[0].budget.dollars: more than 0",
        ),
        (
            with("/collections/0/budget", json!({"token": 5, "per": "day"})),
            "collections[0].budget.token: unknown field `token`",
        ),
        (with("/collections/0/shadow_share", json!(2)), "collections[0].shadow_share: 0 to 1, not 2"),
    ];
    let current = with_practice();
    for (text, wanted) in cases {
        let error = import(&current, &text).expect_err(&text).to_string();
        assert!(error.starts_with(wanted), "{text}\n  said:   {error}\n  wanted: {wanted}");
        assert!(!error.contains("SECRET"), "{error}");
    }
}

#[test]
fn a_file_wrong_in_the_middle_changes_nothing() {
    let current = with_practice();
    let before = current.clone();
    let file = json!({
        "version": 1,
        "endpoints": [{"name": "new", "base": "https://example.com"}],
        "models": [
            {"alias": "m0", "endpoint": "new", "served": "m0"}, {"alias": "m1", "endpoint": "new", "served": "m1"},
            {"alias": "m2", "endpoint": "new", "served": "m2"}, {"alias": "m3", "endpoint": "grok", "served": "m3"}
        ],
        "settings": {"max_calls": 9}
    });
    let error = import(&current, &file.to_string()).expect_err("no such endpoint");
    assert_eq!(error.to_string(), "models[3].endpoint: no endpoint \"grok\"");
    assert_eq!(current, before);
}

#[test]
fn a_collection_is_held_to_the_max_calls_of_its_own_file() {
    let mut file = example();
    file["models"] =
        (0..3).map(|n| json!({"alias": format!("m{n}"), "endpoint": "fake", "served": "m"})).collect();
    file["collections"][0]["members"] = json!(["m0", "m1", "m2"]);
    file["settings"]["max_calls"] = json!(2);
    let error = import(&Setup::default(), &file.to_string()).expect_err("too many").to_string();
    assert_eq!(error, "collections[0].members: at most 2 members (max_calls), not 3");
    file["settings"]["max_calls"] = json!(3);
    imported(&Setup::default(), &file);
}

#[test]
fn an_export_is_the_same_bytes_and_imports_to_no_changes() {
    let mut setup = with_practice();
    setup.models.push(Model::new("beta", "fake", "beta"));
    let mut mixed = Collection::new("mixed", ["quick", "alpha", "slow", "beta"]);
    mixed.merger = Some("slow".to_owned());
    setup.collections.push(mixed);
    setup.settings.max_calls = 4;
    let text = export(&setup);
    assert_eq!(text, export(&setup));
    assert!(text.ends_with("}\n"));
    for practice in ["practice", "quick", "slow"] {
        assert!(!text.contains(practice), "{practice} is in the export:\n{text}");
    }
    assert_eq!(imported(&setup, &serde_json::from_str(&text).expect("json")), (setup.clone(), Vec::new()));

    let (elsewhere, changes) = import(&Setup::default(), &text).expect("a new machine");
    assert_eq!(changes.len(), 6, "{changes:?}");
    assert_eq!(elsewhere.collections[1], Collection::new("mixed", ["alpha", "beta"]));
    assert_eq!(export(&elsewhere), text);
}

#[test]
fn shapes_roles_and_retirement_go_out_and_come_back() {
    let mut file = example();
    file["shapes"] = json!([
        {"name": "law", "description": "a question of law", "roles": ["jurist", "general"]},
        {"name": "prose", "description": "writing", "roles": ["general", "light"]}
    ]);
    file["models"][0]["role"] = json!("jurist");
    file["models"][0]["retired"] = json!({"at": "2026-11-29", "why": "went paid"});
    file["collections"][0]["shape"] = json!("law");
    let (setup, changes) = imported(&Setup::default(), &file);
    let wanted = [
        "added endpoint fake",
        "added shape law",
        "added shape prose",
        "added model alpha",
        "added collection core",
    ];
    assert_eq!(changes, wanted);
    let text = export(&setup);
    assert_eq!(imported(&setup, &serde_json::from_str(&text).expect("json")), (setup, Vec::new()));
    let written: Value = serde_json::from_str(&text).expect("json");
    assert_eq!(written["models"][0]["retired"], file["models"][0]["retired"]);
    assert_eq!(written["shapes"], file["shapes"]);
}

#[test]
fn what_route_mode_is_told_goes_out_and_comes_back() {
    let mut file = example();
    file["settings"] = json!({
        "rotate": 0.5, "conversation_minutes": 90, "show_reasoning_early": true, "route_on_hangup": "finish",
        "keep_route_text": true, "list_models": true, "catalog_refresh": false,
        "require_keys": true
    });
    file["collections"][0]["reply"] = json!("route");
    file["collections"][0]["shadow"] = json!(2);
    file["collections"][0]["shadow_share"] = json!(0.1);
    file["collections"][0]["shadow_tokens"] = json!(1_000_000);
    let (setup, _) = imported(&Setup::default(), &file);
    let wanted = Settings {
        rotate: 0.5,
        conversation_minutes: 90,
        show_reasoning_early: true,
        route_on_hangup: OnHangup::Finish,
        keep_route_text: true,
        list_models: true,
        catalog_refresh: false,
        require_keys: true,
        ..Settings::default()
    };
    assert_eq!(setup.settings, wanted);
    let core = &setup.collections[0];
    assert_eq!((core.shadow, core.shadow_share, core.shadow_tokens), (2, 0.1, 1_000_000));
    let written: Value = serde_json::from_str(&export(&setup)).expect("json");
    for field in ["reply", "shadow", "shadow_share", "shadow_tokens"] {
        assert_eq!(written["collections"][0][field], file["collections"][0][field], "{field}");
    }
    assert_eq!(imported(&setup, &written), (setup.clone(), Vec::new()));

    // Named alone, a setting changes nothing beside it.
    let (setup, changes) = imported(&setup, &json!({"version": 1, "settings": {"rotate": 0}}));
    assert_eq!(changes, ["changed settings"]);
    assert_eq!(setup.settings, Settings { rotate: 0.0, ..wanted });
}

#[test]
fn a_budget_goes_out_and_comes_back() {
    let mut file = example();
    for budget in
        [json!({"tokens": 100_000, "per": "day"}), json!({"tokens": 1, "dollars": 2.5, "per": "month"})]
    {
        file["collections"][0]["budget"] = budget;
        let (setup, _) = imported(&Setup::default(), &file);
        let written: Value = serde_json::from_str(&export(&setup)).expect("json");
        assert_eq!(written["collections"][0]["budget"], file["collections"][0]["budget"]);
        assert_eq!(imported(&setup, &written), (setup.clone(), Vec::new()));
    }
}

#[test]
fn the_export_of_the_example_is_the_example() {
    let (setup, _) = imported(&Setup::default(), &example());
    let text: Value = serde_json::from_str(&export(&setup)).expect("json");
    let mut wanted = example();
    wanted["collections"][0]["when_too_large"] = json!("refuse");
    wanted["settings"] = serde_json::to_value(Settings::default()).expect("json");
    assert_eq!(text, wanted);
}
