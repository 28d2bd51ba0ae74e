//! A body of one JSON value a line.

use serde_json::Value;

use super::{Answer, Step, finish, whole::read_whole};
use crate::{
    error::{Class, UpstreamError},
    failure,
    json::lenient::{self, Lenient},
    model::Event,
    ndjson::Decoder,
};

/// Lines that could not be read before the turn is given up.
const MOST_BAD: u32 = 1;

#[derive(Default)]
pub(super) struct LineStream<A> {
    decoder: Decoder,
    answer: A,
    bad: u32,
    /// A whole reply written over several lines, once its first line has shown that it is one.
    whole: Option<String>,
}

impl<A: Answer> LineStream<A> {
    /// `true` once a `Finish` or an `Error` has gone out.
    pub fn push(&mut self, bytes: &[u8], out: &mut Vec<Event>) -> bool {
        let mut lines = Vec::new();
        let pushed = self.decoder.push(bytes, &mut lines);
        for line in lines {
            match self.read(&line, out) {
                Ok(Step::GoOn) => continue,
                Ok(Step::Done) => finish(&mut self.answer, out),
                Err(error) => out.push(Event::Error(error)),
            }
            return true;
        }
        if let Err(error) = pushed {
            out.push(Event::Error(failure::fault(Class::Other, error.to_string())));
            return true;
        }
        false
    }

    pub fn end(&mut self, out: &mut Vec<Event>) {
        if let Some(mut whole) = self.whole.take() {
            whole.push_str(&self.decoder.end().unwrap_or_default());
            return read_whole::<A>(whole.as_bytes(), out);
        }
        // A line that nothing closed counts only if it is whole.
        if let Some(line) = self.decoder.end()
            && let Some(value) = value_of::<A>(&line)
        {
            match self.answer.read("", &value, out) {
                Ok(Step::GoOn) => {}
                Ok(Step::Done) => return finish(&mut self.answer, out),
                Err(error) => return out.push(Event::Error(error)),
            }
        }
        if self.answer.finish().is_some() || self.answer.is_whole() {
            return finish(&mut self.answer, out);
        }
        out.push(Event::Error(failure::fault(Class::Network, "the stream ended before its end mark")));
    }

    /// The finish reason has come.
    pub fn may_end(&self) -> bool {
        self.answer.finish().is_some()
    }

    /// Lines that could not be read.
    pub fn skipped(&self) -> u32 {
        self.bad
    }

    fn read(&mut self, line: &str, out: &mut Vec<Event>) -> Result<Step, UpstreamError> {
        if let Some(whole) = &mut self.whole {
            whole.push_str(line);
            whole.push('\n');
            return Ok(Step::GoOn);
        }
        if self.answer.piece(line, out) {
            return Ok(Step::GoOn);
        }
        let Some(value) = value_of::<A>(line) else {
            if matches!(line, "{" | "[") && !self.answer.has_begun() {
                self.whole = Some(line.to_owned());
                return Ok(Step::GoOn);
            }
            self.bad += 1;
            if self.bad > MOST_BAD {
                let words = format!("{} lines of the stream could not be read as JSON", self.bad);
                return Err(failure::fault(Class::Other, words));
            }
            return Ok(Step::GoOn);
        };
        self.answer.read("", &value, out)
    }
}

fn value_of<A: Answer>(line: &str) -> Option<Value> {
    let Lenient { mut value, written } = lenient::first(line)?.ok()?;
    A::ARGUMENTS.keep(&mut value, &written);
    line[written.len()..].trim().is_empty().then_some(value)
}
