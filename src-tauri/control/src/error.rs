use serde::{Deserialize, Serialize};
use ts_rs::TS;

/// What a command answers when it refuses.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS, thiserror::Error)]
#[error("{message}")]
pub struct ControlError {
    pub code: Code,
    /// One sentence, with the way out.
    pub message: String,
    /// The field of the arguments, when one is at fault: `name`, `members[2]`.
    pub field: Option<String>,
    /// What is likely right in its place.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub suggestion: Option<String>,
}

/// Codes exist only where the window or the command line branches on them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum Code {
    /// What was sent is wrong; `field` says where.
    BadInput,
    NotFound,
    /// It would break something else (a member in use, a name taken).
    Conflict,
    /// There is no keychain and no vault file: offer the file.
    NoKeychain,
    /// The vault file waits for its passphrase.
    VaultLocked,
    /// Plain http to another machine: ask for consent.
    PlainHttp,
    /// The endpoint does not answer as it should and was not saved: it can be, all the same.
    TestFailed,
    /// Over HTTP only: no control token, a stale one, or a web page that may not ask.
    Denied,
    Internal,
}

impl ControlError {
    /// An error about no field in particular.
    pub fn new(code: Code, message: impl Into<String>) -> ControlError {
        ControlError { code, message: message.into(), field: None, suggestion: None }
    }

    /// What was sent is wrong at `field`.
    pub fn bad_input(field: impl Into<String>, message: impl Into<String>) -> ControlError {
        ControlError { field: Some(field.into()), ..ControlError::new(Code::BadInput, message) }
    }

    pub fn not_found(message: impl Into<String>) -> ControlError {
        ControlError::new(Code::NotFound, message)
    }

    pub fn conflict(message: impl Into<String>) -> ControlError {
        ControlError::new(Code::Conflict, message)
    }

    pub fn internal(message: impl Into<String>) -> ControlError {
        ControlError::new(Code::Internal, message)
    }
}
