//! A session whose keychain refuses, and one that has none: the gateway runs all the same, says what is wrong, and
//! keeps keys only where its owner says.

use std::path::Path;

use bench_tests::{Home, Upstream, scenario::question, upstream::answers};
use serde_json::json;
use tokio::process::Child;
use zbus::{OwnedObjectPath, OwnedVariant, Variant};

use crate::bare::closed_bus;

const KEY: &str = "sk-refused-Vb2MxQ7LrT4yHw9k";
const PASSPHRASE: &str = "a passphrase of some length";

/// A secret service that lets nobody in, as a policy or a sandbox makes it.
struct Refuses;

#[zbus::interface(name = "org.freedesktop.Secret.Service")]
impl Refuses {
    fn open_session(
        &self,
        _algorithm: &str,
        _input: Variant<'_>,
    ) -> zbus::fdo::Result<(OwnedVariant, OwnedObjectPath)> {
        Err(zbus::fdo::Error::AccessDenied("a policy forbids it".to_owned()))
    }
}

pub async fn refused_or_absent_is_said_so() {
    for (refuses, said) in
        [(true, "the keychain refused: a policy forbids it"), (false, "no keychain runs in this session")]
    {
        let home = Home::default();
        let (bus, _programs) = session(home.data().parent().expect("a folder"), refuses).await;
        goes_on_without(home, &bus, said).await;
    }
}

async fn session(folder: &Path, refuses: bool) -> (String, (Child, Option<zbus::Connection>)) {
    let (bus, daemon) = closed_bus(folder).await;
    if !refuses {
        return (bus, (daemon, None));
    }
    let address: zbus::Address = bus.parse().expect("an address");
    let service = zbus::connection::Builder::address(address)
        .name("org.freedesktop.secrets")
        .serve_at("/org/freedesktop/secrets", Refuses);
    (bus, (daemon, Some(service.build().await.expect("a bus"))))
}

async fn goes_on_without(mut home: Home, bus: &str, said: &str) {
    home.set("BENCHWARMERS_KEYCHAIN", "os");
    home.set("DBUS_SESSION_BUS_ADDRESS", bus);
    let provider = Upstream::start().await;
    provider.model("m", answers("With the key."));
    let file = json!({"version": 1,
        "endpoints": [{"name": "lab", "base": provider.base(), "kind": "provider"}],
        "models": [{"alias": "alpha", "endpoint": "lab", "served": "m"}],
        "collections": [{"name": "core", "members": ["alpha"]}]});
    let path = home.file("setup.json", &file.to_string());
    home.bench(&["import", &path.to_string_lossy()]).await.exits(0);
    let gateway = home.serve().await;

    // Both ways out are named.
    let status = gateway.bench(&["status"]).await.exits(0).stdout;
    assert!(status.contains(said), "{said}: {status}");
    assert!(status.contains("encrypted file") && status.contains("BENCHWARMERS_KEY_"), "{status}");
    let kept = gateway.admin("set_key", &json!({"endpoint": "lab", "key": KEY})).await;
    assert_eq!(kept.json()["error"]["code"], "no_keychain", "{}", kept.text());
    assert!(kept.text().contains(said) && !kept.text().contains(KEY), "{}", kept.text());
    assert!(!gateway.home.files().keys().any(|path| path.ends_with("vault.age")), "nothing unasked");
    assert!(provider.received().is_empty(), "nothing was sent without its key");

    // The file that its owner asks for takes its place.
    gateway.admin("open_vault_file", &json!({"passphrase": PASSPHRASE})).await;
    let kept = gateway.admin("set_key", &json!({"endpoint": "lab", "key": KEY})).await;
    assert_eq!(kept.json()["key"]["hint"], "••••Hw9k", "{}", kept.text());
    let reply = gateway.http.chat(&question("hi")).await;
    assert!(reply.text().contains("With the key."), "{}", reply.text());
    let sent = provider.asked("m");
    assert_eq!(sent[0].header("authorization"), Some(&*format!("Bearer {KEY}")), "{said}");
    let (home, _) = gateway.stop().await;
    for (path, bytes) in home.files() {
        let found = bytes.windows(KEY.len()).any(|window| window == KEY.as_bytes());
        assert!(!found, "the key is in {}", path.display());
    }
    assert!(!home.logs().contains(KEY) && !home.logs().contains(PASSPHRASE));
}
