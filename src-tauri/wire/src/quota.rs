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
    fn every_notice_has_a_word_that_tells_it_from_an_answer() {
        for phrases in NOTICES {
            let text = phrases.join(" ");
            assert!(WORDS.iter().any(|word| text.contains(word)), "{text}");
            assert!(quota_notice(&text), "{text}");
        }
    }
}
