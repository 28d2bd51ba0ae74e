//! A member's reply body into events: what is the same in every dialect. A dialect says what one JSON value means
//! ([`Answer`]); this finds the values, whatever the body turns out to be: a stream, a whole reply to a stream
//! request (or the other way round), an HTML page, plain text.

mod body;
mod events;
mod lines;
mod whole;
mod written;

use serde_json::Value;

pub(crate) use body::Body;
pub(crate) use written::Written;

use crate::{
    error::UpstreamError,
    model::{Event, Finish},
};

/// How far a value brought the turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    GoOn,
    /// The dialect's own end mark: the answer is whole.
    Done,
}

/// How a dialect's streams are framed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Framing {
    /// Server-sent events; a body that begins with `{` or `[` is a whole reply.
    Events,
    /// One JSON value a line.
    Lines,
}

/// What a dialect must tell to have its bodies read by [`Body`]. It remembers from one value to the next what it
/// must, and never emits a `Finish` or an `Error` itself.
pub(crate) trait Answer: Default + Send {
    const FRAMING: Framing;

    /// Where arguments may stand as an object: [`read`](Self::read) gets their text in its place.
    const ARGUMENTS: Written;

    /// Whether an event of this name holds some of the answer, so that one that cannot be read is missing from it. One
    /// without a name always does.
    fn is_said_in(_event: &str) -> bool {
        false
    }

    /// Appends what the value says: one event of a stream (`event` is its name, empty where it has none) or a
    /// whole reply. An error in it ends the reply.
    fn read(&mut self, event: &str, value: &Value, out: &mut Vec<Event>) -> Result<Step, UpstreamError>;

    /// Reads a value that says no more than one piece of text, as nearly all of a stream's do, without building it.
    /// `false`: it is another, and nothing has been told; [`read`](Self::read) it.
    fn piece(&mut self, _text: &str, _out: &mut Vec<Event>) -> bool {
        false
    }

    /// Whether anything read so far was of the dialect; otherwise a whole body is told as no answer.
    fn has_begun(&self) -> bool;

    /// The finish reason, once the provider has said it.
    fn finish(&self) -> Option<Finish>;

    /// How it must have ended when there was an end mark and no reason.
    fn inferred(&self) -> Finish;

    /// Whether an end mark has come that needs no reason beside it: a whole message.
    fn is_whole(&self) -> bool {
        false
    }

    /// The answer ends as told: calls that are whole are ended here if they are not yet. An error fails the turn
    /// (every call of it is unusable).
    fn close(&mut self, _finish: Finish, _out: &mut Vec<Event>) -> Result<(), UpstreamError> {
        Ok(())
    }
}

/// Ends the reply: closes what is open, then the last event.
fn finish(answer: &mut impl Answer, out: &mut Vec<Event>) {
    let (reason, inferred) = match answer.finish() {
        Some(reason) => (reason, false),
        None => (answer.inferred(), true),
    };
    let last = match answer.close(reason, out) {
        Ok(()) => Event::Finish { reason, inferred },
        Err(error) => Event::Error(error),
    };
    out.push(last);
}
