//! The window's page, by WebDriver.

use std::{fs, time::Duration};

use fantoccini::{Client, Locator, elements::Element};
use serde_json::Value;

use bench_tests::{PATIENCE, within};

use crate::session;

pub struct Window {
    client: Client,
}

impl Window {
    pub fn new(client: Client) -> Self {
        Window { client }
    }

    /// Waits for the first element that matches the CSS selector.
    pub async fn find(&self, css: &str) -> Element {
        within(css, self.client.wait().for_element(Locator::Css(css)))
            .await
            .unwrap_or_else(|error| panic!("{css} is not on the page: {error}"))
    }

    /// Waits for the element marked `data-test="<name>"`.
    pub async fn at(&self, name: &str) -> Element {
        self.find(&marked(name)).await
    }

    pub async fn click(&self, css: &str) {
        let element = self.find(css).await;
        element.click().await.unwrap_or_else(|error| panic!("{css} takes no click: {error}"));
    }

    /// Types into the element as a person: it is clicked first.
    pub async fn write(&self, css: &str, text: &str) {
        let element = self.find(css).await;
        element.click().await.unwrap_or_else(|error| panic!("{css} takes no click: {error}"));
        element.send_keys(text).await.unwrap_or_else(|error| panic!("{css} takes no keys: {error}"));
    }

    /// What the page shows of every match, top to bottom.
    pub async fn texts(&self, css: &str) -> Vec<String> {
        let script = "return [...document.querySelectorAll(arguments[0])].map((e) => e.innerText.trim())";
        let texts = self.client.execute(script, vec![css.into()]).await.expect("a script runs");
        serde_json::from_value(texts).expect("texts")
    }

    /// Waits until the texts of all matches fulfil `wanted`.
    pub async fn texts_when(&self, css: &str, wanted: impl Fn(&[String]) -> bool) -> Vec<String> {
        let mut texts = Vec::new();
        let waiting = async {
            loop {
                texts = self.texts(css).await;
                if wanted(&texts) {
                    return;
                }
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
        };
        match tokio::time::timeout(PATIENCE, waiting).await {
            Ok(()) => texts,
            Err(_) => panic!("{css} does not come to say what it should: {texts:?}"),
        }
    }

    /// Presses a key where the page's focus is.
    pub async fn press(&self, key: &str) {
        let focused = self.client.active_element().await.expect("something has the focus");
        focused.send_keys(key).await.expect("a key press");
    }

    /// Where the page is.
    pub async fn address(&self) -> String {
        self.client.current_url().await.expect("an address").to_string()
    }

    /// Runs JavaScript in the page, its last expression a promise: `{"ok": …}` or `{"refused": "why"}`.
    pub async fn promise(&self, script: &str) -> Value {
        // Not `eval`: the page's policy forbids it, and WebDriver's own scripts are let be.
        let (first, last) = script.rsplit_once("; ").unwrap_or(("", script));
        let waiting = format!(
            "const done = arguments[0]; {first};
            ({last}).then((ok) => done({{ok: ok ?? null}}),
                (why) => done({{refused: why?.message ?? JSON.stringify(why) ?? 'refused'}}))"
        );
        within(script, self.client.execute_async(&waiting, Vec::new())).await.expect("a script runs")
    }

    /// The page, as `tests/artefacts/desktop/<name>.png`.
    pub async fn picture(&self, name: &str) {
        let png = self.client.screenshot().await.expect("a screenshot");
        fs::write(session::artefacts().join(format!("{name}.png")), png).expect("it is kept");
    }
}

/// The selector of `data-test="<name>"`.
pub fn marked(name: &str) -> String {
    format!("[data-test=\"{name}\"]")
}
