//! Server-sent events, byte-exact: bytes in, frames out, no I/O.
//!
//! Follows the WHATWG rules: lines end in LF, CRLF or CR; a byte order mark at the start is skipped; one space
//! after the colon is dropped; `data` lines join with LF; comments and unknown fields are passed over. Bytes
//! may be cut anywhere: text is decoded a whole frame at a time, so a character is never split.

/// The most one event may hold, in bytes: far above any real one, so that only a broken stream meets it.
pub const MAX_EVENT: usize = 32 * 1024 * 1024;

/// One dispatched event.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Frame {
    /// The `event` field; empty when the stream named none (which means `message`).
    pub event: String,
    /// The `data` lines joined by LF. Bytes that are no UTF-8 become U+FFFD.
    pub data: String,
    /// The last `id` seen so far in the stream.
    pub id: Option<String>,
}

/// An event grew past the decoder's limit. The stream cannot be read on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("one event of the stream is over {limit} bytes")]
pub struct TooLong {
    pub limit: usize,
}

/// Turns bytes into frames. Holds at most one unfinished event, bounded by its limit.
#[derive(Debug)]
pub struct Decoder {
    limit: usize,
    /// The unfinished line.
    line: Vec<u8>,
    /// `data` lines of the unfinished event, each with its LF.
    data: Vec<u8>,
    event: String,
    id: Option<String>,
    retry: Option<u64>,
    /// The last byte was a CR: an LF that follows belongs to it.
    after_cr: bool,
    /// No line has been read: a byte order mark may stand here.
    at_start: bool,
    too_long: bool,
}

impl Default for Decoder {
    fn default() -> Self {
        Decoder::with_limit(MAX_EVENT)
    }
}

impl Decoder {
    /// A decoder that allows `limit` bytes an event.
    pub fn with_limit(limit: usize) -> Self {
        Decoder {
            limit,
            line: Vec::new(),
            data: Vec::new(),
            event: String::new(),
            id: None,
            retry: None,
            after_cr: false,
            at_start: true,
            too_long: false,
        }
    }

    /// Feeds bytes as they arrived; frames that are complete are appended to `out`. After an error every
    /// further push gives the same error.
    pub fn push(&mut self, mut bytes: &[u8], out: &mut Vec<Frame>) -> Result<(), TooLong> {
        if self.too_long {
            return Err(TooLong { limit: self.limit });
        }
        if self.after_cr && !bytes.is_empty() {
            self.after_cr = false;
            bytes = bytes.strip_prefix(b"\n").unwrap_or(bytes);
        }
        while let Some(end) = bytes.iter().position(|byte| matches!(byte, b'\n' | b'\r')) {
            self.end_line(&bytes[..end], out)?;
            let rest = &bytes[end + 1..];
            bytes = match bytes[end] {
                b'\r' if rest.is_empty() => {
                    self.after_cr = true;
                    rest
                }
                b'\r' => rest.strip_prefix(b"\n").unwrap_or(rest),
                _ => rest,
            };
        }
        self.check(bytes.len())?;
        self.line.extend_from_slice(bytes);
        Ok(())
    }

    /// The body ended. WHATWG drops an event that no blank line closed; many servers leave that line out after
    /// their last event, so it is handed over here and the caller judges whether it is whole.
    pub fn end(&mut self) -> Option<Frame> {
        if self.too_long {
            return None;
        }
        let mut out = Vec::new();
        self.end_line(b"", &mut out).ok()?;
        self.dispatch(&mut out);
        out.pop()
    }

    /// The reconnection time the stream asked for, in milliseconds.
    pub fn retry(&self) -> Option<u64> {
        self.retry
    }

    fn check(&mut self, more: usize) -> Result<(), TooLong> {
        if self.line.len() + self.data.len() + more > self.limit {
            self.too_long = true;
            self.line = Vec::new();
            self.data = Vec::new();
            return Err(TooLong { limit: self.limit });
        }
        Ok(())
    }

    /// `tail` completes the line begun in `self.line`.
    fn end_line(&mut self, tail: &[u8], out: &mut Vec<Frame>) -> Result<(), TooLong> {
        self.check(tail.len())?;
        let mut held = std::mem::take(&mut self.line);
        let mut line = if held.is_empty() {
            tail
        } else {
            held.extend_from_slice(tail);
            held.as_slice()
        };
        if std::mem::take(&mut self.at_start) {
            line = line.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(line);
        }
        if line.is_empty() {
            self.dispatch(out);
        } else {
            self.field(line);
        }
        // The line's room is used again, unless one long line would hold it for the rest of the stream.
        if held.capacity() <= 64 * 1024 {
            held.clear();
            self.line = held;
        }
        Ok(())
    }

    fn field(&mut self, line: &[u8]) {
        let (name, value) = match line.iter().position(|byte| *byte == b':') {
            Some(colon) => (&line[..colon], &line[colon + 1..]),
            None => (line, &line[line.len()..]),
        };
        let value = value.strip_prefix(b" ").unwrap_or(value);
        match name {
            b"data" => {
                self.data.extend_from_slice(value);
                self.data.push(b'\n');
            }
            b"event" => self.event = String::from_utf8_lossy(value).into_owned(),
            b"id" if !value.contains(&0) => self.id = Some(String::from_utf8_lossy(value).into_owned()),
            b"retry" if !value.is_empty() && value.iter().all(u8::is_ascii_digit) => {
                self.retry = std::str::from_utf8(value).ok().and_then(|digits| digits.parse().ok());
            }
            // A comment (empty name) or a field of no meaning.
            _ => {}
        }
    }

    fn dispatch(&mut self, out: &mut Vec<Frame>) {
        let event = std::mem::take(&mut self.event);
        if self.data.pop().is_none() {
            return;
        }
        let data = String::from_utf8(std::mem::take(&mut self.data))
            .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned());
        out.push(Frame { event, data, id: self.id.clone() });
    }
}

/// Writes one event: a `data: ` prefix for every line of `data`, then the blank line.
pub fn write(out: &mut Vec<u8>, event: Option<&str>, data: &str) {
    if let Some(event) = event {
        field_lines(out, "event", event);
    }
    field_lines(out, "data", data);
    out.push(b'\n');
}

/// Writes one event whose data is a value's JSON text, which is always one line.
pub(crate) fn write_json(out: &mut Vec<u8>, event: Option<&str>, value: &impl serde::Serialize) {
    if let Some(event) = event {
        field_lines(out, "event", event);
    }
    out.extend_from_slice(b"data: ");
    crate::json::write(out, value);
    out.extend_from_slice(b"\n\n");
}

/// Writes a comment, which keeps a connection open and means nothing.
pub fn comment(out: &mut Vec<u8>, text: &str) {
    field_lines(out, "", text);
    out.push(b'\n');
}

fn field_lines(out: &mut Vec<u8>, name: &str, value: &str) {
    let mut rest = value;
    loop {
        let end = rest.find(['\n', '\r']);
        out.extend_from_slice(name.as_bytes());
        out.extend_from_slice(b": ");
        out.extend_from_slice(&rest.as_bytes()[..end.unwrap_or(rest.len())]);
        out.push(b'\n');
        let Some(end) = end else { return };
        rest = &rest[end..];
        rest = rest.strip_prefix("\r\n").unwrap_or_else(|| &rest[1..]);
    }
}
