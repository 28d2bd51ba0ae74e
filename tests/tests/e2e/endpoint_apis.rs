//! Endpoints of every API a member may speak: listed, tested, added and changed, in the window's words and by the
//! command line.

use bench_tests::{
    Gateway, Home, Upstream,
    upstream::{Listing, answers, fails},
};
use serde_json::{Value, json};

/// An API: where its endpoint is at the scripted upstream, how it lists, and what a listing's requests carry.
struct Api {
    name: &'static str,
    /// Behind the upstream's root.
    base: &'static str,
    listing: Listing,
    /// The requests of one listing of two models.
    asks: &'static [&'static str],
    /// The key's header and what stands before the key.
    key: (&'static str, &'static str),
    /// Bases that a person may paste instead.
    typos: &'static [&'static str],
    /// Where its models are asked.
    path: &'static str,
    /// What it is called in a sentence.
    whose: &'static str,
}

const APIS: &[Api] = &[
    Api {
        name: "chat",
        base: "/v1",
        listing: Listing::OpenAi,
        asks: &["/v1/models"],
        key: ("authorization", "Bearer "),
        typos: &["", "/v2"],
        path: "/v1/chat/completions",
        whose: "OpenAI's chat API",
    },
    Api {
        name: "responses",
        base: "/v1",
        listing: Listing::OpenAi,
        asks: &["/v1/models"],
        key: ("authorization", "Bearer "),
        typos: &["", "/v1/v1"],
        path: "/v1/responses",
        whose: "OpenAI's Responses API",
    },
    Api {
        name: "anthropic",
        base: "/v1",
        listing: Listing::Anthropic,
        asks: &["/v1/models?limit=1000", "/v1/models?limit=1000&after_id=vendor%2Falpha"],
        key: ("x-api-key", ""),
        typos: &["", "/anthropic"],
        path: "/v1/messages",
        whose: "Anthropic's API",
    },
    Api {
        name: "gemini",
        base: "/v1beta",
        listing: Listing::Gemini,
        asks: &["/v1beta/models?pageSize=1000", "/v1beta/models?pageSize=1000&pageToken=1"],
        key: ("x-goog-api-key", ""),
        typos: &["", "/v1beta/openai"],
        path: "/v1beta/models/vendor/alpha:streamGenerateContent?alt=sse",
        whose: "Gemini's API",
    },
    Api {
        name: "ollama",
        base: "",
        listing: Listing::Ollama,
        asks: &["/api/tags"],
        key: ("authorization", "Bearer "),
        typos: &["/v1", "/api"],
        path: "/api/chat",
        whose: "Ollama's API",
    },
];

async fn two_models() -> Upstream {
    let upstream = Upstream::start().await;
    upstream.model("vendor/alpha", answers("A"));
    upstream.model("vendor/beta", answers("B"));
    upstream
}

async fn tested(gateway: &Gateway, api: &str, base: &str) -> Value {
    let endpoint = json!({"name": "lab", "base": base, "api": api, "key_env": "LAB_KEY", "new": false,
                          "allow_plain_http": false});
    gateway.command("save_endpoint", &endpoint).await;
    gateway.command("test_endpoint", &json!({"name": "lab"})).await
}

fn served(test: &Value) -> Vec<&str> {
    test["models"].as_array().expect("models").iter().filter_map(|model| model["served"].as_str()).collect()
}

async fn with_key() -> Gateway {
    let mut home = Home::default();
    home.set("LAB_KEY", "sk-lab-0123456789");
    home.serve().await
}

#[tokio::test]
async fn every_api_lists_page_after_page() {
    let gateway = with_key().await;
    for api in APIS {
        let upstream = two_models().await;
        upstream.listing(api.listing.clone());
        let test = tested(&gateway, api.name, &format!("{}{}", upstream.root(), api.base)).await;
        assert_eq!(test["ok"], true, "{}: {test}", api.name);
        assert_eq!(test["message"], "It answers with 2 models.", "{}", api.name);
        assert_eq!(served(&test), ["vendor/alpha", "vendor/beta"], "{}", api.name);
        let asked = upstream.received();
        assert_eq!(asked.iter().map(|it| it.path.as_str()).collect::<Vec<_>>(), api.asks, "{}", api.name);
        for request in asked {
            let (header, before) = api.key;
            assert_eq!(request.header(header), Some(format!("{before}sk-lab-0123456789").as_str()));
            if api.name == "anthropic" {
                assert_eq!(request.header("anthropic-version"), Some("2023-06-01"));
            }
        }
        let endpoint = gateway.command("setup", &json!({})).await["endpoints"][0].clone();
        assert_eq!(endpoint["api"], api.name);
    }
    let windows = |test: &Value| test["models"][0]["context_window"].clone();
    let upstream = two_models().await;
    upstream.listing(Listing::Anthropic);
    assert_eq!(windows(&tested(&gateway, "anthropic", &upstream.base()).await), 200_000);
    upstream.listing(Listing::Gemini);
    let base = format!("{}/v1beta", upstream.root());
    assert_eq!(windows(&tested(&gateway, "gemini", &base).await), 1_048_576);
}

#[tokio::test]
async fn a_wrong_base_is_answered_with_the_right_one_of_that_api() {
    let gateway = with_key().await;
    for api in APIS {
        let upstream = two_models().await;
        upstream.listing(api.listing.clone());
        let right = format!("{}{}", upstream.root(), api.base);
        for typo in api.typos {
            let test = tested(&gateway, api.name, &format!("{}{typo}", upstream.root())).await;
            assert_eq!(test["ok"], false, "{} {typo}: {test}", api.name);
            assert_eq!(test["suggested_base"], right, "{} {typo}: {test}", api.name);
        }
        // Where nothing is right, it is said where the list was looked for.
        upstream.listing(Listing::Missing);
        if api.asks[0].starts_with("/v1/models") {
            upstream.listing(Listing::Ollama);
        }
        let test = tested(&gateway, api.name, &right).await;
        let looked = api.asks[0].split('?').next().unwrap_or_default();
        assert_eq!(
            test["message"],
            format!(
                "There is no model list at {}{looked} (404). Check the base URL, and whether it speaks {}.",
                upstream.root(),
                api.whose
            ),
            "{}",
            api.name
        );
    }
}

#[tokio::test]
async fn a_key_that_gemini_refuses_with_a_400_is_a_refused_key() {
    let gateway = with_key().await;
    let upstream = two_models().await;
    upstream.listing(Listing::GeminiRefused);
    let test = tested(&gateway, "gemini", &format!("{}/v1beta", upstream.root())).await;
    assert_eq!(test["ok"], false);
    let message = test["message"].as_str().unwrap_or_default();
    assert!(message.starts_with("The key was refused (400): API key not valid"), "{message}");
    let alert = gateway.command("setup", &json!({})).await["endpoints"][0]["alert"].clone();
    assert!(alert.as_str().is_some_and(|alert| alert.contains("LAB_KEY")), "{alert}");
}

#[tokio::test]
async fn an_api_stays_until_another_is_chosen() {
    let gateway = Home::default().serve().await;
    let save = |api: Option<&str>| {
        let mut endpoint = json!({"name": "lab", "base": "http://127.0.0.1:9/v1", "key_env": null, "new": false,
                                  "allow_plain_http": false});
        if let Some(api) = api {
            endpoint["api"] = json!(api);
        }
        endpoint
    };
    for (api, wanted) in
        [(None, "chat"), (Some("gemini"), "gemini"), (None, "gemini"), (Some("chat"), "chat")]
    {
        let saved = gateway.command("save_endpoint", &save(api)).await;
        assert_eq!(saved["api"], wanted, "{api:?}");
        let file = gateway.command("export_setup", &json!({})).await["text"].clone();
        let file: Value = serde_json::from_str(file.as_str().expect("text")).expect("JSON");
        assert_eq!(file["endpoints"][0]["api"], wanted, "{api:?}");
    }
    // Callers may speak legacy completions; members do not.
    let refused = gateway.admin("save_endpoint", &save(Some("completions"))).await;
    assert_eq!(refused.status, 400, "{}", refused.text());
    assert_eq!(refused.json()["error"]["field"], "api", "{}", refused.text());
}

#[tokio::test]
async fn presets_come_with_their_own_api() {
    let gateway = Home::default().serve().await;
    let presets = gateway.command("presets", &json!({})).await;
    let of = |id: &str| {
        let preset = presets.as_array().expect("presets").iter().find(|it| it["id"] == id).expect(id);
        (preset["base"].clone(), preset["apis"].clone())
    };
    assert_eq!(of("anthropic"), (json!("https://api.anthropic.com/v1"), json!(["anthropic"])));
    assert_eq!(of("google"), (json!("https://generativelanguage.googleapis.com/v1beta"), json!(["gemini"])));
    assert_eq!(of("openai"), (json!("https://api.openai.com/v1"), json!(["chat", "responses"])));
    assert_eq!(of("ollama"), (json!("http://127.0.0.1:11434"), json!(["ollama"])));
}

#[tokio::test]
async fn the_command_line_adds_an_endpoint_of_any_api_and_its_models_are_asked_in_it() {
    let gateway = Home::default().serve().await;
    for api in APIS {
        let upstream = two_models().await;
        upstream.model("vendor/alpha", fails(500, "no", "not today"));
        upstream.listing(api.listing.clone());
        let base = format!("{}{}", upstream.root(), api.base);
        let added =
            gateway.bench(&["endpoint", "add", "lab", "--base", &base, "--api", api.name]).await.exits(0);
        assert!(added.stdout.contains(&format!("lab: {base} ({})", api.name)), "{}", added.stdout);
        assert!(added.stdout.contains("It answers with 2 models."), "{}", added.stdout);
        // An alias with a record is no other base's model.
        let alias = format!("first-{}", api.name);
        gateway.bench(&["model", "add", "lab", &format!("{alias}=vendor/alpha")]).await.exits(0);
        gateway.bench(&["collection", "save", "core", "--member", &alias]).await.exits(0);
        gateway.bench(&["ask", "core", "whom?"]).await.exits(1);
        let posted: Vec<_> = upstream.received().into_iter().filter(|it| it.method == "POST").collect();
        assert_eq!(posted[0].path, api.path, "{}", api.name);
        for line in [["collection", "rm", "core"], ["endpoint", "rm", "lab"]] {
            gateway.bench(&[&["--yes"], &line[..]].concat()).await.exits(0);
        }
    }
}

#[tokio::test]
async fn the_command_line_takes_a_presets_api_and_offers_no_other() {
    let gateway = Home::default().serve().await;
    let add = async |line: &str| {
        let words: Vec<&str> = line.split(' ').collect();
        gateway.bench(&[&["endpoint", "add"], &words[..]].concat()).await
    };
    let refused = add("oa --preset openai --api anthropic --key-env OPENAI_API_KEY").await.exits(2);
    assert!(refused.stderr.contains("OpenAI speaks chat and responses"), "{}", refused.stderr);
    assert_eq!(gateway.command("setup", &json!({})).await["endpoints"], json!([]), "nothing was added");
    let unknown = add("oa --base http://127.0.0.1:9/v1 --api completions").await.exits(2);
    assert!(unknown.stderr.contains("chat, responses, anthropic, gemini, ollama"), "{}", unknown.stderr);
}
