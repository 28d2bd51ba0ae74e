//! How far a limit reaches, by a provider's words: it is the model's, unless they say account or key (providers.md §4).

use crate::UpstreamError;

impl UpstreamError {
    /// Whether every model that is called with this key is limited, and not only the one that was asked.
    ///
    /// Words that name a model are about that one, whoever's limit it is: `Rate limit reached for gpt-4o in
    /// organization …`. `served` is the model's id at its provider.
    pub fn is_of_the_whole_key(&self, served: &str) -> bool {
        let (said, served) = (self.message.to_lowercase(), served.to_lowercase());
        // Addresses of help pages have "account" in them.
        let pieces = || said.split_whitespace().filter(|piece| !piece.contains("://"));
        let is_mark = |ch: char| !ch.is_alphanumeric();
        if pieces().any(|piece| piece == served || piece.trim_matches(is_mark) == served) {
            return false;
        }
        let words: Vec<&str> = pieces()
            .flat_map(|piece| piece.split(|ch: char| !ch.is_alphanumeric()))
            .filter(|it| !it.is_empty())
            .collect();
        let is_of_a_model = words.windows(2).any(|pair| pair[1] == "model" && OF.contains(&pair[0]));
        let says_key = words.iter().enumerate().any(|(at, word)| {
            let before = |n: usize| at.checked_sub(n).map_or("", |at| words[at]);
            // "Add your own API key" is advice.
            matches!(*word, "key" | "keys")
                && KEYS.contains(&before(1))
                && !(before(1) == "api" && before(2) == "own")
        });
        !is_of_a_model && (words.contains(&"account") || says_key)
    }
}

/// What stands before "model" where it is one that is limited.
const OF: [&str; 9] = ["this", "the", "for", "per", "of", "and", "on", "requested", "same"];
/// What stands before "key" where it is the caller's.
const KEYS: [&str; 9] = ["api", "your", "this", "the", "per", "for", "trial", "access", "free"];

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use crate::{Class, UpstreamError};

    /// Each with whether it is of the whole key. The model that was asked is `qwen/qwen3-32b`.
    const SAID: &[(&str, bool)] = &[
        (
            "Rate limit reached for model `qwen/qwen3-32b` in organization `org_x` on requests per day (RPD)",
            false,
        ),
        (
            "Rate limit reached for qwen/qwen3-32b in organization org-x. Visit https://x.example/account/limits",
            false,
        ),
        ("This request would exceed your organization's rate limit of 50 requests per minute.", false),
        ("Too many requests. See https://x.example/account/rate-limits and https://x.example/api-key", false),
        ("Rate limit exceeded for this model on your account", false),
        (
            "qwen/qwen3-32b is temporarily limited upstream; add your own key to accumulate your rate limits",
            false,
        ),
        ("Too many requests: bring your own API key", false),
        ("Monkey business is limited", false),
        ("You are rate limited: see key metrics on your dashboard", false),
        ("Rate limit reached for the requested model on your account", false),
        ("Rate limit reached for \"Qwen/Qwen3-32B\".", false),
        ("Your account qwen/qwen3-32b-team has too many requests", true),
        ("Your API key is limited to 5 model requests per minute", true),
        ("Rate limit for API key exceeded (model family q)", true),
        ("Rate limit exceeded", false),
        (
            "Your account org-x request reached organization max RPM: 3, please try again after 1 seconds",
            true,
        ),
        ("Rate limit exceeded for this API key", true),
        ("You are using a Trial key, which is limited to 10 API calls / minute.", true),
        ("Account limit: 5 concurrent requests", true),
    ];

    #[test]
    fn a_limit_is_the_models_unless_the_words_say_account_or_key() {
        for (message, wanted) in SAID {
            let error = UpstreamError {
                class: Class::Capacity,
                status: Some(429),
                message: (*message).to_owned(),
                retry_after: Some(Duration::from_secs(1)),
            };
            assert_eq!(error.is_of_the_whole_key("qwen/qwen3-32b"), *wanted, "{message}");
            // An id that stands within other words is not named by them.
            assert!(error.is_of_the_whole_key("o1") || !wanted, "{message}");
        }
    }
}
