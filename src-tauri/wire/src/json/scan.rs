//! JSON text gone over once: that it is JSON, and where its values stand.

use super::quoted;

/// Where a value stands. The nodes of a body are in its order: a container's own are right behind it, an object's in
/// pairs of key and value.
#[derive(Clone, Copy, Debug)]
pub(super) struct Node {
    pub start: u32,
    pub end: u32,
    /// How many nodes it is, with those inside it.
    pub nodes: u32,
    /// How many characters a string is shorter than it is written; 0: it holds no escape.
    pub folded: u32,
}

/// `None`: the text is not one JSON value, or past 4 GB. Lone surrogate escapes are taken as any.
pub(super) fn scan(text: &str) -> Option<Vec<Node>> {
    let bytes = text.as_bytes();
    u32::try_from(bytes.len()).ok()?;
    let mut scan = Scan { bytes, at: 0, nodes: Vec::new(), open: Vec::new() };
    scan.spaces();
    loop {
        if scan.begin()? {
            continue;
        }
        // A value has ended: so do the containers that it is the last of.
        loop {
            scan.spaces();
            let Some(&container) = scan.open.last() else {
                return (scan.at == bytes.len()).then_some(scan.nodes);
            };
            match (scan.next()?, scan.is_object(container)) {
                (b',', is_object) => {
                    scan.spaces();
                    if is_object {
                        scan.key()?;
                    }
                    break;
                }
                (b'}', true) | (b']', false) => scan.close(container),
                _ => return None,
            }
        }
    }
}

struct Scan<'t> {
    bytes: &'t [u8],
    at: usize,
    nodes: Vec<Node>,
    /// The containers that are open, by their nodes; the innermost last.
    open: Vec<usize>,
}

impl Scan<'_> {
    /// Reads a value, or the beginning of a container that holds something: `true`.
    fn begin(&mut self) -> Option<bool> {
        let start = self.at;
        let first = self.next()?;
        match first {
            b'{' | b'[' => {
                let container = self.nodes.len();
                self.push(start, 0);
                self.open.push(container);
                self.spaces();
                match (first, self.bytes.get(self.at)?) {
                    (b'{', b'}') | (b'[', b']') => {
                        self.at += 1;
                        self.close(container);
                        return Some(false);
                    }
                    (b'{', _) => self.key()?,
                    _ => {}
                }
                return Some(true);
            }
            b'"' => self.string(start)?,
            b't' => self.word(start, b"rue")?,
            b'f' => self.word(start, b"alse")?,
            b'n' => self.word(start, b"ull")?,
            _ => {
                self.at = number(self.bytes, start)?;
                self.push(start, 0);
            }
        }
        Some(false)
    }

    /// A key and its colon, up to the value.
    fn key(&mut self) -> Option<()> {
        let start = self.at;
        (self.next()? == b'"').then_some(())?;
        self.string(start)?;
        self.spaces();
        (self.next()? == b':').then_some(())?;
        self.spaces();
        Some(())
    }

    /// The rest of a string.
    fn string(&mut self, start: usize) -> Option<()> {
        let (end, folded) = quoted::end(self.bytes, self.at)?;
        self.at = end;
        self.push(start, folded);
        Some(())
    }

    fn word(&mut self, start: usize, rest: &[u8]) -> Option<()> {
        self.bytes[self.at..].starts_with(rest).then_some(())?;
        self.at += rest.len();
        self.push(start, 0);
        Some(())
    }

    fn push(&mut self, start: usize, folded: usize) {
        self.nodes.push(Node { start: place(start), end: place(self.at), nodes: 1, folded: place(folded) });
    }

    fn close(&mut self, container: usize) {
        self.open.pop();
        let nodes = self.nodes.len() - container;
        let node = &mut self.nodes[container];
        (node.end, node.nodes) = (place(self.at), place(nodes));
    }

    fn is_object(&self, container: usize) -> bool {
        self.bytes[self.nodes[container].start as usize] == b'{'
    }

    fn next(&mut self) -> Option<u8> {
        let byte = *self.bytes.get(self.at)?;
        self.at += 1;
        Some(byte)
    }

    fn spaces(&mut self) {
        while let Some(b' ' | b'\t' | b'\n' | b'\r') = self.bytes.get(self.at) {
            self.at += 1;
        }
    }
}

/// A place within the text, whose length is a `u32`.
fn place(at: usize) -> u32 {
    at as u32
}

/// Past the number that begins at `at`.
fn number(bytes: &[u8], mut at: usize) -> Option<usize> {
    let digits = |from: usize| {
        let count = bytes[from..].iter().take_while(|byte| byte.is_ascii_digit()).count();
        (count > 0).then_some(from + count)
    };
    at += usize::from(bytes.get(at) == Some(&b'-'));
    at = if bytes.get(at) == Some(&b'0') { at + 1 } else { digits(at)? };
    if bytes.get(at) == Some(&b'.') {
        at = digits(at + 1)?;
    }
    if matches!(bytes.get(at), Some(b'e' | b'E')) {
        let is_signed = matches!(bytes.get(at + 1), Some(b'+' | b'-'));
        at = digits(at + 1 + usize::from(is_signed))?;
    }
    Some(at)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::value::RawValue;

    use super::*;

    fn told(text: &str) -> Vec<(&str, u32, u32)> {
        let nodes = scan(text).unwrap();
        nodes
            .iter()
            .map(|node| (&text[node.start as usize..node.end as usize], node.nodes, node.folded))
            .collect()
    }

    #[test]
    fn values_are_found_in_their_order() {
        assert_eq!(
            told(" {\"a\" : [1 , \"b\\n\"],\"c\":{ } ,\"d\":-0.5e+3, \"e\":null}\n"),
            [
                ("{\"a\" : [1 , \"b\\n\"],\"c\":{ } ,\"d\":-0.5e+3, \"e\":null}", 11, 0),
                ("\"a\"", 1, 0),
                ("[1 , \"b\\n\"]", 3, 0),
                ("1", 1, 0),
                ("\"b\\n\"", 1, 1),
                ("\"c\"", 1, 0),
                ("{ }", 1, 0),
                ("\"d\"", 1, 0),
                ("-0.5e+3", 1, 0),
                ("\"e\"", 1, 0),
                ("null", 1, 0),
            ]
        );
    }

    #[test]
    fn escapes_fold_as_many_characters_as_they_are_longer() {
        for text in [
            r#""plain text, longer than eight 北京""#,
            r#""\"\\\/\b\f\n\r\t""#,
            r#""\u0041é\u5317\\u0041""#,
            r#""a \uD83C\uDF0D pair, \ud83c\udf0d twice""#,
        ] {
            // Wherever a block of it ends.
            for before in 0..130 {
                let text = format!("\"{}{}", " ".repeat(before), &text[1..]);
                let plain: String = serde_json::from_str(&text).unwrap();
                let folded = scan(&text).unwrap()[0].folded as usize;
                assert_eq!(text.chars().count() - 2 - folded, plain.chars().count(), "{text}");
            }
        }
    }

    /// Nearly JSON: pieces of it, in any order.
    fn pieces() -> impl Strategy<Value = String> {
        let pieces = [
            "{",
            "}",
            "[",
            "]",
            ",",
            ":",
            "\"",
            "\\",
            "\"a\"",
            "\"\\\"\"",
            "\\u00e9",
            "\\u12",
            "\\x",
            "0",
            "01",
            "-",
            "-1",
            "1.5",
            "1.",
            ".5",
            "e",
            "1e9",
            "1E+",
            "E-2",
            "true",
            "tru",
            "false",
            "null",
            "nul",
            " ",
            "\n",
            "\t",
            "\u{1}",
            "\u{7f}",
            "é",
            "北",
            "\"a\":",
            "{\"a\":1}",
            "[1,2]",
            "as many as sixty-four bytes, which is what is looked at at once: s",
            "\\\\",
            "\\\\\\\"",
            "\"k\":[",
            "{}",
            "[]",
        ];
        prop::collection::vec(prop::sample::select(pieces.to_vec()), 0..12).prop_map(|pieces| pieces.concat())
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 4096, failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn it_takes_what_serde_takes(text in pieces(), inside in any::<bool>()) {
            let text = if inside { format!("[\"{text}\"]") } else { text };
            let theirs = serde_json::from_str::<&RawValue>(&text);
            prop_assert_eq!(scan(&text).is_some(), theirs.is_ok(), "{}", text);
        }
    }
}
