//! Signatures as Gemini's clients hold them: `thoughtSignature` is bytes, so whatever stands in it must be base64,
//! our mark and other vendors' signatures too.

use crate::{
    media::decode,
    model::{Content, Seal},
    seal::SKIP,
};

/// Before a text that is no base64 of itself.
const PLAIN: &str = "bw0.";

/// Before reasoning that has no words: its id, a line's end, its seal.
const REDACTED: &str = "bwr.";

const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// As the caller is given it.
pub(super) fn to_caller(seal: &Seal) -> String {
    if seal.origin.is_some() {
        return encode(seal.to_caller().as_bytes());
    }
    match decode(&seal.data) {
        Some(_) => seal.data.clone(),
        None => encode(format!("{PLAIN}{}", seal.data).as_bytes()),
    }
}

/// As the caller gives it back; `None` when it says that there is none.
pub(super) fn from_caller(text: &str) -> Option<Seal> {
    if text.is_empty() || text == SKIP {
        return None;
    }
    let inner = decode(text).and_then(|bytes| String::from_utf8(bytes).ok());
    if let Some(inner) = inner {
        if let Some(plain) = inner.strip_prefix(PLAIN) {
            return Some(Seal::new(plain));
        }
        let marked = Seal::from_caller(&inner);
        if marked.origin.is_some() {
            return Some(marked);
        }
    }
    Some(Seal::from_caller(text))
}

/// A whole block of reasoning without words, as the signature of an empty thought.
pub(super) fn redacted_to_caller(seal: &Seal, id: Option<&str>) -> String {
    encode(format!("{REDACTED}{}\n{}", id.unwrap_or_default(), seal.to_caller()).as_bytes())
}

/// `None` for a plain signature.
pub(super) fn redacted_from_caller(text: &str) -> Option<Content> {
    let inner = String::from_utf8(decode(text)?).ok()?;
    let (id, seal) = inner.strip_prefix(REDACTED)?.split_once('\n')?;
    let id = Some(id.to_owned()).filter(|id| !id.is_empty());
    Some(Content::Redacted { seal: Seal::from_caller(seal), id })
}

fn encode(bytes: &[u8]) -> String {
    let mut out = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for chunk in bytes.chunks(3) {
        let at = |index: usize| u32::from(chunk.get(index).copied().unwrap_or(0));
        let bits = at(0) << 16 | at(1) << 8 | at(2);
        for digit in 0..4 {
            if digit <= chunk.len() {
                out.push(char::from(DIGITS[(bits >> (18 - 6 * digit) & 63) as usize]));
            } else {
                out.push('=');
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Member;

    #[test]
    fn a_seal_is_base64_and_comes_back() {
        for data in ["CiQB0e2Kb/+w==", "sig-1.x", "a", ""] {
            let seal = Seal { data: data.to_owned(), origin: Some(Member(7)) };
            let told = to_caller(&seal);
            assert!(decode(&told).is_some(), "{told}");
            assert_eq!(from_caller(&told), Some(seal.clone()));
            let url_safe = told.replace('+', "-").replace('/', "_");
            assert_eq!(from_caller(&url_safe), Some(seal));
        }
        let plain = Seal::new("no base64 at all");
        assert_eq!(from_caller(&to_caller(&plain)), Some(plain));
        let own = Seal::new("CiQB0e2Kb/+w");
        assert_eq!(to_caller(&own), "CiQB0e2Kb/+w");
        assert_eq!(from_caller("CiQB0e2Kb/+w"), Some(own));
        assert_eq!(from_caller(SKIP), None);
    }
}
