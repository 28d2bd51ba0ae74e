//! A body of server-sent events.

use serde_json::Value;

use super::{Answer, Step, finish};
use crate::{
    error::{Class, UpstreamError},
    failure,
    json::lenient::{self, Lenient},
    model::Event,
    sse::{Decoder, Frame},
};

/// Frames that could not be read before the turn is given up: one may be an accident, two are a fault, and
/// what they held is missing from the answer.
const MOST_BAD: u32 = 1;

/// How much of a body that may be plain text is kept to be told.
const MAX_PLAIN: usize = 4 * 1024;

#[derive(Default)]
pub(super) struct EventStream<A> {
    decoder: Decoder,
    frames: Vec<Frame>,
    answer: A,
    bad: u32,
    /// The beginning of the body, until its first event shows that it is a stream.
    plain: Option<Vec<u8>>,
    any: bool,
}

impl<A: Answer> EventStream<A> {
    /// `true` once a `Finish` or an `Error` has gone out.
    pub fn push(&mut self, bytes: &[u8], out: &mut Vec<Event>) -> bool {
        if !self.any {
            let plain = self.plain.get_or_insert_default();
            plain.extend_from_slice(&bytes[..bytes.len().min(MAX_PLAIN - plain.len())]);
        }
        let mut frames = std::mem::take(&mut self.frames);
        let pushed = self.decoder.push(bytes, &mut frames);
        let mut ended = false;
        for frame in frames.drain(..) {
            self.any = true;
            match self.read(&frame, out) {
                Ok(Step::GoOn) => continue,
                Ok(Step::Done) => finish(&mut self.answer, out),
                Err(error) => out.push(Event::Error(error)),
            }
            ended = true;
            break;
        }
        self.frames = frames;
        if self.any {
            self.plain = None;
        }
        if !ended && let Err(error) = pushed {
            out.push(Event::Error(failure::fault(Class::Other, error.to_string())));
            ended = true;
        }
        ended
    }

    pub fn end(&mut self, out: &mut Vec<Event>) {
        // An event that no blank line closed counts only if it is whole.
        if let Some(frame) = self.decoder.end()
            && (is_done(&frame.data) || lenient::whole(&frame.data).is_some())
        {
            self.any = true;
            match self.read(&frame, out) {
                Ok(Step::GoOn) => {}
                Ok(Step::Done) => return finish(&mut self.answer, out),
                Err(error) => return out.push(Event::Error(error)),
            }
        }
        if self.answer.finish().is_some() {
            return finish(&mut self.answer, out);
        }
        let plain = self.plain.take().filter(|plain| !self.any && !looks_like_events(plain));
        out.push(Event::Error(match plain {
            Some(plain) => failure::plain(&String::from_utf8_lossy(&plain)),
            None => failure::fault(Class::Network, "the stream ended before its end mark"),
        }));
    }

    /// The finish reason has come.
    pub fn may_end(&self) -> bool {
        self.answer.finish().is_some()
    }

    /// Frames that could not be read.
    pub fn skipped(&self) -> u32 {
        self.bad
    }

    fn read(&mut self, frame: &Frame, out: &mut Vec<Event>) -> Result<Step, UpstreamError> {
        let mut rest = frame.data.trim();
        if frame.event == "error" {
            return Err(match lenient::whole(rest) {
                Some(value) => failure::stated(None, &value),
                None => failure::plain(rest),
            });
        }
        if self.answer.piece(rest, out) {
            return Ok(Step::GoOn);
        }
        // Almost always one value. Frames that were glued together or lost their blank line hold several.
        while !rest.is_empty() {
            if is_done(rest) {
                return Ok(Step::Done);
            }
            let Some((value, length)) = first_value::<A>(rest) else {
                match rest.rfind("data:") {
                    Some(at) => rest = rest[at + 5..].trim_start(),
                    None => return self.bad_frame(frame).map(|()| Step::GoOn),
                }
                continue;
            };
            if self.answer.read(&frame.event, &value, out)? == Step::Done {
                return Ok(Step::Done);
            }
            rest = rest[length..].trim_start();
            rest = rest.strip_prefix("data:").unwrap_or(rest).trim_start();
        }
        Ok(Step::GoOn)
    }

    fn bad_frame(&mut self, frame: &Frame) -> Result<(), UpstreamError> {
        // A private event may hold anything; a comment sent on as data holds no answer.
        let event = frame.event.as_str();
        if !(matches!(event, "" | "message") || A::is_said_in(event))
            || frame.data.trim_start().starts_with(':')
        {
            return Ok(());
        }
        self.bad += 1;
        if self.bad > MOST_BAD {
            return Err(failure::fault(
                Class::Other,
                format!("{} events of the stream could not be read as JSON", self.bad),
            ));
        }
        Ok(())
    }
}

fn is_done(data: &str) -> bool {
    data.trim_start().starts_with("[DONE]")
}

/// The first JSON value and how many bytes of `text` it took.
fn first_value<A: Answer>(text: &str) -> Option<(Value, usize)> {
    let Lenient { mut value, written } = lenient::first(text)?.ok()?;
    A::ARGUMENTS.keep(&mut value, &written);
    Some((value, written.len()))
}

fn looks_like_events(head: &[u8]) -> bool {
    head.split(|byte| matches!(byte, b'\n' | b'\r')).any(|line| {
        line.starts_with(b":")
            || ["data:", "event:", "id:", "retry:"].iter().any(|name| line.starts_with(name.as_bytes()))
    }) || ["data:", "event:", "id:", "retry:"].iter().any(|name| name.as_bytes().starts_with(head))
}
