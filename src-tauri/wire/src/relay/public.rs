//! Events of a relayed stream that are not of the API's public protocol are left out: clients that know only its
//! events fail on others.

use std::borrow::Cow;

use crate::{format::Format, sse::MAX_EVENT};

/// Takes private events out of a relayed reply: whole events of a stream, by [`Format::public_events`]. Every other byte
/// is as it was, however the bytes are cut; a body that is no stream goes through untouched.
pub struct PublicEvents {
    is_public: Option<fn(&str) -> bool>,
    /// The event that is not yet whole.
    held: Vec<u8>,
    /// The bytes of the line that is not yet whole.
    line: usize,
    /// The last byte was a CR; whether what it ended went on. An LF that follows belongs to it.
    after_cr: Option<bool>,
    state: State,
    dropped: u32,
}

#[derive(Clone, Copy, PartialEq)]
enum State {
    /// Nothing but spaces so far.
    Unknown,
    Events,
    /// The event is over the limit and goes on as it comes.
    TooLong,
    NoStream,
}

impl PublicEvents {
    pub fn new(format: &'static dyn Format) -> Self {
        PublicEvents {
            is_public: format.public_events(),
            held: Vec::new(),
            line: 0,
            after_cr: None,
            state: State::Unknown,
            dropped: 0,
        }
    }

    /// The bytes that go on now. Holds back at most one unfinished event.
    pub fn push(&mut self, bytes: &[u8]) -> Vec<u8> {
        if self.is_public.is_none() {
            return bytes.to_vec();
        }
        let mut out = Vec::with_capacity(bytes.len());
        for byte in bytes {
            self.byte(*byte, &mut out);
        }
        if self.held.len() > MAX_EVENT {
            self.state = State::TooLong;
        }
        if self.state != State::Events {
            out.append(&mut self.held);
        }
        out
    }

    /// The body ended: what was held back.
    pub fn end(&mut self) -> Vec<u8> {
        let mut out = Vec::new();
        self.end_event(&mut out);
        out
    }

    /// How many events were left out.
    pub fn dropped(&self) -> u32 {
        self.dropped
    }

    fn byte(&mut self, byte: u8, out: &mut Vec<u8>) {
        if self.state == State::Unknown {
            // Spaces before the body are no part of its first event, however they are cut.
            if byte.is_ascii_whitespace() {
                out.push(byte);
                return;
            }
            self.state = if matches!(byte, b'{' | b'[' | b'<') { State::NoStream } else { State::Events };
        }
        let after_cr = self.after_cr.take();
        if byte == b'\n'
            && let Some(went_on) = after_cr
        {
            if !self.held.is_empty() {
                self.held.push(byte);
            } else if went_on {
                out.push(byte);
            }
            return;
        }
        self.held.push(byte);
        if !matches!(byte, b'\n' | b'\r') {
            self.line += 1;
            return;
        }
        let is_blank = std::mem::take(&mut self.line) == 0;
        let went_on = if is_blank { self.end_event(out) } else { true };
        self.after_cr = (byte == b'\r').then_some(went_on);
    }

    /// Whether the event went on.
    fn end_event(&mut self, out: &mut Vec<u8>) -> bool {
        let is_public = self.state != State::Events || self.is_public();
        if is_public {
            out.append(&mut self.held);
        } else {
            self.dropped += 1;
            self.held.clear();
        }
        if self.state == State::TooLong {
            self.state = State::Events;
        }
        is_public
    }

    fn is_public(&self) -> bool {
        self.is_public.is_none_or(|by_name| is_public(&self.held, by_name))
    }
}

/// Whether an event of a stream is of the public protocol: by its name, else by its data's `type`.
pub(super) fn is_public(event_bytes: &[u8], is_public: fn(&str) -> bool) -> bool {
    let (mut event, mut data) = ("", None);
    let mut rest = event_bytes;
    while !rest.is_empty() {
        let end = memchr::memchr2(b'\n', b'\r', rest).unwrap_or(rest.len());
        let line = &rest[..end];
        rest = rest.get(end + 1..).unwrap_or_default();
        if let Some(name) = line.strip_prefix(b"event:") {
            event = std::str::from_utf8(name).map_or(event, str::trim);
        } else if let Some(text) = line.strip_prefix(b"data:") {
            data = data.or(Some(text));
        }
    }
    if !matches!(event, "" | "message") {
        return is_public(event);
    }
    #[derive(serde::Deserialize)]
    struct Typed<'a> {
        #[serde(borrow, rename = "type")]
        kind: Cow<'a, str>,
    }
    let typed = data.and_then(|data| serde_json::from_slice::<Typed<'_>>(data).ok());
    typed.is_none_or(|typed| is_public(&typed.kind))
}
