//! The data folder and who owns it: one process at a time.

use std::{
    fs::{File, OpenOptions},
    io,
    path::{Path, PathBuf},
};

use serde::{Deserialize, Serialize};

/// `$BENCHWARMERS_HOME`, else the platform's data folder. `None` when the platform names no home.
pub fn data_dir() -> Option<PathBuf> {
    if let Some(home) = std::env::var_os("BENCHWARMERS_HOME").filter(|home| !home.is_empty()) {
        return Some(PathBuf::from(home));
    }
    platform_data_dir().map(|dir| dir.join("benchwarmers"))
}

#[cfg(target_os = "macos")]
fn platform_data_dir() -> Option<PathBuf> {
    std::env::home_dir().map(|home| home.join("Library/Application Support"))
}

#[cfg(windows)]
fn platform_data_dir() -> Option<PathBuf> {
    std::env::var_os("LOCALAPPDATA").map(PathBuf::from)
}

#[cfg(not(any(target_os = "macos", windows)))]
fn platform_data_dir() -> Option<PathBuf> {
    std::env::var_os("XDG_DATA_HOME")
        .map(PathBuf::from)
        .filter(|dir| dir.is_absolute())
        .or_else(|| std::env::home_dir().map(|home| home.join(".local/share")))
}

/// Who owns a data folder, as it says in `owner.json`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Owner {
    pub pid: u32,
    /// `benchwarmers` or `bench serve`.
    pub program: String,
    /// Empty until it listens.
    pub url: String,
}

/// The lock on a data folder, held for the life of the process. The operating system lets go of it when the
/// process ends, however it ends.
#[derive(Debug)]
pub(crate) struct OwnerLock {
    _file: File,
    dir: PathBuf,
}

pub(crate) enum LockError {
    /// Somebody else has it; what is known of them.
    InUse(Option<Owner>),
    Io(io::Error),
}

impl OwnerLock {
    pub(crate) fn take(dir: &Path) -> Result<OwnerLock, LockError> {
        create_private_dir(dir).map_err(LockError::Io)?;
        let file = OpenOptions::new()
            .create(true)
            .truncate(false)
            .read(true)
            .write(true)
            .open(dir.join("owner.lock"))
            .map_err(LockError::Io)?;
        match file.try_lock() {
            Ok(()) => Ok(OwnerLock { _file: file, dir: dir.to_owned() }),
            Err(std::fs::TryLockError::WouldBlock) => Err(LockError::InUse(Owner::read(dir))),
            Err(std::fs::TryLockError::Error(error)) => Err(LockError::Io(error)),
        }
    }

    /// Writes who we are, for other processes to find us.
    pub(crate) fn announce(&self, owner: &Owner) -> io::Result<()> {
        let text = serde_json::to_vec(owner)?;
        write_private(&self.dir.join("owner.json"), &text)
    }
}

impl Drop for OwnerLock {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(self.dir.join("owner.json"));
    }
}

impl Owner {
    /// Who says they own this folder. It may be stale: only the lock is the truth.
    pub fn read(dir: &Path) -> Option<Owner> {
        let text = std::fs::read(dir.join("owner.json")).ok()?;
        serde_json::from_slice(&text).ok()
    }
}

fn create_private_dir(dir: &Path) -> io::Result<()> {
    let mut builder = std::fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(dir)
}

/// To `<its name>.aside`, or a number behind that.
fn move_folder_aside(path: &Path) -> io::Result<()> {
    if !path.is_dir() {
        return Ok(());
    }
    let named = |number: u32| {
        let mut name = path.as_os_str().to_owned();
        name.push(".aside");
        if number > 1 {
            name.push(format!("-{number}"));
        }
        PathBuf::from(name)
    };
    let Some(to) = (1..).map(named).find(|to| to.symlink_metadata().is_err()) else { return Ok(()) };
    tracing::error!(folder = %path.display(), to = %to.display(), "a folder stood where a file belongs and was moved aside");
    std::fs::rename(path, to)
}

/// Writes a file that only its owner may read, in one step: a reader sees the old text or the new. A folder that stands in
/// its place is moved aside.
pub fn write_private(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let part = path.with_extension("part");
    move_folder_aside(&part)?;
    move_folder_aside(path)?;
    let mut options = OpenOptions::new();
    options.create(true).truncate(true).write(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let mut file = options.open(&part)?;
    io::Write::write_all(&mut file, bytes)?;
    drop(file);
    std::fs::rename(part, path)
}
