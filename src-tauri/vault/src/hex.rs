//! How a key stands in a text that was written in hexadecimal, in either case.

use std::ops::Range;

use memchr::memmem::Finder;

/// A key's bytes as digits.
pub(crate) struct Hex {
    lower: Finder<'static>,
    upper: Finder<'static>,
}

impl Hex {
    pub(crate) fn of(key: &str) -> Hex {
        let written = |digits: &[u8; 16]| {
            let digit = |half: u8| char::from(digits[usize::from(half)]);
            let text: String = key.bytes().flat_map(|byte| [digit(byte >> 4), digit(byte & 15)]).collect();
            Finder::new(&text).into_owned()
        };
        Hex { lower: written(b"0123456789abcdef"), upper: written(b"0123456789ABCDEF") }
    }

    /// Where it stands in a text.
    pub(crate) fn places<'a>(&'a self, text: &'a str) -> impl Iterator<Item = Range<usize>> + 'a {
        [&self.lower, &self.upper].into_iter().flat_map(move |written| {
            let length = written.needle().len();
            written.find_iter(text.as_bytes()).map(move |at| at..at + length)
        })
    }
}
