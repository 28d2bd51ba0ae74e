//! System packages. On Debian and its kin they are installed by apt-get; elsewhere a message says what to get.

use std::{
    env, fs,
    process::{Command, Stdio},
};

use anyhow::{Context, Result, bail};

use crate::shell::{self, Tree};

/// A C compiler: SQLite and the TLS library are built from source.
pub const COMPILER: &str = "build-essential pkg-config";

/// The window and the tray icon.
pub const WINDOW: &str = "libayatana-appindicator3-dev libdbus-1-dev librsvg2-dev libwebkit2gtk-4.1-dev";

/// A desktop session on a virtual screen, to test the window in.
pub const DESKTOP: &str = include_str!("../../../tests/desktop/packages.txt");

/// Real clients run in a Python environment of their own.
pub const CLIENTS: &str = "python3 python3-venv";

/// Makes sure that Debian packages are there, installing what is missing when this may.
///
/// Without root or a sudo that asks nothing it fails with the command to run. On other systems it says what is
/// needed and goes on: the build tells what is really missing.
pub fn need(tree: &Tree, groups: &[&str]) -> Result<()> {
    let mut wanted: Vec<&str> = groups.iter().flat_map(|group| group.split_whitespace()).collect();
    wanted.sort_unstable();
    wanted.dedup();
    if wanted.is_empty() {
        return Ok(());
    }
    if !is_debian() {
        println!("{}", elsewhere(env::consts::OS, &wanted));
        return Ok(());
    }
    let missing = missing(&wanted, &installed(&wanted)?);
    if missing.is_empty() {
        return Ok(());
    }
    println!("Missing system packages: {}", missing.join(" "));
    let sudo: &[&str] = match may_install() {
        Some(prefix) => prefix,
        None => bail!(
            "run this, then start again:\n  sudo apt-get update && sudo apt-get install -y \
             --no-install-recommends {}",
            missing.join(" ")
        ),
    };
    apt_get(tree, sudo, &["update", "-qq"])?;
    let mut install = vec!["install", "-y", "-qq", "--no-install-recommends"];
    install.extend(&missing);
    apt_get(tree, sudo, &install)
}

fn is_debian() -> bool {
    let release = fs::read_to_string("/etc/os-release").unwrap_or_default();
    release.lines().any(|line| {
        let (key, value) = line.split_once('=').unwrap_or_default();
        (key == "ID" || key == "ID_LIKE") && value.trim_matches('"').split(' ').any(|id| id == "debian")
    })
}

/// One line a package: `name status`. dpkg-query fails when it knows one of them not at all, and still prints
/// the others.
fn installed(wanted: &[&str]) -> Result<String> {
    let query = Command::new("dpkg-query")
        .args(["-W", "-f=${Package} ${db:Status-Status}\n"])
        .args(wanted)
        .stderr(Stdio::null())
        .output()
        .context("dpkg-query could not be started")?;
    Ok(String::from_utf8_lossy(&query.stdout).into_owned())
}

fn missing<'a>(wanted: &[&'a str], listing: &str) -> Vec<&'a str> {
    let here = |name: &str| listing.lines().any(|line| line.strip_suffix(" installed") == Some(name));
    wanted.iter().copied().filter(|name| !here(name)).collect()
}

/// What to put before `apt-get`: nothing for root, `sudo -n` where it asks for no password.
fn may_install() -> Option<&'static [&'static str]> {
    if shell::output(Command::new("id").arg("-u")).as_deref() == Some("0") {
        return Some(&[]);
    }
    shell::output(Command::new("sudo").args(["-n", "true"])).map(|_| ["sudo", "-n"].as_slice())
}

fn apt_get(tree: &Tree, sudo: &[&str], arguments: &[&str]) -> Result<()> {
    let words = [sudo, &["env", "DEBIAN_FRONTEND=noninteractive", "apt-get"], arguments].concat();
    let (program, rest) = words.split_first().context("no command")?;
    shell::run(tree.command(program).args(rest).stdin(Stdio::null()))
}

fn elsewhere(os: &str, debian_names: &[&str]) -> String {
    let needs_window = debian_names.iter().any(|name| name.starts_with("libwebkit2gtk"));
    match os {
        "macos" => "Needed on macOS: the Xcode command line tools (`xcode-select --install`).".to_owned(),
        "windows" => {
            "Needed on Windows: the Visual Studio C++ build tools, and WebView2 (part of Windows 11)."
                .to_owned()
        }
        _ => {
            let window = if needs_window {
                ", and the development files of WebKitGTK 4.1, Ayatana AppIndicator 3, D-Bus and librsvg"
            } else {
                ""
            };
            format!(
                "Not a Debian system, so nothing is installed. Needed: a C compiler, pkg-config{window} (Debian's \
                 names: {}).",
                debian_names.join(" ")
            )
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_fully_installed_packages_count() {
        let listing = "xvfb installed\nopenbox config-files\ndbus installed\n";
        assert_eq!(missing(&["xvfb", "openbox", "dbus", "dunst"], listing), ["openbox", "dunst"]);
    }

    #[test]
    fn a_package_is_not_found_by_the_end_of_another_name() {
        assert_eq!(missing(&["dbus"], "libdbus installed\n"), ["dbus"]);
    }

    #[test]
    fn other_systems_are_told_what_to_get() {
        assert!(elsewhere("linux", &["libwebkit2gtk-4.1-dev"]).contains("WebKitGTK 4.1"));
        assert!(!elsewhere("linux", &["build-essential"]).contains("WebKitGTK"));
        assert!(elsewhere("macos", &[]).contains("xcode-select --install"));
        assert!(elsewhere("windows", &[]).contains("WebView2"));
    }
}
