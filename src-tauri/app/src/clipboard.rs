//! The clipboard. On X11 its owner serves the text, so it is kept for as long as the process lives.

use std::sync::{Mutex, PoisonError};

use anyhow::Context as _;

#[derive(Default)]
pub(crate) struct Clipboard {
    inner: Mutex<Option<arboard::Clipboard>>,
}

impl Clipboard {
    /// Puts `text` on the clipboard. May wait for the display server: not for the main thread.
    pub(crate) fn set(&self, text: &str) -> anyhow::Result<()> {
        let mut inner = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
        let clipboard = match inner.take() {
            Some(clipboard) => inner.insert(clipboard),
            None => inner.insert(arboard::Clipboard::new().context("The clipboard cannot be reached.")?),
        };
        clipboard.set_text(text).context("The clipboard did not take the text.")
    }
}
