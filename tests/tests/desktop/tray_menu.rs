//! The tray item and its menu, as the desktop's panel sees and clicks them.

use bench_tests::{Gate, Upstream, eventually, upstream};

use crate::{app::Start, pictures, setup, tray::Tray};

pub async fn says_and_does() {
    let provider = Upstream::start().await;
    let gate = Gate::shut();
    provider.model("one", upstream::answers("Yes.").held(&gate));
    let mut app = Start::new().plain(&["--hidden"]).await;
    app.import(&setup::core(&provider, &["one"], None)).await;
    let tray = Tray::of(app.pid).await;
    // Something else on this machine may have the usual port.
    let taken = if app.http.authority() == "127.0.0.1:8123" { "" } else { " (8123 was taken)" };
    let serving = format!("Serving on {}{taken}", app.http.authority());
    assert_eq!(
        tray.labels().await,
        [
            "No panel running",
            serving.as_str(),
            "Copy base URL",
            "OpenAI",
            "Anthropic",
            "Ollama",
            "Gemini",
            "Open window",
            "No verdicts owed",
            "Start at login",
            "Quit",
        ]
    );
    tray.shows("idle").await;
    pictures::desktop_now("tray-idle");

    // State in words and in the icon.
    let asking = setup::ask(&app, "Well?");
    tray.line("1 panel running").await;
    tray.shows("running").await;
    pictures::desktop_now("tray-running");
    gate.open();
    assert_eq!(asking.answer().await.status, 200);
    tray.line("No panel running").await;
    tray.line("1 verdict owed").await;
    tray.shows("idle").await;

    // The address, to paste.
    tray.click(&serving).await;
    copied(&app.http.url).await;
    for (client, url) in [
        ("OpenAI", format!("{}/v1", app.http.url)),
        ("Anthropic", app.http.url.clone()),
        // Between two that are alike, so that each click is seen to do something.
        ("OpenAI", format!("{}/v1", app.http.url)),
        ("Ollama", app.http.url.clone()),
        ("OpenAI", format!("{}/v1", app.http.url)),
        ("Gemini", app.http.url.clone()),
    ] {
        tray.click(client).await;
        copied(&url).await;
    }

    assert_eq!(app.shown().await, None, "it was started hidden");
    tray.click("Open window").await;
    app.appears().await;

    tray.click("Quit").await;
    assert_eq!(app.ends().await, Some(0));
}

/// The check box, and the file that the desktop reads at login.
pub async fn start_at_login() {
    let app = Start::new().plain(&["--hidden"]).await;
    let tray = Tray::of(app.pid).await;
    assert!(!tray.line("Start at login").await.on);
    tray.click("Start at login").await;
    let home = std::env::var("HOME").expect("HOME");
    let folder = std::path::Path::new(&home).join(".config/autostart");
    let entry = eventually("an autostart entry", || {
        let mut files = std::fs::read_dir(&folder).ok().into_iter().flatten().flatten();
        std::future::ready(files.next().and_then(|file| std::fs::read_to_string(file.path()).ok()))
    })
    .await;
    let start = entry.lines().find(|line| line.starts_with("Exec=")).expect("a command");
    assert!(start.contains("benchwarmers") && start.ends_with("--hidden"), "{start}");
    assert!(tray.line("Start at login").await.on);

    tray.click("Start at login").await;
    eventually("no autostart entry", || {
        let files = std::fs::read_dir(&folder).map(|files| files.count()).unwrap_or(0);
        std::future::ready((files == 0).then_some(()))
    })
    .await;
    assert!(!tray.line("Start at login").await.on);
}

async fn copied(text: &str) {
    let mut clipboard = arboard::Clipboard::new().expect("a clipboard");
    eventually(&format!("{text} on the clipboard"), || {
        std::future::ready((clipboard.get_text().ok().as_deref() == Some(text)).then_some(()))
    })
    .await;
}
