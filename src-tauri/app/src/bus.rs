//! A thread of its own for the desktop's message bus: notifications and their clicks, and whether a tray is
//! there. A notification daemon that hangs, hangs here: neither the gateway nor the window waits for it.

mod tray_host;

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread,
    time::Duration,
};

use tokio::{sync::mpsc, task::JoinSet};

use crate::notice::{Action, Notice};

/// Notices waiting to be shown; more are dropped, with a line in the log.
const QUEUE: usize = 16;
/// Notices whose click is waited for; the oldest is then no longer clickable.
const OPEN: usize = 16;
/// How long a daemon may take to accept a notice.
const ACCEPT: Duration = Duration::from_secs(10);
/// How long a click is waited for.
const CLICK: Duration = Duration::from_secs(60 * 60);

pub(crate) struct Bus {
    notices: mpsc::Sender<Notice>,
    tray: Arc<AtomicBool>,
}

/// What a person did with a notice.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Clicked {
    /// The page that was meant, if any.
    Open(Option<String>),
    Quit,
}

impl Bus {
    /// Starts the thread. `clicked` is called on it.
    ///
    /// Errors: the operating system gives no thread.
    pub(crate) fn start(clicked: impl Fn(Clicked) + Send + Sync + 'static) -> std::io::Result<Bus> {
        let (notices, queue) = mpsc::channel(QUEUE);
        let tray = Arc::new(AtomicBool::new(tray_host::ALWAYS));
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let seen = tray.clone();
        thread::Builder::new().name("desktop-bus".into()).spawn(move || {
            runtime.block_on(async {
                tokio::join!(tray_host::watch(&seen), show_all(queue, Arc::new(clicked)));
            });
        })?;
        Ok(Bus { notices, tray })
    }

    /// Shows a notice soon; never blocks.
    pub(crate) fn notify(&self, notice: Notice) {
        if let Err(refused) = self.notices.try_send(notice) {
            let notice = refused.into_inner();
            tracing::warn!(summary = notice.summary, "the desktop takes no notifications: one was dropped");
        }
    }

    /// Whether somebody shows tray icons now.
    pub(crate) fn has_tray(&self) -> bool {
        self.tray.load(Ordering::Relaxed) || tray_host::x11()
    }
}

async fn show_all(mut queue: mpsc::Receiver<Notice>, clicked: Arc<dyn Fn(Clicked) + Send + Sync>) {
    let mut open = JoinSet::new();
    let mut order = std::collections::VecDeque::new();
    loop {
        tokio::select! {
            notice = queue.recv() => {
                let Some(notice) = notice else { return };
                order.push_back(open.spawn(show(notice, clicked.clone())));
                if order.len() > OPEN && let Some(oldest) = order.pop_front() {
                    oldest.abort();
                }
            }
            Some(_) = open.join_next() => order.retain(|task| !task.is_finished()),
        }
    }
}

#[cfg(all(unix, not(target_os = "macos")))]
async fn show(notice: Notice, clicked: Arc<dyn Fn(Clicked) + Send + Sync>) {
    use notify_rust::NotificationResponse as Response;

    let mut notification = notification(&notice);
    // `default` is the click on the notice itself.
    notification.action("default", "Open");
    let handle = match tokio::time::timeout(ACCEPT, notification.show_async()).await {
        Ok(Ok(handle)) => handle,
        Ok(Err(error)) => {
            return tracing::warn!(%error, summary = notice.summary, "no notification was shown");
        }
        Err(_) => return tracing::warn!(summary = notice.summary, "the notification daemon does not answer"),
    };
    let answer = handle.wait_for_action_async(|response| match response {
        Response::Default => clicked(Clicked::Open(notice.page.clone())),
        Response::Action(action) if action == QUIT => clicked(Clicked::Quit),
        Response::Action(_) | Response::Reply(_) | Response::Closed(_) => {}
    });
    // A click later than this opens nothing.
    let _ = tokio::time::timeout(CLICK, answer).await;
}

#[cfg(any(not(unix), target_os = "macos"))]
async fn show(notice: Notice, _clicked: Arc<dyn Fn(Clicked) + Send + Sync>) {
    let shown = tokio::task::spawn_blocking(move || notification(&notice).show().map(drop));
    match tokio::time::timeout(ACCEPT, shown).await {
        Ok(Ok(Ok(()))) => {}
        Ok(Ok(Err(error))) => tracing::warn!(%error, "no notification was shown"),
        Ok(Err(_)) | Err(_) => tracing::warn!("the notification centre does not answer"),
    }
}

const QUIT: &str = "quit";

fn notification(notice: &Notice) -> notify_rust::Notification {
    let mut notification = notify_rust::Notification::new();
    notification.appname("Benchwarmers").summary(&notice.summary).body(&escaped(&notice.body));
    #[cfg(all(unix, not(target_os = "macos")))]
    notification
        .icon("benchwarmers")
        .hint(notify_rust::Hint::DesktopEntry("Benchwarmers".into()))
        .hint(notify_rust::Hint::Category("network".into()));
    match notice.action {
        Some(Action::Quit) => {
            notification.action(QUIT, "Quit");
        }
        None => {}
    }
    notification
}

/// Freedesktop bodies may be read as markup, and a provider's words are in them.
fn escaped(text: &str) -> String {
    if cfg!(all(unix, not(target_os = "macos"))) {
        text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
    } else {
        text.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg(all(unix, not(target_os = "macos")))]
    fn a_providers_words_are_no_markup() {
        let body = "groq said <b>401</b> & <img src=x>".to_owned();
        let notice = Notice { summary: "groq refused its key".into(), body, page: None, action: None };
        assert_eq!(notification(&notice).body, "groq said &lt;b&gt;401&lt;/b&gt; &amp; &lt;img src=x&gt;");
    }

    #[test]
    #[cfg(all(unix, not(target_os = "macos")))]
    fn the_way_out_is_a_button() {
        assert_eq!(notification(&crate::notice::no_tray()).actions, ["quit", "Quit"]);
    }
}
