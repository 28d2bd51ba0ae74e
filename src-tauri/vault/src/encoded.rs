//! How a key stands in a text that was encoded in base64, whatever was before and behind it: `Authorization: Basic …`.

use std::ops::Range;

use base64::{Engine, prelude::BASE64_STANDARD_NO_PAD};
use memchr::memmem::Finder;

/// One way in which the key's bytes fall into groups of three.
pub(crate) struct Encoded {
    /// The characters that hold bits of the key alone.
    inner: Finder<'static>,
    /// Whether the character before, or behind, holds some of its bits too.
    before: bool,
    after: bool,
}

impl Encoded {
    /// Every way, in both alphabets.
    pub(crate) fn all(key: &str) -> Vec<Encoded> {
        let mut all = Vec::new();
        for ahead in 0..3 {
            let mut bytes = vec![0; ahead];
            bytes.extend_from_slice(key.as_bytes());
            let encoded = BASE64_STANDARD_NO_PAD.encode(&bytes);
            let (first, end) = ((ahead * 8).div_ceil(6), bytes.len() * 8 / 6);
            let inner = &encoded[first..end];
            let in_urls = inner.replace('+', "-").replace('/', "_");
            let one = |text: &str| Encoded {
                inner: Finder::new(text).into_owned(),
                before: ahead > 0,
                after: end < encoded.len(),
            };
            all.push(one(inner));
            if in_urls != inner {
                all.push(one(&in_urls));
            }
        }
        all
    }

    /// Where it stands in a text.
    pub(crate) fn places<'a>(&'a self, text: &'a str) -> impl Iterator<Item = Range<usize>> + 'a {
        let bytes = text.as_bytes();
        let holds = |at: Option<usize>| {
            at.and_then(|at| bytes.get(at))
                .is_some_and(|byte| byte.is_ascii_alphanumeric() || b"+/-_".contains(byte))
        };
        self.inner.find_iter(bytes).map(move |at| {
            let end = at + self.inner.needle().len();
            let start = if self.before && holds(at.checked_sub(1)) { at - 1 } else { at };
            start..if self.after && holds(Some(end)) { end + 1 } else { end }
        })
    }
}

#[cfg(test)]
mod tests {
    use base64::prelude::BASE64_URL_SAFE;

    use super::*;

    #[test]
    fn it_is_found_whatever_stands_around_it() {
        for key in ["sk-12345678abcdefgh", "sk-1234567>?abcdefghi", "AIza~~~~????0123456789abcd"] {
            let all = Encoded::all(key);
            for before in ["", "u", "u:", "us:", "name:"] {
                for after in ["", "a", "ab", "abc"] {
                    let text = format!("{before}{key}{after}");
                    for encoded in [
                        BASE64_STANDARD_NO_PAD.encode(&text),
                        base64::prelude::BASE64_STANDARD.encode(&text),
                        BASE64_URL_SAFE.encode(&text),
                    ] {
                        let said = format!("Basic {encoded} ");
                        let places: Vec<_> = all.iter().flat_map(|one| one.places(&said)).collect();
                        let [place] = &places[..] else { panic!("{text}: {places:?}") };
                        // What is left tells of what was around it.
                        let left = encoded.len() - place.len();
                        let around = (before.len() * 8).div_ceil(6) + (after.len() * 8).div_ceil(6);
                        assert!(left <= around + 2, "{text}: {left} of {encoded}");
                        assert!(place.start >= 6 && place.end < said.len());
                    }
                }
            }
            assert!(all.iter().all(|one| one.places(key).next().is_none()));
        }
    }
}
