//! The real application, in a data folder of its own, with or without WebDriver at its window.

use std::{
    env, fs,
    net::TcpListener,
    path::{Path, PathBuf},
    process::Stdio,
};

use bench_tests::{eventually, http::Answer, http::Http, within};
use fantoccini::{ClientBuilder, wd::Capabilities};
use hyper_util::client::legacy::connect::HttpConnector;
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::process::{Child, Command};

use crate::{processes, session, window::Window};

/// The application under test: `$BENCHWARMERS_APP`, else the one built beside this test.
pub fn program() -> PathBuf {
    if let Some(path) = env::var_os("BENCHWARMERS_APP") {
        return PathBuf::from(path);
    }
    let test = env::current_exe().expect("this test's path");
    let profile = test.parent().and_then(Path::parent).expect("target/<profile>/deps/<test>");
    profile.join("benchwarmers")
}

/// A data folder, and what else a start is given.
pub struct Start {
    folder: TempDir,
    environment: Vec<(String, String)>,
}

/// A running application.
pub struct App {
    pub http: Http,
    /// The application's process, whoever started it.
    pub pid: u32,
    /// What we started: the application, or the WebDriver that started it.
    child: Child,
    start: Start,
}

impl Start {
    pub fn new() -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder");
        Start { folder, environment: Vec::new() }
    }

    pub fn env(mut self, name: &str, value: &str) -> Self {
        self.environment.push((name.to_owned(), value.to_owned()));
        self
    }

    /// `$BENCHWARMERS_HOME`
    pub fn data(&self) -> PathBuf {
        self.folder.path().join("data")
    }

    /// The application as a command, in this data folder.
    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = self.dress(program());
        command.args(arguments);
        command
    }

    /// A program in the environment of the application.
    fn tool(&self, program: &str) -> Command {
        let mut command = Command::new(program);
        command.envs(self.environment.iter().cloned());
        command
    }

    fn dress(&self, program: impl AsRef<std::ffi::OsStr>) -> Command {
        let mut command = Command::new(program);
        command
            .env("BENCHWARMERS_HOME", self.data())
            .env("NO_COLOR", "1")
            .envs(self.environment.iter().cloned())
            .stdin(Stdio::null())
            .stdout(log("app.out"))
            .stderr(log("app.err"))
            .kill_on_drop(true);
        command
    }

    /// Starts it as a person does.
    pub async fn plain(self, arguments: &[&str]) -> App {
        let child = self.command(arguments).spawn().expect("the application starts");
        self.ready(child).await
    }

    /// Starts it by way of WebDriver, which then sees into the window. One window only: one that is opened
    /// again later is not seen.
    pub async fn driven(self) -> (App, Window) {
        let port = free_port();
        let mut driver = self.dress("WebKitWebDriver");
        // As tauri-driver does; the application lets itself be automated only then.
        driver.env("TAURI_AUTOMATION", "true").env("TAURI_WEBVIEW_AUTOMATION", "true");
        let driver = driver.arg(format!("--port={port}")).spawn().expect("WebKitWebDriver starts");
        let options = json!({"binary": program(), "args": []});
        let capabilities = Capabilities::from_iter([("webkitgtk:browserOptions".to_owned(), options)]);
        let address = format!("http://127.0.0.1:{port}");
        let client = eventually("a WebDriver session", || async {
            let mut builder = ClientBuilder::new(HttpConnector::new());
            builder.capabilities(capabilities.clone()).connect(&address).await.ok()
        })
        .await;
        (self.ready(driver).await, Window::new(client))
    }

    /// Waits until it serves.
    async fn ready(self, child: Child) -> App {
        let owner = self.owner().await;
        let pid = owner["pid"].as_u64().and_then(|pid| u32::try_from(pid).ok()).expect("a pid");
        App { http: Http::new(owner["url"].as_str().expect("a url")), pid, child, start: self }
    }

    /// What the data folder says of its owner, once there is one that serves.
    async fn owner(&self) -> Value {
        let file = self.data().join("owner.json");
        eventually("an owner of the data folder", || {
            let owner = fs::read(&file).ok().and_then(|text| serde_json::from_slice::<Value>(&text).ok());
            std::future::ready(owner.filter(|owner| owner["url"].as_str().is_some_and(|url| !url.is_empty())))
        })
        .await
    }
}

impl App {
    pub fn data(&self) -> PathBuf {
        self.start.data()
    }

    /// Starts it once more on the same data folder, to its end; the exit code.
    pub async fn start_again(&self, arguments: &[&str]) -> Option<i32> {
        let mut again = self.start.command(arguments);
        within("a second start", again.status()).await.expect("it starts").code()
    }

    /// A control command, with the token of the data folder.
    pub async fn command(&self, command: &str, arguments: &Value) -> Value {
        let token = fs::read_to_string(self.data().join("control.token")).expect("control.token");
        let request = self
            .http
            .request(http::Method::POST, &format!("/bench/admin/{command}"))
            .header("content-type", "application/json")
            .header("authorization", format!("Bearer {}", token.trim()));
        let answer: Answer = self.http.send(request, arguments.to_string()).await;
        assert_eq!(answer.status, 200, "{command}: {}", answer.text());
        answer.json()
    }

    /// Adds to the set-up: a set-up file as JSON.
    pub async fn import(&self, setup: &Value) {
        self.command("import_setup", &json!({"text": setup.to_string()})).await;
    }

    /// The window as the window manager sees it, when one is on the screen.
    pub async fn shown(&self) -> Option<String> {
        shown(&self.start, self.pid, "^Benchwarmers$").await
    }

    /// Waits for the window to be on the screen.
    pub async fn appears(&self) -> String {
        eventually("the window on the screen", || self.shown()).await
    }

    /// Waits for the window to leave the screen: closed or minimised.
    pub async fn vanishes(&self) {
        eventually("no window on the screen", || async { self.shown().await.is_none().then_some(()) }).await;
    }

    /// Closes the window the way a person does, and sees it leave the screen.
    pub async fn close_window(&self) {
        let window = self.appears().await;
        self.keys(&["windowfocus", "--sync", &window, "key", "alt+F4"]).await;
        self.vanishes().await;
    }

    /// Runs xdotool on the display that the application is on.
    pub async fn keys(&self, arguments: &[&str]) {
        let status = self.start.tool("xdotool").args(arguments).status().await.expect("xdotool runs");
        assert!(status.success(), "xdotool {arguments:?}");
    }

    /// Waits for the process to end by itself.
    pub async fn ends(&mut self) -> Option<i32> {
        let pid = self.pid;
        eventually("the application's end", || async move { (!processes::runs(pid)).then_some(()) }).await;
        within("what we started to end", self.child.wait()).await.ok().and_then(|status| status.code())
    }
}

impl Drop for App {
    fn drop(&mut self) {
        if std::thread::panicking() {
            crate::pictures::desktop_now(&format!("failed - {}", session::trial()));
        }
        // By WebDriver it is nobody's child; the next trial wants the screen and the port for itself.
        processes::end(self.pid);
    }
}

/// What a start says goes to the artefacts, one file a stream for all trials.
pub fn log(name: &str) -> fs::File {
    let file = fs::OpenOptions::new().create(true).append(true).open(session::artefacts().join(name));
    file.expect("a log file")
}

/// The process's window of this title, when one is on the screen.
pub async fn shown(start: &Start, pid: u32, title: &str) -> Option<String> {
    let pid = pid.to_string();
    let search = ["search", "--all", "--onlyvisible", "--pid", &pid, "--name", title];
    let found = start.tool("xdotool").args(search).output().await.expect("xdotool runs");
    String::from_utf8_lossy(&found.stdout).lines().last().map(str::to_owned)
}

fn free_port() -> u16 {
    TcpListener::bind(("127.0.0.1", 0))
        .and_then(|listener| listener.local_addr())
        .expect("a free port")
        .port()
}
