//! `bench status`: the running gateway in a few lines.

use control::RemoteError;
use control::dto::{KeyStoreKind, Nothing, Status};
use control::view::{Alert, AlertKind};

use crate::args::Common;
use crate::failure::Failure;
use crate::out::Out;
use crate::paint::{Look, Painted};
use crate::reach::{data_dir, running};
use crate::table::Table;

pub async fn status(common: &Common, out: Out) -> Result<(), Failure> {
    let Some(remote) = running(common).await? else {
        let dir = data_dir(common)?;
        return Err(Failure::NoServer(format!(
            "no gateway is running on {}; start one with bench serve, or open the application",
            dir.display()
        )));
    };
    let status = match remote.status(Nothing {}).await {
        Err(RemoteError::NoServer { url, .. }) => {
            return Err(Failure::NoServer(format!(
                "no gateway answers at {url}; start one with bench serve"
            )));
        }
        status => status?,
    };
    if out.json {
        out.json(&status)?;
    } else {
        out.painted(&in_words(&status, out))?;
    }
    Ok(())
}

fn in_words(status: &Status, out: Out) -> Painted {
    let keys = match status.keys.kind {
        KeyStoreKind::Keychain | KeyStoreKind::VaultFile => Look::Plain,
        KeyStoreKind::VaultLocked | KeyStoreKind::None => Look::Bad,
    };
    let recording = if status.recording.ok {
        ("on".to_owned(), Look::Good)
    } else {
        (status.recording.message.clone(), Look::Bad)
    };
    let mut table = Table::default();
    let mut line =
        |name: &str, (text, look): (String, Look)| table.row([(name.to_owned(), Look::Dim), (text, look)]);
    line(
        "gateway",
        (format!("{} (process {}, version {})", status.url, status.pid, status.version), Look::Plain),
    );
    if !status.port_note.is_empty() {
        line("", (status.port_note.clone(), Look::Plain));
    }
    let urls = &status.urls;
    for (title, url, client) in [
        ("base URL", &urls.openai, "OpenAI"),
        ("", &urls.anthropic, "Anthropic"),
        ("", &urls.ollama, "Ollama"),
        ("", &urls.gemini, "Gemini"),
    ] {
        line(title, (format!("{url} for {client} clients"), Look::Plain));
    }
    line("data folder", (status.data_dir.clone(), Look::Plain));
    line("keys", (status.keys.message.clone(), keys));
    line("recording", recording);
    line("running", (at_work(status.running), Look::Plain));
    line("owed", (counted(status.owed, "verdict"), Look::Plain));
    for alert in &status.alerts {
        // The others stand above, with the port and the recording.
        if !matches!(alert.kind, AlertKind::PortTaken | AlertKind::RecordingStopped) {
            line("alert", (about(alert), Look::Bad));
        }
    }
    if status.first_run {
        line("", ("nothing is set up yet: bench import FILE, or bench endpoint add".to_owned(), Look::Plain));
    }
    table.text(out.paint)
}

/// The message, with what it is about where it does not say so itself.
fn about(alert: &Alert) -> String {
    match alert.kind {
        AlertKind::PanelFailed => format!("bench/{}: {}", alert.subject, alert.message),
        _ => alert.message.clone(),
    }
}

fn at_work(n: u32) -> String {
    if n == 1 { "1 panel or turn".to_owned() } else { format!("{n} panels and turns") }
}

/// `1 panel`, `3 panels`
pub fn counted(n: u32, what: &str) -> String {
    if n == 1 { format!("1 {what}") } else { format!("{n} {what}s") }
}
