use std::io;

/// Why a key could not be kept, read or taken away. Never holds a secret.
#[derive(Debug, thiserror::Error)]
pub enum VaultError {
    #[error("wrong passphrase (or vault.age was altered); nothing was changed")]
    WrongPassphrase,
    #[error("the passphrase is too short; use at least {0} characters")]
    PassphraseTooShort(usize),
    /// The encrypted file exists and has not been opened.
    #[error("the encrypted key file is locked; open it with its passphrase first")]
    Locked,
    /// Neither a keychain nor an encrypted file.
    #[error("there is nowhere to keep a key: {0}")]
    NoStore(String),
    #[error("{0}")]
    BadKey(&'static str),
    #[error(
        "vault.age cannot be read ({0}); nothing was changed; put a copy back, or move it away to start anew"
    )]
    Damaged(String),
    #[error("vault.age could not be {action}: {source}; the keys are as they were")]
    File { action: &'static str, source: io::Error },
    #[error("the keychain refused: {0}")]
    Keychain(String),
    #[error("the keychain did not answer in time; it may be waiting to be unlocked")]
    KeychainTimeout,
}
