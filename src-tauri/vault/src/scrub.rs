use std::sync::{PoisonError, RwLock};

use secrecy::{ExposeSecret, SecretString};

const MASK: &str = "••••";
/// Shorter keys are words (`ollama`, `none`): they are masked only where they stand alone.
const SHORTEST_ANYWHERE: usize = 8;

/// Every key this process has known, old ones included: a provider may repeat one that was replaced.
#[derive(Default)]
pub(crate) struct Scrubber {
    /// The longest first, so that a key inside another leaves no rest.
    known: RwLock<Vec<SecretString>>,
}

impl Scrubber {
    pub(crate) fn learn(&self, key: &SecretString) {
        for spelling in spellings(key) {
            let mut known = self.known.write().unwrap_or_else(PoisonError::into_inner);
            if !known.iter().any(|known| known.expose_secret() == spelling.expose_secret()) {
                let length = spelling.expose_secret().len();
                let at = known.partition_point(|known| known.expose_secret().len() >= length);
                known.insert(at, spelling);
            }
        }
    }

    pub(crate) fn scrub(&self, text: &str) -> String {
        let known = self.known.read().unwrap_or_else(PoisonError::into_inner);
        let mut text = text.to_owned();
        for key in known.iter() {
            text = mask(text, key.expose_secret());
        }
        text
    }
}

/// The key itself, and as a URL or a JSON string would spell it.
fn spellings(key: &SecretString) -> Vec<SecretString> {
    let plain = key.expose_secret();
    if plain.is_empty() {
        return Vec::new();
    }
    let mut percent = String::with_capacity(plain.len());
    let mut json = String::with_capacity(plain.len());
    for c in plain.chars() {
        match c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | '~') {
            true => percent.push(c),
            false => percent.push_str(&format!("%{:02X}", u32::from(c))),
        }
        if matches!(c, '"' | '\\') {
            json.push('\\');
        }
        json.push(c);
    }
    // Equal ones are told apart from new ones by `learn`.
    vec![key.clone(), SecretString::from(percent), SecretString::from(json)]
}

fn mask(text: String, key: &str) -> String {
    if !text.contains(key) {
        return text;
    }
    if key.len() >= SHORTEST_ANYWHERE {
        return text.replace(key, MASK);
    }
    let mut masked = String::with_capacity(text.len());
    let mut rest = text.as_str();
    while let Some((before, after)) = rest.split_once(key) {
        let inside = before.chars().next_back().or(masked.chars().next_back()).is_some_and(is_word)
            || after.chars().next().is_some_and(is_word);
        masked.push_str(before);
        masked.push_str(if inside { key } else { MASK });
        rest = after;
    }
    masked.push_str(rest);
    masked
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
    fn an_empty_key_masks_nothing() {
        assert_eq!(scrub(&[""], "text"), "text");
    }
}
