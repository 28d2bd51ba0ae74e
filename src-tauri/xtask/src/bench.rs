//! `cargo xtask bench`: what the wire formats cost, event by event; what seating a panel costs and is worth
//! (`bench-plan`); then the optimised gateway and its records, measured by `bench-load`.

use anyhow::Result;
use clap::{Args, ValueEnum};

use crate::{
    shell::{self, Tree},
    system,
};

#[derive(Args)]
pub struct Options {
    /// Only this.
    only: Option<Subject>,
    /// Panels asked before memory is read again.
    #[arg(long, default_value_t = 1000)]
    panels: u32,
    /// Interleaved rounds of each way.
    #[arg(long, default_value_t = 7)]
    rounds: u32,
    /// Calls on record; writing a million takes minutes.
    #[arg(long, default_value_t = 1_000_000)]
    calls: u32,
}

#[derive(Clone, Copy, PartialEq, ValueEnum)]
enum Subject {
    /// Reading, writing and relaying in each dialect.
    Wire,
    /// Seating, and the simulation of what its choices are worth.
    Plan,
    /// The whole gateway, beside nginx and the direct call; what a panel takes beyond its slowest seat.
    Gateway,
    /// Routed turns beside a plain nginx, the direct call and, where it is installed, crabllm, against the targets.
    Route,
    /// Starting with a long record, and searching in it.
    Records,
}

pub fn bench(tree: &Tree, options: &Options) -> Result<()> {
    system::need(tree, &[system::COMPILER])?;
    let wanted = |subject| options.only.is_none_or(|only| only == subject);
    if wanted(Subject::Wire) {
        shell::run(&mut tree.cargo(["bench", "--package", "wire", "--benches"]))?;
    }
    if wanted(Subject::Plan) {
        shell::run(&mut tree.cargo([
            "build",
            "--release",
            "--package",
            "bench-tests",
            "--bin",
            "bench-plan",
        ]))?;
        shell::run(&mut tree.command(tree.built("release", "bench-plan")))?;
    }
    if wanted(Subject::Gateway) {
        say_if_nginx_is_missing(tree);
        load(tree, &["gateway", &options.panels.to_string(), &options.rounds.to_string()])?;
    }
    if wanted(Subject::Route) {
        say_if_nginx_is_missing(tree);
        load(tree, &["route"])?;
    }
    if wanted(Subject::Records) { load(tree, &["records", &options.calls.to_string()]) } else { Ok(()) }
}

/// It is not installed unasked: its package starts a web server.
fn say_if_nginx_is_missing(tree: &Tree) {
    if shell::output(tree.command("nginx").arg("-v")).is_none() {
        println!(
            "nginx is not installed, so nothing stands beside the gateway but the direct call (nginx-light has it)."
        );
    }
}

/// The optimised programs, measured by `bench-load`.
fn load(tree: &Tree, arguments: &[&str]) -> Result<()> {
    shell::run(&mut tree.cargo(["build", "--release", "--package", "cli", "--bin", "bench"]))?;
    shell::run(&mut tree.cargo(["build", "--release", "--package", "bench-tests", "--bin", "bench-load"]))?;
    shell::run(
        tree.command(tree.built("release", "bench-load"))
            .env("BENCH_BIN", tree.built("release", "bench"))
            .args(arguments),
    )
}
