//! The tray icon and its menu.

mod text;

use std::sync::Mutex;

use tauri::{
    AppHandle, Manager as _, Wry,
    image::Image,
    include_image,
    menu::{CheckMenuItem, Menu, MenuBuilder, MenuItem, SubmenuBuilder},
    tray::{MouseButton, MouseButtonState, TrayIcon, TrayIconBuilder, TrayIconEvent},
};
use tauri_plugin_autostart::ManagerExt as _;

pub(crate) use text::Address;

use crate::{
    lifecycle, page,
    pulse::{Face, Pulse},
    shell::Shell,
    window::{self, Goto},
};

/// Menu items by id, as they arrive when clicked.
mod id {
    pub(super) const STATE: &str = "state";
    pub(super) const ADDRESS: &str = "address";
    pub(super) const COPY_OPENAI: &str = "copy-openai";
    pub(super) const COPY_ANTHROPIC: &str = "copy-anthropic";
    pub(super) const COPY_OLLAMA: &str = "copy-ollama";
    pub(super) const COPY_GEMINI: &str = "copy-gemini";
    pub(super) const OPEN: &str = "open";
    pub(super) const OWED: &str = "owed";
    pub(super) const AT_LOGIN: &str = "at-login";
    pub(super) const QUIT: &str = "quit";
}

pub(crate) struct Tray {
    icon: TrayIcon,
    face: Mutex<Face>,
    state: MenuItem<Wry>,
    owed: MenuItem<Wry>,
    at_login: CheckMenuItem<Wry>,
    quit: MenuItem<Wry>,
    address: Address,
}

impl Tray {
    /// Shows the icon. On the main thread.
    ///
    /// Errors: the platform refuses the icon, or on Linux its library is not installed.
    pub(crate) fn new(app: &AppHandle, address: Address) -> anyhow::Result<Tray> {
        let pulse = Pulse::default();
        let item = |id: &str, text: &str| MenuItem::with_id(app, id, text, true, None::<&str>);
        let state = item(id::STATE, &text::state(&pulse))?;
        let serving = item(id::ADDRESS, &text::serving(&address))?;
        let copy = SubmenuBuilder::with_id(app, "copy", "Copy base URL")
            .text(id::COPY_OPENAI, "OpenAI")
            .text(id::COPY_ANTHROPIC, "Anthropic")
            .text(id::COPY_OLLAMA, "Ollama")
            .text(id::COPY_GEMINI, "Gemini")
            .build()?;
        let open = item(id::OPEN, "Open window")?;
        let owed = item(id::OWED, &text::owed(pulse.owed))?;
        let at_login = CheckMenuItem::with_id(
            app,
            id::AT_LOGIN,
            "Start at login",
            true,
            starts_at_login(app),
            None::<&str>,
        )?;
        let quit = item(id::QUIT, "Quit")?;
        let menu = MenuBuilder::new(app)
            .items(&[&state, &serving, &copy])
            .separator()
            .items(&[&open, &owed, &at_login])
            .separator()
            .item(&quit)
            .build()?;
        let icon = show_icon(app, &menu)?;
        Ok(Tray { icon, face: Mutex::new(Face::Idle), state, owed, at_login, quit, address })
    }

    /// Shows what is going on. On the main thread.
    pub(crate) fn show(&self, pulse: &Pulse) {
        let face = pulse.face();
        let mut shown = self.face.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let new_face = *shown != face;
        *shown = face;
        drop(shown);
        let steps = [
            if new_face {
                self.icon.set_icon_with_as_template(Some(image(face)), cfg!(target_os = "macos"))
            } else {
                Ok(())
            },
            self.icon.set_tooltip(Some(text::tooltip(pulse, &self.address))),
            self.state.set_text(text::state(pulse)),
            self.owed.set_text(text::owed(pulse.owed)),
        ];
        for error in steps.into_iter().filter_map(Result::err) {
            tracing::warn!(%error, "the tray shows an old state");
        }
    }

    /// The gateway is finishing what runs; a second Quit does not wait.
    pub(crate) fn show_quitting(&self) {
        let _ = self.state.set_text("Finishing running panels");
        let _ = self.quit.set_text("Quit now");
    }
}

fn show_icon(app: &AppHandle, menu: &Menu<Wry>) -> anyhow::Result<TrayIcon> {
    let builder = TrayIconBuilder::with_id("benchwarmers")
        .menu(menu)
        .icon(image(Face::Idle))
        .icon_as_template(cfg!(target_os = "macos"))
        .tooltip("Benchwarmers")
        // Where a platform tells clicks apart, left opens the window and right the menu.
        .show_menu_on_left_click(false)
        .on_menu_event(|app, event| clicked(app, event.id().as_ref()))
        .on_tray_icon_event(|tray, event| {
            if let TrayIconEvent::Click {
                button: MouseButton::Left,
                button_state: MouseButtonState::Up,
                ..
            } = event
            {
                window::open(tray.app_handle(), Goto::Last);
            }
        });
    // The indicator library is loaded at run time, and its absence is a panic there.
    let built = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| builder.build(app)));
    match built {
        Ok(icon) => Ok(icon?),
        Err(_) => anyhow::bail!("libayatana-appindicator3 is not installed, so there is no tray icon"),
    }
}

fn clicked(app: &AppHandle, id: &str) {
    match id {
        id::STATE | id::OPEN => window::open(app, Goto::Last),
        id::OWED => window::open(app, Goto::Page(page::VERDICTS.to_owned())),
        id::ADDRESS => copy(app, |address| address.url.clone()),
        id::COPY_OPENAI => copy(app, |address| address.urls.openai.clone()),
        id::COPY_ANTHROPIC => copy(app, |address| address.urls.anthropic.clone()),
        id::COPY_OLLAMA => copy(app, |address| address.urls.ollama.clone()),
        id::COPY_GEMINI => copy(app, |address| address.urls.gemini.clone()),
        id::AT_LOGIN => toggle_at_login(app),
        id::QUIT => lifecycle::quit(app),
        other => tracing::warn!(item = other, "a menu item without meaning was clicked"),
    }
}

fn copy(app: &AppHandle, what: impl FnOnce(&Address) -> String) {
    let Some(text) = app.try_state::<Tray>().map(|tray| what(&tray.address)) else { return };
    let app = app.clone();
    // The display server may make us wait.
    tauri::async_runtime::spawn_blocking(move || {
        let copied = app.try_state::<Shell>().map(|shell| shell.clipboard().set(&text));
        if let Some(Err(error)) = copied {
            tracing::warn!(error = format!("{error:#}"), "nothing was copied");
        }
    });
}

fn starts_at_login(app: &AppHandle) -> bool {
    app.autolaunch().is_enabled().unwrap_or(false)
}

fn toggle_at_login(app: &AppHandle) {
    let login = app.autolaunch();
    let done = if starts_at_login(app) { login.disable() } else { login.enable() };
    if let Err(error) = done {
        tracing::warn!(%error, "start at login was not changed");
    }
    // What is, not what was wanted.
    if let Some(tray) = app.try_state::<Tray>() {
        let _ = tray.at_login.set_checked(starts_at_login(app));
    }
}

#[cfg(not(target_os = "macos"))]
fn image(face: Face) -> Image<'static> {
    match face {
        Face::Idle => include_image!("icons/tray/idle.png"),
        Face::Running => include_image!("icons/tray/running.png"),
        Face::Attention => include_image!("icons/tray/attention.png"),
    }
}

/// Shapes only: the menu bar colours them.
#[cfg(target_os = "macos")]
fn image(face: Face) -> Image<'static> {
    match face {
        Face::Idle => include_image!("icons/tray/idle-template.png"),
        Face::Running => include_image!("icons/tray/running-template.png"),
        Face::Attention => include_image!("icons/tray/attention-template.png"),
    }
}
