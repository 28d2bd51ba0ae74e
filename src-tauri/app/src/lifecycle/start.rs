//! The steps of a start.

use std::{
    hash::{DefaultHasher, Hash as _, Hasher as _},
    sync::{Arc, PoisonError, atomic::Ordering},
};

use anyhow::Context as _;
use control::{Host, StartOptions, data_dir};
use tauri::{AppHandle, Manager as _, Wry, plugin::TauriPlugin};
use tauri_plugin_window_state::StateFlags;

use super::{Running, quit, started_again};
use crate::{
    bus::{Bus, Clicked},
    shell::Shell,
    tray::{Address, Tray},
    trouble, watch,
    window::{self, Goto},
};

/// The gateway's own threads, so that a busy window cannot delay a stream.
pub(super) fn runtime() -> std::io::Result<tokio::runtime::Runtime> {
    tokio::runtime::Builder::new_multi_thread().thread_name("gateway").enable_all().build()
}

/// One instance a data folder: whoever names another folder by `BENCHWARMERS_HOME` gets another instance.
pub(super) fn single_instance() -> TauriPlugin<Wry> {
    let builder =
        tauri_plugin_single_instance::Builder::new().callback(|app, args, _cwd| started_again(app, args));
    match std::env::var_os("BENCHWARMERS_HOME").filter(|home| !home.is_empty()) {
        Some(home) => {
            let mut hasher = DefaultHasher::new();
            home.hash(&mut hasher);
            builder.dbus_id(format!("io.github.benchwarmers.desktop.home{:016x}", hasher.finish())).build()
        }
        None => builder.build(),
    }
}

/// Size and place of the window, kept in the data folder.
pub(super) fn window_state() -> TauriPlugin<Wry> {
    let builder = tauri_plugin_window_state::Builder::new()
        .with_state_flags(StateFlags::SIZE | StateFlags::POSITION | StateFlags::MAXIMIZED)
        .with_denylist(&[trouble::LABEL]);
    match data_dir().map(|dir| dir.join("window.json").into_os_string().into_string()) {
        Some(Ok(file)) => builder.with_filename(file).build(),
        // No home or a path that is no text: the plugin's own place.
        Some(Err(_)) | None => builder.build(),
    }
}

/// Starts the gateway, then the tray and the window, and follows the gateway's events until it ends. On the
/// gateway's runtime.
pub(super) async fn start(app: AppHandle) {
    let gateway = app.state::<Running>().gateway.clone();
    gateway.spawn(end_on_signal(app.clone()));
    if let Err(error) = serve(&app).await {
        let message = format!("{error:#}");
        tracing::error!("Benchwarmers did not start: {message}");
        if let Err(error) = trouble::show(&app, &message) {
            tracing::error!("nor could it say so in a window: {error:#}");
            app.exit(1);
        }
    }
}

/// Ends with an error only before anything is shown.
async fn serve(app: &AppHandle) -> anyhow::Result<()> {
    let host =
        Host::start(StartOptions { data_dir: None, port: None, program: "benchwarmers", ui_dir: None })
            .await?;
    let control = host.control.clone();
    let url = host.url();
    let running = app.state::<Running>();
    *running.host.lock().unwrap_or_else(PoisonError::into_inner) = Some(host);

    let status = control.call("status", serde_json::Value::Null).await?;
    let status: control::dto::Status =
        serde_json::from_value(status).context("The gateway's status is not one")?;
    let address = Address {
        taken: (status.port != status.wanted_port).then_some(status.wanted_port),
        urls: status.urls,
        url,
    };
    tracing::info!(url = address.url, data = status.data_dir, "serving");

    let asked = app.clone();
    let bus = Arc::new(Bus::start(move |clicked| match clicked {
        Clicked::Open(page) => window::open(&asked, page.map_or(Goto::Last, Goto::Page)),
        Clicked::Quit => quit(&asked),
    })?);
    app.manage(Shell::new(control.clone(), running.gateway.clone(), status.data_dir.into(), bus.clone()));

    // The tray first: the window may be closed into it at once.
    let asked = app.clone();
    app.run_on_main_thread(move || {
        match Tray::new(&asked, address) {
            Ok(tray) => {
                asked.manage(tray);
            }
            Err(error) => tracing::warn!("no tray icon: {error:#}"),
        }
        if asked.state::<Running>().wanted.load(Ordering::Relaxed) {
            window::open(&asked, Goto::Last);
        }
    })?;

    watch::watch(control, bus, |pulse| {
        let asked = app.clone();
        let told = app.run_on_main_thread(move || {
            if let Some(tray) = asked.try_state::<Tray>() {
                tray.show(&pulse);
            }
        });
        if let Err(error) = told {
            tracing::debug!(%error, "the tray was not told");
        }
    })
    .await;
    Ok(())
}

/// `kill`, Ctrl-C and a session's end are a Quit.
async fn end_on_signal(app: AppHandle) {
    // A second one does not wait for streams: see [`quit`].
    loop {
        match signal().await {
            Ok(()) => quit(&app),
            Err(error) => return tracing::warn!(%error, "signals end the process at once"),
        }
    }
}

#[cfg(unix)]
async fn signal() -> std::io::Result<()> {
    use tokio::signal::unix::{SignalKind, signal};
    let mut term = signal(SignalKind::terminate())?;
    let mut hangup = signal(SignalKind::hangup())?;
    tokio::select! {
        got = tokio::signal::ctrl_c() => got,
        _ = term.recv() => Ok(()),
        _ = hangup.recv() => Ok(()),
    }
}

#[cfg(not(unix))]
async fn signal() -> std::io::Result<()> {
    tokio::signal::ctrl_c().await
}
