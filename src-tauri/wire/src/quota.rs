//! Answers that are no answers: some services put "you have run out" where the text belongs, with a 200.

/// Longer texts are taken for answers, whatever they say.
const MOST_CHARS: usize = 400;

/// Whether a whole reply is only a quota or credit notice. Such a reply is a seat's error (panel.md §5).
pub fn quota_notice(text: &str) -> bool {
    let text = text.trim();
    if text.is_empty() || text.chars().nth(MOST_CHARS).is_some() {
        return false;
    }
    let text = text.to_lowercase();
    // Nearly every text is none: a word that each notice has some of tells at once.
    if !WORDS.iter().any(|word| text.contains(word)) {
        return false;
    }
    let text = text.replace('\u{2019}', "'");
    NOTICES.iter().any(|phrases| phrases.iter().all(|phrase| text.contains(phrase)))
}

/// Whether what has come so far may become such a notice: it opens like one, and has only begun.
pub fn may_be_quota_notice(text: &str) -> bool {
    let text = text.trim_start();
    let begun: String = text.chars().take(OPENING_CHARS).flat_map(char::to_lowercase).collect();
    text.chars().nth(OPENING_CHARS).is_none()
        && OPENINGS.iter().any(|opening| begun.starts_with(opening) || opening.starts_with(&begun))
}

/// By then a notice has said what it is.
const OPENING_CHARS: usize = 80;

const OPENINGS: [&str; 19] = [
    "you have ",
    "you've ",
    "you\u{2019}ve ",
    "you are out",
    "you hit",
    "you exceeded",
    "your ",
    "rate limit",
    "too many requests",
    "usage limit",
    "daily limit",
    "free t",
    "insufficient ",
    "please ",
    "sorry, you",
    "error",
    "quota",
    "out of credits",
    "not enough credits",
];

const WORDS: [&str; 10] =
    ["limit", "too many", "quota", "credit", "used up", "balance", "upgrade", "top up", "recharge", "trial"];

/// Each row fits when all its phrases are there. Rows speak to the reader ("you", "your", "please"), so that an
/// answer *about* rate limits is not taken for one.
const NOTICES: &[&[&str]] = &[
    &["exceeded your", "quota"],
    &["exceeded your", "limit"],
    &["exceeded the", "limit", "please"],
    &["reached your", "limit"],
    &["hit your", "limit"],
    &["reached the", "limit", "your"],
    &["hit the", "limit", "your"],
    &["used all of your", "credits"],
    &["used up your"],
    &["run out of", "credits"],
    &["ran out of", "credits"],
    &["out of credits"],
    &["your", "credits have been used"],
    &["your", "quota has been"],
    &["your", "quota is exhausted"],
    &["your", "balance is too low"],
    &["your", "insufficient", "credit"],
    &["your", "insufficient", "balance"],
    &["insufficient credits", "please"],
    &["insufficient balance", "please"],
    &["don't have enough", "credits"],
    &["do not have enough", "credits"],
    &["not enough credits", "please"],
    &["please", "upgrade your plan"],
    &["please", "upgrade to", "continue"],
    &["please add", "credits"],
    &["please purchase", "credits"],
    &["please top up"],
    &["please recharge"],
    &["usage limit reached"],
    &["daily limit reached"],
    &["rate limit reached", "please"],
    &["rate limit exceeded", "please"],
    &["rate limit exceeded", "try again"],
    &["too many requests", "please"],
    &["too many requests", "try again"],
    &["free tier", "limit", "your"],
    &["free trial", "has ended"],
    &["free trial", "expired"],
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_notice_is_held_back_word_by_word_and_an_answer_is_not() {
        let notice = "You have exceeded your current quota, please check your plan and billing details.";
        for (at, _) in notice.match_indices(' ') {
            let so_far = &notice[..at];
            assert!(may_be_quota_notice(so_far) || quota_notice(so_far), "{so_far}");
        }
        for answer in ["The ", "I ", "Yes", "You can ", "Here", "# Plan", "{", "Your"] {
            assert_eq!(may_be_quota_notice(answer), answer == "Your", "{answer}");
        }
        assert!(!may_be_quota_notice(&format!("Your {}", "answer ".repeat(12))));
    }

    #[test]
    fn every_notice_has_a_word_that_tells_it_from_an_answer() {
        for phrases in NOTICES {
            let text = phrases.join(" ");
            assert!(WORDS.iter().any(|word| text.contains(word)), "{text}");
            assert!(quota_notice(&text), "{text}");
        }
    }
}
