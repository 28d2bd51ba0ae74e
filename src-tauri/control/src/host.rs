//! A gateway with its control API, as a program runs it: the same in the tray application, in `bench serve`
//! and for the life of one `bench` command.

use std::path::PathBuf;

use gateway::{Clock, Gateway, OpenError, Options, ServeError, Serving};

use crate::{
    Control,
    http::{HttpOptions, router},
    token,
};

/// Where clients look for the gateway.
pub const DEFAULT_PORT: u16 = 8123;

#[derive(Clone, Debug)]
pub struct StartOptions {
    /// `None`: `$BENCHWARMERS_HOME`, else the platform's data folder.
    pub data_dir: Option<PathBuf>,
    /// `None`: 8123. When it is taken the next free one is used. 0: any.
    pub port: Option<u16>,
    /// `benchwarmers`, `bench serve`: what other processes are told.
    pub program: &'static str,
    /// The built window, served at `/ui/` for browsers.
    pub ui_dir: Option<PathBuf>,
}

/// Why nothing was started. Nothing was changed.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    #[error(
        "this system names no home folder: set BENCHWARMERS_HOME to the folder where the data shall live"
    )]
    NoHome,
    #[error(transparent)]
    Open(#[from] OpenError),
    #[error(transparent)]
    Serve(#[from] ServeError),
    #[error("the control token could not be written to the data folder: {0}")]
    Token(std::io::Error),
}

impl StartError {
    /// Another process owns the data folder: who it is, as far as is known.
    pub fn in_use(&self) -> Option<Option<&gateway::Owner>> {
        match self {
            StartError::Open(OpenError::InUse { owner, .. }) => Some(owner.as_ref()),
            _ => None,
        }
    }
}

/// A running gateway.
pub struct Host {
    pub control: Control,
    serving: Serving,
}

impl Host {
    /// Opens the data folder and listens. Call it inside the runtime that shall serve.
    pub async fn start(options: StartOptions) -> Result<Host, StartError> {
        let data_dir = options.data_dir.or_else(gateway::data_dir).ok_or(StartError::NoHome)?;
        let opened = Options { data_dir, program: options.program.to_owned(), clock: Clock::system() };
        let gateway = Gateway::open(opened).await?;
        let token = token::renew(gateway.data_dir()).map_err(StartError::Token)?;
        let wanted = options.port.unwrap_or(DEFAULT_PORT);
        let control = Control::new(gateway.clone(), wanted);
        let admin = router(control.clone(), &token, HttpOptions { ui_dir: options.ui_dir });
        let serving = gateway.serve(wanted, Some(admin)).await?;
        Ok(Host { control, serving })
    }

    /// `http://127.0.0.1:8123`: the real address.
    pub fn url(&self) -> String {
        self.serving.url()
    }

    pub fn port(&self) -> u16 {
        self.serving.address.port()
    }

    /// Stops accepting, lets streams finish for up to 10 s, flushes the records.
    pub async fn shutdown(self) {
        self.serving.shutdown().await;
    }
}
