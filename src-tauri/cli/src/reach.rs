//! Reaching a gateway: the one that owns the data folder, or our own for the life of a command.

use std::path::PathBuf;
use std::time::Duration;

use control::dto::Nothing;
use control::view::LiveEvent;
use control::{Host, Remote, RemoteError, StartOptions};

use crate::args::Common;
use crate::failure::Failure;

/// How long a process that has the folder and does not answer is waited for: it starts, or it is ending.
const PATIENCE: Duration = Duration::from_secs(15);
const STEP: Duration = Duration::from_millis(100);

/// A gateway to talk to.
pub struct Reached {
    pub remote: Remote,
    own: Option<Host>,
}

/// Runs `act` with a gateway. Nobody owns the folder: one is opened for as long as `act` takes, and longer
/// while it has panels that others asked.
pub async fn with_gateway(
    common: &Common,
    act: impl AsyncFnOnce(&Reached) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let reached = reach(common).await?;
    let outcome = act(&reached).await;
    let interrupted = matches!(outcome, Err(Failure::Interrupted));
    if let Some(host) = reached.own {
        if !interrupted {
            // Another command may have found us and be in the middle of its panel.
            tokio::select! {
                _ = quiet(&reached.remote) => {}
                _ = tokio::signal::ctrl_c() => {}
            }
        }
        tokio::select! {
            () = host.shutdown() => {}
            // Asked to stop once more: nothing that has finished is lost by not waiting for the rest.
            _ = tokio::signal::ctrl_c() => return Err(Failure::Interrupted),
        }
    }
    outcome
}

/// The running gateway; `None` when nobody serves.
pub async fn running(common: &Common) -> Result<Option<Remote>, Failure> {
    match &common.url {
        Some(url) => Ok(Some(at(common, url)?)),
        None => Ok(Remote::owner_of(&data_dir(common)?).await?),
    }
}

/// The data folder in use.
pub fn data_dir(common: &Common) -> Result<PathBuf, Failure> {
    common.data_dir.clone().or_else(control::data_dir).ok_or_else(|| {
        Failure::Usage("there is no home folder to keep data in; name one with --data-dir".to_owned())
    })
}

impl Reached {
    /// Whether the gateway ends with this command.
    pub fn is_own(&self) -> bool {
        self.own.is_some()
    }
}

async fn reach(common: &Common) -> Result<Reached, Failure> {
    if let Some(url) = &common.url {
        return Ok(Reached { remote: at(common, url)?, own: None });
    }
    let dir = data_dir(common)?;
    let mut waited = Duration::ZERO;
    loop {
        if let Some(remote) = Remote::owner_of(&dir).await? {
            return Ok(Reached { remote, own: None });
        }
        let options =
            StartOptions { data_dir: Some(dir.clone()), port: Some(0), program: "bench", ui_dir: None };
        match Host::start(options).await {
            Ok(host) => {
                let remote = Remote::with_token_of(&dir, &host.url())?;
                return Ok(Reached { remote, own: Some(host) });
            }
            Err(error) if error.in_use().is_some() && waited < PATIENCE => {
                tokio::time::sleep(STEP).await;
                waited += STEP;
            }
            Err(error) => return Err(Failure::refused(error)),
        }
    }
}

/// The gateway at `url`. The data folder's token goes to nobody but the gateway that owns the folder.
fn at(common: &Common, url: &str) -> Result<Remote, Failure> {
    if let Some(token) = std::env::var("BENCHWARMERS_TOKEN").ok().filter(|token| !token.trim().is_empty()) {
        return Ok(Remote::new(url, &token)?);
    }
    let dir = data_dir(common)?;
    let without = |why: String| {
        Failure::Usage(format!(
            "--url {url}: there is no control token for it; set BENCHWARMERS_TOKEN to the one in that gateway's \
             data folder ({why})"
        ))
    };
    match Remote::owner_at(&dir, url) {
        Ok(Some(remote)) => Ok(remote),
        Ok(None) => Err(without(format!("it is not the gateway that owns {}", dir.display()))),
        Err(error @ RemoteError::Token { .. }) => Err(without(error.to_string())),
        Err(error) => Err(error.into()),
    }
}

/// Waits until no panel runs.
async fn quiet(remote: &Remote) -> Result<(), RemoteError> {
    let mut events = remote.events().await?;
    // The snapshot: from here on no end is missed.
    events.next().await?;
    while remote.status(Nothing {}).await?.running > 0 {
        while let Some(event) = events.next().await? {
            if matches!(event, LiveEvent::PanelEnded { .. }) {
                break;
            }
        }
    }
    Ok(())
}
