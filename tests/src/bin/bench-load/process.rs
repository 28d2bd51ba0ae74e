//! Processes from outside: how much memory they hold, how fast they are there.

use std::{
    fs,
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
    let children = fs::read_to_string(format!("/proc/{pid}/task/{pid}/children")).unwrap_or_default();
    let below: u64 = children.split_whitespace().filter_map(|child| child.parse().ok()).map(resident).sum();
    let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let own = status
        .lines()
        .find_map(|line| line.strip_prefix("VmRSS:")?.trim().strip_suffix(" kB")?.parse::<u64>().ok());
    own.unwrap_or_default() * 1024 + below
}

/// `bench serve` on a data folder that is set up.
pub fn serve(home: &Home, port: u16) -> (Command, Option<TempDir>) {
    let mut command = home.command(&["serve", "--port", &port.to_string()]);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    (command, None)
}

/// Starts a server again and again: the median, least and most of the milliseconds to its first 200.
pub async fn cold_starts(start: impl Fn(u16) -> (Command, Option<TempDir>)) -> String {
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
    format!("{:>9.1}{:>9.1}{:>9.1}", median(&times), percentile(&times, 0.0), percentile(&times, 1.0))
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
