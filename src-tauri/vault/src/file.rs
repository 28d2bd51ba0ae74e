use std::{
    collections::BTreeMap,
    fs,
    io::{self, Write},
    path::{Path, PathBuf},
    sync::{Mutex, MutexGuard, PoisonError},
};

use secrecy::{ExposeSecret, SecretString};
use serde::{Deserialize, Serialize};
use zeroize::Zeroizing;

use crate::VaultError;

const NAME: &str = "vault.age";
const VERSION: u32 = 1;
const SHORTEST_PASSPHRASE: usize = 8;
/// The largest scrypt work taken from a file, 2^20 (1 GiB of memory): more is an attack or a mistake.
const MOST_WORK: u8 = 20;

/// The encrypted file: an age file with a passphrase, holding a JSON object of keys by endpoint. The `age`
/// program can read it.
pub(crate) struct VaultFile {
    path: PathBuf,
    work: u8,
    open: Mutex<Option<Open>>,
}

struct Open {
    passphrase: SecretString,
    keys: BTreeMap<String, SecretString>,
}

impl VaultFile {
    /// scrypt's N = 2^17, r = 8, p = 1: 128 MiB and some tenths of a second at each opening and change.
    pub(crate) const USUAL_WORK: u8 = 17;

    pub(crate) fn new(data_dir: &Path, work: u8) -> VaultFile {
        VaultFile { path: data_dir.join(NAME), work, open: Mutex::new(None) }
    }

    /// Whether there is a file, open or not.
    pub(crate) fn exists(&self) -> bool {
        self.path.symlink_metadata().is_ok()
    }

    pub(crate) fn is_open(&self) -> bool {
        self.lock().is_some()
    }

    /// Unlocks the file, or makes it when there is none. Takes some tenths of a second. A failure changes
    /// nothing: a file that was open stays open.
    pub(crate) fn open(&self, passphrase: SecretString) -> Result<(), VaultError> {
        let mut open = self.lock();
        let keys = match fs::read(&self.path) {
            Ok(bytes) => decrypt(&bytes, &passphrase)?,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                if passphrase.expose_secret().chars().count() < SHORTEST_PASSPHRASE {
                    return Err(VaultError::PassphraseTooShort(SHORTEST_PASSPHRASE));
                }
                let keys = open.as_ref().map(|open| open.keys.clone()).unwrap_or_default();
                self.write(&passphrase, &keys)?;
                keys
            }
            Err(source) => return Err(VaultError::File { action: "read", source }),
        };
        *open = Some(Open { passphrase, keys });
        Ok(())
    }

    /// The key of that endpoint, when the file is open.
    pub(crate) fn read(&self, endpoint: &str) -> Option<SecretString> {
        self.lock().as_ref().and_then(|open| open.keys.get(endpoint).cloned())
    }

    /// Every key the open file holds.
    pub(crate) fn keys(&self) -> Vec<SecretString> {
        self.lock().as_ref().map(|open| open.keys.values().cloned().collect()).unwrap_or_default()
    }

    pub(crate) fn set(&self, endpoint: &str, secret: &SecretString) -> Result<(), VaultError> {
        self.change(|keys| {
            keys.insert(endpoint.to_owned(), secret.clone());
        })
    }

    pub(crate) fn delete(&self, endpoint: &str) -> Result<(), VaultError> {
        self.change(|keys| {
            keys.remove(endpoint);
        })
    }

    /// On disk first: memory never says that something is kept which is not.
    fn change(&self, edit: impl FnOnce(&mut BTreeMap<String, SecretString>)) -> Result<(), VaultError> {
        let mut guard = self.lock();
        let open = guard.as_mut().ok_or(VaultError::Locked)?;
        let mut keys = open.keys.clone();
        edit(&mut keys);
        self.write(&open.passphrase, &keys)?;
        open.keys = keys;
        Ok(())
    }

    fn write(
        &self,
        passphrase: &SecretString,
        keys: &BTreeMap<String, SecretString>,
    ) -> Result<(), VaultError> {
        let sealed = encrypt(passphrase, keys, self.work)?;
        replace(&self.path, &sealed).map_err(|source| VaultError::File { action: "written", source })
    }

    fn lock(&self) -> MutexGuard<'_, Option<Open>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[derive(Deserialize)]
struct Contents {
    version: u32,
    keys: BTreeMap<String, SecretString>,
}

#[derive(Serialize)]
struct Sealing<'a> {
    version: u32,
    keys: BTreeMap<&'a str, &'a str>,
}

fn encrypt(
    passphrase: &SecretString,
    keys: &BTreeMap<String, SecretString>,
    work: u8,
) -> Result<Vec<u8>, VaultError> {
    let keys = keys.iter().map(|(name, key)| (name.as_str(), key.expose_secret())).collect();
    let failed = |why: String| VaultError::File { action: "encrypted", source: io::Error::other(why) };
    let plain =
        serde_json::to_vec(&Sealing { version: VERSION, keys }).map_err(|error| failed(error.to_string()))?;
    let plain = Zeroizing::new(plain);
    let mut recipient = age::scrypt::Recipient::new(passphrase.clone());
    recipient.set_work_factor(work);
    age::encrypt(&recipient, &plain).map_err(|error| failed(error.to_string()))
}

fn decrypt(bytes: &[u8], passphrase: &SecretString) -> Result<BTreeMap<String, SecretString>, VaultError> {
    use age::DecryptError;
    let mut identity = age::scrypt::Identity::new(passphrase.clone());
    identity.set_max_work_factor(MOST_WORK);
    let plain = age::decrypt(&identity, bytes).map_err(|error| match error {
        DecryptError::DecryptionFailed | DecryptError::KeyDecryptionFailed => VaultError::WrongPassphrase,
        DecryptError::NoMatchingKeys => {
            VaultError::Damaged("it is not encrypted with a passphrase".to_owned())
        }
        DecryptError::ExcessiveWork { .. } => {
            VaultError::Damaged("it asks for too much work to open".to_owned())
        }
        DecryptError::Io(error) => VaultError::Damaged(format!("it is cut short or altered: {error}")),
        DecryptError::UnknownFormat => {
            VaultError::Damaged("it is not an age file of a known version".to_owned())
        }
        // An invalid header or authentication code, and what later versions of the crate may add.
        _ => VaultError::Damaged("it is cut short or altered".to_owned()),
    })?;
    let plain = Zeroizing::new(plain);
    // serde_json's messages can quote what they choke on; here that would be a key.
    let contents: Contents = serde_json::from_slice(&plain).map_err(|error| {
        VaultError::Damaged(format!("its contents are not keys, column {}", error.column()))
    })?;
    match contents.version {
        VERSION => Ok(contents.keys),
        newer => Err(VaultError::Damaged(format!("it is of version {newer}; update Benchwarmers"))),
    }
}

/// Puts `bytes` in the place of `path` at one stroke: a crash leaves the old file or the new one.
fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let directory = path.parent().unwrap_or(Path::new("."));
    fs::create_dir_all(directory)?;
    let fresh = path.with_extension("age.new");
    let outcome = write_new(&fresh, bytes).and_then(|()| fs::rename(&fresh, path));
    if outcome.is_err() {
        // Not to leave a half of it about; the first error is the one to tell.
        let _ = fs::remove_file(&fresh);
    } else if let Ok(directory) = fs::File::open(directory) {
        // The rename itself on disk, where a directory can be synced.
        let _ = directory.sync_all();
    }
    outcome
}

fn write_new(path: &Path, bytes: &[u8]) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let mut options = fs::OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let mut file = options.open(path)?;
    file.write_all(bytes)?;
    file.sync_all()
}

#[cfg(test)]
#[path = "file_tests.rs"]
mod tests;
