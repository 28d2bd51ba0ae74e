//! The window's files: npm packages and the Vite build, each made again only when what it is made from changed.

use std::{fs, path::Path, process::Command, time::SystemTime};

use anyhow::{Context, Result, bail};

use crate::shell::{self, Tree};

const NODE: u32 = 20;

/// `npm ci`, when `package-lock.json` is not the one that was installed from.
pub fn install(tree: &Tree) -> Result<()> {
    check_node()?;
    let lock_file = tree.ui().join("package-lock.json");
    let lock = fs::read(&lock_file).with_context(|| format!("{} cannot be read", lock_file.display()))?;
    // Inside node_modules, so that removing the folder removes the claim.
    let stamp = tree.ui().join("node_modules/.installed-from");
    if fs::read(&stamp).is_ok_and(|installed| installed == lock) {
        return Ok(());
    }
    shell::run(&mut tree.npm(["ci", "--no-audit", "--no-fund"]))?;
    fs::write(&stamp, lock).with_context(|| format!("{} cannot be written", stamp.display()))
}

/// `npm run build`, when a source is newer than what was built.
pub fn build(tree: &Tree) -> Result<()> {
    install(tree)?;
    if is_current(&tree.ui()) {
        return Ok(());
    }
    shell::run(&mut tree.npm(["run", "build"]))
}

fn check_node() -> Result<()> {
    let version = shell::output(Command::new("node").arg("--version"));
    match version.as_deref().and_then(major) {
        Some(major) if major >= NODE => Ok(()),
        Some(_) => bail!("node {NODE} or newer is needed, and this is {}", version.unwrap_or_default()),
        None => {
            bail!("node {NODE} or newer is needed, and `node --version` answers nothing: install Node.js")
        }
    }
}

/// `v20.20.2` → 20
fn major(version: &str) -> Option<u32> {
    version.strip_prefix('v')?.split('.').next()?.parse().ok()
}

/// Whether the built page is newer than everything that it is made from.
fn is_current(ui: &Path) -> bool {
    let built = fs::metadata(ui.join("dist/index.html")).and_then(|page| page.modified());
    built.is_ok_and(|built| newest(ui, 0).is_some_and(|source| source < built))
}

/// When anything under `folder` last changed. Folders count below the first level, so that a removed file is
/// seen; what is made from the sources does not.
fn newest(folder: &Path, depth: usize) -> Option<SystemTime> {
    let entries = fs::read_dir(folder).ok()?.flatten();
    let sources = entries
        .filter(|entry| depth > 0 || !["node_modules", "dist"].iter().any(|made| entry.file_name() == *made));
    sources
        .filter_map(|entry| {
            let own = entry.metadata().ok()?.modified().ok()?;
            let below =
                if entry.file_type().ok()?.is_dir() { newest(&entry.path(), depth + 1) } else { None };
            Some(below.map_or(own, |below| below.max(own)))
        })
        .max()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn node_says_its_major_version() {
        assert_eq!(major("v20.20.2"), Some(20));
        assert_eq!(major("20.20.2"), None);
        assert_eq!(major(""), None);
    }

    #[test]
    fn a_source_newer_than_the_page_makes_it_old() {
        let ui = std::env::temp_dir().join(format!("xtask-window-{}", std::process::id()));
        let at = |seconds| SystemTime::UNIX_EPOCH + std::time::Duration::from_secs(seconds);
        let touch = |path: &str, seconds| {
            let path = ui.join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            let file = fs::File::create(path).unwrap();
            file.set_modified(at(seconds)).unwrap();
        };
        touch("src/pages/Live.svelte", 10);
        touch("node_modules/vite/index.js", 90);
        for folder in ["src", "src/pages"] {
            fs::File::open(ui.join(folder)).unwrap().set_modified(at(10)).unwrap();
        }
        assert!(!is_current(&ui), "nothing was built");
        touch("dist/index.html", 20);
        assert!(is_current(&ui));
        touch("src/pages/Live.svelte", 30);
        assert!(!is_current(&ui));
        fs::remove_dir_all(&ui).unwrap();
    }
}
