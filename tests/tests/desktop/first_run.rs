//! From nothing to a judged panel without touching a network.

use serde_json::json;

use crate::{
    app::Start,
    notifications::Log,
    pictures,
    window::{Window, marked},
};

const PROMPT: &str = "Write the check before the code, or after it?";

const HANDOVER: &str =
    "practice-limited failed (429, 40 s) → practice-substitute took its seat in bench/practice";

pub async fn practice() {
    let log = Log::from_here();
    let (app, window) = Start::new().driven().await;
    window.at("first-run").await;
    window.picture("first-run").await;

    window.click(&marked("first-practice")).await;
    window.write(&marked("composer-prompt"), PROMPT).await;
    window.picture("composer").await;
    window.click(&marked("composer-ask")).await;

    window.find("[data-test=panel][data-state=running]").await;
    window.find("[data-test=seat][data-status=answering]").await;
    window.picture("panel-running").await;
    window.find("[data-test=panel][data-state=done]").await;
    assert_eq!(window.texts(&marked("panel-prompt")).await, [PROMPT]);
    let aliases = window.texts(&marked("seat-alias")).await;
    assert_eq!(
        aliases,
        [
            "practice-quick",
            "practice-thinker",
            "practice-contrarian",
            "practice-limited",
            "practice-substitute",
            "practice-newcomer"
        ]
    );
    // The one that is always rate limited has handed its seat over, in the window and over the desktop.
    let handed = window.texts("[data-test=seat][data-handed-over] [data-test=seat-alias]").await;
    assert_eq!(handed, ["practice-limited"]);
    let notice = log.notice(HANDOVER).await;
    assert!(notice.contains("Practice: "), "{notice}");
    // Markdown is rendered, not shown.
    assert_eq!(window.texts("[data-test=seat] [data-test=answer] li strong").await.len(), 3);
    window.picture("panel-done").await;

    // By the button, and by the key where the focus is.
    window.click(&of("practice-quick", &marked("useful"))).await;
    window.find(&of("practice-quick", "[data-test=useful][aria-pressed=true]")).await;
    window.click(&of("practice-thinker", &marked("answer"))).await;
    window.press("u").await;
    window.find(&of("practice-thinker", "[data-test=useful][aria-pressed=true]")).await;
    window.click(&of("practice-contrarian", &marked("answer"))).await;
    window.press("n").await;
    window.find(&of("practice-contrarian", "[data-test=not-useful][aria-pressed=true]")).await;
    window.picture("panel-judged").await;
    pictures::desktop_now("desktop");

    let record = app.http.get("/bench/record?collection=bench/practice").await.json();
    let counts = |alias: &str| {
        let of = &record["aliases"][alias];
        (of["useful"].as_u64(), of["notUseful"].as_u64(), of["judged"].as_u64())
    };
    assert_eq!(counts("practice-quick"), (Some(1), Some(0), Some(1)), "{record}");
    assert_eq!(counts("practice-thinker"), (Some(1), Some(0), Some(1)), "{record}");
    assert_eq!(counts("practice-contrarian"), (Some(0), Some(1), Some(1)), "{record}");
    // Practice counts for nothing else.
    let all = app.http.get("/bench/record").await.json();
    assert_eq!(all["aliases"], json!({}), "{all}");
    looks(&window).await;
}

/// The other pages, and the dark theme, for somebody to look at.
async fn looks(window: &Window) {
    for page in ["verdicts", "collections", "models", "endpoints", "settings", "live"] {
        window.click(&marked(&format!("nav-{page}"))).await;
        window.find(&format!("[data-test=nav-{page}][aria-current=page]")).await;
        window.picture(&format!("page-{page}")).await;
    }
}

/// Inside the seat of a model.
fn of(alias: &str, css: &str) -> String {
    format!("[data-test=seat][aria-label=\"{alias}\"] {css}")
}
