//! A keychain that is locked, and that nobody unlocks: the gateway runs all the same and says what is wrong; unlocked,
//! it is used without a restart.

use std::{path::Path, process::Stdio};

use bench_tests::{
    Home, Upstream, eventually,
    scenario::question,
    upstream::{answers, refuses_key},
};
use serde_json::json;
use tokio::{
    io::AsyncWriteExt as _,
    process::{Child, Command},
};
use zbus::{ObjectPath, OwnedObjectPath, OwnedVariant, Variant, message::Message};

use crate::{app::log, bare::closed_bus};

const KEY: &str = "sk-locked-Rk8TzW3hQv5NbJ1c";
const PASSWORD: &str = "session";
const SERVICE: &str = "/org/freedesktop/secrets";
const COLLECTION: &str = "/org/freedesktop/secrets/collection/login";

pub async fn is_said_so_and_used_once_unlocked() {
    let mut home = Home::default();
    let keyring = Keyring::start(home.data().parent().expect("a folder")).await;
    keyring.keep("lab", KEY).await;
    keyring.lock().await;
    home.set("BENCHWARMERS_KEYCHAIN", "os");
    home.set("DBUS_SESSION_BUS_ADDRESS", &keyring.bus);

    let provider = Upstream::start().await;
    provider.model(
        "m",
        bench_tests::upstream::Script::by(|request| match request.header("authorization") {
            Some(sent) if sent == format!("Bearer {KEY}") => answers("With the key."),
            _ => refuses_key(),
        }),
    );
    let file = json!({"version": 1,
        "endpoints": [{"name": "lab", "base": provider.base(), "kind": "provider"}],
        "models": [{"alias": "alpha", "endpoint": "lab", "served": "m"}],
        "collections": [{"name": "core", "members": ["alpha"]}]});
    let path = home.file("setup.json", &file.to_string());
    home.bench(&["import", &path.to_string_lossy()]).await.exits(0);
    let gateway = home.serve().await;

    let locked = "the keychain is locked, and was not unlocked";
    let status = gateway.bench(&["status"]).await.exits(0).stdout;
    assert!(status.contains(locked) && status.contains("Unlock it"), "{status}");
    let listed = gateway.bench(&["endpoint", "list"]).await.exits(0);
    assert!(listed.stderr.contains(locked) && listed.stdout.contains("none"), "{listed:?}");
    let turn = json!({"model": "core:route", "messages": [{"role": "user", "content": "hi"}]});
    let refused = gateway.http.chat(&turn).await;
    assert_eq!(refused.status, 400, "{}", refused.text());
    assert!(refused.text().contains("lab has no key"), "{}", refused.text());
    assert!(provider.received().is_empty(), "nothing was sent without its key");
    // Nothing takes the keychain's place unasked.
    let kept = gateway.admin("set_key", &json!({"endpoint": "lab", "key": "sk-another-1234567890"})).await;
    assert_eq!(kept.json()["error"]["code"], "no_keychain", "{}", kept.text());
    assert!(kept.text().contains(locked), "{}", kept.text());
    assert!(!home_has(&gateway.home, "vault.age"), "no vault file");

    // Unlocked, it is looked into when somebody asks for it.
    keyring.unlock().await;
    gateway.bench(&["endpoint", "test", "lab"]).await.exits(0);
    let listed = gateway.bench(&["endpoint", "list"]).await.exits(0);
    assert!(listed.stdout.contains("••••bJ1c"), "{listed:?}");
    let reply = gateway.http.chat(&question("hi")).await;
    assert!(reply.text().contains("With the key."), "{}", reply.text());
    let status = gateway.bench(&["status"]).await.exits(0).stdout;
    assert!(status.contains("Keys are kept in the system's keychain."), "{status}");
    let (home, _) = gateway.stop().await;
    for (path, bytes) in home.files() {
        let found = bytes.windows(KEY.len()).any(|window| window == KEY.as_bytes());
        assert!(!found, "the key is in {}", path.display());
    }
    assert!(!home.logs().contains(KEY) && !home_has(&home, "vault.age"));
}

fn home_has(home: &Home, name: &str) -> bool {
    home.files().keys().any(|path| path.ends_with(name))
}

/// A secret service on a bus of its own, with no screen to ask anybody on.
struct Keyring {
    bus: String,
    connection: zbus::Connection,
    _programs: [Child; 2],
}

impl Keyring {
    async fn start(folder: &Path) -> Keyring {
        let (bus, bus_daemon) = closed_bus(folder).await;
        let run = folder.join("run");
        std::fs::create_dir_all(&run).expect("a folder");
        let mut daemon = Command::new("gnome-keyring-daemon");
        daemon.args(["--foreground", "--unlock", "--components=secrets"]);
        daemon.env("DBUS_SESSION_BUS_ADDRESS", &bus).env("HOME", folder).env("XDG_RUNTIME_DIR", &run);
        daemon.env_remove("DISPLAY").env_remove("WAYLAND_DISPLAY");
        daemon.stdin(Stdio::piped()).stdout(log("keyring.out")).stderr(log("keyring.err")).kill_on_drop(true);
        let mut daemon = daemon.spawn().expect("it runs");
        let mut stdin = daemon.stdin.take().expect("piped");
        stdin.write_all(PASSWORD.as_bytes()).await.expect("its password is read");
        drop(stdin);
        let address: zbus::Address = bus.parse().expect("an address");
        let connection = zbus::connection::Builder::address(address).build().await.expect("a bus");
        let keyring = Keyring { bus, connection, _programs: [bus_daemon, daemon] };
        eventually("the secret service", async || keyring.is_locked().await).await;
        keyring
    }

    async fn keep(&self, account: &str, secret: &str) {
        let attributes = ["service", "benchwarmers", "username", account, "target", "default"];
        let mut tool = Command::new("secret-tool");
        tool.args(["store", "--label=a key"]).args(attributes).env("DBUS_SESSION_BUS_ADDRESS", &self.bus);
        let mut tool = tool.stdin(Stdio::piped()).spawn().expect("secret-tool runs");
        let mut stdin = tool.stdin.take().expect("piped");
        stdin.write_all(secret.as_bytes()).await.expect("it is read");
        drop(stdin);
        assert!(tool.wait().await.expect("it ends").success());
    }

    async fn lock(&self) {
        let collection = ObjectPath::try_from(COLLECTION).expect("a path");
        self.call(SERVICE, "org.freedesktop.Secret.Service", "Lock", &(vec![collection],))
            .await
            .expect("locked");
        assert_eq!(self.is_locked().await, Some(true));
    }

    /// As a person's password would.
    async fn unlock(&self) {
        let plain = ("plain", Variant::from(""));
        let session = self.call(SERVICE, "org.freedesktop.Secret.Service", "OpenSession", &plain).await;
        let body = session.expect("a session").body();
        let (_, session): (OwnedVariant, OwnedObjectPath) = body.deserialize().expect("its path");
        let password = (session, Vec::<u8>::new(), PASSWORD.as_bytes().to_vec(), "text/plain");
        let collection = ObjectPath::try_from(COLLECTION).expect("a path");
        let unlocker = "org.gnome.keyring.InternalUnsupportedGuiltRiddenInterface";
        let body = (collection, password);
        self.call(SERVICE, unlocker, "UnlockWithMasterPassword", &body).await.expect("unlocked");
        assert_eq!(self.is_locked().await, Some(false));
    }

    /// `None` until there is one.
    async fn is_locked(&self) -> Option<bool> {
        let property = ("org.freedesktop.Secret.Collection", "Locked");
        let told = self.call(COLLECTION, "org.freedesktop.DBus.Properties", "Get", &property).await.ok()?;
        let locked: OwnedVariant = told.body().deserialize().ok()?;
        locked.try_into().ok()
    }

    async fn call<B: serde::Serialize + zbus::zvariant::DynamicType>(
        &self,
        path: &str,
        interface: &str,
        method: &str,
        body: &B,
    ) -> zbus::Result<Message> {
        self.connection
            .call_method(Some("org.freedesktop.secrets"), path, Some(interface), method, body)
            .await
    }
}
