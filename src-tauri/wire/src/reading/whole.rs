//! A body that is JSON from its first byte.

use super::{Answer, Step, finish};
use crate::{
    error::Class,
    failure,
    json::lenient::{self, Lenient},
    model::Event,
};

/// A whole JSON reply; also one chunk a line, which some servers send for a stream.
pub(super) fn read_whole<A: Answer>(body: &[u8], out: &mut Vec<Event>) {
    let text = String::from_utf8_lossy(body);
    let mut answer = A::default();
    let mut first = None;
    let mut rest = text.as_ref();
    while let Some(read) = lenient::first(rest) {
        let value = match read {
            Ok(Lenient { mut value, written }) => {
                A::ARGUMENTS.keep(&mut value, &written);
                rest = &rest[written.len()..];
                value
            }
            // What follows a good reply is noise.
            Err(_) if answer.has_begun() && is_ended(&answer) => break,
            Err(error) if error.is_eof() => {
                out.push(Event::Error(failure::fault(Class::Network, "the reply's JSON broke off")));
                return;
            }
            Err(_) => {
                out.push(Event::Error(failure::fault(Class::Other, "the reply is not JSON")));
                return;
            }
        };
        match answer.read("", &value, out) {
            Ok(Step::GoOn) => {}
            Ok(Step::Done) => return finish(&mut answer, out),
            Err(error) => return out.push(Event::Error(error)),
        }
        first.get_or_insert(value);
    }
    if !answer.has_begun() {
        let said = first.as_ref().map(|value| failure::stated(None, value));
        let error = said.unwrap_or_else(|| failure::fault(Class::Other, "the reply is not JSON"));
        out.push(Event::Error(error));
    } else if is_ended(&answer) {
        finish(&mut answer, out);
    } else {
        out.push(Event::Error(failure::fault(Class::Network, "the stream ended before its end mark")));
    }
}

fn is_ended(answer: &impl Answer) -> bool {
    answer.is_whole() || answer.finish().is_some()
}
