//! `bench serve`: the gateway without a window.

use std::path::Path;

use control::dto::Nothing;
use control::{DEFAULT_PORT, Host, Remote, StartOptions};
use serde_json::json;

use crate::args::{Common, Serve};
use crate::failure::Failure;
use crate::out::Out;
use crate::reach::data_dir;

/// Serves until a signal says to stop, and then lets streams finish.
pub async fn serve(common: &Common, args: &Serve, out: Out) -> Result<(), Failure> {
    if common.url.is_some() {
        return Err(Failure::Usage(
            "serve starts a gateway here; --url is for talking to another".to_owned(),
        ));
    }
    if let Some(dir) = args.ui.as_ref().filter(|dir| !dir.join("index.html").is_file()) {
        let dir = dir.display();
        return Err(Failure::Usage(format!(
            "--ui {dir}: no built window there; run npm run build in ui first"
        )));
    }
    let dir = data_dir(common)?;
    let options = StartOptions {
        data_dir: Some(dir.clone()),
        port: args.port,
        program: "bench serve",
        ui_dir: args.ui.clone(),
    };
    // Before the start, so that a signal in the middle of it is not lost.
    let mut stop = Stop::listen()?;
    let host = Host::start(options).await.map_err(Failure::refused)?;
    let served = announce(&host, &dir, args, out).await;
    if served.is_ok() {
        stop.wait().await;
        tracing::info!("stopping");
    }
    tokio::select! {
        () = host.shutdown() => served,
        // A second signal does not wait for streams; the store is safe against that.
        () = stop.wait() => Err(Failure::Interrupted),
    }
}

/// The ready line, once everything that was asked for stands. It does not wait for the keychain.
async fn announce(host: &Host, data_dir: &Path, args: &Serve, out: Out) -> Result<(), Failure> {
    let (url, port) = (host.url(), host.port());
    if args.practice {
        Remote::with_token_of(data_dir, &url)?.start_practice(Nothing {}).await?;
    }
    let wanted = args.port.unwrap_or(DEFAULT_PORT);
    if wanted != 0 && wanted != port {
        out.note(&format!("bench: port {wanted} was taken by another program; serving on {port}"));
    }
    if args.ui.is_some() {
        let token = std::fs::read_to_string(data_dir.join("control.token"))
            .map_err(|error| Failure::refused(format!("the control token cannot be read: {error}")))?;
        // The part behind # stays in the browser, and the page takes it out of the address bar.
        out.note(&format!("bench: the window is at {url}/ui/#token={}", token.trim()));
    }
    if out.json {
        let pid = std::process::id();
        out.json(
            &json!({ "url": url, "port": port, "pid": pid, "data_dir": data_dir.display().to_string() }),
        )?;
    } else {
        out.line(&format!("serving {url}"))?;
        if args.practice {
            out.line(&try_it(&url))?;
        }
    }
    Ok(())
}

/// A command that works as it is printed: it asks the practice collection.
fn try_it(url: &str) -> String {
    format!(
        "curl {url}/v1/chat/completions -H 'Content-Type: application/json' -d \
         '{{\"model\": \"bench/practice\", \"messages\": [{{\"role\": \"user\", \"content\": \"Is zero even?\"}}]}}'"
    )
}

/// The signals that end a server.
struct Stop {
    #[cfg(unix)]
    signals: [tokio::signal::unix::Signal; 2],
}

impl Stop {
    #[cfg(unix)]
    fn listen() -> Result<Stop, Failure> {
        use tokio::signal::unix::{SignalKind, signal};
        let listen =
            |kind| signal(kind).map_err(|error| Failure::refused(format!("no signals here: {error}")));
        // Not SIGHUP: under nohup it is ignored, and a handler would undo that.
        Ok(Stop { signals: [listen(SignalKind::interrupt())?, listen(SignalKind::terminate())?] })
    }

    #[cfg(unix)]
    async fn wait(&mut self) {
        let [interrupt, terminate] = &mut self.signals;
        tokio::select! {
            _ = interrupt.recv() => {}
            _ = terminate.recv() => {}
        }
    }

    #[cfg(not(unix))]
    fn listen() -> Result<Stop, Failure> {
        Ok(Stop {})
    }

    #[cfg(not(unix))]
    async fn wait(&mut self) {
        let _ = tokio::signal::ctrl_c().await;
    }
}
