//! The control token: new at each start, readable only by the data folder's owner.

use std::{io, path::Path};

/// Its file in the data folder.
pub(crate) const FILE: &str = "control.token";

/// Makes a new token and writes it down: 64 hex digits.
pub(crate) fn renew(data_dir: &Path) -> io::Result<String> {
    let mut bytes = [0; 32];
    getrandom::fill(&mut bytes).map_err(io::Error::other)?;
    let token: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    gateway::write_private(&data_dir.join(FILE), token.as_bytes())?;
    Ok(token)
}
