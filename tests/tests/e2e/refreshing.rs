//! The public lists of models, fetched: providers.md §3.

use bench_tests::{Gateway, Home, Upstream, scenario::KEY, upstream::Listing};
use serde_json::{Value, json};

use crate::frames::Frames;

/// Two lists: models.dev's, and OpenRouter's, each at its own upstream.
struct Lists {
    models_dev: Upstream,
    openrouter: Upstream,
}

impl Lists {
    async fn start() -> (Lists, Home) {
        let lists = Lists { models_dev: Upstream::start().await, openrouter: Upstream::start().await };
        let mut home = Home::default();
        home.set("LAB_KEY", KEY);
        for (variable, list) in [
            ("BENCHWARMERS_CATALOG_MODELS_DEV", &lists.models_dev),
            ("BENCHWARMERS_CATALOG_OPENROUTER", &lists.openrouter),
        ] {
            home.set(variable, &format!("{}/models", list.base()));
        }
        lists.tell(64_000, 32_000, "0");
        (lists, home)
    }

    /// A window by models.dev and by OpenRouter, and a price in dollars a token.
    fn tell(&self, groq: u64, openrouter: u64, price: &str) {
        let model =
            |window: u64| json!({"id": "x", "tool_call": true, "limit": {"context": window, "output": 99}});
        self.models_dev.listing(Listing::Told(json!({
            "groq": {"models": {"lab-a": model(groq)}},
            "openrouter": {"models": {"lab/b": model(groq)}},
        })));
        let of = json!({"id": "lab/b", "context_length": openrouter, "pricing": {"prompt": price, "completion": price}});
        self.openrouter.listing(Listing::Told(json!({"data": [of]})));
    }
}

/// A model of Groq and one of OpenRouter; nobody is asked.
async fn registered(home: &Home) -> Gateway {
    let gateway = home.serve().await;
    for (name, base, served, alias) in [
        ("groq", "https://api.groq.com/openai/v1", "lab-a", "a"),
        ("openrouter", "https://openrouter.ai/api/v1", "lab/b", "b"),
    ] {
        let endpoint = json!({"name": name, "base": base, "key_env": "LAB_KEY", "new": true,
                              "allow_plain_http": false});
        gateway.command("save_endpoint", &endpoint).await;
        let register = json!({"endpoint": name, "models": [{"served": served, "alias": alias}]});
        gateway.command("register_models", &register).await;
    }
    gateway
}

/// What holds of a model, and whose word it is.
async fn holds(gateway: &Gateway, alias: &str, name: &str) -> Value {
    let sheet = gateway.command("model", &json!({"name": alias})).await;
    let facts = sheet["facts"].as_array().expect("facts").clone();
    let fact = facts.into_iter().find(|fact| fact["name"] == name).expect("every fact is there");
    json!([fact["value"], fact["source"]])
}

#[tokio::test]
async fn the_public_lists_tell_of_models_and_nothing_is_told_to_them() {
    let (lists, home) = Lists::start().await;
    let gateway = registered(&home).await;
    assert_eq!(holds(&gateway, "a", "context_window").await, json!([null, null]));

    let said = gateway.bench(&["model", "refresh"]).await.exits(0).stdout;
    assert!(said.contains("models.dev") && said.contains("openrouter"), "{said}");
    assert_eq!(holds(&gateway, "a", "context_window").await, json!([64_000, "refresh"]));
    assert_eq!(holds(&gateway, "a", "tools").await, json!([true, "refresh"]));
    let both = json!([32_000, "refresh"]);
    assert_eq!(holds(&gateway, "b", "context_window").await, both, "the list of its own is fresher");
    assert_eq!(holds(&gateway, "b", "tools").await, json!([true, "refresh"]), "and what it leaves out stays");
    for list in [&lists.models_dev, &lists.openrouter] {
        let received = list.received();
        assert_eq!(received.len(), 1);
        let request = &received[0];
        assert_eq!((request.method.as_str(), request.path.as_str()), ("GET", "/v1/models"));
        for (name, value) in &request.headers {
            let name = name.to_ascii_lowercase();
            assert!(
                matches!(name.as_str(), "host" | "accept" | "user-agent" | "accept-encoding" | "connection"),
                "{name}: {value}"
            );
        }
    }

    // Kept over a restart, and over a list that does not read.
    let (home, _) = gateway.stop().await;
    let gateway = home.serve().await;
    assert_eq!(holds(&gateway, "a", "context_window").await, json!([64_000, "refresh"]));
    lists.models_dev.listing(Listing::Html);
    lists.openrouter.listing(Listing::Missing);
    let failed = gateway.bench(&["model", "refresh"]).await.exits(1);
    assert!(failed.stdout.contains("status 404"), "{}", failed.stdout);
    assert_eq!(holds(&gateway, "a", "context_window").await, json!([64_000, "refresh"]));

    // What was free and is not any more by their word waits for its owner.
    lists.tell(64_000, 32_000, "0.000002");
    let catalog = gateway.command("refresh_catalog", &json!({})).await;
    assert_eq!((&catalog["on"], &catalog["sources"][0]["error"]), (&json!(true), &Value::Null), "{catalog}");
    let status = gateway.command("status", &json!({})).await;
    let alert = &status["alerts"][0];
    assert_eq!((&alert["kind"], &alert["subject"]), (&json!("went_paid"), &json!("b")), "{status}");
    // The owner overrules them.
    gateway.bench(&["model", "set", "a", "--fact", "context_window=1000"]).await.exits(0);
    assert_eq!(holds(&gateway, "a", "context_window").await, json!([1000, "owner"]));
    let off = gateway.bench(&["settings", "set", "catalog_refresh=false"]).await.exits(0).stdout;
    assert!(off.contains("catalog_refresh"), "{off}");
    assert_eq!(gateway.command("refresh_catalog", &json!({})).await["on"], false);
}

#[tokio::test]
async fn the_same_list_again_is_no_news_by_whatever_it_is_known() {
    const DAY: &str = "Mon, 30 Nov 2026 08:00:00 GMT";
    for (etag, last_modified) in [("\"a\"", ""), ("", DAY), ("", "")] {
        let what = format!("{etag} {last_modified}");
        let (lists, home) = Lists::start().await;
        let dated = |window: u64| {
            let model = json!({"id": "x", "limit": {"context": window, "output": 99}});
            let body = json!({"groq": {"models": {"lab-a": model}}});
            Listing::Dated { body, etag, last_modified }
        };
        lists.models_dev.listing(dated(64_000));
        let gateway = registered(&home).await;
        let refresh = async |gateway: &Gateway| {
            let catalog = gateway.command("refresh_catalog", &json!({})).await;
            assert_eq!(catalog["sources"][0]["error"], Value::Null, "{what}: {catalog}");
            catalog["sources"][0]["refreshed_at"].as_str().expect("a time").to_owned()
        };
        let first = refresh(&gateway).await;
        assert_eq!(holds(&gateway, "a", "context_window").await, json!([64_000, "refresh"]), "{what}");

        let mut live = Frames::live(&gateway).await;
        live.until("\n").await;
        let second = refresh(&gateway).await;
        assert!(second > first, "{what}: it is as fresh as if it had come whole");
        let (home, _) = gateway.stop().await;
        let gateway = home.serve().await;
        let third = refresh(&gateway).await;
        assert!(third > second, "{what}");
        let (events, _) = live.rest().await;
        assert!(!events.contains("setup_changed"), "{what}: {events}");

        let sent = lists.models_dev.received();
        let header = |at: usize, name: &str| sent[at].header(name).unwrap_or_default().to_owned();
        for at in [1, 2] {
            let told = (header(at, "if-none-match"), header(at, "if-modified-since"));
            assert_eq!(told, (etag.to_owned(), last_modified.to_owned()), "{what}, request {at}");
        }
        assert_eq!(
            (header(0, "if-none-match"), header(0, "if-modified-since")),
            Default::default(),
            "{what}"
        );
        assert_eq!(holds(&gateway, "a", "context_window").await, json!([64_000, "refresh"]), "{what}");
    }
}
