//! What the commands, the tray and the window share. It exists once the gateway serves.

use std::{
    path::{Path, PathBuf},
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
};

use control::Control;
use tokio::{runtime::Handle, task::JoinHandle};

use crate::{bus::Bus, clipboard::Clipboard, page::LastPage};

pub(crate) struct Shell {
    control: Control,
    gateway: Handle,
    data_dir: PathBuf,
    bus: Arc<Bus>,
    clipboard: Clipboard,
    pub(crate) page: LastPage,
    /// One window is made at a time.
    pub(crate) opening: Mutex<()>,
    subscription: Mutex<Option<JoinHandle<()>>>,
    said_no_tray: AtomicBool,
}

impl Shell {
    pub(crate) fn new(control: Control, gateway: Handle, data_dir: PathBuf, bus: Arc<Bus>) -> Shell {
        Shell {
            control,
            gateway,
            data_dir,
            bus,
            clipboard: Clipboard::default(),
            page: LastPage::default(),
            opening: Mutex::new(()),
            subscription: Mutex::new(None),
            said_no_tray: AtomicBool::new(false),
        }
    }

    pub(crate) fn control(&self) -> &Control {
        &self.control
    }

    /// The gateway's runtime: its work runs there, whoever asks for it.
    pub(crate) fn gateway(&self) -> &Handle {
        &self.gateway
    }

    pub(crate) fn data_dir(&self) -> &Path {
        &self.data_dir
    }

    pub(crate) fn bus(&self) -> &Bus {
        &self.bus
    }

    pub(crate) fn clipboard(&self) -> &Clipboard {
        &self.clipboard
    }

    /// Keeps the window's subscription to live events, ending the one before.
    pub(crate) fn subscribe(&self, task: JoinHandle<()>) {
        self.swap_subscription(Some(task));
    }

    /// Ends the window's subscription: there is no window any more.
    pub(crate) fn unsubscribe(&self) {
        self.swap_subscription(None);
    }

    fn swap_subscription(&self, new: Option<JoinHandle<()>>) {
        let mut held = self.subscription.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(old) = std::mem::replace(&mut *held, new) {
            old.abort();
        }
    }

    /// `true` the first time only.
    pub(crate) fn first_close_without_tray(&self) -> bool {
        !self.said_no_tray.swap(true, Ordering::Relaxed)
    }
}
