//! Why a command did not do what was asked: one sentence and an exit code.

use std::fmt::Display;
use std::io;

use control::{Code, ControlError, RemoteError};
use serde_json::json;

#[derive(Debug)]
pub enum Failure {
    /// The gateway refused, or the work could not be done.
    Refused(ControlError),
    /// It was asked wrongly.
    Usage(String),
    /// Nobody serves.
    NoServer(String),
    /// It was done, and the outcome is no; everything has been said.
    Said,
    /// Ctrl-C; everything has been said.
    Interrupted,
    /// Standard output could not be written to.
    Output(io::Error),
}

impl Failure {
    pub fn refused(message: impl Display) -> Failure {
        Failure::Refused(ControlError::internal(message.to_string()))
    }

    pub fn exit(&self) -> u8 {
        match self {
            // The reader has seen what it wanted (`| head`).
            Failure::Output(error) if error.kind() == io::ErrorKind::BrokenPipe => 0,
            Failure::Refused(_) | Failure::Said | Failure::Output(_) => 1,
            Failure::Usage(_) => 2,
            Failure::NoServer(_) => 3,
            Failure::Interrupted => 130,
        }
    }

    /// One sentence, unless everything has been said.
    pub fn message(&self) -> Option<String> {
        match self {
            Failure::Refused(error) => Some(match &error.field {
                // The gateway's sentence leaves out what it is about where a form shows that.
                Some(field) if !names(&error.message, field) => format!("{field}: {}", error.message),
                _ => error.message.clone(),
            }),
            Failure::Usage(message) | Failure::NoServer(message) => Some(message.clone()),
            Failure::Output(error) if error.kind() == io::ErrorKind::BrokenPipe => None,
            Failure::Output(error) => Some(format!("standard output cannot be written to: {error}")),
            Failure::Said | Failure::Interrupted => None,
        }
    }

    /// `{"error": {code, message, field}}`
    pub fn json(&self) -> Option<serde_json::Value> {
        let error = match self {
            Failure::Refused(error) => json!(error),
            Failure::Usage(message) => json!({ "code": "usage", "message": message, "field": null }),
            Failure::NoServer(message) => json!({ "code": "no_server", "message": message, "field": null }),
            Failure::Output(_) | Failure::Said | Failure::Interrupted => return None,
        };
        Some(json!({ "error": error }))
    }
}

impl From<RemoteError> for Failure {
    fn from(error: RemoteError) -> Failure {
        match error {
            RemoteError::Refused(error) => Failure::Refused(with_way_out(error)),
            RemoteError::NoServer { .. } => Failure::NoServer(error.to_string()),
            RemoteError::Address { .. } => Failure::Usage(error.to_string()),
            RemoteError::Unexpected { .. } | RemoteError::Token { .. } => Failure::refused(error),
        }
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Failure {
        Failure::Output(error)
    }
}

/// Whether a sentence says which field it is about, at its beginning or after the item that has it.
fn names(message: &str, field: &str) -> bool {
    message.starts_with(field) || message.contains(&format!(": {field}: "))
}

/// The gateway does not know what a command line can do about it.
fn with_way_out(error: ControlError) -> ControlError {
    let way = match error.code {
        Code::NoKeychain => "use --key-env VARIABLE, or make the encrypted file with bench vault",
        Code::VaultLocked => "that is bench vault",
        Code::TestFailed => "it was not saved, which --force does all the same",
        Code::PlainHttp => "here that is --allow-plain-http",
        _ => return error,
    };
    ControlError { message: format!("{}; {way}", error.message.trim_end_matches('.')), ..error }
}

#[cfg(test)]
mod tests {
    use control::ControlError;

    use super::Failure;

    #[test]
    fn a_sentence_has_a_subject() {
        let refused = |field, message: &str| Failure::Refused(ControlError::bad_input(field, message));
        let cases = [
            (refused("models[0].alias", "1 to 64 letters"), "models[0].alias: 1 to 64 letters"),
            (refused("base", "base: no host"), "base: no host"),
            (
                refused("options.seed", "model fast: options.seed: a whole number"),
                "model fast: options.seed: a whole number",
            ),
            (refused("to", "model fast: alias: taken"), "to: model fast: alias: taken"),
            (Failure::refused("no luck"), "no luck"),
        ];
        for (failure, wanted) in cases {
            assert_eq!(failure.message().as_deref(), Some(wanted));
        }
    }
}
