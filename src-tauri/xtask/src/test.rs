//! `cargo xtask test`: everything that is checked, cheap steps first.
//!
//! All cargo steps select the whole workspace, so that features resolve alike and a dependency is compiled once
//! for checking and once for running, not once a step.

use std::{env, process::Command};

use anyhow::{Context, Result, bail};
use clap::Args;
use serde_json::Value;

use crate::{
    fuzz,
    shell::{self, Tree},
    steps::{self, Step},
    system, window,
};

/// Which steps to take.
#[derive(Args)]
pub struct Selection {
    /// Only these steps, in their usual order.
    #[arg(value_name = "STEP")]
    only: Vec<String>,
    /// Say which steps there are and stop.
    #[arg(long)]
    list: bool,
}

const STEPS: &[Step] = &[
    Step { name: "fmt", what: "Rust is formatted", needs: &[], run: fmt },
    Step { name: "ui", what: "the window's types, format and unit tests", needs: &[], run: ui },
    Step { name: "clippy", what: "no warning in any target", needs: BUILD, run: clippy },
    Step { name: "build", what: "both programs and every test", needs: BUILD, run: build },
    Step { name: "unit", what: "tests inside the crates, and their examples", needs: BUILD, run: unit },
    Step { name: "tidy", what: "the rules about the tree itself", needs: BUILD, run: tidy },
    Step { name: "tests", what: "goldens, properties, end to end", needs: BUILD, run: integration },
    Step {
        name: "fuzz",
        what: "mutated bytes, a few seconds a target",
        needs: &[system::COMPILER],
        run: fuzz::short,
    },
    Step { name: "clients", what: "real clients against `bench serve`", needs: WITH_CLIENTS, run: clients },
    Step { name: "agents", what: "real agents on a collection", needs: BUILD, run: agents },
    Step { name: "desktop", what: "the real window in a desktop session", needs: WITH_DESKTOP, run: desktop },
    Step { name: "docs", what: "the crates' documentation has no broken link", needs: BUILD, run: docs },
    Step { name: "deny", what: "licences, sources and banned crates", needs: &[], run: deny },
];

const BUILD: &[&str] = &[system::COMPILER, system::WINDOW];
const WITH_CLIENTS: &[&str] = &[system::COMPILER, system::WINDOW, system::CLIENTS];
const WITH_DESKTOP: &[&str] = &[system::COMPILER, system::WINDOW, system::DESKTOP];

/// Test targets that have a step of their own.
const OWN_STEP: &[&str] = &["tidy", "clients", "agents", "desktop"];

/// A workspace of its own.
const FUZZ: &str = "src-tauri/fuzz/Cargo.toml";

/// The version that was used when `deny.toml` was written.
const CARGO_DENY: &str = "cargo-deny@0.20.2";

pub fn test(tree: &Tree, selection: &Selection) -> Result<()> {
    if selection.list {
        for step in STEPS {
            println!("{:<8}  {}", step.name, step.what);
        }
        return Ok(());
    }
    let chosen = steps::chosen(STEPS, &selection.only)?;
    let packages: Vec<&str> = chosen.iter().flat_map(|step| step.needs).copied().collect();
    system::need(tree, &packages)?;
    steps::run(tree, &chosen)
}

fn fmt(tree: &Tree) -> Result<()> {
    cargo(tree, &["fmt", "--all", "--check"])?;
    cargo(tree, &["fmt", "--all", "--check", "--manifest-path", FUZZ])
}

/// The window is built here because the application embeds it when it is compiled.
fn ui(tree: &Tree) -> Result<()> {
    window::install(tree)?;
    shell::run(&mut tree.npm(["run", "check"]))?;
    shell::run(&mut tree.npm(["test"]))?;
    window::build(tree)
}

fn clippy(tree: &Tree) -> Result<()> {
    cargo(tree, &["clippy", "--workspace", "--all-targets", "--", "-D", "warnings"])
}

/// Tests too: without them features would resolve differently, and many a dependency be compiled again for them.
fn build(tree: &Tree) -> Result<()> {
    window::build(tree)?;
    cargo(tree, &["build", "--workspace", "--all-targets"])
}

fn unit(tree: &Tree) -> Result<()> {
    cargo(tree, &["test", "--workspace", "--lib", "--bins"])?;
    cargo(tree, &["test", "--workspace", "--doc"])
}

fn tidy(tree: &Tree) -> Result<()> {
    build(tree)?;
    cargo(tree, &["test", "--workspace", "--test", "tidy"])
}

fn integration(tree: &Tree) -> Result<()> {
    build(tree)?;
    let targets = test_targets(tree)?;
    let mut arguments = vec!["test", "--workspace"];
    for target in targets.iter().filter(|target| !OWN_STEP.contains(&target.as_str())) {
        arguments.extend(["--test", target]);
    }
    cargo(tree, &arguments)
}

/// The test installs them itself, into the target folder.
fn clients(tree: &Tree) -> Result<()> {
    build(tree)?;
    cargo(tree, &["test", "--workspace", "--test", "clients"])
}

/// The test installs them itself, into the target folder.
fn agents(tree: &Tree) -> Result<()> {
    build(tree)?;
    cargo(tree, &["test", "--workspace", "--test", "agents"])
}

/// The test puts itself into the session of `tests/desktop/session.sh`.
fn desktop(tree: &Tree) -> Result<()> {
    build(tree)?;
    cargo(tree, &["test", "--workspace", "--test", "desktop"])
}

/// Private items are documented too, so a link to one is no mistake.
fn docs(tree: &Tree) -> Result<()> {
    let arguments = ["doc", "--workspace", "--no-deps", "--document-private-items"];
    let flags = "-D warnings -A rustdoc::private_intra_doc_links";
    shell::run(in_workspace(tree, &arguments).env("RUSTDOCFLAGS", flags))
}

/// Advisories are left out: they need a database that is fetched from outside the registries.
fn deny(tree: &Tree) -> Result<()> {
    if shell::output(&mut tree.cargo(["deny", "--version"])).is_none() {
        println!("cargo-deny is not installed: building it, once, into cargo's own folder");
        cargo(tree, &["install", "--locked", CARGO_DENY])?;
    }
    // One list of licences for both workspaces: neither meets all of it.
    let unmet = ["-A", "license-not-encountered", "-A", "license-exception-not-encountered"];
    let what = ["--hide-inclusion-graph", "bans", "licenses", "sources"];
    for manifest in ["Cargo.toml", FUZZ] {
        let deny = ["deny", "--manifest-path", manifest, "--workspace", "--config", "deny.toml", "check"];
        cargo(tree, &[&deny[..], &unmet, &what].concat())?;
    }
    Ok(())
}

fn cargo(tree: &Tree, arguments: &[&str]) -> Result<()> {
    shell::run(&mut in_workspace(tree, arguments))
}

/// Cargo on the whole workspace. Tests are told of the program that `build` made, or they would build it again,
/// alone and so with other features.
fn in_workspace(tree: &Tree, arguments: &[&str]) -> Command {
    let mut command = tree.cargo(arguments);
    command.env("BENCH_BIN", tree.built("debug", "bench"));
    if env::var_os("CI").is_some() {
        // A run that starts from nothing gains nothing from incremental compilation and pays for its files.
        command.env("CARGO_INCREMENTAL", "0");
    }
    command
}

/// Names of the integration tests in the workspace.
fn test_targets(tree: &Tree) -> Result<Vec<String>> {
    let metadata = shell::output(&mut tree.cargo(["metadata", "--no-deps", "--format-version", "1"]))
        .context("`cargo metadata` failed")?;
    let metadata: Value = serde_json::from_str(&metadata).context("`cargo metadata` is not JSON")?;
    let names = integration_tests(&metadata);
    if names.is_empty() {
        bail!("the workspace has no integration tests");
    }
    Ok(names)
}

fn integration_tests(metadata: &Value) -> Vec<String> {
    let list = |value: &Value, key: &str| value[key].as_array().cloned().unwrap_or_default();
    list(metadata, "packages")
        .iter()
        .flat_map(|package| list(package, "targets"))
        .filter(|target| list(target, "kind").iter().any(|kind| kind == "test"))
        .filter_map(|target| target["name"].as_str().map(str::to_owned))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integration_tests_are_found_by_their_kind() {
        let metadata = serde_json::json!({ "packages": [
            { "targets": [{ "name": "wire", "kind": ["lib"] }] },
            { "targets": [{ "name": "golden", "kind": ["test"] }, { "name": "load", "kind": ["bench"] }] },
        ]});
        assert_eq!(integration_tests(&metadata), ["golden"]);
    }

    #[test]
    fn steps_have_names_of_their_own() {
        let names: std::collections::BTreeSet<&str> = STEPS.iter().map(|step| step.name).collect();
        assert_eq!(names.len(), STEPS.len());
    }
}
