//! Secrets: where an endpoint's key comes from, and where it is put.
//!
//! A key is looked for in the environment first (it always wins), then in the encrypted file when the owner
//! has chosen and opened one, then in the operating system's keychain. Nothing else on disk ever holds one.
//! A secret is a [`SecretString`] from the moment it is read: it has no `Debug` or `Display` that shows it.
//!
//! Nothing here may hang: a keychain is another process, may be locked and may be waiting for a person, so it
//! is spoken to from a thread of its own and given up on in time.

mod encoded;
mod environment;
mod error;
mod file;
pub mod gateway_key;
mod hex;
mod key;
mod keychain;
mod proxies;
mod scrub;
mod store;
mod vault;

pub use environment::{Environment, variable_of};
pub use error::VaultError;
pub use key::clean_key;
pub use keychain::KeychainChoice;
pub use scrub::MASK;
pub use secrecy::{ExposeSecret, SecretString};
pub use vault::{Found, KeyInfo, Source, Vault, VaultState};
