//! The real program: `bench serve` in a throw-away home, and `bench` commands beside it.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
    process::{Output, Stdio},
    sync::{Arc, OnceLock},
};

use serde_json::Value;
use tempfile::TempDir;
use tokio::process::{Child, Command};

use crate::{
    eventually,
    http::{Answer, Http},
    within,
};

/// The program under test: `$BENCH_BIN`, else built by cargo once and taken from the target directory.
pub fn bench_program() -> &'static Path {
    static PROGRAM: OnceLock<PathBuf> = OnceLock::new();
    PROGRAM.get_or_init(|| match std::env::var_os("BENCH_BIN") {
        Some(path) => PathBuf::from(path),
        None => build(),
    })
}

fn build() -> PathBuf {
    let test = std::env::current_exe().expect("this test's path");
    let profile = test.parent().and_then(Path::parent).expect("target/<profile>/deps/<test>");
    let mut cargo = std::process::Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo.args(["build", "--quiet", "-p", "cli"]).current_dir(repository());
    if profile.ends_with("release") {
        cargo.arg("--release");
    }
    assert!(cargo.status().expect("cargo runs").success(), "cargo build -p cli failed");
    profile.join("bench").with_extension(std::env::consts::EXE_EXTENSION)
}

/// The root of the repository.
pub fn repository() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("tests/ has a parent")
}

/// A data folder, an environment and a place for logs, kept as long as any clone lives.
#[derive(Clone, Debug)]
pub struct Home {
    folder: Arc<TempDir>,
    environment: BTreeMap<String, String>,
}

impl Default for Home {
    fn default() -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder");
        for part in ["data", "home", "logs"] {
            fs::create_dir(folder.path().join(part)).expect("a folder");
        }
        Home { folder: Arc::new(folder), environment: BTreeMap::new() }
    }
}

/// What a `bench` command did.
#[derive(Clone, Debug)]
pub struct Bench {
    pub code: i32,
    pub stdout: String,
    pub stderr: String,
}

impl Home {
    /// A variable for every process started here.
    pub fn set(&mut self, name: &str, value: &str) {
        self.environment.insert(name.to_owned(), value.to_owned());
    }

    /// `$BENCHWARMERS_HOME`
    pub fn data(&self) -> PathBuf {
        self.folder.path().join("data")
    }

    /// A file outside the data folder.
    pub fn file(&self, name: &str, text: &str) -> PathBuf {
        let path = self.folder.path().join(name);
        fs::write(&path, text).expect("a file");
        path
    }

    /// Everything any process here has written to stdout and stderr.
    pub fn logs(&self) -> String {
        read_folder(&self.folder.path().join("logs")).into_values().map(|bytes| text(&bytes)).collect()
    }

    /// Runs a command to its end with nothing on stdin.
    pub async fn bench(&self, arguments: &[&str]) -> Bench {
        self.bench_with(arguments, "").await
    }

    /// Runs a command to its end with `input` on stdin.
    pub async fn bench_with(&self, arguments: &[&str], input: &str) -> Bench {
        use tokio::io::AsyncWriteExt;
        let mut command = self.command(arguments);
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("bench starts");
        let mut stdin = child.stdin.take().expect("piped");
        // A command that refuses its arguments does not read.
        let _ = stdin.write_all(input.as_bytes()).await;
        drop(stdin);
        let what = format!("bench {}", arguments.join(" "));
        let Output { status, stdout, stderr } =
            within(&what, child.wait_with_output()).await.expect("bench can be waited for");
        Bench { code: status.code().unwrap_or(-1), stdout: text(&stdout), stderr: text(&stderr) }
    }

    /// `bench …` with this home and nothing of the machine's own.
    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(bench_program());
        command.args(arguments);
        self.dress(&mut command);
        command
    }

    /// Gives any command this home's environment.
    pub fn dress(&self, command: &mut Command) {
        command
            .env_clear()
            .envs(std::env::vars_os().filter(|(name, _)| {
                ["PATH", "LD_LIBRARY_PATH", "SystemRoot", "LLVM_PROFILE_FILE"].iter().any(|kept| name == kept)
            }))
            .env("HOME", self.folder.path().join("home"))
            .env("BENCHWARMERS_HOME", self.data())
            .env("BENCHWARMERS_KEYCHAIN", "off")
            .env("NO_COLOR", "1")
            .envs(&self.environment)
            .kill_on_drop(true);
    }

    /// `bench serve` on a free port, ready.
    pub async fn serve(&self) -> Gateway {
        self.serve_with(&[]).await
    }

    /// The same with more arguments.
    pub async fn serve_with(&self, more: &[&str]) -> Gateway {
        let port: &[&str] = if more.contains(&"--port") { &[] } else { &["--port", "0"] };
        self.serve_as(self.command(&[&["--json", "serve"], port, more].concat())).await
    }

    /// Any command that ends up being `bench --json serve`.
    pub async fn serve_as(&self, mut command: Command) -> Gateway {
        static STARTED: std::sync::atomic::AtomicUsize = std::sync::atomic::AtomicUsize::new(0);
        let number = STARTED.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        let log = |stream: &str| self.folder.path().join("logs").join(format!("serve-{number}.{stream}"));
        let file = |stream: &str| fs::File::create(log(stream)).expect("a log file");
        let mut child = command
            .stdin(Stdio::null())
            .stdout(file("out"))
            .stderr(file("err"))
            .spawn()
            .expect("bench serve starts");
        let ready = eventually("the ready line of bench serve", || {
            let said = fs::read_to_string(log("out")).unwrap_or_default();
            let line = said.split_once('\n').map(|(line, _)| line.to_owned());
            if line.is_none()
                && let Ok(Some(status)) = child.try_wait()
            {
                panic!(
                    "bench serve ended with {status}: {}",
                    fs::read_to_string(log("err")).unwrap_or_default()
                );
            }
            std::future::ready(line)
        })
        .await;
        let ready: Value = serde_json::from_str(&ready).unwrap_or_else(|error| panic!("{error}: {ready}"));
        let url = ready["url"].as_str().unwrap_or_else(|| panic!("no url in {ready}")).to_owned();
        Gateway { http: Http::new(&url), ready, home: self.clone(), child, error_log: log("err") }
    }

    /// Every file of the data folder.
    pub fn files(&self) -> BTreeMap<PathBuf, Vec<u8>> {
        read_folder(&self.data())
    }
}

/// A running `bench serve`.
#[derive(Debug)]
pub struct Gateway {
    pub http: Http,
    pub home: Home,
    /// The ready line: `url`, `port`, `pid`, `data_dir`.
    pub ready: Value,
    child: Child,
    error_log: PathBuf,
}

impl Gateway {
    pub fn port(&self) -> u16 {
        self.ready["port"].as_u64().and_then(|port| port.try_into().ok()).expect("a port in the ready line")
    }

    pub fn pid(&self) -> u32 {
        self.child.id().expect("it runs")
    }

    /// `kill -9`, and its end is seen.
    pub async fn kill(mut self) -> Home {
        self.child.kill().await.expect("it can be killed");
        self.home.clone()
    }

    /// Asks it to stop and waits; its exit code.
    pub async fn stop(mut self) -> (Home, Option<i32>) {
        let pid = self.pid().to_string();
        let asked = Command::new("kill").args(["-TERM", &pid]).status().await.expect("kill runs");
        assert!(asked.success(), "no process {pid} to stop");
        let status = within("bench serve to stop", self.child.wait()).await.expect("it can be waited for");
        (self.home.clone(), status.code())
    }

    /// A control command, with the token of the data folder.
    pub async fn admin(&self, command: &str, arguments: &Value) -> Answer {
        let token = fs::read_to_string(self.home.data().join("control.token")).expect("control.token");
        let request = self
            .http
            .request(http::Method::POST, &format!("/bench/admin/{command}"))
            .header("content-type", "application/json")
            .header("authorization", format!("Bearer {}", token.trim()));
        self.http.send(request, arguments.to_string()).await
    }

    /// A control command that must not be refused.
    pub async fn command(&self, command: &str, arguments: &Value) -> Value {
        let answer = self.admin(command, arguments).await;
        assert_eq!(answer.status, 200, "{command}: {}", answer.text());
        answer.json()
    }

    pub async fn bench(&self, arguments: &[&str]) -> Bench {
        self.home.bench(arguments).await
    }
}

impl Drop for Gateway {
    fn drop(&mut self) {
        if std::thread::panicking() {
            let log = fs::read_to_string(&self.error_log).unwrap_or_default();
            let from = log.len().saturating_sub(4000);
            eprintln!("--- bench serve said:\n{}", log.get(from..).unwrap_or(&log));
        }
    }
}

impl Bench {
    /// Panics unless it exited with `code`.
    pub fn exits(self, code: i32) -> Self {
        assert_eq!(self.code, code, "stdout: {}\nstderr: {}", self.stdout, self.stderr);
        self
    }

    pub fn json(&self) -> Value {
        serde_json::from_str(&self.stdout)
            .unwrap_or_else(|error| panic!("not JSON ({error}): {}", self.stdout))
    }
}

fn read_folder(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = BTreeMap::new();
    for entry in fs::read_dir(folder).expect("a folder").flatten() {
        let path = entry.path();
        if path.is_dir() {
            found.append(&mut read_folder(&path));
        } else if let Ok(bytes) = fs::read(&path) {
            found.insert(path, bytes);
        }
    }
    found
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}
