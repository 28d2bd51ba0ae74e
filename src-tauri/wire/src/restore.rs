//! The way back: a member's events as the caller has to see them. Names and ids that were mapped are given back,
//! functions that stand for free-form tools are those again, calls without an id get one by position, arguments
//! that never came are `{}`, and every seal is marked with its maker.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use crate::{
    custom::InputReader,
    format::EventDecoder,
    ids,
    model::{CallKind, CallStart, Event, Member, Seal, ToolRef},
    names::Names,
};

/// Made with a request, for its answer. Cheap to clone.
#[derive(Clone, Debug, Default)]
pub struct Restore(pub(crate) Arc<Mapped>);

#[derive(Debug, Default)]
pub(crate) struct Mapped {
    /// The member's name of a tool to the caller's, where they differ.
    pub names: BTreeMap<String, ToolRef>,
    pub ids: Names,
    /// The member's names of functions that stand for free-form tools.
    pub custom: BTreeSet<String>,
    pub member: Member,
    /// Tool calls in the conversation so far.
    pub calls: usize,
}

impl Restore {
    /// The member's decoder with the way back after it.
    pub fn over(&self, decoder: Box<dyn EventDecoder>) -> Box<dyn EventDecoder> {
        Box::new(Restoring {
            decoder,
            mapped: Arc::clone(&self.0),
            calls: BTreeMap::new(),
            given: BTreeSet::new(),
            events: Vec::new(),
        })
    }

    /// Whole answers, as [`Format::decode_reply`](crate::Format::decode_reply) gave them.
    pub fn events(&self, events: Vec<Event>) -> Vec<Event> {
        struct Given(Vec<Event>);
        impl EventDecoder for Given {
            fn push(&mut self, _: &[u8], out: &mut Vec<Event>) {
                out.append(&mut self.0);
            }
            fn end(&mut self, _: &mut Vec<Event>) {}
        }
        let mut out = Vec::new();
        self.over(Box::new(Given(events))).push(&[], &mut out);
        out
    }
}

struct Restoring {
    decoder: Box<dyn EventDecoder>,
    mapped: Arc<Mapped>,
    calls: BTreeMap<usize, Call>,
    /// Ids of this answer: two calls never share one.
    given: BTreeSet<String>,
    events: Vec<Event>,
}

/// An open call.
struct Call {
    kind: CallKind,
    /// Something but spaces has come.
    said: bool,
    /// The arguments of a function that stands for a free-form tool.
    input: Option<InputReader>,
}

impl EventDecoder for Restoring {
    fn push(&mut self, bytes: &[u8], out: &mut Vec<Event>) {
        let mut events = std::mem::take(&mut self.events);
        self.decoder.push(bytes, &mut events);
        events.drain(..).for_each(|event| self.event(event, out));
        self.events = events;
    }

    fn pass_over(&mut self, bytes: usize, out: &mut Vec<Event>) {
        self.decoder.pass_over(bytes, out);
    }

    fn end(&mut self, out: &mut Vec<Event>) {
        let mut events = std::mem::take(&mut self.events);
        self.decoder.end(&mut events);
        events.drain(..).for_each(|event| self.event(event, out));
    }

    fn may_end(&self) -> bool {
        self.decoder.may_end()
    }

    fn skipped(&self) -> u32 {
        self.decoder.skipped()
    }
}

impl Restoring {
    fn event(&mut self, event: Event, out: &mut Vec<Event>) {
        let event = match event {
            Event::CallStart(start) => Event::CallStart(self.start(start)),
            Event::CallArguments { index, delta } => return self.arguments(index, delta, out),
            Event::CallEnd { index } => {
                self.end_call(index, out);
                Event::CallEnd { index }
            }
            Event::ThinkingSignature(seal) => Event::ThinkingSignature(self.seal(seal)),
            Event::Redacted { seal, id } => Event::Redacted { seal: self.seal(seal), id },
            event => event,
        };
        out.push(event);
    }

    fn start(&mut self, mut start: CallStart) -> CallStart {
        let stands_for_custom = start.kind == CallKind::Function && self.mapped.custom.contains(&start.name);
        if stands_for_custom {
            start.kind = CallKind::Custom;
        }
        let input = stands_for_custom.then(InputReader::default);
        self.calls.insert(start.index, Call { kind: start.kind, said: false, input });
        if let Some(known) = self.mapped.names.get(&start.name) {
            start.name.clone_from(&known.name);
            start.namespace.clone_from(&known.namespace);
        }
        start.id = self.id(&start);
        start.signature = start.signature.map(|seal| self.seal(seal));
        start
    }

    fn id(&mut self, start: &CallStart) -> String {
        let mut id = self.mapped.ids.back(&start.id).to_owned();
        let mut n = self.mapped.calls + start.index;
        while id.is_empty() || self.given.contains(&id) {
            id = ids::nth_call(n);
            n += 1;
        }
        self.given.insert(id.clone());
        id
    }

    fn arguments(&mut self, index: usize, delta: String, out: &mut Vec<Event>) {
        let Some(call) = self.calls.get_mut(&index) else { return };
        let delta = match &mut call.input {
            Some(input) => input.push(&delta),
            None => delta,
        };
        let blank = call.kind == CallKind::Function && !call.said && delta.trim().is_empty();
        if !blank && !delta.is_empty() {
            call.said = true;
            out.push(Event::CallArguments { index, delta });
        }
    }

    fn end_call(&mut self, index: usize, out: &mut Vec<Event>) {
        let Some(call) = self.calls.remove(&index) else { return };
        let rest = match call.input {
            Some(input) => input.end(),
            None if call.kind == CallKind::Function && !call.said => "{}".to_owned(),
            None => String::new(),
        };
        if !rest.is_empty() {
            out.push(Event::CallArguments { index, delta: rest });
        }
    }

    fn seal(&self, mut seal: Seal) -> Seal {
        if self.mapped.member != Member::default() {
            seal.origin = Some(self.mapped.member);
        }
        seal
    }
}
