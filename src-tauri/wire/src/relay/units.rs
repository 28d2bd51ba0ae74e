//! A reply in the pieces that go on together: an event of a stream with the blank line after it, a line of JSON text,
//! or, of a body that is neither, whatever came.

use crate::sse::MAX_EVENT;

/// Cuts a body that may come cut anywhere. Holds at most one unfinished piece.
#[derive(Debug, Default)]
pub(super) struct Units {
    framing: Framing,
    /// The unfinished piece.
    held: Vec<u8>,
    /// The bytes of its unfinished line.
    line: usize,
    /// The last byte was a CR: an LF that follows belongs to it.
    after_cr: bool,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Framing {
    /// Nothing but spaces so far, and perhaps a byte order mark.
    #[default]
    Unknown,
    Events,
    /// A value a line, or one value over several.
    Json,
    /// A page, or a piece over the limit: it goes on as it comes.
    Loose,
}

/// One piece.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unit<'b> {
    Event(&'b [u8]),
    Line(&'b [u8]),
    /// Goes on as it is. `follows`: the end of the line that ended the event before it, and as private as that.
    Loose {
        bytes: &'b [u8],
        follows: bool,
    },
}

impl Units {
    pub fn framing(&self) -> Framing {
        self.framing
    }

    pub fn push(&mut self, bytes: &[u8], each: &mut impl FnMut(Unit<'_>)) {
        let rest = if self.framing == Framing::Unknown { self.begin(bytes, each) } else { bytes };
        match self.framing {
            Framing::Unknown => {}
            Framing::Events => self.events(rest, each),
            Framing::Json => self.lines(rest, each),
            Framing::Loose => loose(rest, each),
        }
        if self.held.len() > MAX_EVENT {
            self.framing = Framing::Loose;
            loose(&std::mem::take(&mut self.held), each);
        }
    }

    /// The body ended: what was held back.
    pub fn end(&mut self, each: &mut impl FnMut(Unit<'_>)) {
        let held = std::mem::take(&mut self.held);
        match self.framing {
            _ if held.is_empty() => {}
            Framing::Events => each(Unit::Event(&held)),
            Framing::Json => each(Unit::Line(&held)),
            Framing::Unknown | Framing::Loose => loose(&held, each),
        }
    }

    /// Spaces and byte order marks before the body go on; the first other byte says what it is.
    fn begin<'b>(&mut self, mut bytes: &'b [u8], each: &mut impl FnMut(Unit<'_>)) -> &'b [u8] {
        const BOM: &[u8] = b"\xEF\xBB\xBF";
        while let Some(first) = bytes.first() {
            let wanted = BOM[self.held.len()];
            if *first == wanted {
                self.held.push(*first);
                if self.held == BOM {
                    loose(&std::mem::take(&mut self.held), each);
                }
            } else if self.held.is_empty() && first.is_ascii_whitespace() {
                loose(&bytes[..1], each);
            } else {
                // Half a mark is no mark.
                self.framing = match first {
                    _ if !self.held.is_empty() => Framing::Events,
                    b'{' | b'[' => Framing::Json,
                    b'<' => Framing::Loose,
                    _ => Framing::Events,
                };
                self.line = self.held.len();
                return bytes;
            }
            bytes = &bytes[1..];
        }
        bytes
    }

    fn events(&mut self, bytes: &[u8], each: &mut impl FnMut(Unit<'_>)) {
        let (mut start, mut at) = (0, 0);
        while let Some(found) = memchr::memchr2(b'\n', b'\r', &bytes[at..]) {
            let end = at + found;
            let is_second = found == 0 && self.line == 0 && self.after_cr && bytes[end] == b'\n';
            let is_blank = self.line + found == 0 && !is_second;
            self.line = 0;
            self.after_cr = bytes[end] == b'\r';
            at = end + 1;
            if is_second && self.held.is_empty() && start == end {
                each(Unit::Loose { bytes: &bytes[start..at], follows: true });
                start = at;
            }
            if is_blank {
                if self.after_cr && bytes.get(at) == Some(&b'\n') {
                    self.after_cr = false;
                    at += 1;
                }
                self.whole(&bytes[start..at], |bytes| each(Unit::Event(bytes)));
                start = at;
            }
        }
        self.line += bytes.len() - at;
        self.held.extend_from_slice(&bytes[start..]);
    }

    fn lines(&mut self, mut bytes: &[u8], each: &mut impl FnMut(Unit<'_>)) {
        while let Some(end) = memchr::memchr(b'\n', bytes) {
            self.whole(&bytes[..=end], |bytes| each(Unit::Line(bytes)));
            bytes = &bytes[end + 1..];
        }
        self.held.extend_from_slice(bytes);
    }

    /// Hands over what is held and what completes it.
    fn whole(&mut self, last: &[u8], each: impl FnOnce(&[u8])) {
        if self.held.is_empty() {
            return each(last);
        }
        self.held.extend_from_slice(last);
        each(&self.held);
        // The room is used again, unless one long piece would hold it for the rest of the stream.
        if self.held.capacity() > 64 * 1024 {
            self.held = Vec::new();
        }
        self.held.clear();
    }
}

fn loose(bytes: &[u8], each: &mut impl FnMut(Unit<'_>)) {
    if !bytes.is_empty() {
        each(Unit::Loose { bytes, follows: false });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cut<'b>(pieces: impl IntoIterator<Item = &'b [u8]>) -> Vec<String> {
        let (mut units, mut told) = (Units::default(), Vec::<String>::new());
        let mut each = |unit: Unit<'_>| {
            let (kind, bytes) = match unit {
                Unit::Event(bytes) => ("event ", bytes),
                Unit::Line(bytes) => ("line ", bytes),
                Unit::Loose { bytes, follows: true } => {
                    // However it is cut, it is the end of the event before it.
                    let last = told.last_mut().unwrap();
                    *last = format!(
                        "{}{}",
                        last.trim_end_matches('.'),
                        String::from_utf8_lossy(bytes).escape_debug()
                    );
                    return;
                }
                Unit::Loose { bytes, follows: false } => match told
                    .last_mut()
                    .filter(|last| last.starts_with("loose"))
                {
                    Some(last) => return *last += &String::from_utf8_lossy(bytes).escape_debug().to_string(),
                    None => ("loose ", bytes),
                },
            };
            told.push(format!("{kind}{}", String::from_utf8_lossy(bytes).escape_debug()));
        };
        pieces.into_iter().for_each(|piece| units.push(piece, &mut each));
        units.end(&mut each);
        told
    }

    #[test]
    fn pieces_do_not_depend_on_cuts() {
        for (body, wanted) in [
            ("", &[][..]),
            ("data: 1\n\ndata: 2\n\n", &["event data: 1\\n\\n", "event data: 2\\n\\n"]),
            (
                "\n data: 1\r\n\r\n\r\ndata: 2",
                &["loose \\n ", "event data: 1\\r\\n\\r\\n", "event \\r\\n", "event data: 2"],
            ),
            ("data: 1\r\rdata: 2\r\n\n\r", &["event data: 1\\r\\r", "event data: 2\\r\\n\\n", "event \\r"]),
            ("\u{feff}data: 1\n\n", &["loose \u{feff}", "event data: 1\\n\\n"]),
            ("{\"a\":\n1}\r\n{}", &["line {\\\"a\\\":\\n", "line 1}\\r\\n", "line {}"]),
            (" <html>\n\n", &["loose  <html>\\n\\n"]),
        ] {
            let whole = cut([body.as_bytes()]);
            assert_eq!(
                whole,
                wanted.iter().map(|line| line.replace('\u{feff}', "\\u{feff}")).collect::<Vec<_>>()
            );
            for at in 0..body.len() {
                assert_eq!(cut([&body.as_bytes()[..at], &body.as_bytes()[at..]]), whole, "cut at {at}");
            }
        }
    }
}
