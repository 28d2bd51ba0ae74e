//! Build chores: `cargo xtask run | test | ci | fuzz | bench | package`.
//!
//! Knows the machine (packages, `npm`, `cargo`) so that nothing else has to. Every command may be started on
//! a fresh clone; each does what is missing first and skips what is there.

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a program for a terminal")]
#![expect(clippy::disallowed_methods, reason = "a chore times itself; there is no gateway clock here")]

mod bench;
mod fuzz;
mod package;
mod run;
mod shell;
mod steps;
mod system;
mod test;
mod window;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

use crate::shell::Tree;

/// Build chores for Benchwarmers.
#[derive(Parser)]
#[command(bin_name = "cargo xtask")]
struct Arguments {
    #[command(subcommand)]
    chore: Chore,
}

#[derive(Subcommand)]
enum Chore {
    /// Install what is missing, build the window and start the tray application; without a display, the
    /// headless gateway.
    Run {
        /// Optimised build: slower to make, faster to run.
        #[arg(long)]
        release: bool,
        /// Passed to the program.
        #[arg(last = true)]
        arguments: Vec<String>,
    },
    /// Install what is missing, then check and test everything.
    Test(test::Selection),
    /// The same as `test`.
    Ci(test::Selection),
    /// Feed the wire formats mutated bytes, guided by coverage.
    Fuzz(fuzz::Options),
    /// Measure what the wire formats cost, then added latency, memory and cold start beside nginx and the direct call.
    Bench(bench::Options),
    /// Make installers for this platform.
    Package(package::Options),
}

fn main() -> ExitCode {
    let chore = Arguments::parse().chore;
    let done = Tree::find().and_then(|tree| match chore {
        Chore::Run { release, arguments } => run::run(&tree, release, &arguments),
        Chore::Test(selection) | Chore::Ci(selection) => test::test(&tree, &selection),
        Chore::Fuzz(options) => fuzz::fuzz(&tree, &options),
        Chore::Bench(options) => bench::bench(&tree, &options),
        Chore::Package(options) => package::package(&tree, &options),
    });
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("xtask: {error:#}");
            ExitCode::FAILURE
        }
    }
}
