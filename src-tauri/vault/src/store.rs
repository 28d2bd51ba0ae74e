use std::sync::atomic::{AtomicU64, Ordering};

use secrecy::{ExposeSecret, SecretString};

/// A place secrets are kept, by account. Errors are words for a person and hold no secret.
pub(crate) trait SecretStore {
    /// `None` when there is none of that account.
    fn read(&self, account: &str) -> Result<Option<SecretString>, String>;
    /// Replaces what was there.
    fn write(&self, account: &str, secret: &SecretString) -> Result<(), String>;
    /// Fine when there was none.
    fn delete(&self, account: &str) -> Result<(), String>;
}

/// As `secret-tool search service benchwarmers` shows it.
const SERVICE: &str = "benchwarmers";

/// The operating system's keychain: Keychain on macOS, the Credential Manager on Windows, the Secret Service
/// elsewhere.
pub(crate) struct OsKeychain(());

impl OsKeychain {
    /// Connects. May block for as long as the system likes.
    pub(crate) fn connect() -> Result<OsKeychain, String> {
        match keyring::Entry::store_status() {
            Ok(()) => Ok(OsKeychain(())),
            Err(error) => Err(error.to_string()),
        }
    }
}

impl SecretStore for OsKeychain {
    fn read(&self, account: &str) -> Result<Option<SecretString>, String> {
        match entry(account)?.get_password() {
            Ok(secret) => Ok(Some(SecretString::from(secret))),
            Err(keyring::Error::NoEntry) => Ok(None),
            Err(error) => Err(error.to_string()),
        }
    }

    fn write(&self, account: &str, secret: &SecretString) -> Result<(), String> {
        entry(account)?.set_password(secret.expose_secret()).map_err(|error| error.to_string())
    }

    fn delete(&self, account: &str) -> Result<(), String> {
        match entry(account)?.delete_credential() {
            Ok(()) | Err(keyring::Error::NoEntry) => Ok(()),
            Err(error) => Err(error.to_string()),
        }
    }
}

fn entry(account: &str) -> Result<keyring::Entry, String> {
    keyring::Entry::new(SERVICE, account).map_err(|error| error.to_string())
}

/// Writes, reads and deletes a throw-away secret: the only proof that a keychain keeps what it is given.
///
/// The account cannot be an endpoint's name, and is this proof's own, so that two that run at once do not
/// take each other's away.
pub(crate) fn prove(store: &dyn SecretStore) -> Result<(), String> {
    static PROOFS: AtomicU64 = AtomicU64::new(0);
    let account = format!(".check-{}-{}", std::process::id(), PROOFS.fetch_add(1, Ordering::Relaxed));
    let secret = SecretString::from(format!("a throw-away secret of process {}", std::process::id()));
    store.write(&account, &secret)?;
    let read = store.read(&account);
    store.delete(&account)?;
    match read? {
        Some(read) if read.expose_secret() == secret.expose_secret() => Ok(()),
        _ => Err("it does not keep what it is given".to_owned()),
    }
}
