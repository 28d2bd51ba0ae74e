//! The shared harness: a scripted upstream, the real `bench` process, an HTTP client that shows everything.
//!
//! A test says what each model does ([`upstream`]), starts the gateway on it ([`scenario`]) and talks to it over
//! HTTP ([`http`]) or through the command line ([`process`]). Nothing here sleeps to be on the safe side: scripts
//! wait for a [`Gate`], readers wait for what they read, and everything gives up after [`PATIENCE`] with the
//! gateway's log.
#![expect(
    clippy::expect_used,
    clippy::panic,
    clippy::print_stderr,
    reason = "a harness fails its test by panicking"
)]

pub mod gate;
pub mod http;
pub mod process;
pub mod scenario;
pub mod sse;
pub mod upstream;
pub mod wait;

pub use gate::Gate;
pub use process::{Bench, Gateway, Home};
pub use scenario::{Lab, Scenario, panel_of};
pub use upstream::{Reply, Upstream};
pub use wait::{PATIENCE, eventually, within};
