//! Which page the window shows: the fragment of its address. It outlives the web view.

use std::{
    path::PathBuf,
    sync::{Mutex, PoisonError},
};

use tauri::Url;

/// Pages by their fragments, as `ui/src/state/route.ts` reads them.
pub(crate) const VERDICTS: &str = "/verdicts";
pub(crate) const LIVE: &str = "/live";
pub(crate) const MODELS: &str = "/models";
pub(crate) const SETTINGS: &str = "/settings";

/// The page of the endpoint `name`.
pub(crate) fn endpoint(name: &str) -> String {
    format!("/endpoints/{name}")
}

/// The page the window was on when it closed.
#[derive(Default)]
pub(crate) struct LastPage {
    fragment: Mutex<Option<String>>,
}

impl LastPage {
    pub(crate) fn remember(&self, url: &Url) {
        let fragment = url.fragment().filter(|fragment| !fragment.is_empty()).map(str::to_owned);
        *self.fragment.lock().unwrap_or_else(PoisonError::into_inner) = fragment;
    }

    /// The address to open: `index.html#/live`.
    pub(crate) fn address(&self) -> PathBuf {
        match &*self.fragment.lock().unwrap_or_else(PoisonError::into_inner) {
            Some(fragment) => PathBuf::from(format!("index.html#{fragment}")),
            None => PathBuf::from("index.html"),
        }
    }
}

/// Whether the window may go to `url`: only ever our own files.
pub(crate) fn is_ours(url: &Url) -> bool {
    match url.scheme() {
        "tauri" => url.host_str() == Some("localhost"),
        // How Windows spells a scheme of one's own.
        "http" | "https" => url.host_str() == Some("tauri.localhost"),
        "about" => url.as_str() == "about:blank",
        _ => false,
    }
}

/// Whether a link may be handed to the person's browser, or a bare mail address to their mail program (with
/// parameters it could ask some of them to attach a file).
pub(crate) fn may_leave(url: &Url) -> bool {
    match url.scheme() {
        "http" | "https" => url.host_str().is_some_and(|host| !host.is_empty()),
        "mailto" => url.query().is_none(),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn url(text: &str) -> Url {
        text.parse().unwrap()
    }

    #[test]
    fn the_fragment_is_remembered() {
        let page = LastPage::default();
        assert_eq!(page.address(), PathBuf::from("index.html"));
        page.remember(&url("tauri://localhost/index.html#/verdicts?panel=p1"));
        assert_eq!(page.address(), PathBuf::from("index.html#/verdicts?panel=p1"));
        page.remember(&url("tauri://localhost/index.html"));
        assert_eq!(page.address(), PathBuf::from("index.html"));
    }

    #[test]
    fn the_window_stays_at_home() {
        for ours in ["tauri://localhost/index.html#/live", "http://tauri.localhost/", "about:blank"] {
            assert!(is_ours(&url(ours)), "{ours}");
        }
        for foreign in [
            "https://example.org/",
            "http://127.0.0.1:8123/v1/models",
            "file:///etc/passwd",
            "data:text/html,x",
        ] {
            assert!(!is_ours(&url(foreign)), "{foreign}");
        }
    }

    #[test]
    fn only_web_pages_and_addresses_leave() {
        for free in ["https://console.groq.com/keys", "http://127.0.0.1:8123/health", "mailto:a@b.c"] {
            assert!(may_leave(&url(free)), "{free}");
        }
        for held in [
            "file:///etc/passwd",
            "javascript:alert(1)",
            "mailto:a@b.c?attach=/etc/passwd",
            "smb://host/share",
            "data:text/html,x",
        ] {
            assert!(!may_leave(&url(held)), "{held}");
        }
    }
}
