//! `bench key`: cli-mcp.md.

use serde_json::{Value, json};

use super::{post, two_collections};
use bench_tests::scenario::question;

#[tokio::test]
async fn a_key_is_made_listed_and_revoked_on_the_command_line() {
    let lab = two_collections().await;
    let bench = async |arguments: &[&str]| lab.gateway.bench(arguments).await;
    let none = bench(&["key", "list"]).await.exits(0);
    assert!(none.stdout.contains("no gateway keys yet"), "{none:?}");
    let made = bench(&[
        "key",
        "create",
        "desk",
        "--collection",
        "bench/core",
        "--rpm",
        "60",
        "--budget-tokens",
        "5000",
        "--per",
        "day",
        "--expires",
        "+30d",
    ])
    .await
    .exits(0);
    // The text alone, so that it can be piped.
    let key = made.stdout.strip_suffix('\n').expect("a line").to_owned();
    assert!(key.starts_with("bwk_") && key.len() == 47, "{made:?}");
    assert!(!made.stderr.contains(&key) && made.stderr.contains("5000 tokens a day"), "{made:?}");
    assert!(made.stderr.contains("never again"), "{made:?}");

    let listed = bench(&["--json", "key", "list"]).await.exits(0).json();
    let it = &listed[0];
    assert_eq!(
        (&it["name"], &it["standing"], &it["requests_a_minute"]),
        (&json!("desk"), &json!("good"), &json!(60))
    );
    assert_eq!(
        (&it["collections"], &it["budget"]),
        (&json!(["core"]), &json!({"tokens": 5000, "per": "day"}))
    );
    assert_eq!((it.get("last_used"), it["spent"]["tokens"].as_u64()), (None, Some(0)));
    assert_eq!(post(&lab.gateway, &key, "/v1/chat/completions", &question("whom?")).await.status, 200);
    let table = bench(&["key", "list"]).await.exits(0).stdout;
    assert!(table.contains(&format!("••••{}", &key[43..])) && !table.contains(&key), "{table}");

    let unasked = bench(&["key", "revoke", "desk"]).await.exits(1);
    assert!(unasked.stderr.contains("--yes"), "{unasked:?}");
    bench(&["key", "revoke", "desk", "--yes"]).await.exits(0);
    let unknown = bench(&["key", "revoke", "nobody", "--yes"]).await.exits(1);
    assert!(unknown.stderr.contains("no gateway key \"nobody\""), "{unknown:?}");
    let whole = bench(&["--json", "key", "create", "desk"]).await.exits(0).json();
    assert!(whole["text"].as_str().is_some_and(|text| text.starts_with("bwk_")), "{whole}");
    assert_eq!(whole["key"].get("collections"), None);

    bench(&["settings", "set", "require_keys=true"]).await.exits(0);
    assert_eq!(lab.http().chat(&question("whom?")).await.status, 401);
    assert_eq!(bench(&["settings", "get", "require_keys"]).await.exits(0).stdout.trim(), "true");
}

#[tokio::test]
async fn what_is_wrong_with_it_is_named() {
    let lab = two_collections().await;
    for (arguments, said) in [
        (&["Desk"][..], "name: 2 to 32 lower-case letters"),
        (&["local"], "name: \"local\" is this machine without a key"),
        (
            &["desk", "--collection", "core", "--collection", "gone"],
            "collections[1]: there is no collection \"gone\"",
        ),
        (&["desk", "--rpm", "0"], "requests_a_minute: 1 to 10000, not 0"),
        (&["desk", "--budget-tokens", "0", "--per", "day"], "budget.tokens: at least 1"),
        (&["desk", "--per", "day"], "budget: tokens, dollars or both"),
        (&["desk", "--expires", "soon"], "expires: write +30d"),
        (&["desk", "--expires", "2020-01-01"], "expires: that is over already"),
    ] {
        let refused = lab.gateway.bench(&[&["key", "create"], arguments].concat()).await.exits(1);
        assert!(refused.stderr.contains(said), "{arguments:?}: {}", refused.stderr);
        assert_eq!(refused.stdout, "", "{arguments:?}");
    }
    let none: Value = lab.gateway.command("keys", &json!({})).await;
    assert_eq!(none, json!([]), "nothing was made");
}
