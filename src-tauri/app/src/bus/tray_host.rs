//! Whether a tray is there to show our icon. It may come after us (at login) and go (a panel that restarts).
//!
//! On Linux there are two kinds: today's, where somebody owns `org.kde.StatusNotifierWatcher` on the session
//! bus, and the X11 one of before, which the indicator library falls back to when there is no other.

use std::sync::atomic::AtomicBool;

/// What is assumed of today's kind before anything is known.
pub(crate) const ALWAYS: bool = !cfg!(target_os = "linux");

#[cfg(not(target_os = "linux"))]
pub(crate) async fn watch(_there: &AtomicBool) {}

/// Keeps `there` true while today's kind is there. Ends when there is no session bus, and then it is not.
#[cfg(target_os = "linux")]
pub(crate) async fn watch(there: &AtomicBool) {
    if let Err(error) = follow(there).await {
        tracing::info!(%error, "there is no session bus to show a tray icon by");
    }
    there.store(false, std::sync::atomic::Ordering::Relaxed);
}

#[cfg(target_os = "linux")]
async fn follow(there: &AtomicBool) -> zbus::Result<()> {
    use std::sync::atomic::Ordering;

    use futures_util::StreamExt as _;
    use zbus::names::BusName;

    const WATCHER: &str = "org.kde.StatusNotifierWatcher";

    let connection = zbus::Connection::session().await?;
    let bus = zbus::fdo::DBusProxy::new(&connection).await?;
    // Listening first, asking second: nothing falls in between.
    let mut changes = bus.receive_name_owner_changed_with_args(&[(0, WATCHER)]).await?;
    there.store(bus.name_has_owner(BusName::try_from(WATCHER)?).await?, Ordering::Relaxed);
    while let Some(change) = changes.next().await {
        there.store(change.args()?.new_owner().is_some(), Ordering::Relaxed);
    }
    Ok(())
}

/// Whether an X11 tray is there now: one question to the display server, as quick as any drawing.
#[cfg(target_os = "linux")]
pub(crate) fn x11() -> bool {
    // Under Wayland the toolkit cannot use one, even where XWayland has it.
    let wayland = std::env::var_os("WAYLAND_DISPLAY").is_some()
        && std::env::var_os("GDK_BACKEND").is_none_or(|b| b != "x11");
    !wayland && ask_x11().unwrap_or(false)
}

#[cfg(target_os = "linux")]
fn ask_x11() -> Result<bool, Box<dyn std::error::Error>> {
    use x11rb::protocol::xproto::ConnectionExt as _;

    let (connection, screen) = x11rb::connect(None)?;
    let name = format!("_NET_SYSTEM_TRAY_S{screen}");
    let tray = connection.intern_atom(false, name.as_bytes())?.reply()?.atom;
    Ok(connection.get_selection_owner(tray)?.reply()?.owner != x11rb::NONE)
}

#[cfg(not(target_os = "linux"))]
pub(crate) fn x11() -> bool {
    false
}
