use std::{
    collections::HashMap,
    fmt,
    path::Path,
    sync::{
        Arc, PoisonError, RwLock,
        atomic::{AtomicU64, Ordering},
    },
};

use secrecy::SecretString;

use crate::{
    Environment, KeychainChoice, VaultError, clean_key,
    environment::variable_of,
    file::VaultFile,
    key::hint,
    keychain::{Keychain, Readiness},
    proxies,
    scrub::Scrubber,
};

/// Where keys are looked for and kept. Cheap to clone; every clone is the same vault.
///
/// [`Vault::key`] answers from memory after the first look. Everything else may block (a keychain for up to
/// 3 s for a look and 30 s for a change, the file for some tenths of a second): off the request path, and in
/// an asynchronous program on a thread that may block.
#[derive(Clone)]
pub struct Vault(Arc<Inner>);

struct Inner {
    environment: Environment,
    /// `None` when it is off.
    keychain: Option<Keychain>,
    file: VaultFile,
    file_openings: AtomicU64,
    /// Why the passphrase in the environment did not open the file at start; empty when it did.
    passphrase_problem: String,
    scrubber: Scrubber,
    looks: RwLock<HashMap<String, Looks>>,
}

/// What is known of one endpoint's key.
#[derive(Default)]
struct Looks {
    /// Changes made through this vault; a look that began before the last one does not count.
    changes: u64,
    last: Option<Look>,
}

struct Look {
    key_env: Option<String>,
    stores: u64,
    found: Option<Found>,
}

/// Where a new key goes, and so what a person is told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum VaultState {
    /// The operating system's.
    Keychain,
    /// The encrypted file, open.
    VaultFile,
    /// No keychain, and an encrypted file that waits for its passphrase.
    VaultLocked,
    /// Neither: keys come from environment variables only.
    None { why: String },
}

const LOCKED: &str = "the keychain is locked, and was not unlocked";

/// A keychain's refusal for a person: that nothing is there is the usual case, and needs no bus addresses.
fn in_words(why: &str) -> String {
    let lower = why.to_lowercase();
    if ["prompt dismissed", "locked"].iter().any(|sign| lower.contains(sign)) {
        return LOCKED.to_owned();
    }
    let absent = ["failed to connect to address", "serviceunknown", "not provided by any", "no such file"];
    if absent.iter().any(|sign| lower.contains(sign)) {
        return "no keychain runs in this session".to_owned();
    }
    let refused = ["accessdenied", "denied", "not allowed", "not authorized", "canceled", "cancelled"];
    match refused.iter().any(|sign| lower.contains(sign)) {
        true => format!("the keychain refused: {}", its_own_words(why)),
        false => format!("no keychain: {}", its_own_words(why)),
    }
}

/// Without the names of libraries and errors that stand before them.
fn its_own_words(why: &str) -> &str {
    let is_name = |before: &str| before.contains(['.', ':']) && !before.contains(' ');
    let mut words = why;
    for library in ["Platform failure: ", "zbus error: "] {
        words = words.strip_prefix(library).unwrap_or(words);
    }
    match words.split_once(": ") {
        Some((before, after)) if is_name(before) && !after.is_empty() => after,
        _ => words,
    }
}

/// A key and where it came from.
#[derive(Clone)]
pub struct Found {
    pub secret: SecretString,
    pub source: Source,
    /// The variable's name when it came from the environment.
    pub variable: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    Environment,
    Keychain,
    VaultFile,
}

/// What may be shown of a key.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KeyInfo {
    /// `None` when there is no key.
    pub source: Option<Source>,
    /// `••••last4`; `••••` for a key under 12 characters; empty without a key.
    pub hint: String,
    /// The variable's name when it comes from the environment.
    pub variable: Option<String>,
}

impl Vault {
    /// Opens the vault of a data folder. Never fails, and waits at most 3 s for a keychain: one that answers
    /// later is used from then on.
    ///
    /// `BENCHWARMERS_KEYCHAIN=off` turns the keychain off; `BENCHWARMERS_VAULT_PASSPHRASE` opens an existing
    /// encrypted file. Neither makes one: that is the owner's explicit choice, [`Vault::open_file`].
    pub fn open(data_dir: &Path, environment: Environment, keychain: KeychainChoice) -> Vault {
        let wanted = keychain == KeychainChoice::Os
            && KeychainChoice::from_environment(&environment) == KeychainChoice::Os;
        let keychain = wanted.then(Keychain::os);
        Vault::with(VaultFile::new(data_dir, VaultFile::USUAL_WORK), environment, keychain)
    }

    pub(crate) fn with(file: VaultFile, environment: Environment, keychain: Option<Keychain>) -> Vault {
        let passphrase = environment.get(PASSPHRASE).map(SecretString::from).filter(|_| file.exists());
        let opening = passphrase.map_or(Ok(()), |passphrase| file.open(passphrase));
        let vault = Vault(Arc::new(Inner {
            environment,
            keychain,
            file,
            file_openings: AtomicU64::new(0),
            passphrase_problem: opening.err().map(|error| error.to_string()).unwrap_or_default(),
            scrubber: Scrubber::default(),
            looks: RwLock::default(),
        }));
        vault.learn_file();
        proxies::secrets(&vault.0.environment).iter().for_each(|secret| vault.0.scrubber.learn(secret));
        vault
    }

    /// Where a new key would go. Reads no secret.
    pub fn state(&self) -> VaultState {
        if self.0.file.is_open() {
            return VaultState::VaultFile;
        }
        match self.0.keychain.as_ref().map(Keychain::readiness) {
            Some(Readiness::Ready) => VaultState::Keychain,
            _ if self.0.file.exists() => VaultState::VaultLocked,
            Some(Readiness::Waiting) => VaultState::None {
                why: "the keychain does not answer; it may be waiting to be unlocked".to_owned(),
            },
            Some(Readiness::Failed(why)) => VaultState::None { why: in_words(&why) },
            None => VaultState::None { why: "the keychain is turned off".to_owned() },
        }
    }

    /// The state in words for a person, with the way out where there is no store.
    pub fn message(&self) -> String {
        match self.state() {
            VaultState::Keychain => "Keys are kept in the system's keychain.".to_owned(),
            VaultState::VaultFile => "Keys are kept in the encrypted file vault.age.".to_owned(),
            VaultState::VaultLocked if self.0.passphrase_problem.is_empty() => {
                "The encrypted key file is locked: open it with its passphrase.".to_owned()
            }
            VaultState::VaultLocked => {
                format!("The encrypted key file is locked: {PASSPHRASE}: {}.", self.0.passphrase_problem)
            }
            VaultState::None { why } if why == LOCKED => format!(
                "Keys cannot be read or kept ({why}). Unlock it, then test an endpoint or give it a key again; or choose \
                 the encrypted file and a passphrase, or set BENCHWARMERS_KEY_<NAME> in the environment."
            ),
            VaultState::None { why } => format!(
                "Keys cannot be kept here ({why}). Choose the encrypted file and a passphrase, or set \
                 BENCHWARMERS_KEY_<NAME> in the environment."
            ),
        }
    }

    /// The endpoint's key, from memory after the first look.
    ///
    /// The environment wins: `key_env` when given, else (or when that variable is not set)
    /// `BENCHWARMERS_KEY_<NAME>`; then the encrypted file, then the keychain.
    pub fn key(&self, endpoint: &str, key_env: Option<&str>) -> Option<Found> {
        let looks = self.0.looks.read().unwrap_or_else(PoisonError::into_inner);
        if let Some(last) = looks.get(endpoint).and_then(|looks| looks.last.as_ref())
            && last.key_env.as_deref() == key_env
            && last.stores == self.stores()
        {
            return last.found.clone();
        }
        drop(looks);
        self.load(endpoint, key_env)
    }

    /// Looks again and remembers: at start, and after an endpoint or its key was changed.
    pub fn load(&self, endpoint: &str, key_env: Option<&str>) -> Option<Found> {
        let changes = self.changes_to(endpoint);
        let stores = self.stores();
        let found = self.look(endpoint, key_env);
        if let Some(found) = &found {
            self.0.scrubber.learn(&found.secret);
        }
        let mut looks = self.0.looks.write().unwrap_or_else(PoisonError::into_inner);
        let known = looks.entry(endpoint.to_owned()).or_default();
        if known.changes == changes {
            known.last = Some(Look { key_env: key_env.map(str::to_owned), stores, found: found.clone() });
        }
        found
    }

    /// Keeps a key as it was pasted ([`clean_key`]), where [`Vault::state`] says. A key in the environment
    /// still wins over it.
    pub fn set(&self, endpoint: &str, secret: SecretString) -> Result<(), VaultError> {
        let secret = clean_key(secrecy::ExposeSecret::expose_secret(&secret))?;
        // Before it is anywhere: an error of the store itself might repeat it.
        self.0.scrubber.learn(&secret);
        let kept = match self.state() {
            VaultState::VaultFile => self.0.file.set(endpoint, &secret),
            VaultState::Keychain => self.keychain_for(|keychain| keychain.write(endpoint, &secret)),
            VaultState::VaultLocked => Err(VaultError::Locked),
            VaultState::None { why } => Err(VaultError::NoStore(why)),
        };
        // Also after a failure: a keychain that did not answer in time may still have taken it.
        self.forget(endpoint);
        kept
    }

    /// Takes the endpoint's key out of every store that is open. Fine when there was none; a key in the
    /// environment stays.
    pub fn delete(&self, endpoint: &str) -> Result<(), VaultError> {
        let state = self.state();
        let from_file = match state {
            VaultState::VaultFile => self.0.file.delete(endpoint),
            _ => Ok(()),
        };
        let from_keychain = match self.0.keychain.as_ref().map(Keychain::readiness) {
            Some(Readiness::Ready) => self.keychain_for(|keychain| keychain.delete(endpoint)),
            _ => Ok(()),
        };
        self.forget(endpoint);
        from_file.and(from_keychain)?;
        match state {
            VaultState::VaultLocked => Err(VaultError::Locked),
            _ => Ok(()),
        }
    }

    /// Opens the encrypted file, or makes it (the owner's explicit choice); from then on keys go there.
    pub fn open_file(&self, passphrase: SecretString) -> Result<VaultState, VaultError> {
        self.0.file.open(passphrase)?;
        self.0.file_openings.fetch_add(1, Ordering::SeqCst);
        self.learn_file();
        Ok(self.state())
    }

    /// Tries a keychain that failed once more, because a person asks for it; nothing where there is another store, or
    /// none. It may take as long as they do.
    pub fn try_again(&self) {
        if let (VaultState::None { .. }, Some(keychain)) = (self.state(), &self.0.keychain) {
            keychain.try_again();
        }
    }

    /// What may be shown of the endpoint's key.
    pub fn describe(&self, endpoint: &str, key_env: Option<&str>) -> KeyInfo {
        match self.key(endpoint, key_env) {
            Some(found) => {
                KeyInfo { source: Some(found.source), hint: hint(&found.secret), variable: found.variable }
            }
            None => KeyInfo::default(),
        }
    }

    /// A key that is being tried and may never be kept: it is scrubbed from now on all the same.
    pub fn learn(&self, key: &SecretString) {
        self.0.scrubber.learn(key);
    }

    /// The text with every key this vault has known, and whatever may be a gateway key, replaced by `••••`, also as a URL
    /// or JSON spells it.
    pub fn scrub(&self, text: &str) -> String {
        self.0.scrubber.scrub(text)
    }

    /// The text with the keys masked that no text holds by chance, gateway keys among them; `None` where there is none.
    /// Dummy keys (`ollama`, `none`) are words, and stay.
    pub fn mask(&self, text: &str) -> Option<String> {
        self.0.scrubber.mask_telling(text)
    }

    /// Whose key a text holds, and not by chance: the endpoint's name, empty for a key that no endpoint has now.
    pub fn whose_key_in(&self, text: &str) -> Option<String> {
        use secrecy::ExposeSecret;
        let key = self.0.scrubber.telling_in(text)?;
        let looks = self.0.looks.read().unwrap_or_else(PoisonError::into_inner);
        let has = |looks: &Looks| {
            let found = looks.last.as_ref().and_then(|last| last.found.as_ref());
            found.is_some_and(|found| found.secret.expose_secret() == key.expose_secret())
        };
        let mut owners: Vec<&String> =
            looks.iter().filter(|(_, looks)| has(looks)).map(|(name, _)| name).collect();
        owners.sort();
        Some(owners.first().map(|name| (*name).clone()).unwrap_or_default())
    }

    fn look(&self, endpoint: &str, key_env: Option<&str>) -> Option<Found> {
        let own = variable_of(endpoint);
        for variable in key_env.into_iter().chain([own.as_str()]) {
            // A value that cannot be a key would only fail later, in the middle of a request.
            if let Some(secret) = self.0.environment.get(variable).and_then(|value| clean_key(&value).ok()) {
                return Some(Found {
                    secret,
                    source: Source::Environment,
                    variable: Some(variable.to_owned()),
                });
            }
        }
        if let Some(secret) = self.0.file.read(endpoint) {
            return Some(Found { secret, source: Source::VaultFile, variable: None });
        }
        // A keychain that fails is as one without the key: the call says that there is none.
        let kept = self.0.keychain.as_ref()?.read(endpoint).ok()??;
        // Something else may have put it there, white space and all.
        let secret = clean_key(secrecy::ExposeSecret::expose_secret(&kept)).ok()?;
        Some(Found { secret, source: Source::Keychain, variable: None })
    }

    fn keychain_for<T>(&self, act: impl FnOnce(&Keychain) -> Result<T, VaultError>) -> Result<T, VaultError> {
        let off = || VaultError::NoStore("the keychain is turned off".to_owned());
        act(self.0.keychain.as_ref().ok_or_else(off)?)
    }

    /// Grows whenever a store opens or comes to life: earlier looks may then have missed a key.
    fn stores(&self) -> u64 {
        let keychain = self.0.keychain.as_ref().map_or(0, Keychain::turns);
        keychain + self.0.file_openings.load(Ordering::SeqCst)
    }

    fn changes_to(&self, endpoint: &str) -> u64 {
        let looks = self.0.looks.read().unwrap_or_else(PoisonError::into_inner);
        looks.get(endpoint).map_or(0, |looks| looks.changes)
    }

    fn forget(&self, endpoint: &str) {
        let mut looks = self.0.looks.write().unwrap_or_else(PoisonError::into_inner);
        let known = looks.entry(endpoint.to_owned()).or_default();
        known.changes += 1;
        known.last = None;
    }

    fn learn_file(&self) {
        self.0.file.keys().iter().for_each(|key| self.0.scrubber.learn(key));
    }
}

/// Opens an existing encrypted file at start, where there is no person to ask.
const PASSPHRASE: &str = "BENCHWARMERS_VAULT_PASSPHRASE";

impl fmt::Debug for Vault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Vault").field("state", &self.state()).finish_non_exhaustive()
    }
}

impl fmt::Debug for Found {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Found")
            .field("source", &self.source)
            .field("variable", &self.variable)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
#[path = "vault_tests.rs"]
mod tests;
