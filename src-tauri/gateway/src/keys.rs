//! Keys of endpoints: looked up ahead, so that a request reads memory only, and never shown.

use catalog::Endpoint;
use plan::Setup;
use secrecy::{ExposeSecret, SecretString};
use vault::{Environment, KeyInfo, KeychainChoice, Vault, VaultError, VaultState};

use crate::{
    alerts,
    gateway::Gateway,
    unfit::{self, Unfit},
    view::{AlertKind, LiveEvent},
};

/// Why a key was not kept. Never holds the key.
#[derive(Debug, thiserror::Error)]
pub enum KeyError {
    #[error("there is no endpoint \"{0}\"")]
    UnknownEndpoint(String),
    #[error(transparent)]
    Vault(#[from] VaultError),
    #[error("the key store did not answer")]
    Gone,
}

/// Opens the vault and looks up every endpoint's key. It may take seconds: call it where blocking is fine.
pub(crate) fn open(gateway: &Gateway) -> Vault {
    let vault = Vault::open(gateway.data_dir(), Environment::process(), KeychainChoice::Os);
    load_all(gateway, &vault);
    // What stood there before it was refused is kept, and said.
    let (none, setup) = (Setup::default(), &gateway.snapshot().setup);
    for found in unfit::keys_in(&vault, &none, setup).into_iter().chain(unfit::wrong_options(&none, setup)) {
        tracing::warn!("{found}");
    }
    vault
}

fn load_all(gateway: &Gateway, vault: &Vault) {
    for endpoint in gateway.snapshot().setup.endpoints.iter().filter(|endpoint| !endpoint.is_practice()) {
        vault.load(&endpoint.name, endpoint.key_env.as_deref());
    }
}

impl Gateway {
    /// An endpoint's key, from memory. Waits only for the vault to open after a start.
    pub(crate) async fn key(&self, endpoint: &Endpoint) -> Option<SecretString> {
        if endpoint.is_practice() {
            return None;
        }
        let vault = self.vault().wait().await;
        vault.key(&endpoint.name, endpoint.key_env.as_deref()).map(|found| found.secret)
    }

    /// Whether a key is known, as far as the vault has been opened. Reads memory only.
    pub(crate) fn has_key(&self, endpoint: &Endpoint) -> bool {
        let key = |vault: &Vault| vault.key(&endpoint.name, endpoint.key_env.as_deref()).is_some();
        self.vault().get().is_none_or(key)
    }

    /// Where keys are kept, and that in words. Waits for the vault to open.
    pub async fn key_store(&self) -> (VaultState, String) {
        let vault = self.vault().wait().await;
        (vault.state(), vault.message())
    }

    /// Where an endpoint's key comes from. Never the key.
    pub async fn key_info(&self, endpoint: &Endpoint) -> KeyInfo {
        self.vault().wait().await.describe(&endpoint.name, endpoint.key_env.as_deref())
    }

    /// Keeps a key for an endpoint; a key that was refused is forgiven until the new one is tried.
    pub async fn set_key(&self, endpoint: &str, key: SecretString) -> Result<(), KeyError> {
        self.try_keychain_again().await;
        let name = endpoint.to_owned();
        self.change_keys(endpoint, move |vault| vault.set(&name, key)).await?;
        self.forgive_all_of(endpoint);
        Ok(())
    }

    /// Whether a key could be kept, before anything is changed for its sake.
    pub async fn check_key(&self, key: &SecretString) -> Result<(), KeyError> {
        let key = vault::clean_key(key.expose_secret())?;
        self.vault().wait().await.learn(&key);
        self.try_keychain_again().await;
        match self.vault().wait().await.state() {
            VaultState::Keychain | VaultState::VaultFile => Ok(()),
            VaultState::VaultLocked => Err(VaultError::Locked.into()),
            VaultState::None { why } => Err(VaultError::NoStore(why).into()),
        }
    }

    /// A key as it would be kept, which nothing from outside repeats from now on.
    pub(crate) fn cleaned_key(&self, key: &SecretString) -> Option<SecretString> {
        let key = vault::clean_key(key.expose_secret()).ok()?;
        if let Some(vault) = self.vault().get() {
            vault.learn(&key);
        }
        Some(key)
    }

    pub async fn delete_key(&self, endpoint: &str) -> Result<(), KeyError> {
        let name = endpoint.to_owned();
        self.change_keys(endpoint, move |vault| vault.delete(&name)).await
    }

    /// Makes the encrypted file, or unlocks it, and looks every key up again.
    pub async fn open_vault_file(&self, passphrase: SecretString) -> Result<(VaultState, String), KeyError> {
        self.with_vault(move |vault| vault.open_file(passphrase).map(|_| ()))
            .await
            .ok_or(KeyError::Gone)??;
        self.reload_keys().await;
        Ok(self.key_store().await)
    }

    /// Looks every key up again, and says that the set-up changed.
    pub async fn reload_keys(&self) {
        let gateway = self.clone();
        self.with_vault(move |vault| load_all(&gateway, vault)).await;
        self.onboarding().look_again();
        self.live().publish(LiveEvent::SetupChanged {});
    }

    /// A keychain that was locked or refused is tried once more, as a person asks for what needs it; with it come the
    /// keys that it holds.
    pub async fn try_keychain_again(&self) {
        let turned = self.with_vault(|vault| {
            let before = vault.state();
            vault.try_again();
            vault.state() != before
        });
        if turned.await == Some(true) {
            self.reload_keys().await;
        }
    }

    async fn change_keys(
        &self,
        endpoint: &str,
        change: impl FnOnce(&Vault) -> Result<(), VaultError> + Send + 'static,
    ) -> Result<(), KeyError> {
        if self.snapshot().endpoint(endpoint).is_none() {
            return Err(KeyError::UnknownEndpoint(endpoint.to_owned()));
        }
        self.with_vault(change).await.ok_or(KeyError::Gone)??;
        alerts::end(self, AlertKind::KeyRefused, endpoint);
        self.reload_keys().await;
        Ok(())
    }

    /// Forgets the key of an endpoint that was removed, where one was kept.
    pub async fn forget_key(&self, endpoint: &str) {
        let name = endpoint.to_owned();
        self.with_vault(move |vault| vault.delete(&name)).await;
        alerts::end(self, AlertKind::KeyRefused, endpoint);
    }

    /// Runs `act` with the vault, off the runtime's threads: a keychain may be slow.
    async fn with_vault<T: Send + 'static>(
        &self,
        act: impl FnOnce(&Vault) -> T + Send + 'static,
    ) -> Option<T> {
        self.vault().wait().await;
        let gateway = self.clone();
        tokio::task::spawn_blocking(move || gateway.vault().get().map(act)).await.ok().flatten()
    }

    /// Refuses texts that are to be kept, each with its field, where one holds a known key. `item` says whose they are.
    pub(crate) async fn hold_no_key<'a>(
        &self,
        item: &str,
        texts: impl IntoIterator<Item = (String, &'a str)>,
    ) -> Result<(), Unfit> {
        let vault = self.vault().wait().await;
        let found = texts.into_iter().find_map(|(field, text)| unfit::key_in(vault, item, &field, text));
        found.map_or(Ok(()), Err)
    }

    /// A text of the owner's as it may be shown: without known keys that are more than a word, and without gateway keys.
    pub fn mask(&self, text: &str) -> Option<String> {
        match self.vault().get() {
            Some(vault) => vault.mask(text),
            None => vault::gateway_key::mask(text),
        }
    }

    /// The same of the names of fields.
    pub fn mask_names(&self, fields: &mut serde_json::Map<String, serde_json::Value>) {
        let held: Vec<_> = fields.keys().filter_map(|it| Some((it.clone(), self.mask(it)?))).collect();
        for (name, shown) in held {
            if let Some(value) = fields.remove(&name) {
                fields.insert(shown, value);
            }
        }
    }

    /// Replaces every known key in a text from outside, and whatever may be a gateway key.
    pub fn scrub(&self, text: &str) -> String {
        match self.vault().get() {
            Some(vault) => vault.scrub(text),
            None => vault::gateway_key::mask(text).unwrap_or_else(|| text.to_owned()),
        }
    }
}
