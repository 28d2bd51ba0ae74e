//! A key typed into the window goes to the keychain and nowhere else.

use std::{fs, path::Path};

use bench_tests::Upstream;
use serde_json::json;
use tokio::process::Command;

use crate::{app::Start, window::marked};

const KEY: &str = "sk-desktop-Vn4XyR7dQm2LpZ";

pub async fn only_in_the_keychain() {
    let provider = Upstream::start().await;
    let (app, window) = Start::new().driven().await;
    window.at("first-run").await;
    app.import(&json!({"version": 1, "endpoints": [{"name": "lab", "base": provider.base()}]})).await;

    window.click(&marked("nav-endpoints")).await;
    window.click("[data-test=endpoint][data-name=lab]").await;
    window.click(&marked("set-key")).await;
    window.write(&marked("key-input"), KEY).await;
    window.picture("key-typed").await;
    window.click(&marked("key-save")).await;
    let shown = window
        .texts_when("[data-test=endpoint][data-name=lab]", |texts| texts.concat().contains("LpZ"))
        .await;
    assert!(!shown.concat().contains(KEY), "the window shows the key: {shown:?}");
    window.picture("key-saved").await;

    let kept = secret_tool().await;
    assert!(kept.contains(&format!("secret = {KEY}")), "secret-tool sees: {kept}");
    assert!(kept.contains("lab"), "secret-tool sees: {kept}");
    holds_no(&app.data(), KEY);

    // Taken away again, it is gone.
    window.click(&marked("remove-key")).await;
    window.click("[data-test=confirm] [data-test=confirm-delete]").await;
    window.texts_when("[data-test=endpoint][data-name=lab]", |texts| !texts.concat().contains("LpZ")).await;
    assert!(!secret_tool().await.contains(KEY));
}

async fn secret_tool() -> String {
    let output =
        Command::new("secret-tool").args(["search", "--all", "service", "benchwarmers"]).output().await;
    let output = output.expect("secret-tool runs");
    // It tells attributes on one stream and secrets on the other.
    String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned()
}

/// No file under `folder` holds `secret`, in any of the ways text is written to disk.
fn holds_no(folder: &Path, secret: &str) {
    let wide: Vec<u8> = secret.encode_utf16().flat_map(u16::to_le_bytes).collect();
    let mut files = 0;
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).expect("a folder").flatten() {
            let path = entry.path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            // Sockets and files that went away meanwhile hold nothing.
            let Ok(bytes) = fs::read(&path) else { continue };
            files += 1;
            for form in [secret.as_bytes(), &wide] {
                assert!(
                    !bytes.windows(form.len()).any(|part| part == form),
                    "the key is in {}",
                    path.display()
                );
            }
        }
    }
    assert!(files > 3, "only {files} files were looked at");
}
