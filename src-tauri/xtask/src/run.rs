//! `cargo xtask run`: the tray application, or the headless gateway where there is no display.

use std::env;

use anyhow::Result;

use crate::{
    shell::{self, Tree},
    system, window,
};

pub fn run(tree: &Tree, release: bool, arguments: &[String]) -> Result<()> {
    if has_display() { application(tree, release, arguments) } else { headless(tree, release, arguments) }
}

fn application(tree: &Tree, release: bool, arguments: &[String]) -> Result<()> {
    system::need(tree, &[system::COMPILER, system::WINDOW])?;
    window::build(tree)?;
    start(tree, release, &["--package", "benchwarmers"], arguments)
}

/// Nothing of the window is installed or built. `--practice` gives a fresh data folder a collection that
/// answers offline, and the gateway prints a `curl` line for it with the port it really has.
fn headless(tree: &Tree, release: bool, arguments: &[String]) -> Result<()> {
    println!("No DISPLAY and no WAYLAND_DISPLAY: starting the headless gateway.");
    system::need(tree, &[system::COMPILER])?;
    let serve = ["serve", "--practice"].map(str::to_owned);
    start(tree, release, &["--package", "cli", "--bin", "bench"], &[&serve, arguments].concat())
}

fn start(tree: &Tree, release: bool, package: &[&str], arguments: &[String]) -> Result<()> {
    let mut command = tree.cargo(["run"]);
    command.args(package);
    if release {
        command.arg("--release");
    }
    shell::become_program(command.arg("--").args(arguments))
}

/// macOS and Windows always have one.
fn has_display() -> bool {
    !cfg!(target_os = "linux")
        || ["DISPLAY", "WAYLAND_DISPLAY"]
            .iter()
            .any(|name| env::var_os(name).is_some_and(|it| !it.is_empty()))
}
