//! The caller's name of the model in a reply, in place of the member's.

use memchr::memmem::Finder;

use super::scan::{Scanner, string_end};
use crate::sse::MAX_EVENT;

/// The longest part of an event that is remembered from one to the next, in bytes.
const LONGEST: usize = 4 * 1024;

/// Puts the caller's name of the model back into a member's reply: server-sent events, a value a line, or one
/// whole value. Every other byte is as it was, however the bytes are cut.
#[derive(Debug)]
pub struct ModelName {
    name: Vec<u8>,
    scanner: Scanner,
    /// The unfinished line.
    line: Vec<u8>,
    framing: Framing,
    /// The last byte was a CR: an LF that follows belongs to it.
    after_cr: bool,
    /// The line is over the limit and goes on unread.
    too_long: bool,
    /// The names of the fields that hold it, quoted, and what an escaped name must hold.
    fields: Vec<Finder<'static>>,
    escapes: [Finder<'static>; 2],
    /// How events of this stream begin or end, up to the model's name and with it.
    known: [Option<Known>; 2],
}

/// Bytes that events of a stream have in common, and the same with the caller's name.
#[derive(Debug)]
struct Known {
    theirs: Vec<u8>,
    ours: Vec<u8>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Framing {
    Unknown,
    Events,
    Json,
}

impl ModelName {
    /// `paths` as [`Format::model_paths`](crate::Format::model_paths) gives them; `name` as the caller asked.
    pub fn new(paths: &[&[&str]], name: &str) -> Self {
        ModelName {
            name: serde_json::Value::from(name).to_string().into_bytes(),
            scanner: Scanner::new(paths),
            line: Vec::new(),
            framing: Framing::Unknown,
            after_cr: false,
            too_long: false,
            fields: fields(paths),
            escapes: [Finder::new("\\u006"), Finder::new("\\u007")],
            known: [None, None],
        }
    }

    /// The bytes that go on now. Holds back at most one unfinished line.
    pub fn push(&mut self, bytes: &[u8]) -> Vec<u8> {
        let mut out = Vec::with_capacity(bytes.len());
        self.push_to(bytes, &mut out);
        out
    }

    /// The same, appended to `out`.
    pub(super) fn push_to(&mut self, mut bytes: &[u8], out: &mut Vec<u8>) {
        while let Some(end) = memchr::memchr2(b'\n', b'\r', bytes) {
            let terminator = bytes[end];
            let is_second = terminator == b'\n' && end == 0 && self.line.is_empty() && self.after_cr;
            self.line.extend_from_slice(&bytes[..end]);
            if !is_second {
                self.end_line(out);
            }
            out.push(terminator);
            self.after_cr = terminator == b'\r';
            bytes = &bytes[end + 1..];
        }
        if !bytes.is_empty() {
            self.after_cr = false;
        }
        self.line.extend_from_slice(bytes);
        if self.line.len() > MAX_EVENT {
            self.too_long = true;
        }
        if self.too_long {
            out.append(&mut self.line);
        }
    }

    /// The body ended: what was held back.
    pub fn end(&mut self) -> Vec<u8> {
        let mut out = Vec::new();
        self.end_line(&mut out);
        out
    }

    /// A whole event or line. Events of a stream are mostly alike: what this one has in common with an earlier one
    /// needs no reading. Whether it names the same model as those, or none.
    pub(super) fn whole_to(&mut self, unit: &[u8], is_event: bool, out: &mut Vec<u8>) -> bool {
        let is_fresh = self.line.is_empty() && self.scanner.is_fresh();
        if is_fresh && (is_event || unit.trim_ascii_end().ends_with(b"}")) {
            let [front, back] = &self.known;
            if let Some(known) = front
                && let Some(rest) = unit.strip_prefix(known.theirs.as_slice())
                && !self.may_name(rest)
            {
                out.extend_from_slice(&known.ours);
                out.extend_from_slice(rest);
                return true;
            }
            if let Some(known) = back
                && let Some(rest) = unit.strip_suffix(known.theirs.as_slice())
                && !self.may_name(rest)
            {
                out.extend_from_slice(rest);
                out.extend_from_slice(&known.ours);
                return true;
            }
            if is_event && !self.may_name(unit) {
                out.extend_from_slice(unit);
                return true;
            }
        }
        let before = out.len();
        self.push_to(unit, out);
        if is_fresh && self.line.is_empty() && self.scanner.is_fresh() {
            self.learn(unit, &out[before..]);
        }
        false
    }

    /// `ours` is `theirs` with the name put back.
    fn learn(&mut self, theirs: &[u8], ours: &[u8]) {
        // There is one difference: elsewhere the two are the same.
        let Some(from) = memchr::memmem::find(ours, &self.name) else { return };
        let Some(value) = theirs.get(from..).and_then(string_length) else { return };
        let (front, back) = (from + value, from + self.name.len());
        if theirs[..from] != ours[..from] || theirs[front..] != ours[back..] {
            return;
        }
        let key = memchr::memrchr(b',', &theirs[..from]).unwrap_or(from);
        let known = |theirs: &[u8], ours: &[u8]| {
            // Without the field's own name it would be any field.
            (theirs.len() <= LONGEST && self.may_name(theirs))
                .then(|| Known { theirs: theirs.to_vec(), ours: ours.to_vec() })
        };
        self.known = [known(&theirs[..front], &ours[..back]), known(&theirs[key..], &ours[key..])];
    }

    /// Whether a field may stand in the text that holds the model's name.
    fn may_name(&self, text: &[u8]) -> bool {
        self.fields.iter().chain(&self.escapes).any(|field| field.find(text).is_some())
    }

    fn end_line(&mut self, out: &mut Vec<u8>) {
        let line = std::mem::take(&mut self.line);
        if std::mem::take(&mut self.too_long) {
            self.scanner.break_off();
            out.extend_from_slice(&line);
            return;
        }
        let start = self.json_starts(&line);
        let Some(start) = start else {
            if line.is_empty() && self.framing == Framing::Events {
                self.scanner.reset();
            }
            out.extend_from_slice(&line);
            return;
        };
        let mut spans = Vec::new();
        self.scanner.feed(&line[start..], &mut spans);
        if self.scanner.is_broken() {
            // Two frames glued together, say: who reads it may still find the second, if nothing is changed.
            spans.clear();
        }
        let mut copied = 0;
        for span in spans {
            let span = span.start + start..span.end + start;
            if line[span.start] != b'"' {
                continue;
            }
            out.extend_from_slice(&line[copied..span.start]);
            out.extend_from_slice(&self.name);
            copied = span.end;
        }
        out.extend_from_slice(&line[copied..]);
    }

    /// Where a line's JSON begins; `None` when it holds none.
    fn json_starts(&mut self, line: &[u8]) -> Option<usize> {
        let bom = if self.framing == Framing::Unknown && line.starts_with(b"\xEF\xBB\xBF") { 3 } else { 0 };
        let spaces = line[bom..].iter().take_while(|byte| byte.is_ascii_whitespace()).count();
        if self.framing == Framing::Unknown {
            self.framing = match line.get(bom + spaces)? {
                b'{' | b'[' => Framing::Json,
                _ => Framing::Events,
            };
        }
        match self.framing {
            Framing::Events => line[bom..].starts_with(b"data:").then_some(bom + 5),
            _ => Some(bom),
        }
    }
}

fn fields(paths: &[&[&str]]) -> Vec<Finder<'static>> {
    let mut names: Vec<&str> = paths.iter().filter_map(|path| path.last().copied()).collect();
    names.dedup();
    names.iter().map(|name| Finder::new(&format!("\"{name}\"")).into_owned()).collect()
}

/// Of the JSON string that the text begins with, in bytes.
fn string_length(text: &[u8]) -> Option<usize> {
    text.starts_with(b"\"").then(|| string_end(text, 0)).flatten()
}
