//! JSON values one a line, byte-exact: bytes in, lines out, no I/O. Lines end in LF or CRLF; blank lines are
//! passed over; bytes may be cut anywhere.

use crate::sse::{MAX_EVENT, TooLong};

/// Turns bytes into lines. Holds at most one unfinished line, bounded by its limit.
#[derive(Debug)]
pub struct Decoder {
    limit: usize,
    line: Vec<u8>,
    too_long: bool,
}

impl Default for Decoder {
    fn default() -> Self {
        Decoder::with_limit(MAX_EVENT)
    }
}

impl Decoder {
    /// A decoder that allows `limit` bytes a line.
    pub fn with_limit(limit: usize) -> Self {
        Decoder { limit, line: Vec::new(), too_long: false }
    }

    /// Feeds bytes as they arrived; lines that are complete are appended to `out`. After an error every further
    /// push gives the same error.
    pub fn push(&mut self, mut bytes: &[u8], out: &mut Vec<String>) -> Result<(), TooLong> {
        while let Some(end) = bytes.iter().position(|byte| *byte == b'\n') {
            self.take(&bytes[..end])?;
            bytes = &bytes[end + 1..];
            out.extend(self.end());
        }
        self.take(bytes)
    }

    /// The body ended: what is left is handed over, and the caller judges whether it is whole.
    pub fn end(&mut self) -> Option<String> {
        let line = String::from_utf8_lossy(&self.line).trim().to_owned();
        // The room is used again, unless one long line would hold it for the rest of the stream.
        if self.line.capacity() > 64 * 1024 {
            self.line = Vec::new();
        }
        self.line.clear();
        (!line.is_empty()).then_some(line)
    }

    fn take(&mut self, bytes: &[u8]) -> Result<(), TooLong> {
        if self.too_long || self.line.len() + bytes.len() > self.limit {
            self.too_long = true;
            self.line = Vec::new();
            return Err(TooLong { limit: self.limit });
        }
        self.line.extend_from_slice(bytes);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines<'a>(pieces: impl IntoIterator<Item = &'a [u8]>) -> Vec<String> {
        let (mut decoder, mut out) = (Decoder::default(), Vec::new());
        for piece in pieces {
            decoder.push(piece, &mut out).unwrap();
        }
        out.extend(decoder.end());
        out
    }

    #[test]
    fn lines_do_not_depend_on_cuts() {
        let body = "{\"a\":\"北\"}\r\n\n{\"b\":1}\n  \n{\"c\"".as_bytes();
        let wanted = ["{\"a\":\"北\"}", "{\"b\":1}", "{\"c\""];
        assert_eq!(lines([body]), wanted);
        assert_eq!(lines(body.chunks(1)), wanted);
        for cut in 0..body.len() {
            assert_eq!(lines([&body[..cut], &body[cut..]]), wanted, "cut at {cut}");
        }
    }

    #[test]
    fn a_line_over_the_limit_is_an_error_for_good() {
        let (mut decoder, mut out) = (Decoder::with_limit(4), Vec::new());
        assert!(decoder.push(b"1234\n12345", &mut out).is_err());
        assert!(decoder.push(b"\n1\n", &mut out).is_err());
        assert_eq!((out, decoder.end()), (vec!["1234".to_owned()], None));
    }
}
