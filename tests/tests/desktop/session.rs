//! Getting into a desktop session, or saying plainly why not.

use std::{
    env, fs,
    path::{Path, PathBuf},
    process::{Command, ExitCode},
    sync::{Mutex, PoisonError},
};

/// What the session and the trials run, with the Debian package each is in.
const PROGRAMS: &[(&str, &str)] = &[
    ("Xvfb", "xvfb"),
    ("dbus-run-session", "dbus"),
    ("dbus-update-activation-environment", "dbus-x11"),
    ("openbox", "openbox"),
    ("xfce4-panel", "xfce4-panel"),
    ("dunst", "dunst"),
    ("gnome-keyring-daemon", "gnome-keyring"),
    ("secret-tool", "libsecret-tools"),
    ("WebKitWebDriver", "webkit2gtk-driver"),
    ("xdotool", "xdotool"),
    ("import", "imagemagick"),
    ("compare", "imagemagick"),
];

/// Whether this process runs in the session: its script sets the variable.
pub fn inside() -> bool {
    env::var_os("SESSION_DIR").is_some()
}

/// Which trial runs: they run one at a time.
static TRIAL: Mutex<String> = Mutex::new(String::new());

/// A trial begins, on a screen without the notifications of the one before.
pub fn begin(trial: &str) {
    *TRIAL.lock().unwrap_or_else(PoisonError::into_inner) = trial.to_owned();
    let _ = Command::new("dunstctl").arg("close-all").status();
}

pub fn trial() -> String {
    TRIAL.lock().unwrap_or_else(PoisonError::into_inner).clone()
}

/// The session's folder.
pub fn folder() -> PathBuf {
    env::var_os("SESSION_DIR").map(PathBuf::from).expect("we are in the session")
}

/// Where screenshots and logs are kept. Not under version control.
pub fn artefacts() -> PathBuf {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("artefacts/desktop");
    fs::create_dir_all(&folder).expect("a folder for artefacts");
    folder
}

/// Runs this test again inside the session. Without the means for one it says what is missing: a failure in CI,
/// a loud pass elsewhere.
pub fn enter() -> ExitCode {
    let missing = missing();
    if !missing.is_empty() {
        eprintln!("The desktop tests did not run. Missing: {}.", missing.join(", "));
        eprintln!(
            "On Debian: xargs -a tests/desktop/packages.txt apt-get install -y --no-install-recommends"
        );
        return if env::var_os("CI").is_some() { ExitCode::FAILURE } else { ExitCode::SUCCESS };
    }
    // What an earlier run left would be taken for this one's.
    let _ = fs::remove_dir_all(artefacts());
    // A short path: sockets live below it, and theirs may have 107 bytes.
    let session = tempfile::tempdir().expect("a temporary folder");
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("desktop/session.sh");
    let status = Command::new("bash")
        .arg(script)
        .args(["--size", "1280x900", "--keep"])
        .arg(session.path())
        .arg(env::current_exe().expect("this test's path"))
        .args(env::args_os().skip(1))
        .status()
        .expect("bash runs");
    for log in ["session.log", "notifications.log"] {
        // A session that never began has none.
        let _ = fs::copy(session.path().join(log), artefacts().join(log));
    }
    if status.success() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn missing() -> Vec<String> {
    if !cfg!(target_os = "linux") {
        return vec!["a Linux desktop session".to_owned()];
    }
    let path = env::var_os("PATH").unwrap_or_default();
    let there = |program: &str| env::split_paths(&path).any(|folder| folder.join(program).is_file());
    let missing = PROGRAMS.iter().filter(|(program, _)| !there(program));
    let mut missing: Vec<String> =
        missing.map(|(program, package)| format!("{program} ({package})")).collect();
    let app = crate::app::program();
    if !app.is_file() {
        missing.push(format!("{} (cargo build -p benchwarmers)", app.display()));
    }
    missing
}
