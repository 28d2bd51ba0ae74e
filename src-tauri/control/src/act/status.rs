use gateway::VaultState;

use super::reading;
use crate::{Control, ControlError, dto::*};

impl Control {
    pub async fn status(&self, _: Nothing) -> Result<Status, ControlError> {
        let gateway = self.gateway();
        let url = gateway.url().unwrap_or_default();
        let port = url.rsplit(':').next().and_then(|port| port.parse().ok()).unwrap_or_default();
        let wanted_port = if self.wanted_port() == 0 { port } else { self.wanted_port() };
        let counting = gateway.clone();
        // A status that cannot count what is owed is still a status.
        let owed = reading(move || counting.owed_count()).await.unwrap_or_default();
        let setup = &gateway.snapshot().setup;
        let port_note = if port == wanted_port {
            String::new()
        } else {
            format!("Port {wanted_port} was taken by another program; serving on {port}.")
        };
        Ok(Status {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            urls: BaseUrls {
                openai: format!("{url}/v1"),
                anthropic: url.clone(),
                ollama: url.clone(),
                gemini: url.clone(),
            },
            url,
            wanted_port,
            port,
            port_note,
            data_dir: gateway.data_dir().display().to_string(),
            pid: std::process::id(),
            running: gateway.running() as u32,
            owed,
            first_run: setup.endpoints.is_empty() && setup.collections.is_empty(),
            keys: key_store(gateway.key_store().await),
            recording: gateway.recording(),
            alerts: gateway.alerts(),
        })
    }
}

/// Where keys are kept, in words.
pub(super) fn key_store((state, message): (VaultState, String)) -> KeyStoreStatus {
    let kind = match state {
        VaultState::Keychain => KeyStoreKind::Keychain,
        VaultState::VaultFile => KeyStoreKind::VaultFile,
        VaultState::VaultLocked => KeyStoreKind::VaultLocked,
        VaultState::None { .. } => KeyStoreKind::None,
    };
    KeyStoreStatus { kind, message }
}
