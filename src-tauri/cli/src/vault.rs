//! The encrypted key file, for a machine without a keychain: `bench vault`, and its passphrase in the middle
//! of another command.

use control::dto::{EndpointView, KeySource, KeyStoreKind, Nothing, Passphrase};
use control::{Code, ControlError};

use crate::args::Vault;
use crate::consent::{secret, typed};
use crate::failure::Failure;
use crate::out::Out;
use crate::reach::Reached;

/// How the file is opened where nobody can be asked.
const OTHERWISE: &str =
    "start bench serve and unlock it there with bench vault, or set BENCHWARMERS_VAULT_PASSPHRASE";

/// Makes the file with a new passphrase, or unlocks it until the gateway ends.
pub async fn vault(at: &Reached, args: &Vault, out: Out) -> Result<(), Failure> {
    let is_new = at.remote.status(Nothing {}).await?.keys.kind != KeyStoreKind::VaultLocked;
    let ask = |question| secret(args.passphrase_stdin, question, "--passphrase-stdin");
    let passphrase = ask(if is_new { "New passphrase: " } else { "Passphrase: " })?;
    // A slip in a new passphrase would be found out only when the keys are gone.
    if is_new && !args.passphrase_stdin && ask("The same again: ")? != passphrase {
        return Err(Failure::Usage("the two passphrases differ; nothing was changed".to_owned()));
    }
    let keys = at.remote.open_vault_file(Passphrase { passphrase }).await?;
    if out.json {
        out.json(&keys)?;
    } else {
        out.line(&keys.message)?;
    }
    if at.is_own() {
        out.note(&format!(
            "bench: no gateway is running, so it is locked again now: commands that need a key ask for the \
             passphrase. To keep it open, {OTHERWISE}"
        ));
    }
    Ok(())
}

/// What a command wants of the keys.
#[derive(Clone, Copy, Debug)]
pub enum Use<'a> {
    /// To keep one or take one away.
    Store,
    /// To call these endpoints, as far as they have keys.
    Call(&'a [String]),
}

/// Opens the locked file for a command that opened the gateway itself: nobody else could have unlocked it.
/// With nobody to ask, a key cannot be stored, and calls go out without the keys that are in the file.
pub async fn unlock(at: &Reached, wanted: Use<'_>, out: Out) -> Result<(), Failure> {
    if !at.is_own() {
        return Ok(());
    }
    let keys = at.remote.status(Nothing {}).await?.keys;
    if keys.kind != KeyStoreKind::VaultLocked || !concerns(at, wanted).await? {
        return Ok(());
    }
    let question = match wanted {
        Use::Store => "Passphrase of the key file: ",
        Use::Call(_) => "Passphrase of the key file (Enter goes on without its keys): ",
    };
    let locked = format!("{}; {OTHERWISE}", keys.message.trim_end_matches('.'));
    match (typed(question).as_deref(), wanted) {
        (None | Some(""), Use::Store) => Err(Failure::Refused(ControlError::new(Code::VaultLocked, locked))),
        (None, Use::Call(_)) => {
            out.note(&format!("bench: {locked}"));
            Ok(())
        }
        (Some(""), Use::Call(_)) => Ok(()),
        (Some(passphrase), _) => {
            at.remote.open_vault_file(Passphrase { passphrase: passphrase.to_owned() }).await?;
            Ok(())
        }
    }
}

/// Whether a key in the file could matter: the environment goes before it, and practice needs none.
async fn concerns(at: &Reached, wanted: Use<'_>) -> Result<bool, Failure> {
    let Use::Call(names) = wanted else { return Ok(true) };
    let may_be_kept = |endpoint: &EndpointView| {
        names.contains(&endpoint.name) && !endpoint.practice && endpoint.key.source == KeySource::None
    };
    Ok(at.remote.setup(Nothing {}).await?.endpoints.iter().any(may_be_kept))
}
