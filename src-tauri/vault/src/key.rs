use secrecy::{ExposeSecret, SecretString};
use zeroize::Zeroizing;

use crate::VaultError;

/// A key as it was pasted, made fit for a header: white space at the ends is dropped, the rest must be
/// printable ASCII without spaces. The error never repeats any of it.
pub fn clean_key(pasted: &str) -> Result<SecretString, VaultError> {
    let pasted = Zeroizing::new(pasted.trim().to_owned());
    // People paste `Bearer …` from a curl example, or the quotes of a shell line.
    let mut key = pasted.as_str();
    for quote in ['"', '\''] {
        key = key.strip_prefix(quote).and_then(|key| key.strip_suffix(quote)).unwrap_or(key).trim();
    }
    let (scheme, rest) = key.split_once(' ').unwrap_or((key, ""));
    if scheme.eq_ignore_ascii_case("bearer") {
        key = rest.trim();
    }
    if key.is_empty() {
        return Err(VaultError::BadKey("the key is empty; paste it whole"));
    }
    if key.len() > LONGEST_KEY {
        return Err(VaultError::BadKey("the key is longer than 8192 characters; paste the key only"));
    }
    if key.chars().any(|c| c.is_whitespace() || c.is_control()) {
        return Err(VaultError::BadKey(
            "the key holds a space or line break in the middle; paste the key only",
        ));
    }
    if !key.is_ascii() {
        return Err(VaultError::BadKey(
            "the key holds characters a key cannot have (a dash or quote changed by a text program, perhaps); \
             copy it again from the provider's page",
        ));
    }
    Ok(SecretString::from(key))
}

/// What may be shown of a key: `••••last4`, and of a short one nothing.
pub(crate) fn hint(key: &SecretString) -> String {
    let key = key.expose_secret();
    let last = match key.len() >= SHORTEST_HINTED {
        true => key.get(key.len() - 4..).unwrap_or_default(),
        false => "",
    };
    format!("••••{last}")
}

const LONGEST_KEY: usize = 8_192;
const SHORTEST_HINTED: usize = 12;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pasted_keys_are_cleaned() {
        for (pasted, wanted) in [
            ("sk-abc", "sk-abc"),
            ("  sk-abc\r\n", "sk-abc"),
            ("\u{a0}sk-abc\u{2003}", "sk-abc"),
            ("\"sk-abc\"", "sk-abc"),
            ("'sk-abc' ", "sk-abc"),
            ("Bearer sk-abc", "sk-abc"),
            ("bearer   sk-abc\n", "sk-abc"),
            ("a/b+c=~!\"", "a/b+c=~!\""),
        ] {
            assert_eq!(clean_key(pasted).expect(pasted).expose_secret(), wanted);
        }
    }

    #[test]
    fn what_cannot_be_a_key_is_refused_in_words_that_do_not_repeat_it() {
        let long = "k".repeat(8_193);
        for (pasted, wanted) in [
            ("", "empty"),
            (" \n\t", "empty"),
            ("\"\"", "empty"),
            ("Bearer ", "empty"),
            ("sk-abc def", "space or line break"),
            ("sk-abc\nsk-def", "space or line break"),
            ("sk-\u{0}abc", "space or line break"),
            ("sk–abc", "characters a key cannot have"),
            ("clé-abc", "characters a key cannot have"),
            (long.as_str(), "longer than 8192"),
        ] {
            let Err(error) = clean_key(pasted) else { panic!("{pasted:?} was taken") };
            let text = format!("{error} {error:?}");
            assert!(text.contains(wanted), "{pasted:?}: {text}");
            assert!(!text.contains("abc"), "{text}");
        }
    }

    #[test]
    fn hints_show_the_last_four_of_a_long_key_only() {
        for (key, wanted) in
            [("", "••••"), ("short", "••••"), ("elevenchars", "••••"), ("twelve-chars", "••••hars")]
        {
            assert_eq!(hint(&SecretString::from(key)), wanted);
        }
    }
}
