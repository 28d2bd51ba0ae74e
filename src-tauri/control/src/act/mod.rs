//! What each command does: it reads its arguments, asks the gateway, and words the outcome.

mod collections;
mod conversations;
mod endpoints;
mod first_run;
mod keys;
mod lifecycle;
mod limits;
mod models;
mod onboarding;
mod panels;
mod setup;
mod status;

use gateway::{ChangeError, Unfit};
use secrecy::SecretString;

use crate::ControlError;

/// Who changes the set-up, for the audit log.
const ACTOR: &str = "owner";

/// A change that was refused says why; one that could not be saved is the disk's fault.
fn refused(error: ChangeError<ControlError>) -> ControlError {
    match error {
        ChangeError::Refused(error) => error,
        ChangeError::Unfit(unfit) => unfitting(&unfit),
        ChangeError::NotSaved(_) => ControlError::internal(error.to_string()),
    }
}

/// What a change may never do, whoever makes it.
fn unfitting(unfit: &Unfit) -> ControlError {
    let message = unfit.to_string();
    match unfit {
        Unfit::HoldsKey { field, .. } | Unfit::Masked { field, .. } | Unfit::Option { field, .. } => {
            ControlError::bad_input(field, message)
        }
        Unfit::NameGivenUp(_) | Unfit::NameOfAnother { .. } | Unfit::UnderWay { .. } => {
            ControlError::conflict(message)
        }
    }
}

fn records(error: impl std::fmt::Display) -> ControlError {
    ControlError::internal(format!("The records could not be read: {error}"))
}

/// Reads from the records, off the runtime's threads.
async fn reading<T: Send + 'static, E: std::fmt::Display + Send + 'static>(
    read: impl FnOnce() -> Result<T, E> + Send + 'static,
) -> Result<T, ControlError> {
    match tokio::task::spawn_blocking(read).await {
        Ok(read) => read.map_err(records),
        Err(_) => Err(ControlError::internal("The records could not be read.")),
    }
}

/// The most a page holds.
const PAGE: u32 = 100;

/// A page of at most `limit`: one more than asked for tells whether there are more.
async fn page<T: Send + 'static, E: std::fmt::Display + Send + 'static>(
    limit: u32,
    read: impl FnOnce(u32) -> Result<Vec<T>, E> + Send + 'static,
) -> Result<(Vec<T>, bool), ControlError> {
    let limit = limit.clamp(1, PAGE);
    let mut items = reading(move || read(limit + 1)).await?;
    let more = items.len() > limit as usize;
    items.truncate(limit as usize);
    Ok((items, more))
}

fn secret(text: String) -> SecretString {
    SecretString::from(text)
}
