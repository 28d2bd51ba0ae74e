//! Which events of a stream say nothing but a piece of text or thinking, told without reading them.

use memchr::memmem::Finder;

/// How a dialect's plain events are known, by strings of their JSON, each with its quotes.
#[derive(Debug)]
pub struct Plain {
    /// An event that is plain holds one of these.
    pub holds: &'static [&'static str],
    /// And of these none, or only as the name of a field that is `null` or `false`.
    pub unless: &'static [&'static str],
}

/// [`Plain`], made ready to search.
pub(super) struct Search {
    holds: Vec<Finder<'static>>,
    unless: Vec<Finder<'static>>,
    data: Finder<'static>,
}

impl Search {
    pub fn new(plain: &Plain) -> Self {
        let ready = |words: &[&'static str]| words.iter().map(|word| Finder::new(*word)).collect();
        Search { holds: ready(plain.holds), unless: ready(plain.unless), data: Finder::new("data:") }
    }

    pub fn is_plain(&self, event: &[u8]) -> bool {
        self.holds.iter().any(|word| word.find(event).is_some())
            && self.unless.iter().all(|word| !says(event, word))
            // Two events may have lost the blank line between them.
            && self.data.find_iter(event).nth(1).is_none()
    }
}

/// Whether the word stands in the event other than as the name of a field that says nothing.
pub(super) fn says(event: &[u8], word: &Finder<'_>) -> bool {
    word.find_iter(event).any(|at| {
        let after = event[at + word.needle().len()..].trim_ascii_start();
        match after.strip_prefix(b":") {
            Some(value) => {
                let value = value.trim_ascii_start();
                !(value.starts_with(b"null") || value.starts_with(b"false"))
            }
            None => true,
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_event_is_plain_when_all_it_may_tell_is_text() {
        let search =
            Search::new(&Plain { holds: &["\"text\"", "\"thought\""], unless: &["\"usage\"", "\"error\""] });
        for (event, wanted) in [
            (r#"{"text":"a"}"#, true),
            (r#"{"thought":"a","usage":null,"error" : false}"#, true),
            (r#"{"text":"\"usage\": 1"}"#, true),
            (r#"{"text":"a","usage":{}}"#, false),
            (r#"{"text":"a","usage":null,"x":{"usage": 1}}"#, false),
            (r#"{"text":"a","type":"error"}"#, false),
            (r#"{"a":"text"#, false),
            ("data: {\"text\":\"a\"}\n\n", true),
            ("data: {\"text\":\"a\"}\ndata: {\"type\":\"stop\"}\n\n", false),
            ("data: {\"text\":\"a\"}data: [DONE]\n\n", false),
            ("", false),
        ] {
            assert_eq!(search.is_plain(event.as_bytes()), wanted, "{event}");
        }
    }
}
