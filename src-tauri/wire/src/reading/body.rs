//! A reply body, whatever it turns out to be. The first byte that is no space decides.

use super::{Answer, Framing, events::EventStream, lines::LineStream, whole::read_whole};
use crate::{error::Class, failure, format::EventDecoder, model::Event};

/// The most a reply may hold, in bytes.
const MAX_REPLY: usize = 32 * 1024 * 1024;

/// Of a page this much is kept: its title stands near its beginning.
const MAX_PAGE: usize = 64 * 1024;

/// Reads a body of the dialect that `A` knows.
#[derive(Default)]
pub(crate) struct Body<A> {
    state: State<A>,
    size: usize,
    /// Frames or lines that could not be read; known when the reply has ended too.
    skipped: u32,
}

#[derive(Default)]
enum State<A> {
    /// Nothing but spaces, and at most the beginning of a byte order mark, which is kept.
    #[default]
    Unknown,
    Bom(Vec<u8>),
    Stream(Box<EventStream<A>>),
    Lines(Box<LineStream<A>>),
    Whole(Vec<u8>),
    Page(Vec<u8>),
    /// A `Finish` or an `Error` has gone out: nothing follows it.
    Ended,
}

impl<A: Answer> EventDecoder for Body<A> {
    fn push(&mut self, bytes: &[u8], out: &mut Vec<Event>) {
        if matches!(self.state, State::Ended) {
            return;
        }
        self.pass_over(bytes.len(), out);
        match &mut self.state {
            State::Unknown => self.start(bytes, out),
            State::Bom(held) => {
                held.extend_from_slice(bytes);
                let held = std::mem::take(held);
                self.start(&held, out);
            }
            State::Stream(stream) => {
                let ended = stream.push(bytes, out);
                self.skipped = stream.skipped();
                if ended {
                    self.state = State::Ended;
                }
            }
            State::Lines(lines) => {
                let ended = lines.push(bytes, out);
                self.skipped = lines.skipped();
                if ended {
                    self.state = State::Ended;
                }
            }
            State::Whole(body) => body.extend_from_slice(bytes),
            State::Page(page) => page.extend_from_slice(&bytes[..bytes.len().min(MAX_PAGE - page.len())]),
            State::Ended => {}
        }
    }

    fn pass_over(&mut self, bytes: usize, out: &mut Vec<Event>) {
        self.size += bytes;
        if self.size > MAX_REPLY && !matches!(self.state, State::Ended) {
            self.state = State::Ended;
            let limit = MAX_REPLY / (1024 * 1024);
            out.push(Event::Error(failure::fault(Class::Other, format!("the reply is over {limit} MiB"))));
        }
    }

    fn end(&mut self, out: &mut Vec<Event>) {
        match std::mem::replace(&mut self.state, State::Ended) {
            State::Unknown | State::Bom(_) => {
                out.push(Event::Error(failure::fault(
                    Class::Network,
                    "the reply ended before anything came",
                )));
            }
            State::Stream(mut stream) => stream.end(out),
            State::Lines(mut lines) => lines.end(out),
            State::Whole(body) => read_whole::<A>(&body, out),
            State::Page(page) => {
                out.push(Event::Error(failure::page(None, &String::from_utf8_lossy(&page))));
            }
            State::Ended => {}
        }
    }

    fn may_end(&self) -> bool {
        match &self.state {
            State::Stream(stream) => stream.may_end(),
            State::Lines(lines) => lines.may_end(),
            _ => false,
        }
    }

    fn skipped(&self) -> u32 {
        self.skipped
    }
}

impl<A: Answer> Body<A> {
    /// Spaces and byte order marks before the body are dropped: some servers send spaces to keep the connection
    /// open.
    fn start(&mut self, bytes: &[u8], out: &mut Vec<Event>) {
        const BOM: &[u8] = b"\xEF\xBB\xBF";
        let mut bytes = bytes.trim_ascii_start();
        while let Some(rest) = bytes.strip_prefix(BOM) {
            bytes = rest.trim_ascii_start();
        }
        if !bytes.is_empty() && BOM.starts_with(bytes) {
            self.state = State::Bom(bytes.to_vec());
            return;
        }
        self.state = match bytes.first() {
            None => State::Unknown,
            Some(b'{') if A::FRAMING == Framing::Lines => {
                let mut lines = Box::<LineStream<A>>::default();
                let ended = lines.push(bytes, out);
                self.skipped = lines.skipped();
                if ended { State::Ended } else { State::Lines(lines) }
            }
            Some(b'{' | b'[') => State::Whole(bytes.to_vec()),
            Some(b'<') => State::Page(bytes[..bytes.len().min(MAX_PAGE)].to_vec()),
            Some(_) => {
                let mut stream = Box::<EventStream<A>>::default();
                let ended = stream.push(bytes, out);
                self.skipped = stream.skipped();
                if ended { State::Ended } else { State::Stream(stream) }
            }
        };
    }
}
