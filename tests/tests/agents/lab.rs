//! One upstream and one gateway for every errand: a collection for each, so that no errand's cool-downs and
//! conversations reach another's.

use std::path::PathBuf;

use bench_tests::{
    Gateway, Reply, Scenario, Upstream,
    upstream::{Api, Received, Script},
};
use serde_json::json;
use tokio::runtime::Runtime;

use crate::{agent::Case, errand};

/// The members of each collection, in its order: one that is always out of capacity, and two that could do the
/// errand, of which the second must never be asked to.
pub const BUSY: &str = "busy";
pub const ABLE: &str = "able";
pub const IDLE: &str = "idle";

#[derive(Debug)]
pub struct Lab {
    pub upstream: Upstream,
    pub gateway: Gateway,
    /// Where the agents' programs are.
    pub programs: PathBuf,
    runtime: Runtime,
}

impl Lab {
    pub fn start(cases: &[Case], programs: PathBuf) -> Lab {
        let runtime = Runtime::new().expect("a runtime");
        let (upstream, gateway) = runtime.block_on(async {
            let upstream = Upstream::start().await;
            // Without rotation a new conversation starts with the first member: the busy one.
            let scenario = Scenario::new();
            let scenario = cases
                .iter()
                .enumerate()
                .fold(scenario, |scenario, (number, (_, api))| collection(scenario, &upstream, number, *api));
            (upstream, scenario.start().await)
        });
        Lab { upstream, gateway, programs, runtime }
    }

    /// Runs an errand; what went wrong is told with all that was said.
    pub fn run(&self, number: usize, case: &Case) -> Result<(), String> {
        self.runtime.block_on(errand::run(self, number, case))
    }

    /// What this member of an errand's collection was asked.
    pub fn asked(&self, role: &str, number: usize) -> Vec<Received> {
        self.upstream.asked(&named(role, number))
    }
}

/// What a collection, or a member by its role, is called. It says nothing of makers and models: agents change what
/// they do by such words.
pub fn named(role: &str, number: usize) -> String {
    format!("{role}-{number}")
}

fn collection(scenario: Scenario, upstream: &Upstream, number: usize, api: Api) -> Scenario {
    let members = [BUSY, ABLE, IDLE].map(|role| named(role, number));
    upstream.model(&members[0], Script::in_any(busy));
    // An endpoint each: one that asks for patience asks it for all of its models.
    let scenario = members.iter().fold(scenario, |scenario, member| {
        scenario
            .endpoint(member, &upstream.base_of(api))
            .api(api.name())
            .model(member, member, member)
            .facts(json!({"tools": true}))
    });
    scenario.collection(&named("work", number), &members.each_ref().map(String::as_str))
}

fn busy(api: Api, _: &Received) -> Reply {
    api.fails(429, "Slow down").header("retry-after", "600")
}
