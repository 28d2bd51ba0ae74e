use std::{
    cmp::Reverse,
    ops::Range,
    sync::{PoisonError, RwLock},
};

use secrecy::{ExposeSecret, SecretString};

use crate::{encoded::Encoded, gateway_key, hex::Hex};

/// What stands for a key.
pub const MASK: &str = "••••";
/// Shorter keys are words (`ollama`, `none`): they are masked only where they stand alone.
const SHORTEST_ANYWHERE: usize = 8;

/// Shorter keys may be what somebody made up, and what a text holds by chance.
const SHORTEST_TELLING: usize = 16;

/// How often a text may be spelled in another: JSON in JSON in a URL.
const DEEPEST: usize = 3;

/// Every key this process has known, old ones included: a provider may repeat one that was replaced.
#[derive(Default)]
pub(crate) struct Scrubber {
    known: RwLock<Vec<Known>>,
}

struct Known {
    key: SecretString,
    /// Nobody writes it but who has it.
    is_telling: bool,
    /// As base64 spells it; of a telling key only.
    encoded: Vec<Encoded>,
    /// In hexadecimal; of a telling key only.
    hex: Option<Hex>,
}

impl Scrubber {
    pub(crate) fn learn(&self, key: &SecretString) {
        let mut known = self.known.write().unwrap_or_else(PoisonError::into_inner);
        let is_known = |key: &str| known.iter().any(|known| known.key.expose_secret() == key);
        if !key.expose_secret().is_empty() && !is_known(key.expose_secret()) {
            let is_telling = is_telling(key.expose_secret());
            let encoded = if is_telling { Encoded::all(key.expose_secret()) } else { Vec::new() };
            let hex = is_telling.then(|| Hex::of(key.expose_secret()));
            known.push(Known { key: key.clone(), is_telling, encoded, hex });
        }
    }

    /// The text with every key masked, gateway keys too, however JSON, a URL, base64 or hexadecimal digits spell it.
    pub(crate) fn scrub(&self, text: &str) -> String {
        self.mask(text, |_| true).unwrap_or_else(|| text.to_owned())
    }

    /// The text with the keys masked that are in no text by chance, gateway keys too; `None` where it holds none.
    pub(crate) fn mask_telling(&self, text: &str) -> Option<String> {
        self.mask(text, |known| known.is_telling)
    }

    /// A known key that the text holds, and not by chance.
    pub(crate) fn telling_in(&self, text: &str) -> Option<SecretString> {
        let known = self.known.read().unwrap_or_else(PoisonError::into_inner);
        let mut telling = known.iter().filter(|known| known.is_telling);
        let is_in = |known: &Known| !places(text, |text, found| known.find(text, found)).is_empty();
        telling.find(|known| is_in(known)).map(|known| known.key.clone())
    }

    fn mask(&self, text: &str, which: fn(&Known) -> bool) -> Option<String> {
        let known = self.known.read().unwrap_or_else(PoisonError::into_inner);
        let places = places(text, |text, found| {
            known.iter().filter(|known| which(known)).for_each(|known| known.find(text, found));
            gateway_key::find(text, found);
        });
        masked(text, places)
    }
}

impl Known {
    /// Tells where it stands, as it is written.
    fn find(&self, text: &str, found: &mut dyn FnMut(Range<usize>)) {
        let key = self.key.expose_secret();
        // Hardly any text has one, and an answer may be long.
        if text.contains(key) {
            stands(text, key).for_each(&mut *found);
        }
        self.encoded.iter().flat_map(|encoded| encoded.places(text)).for_each(&mut *found);
        self.hex.iter().flat_map(|hex| hex.places(text)).for_each(&mut *found);
    }
}

/// A key as providers make them: long, with digits or with letters of both cases. `sk-no-key-required` is none.
fn is_telling(key: &str) -> bool {
    let has = |is: fn(&u8) -> bool| key.bytes().any(|byte| is(&byte));
    let is_mixed = has(u8::is_ascii_digit) || (has(u8::is_ascii_lowercase) && has(u8::is_ascii_uppercase));
    key.len() >= SHORTEST_TELLING && is_mixed
}

/// Where keys stand in a text, by `find`, which tells where they are as they are written: also as JSON and URLs spell them.
pub(crate) fn places(text: &str, find: impl Fn(&str, &mut dyn FnMut(Range<usize>))) -> Vec<Range<usize>> {
    let mut places = Vec::new();
    find(text, &mut |it| places.push(it));
    let mut spelled = read(text, |at| at);
    for _ in 0..DEEPEST {
        let Some(Read { text, at }) = spelled else { break };
        find(&text, &mut |it| places.push(at[it.start]..at[it.end]));
        spelled = read(&text, |place| at[place]);
    }
    places
}

/// Where a key stands: anywhere, or where it is short, alone.
fn stands<'a>(text: &'a str, key: &'a str) -> impl Iterator<Item = Range<usize>> + 'a {
    text.match_indices(key).map(|(at, key)| at..at + key.len()).filter(move |place| {
        let before = text[..place.start].chars().next_back();
        let after = text[place.end..].chars().next();
        place.len() >= SHORTEST_ANYWHERE || !(before.is_some_and(is_word) || after.is_some_and(is_word))
    })
}

/// A text as whoever reads it has it.
struct Read {
    text: String,
    /// Where each byte of it begins in the text that was sent, and the end.
    at: Vec<usize>,
}

/// Reads the escapes of JSON and of URLs; `None` where there are none. Only what a key may hold is read: the rest stays
/// as it is.
fn read(text: &str, origin: impl Fn(usize) -> usize) -> Option<Read> {
    if !text.contains('\\') && !text.contains('%') {
        return None;
    }
    let mut read = Read { text: String::with_capacity(text.len()), at: Vec::with_capacity(text.len() + 1) };
    let (mut rest, mut has_read) = (text, false);
    while let Some(c) = rest.chars().next() {
        let (c, length) = match escaped(rest.as_bytes()) {
            Some((byte, length)) => {
                has_read = true;
                (char::from(byte), length)
            }
            None => (c, c.len_utf8()),
        };
        let place = text.len() - rest.len();
        read.at.extend((0..c.len_utf8()).map(|byte| origin(place + byte)));
        read.text.push(c);
        rest = &rest[length..];
    }
    read.at.push(origin(text.len()));
    has_read.then_some(read)
}

/// The printable ASCII that an escape stands for, and the escape's length.
fn escaped(text: &[u8]) -> Option<(u8, usize)> {
    let hex = |digits: &[u8]| {
        let code =
            digits.iter().try_fold(0, |code, digit| Some(code * 16 + char::from(*digit).to_digit(16)?));
        u8::try_from(code?).ok().filter(|byte| (b' '..=b'~').contains(byte))
    };
    match text {
        [b'\\', b'u', digits @ ..] => Some((hex(digits.get(..4)?)?, 6)),
        [b'\\', c @ (b'"' | b'\\' | b'/'), ..] => Some((*c, 2)),
        [b'%', digits @ ..] => Some((hex(digits.get(..2)?)?, 3)),
        _ => None,
    }
}

/// The text with these places masked; those that overlap are one. `None` where there are none.
pub(crate) fn masked(text: &str, mut places: Vec<Range<usize>>) -> Option<String> {
    if places.is_empty() {
        return None;
    }
    places.sort_by_key(|place| (place.start, Reverse(place.end)));
    let mut masked = String::with_capacity(text.len());
    let (mut at, mut end) = (0, 0);
    for place in places {
        if place.start >= end {
            masked.push_str(&text[at..place.start]);
            masked.push_str(MASK);
        }
        end = end.max(place.end);
        at = end;
    }
    masked.push_str(&text[at..]);
    Some(masked)
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scrub(keys: &[&str], text: &str) -> String {
        let scrubber = Scrubber::default();
        keys.iter().for_each(|key| scrubber.learn(&SecretString::from(*key)));
        scrubber.scrub(text)
    }

    #[test]
    fn every_known_key_is_masked() {
        let cases: &[(&[&str], &str, &str)] = &[
            (&[], "nothing known", "nothing known"),
            (&["sk-12345678"], "no key here", "no key here"),
            (&["sk-12345678"], "key sk-12345678 refused", "key •••• refused"),
            (&["sk-12345678"], "xsk-12345678y sk-12345678", "x••••y ••••"),
            (&["sk-12345678", "gsk_87654321"], "gsk_87654321,sk-12345678", "••••,••••"),
            (&["sk-12345678", "sk-12345678-long"], "sk-12345678-long sk-12345678", "•••• ••••"),
            (&["ab/cd+ef=12"], "?key=ab%2Fcd%2Bef%3D12&x", "?key=••••&x"),
            (&["quote\"back\\slash"], r#"{"key": "quote\"back\\slash"}"#, r#"{"key": "••••"}"#),
            (&["ab/cd+ef=12"], "?key=ab%2fcd%2bef%3d12&x", "?key=••••&x"),
            (&["ab/cd+ef=12"], r#"{"say": "ab\/cd+ef=12"}"#, r#"{"say": "••••"}"#),
            (&["sk-12345678"], r"\u0073k-1234\u0035678 \u00e9", r"•••• \u00e9"),
            // JSON in JSON, and that in a URL.
            (&["sk/12345678"], r#""{\"a\": \"\\u0073k\\\/12345678\"}""#, r#""{\"a\": \"••••\"}""#),
            (&["sk/12345678"], "%5Cu0073k%5C%2F12345678.", "••••."),
            (&["a\\u0062-1234567"], r"a\u0062-1234567 a\\u0062-1234567", "•••• ••••"),
            (&["ab%41-1234"], "ab%41-1234 ab%2541-1234", "•••• ••••"),
            (&["sk-12345678"], r"\ud83d\ude00 \u00 \ % %4 é\", r"\ud83d\ude00 \u00 \ % %4 é\"),
            (&["none"], r#"\"none\" \u006eonesuch"#, r#"\"••••\" \u006eonesuch"#),
            (
                &["ollama"],
                "ollama: key 'ollama' of ollama2 and myollama",
                "••••: key '••••' of ollama2 and myollama",
            ),
            (&["x"], "x xx x", "•••• xx ••••"),
            (&["aa"], "aaaa aa", "aaaa ••••"),
            (&["sk-12345678"], "über sk-12345678 ✓", "über •••• ✓"),
        ];
        for (keys, text, wanted) in cases {
            assert_eq!(scrub(keys, text), *wanted, "{keys:?}");
        }
    }

    #[test]
    fn a_key_in_base64_is_masked_however_it_falls() {
        let key = "sk-12345678abcdefgh";
        for (text, wanted) in [
            ("Basic c2stMTIzNDU2NzhhYmNkZWZnaA==.", "Basic ••••==."),
            // `u:`, `us:` and `use:` before it.
            ("Basic dTpzay0xMjM0NTY3OGFiY2RlZmdo", "Basic dT••••"),
            ("dXM6c2stMTIzNDU2NzhhYmNkZWZnaA==", "dXM6••••=="),
            ("dXNlOnNrLTEyMzQ1Njc4YWJjZGVmZ2g=", "dXNlO••••="),
            (r#"{"a":"c2stMTIzNDU2NzhhYmNkZWZnaA\u003d="}"#, r#"{"a":"••••\u003d="}"#),
            ("%63%32stMTIzNDU2NzhhYmNkZWZnaA%3D%3D", "••••%3D%3D"),
        ] {
            assert_eq!(scrub(&[key], text), wanted);
        }
        // Of what may be a word nothing is looked for.
        assert_eq!(scrub(&["ollama"], "b2xsYW1h"), "b2xsYW1h");
    }

    #[test]
    fn a_key_in_hexadecimal_is_masked_in_either_case() {
        let key = "sk-12345678abcdefgh/~";
        for (text, wanted) in [
            ("key 736b2d313233343536373861626364656667682f7e.", "key ••••."),
            ("0x736B2D313233343536373861626364656667682F7E", "0x••••"),
            // Among others, and as a URL and JSON spell it.
            ("00736b2d313233343536373861626364656667682f7eff", "00••••ff"),
            ("%373%36b2d313233343536373861626364656667682f7e", "••••"),
            (r#"{"a":"736\u00422D313233343536373861626364656667682F7E"}"#, r#"{"a":"••••"}"#),
            ("736b2d3132333435363738616263646566", "736b2d3132333435363738616263646566"),
        ] {
            assert_eq!(scrub(&[key], text), wanted);
        }
        // Of what may be a word nothing is looked for.
        assert_eq!(scrub(&["ollama"], "6f6c6c616d61"), "6f6c6c616d61");
    }

    #[test]
    fn what_a_text_holds_by_chance_does_not_tell() {
        for (key, tells) in [
            ("sk-fake-7Qm2vXb9TzLr4NcW8yKd", true),
            ("0123456789abcdef", true),
            ("AbCdEfGhIjKlMnOp", true),
            ("ollama", false),
            ("lm-studio", false),
            ("sk-1234567890", false),
            ("sk-no-key-required", false),
            ("this-key-is-not-needed-here", false),
        ] {
            let scrubber = Scrubber::default();
            scrubber.learn(&SecretString::from(key));
            let text = format!("https://example.com/{key}/v1");
            let masked = tells.then(|| "https://example.com/••••/v1".to_owned());
            assert_eq!(scrubber.mask_telling(&text), masked, "{key}");
            let found = scrubber.telling_in(&text);
            assert_eq!(found.as_ref().map(ExposeSecret::expose_secret), tells.then_some(key));
            assert_eq!(scrubber.mask_telling("https://example.com/v1"), None);
        }
    }

    #[test]
    fn an_empty_key_masks_nothing() {
        assert_eq!(scrub(&[""], "text"), "text");
    }
}
