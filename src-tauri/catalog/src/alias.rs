use std::collections::{HashMap, HashSet};

const LONGEST_ALIAS: usize = 64;

/// Whether a text can be a model's alias: 1 to 64 of `A-Z a-z 0-9 . _ -`, the first a letter or digit.
///
/// The rule keeps an alias usable unquoted in a URL path, a call id and a command line.
pub fn valid_alias(alias: &str) -> bool {
    alias.len() <= LONGEST_ALIAS
        && alias.starts_with(|c: char| c.is_ascii_alphanumeric())
        && alias.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-'))
}

/// A free alias made from a provider's id: the vendor's path dropped, `:` as `-`, lower case, anything
/// unsafe as `-`; on a clash the endpoint's name is added, then a number.
///
/// `taken` says whether an alias is in use (or was: retired names are never reused). The result is always
/// valid and never taken.
pub fn alias_for(served: &str, endpoint: &str, taken: impl Fn(&str) -> bool) -> String {
    let plain = plain(served);
    let free = (0..).map(|number| numbered(&plain, endpoint, number)).find(|alias| !taken(alias));
    // There are more numbers than aliases.
    free.unwrap_or(plain)
}

fn plain(served: &str) -> String {
    match slug(last_segment(served)) {
        slug if slug.is_empty() => "model".to_owned(),
        slug => slug,
    }
}

/// The aliases of a name in the order in which they are tried: alone, with the endpoint's name, with a number too.
fn numbered(plain: &str, endpoint: &str, number: u64) -> String {
    let endpoint = slug(endpoint);
    let suffix = if endpoint.is_empty() { String::new() } else { format!("-{endpoint}") };
    match number {
        0 => fit(plain, ""),
        1 => fit(plain, &suffix),
        number => fit(plain, &format!("{suffix}-{number}")),
    }
}

/// Free aliases for the models of a list, each taken as it is given: however many are alike, one costs no more than the
/// first.
#[derive(Debug, Default)]
pub struct FreeAliases {
    taken: HashSet<String>,
    /// The numbers that were given last, by the alias without one.
    numbers: HashMap<String, u64>,
}

impl FreeAliases {
    /// Beside these, which are taken.
    pub fn beside(taken: HashSet<String>) -> FreeAliases {
        FreeAliases { taken, numbers: HashMap::new() }
    }

    /// As [`alias_for`].
    pub fn take(&mut self, served: &str, endpoint: &str) -> String {
        let plain = plain(served);
        let next = self.numbers.entry(plain.clone()).or_insert(0);
        let alias = (*next..).map(|number| numbered(&plain, endpoint, number)).find(|alias| {
            *next += 1;
            !self.taken.contains(alias)
        });
        // There are more numbers than aliases.
        let alias = alias.unwrap_or(plain);
        self.taken.insert(alias.clone());
        alias
    }
}

/// The underlying model whatever serves it: the last path segment of `served` before `:`, lower case, `-`,
/// `_` and `.` removed.
pub fn family(served: &str) -> String {
    let name = last_segment(served);
    let name = name.split(':').next().unwrap_or(name);
    name.to_lowercase().replace(['-', '_', '.'], "")
}

fn last_segment(served: &str) -> &str {
    served.trim().trim_end_matches('/').rsplit('/').next().unwrap_or_default()
}

/// Lower case, runs of unsafe characters as one `-`, none at either end.
fn slug(text: &str) -> String {
    let mut slug = String::with_capacity(text.len());
    for c in text.chars() {
        match c.to_ascii_lowercase() {
            c if c.is_ascii_alphanumeric() || matches!(c, '.' | '_') => slug.push(c),
            _ if slug.ends_with('-') => {}
            _ => slug.push('-'),
        }
    }
    slug.trim_matches(|c: char| !c.is_ascii_alphanumeric()).to_owned()
}

/// `plain` and `suffix`, with `plain` cut so that both fit. All ASCII, so bytes are characters.
fn fit(plain: &str, suffix: &str) -> String {
    let room = LONGEST_ALIAS.saturating_sub(suffix.len());
    let cut = plain.get(..room).unwrap_or(plain);
    format!("{}{suffix}", cut.trim_end_matches(|c: char| !c.is_ascii_alphanumeric()))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn families() {
        for (served, wanted) in [
            ("gpt-4.1-mini", "gpt41mini"),
            ("openai/gpt-4.1-mini", "gpt41mini"),
            ("meta-llama/Llama-3.3-70B_Instruct:free", "llama3370binstruct"),
            ("hf.co/bartowski/Qwen2.5-GGUF:Q4_K_M", "qwen25gguf"),
            ("accounts/fireworks/models/llama-v3p1", "llamav3p1"),
            ("llama3:8b", "llama3"),
            ("a/b/", "b"),
            ("", ""),
        ] {
            assert_eq!(family(served), wanted, "{served}");
        }
    }

    #[test]
    fn aliases() {
        for (served, wanted) in [
            ("gpt-4.1-mini", "gpt-4.1-mini"),
            ("vendor/Alpha-1", "alpha-1"),
            ("meta-llama/Llama-3.3-70B-Instruct:free", "llama-3.3-70b-instruct-free"),
            ("qwen2.5_coder:7b", "qwen2.5_coder-7b"),
            ("Mein Modell (v2)!", "mein-modell-v2"),
            ("@cf/meta/llama", "llama"),
            ("..", "model"),
            ("模型", "model"),
            ("", "model"),
        ] {
            let alias = alias_for(served, "fake", |_| false);
            assert_eq!(alias, wanted, "{served}");
            assert!(valid_alias(&alias), "{served}");
        }
    }

    #[test]
    fn a_clash_adds_the_endpoint_then_a_number() {
        let mut taken = BTreeSet::new();
        for wanted in ["alpha", "alpha-groq", "alpha-groq-2", "alpha-groq-3"] {
            let alias = alias_for("vendor/alpha", "groq", |alias| taken.contains(alias));
            assert_eq!(alias, wanted);
            taken.insert(alias);
        }
    }

    #[test]
    fn thousands_that_are_alike_are_named_as_one_by_one() {
        let taken = HashSet::from(["alpha-groq-3".to_owned()]);
        let mut aliases = FreeAliases::beside(taken.clone());
        let mut given: HashSet<String> = taken;
        for n in 0..300 {
            let served = format!("vendor-{n}/alpha");
            let wanted = alias_for(&served, "groq", |alias| given.contains(alias));
            assert_eq!(aliases.take(&served, "groq"), wanted);
            given.insert(wanted);
        }
        assert!(aliases.numbers["alpha"] <= 302, "none is tried twice: {:?}", aliases.numbers);
        assert_eq!(aliases.take("other/beta", "groq"), "beta");
    }

    #[test]
    fn a_long_id_is_cut_to_a_valid_alias_even_with_a_suffix() {
        let served = format!("{}.{}", "a".repeat(63), "b".repeat(80));
        let first = alias_for(&served, "endpoint-of-thirty-two-letters-xx", |_| false);
        assert_eq!(first, "a".repeat(63), "the dot at the cut goes too");
        let second = alias_for(&served, "endpoint-of-thirty-two-letters-xx", |alias| alias == first);
        assert!(valid_alias(&second) && second.ends_with("-endpoint-of-thirty-two-letters-xx"), "{second}");
    }

    #[test]
    fn alias_validity() {
        for good in ["a", "A", "7b", "gpt-4.1", "a_b", &"x".repeat(64)] {
            assert!(valid_alias(good), "{good}");
        }
        for bad in ["", "-a", ".a", "_a", "a b", "a/b", "a:b", "ä", "a\n", &"x".repeat(65)] {
            assert!(!valid_alias(bad), "{bad}");
        }
    }
}
