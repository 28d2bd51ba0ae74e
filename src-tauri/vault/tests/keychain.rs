//! The operating system's own keychain. Runs where a Secret Service is on the session bus (a desktop session
//! with its keyring unlocked) and says that it was skipped elsewhere.

#![cfg(target_os = "linux")]

use std::process::{Command, Stdio};

use vault::{Environment, ExposeSecret, KeychainChoice, SecretString, Source, Vault, VaultState};

const ENDPOINT: &str = "vault-test-endpoint";
const KEY: &str = "sk-keychain-test-0123456789";

#[test]
fn a_key_goes_into_the_keychain_and_nowhere_else() {
    let directory = tempfile::tempdir().expect("tempdir");
    let open = || Vault::open(directory.path(), Environment::of::<&str, &str>([]), KeychainChoice::Os);
    let vault = open();
    match vault.state() {
        VaultState::Keychain => {}
        VaultState::None { why } if std::env::var_os("BENCHWARMERS_EXPECT_KEYCHAIN").is_none() => {
            println!("skipped: {why}");
            return;
        }
        state => panic!("a keychain was expected: {state:?}"),
    }

    vault.set(ENDPOINT, SecretString::from(KEY)).expect("set");
    let again = open();
    let found = again.key(ENDPOINT, None).expect("a second vault finds it");
    assert_eq!((found.secret.expose_secret(), found.source), (KEY, Source::Keychain));
    if let Some(seen) = secret_tool(ENDPOINT) {
        assert_eq!(seen, KEY, "as the system's own tool sees it");
    }
    assert_eq!(std::fs::read_dir(directory.path()).expect("list").count(), 0, "nothing in the data folder");

    again.delete(ENDPOINT).expect("delete");
    assert!(open().key(ENDPOINT, None).is_none());
    if let Some(left) = secret_tool_search() {
        assert!(!left.contains(".check-"), "the proof at start leaves nothing behind: {left}");
    }
}

/// `None` where the tool is not installed.
fn secret_tool(account: &str) -> Option<String> {
    let lookup = ["lookup", "service", "benchwarmers", "username", account];
    let output = Command::new("secret-tool").args(lookup).stdin(Stdio::null()).output().ok()?;
    Some(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

fn secret_tool_search() -> Option<String> {
    let search = ["search", "--all", "service", "benchwarmers"];
    let output = Command::new("secret-tool").args(search).stdin(Stdio::null()).output().ok()?;
    Some(format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr)))
}
