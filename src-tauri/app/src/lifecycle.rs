//! From the first line of the log to the exit code: one instance, the gateway, the tray, the window, and the
//! way back down.

mod start;

use std::{
    process::ExitCode,
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
};

use anyhow::Context as _;
use control::Host;
use tauri::{AppHandle, Manager as _, RunEvent, WindowEvent};
use tokio::runtime::Runtime;

use crate::{
    ipc,
    options::{HIDDEN, Options},
    tray::Tray,
    trouble,
    window::{self, Goto},
};

/// Runs the tray application until it is quit. A failure to start is exit code 1.
pub fn run() -> ExitCode {
    tracing_subscriber::fmt()
        .with_env_filter(
            tracing_subscriber::EnvFilter::try_from_default_env().unwrap_or_else(|_| "info".into()),
        )
        .with_writer(std::io::stderr)
        .init();
    match try_run(Options::read(std::env::args())) {
        Ok(code) => code,
        Err(error) => {
            tracing::error!("{error:#}");
            ExitCode::FAILURE
        }
    }
}

fn try_run(options: Options) -> anyhow::Result<ExitCode> {
    anyhow::ensure!(
        !cfg!(target_os = "linux")
            || ["DISPLAY", "WAYLAND_DISPLAY"].iter().any(|name| std::env::var_os(name).is_some()),
        "There is no display to show a tray or a window on. Without one, run the gateway with: bench serve"
    );
    let gateway = start::runtime().context("The gateway got no threads")?;
    let app = build(options, &gateway).context("The application did not start")?;
    if options.quit {
        tracing::info!("Benchwarmers is not running");
        return Ok(ExitCode::SUCCESS);
    }
    let code = app.run_return(on_event);
    // Everything of ours has ended by now; a stuck blocking call does not keep the process.
    gateway.shutdown_timeout(std::time::Duration::from_secs(1));
    Ok(u8::try_from(code).map_or(ExitCode::FAILURE, ExitCode::from))
}

fn build(options: Options, gateway: &Runtime) -> tauri::Result<tauri::App> {
    let handle = gateway.handle().clone();
    // First, so that a second start goes no further than here.
    let builder = tauri::Builder::default().plugin(start::single_instance());
    trouble::register(builder)
        .plugin(tauri_plugin_autostart::init(
            tauri_plugin_autostart::MacosLauncher::LaunchAgent,
            Some(vec![HIDDEN]),
        ))
        .plugin(tauri_plugin_opener::init())
        .plugin(start::window_state())
        .manage(Running {
            gateway: handle.clone(),
            host: Mutex::new(None),
            wanted: AtomicBool::new(!options.hidden),
            quitting: AtomicBool::new(false),
        })
        .invoke_handler(tauri::generate_handler![
            ipc::control,
            ipc::listen,
            ipc::open_url,
            ipc::copy_text,
            ipc::save_text
        ])
        .on_window_event(|window, event| match (window.label(), event) {
            (window::LABEL, WindowEvent::CloseRequested { api, .. }) => {
                window::close_requested(window.app_handle(), api);
            }
            (window::LABEL, WindowEvent::Destroyed) => window::destroyed(window.app_handle()),
            (trouble::LABEL, WindowEvent::Destroyed) => window.app_handle().exit(1),
            _ => {}
        })
        .setup(move |app| {
            if !options.quit {
                handle.spawn(start::start(app.handle().clone()));
            }
            Ok(())
        })
        .build(embedded())
}

/// The configuration, icons and the built window, as they were when this was compiled.
#[expect(clippy::disallowed_methods, reason = "Tauri's macro has an exit of its own")]
fn embedded() -> tauri::Context {
    tauri::generate_context!()
}

fn on_event(app: &AppHandle, event: RunEvent) {
    match event {
        // The last window closed: the gateway goes on.
        RunEvent::ExitRequested { code: None, api, .. } => api.prevent_exit(),
        // The platform ends us without asking (log out): the streams are finished here and now.
        RunEvent::Exit => {
            let running = app.state::<Running>();
            if !running.quitting.load(Ordering::Relaxed)
                && let Some(host) = running.take_host()
            {
                running.gateway.block_on(host.shutdown());
            }
        }
        #[cfg(target_os = "macos")]
        RunEvent::Reopen { .. } => window::open(app, Goto::Last),
        _ => {}
    }
}

/// The gateway, for as long as it runs.
struct Running {
    gateway: tokio::runtime::Handle,
    host: Mutex<Option<Host>>,
    /// The window shall open as soon as the gateway serves.
    wanted: AtomicBool,
    quitting: AtomicBool,
}

impl Running {
    fn take_host(&self) -> Option<Host> {
        self.host.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

/// Closes the window, lets the gateway finish its streams (up to ten seconds), and ends the process. Asked a
/// second time, it does not wait. From any thread.
pub(crate) fn quit(app: &AppHandle) {
    let running = app.state::<Running>();
    if running.quitting.swap(true, Ordering::Relaxed) {
        app.exit(0);
        return;
    }
    let asked = app.clone();
    let told = app.run_on_main_thread(move || {
        if let Some(tray) = asked.try_state::<Tray>() {
            tray.show_quitting();
        }
        if let Some(window) = asked.get_webview_window(window::LABEL) {
            let _ = window.destroy();
        }
    });
    if let Err(error) = told {
        tracing::warn!(%error, "quitting without a word");
    }
    let host = running.take_host();
    let app = app.clone();
    running.gateway.spawn(async move {
        if let Some(host) = host {
            host.shutdown().await;
        }
        app.exit(0);
    });
}

/// A second start of the program: it ended itself after handing us its arguments.
fn started_again(app: &AppHandle, args: Vec<String>) {
    let options = Options::read(args);
    if options.quit {
        quit(app);
    } else if !options.hidden {
        // Before the gateway serves there is no window to show: then it opens by itself.
        app.state::<Running>().wanted.store(true, Ordering::Relaxed);
        window::open(app, Goto::Last);
    }
}
