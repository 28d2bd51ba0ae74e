//! Notifications, as they went over the bus to the desktop's daemon.

use std::{fs, path::PathBuf};

use bench_tests::{Upstream, eventually, upstream};
use serde_json::json;

use crate::{app::Start, pictures, session, setup, tray::Tray};

pub async fn no_answer() {
    let provider = Upstream::start().await;
    provider.model("one", upstream::fails(500, "on_fire", "the machine is on fire"));
    let app = Start::new().plain(&["--hidden"]).await;
    app.import(&setup::core(&provider, &["one"], None)).await;
    let tray = Tray::of(app.pid).await;
    let log = Log::from_here();
    for _ in 0..3 {
        assert_eq!(setup::ask(&app, "Well?").answer().await.status, 502);
    }

    let notice = log.notice("No seat answered in bench/core").await;
    assert!(notice.contains("the machine is on fire"), "{notice}");
    assert!(notice.contains("string \"Open\""), "a click opens the window: {notice}");
    tray.line("No answer in bench/core").await;
    tray.shows("attention").await;
    drawn("notification-no-answer").await;
    assert_eq!(log.count("bench/core\""), 1, "one a cause and minute");

    // It is over when the collection answers again.
    provider.model("one", upstream::answers("Out."));
    assert_eq!(setup::ask(&app, "Well?").answer().await.status, 200);
    tray.line("No panel running").await;
    tray.shows("idle").await;
}

pub async fn failed_over() {
    let provider = Upstream::start().await;
    provider.model("beta", upstream::fails(503, "busy", "the machine is busy"));
    provider.model("gamma", upstream::answers("Well."));
    let app = Start::new().plain(&["--hidden"]).await;
    let mut core = setup::core(&provider, &["beta"], None);
    core["models"] = json!([
        {"alias": "beta", "endpoint": "lab", "served": "beta"},
        {"alias": "gamma", "endpoint": "lab", "served": "gamma"},
    ]);
    core["settings"] = json!({"max_explorers": 0, "reserves": 1});
    app.import(&core).await;
    let log = Log::from_here();
    for _ in 0..3 {
        assert_eq!(setup::ask(&app, "Well?").answer().await.status, 200);
    }

    let notice = log.notice("beta failed (503) → gamma took its seat in bench/core").await;
    assert!(notice.contains("string \"Open\""), "a click opens the window: {notice}");
    drawn("notification-failed-over").await;
    assert_eq!(log.count("bench/core\""), 1, "one a cause and minute");
    // The seat has its answer: nothing waits for anybody.
    Tray::of(app.pid).await.shows("idle").await;
}

pub async fn refused_key() {
    const KEY: &str = "sk-desktop-3kQ8wRt5Zp";
    let provider = Upstream::start().await;
    provider.model("one", upstream::refuses_key());
    let app = Start::new().env("LAB_KEY", KEY).plain(&["--hidden"]).await;
    app.import(&setup::core(&provider, &["one"], Some("LAB_KEY"))).await;
    let log = Log::from_here();
    setup::ask(&app, "Well?").answer().await;

    let notice = log.notice("lab refused its key").await;
    drawn("notification-refused-key").await;
    assert!(!notice.contains(KEY), "the key is in the notification: {notice}");
    Tray::of(app.pid).await.shows("attention").await;

    // The click on it opens the endpoint's page.
    assert_eq!(app.shown().await, None);
    let clicked = tokio::process::Command::new("dunstctl").args(["action", "0"]).status().await;
    assert!(clicked.expect("dunstctl runs").success());
    let window = app.appears().await;
    eventually("a page", || async {
        pictures::lively(&pictures::window_now(&window, "notification-clicked")).then_some(())
    })
    .await;
}

/// Waits until the desktop draws it, and keeps the picture.
async fn drawn(name: &str) {
    eventually("a notification on the screen", || async {
        pictures::lively_part(&pictures::desktop_now(name), "320x80+950+55").then_some(())
    })
    .await;
}

/// What came over a bus since this was made, as `dbus-monitor` writes it.
pub struct Log {
    file: PathBuf,
    from: usize,
}

impl Log {
    /// The session's bus.
    pub fn from_here() -> Log {
        Log::of(session::folder().join("notifications.log"))
    }

    pub fn of(file: PathBuf) -> Log {
        let from = fs::read(&file).expect("a log").len();
        Log { file, from }
    }

    fn since(&self) -> String {
        let bytes = fs::read(&self.file).expect("a log");
        String::from_utf8_lossy(bytes.get(self.from..).unwrap_or_default()).into_owned()
    }

    /// Waits for a notification with this summary; the whole call.
    pub async fn notice(&self, summary: &str) -> String {
        let quoted = format!("string \"{summary}\"");
        eventually(&format!("the notification {summary:?}"), || {
            let log = self.since();
            let call = log.split("method call ").find(|call| call.contains(&quoted)).map(str::to_owned);
            // The last argument is the timeout: before it, the call is not all there.
            std::future::ready(call.filter(|call| call.lines().any(|line| line.starts_with("   int32 "))))
        })
        .await
    }

    /// How often `text` came.
    pub fn count(&self, text: &str) -> usize {
        self.since().matches(text).count()
    }
}
