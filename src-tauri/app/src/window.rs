//! The one window. It is made when asked for and destroyed when closed; the gateway does not notice.

use tauri::{
    AppHandle, CloseRequestApi, Manager as _, WebviewUrl, WebviewWindow, WebviewWindowBuilder,
    webview::NewWindowResponse,
};

use crate::{notice, page, shell::Shell, webkit};

/// The label the capability in `tauri.conf.json` names.
pub(crate) const LABEL: &str = "main";

/// Where the window opens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Goto {
    /// Where it was left.
    Last,
    /// A page by its fragment: `/verdicts`, `/endpoints/groq`.
    Page(String),
}

/// Opens the window, or brings it to the front. Returns at once; works before the gateway serves, by doing
/// nothing: the window opens by itself then.
pub(crate) fn open(app: &AppHandle, goto: Goto) {
    let app = app.clone();
    // Not on the main thread: there, Windows would wait for itself.
    tauri::async_runtime::spawn_blocking(move || {
        let Some(shell) = app.try_state::<Shell>() else { return };
        let _one_at_a_time = shell.opening.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let shown = match app.get_webview_window(LABEL) {
            Some(window) => to_front(&window, goto),
            None => make(&app, &shell, goto),
        };
        if let Err(error) = shown {
            tracing::error!(%error, "the window did not open");
        }
    });
}

fn to_front(window: &WebviewWindow, goto: Goto) -> tauri::Result<()> {
    if let Goto::Page(fragment) = goto {
        let mut url = window.url()?;
        url.set_fragment(Some(&fragment));
        window.navigate(url)?;
    }
    window.unminimize()?;
    window.show()?;
    window.set_focus()
}

fn make(app: &AppHandle, shell: &Shell, goto: Goto) -> tauri::Result<()> {
    let address = match goto {
        Goto::Last => shell.page.address(),
        Goto::Page(fragment) => format!("index.html#{fragment}").into(),
    };
    WebviewWindowBuilder::new(app, LABEL, WebviewUrl::App(address))
        .title("Benchwarmers")
        .inner_size(1180.0, 780.0)
        .min_inner_size(640.0, 480.0)
        // Else WebKit keeps its files in a folder named after the program, which is our data folder.
        .data_directory(shell.data_dir().join("window"))
        // The page takes its own drops; an unhandled one would navigate, which is refused below.
        .disable_drag_drop_handler()
        .on_navigation(page::is_ours)
        .on_new_window(|_, _| NewWindowResponse::Deny)
        .build()?
        .set_focus()
}

/// The person closes the window: it goes to the tray, or is minimised where there is none.
pub(crate) fn close_requested(app: &AppHandle, api: &CloseRequestApi) {
    let (Some(shell), Some(window)) = (app.try_state::<Shell>(), app.get_webview_window(LABEL)) else {
        return;
    };
    if shell.bus().has_tray() {
        match window.url() {
            Ok(url) => shell.page.remember(&url),
            Err(error) => tracing::warn!(%error, "the page was not remembered"),
        }
        return;
    }
    api.prevent_close();
    if let Err(error) = window.minimize() {
        tracing::warn!(%error, "the window was not minimised");
    }
    if shell.first_close_without_tray() {
        shell.bus().notify(notice::no_tray());
    }
}

/// The window is gone.
pub(crate) fn destroyed(app: &AppHandle) {
    if let Some(shell) = app.try_state::<Shell>() {
        shell.unsubscribe();
    }
    webkit::tidy(app);
}
