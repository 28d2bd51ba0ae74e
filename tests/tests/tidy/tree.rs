//! The files of the repository: tracked, or new and not ignored.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
    sync::OnceLock,
};

pub fn root() -> &'static Path {
    bench_tests::process::repository()
}

/// Paths relative to the root, sorted.
pub fn files() -> &'static [PathBuf] {
    static FILES: OnceLock<Vec<PathBuf>> = OnceLock::new();
    FILES.get_or_init(|| {
        let listed = Command::new("git")
            .args(["ls-files", "-z", "--cached", "--others", "--exclude-standard"])
            .current_dir(root())
            .output()
            .expect("git");
        assert!(listed.status.success(), "git ls-files: {}", String::from_utf8_lossy(&listed.stderr));
        let names = String::from_utf8(listed.stdout).expect("UTF-8 names");
        let mut files: Vec<PathBuf> = names
            .split_terminator('\0')
            .map(PathBuf::from)
            .filter(|path| root().join(path).is_file())
            .collect();
        files.sort();
        files.dedup();
        assert!(files.len() > 50, "only {} files: is this the repository?", files.len());
        files
    })
}

/// Files with one of these endings.
pub fn with_extension(endings: &[&str]) -> impl Iterator<Item = &'static PathBuf> {
    let endings: Vec<String> = endings.iter().map(|ending| (*ending).to_owned()).collect();
    files().iter().filter(move |path| {
        path.extension().is_some_and(|extension| endings.iter().any(|ending| extension == ending.as_str()))
    })
}

/// A file's text; what is not UTF-8 is replaced.
pub fn read(path: impl AsRef<Path>) -> String {
    let path = root().join(path);
    let bytes = fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    String::from_utf8_lossy(&bytes).into_owned()
}
