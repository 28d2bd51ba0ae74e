//! The files of a data folder: their names and who may read them.

use std::{
    fs::{DirBuilder, File, OpenOptions},
    io,
    path::{Path, PathBuf},
};

use jiff::Timestamp;

pub(crate) const RECORDS: &str = "records.sqlite3";
/// Turns that the records are about to take in.
pub(crate) const AHEAD: &str = "records.ahead";
/// Turns that are on their way.
pub(crate) const BEGUN: &str = "records.begun";
pub(crate) const LOCK: &str = "records.lock";
pub(crate) const BACKUPS: &str = "backups";

/// Makes a folder that only its owner may enter. One that is there keeps its mode: it may be shared on
/// purpose, or not ours to close.
pub(crate) fn create_private_folder(folder: &Path) -> io::Result<()> {
    let mut builder = DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)
}

/// Opens a file for writing that only its owner may read, as it is or empty. SQLite gives the files it puts
/// beside it the same mode.
pub(crate) fn touch_private_file(file: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.create(true).truncate(false).read(true).write(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let opened = options.open(file)?;
    #[cfg(unix)]
    if let Err(error) = opened.set_permissions(std::os::unix::fs::PermissionsExt::from_mode(0o600)) {
        // A file system without modes, or somebody else's file: it can be used all the same.
        tracing::warn!(file = %file.display(), %error, "others may be able to read this file");
    }
    Ok(opened)
}

/// The same of a file beside the records. What cannot be opened there (a folder, somebody else's file) is moved aside, and
/// the log says so: the gateway starts all the same.
pub(crate) fn touch_or_move_aside(file: &Path, now_ms: i64) -> io::Result<File> {
    touch_private_file(file).or_else(|why| {
        let to = free(|number| {
            let mut name = file.as_os_str().to_owned();
            name.push(format!("-{}{number}", stamp(now_ms)));
            PathBuf::from(name)
        });
        // Where it cannot be moved it was not the file's fault.
        if std::fs::rename(file, &to).is_err() {
            return Err(why);
        }
        tracing::error!(file = %file.display(), to = %to.display(), %why, "this could not be opened and was moved aside");
        touch_private_file(file)
    })
}

/// A path that is free: `<folder>/<stem>-20261129-154501.sqlite3`, in UTC.
pub(crate) fn dated(folder: &Path, stem: &str, now_ms: i64) -> PathBuf {
    free(|number| folder.join(format!("{stem}-{}{number}.sqlite3", stamp(now_ms))))
}

/// `20261129-154501`, in UTC.
fn stamp(now_ms: i64) -> impl std::fmt::Display {
    Timestamp::from_millisecond(now_ms).unwrap_or_default().strftime("%Y%m%d-%H%M%S").to_string()
}

/// The first of these where nothing is: with no number behind it, then `-2`, …
fn free(path: impl Fn(&str) -> PathBuf) -> PathBuf {
    let numbered = (2_u32..).map(|number| path(&format!("-{number}")));
    let mut all = std::iter::once(path("")).chain(numbered);
    all.find(|path| path.symlink_metadata().is_err()).unwrap_or_else(|| path(""))
}

/// The file that SQLite keeps beside a database: `-wal`, `-shm`.
pub(crate) fn beside(file: &Path, suffix: &str) -> PathBuf {
    let mut name = file.as_os_str().to_owned();
    name.push(suffix);
    PathBuf::from(name)
}

/// Moves a database with the files beside it.
pub(crate) fn move_database(from: &Path, to: &Path) -> io::Result<()> {
    // The log first: a database without its log is whole but older, a log without its database is nothing.
    for suffix in ["-wal", "-shm"] {
        match std::fs::rename(beside(from, suffix), beside(to, suffix)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
    }
    std::fs::rename(from, to)
}
