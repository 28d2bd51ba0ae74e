//! What a page may do that had been taken over: nothing but what the window does itself.

use serde_json::{Value, json};

use crate::{app::Start, window::Window};

pub async fn to_its_commands() {
    let (app, window) = Start::new().driven().await;
    window.at("first-run").await;
    let gateway = &app.http.url;

    // What it does itself works, or the refusals below would say nothing.
    let status = invoke(&window, "control", json!({"command": "status", "args": {}})).await;
    assert_eq!(status["ok"]["url"], json!(gateway), "{status}");

    let refused = [
        ("plugin:opener|open_url", json!({"url": "https://example.org/"})),
        ("plugin:window|close", json!({"label": "main"})),
        ("plugin:window-state|save_window_state", json!({"flags": 0})),
        ("plugin:autostart|enable", json!({})),
        ("plugin:event|emit", json!({"event": "x", "payload": 1})),
        ("open_url", json!({"url": "file:///etc/passwd"})),
        ("open_url", json!({"url": "javascript:alert(1)"})),
        ("control", json!({"command": "no_such_command", "args": {}})),
    ];
    for (command, arguments) in refused {
        let answer = invoke(&window, command, arguments.clone()).await;
        assert!(!answer["refused"].is_null(), "{command} {arguments} was let through: {answer}");
    }

    // No request leaves it, not even to our own gateway, and no script comes in.
    for page in [format!("{gateway}/health"), "https://example.org/".to_owned()] {
        let script = format!("fetch('{page}', {{mode: 'no-cors'}})");
        let answer = window.promise(&script).await;
        assert!(!answer["refused"].is_null(), "{page} was fetched: {answer}");
    }
    let inline = "new Promise((done) => {
        const script = document.createElement('script');
        script.textContent = 'window.taken = true';
        document.body.append(script);
        setTimeout(() => done(window.taken === true), 100);
    })";
    assert_eq!(window.promise(inline).await, json!({"ok": false}));

    // It stays where it is.
    let left = format!("location.href = '{gateway}/health'; new Promise((done) => setTimeout(done, 500))");
    window.promise(&left).await;
    assert!(window.address().await.starts_with("tauri://localhost"), "{}", window.address().await);
    window.at("first-run").await;
}

async fn invoke(window: &Window, command: &str, arguments: Value) -> Value {
    window.promise(&format!("window.__TAURI_INTERNALS__.invoke('{command}', {arguments})")).await
}
