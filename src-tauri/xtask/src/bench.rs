//! `cargo xtask bench`: builds optimised programs and lets `bench-plan` and `bench-load` measure them.

use anyhow::Result;
use clap::Args;

use crate::{
    shell::{self, Tree},
    system,
};

#[derive(Args)]
pub struct Options {
    /// Panels asked before memory is read again.
    #[arg(long, default_value_t = 1000)]
    panels: u32,
    /// Interleaved rounds of each way.
    #[arg(long, default_value_t = 7)]
    rounds: u32,
}

pub fn bench(tree: &Tree, options: &Options) -> Result<()> {
    system::need(tree, &[system::COMPILER])?;
    if shell::output(tree.command("nginx").arg("-v")).is_none() {
        // Not installed unasked: its package starts a web server.
        println!(
            "nginx is not installed, so nothing stands beside the gateway but the direct call (nginx-light has it)."
        );
    }
    shell::run(&mut tree.cargo(["build", "--release", "--package", "cli", "--bin", "bench"]))?;
    shell::run(&mut tree.cargo(["build", "--release", "--package", "bench-tests", "--bins"]))?;
    shell::run(&mut tree.command(tree.built("release", "bench-plan")))?;
    shell::run(
        tree.command(tree.built("release", "bench-load"))
            .env("BENCH_BIN", tree.built("release", "bench"))
            .args([options.panels.to_string(), options.rounds.to_string()]),
    )
}
