//! Ends what WebKitGTK leaves behind when the window is closed: a closed window holds no web view, and no
//! process of one.
//!
//! The web process goes with its view. The network process does not: WebKit keeps one for the life of the
//! program (tauri-apps/tauri#14626), and has no call to end it. It is stateless for us (everything the window
//! loads is embedded or comes over IPC) and WebKit starts another for the next view, so it is asked to end.

#[cfg(not(target_os = "linux"))]
pub(crate) fn tidy(_app: &tauri::AppHandle) {}

#[cfg(target_os = "linux")]
pub(crate) use linux::tidy;

#[cfg(target_os = "linux")]
mod linux {
    use std::{fs, thread, time::Duration};

    use tauri::{AppHandle, Manager as _};

    /// How often and how long the web process is given to go by itself.
    const PAUSE: Duration = Duration::from_millis(100);
    const PATIENCE: usize = 30;

    /// Names as the kernel cuts them, to 15 bytes.
    const WEB: &str = "WebKitWebProces";
    const NETWORK: &str = "WebKitNetworkPr";

    /// Sees the web view's processes off, in the background. Stops when a window is opened meanwhile.
    pub(crate) fn tidy(app: &AppHandle) {
        let app = app.clone();
        let started = thread::Builder::new().name("webkit-tidy".into()).spawn(move || {
            for attempt in 0..PATIENCE {
                thread::sleep(PAUSE);
                let (tell, told) = std::sync::mpsc::channel();
                let asked = app.clone();
                // Windows are made on the main thread: looking and ending there, no new view comes in between.
                let on_main = app.run_on_main_thread(move || {
                    let _ = tell.send(step(&asked, attempt + 1 == PATIENCE));
                });
                if on_main.is_err() || told.recv().unwrap_or(true) {
                    return;
                }
            }
        });
        if let Err(error) = started {
            tracing::warn!(%error, "the web view's processes were left running");
        }
    }

    /// One look at the children; `true` when there is nothing more to do.
    fn step(app: &AppHandle, last: bool) -> bool {
        if !app.webview_windows().is_empty() {
            return true;
        }
        let children = children(std::process::id());
        let of = |name: &str| {
            children.iter().filter(|child| child.name == name).map(|child| child.pid).collect::<Vec<_>>()
        };
        let web = of(WEB);
        if !web.is_empty() && !last {
            return false;
        }
        web.into_iter().chain(of(NETWORK)).for_each(end);
        true
    }

    fn end(pid: i32) {
        let Some(process) = rustix::process::Pid::from_raw(pid) else { return };
        if let Err(error) = rustix::process::kill_process(process, rustix::process::Signal::TERM) {
            tracing::debug!(pid, %error, "a web view's process was gone already");
        }
    }

    struct Child {
        pid: i32,
        name: String,
    }

    /// The running children of `parent`.
    fn children(parent: u32) -> Vec<Child> {
        let Ok(processes) = fs::read_dir("/proc") else { return Vec::new() };
        let pids = processes.flatten().filter_map(|entry| entry.file_name().to_str()?.parse::<i32>().ok());
        pids.filter_map(|pid| {
            let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
            let (name, state, ppid) = read_stat(&stat)?;
            (ppid == parent && state != 'Z').then(|| Child { pid, name: name.to_owned() })
        })
        .collect()
    }

    /// Name, state and parent out of `/proc/<pid>/stat`. The name stands in brackets and may hold any.
    fn read_stat(stat: &str) -> Option<(&str, char, u32)> {
        let (head, tail) = stat.rsplit_once(") ")?;
        let (_, name) = head.split_once('(')?;
        let mut fields = tail.split(' ');
        let state = fields.next()?.chars().next()?;
        Some((name, state, fields.next()?.parse().ok()?))
    }

    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn reads_a_stat_line_whatever_the_name() {
            assert_eq!(read_stat("42 (WebKitNetworkPr) S 7 42 7 0"), Some(("WebKitNetworkPr", 'S', 7)));
            assert_eq!(read_stat("42 (a) R (b) 1) Z 9 42"), Some(("a) R (b) 1", 'Z', 9)));
            assert_eq!(read_stat("42"), None);
        }
    }
}
