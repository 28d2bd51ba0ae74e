//! Saves a text the window made (an exported setup) where a person finds it, over nothing that is there.

use std::{
    fs::OpenOptions,
    io::{self, Write as _},
    path::{Path, PathBuf},
};

/// Writes `text` to a new file in `dir` named after `wanted`, and answers with its path. A name that is taken
/// gets a number; whatever in `wanted` could lead out of `dir` is dropped.
pub(crate) fn save_text(dir: &Path, wanted: &str, text: &str) -> io::Result<PathBuf> {
    std::fs::create_dir_all(dir)?;
    let name = plain_name(wanted);
    let (stem, extension) = name.rsplit_once('.').unwrap_or((&name, "txt"));
    for number in 1..1_000 {
        let path = match number {
            1 => dir.join(format!("{stem}.{extension}")),
            n => dir.join(format!("{stem} ({n}).{extension}")),
        };
        match OpenOptions::new().write(true).create_new(true).open(&path) {
            Ok(mut file) => {
                file.write_all(text.as_bytes())?;
                return Ok(path);
            }
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
        }
    }
    Err(io::Error::new(
        io::ErrorKind::AlreadyExists,
        format!("{name} is there a thousand times; name another"),
    ))
}

fn plain_name(wanted: &str) -> String {
    let fits = |c: &char| c.is_alphanumeric() || matches!(c, '-' | '_' | '.' | ' ');
    let name: String = wanted.chars().filter(fits).take(80).collect();
    let name = name.trim_matches(['.', ' ']);
    if name.is_empty() { "benchwarmers.txt".to_owned() } else { name.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_stay_in_the_folder() {
        let cases = [
            ("bench-setup.toml", "bench-setup.toml"),
            ("../../.bashrc", "bashrc"),
            ("a/b\\c:d.toml", "abcd.toml"),
            ("...", "benchwarmers.txt"),
            ("été 1.toml", "été 1.toml"),
        ];
        for (wanted, name) in cases {
            assert_eq!(plain_name(wanted), name, "from {wanted:?}");
        }
    }

    #[test]
    fn nothing_is_overwritten() {
        let dir = tempfile::tempdir().unwrap();
        let first = save_text(dir.path(), "setup.toml", "one").unwrap();
        let second = save_text(dir.path(), "setup.toml", "two").unwrap();
        assert_eq!(first, dir.path().join("setup.toml"));
        assert_eq!(second, dir.path().join("setup (2).toml"));
        assert_eq!(std::fs::read_to_string(first).unwrap(), "one");
        assert_eq!(std::fs::read_to_string(second).unwrap(), "two");
    }
}
