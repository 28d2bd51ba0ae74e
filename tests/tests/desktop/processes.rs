//! Processes as the kernel lists them.

use std::{fs, process::Command, time::Duration};

/// Whether the process runs: a zombie does not.
pub fn runs(pid: u32) -> bool {
    stat(pid).is_some_and(|stat| stat.state != 'Z')
}

/// WebKit's processes among the descendants of `pid`, by name.
pub fn web(pid: u32) -> Vec<String> {
    let mut found = Vec::new();
    let mut parents = vec![pid];
    while let Some(parent) = parents.pop() {
        for child in all().filter(|child| child.parent == parent && child.state != 'Z') {
            parents.push(child.pid);
            if child.name.starts_with("WebKit") {
                found.push(child.name);
            }
        }
    }
    found.sort();
    found
}

/// Asks it to end, and makes it end when it does not.
pub fn end(pid: u32) {
    for signal in ["-TERM", "-KILL"] {
        if !runs(pid) {
            return;
        }
        let _ = Command::new("kill").args([signal, &pid.to_string()]).status();
        for _ in 0..100 {
            if !runs(pid) {
                return;
            }
            std::thread::sleep(Duration::from_millis(30));
        }
    }
}

struct Stat {
    pid: u32,
    name: String,
    state: char,
    parent: u32,
}

fn all() -> impl Iterator<Item = Stat> {
    let entries = fs::read_dir("/proc").expect("/proc");
    entries.flatten().filter_map(|entry| stat(entry.file_name().to_str()?.parse().ok()?))
}

fn stat(pid: u32) -> Option<Stat> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let (head, tail) = stat.rsplit_once(") ")?;
    let mut fields = tail.split(' ');
    Some(Stat {
        pid,
        name: head.split_once('(')?.1.to_owned(),
        state: fields.next()?.chars().next()?,
        parent: fields.next()?.parse().ok()?,
    })
}
