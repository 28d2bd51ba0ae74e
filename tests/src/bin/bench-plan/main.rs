//! What the router is worth and what seating costs: a simulation, and a measurement.
//!
//! `bench-plan`; `cargo xtask bench` starts it. Both use the public API of `plan`, as the gateway does. The simulation
//! is the same on every machine; the times are of this one.
#![expect(clippy::print_stdout, reason = "a program for a terminal")]

mod cost;
mod policy;
mod simulation;
mod world;

use crate::{
    policy::Policy,
    simulation::{LOOKS, Run, simulate},
    world::PANELS,
};

/// Worlds that each policy is put into; the figures are their means, and one world is mostly luck.
const WORLDS: u64 = 10;

fn main() {
    println!(
        "{PANELS} panels over 30 models of hidden quality in 4 shapes, 3 fixed members, 2 explorer seats,"
    );
    println!(
        "means of {WORLDS} worlds: of the best 3 outsiders, % among the record's first 3 after so many panels; at"
    );
    println!(
        "the end, what the reserve lacks to the best one, useful answers of explorers, and the longest anyone waited"
    );
    println!("explorers by        500   1000   2500   5000   lacks   useful   stalest, panels");
    for policy in Policy::ALL {
        let runs: Vec<Run> = (0..WORLDS).map(|world| simulate(policy, world)).collect();
        let mean = |of: &dyn Fn(&Run) -> f64| runs.iter().map(of).sum::<f64>() / WORLDS as f64;
        let found: Vec<String> =
            (0..LOOKS.len()).map(|at| format!("{:>4.0}", mean(&|run| run.found[at] * 100.0))).collect();
        println!(
            "{:<18} {}   {:>5.3}   {:>5.0}%   {:>8}",
            policy.name(),
            found.join("   "),
            mean(&|run| run.reserve_lacks),
            mean(&|run| run.explorers_useful * 100.0),
            runs.iter().map(|run| run.stalest).max().unwrap_or_default()
        );
    }
    println!();
    cost::print();
}
