use std::{sync::Arc, time::Duration};

use bytes::Bytes;

use super::{Api, Received};
use crate::Gate;

/// What a model does when it is asked: decided when the request is there.
#[derive(Clone)]
pub struct Script(Arc<dyn Fn(&Received) -> Reply + Send + Sync>);

/// One reply, step by step.
#[derive(Clone, Debug)]
pub struct Reply {
    /// Done before the head is sent.
    pub before: Vec<Step>,
    pub status: u16,
    /// `None` after `before`: the connection is closed without a head.
    pub head: bool,
    pub headers: Vec<(String, String)>,
    pub framing: Framing,
    pub steps: Vec<Step>,
}

#[derive(Clone, Debug)]
pub enum Step {
    /// One write, one chunk.
    Send(Bytes),
    /// Every byte in its own write and its own chunk.
    Bytewise(Bytes),
    /// Bytes outside the framing, as they are.
    Raw(Bytes),
    Wait(Gate),
    Pause(Duration),
    /// Sends RST; what was written may be lost, as in life.
    Reset,
    /// Closes here, without the framing's end mark.
    Close,
    /// Says nothing more until the other side hangs up.
    Stall,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Framing {
    Chunked,
    /// `Content-Length` of all that is sent.
    Length,
    /// No length at all: the body ends with the connection.
    UntilClose,
}

impl Reply {
    /// A 200 of this content type, chunked, with nothing in it yet.
    pub fn new(content_type: &str) -> Self {
        Reply {
            before: Vec::new(),
            status: 200,
            head: true,
            headers: vec![("content-type".into(), content_type.into())],
            framing: Framing::Chunked,
            steps: Vec::new(),
        }
    }

    /// A whole body with its length.
    pub fn whole(status: u16, content_type: &str, body: impl Into<Bytes>) -> Self {
        Reply { status, framing: Framing::Length, ..Reply::new(content_type).send(body) }
    }

    pub fn send(mut self, bytes: impl Into<Bytes>) -> Self {
        self.steps.push(Step::Send(bytes.into()));
        self
    }

    pub fn step(mut self, step: Step) -> Self {
        self.steps.push(step);
        self
    }

    pub fn header(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.into(), value.into()));
        self
    }

    /// Nothing, not even the head, before the gate is open.
    pub fn held(mut self, gate: &Gate) -> Self {
        self.before.push(Step::Wait(gate.clone()));
        self
    }

    /// Puts `step` before the `n`th step (from 0).
    pub fn at(mut self, n: usize, step: Step) -> Self {
        self.steps.insert(n.min(self.steps.len()), step);
        self
    }

    /// Everything it sends, a byte at a time.
    pub fn bytewise(mut self) -> Self {
        for step in &mut self.steps {
            if let Step::Send(bytes) = step {
                *step = Step::Bytewise(bytes.clone());
            }
        }
        self
    }

    pub fn framed(mut self, framing: Framing) -> Self {
        self.framing = framing;
        self
    }
}

impl Script {
    /// Decides by the request.
    pub fn by(decide: impl Fn(&Received) -> Reply + Send + Sync + 'static) -> Self {
        Script(Arc::new(decide))
    }

    /// The same in every API, said in the one that is asked in.
    pub fn in_any(speak: impl Fn(Api, &Received) -> Reply + Send + Sync + 'static) -> Self {
        Script::by(move |request| match request.api() {
            Some(api) => speak(api, request),
            None => Reply::whole(404, "text/plain", "no API is asked at this path"),
        })
    }

    /// The first request gets the first reply, and so on; the last one stays.
    pub fn turns(replies: Vec<Reply>) -> Self {
        let asked = std::sync::atomic::AtomicUsize::new(0);
        Script::by(move |_| {
            let turn = asked.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
            replies[turn.min(replies.len() - 1)].clone()
        })
    }

    pub(super) fn decide(&self, request: &Received) -> Reply {
        (self.0)(request)
    }
}

impl From<Reply> for Script {
    fn from(reply: Reply) -> Self {
        Script::by(move |_| reply.clone())
    }
}

impl std::fmt::Debug for Script {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Script")
    }
}
