//! One upstream and one gateway for every errand: a collection for each agent and dialect, so that no errand's
//! cool-downs and conversations reach another's.

use std::path::PathBuf;

use bench_tests::{
    Gateway, Reply, Scenario, Upstream,
    upstream::{Api, Script},
};
use serde_json::json;
use tokio::runtime::Runtime;

use crate::{agent::Agent, errand};

/// The members of each collection, in its order: one that is always out of capacity, and two that could do the
/// errand.
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
    pub fn start(agents: &[Agent], programs: PathBuf) -> Lab {
        let runtime = Runtime::new().expect("a runtime");
        let (upstream, gateway) = runtime.block_on(async {
            let upstream = Upstream::start().await;
            // A new conversation starts with the first member: the busy one.
            let mut scenario = Scenario::new().setting("rotate", 0);
            for (agent, api) in agents.iter().flat_map(|agent| Api::ALL.map(|api| (agent, api))) {
                scenario = collection(scenario, &upstream, agent, api);
            }
            (upstream, scenario.start().await)
        });
        Lab { upstream, gateway, programs, runtime }
    }

    /// Runs the agent's errand; what went wrong is told with all it said.
    pub fn run(&self, agent: &Agent, api: Api) -> Result<(), String> {
        self.runtime.block_on(errand::run(self, agent, api))
    }
}

/// The name of the agent's collection of this dialect, without `bench/`.
pub fn name(agent: &Agent, api: Api) -> String {
    format!("{}-{}", agent.name, api.name())
}

/// The alias and the served id of a member.
pub fn member(agent: &Agent, api: Api, role: &str) -> String {
    format!("{role}-{}-{}", agent.name, api.name())
}

fn collection(scenario: Scenario, upstream: &Upstream, agent: &Agent, api: Api) -> Scenario {
    upstream.model(&member(agent, api, BUSY), Script::in_any(busy));
    let members: Vec<String> = [BUSY, ABLE, IDLE].into_iter().map(|role| member(agent, api, role)).collect();
    // An endpoint each: one that asks for patience asks it for all of its models.
    let scenario = members.iter().fold(scenario, |scenario, member| {
        scenario
            .endpoint(member, &upstream.base_of(api))
            .api(api.name())
            .model(member, member, member)
            .facts(json!({"tools": true}))
    });
    let members: Vec<&str> = members.iter().map(String::as_str).collect();
    scenario.collection(&name(agent, api), &members)
}

fn busy(api: Api, _: &bench_tests::upstream::Received) -> Reply {
    api.fails(429, "Slow down").header("retry-after", "600")
}
