//! The control API, declared once ([`commands`]), over Tauri IPC and HTTP. It delegates; it decides nothing.
//!
//! [`Control::call`] is the whole API in the gateway's process; [`http`] serves it to other processes, and
//! [`Remote`] is their half.

mod sheet;
#[macro_use]
mod table;
mod act;
mod api;
mod commands;
mod control;
pub mod dto;
mod error;
mod host;
pub mod http;
mod remote;
mod token;
mod typescript;

pub use commands::{COMMANDS, typescript};
pub use control::Control;
pub use error::{Code, ControlError};
// What the shell needs of the gateway, so that it knows this crate only.
pub use gateway::{data_dir, view};
pub use host::{DEFAULT_PORT, Host, StartError, StartOptions};
pub use remote::{Remote, RemoteError, RemoteEvents};
pub use table::CommandInfo;
