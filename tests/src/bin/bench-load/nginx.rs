//! nginx as a plain streaming proxy before the upstream: keep-alive on both sides, nothing buffered.

use std::{fs, net::TcpListener, process::Stdio};

use bench_tests::{eventually, http::Http};
use tempfile::TempDir;
use tokio::process::{Child, Command};

use crate::process;

/// Before a path: the request goes on as it comes, and is not read to its end first.
pub const UNBUFFERED: &str = "/unbuffered";

pub struct Nginx {
    pub http: Http,
    port: u16,
    child: Child,
    _folder: TempDir,
}

impl Nginx {
    /// `None` where nginx is not installed.
    pub async fn start(upstream: &str) -> Option<Nginx> {
        if !is_installed() {
            return None;
        }
        let port = free_port();
        let (mut command, folder) = configured(port, upstream.trim_start_matches("http://"));
        let child = command.spawn().expect("nginx starts");
        eventually("nginx to answer", || process::is_healthy(port)).await;
        Some(Nginx { http: Http::new(&format!("http://127.0.0.1:{port}")), port, child, _folder: folder })
    }

    pub fn port(&self) -> u16 {
        self.port
    }

    pub fn pid(&self) -> u32 {
        self.child.id().expect("it runs")
    }
}

impl Drop for Nginx {
    /// The master is asked to stop, and stops its worker.
    fn drop(&mut self) {
        if let Some(pid) = self.child.id() {
            process::terminate(pid);
        }
    }
}

pub fn is_installed() -> bool {
    let asked = std::process::Command::new("nginx").arg("-v").stderr(Stdio::null()).status();
    asked.is_ok_and(|status| status.success())
}

/// A command that serves on `port` until it is asked to stop.
pub fn fresh(port: u16) -> (Command, Option<TempDir>) {
    let (command, folder) = configured(port, "127.0.0.1:9");
    (command, Some(folder))
}

pub fn free_port() -> u16 {
    let listener = TcpListener::bind(("127.0.0.1", 0)).expect("a free port");
    listener.local_addr().expect("its address").port()
}

fn configured(port: u16, upstream: &str) -> (Command, TempDir) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let configuration = format!(
        "daemon off; worker_processes 1; worker_rlimit_nofile 4096; pid nginx.pid; error_log error.log;
events {{ worker_connections 2048; }}
http {{
  access_log off; keepalive_requests 1000000; client_max_body_size 0; client_body_buffer_size 4m;
  client_body_temp_path body; proxy_temp_path proxy; fastcgi_temp_path fastcgi; uwsgi_temp_path uwsgi;
  scgi_temp_path scgi;
  upstream mock {{ server {upstream}; keepalive 128; keepalive_requests 1000000; }}
  server {{
    listen 127.0.0.1:{port};
    location = /health {{ return 200; }}
    location / {{
      proxy_pass http://mock; proxy_http_version 1.1; proxy_set_header Connection \"\"; proxy_buffering off;
    }}
    location {UNBUFFERED}/ {{
      proxy_pass http://mock/; proxy_http_version 1.1; proxy_set_header Connection \"\"; proxy_buffering off;
      proxy_request_buffering off;
    }}
  }}
}}
"
    );
    let file = folder.path().join("nginx.conf");
    fs::write(&file, configuration).expect("its configuration");
    let mut command = Command::new("nginx");
    command.arg("-p").arg(folder.path()).arg("-c").arg(&file).arg("-e").arg(folder.path().join("error.log"));
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    (command, folder)
}
