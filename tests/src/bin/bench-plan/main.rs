//! What the router is worth and what seating costs: a simulation, and a measurement.
//!
//! `bench-plan`; `cargo xtask bench` starts it. Both use the public API of `plan`, as the gateway does. The simulation
//! is the same on every machine; the times are of this one.
#![expect(clippy::print_stdout, reason = "a program for a terminal")]

mod cost;
mod policy;
mod simulation;
mod world;

use crate::{policy::Policy, simulation::simulate, world::PANELS};

/// The world that is printed; others give other figures, and the tests look at several.
const SEED: u64 = 20_261_129;

fn main() {
    println!(
        "{PANELS} panels over 30 models of hidden quality in 4 shapes, 3 fixed members, 2 explorer seats"
    );
    println!(
        "of the best 3 outsiders, % among the record's first 3 after so many panels; then, at the end: what the"
    );
    println!(
        "reserve it picks lacks to the best one, useful answers of explorers, and the longest any model waited"
    );
    println!("explorers by        500   1000   2500   5000   lacks   useful   stalest, panels");
    for policy in Policy::ALL {
        let run = simulate(policy, SEED);
        let found: Vec<String> = run.found.iter().map(|share| format!("{:>4.0}", share * 100.0)).collect();
        println!(
            "{:<18} {}   {:>5.3}   {:>5.0}%   {:>8}",
            policy.name(),
            found.join("   "),
            run.reserve_lacks,
            run.explorers_useful * 100.0,
            run.stalest
        );
    }
    println!();
    cost::print();
}
