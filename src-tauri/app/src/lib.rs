//! The desktop shell: tray, window, notifications, lifecycle. The only crate that knows Tauri.
//!
//! Two worlds share the process. The *gateway* lives on its own tokio runtime and never waits for anything
//! here. The *shell* lives on the main thread with GTK, Cocoa or Win32, and hears of the gateway by events.
//! What may block (D-Bus, the clipboard, files) runs on neither.
//!
//! A start, in order: single instance → gateway → tray → window. Nothing is shown before the gateway serves;
//! if it cannot, [`trouble`] says why and the process ends with a non-zero exit code.

mod bus;
mod clipboard;
mod coalesce;
mod ipc;
mod lifecycle;
mod notice;
mod options;
mod page;
mod pulse;
mod save;
mod shell;
mod tray;
mod trouble;
mod watch;
mod webkit;
mod window;

pub use lifecycle::run;
