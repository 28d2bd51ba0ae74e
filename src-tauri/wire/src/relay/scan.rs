//! Where values stand in JSON text, found without building anything. Text may be fed in pieces that end between
//! tokens (lines: a token never spans two).

use std::ops::Range;

#[derive(Debug)]
pub(super) struct Scanner {
    paths: Vec<Vec<String>>,
    /// The containers that are open, outermost first.
    stack: Vec<Frame>,
    /// Not JSON: nothing more is found until a reset.
    broken: bool,
}

#[derive(Debug)]
struct Frame {
    is_object: bool,
    /// The key whose value comes next or is being read; `None` before a key, and in lists.
    key: Option<String>,
    /// A match that began where this container did, in the piece being fed.
    match_from: Option<usize>,
}

impl Scanner {
    /// A path is keys from the root; a list at the root is passed through, any other list ends a path.
    pub fn new(paths: &[&[&str]]) -> Self {
        let paths = paths.iter().map(|path| path.iter().map(|key| (*key).to_owned()).collect()).collect();
        Scanner { paths, stack: Vec::new(), broken: false }
    }

    pub fn reset(&mut self) {
        self.stack.clear();
        self.broken = false;
    }

    /// Whether what is fed next stands at the beginning.
    pub fn is_fresh(&self) -> bool {
        self.stack.is_empty() && !self.broken
    }

    /// Whether the text has turned out to be no JSON.
    pub fn is_broken(&self) -> bool {
        self.broken
    }

    /// A piece was passed over: what follows it cannot be placed.
    pub fn break_off(&mut self) {
        self.broken = true;
    }

    /// Appends where values at the paths stand in `text`, in order.
    pub fn feed(&mut self, text: &[u8], found: &mut Vec<Range<usize>>) {
        self.stack.iter_mut().for_each(|frame| frame.match_from = None);
        let mut at = 0;
        while at < text.len() && !self.broken {
            at = self.token(text, at, found);
        }
    }

    /// Reads one token and gives where the next begins.
    fn token(&mut self, text: &[u8], at: usize, found: &mut Vec<Range<usize>>) -> usize {
        match text[at] {
            b' ' | b'\t' | b'\n' | b'\r' | b':' => at + 1,
            b',' => {
                match self.stack.last_mut() {
                    Some(frame) => frame.key = None,
                    None => self.broken = true,
                }
                at + 1
            }
            open @ (b'{' | b'[') => {
                let match_from = self.matches().then_some(at);
                self.stack.push(Frame { is_object: open == b'{', key: None, match_from });
                at + 1
            }
            b'}' | b']' => {
                match self.stack.pop() {
                    Some(frame) => found.extend(frame.match_from.map(|from| from..at + 1)),
                    None => self.broken = true,
                }
                at + 1
            }
            b'"' => {
                let Some(end) = string_end(text, at) else {
                    self.broken = true;
                    return text.len();
                };
                if self.matches() {
                    found.push(at..end);
                } else if let Some(frame) = self.stack.last_mut()
                    && frame.is_object
                    && frame.key.is_none()
                {
                    frame.key = Some(key(&text[at..end]));
                }
                end
            }
            // Numbers, true, false, null.
            b'-' | b'0'..=b'9' | b't' | b'f' | b'n' => {
                let length = text[at..]
                    .iter()
                    .take_while(|byte| {
                        !matches!(byte, b',' | b'}' | b']' | b' ' | b'\t' | b'\n' | b'\r' | b'"')
                    })
                    .count()
                    .max(1);
                if self.matches() {
                    found.push(at..at + length);
                }
                at + length
            }
            // Between values: frames that lost the blank line between them.
            _ if self.stack.is_empty() => at + 1,
            _ => {
                self.broken = true;
                text.len()
            }
        }
    }

    /// Whether the value that begins here stands at one of the paths.
    fn matches(&self) -> bool {
        let inner = self.stack.iter().position(|frame| frame.is_object).unwrap_or(self.stack.len());
        let frames = &self.stack[inner..];
        !frames.is_empty()
            && self.paths.iter().any(|path| {
                path.len() == frames.len()
                    && path.iter().zip(frames).all(|(key, frame)| frame.key.as_ref() == Some(key))
            })
    }
}

/// Past the closing quote of the string that begins at `at`.
pub(super) fn string_end(text: &[u8], at: usize) -> Option<usize> {
    let mut end = at + 1;
    loop {
        end += memchr::memchr2(b'"', b'\\', text.get(end..)?)?;
        match text[end] {
            b'"' => return Some(end + 1),
            _ => end += 2,
        }
    }
}

fn key(quoted: &[u8]) -> String {
    serde_json::from_slice(quoted).unwrap_or_else(|_| String::from_utf8_lossy(quoted).into_owned())
}
