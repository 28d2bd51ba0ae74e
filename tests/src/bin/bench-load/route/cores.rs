//! Which cores processes may run on, by `taskset`.

use std::{fs, process::Stdio};

use crate::process;

/// Processes held on one core until this is dropped. Nothing is woken on another core, so what a way costs is
/// what it does, whatever else the machine is at.
pub struct Held {
    pids: Vec<u32>,
    before: String,
}

/// Holds these and this process on the first core that this process may use; `None` where it cannot be done.
pub fn hold(pids: &[u32]) -> Option<Held> {
    let before = allowed()?;
    let first = before.split([',', '-']).next()?.to_owned();
    let mut pids: Vec<u32> = pids.iter().copied().flat_map(process::tree).collect();
    pids.push(std::process::id());
    let held = Held { pids, before };
    held.set(&first).then_some(held)
}

impl Held {
    fn set(&self, cores: &str) -> bool {
        self.pids.iter().all(|pid| {
            let mut command = std::process::Command::new("taskset");
            command
                .args(["-a", "-p", "-c", cores, &pid.to_string()])
                .stdout(Stdio::null())
                .stderr(Stdio::null());
            command.status().is_ok_and(|status| status.success())
        })
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        self.set(&self.before);
    }
}

/// What the machine is at besides, when that is more than a core's half.
pub fn busy() -> Option<String> {
    let load = fs::read_to_string("/proc/loadavg").ok()?;
    let last_minute: f64 = load.split_whitespace().next()?.parse().ok()?;
    let cores = std::thread::available_parallelism().ok()?;
    (last_minute > 0.5).then(|| format!("load {last_minute} on {cores} cores"))
}

/// Such as `0-1` or `0,2-5`.
fn allowed() -> Option<String> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:"))?;
    Some(line.trim().to_owned())
}
