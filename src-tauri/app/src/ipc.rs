//! The commands the window may call. The gateway's own are all behind `control`; the rest is what a web view
//! may not do by itself. Every one runs off the main thread.

use std::time::Duration;

use control::{Control, ControlError, view::LiveEvent};
use serde_json::Value;
use tauri::{AppHandle, Manager as _, State, Url, ipc::Channel};
use tauri_plugin_opener::OpenerExt as _;

use crate::{coalesce::Batch, page, save, shell::Shell};

/// How long pieces of answers are gathered before they go to the web view.
const GATHER: Duration = Duration::from_millis(30);

/// A command of the control API; see `src-tauri/control/src/commands.rs`.
#[tauri::command]
pub(crate) async fn control(
    shell: State<'_, Shell>,
    command: String,
    args: Value,
) -> Result<Value, ControlError> {
    let control = shell.control().clone();
    let call = shell.gateway().spawn(async move { control.call(&command, args).await });
    call.await.unwrap_or_else(|_| Err(internal("The command did not end; see the log.")))
}

/// Sends every live event to `channel`, a snapshot first. The window has one subscription: a new one (after
/// a reload) ends the one before.
#[tauri::command]
pub(crate) async fn listen(shell: State<'_, Shell>, channel: Channel<LiveEvent>) -> Result<(), ControlError> {
    let task = shell.gateway().spawn(forward(shell.control().clone(), channel));
    shell.subscribe(task);
    Ok(())
}

/// Opens a web page in the person's browser. The window has shown where it leads.
#[tauri::command]
pub(crate) async fn open_url(app: AppHandle, url: String) -> Result<(), ControlError> {
    let wrong = |why: &str| ControlError::bad_input("url", why);
    let url: Url = url.parse().map_err(|_| wrong("That is not an address."))?;
    if !page::may_leave(&url) {
        return Err(wrong("Only web pages and bare mail addresses are opened."));
    }
    let opened = app.opener().open_url(url, None::<&str>);
    opened.map_err(|error| internal(&format!("The browser did not open: {error}.")))
}

#[tauri::command]
pub(crate) async fn copy_text(shell: State<'_, Shell>, text: String) -> Result<(), ControlError> {
    shell.clipboard().set(&text).map_err(|error| internal(&format!("{error:#}")))
}

/// Saves a text file to the downloads folder; answers with where it went.
#[tauri::command]
pub(crate) async fn save_text(app: AppHandle, name: String, text: String) -> Result<String, ControlError> {
    let dir = app.path().download_dir().or_else(|_| app.path().home_dir());
    let dir = dir.map_err(|error| internal(&format!("There is no folder to save to: {error}.")))?;
    let saved = save::save_text(&dir, &name, &text);
    saved
        .map(|path| path.display().to_string())
        .map_err(|error| internal(&format!("It was not saved: {error}.")))
}

/// Pieces of answers are gathered for [`GATHER`], so that a busy web view is asked less, and the gateway never
/// waits for it: a listener that falls behind is told so on the bus and starts from a snapshot.
async fn forward(control: Control, channel: Channel<LiveEvent>) {
    let mut events = control.events();
    let mut batch = Batch::default();
    loop {
        // Awaited whole, never cancelled: this is where snapshots come from.
        let Some(first) = events.next().await else { return };
        let mut snapshot_next = matches!(first, LiveEvent::Missed {});
        batch.push(first);
        let gathered = tokio::time::sleep(GATHER);
        tokio::pin!(gathered);
        while !snapshot_next {
            tokio::select! {
                event = events.next() => {
                    let Some(event) = event else { break };
                    snapshot_next = matches!(event, LiveEvent::Missed {});
                    batch.push(event);
                }
                () = &mut gathered => break,
            }
        }
        for event in batch.take() {
            if channel.send(event).is_err() {
                return;
            }
        }
    }
}

fn internal(message: &str) -> ControlError {
    ControlError::internal(message)
}
