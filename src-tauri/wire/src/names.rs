//! Names and ids that a member's API would reject, mapped so that they can be given back.

use std::collections::{BTreeMap, BTreeSet};

use crate::hash::fnv1a;

/// What a name may be.
#[derive(Clone, Copy, Debug)]
pub struct Charset {
    /// Whether a character may stand in it.
    pub allows: fn(char) -> bool,
    /// Whether it may stand first.
    pub allows_first: fn(char) -> bool,
    /// The most characters.
    pub longest: usize,
}

impl Charset {
    /// `^[a-zA-Z0-9_-]{1,64}$`: OpenAI's and Anthropic's.
    pub const WORD: Charset = Charset { allows: is_word, allows_first: is_word, longest: 64 };
    /// Anything but control characters, of any length.
    pub const ANY: Charset = Charset { allows: is_plain, allows_first: is_plain, longest: usize::MAX };

    pub fn fits(&self, name: &str) -> bool {
        let mut chars = name.chars();
        chars.next().is_some_and(self.allows_first)
            && name.chars().all(self.allows)
            && (self.longest == usize::MAX || name.chars().count() <= self.longest)
    }
}

fn is_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '_' | '-')
}

fn is_plain(c: char) -> bool {
    !c.is_control()
}

/// Names for one request and the way back.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Names {
    there: BTreeMap<String, String>,
    back: BTreeMap<String, String>,
    taken: BTreeSet<String>,
}

impl Names {
    /// Names that fit keep themselves; the others are given one that no name of the request has. The same names
    /// give the same map, in whatever order they come.
    pub fn new<'a>(names: impl IntoIterator<Item = &'a str>, charset: &Charset) -> Self {
        let names: BTreeSet<&str> = names.into_iter().collect();
        let mut map = Names::default();
        map.taken.extend(names.iter().filter(|name| charset.fits(name)).map(|name| (*name).to_owned()));
        for name in names.into_iter().filter(|name| !charset.fits(name)) {
            let mut mapped = shape(name, charset, 0);
            let mut salt = 0;
            while map.taken.contains(&mapped) {
                salt += 1;
                mapped = shape(name, charset, salt);
            }
            map.taken.insert(mapped.clone());
            map.back.insert(mapped.clone(), name.to_owned());
            map.there.insert(name.to_owned(), mapped);
        }
        map
    }

    /// The name as the member gets it.
    pub fn there<'a>(&'a self, name: &'a str) -> &'a str {
        self.there.get(name).map_or(name, String::as_str)
    }

    /// The name as the caller has it.
    pub fn back<'a>(&'a self, name: &'a str) -> &'a str {
        self.back.get(name).map_or(name, String::as_str)
    }
}

/// Disallowed characters become `_`, and a hash of the whole name tells it from its like.
fn shape(name: &str, charset: &Charset, salt: u32) -> String {
    let salt = if salt == 0 { String::new() } else { format!("\n{salt}") };
    let hash = format!("_{:08x}", fnv1a(&[name, &salt]) & 0xffff_ffff);
    let room = charset.longest.saturating_sub(hash.len());
    let mut kept: String =
        name.chars().map(|c| if (charset.allows)(c) { c } else { '_' }).take(room).collect();
    if !kept.chars().next().is_some_and(charset.allows_first) {
        kept.insert_str(0, "t_");
        kept.truncate(kept.char_indices().nth(room).map_or(kept.len(), |(at, _)| at));
    }
    kept + &hash
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_fit_stay_and_the_others_are_told_apart() {
        let names = Names::new(["a.b", "a_b", "a/b"], &Charset::WORD);
        assert_eq!(names.there("a_b"), "a_b");
        let mapped = [names.there("a.b"), names.there("a/b")];
        assert!(mapped.iter().all(|name| Charset::WORD.fits(name) && name.starts_with("a_b_")), "{mapped:?}");
        assert_ne!(mapped[0], mapped[1]);
        assert_eq!(names.back(names.there("a.b")), "a.b");
        assert_eq!(names.back("unknown"), "unknown");
    }

    #[test]
    fn a_name_of_90_characters_fits_and_comes_back() {
        let long = "x".repeat(90);
        let names = Names::new([long.as_str()], &Charset::WORD);
        assert_eq!(names.there(&long).len(), 64);
        assert_eq!(names.back(names.there(&long)), long);
    }

    #[test]
    fn a_taken_name_is_not_given_again() {
        let free = shape("a.b", &Charset::WORD, 0);
        let names = Names::new(["a.b", free.as_str()], &Charset::WORD);
        assert_ne!(names.there("a.b"), free);
        assert_eq!(names.there(&free), free);
        assert_eq!(names.back(&free), free);
    }

    #[test]
    fn a_first_character_may_be_ruled_out() {
        let charset = Charset { allows_first: |c| c.is_ascii_alphabetic(), ..Charset::WORD };
        let names = Names::new(["1a", "", &"9".repeat(80)], &charset);
        for name in ["1a", "", &"9".repeat(80)] {
            assert!(charset.fits(names.there(name)), "{}", names.there(name));
            assert_eq!(names.back(names.there(name)), name);
        }
    }

    proptest::proptest! {
        #[test]
        fn every_map_is_there_and_back(list in proptest::collection::vec("[a-c._/é]{0,70}", 0..8)) {
            let names = Names::new(list.iter().map(String::as_str), &Charset::WORD);
            let mapped: BTreeSet<&str> = list.iter().map(|name| names.there(name)).collect();
            let unique: BTreeSet<&str> = list.iter().map(String::as_str).collect();
            proptest::prop_assert_eq!(mapped.len(), unique.len());
            for name in &list {
                proptest::prop_assert!(Charset::WORD.fits(names.there(name)));
                proptest::prop_assert_eq!(names.back(names.there(name)), name);
            }
        }
    }
}
