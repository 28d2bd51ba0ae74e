//! Which events of a stream say nothing but a piece of text or thinking, told without reading them.

use memchr::memmem::Finder;

/// How a dialect's plain events are known, by strings of their JSON, each with its quotes.
#[derive(Debug)]
pub struct Plain {
    /// An event that is plain holds one of these.
    pub holds: &'static [&'static str],
    /// And of these none, or only as the name of a field that is `null` or `false`.
    pub unless: &'static [&'static str],
    /// The fields in which the pieces themselves stand.
    pub says: &'static [&'static str],
}

/// [`Plain`], made ready to search.
pub(super) struct Search {
    holds: Vec<Finder<'static>>,
    unless: Vec<Finder<'static>>,
    says: Vec<Finder<'static>>,
    data: Finder<'static>,
}

impl Search {
    pub fn new(plain: &Plain) -> Self {
        let ready = |words: &[&'static str]| words.iter().map(|word| Finder::new(*word)).collect();
        Search {
            holds: ready(plain.holds),
            unless: ready(plain.unless),
            says: ready(plain.says),
            data: Finder::new("data:"),
        }
    }

    pub fn is_plain(&self, event: &[u8]) -> bool {
        self.holds.iter().any(|word| word.find(event).is_some())
            && self.unless.iter().all(|word| !says(event, word))
            // Two events may have lost the blank line between them.
            && self.data.find_iter(event).nth(1).is_none()
    }

    /// About how many bytes of text and thinking a plain event says.
    pub fn said(&self, event: &[u8]) -> u64 {
        let of = |word: &Finder<'_>| {
            word.find_iter(event).map(|at| of_field(&event[at + word.needle().len()..])).sum::<u64>()
        };
        self.says.iter().map(of).sum()
    }
}

/// About how many bytes of text a field's value is; `after` is what follows its name.
fn of_field(after: &[u8]) -> u64 {
    let value = after.trim_ascii_start().strip_prefix(b":").map(<[u8]>::trim_ascii_start);
    let Some(mut rest) = value.and_then(|value| value.strip_prefix(b"\"")) else { return 0 };
    let mut said = 0;
    while let Some(at) = memchr::memchr2(b'"', b'\\', rest) {
        said += at as u64;
        if rest[at] == b'"' {
            return said;
        }
        // An escape stands for a byte or two, in two bytes of JSON or in six.
        let (bytes, escaped) = if rest.get(at + 1) == Some(&b'u') { (2, 6) } else { (1, 2) };
        said += bytes;
        rest = rest.get(at + escaped..).unwrap_or_default();
    }
    said + rest.len() as u64
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
        let search = Search::new(&Plain {
            holds: &["\"text\"", "\"thought\""],
            unless: &["\"usage\"", "\"error\""],
            says: &[],
        });
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

    #[test]
    fn what_a_plain_event_says_is_measured_without_reading_it() {
        let says = &["\"text\"", "\"thought\""];
        let search = Search::new(&Plain { holds: says, unless: &[], says });
        for (event, wanted) in [
            (r#"data: {"id":"some-long-id","text":"four"}"#, 4),
            (r#"{"text" : "four", "thought":"five5"}"#, 9),
            (r#"[{"text":"one"},{"text":"two"}]"#, 6),
            (r#"{"text":"say \"text\": \\","n":"x"}"#, 13),
            (r#"{"text":"\u00e9\n"}"#, 3),
            (r#"{"type":"text","text":"a"}"#, 1),
            (r#"{"text":null,"thought":""}"#, 0),
            (r#"{"text":"cut of"#, 6),
            (r#"{"text":"cut\u00"#, 5),
            ("", 0),
        ] {
            assert_eq!(search.said(event.as_bytes()), wanted, "{event}");
        }
    }
}
