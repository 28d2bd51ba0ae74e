//! A desktop with less on it than the session's: a screen with a window manager and no panel, a session bus with
//! a notification daemon and no tray.

use std::{path::Path, process::Stdio};

use bench_tests::eventually;
use tokio::{
    io::{AsyncBufReadExt as _, BufReader},
    process::{Child, Command},
};

use crate::{
    app::{Start, log},
    notifications::Log,
};

pub struct BareDesktop {
    /// `DBUS_SESSION_BUS_ADDRESS`
    pub bus: String,
    /// `DISPLAY`
    pub display: String,
    pub notices: Log,
    _programs: Vec<Child>,
    _folder: tempfile::TempDir,
}

impl BareDesktop {
    pub async fn start() -> BareDesktop {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let (bus, bus_daemon) =
            first_line("dbus-daemon", &["--session", "--nofork", "--print-address"]).await;
        let (number, screen) =
            first_line("Xvfb", &["-displayfd", "1", "-screen", "0", "1280x900x24", "-nolisten", "tcp"]).await;
        let display = format!(":{number}");

        let said = folder.path().join("notifications.log");
        let started = |mut command: Command| {
            command.env("DBUS_SESSION_BUS_ADDRESS", &bus).env("DISPLAY", &display).stderr(log("bare.err"));
            command.kill_on_drop(true).spawn().expect("it runs")
        };
        let mut watcher = Command::new("dbus-monitor");
        watcher.arg("interface='org.freedesktop.Notifications',member='Notify'");
        watcher.stdout(std::fs::File::create(&said).expect("a log"));
        let programs =
            vec![bus_daemon, screen, started(quiet("openbox")), started(quiet("dunst")), started(watcher)];
        // The watcher's first lines say that it has begun.
        eventually("dbus-monitor", || std::future::ready(has_text(&said).then_some(()))).await;
        BareDesktop { bus, display, notices: Log::of(said), _programs: programs, _folder: folder }
    }

    /// A start of the application on this desktop.
    pub fn start_on_it(&self) -> Start {
        Start::new().env("DBUS_SESSION_BUS_ADDRESS", &self.bus).env("DISPLAY", &self.display)
    }
}

/// A bus that starts no program: a session's would start the one that asks for the password, and wait for an answer.
const BUS: &str = r#"<busconfig><type>session</type><listen>unix:tmpdir=FOLDER</listen><policy context="default">
<allow send_destination="*" eavesdrop="true"/><allow eavesdrop="true"/><allow own="*"/></policy></busconfig>"#;

/// Its address, and the bus, which ends with what is given.
pub async fn closed_bus(folder: &Path) -> (String, Child) {
    let config = folder.join("bus.conf");
    std::fs::write(&config, BUS.replace("FOLDER", &folder.to_string_lossy())).expect("a file");
    let config = format!("--config-file={}", config.display());
    first_line("dbus-daemon", &[&config, "--nofork", "--print-address"]).await
}

fn quiet(program: &str) -> Command {
    let mut command = Command::new(program);
    command.stdout(log("bare.out"));
    command
}

fn has_text(file: &Path) -> bool {
    file.metadata().is_ok_and(|file| file.len() > 0)
}

/// Starts a program that says where it is on its first line.
pub async fn first_line(program: &str, arguments: &[&str]) -> (String, Child) {
    let mut command = Command::new(program);
    command.args(arguments).stdout(Stdio::piped()).stderr(log("bare.err")).kill_on_drop(true);
    let mut child = command.spawn().expect("it runs");
    let mut lines = BufReader::new(child.stdout.take().expect("piped")).lines();
    let line = lines.next_line().await.expect("it is read").expect("a line");
    (line, child)
}
