//! What an item of reasoning holds in `encrypted_content`: a ciphertext, or another dialect's signature of the
//! text beside it, which is marked so that it comes back as one.

use crate::model::Seal;

const SIGNATURE: &str = "bws.";

pub(super) enum Sealed {
    Signature(Seal),
    Redacted(Seal),
}

/// As the caller gives it back.
pub(super) fn from_caller(text: &str) -> Sealed {
    match text.strip_prefix(SIGNATURE) {
        Some(signature) => Sealed::Signature(Seal::from_caller(signature)),
        None => Sealed::Redacted(Seal::from_caller(text)),
    }
}

/// A signature as the caller is given it.
pub(super) fn signature(seal: &Seal) -> String {
    format!("{SIGNATURE}{}", seal.to_caller())
}
