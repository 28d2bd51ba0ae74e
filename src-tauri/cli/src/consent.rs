//! Asking before something is lost, and asking for secrets.

use std::io::{self, BufRead, IsTerminal, Write};

use crate::args::Common;
use crate::failure::Failure;
use crate::prompt::standard_input;

/// Goes on only when the person says yes, here or with `--yes`. Without a terminal there is nobody to ask.
pub fn consent(common: &Common, question: &str) -> Result<(), Failure> {
    if common.yes {
        return Ok(());
    }
    if !(io::stdin().is_terminal() && io::stderr().is_terminal()) {
        return Err(Failure::refused(format!("{question} Say so with --yes")));
    }
    write!(io::stderr().lock(), "{question} [y/N] ")?;
    io::stderr().lock().flush()?;
    let mut answer = String::new();
    io::stdin().lock().read_line(&mut answer)?;
    match answer.trim().to_ascii_lowercase().as_str() {
        "y" | "yes" => Ok(()),
        _ => Err(Failure::refused("nothing was changed")),
    }
}

/// A secret typed unseen, or piped in (`from_stdin`); `otherwise` is the way out where neither is possible.
pub fn secret(from_stdin: bool, question: &str, otherwise: &str) -> Result<String, Failure> {
    let text = if from_stdin {
        standard_input()?
    } else if io::stdin().is_terminal() {
        rpassword::prompt_password(question)
            .map_err(|error| Failure::refused(format!("what was typed cannot be read: {error}")))?
    } else {
        return Err(Failure::Usage(format!("there is no terminal to type at; use {otherwise}")));
    };
    match text.trim_matches(['\r', '\n']) {
        "" => Err(Failure::Usage("nothing was typed".to_owned())),
        secret => Ok(secret.to_owned()),
    }
}

/// A secret typed unseen in the middle of a command, whose standard input may be its prompt or a key. `None`
/// when there is nobody to type.
pub fn typed(question: &str) -> Option<String> {
    if !io::stdin().is_terminal() && !io::stderr().is_terminal() {
        return None;
    }
    rpassword::prompt_password(question).ok()
}
