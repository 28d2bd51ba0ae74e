//! Processes from outside: how much memory they hold, how fast they are there.

use std::{
    fmt, fs,
    process::Stdio,
    time::{Duration, Instant},
};

use bench_tests::{Home, PATIENCE};
use tempfile::TempDir;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
    process::Command,
};

use crate::{
    nginx::free_port,
    numbers::{median, milliseconds, percentile},
};

const STARTS: usize = 15;

/// Resident memory of a process and its children, in bytes. Linux only: 0 elsewhere.
pub fn resident(pid: u32) -> u64 {
    memory(pid, "VmRSS:")
}

/// The most that was resident since it started.
pub fn most_resident(pid: u32) -> u64 {
    memory(pid, "VmHWM:")
}

/// Time that a process and its children have run on any core.
pub fn run_time(pid: u32) -> Duration {
    let of_thread = |folder: fs::DirEntry| {
        let said = fs::read_to_string(folder.path().join("schedstat")).unwrap_or_default();
        said.split_whitespace().next().and_then(|time| time.parse().ok()).unwrap_or(0)
    };
    let threads =
        tree(pid).into_iter().filter_map(|pid| fs::read_dir(format!("/proc/{pid}/task")).ok()).flatten();
    Duration::from_nanos(threads.flatten().map(of_thread).sum())
}

/// A process and its children, and theirs.
pub fn tree(pid: u32) -> Vec<u32> {
    let children = fs::read_to_string(format!("/proc/{pid}/task/{pid}/children")).unwrap_or_default();
    let below = children.split_whitespace().filter_map(|child| child.parse().ok()).flat_map(tree);
    std::iter::once(pid).chain(below).collect()
}

fn memory(pid: u32, field: &str) -> u64 {
    let of_process = |pid| {
        let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
        let line = status.lines().find_map(|line| line.strip_prefix(field)?.trim().strip_suffix(" kB"));
        line.and_then(|size| size.parse::<u64>().ok()).unwrap_or_default() * 1024
    };
    tree(pid).into_iter().map(of_process).sum()
}

/// `bench serve` on a data folder that is set up.
pub fn serve(home: &Home, port: u16) -> (Command, Option<TempDir>) {
    let mut command = home.command(&["serve", "--port", &port.to_string()]);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    (command, None)
}

/// Milliseconds to the first 200, of some starts.
pub struct Starts(Vec<f64>);

impl Starts {
    pub fn median(&self) -> f64 {
        median(&self.0)
    }
}

impl fmt::Display for Starts {
    /// The median, the least and the most.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (least, most) = (percentile(&self.0, 0.0), percentile(&self.0, 1.0));
        write!(formatter, "{:>9.1}{least:>9.1}{most:>9.1}", self.median())
    }
}

/// Starts a server again and again.
pub async fn cold_starts(start: impl Fn(u16) -> (Command, Option<TempDir>)) -> Starts {
    let mut times = Vec::with_capacity(STARTS);
    for _ in 0..STARTS {
        let port = free_port();
        let (mut command, _folder) = start(port);
        let began = Instant::now();
        let mut child = command.spawn().expect("it starts");
        while is_healthy(port).await.is_none() {
            assert!(began.elapsed() < PATIENCE, "no 200 from {:?}", command.as_std());
            tokio::time::sleep(Duration::from_micros(500)).await;
        }
        times.push(milliseconds(began.elapsed()));
        terminate(child.id().expect("it runs"));
        child.wait().await.expect("it ends");
    }
    Starts(times)
}

/// Whether `/health` answers 200 now.
pub async fn is_healthy(port: u16) -> Option<()> {
    let mut stream = TcpStream::connect(("127.0.0.1", port)).await.ok()?;
    let request = format!("GET /health HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nConnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).await.ok()?;
    let mut head = [0; 12];
    stream.read_exact(&mut head).await.ok()?;
    (head == *b"HTTP/1.1 200").then_some(())
}

/// Asks a process to stop.
pub fn terminate(pid: u32) {
    let asked = std::process::Command::new("kill").args(["-TERM", &pid.to_string()]).status();
    assert!(asked.is_ok_and(|status| status.success()), "process {pid} cannot be stopped");
}
