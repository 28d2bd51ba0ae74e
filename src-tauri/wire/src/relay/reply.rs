//! A member's reply on its way to a caller of the member's own API.

use std::sync::Arc;

use serde_json::Value;

use super::{
    Body, ModelName,
    last::Last,
    plain::Search,
    public,
    units::{Framing, Unit, Units},
};
use crate::{
    dialect::{Dialect, format},
    format::EventDecoder,
    json::Json,
    model::{Content, Event, Member, Request},
    restore::{Mapped, Restore},
};

/// One streamed reply: its bytes go on as they came, but for the name of the model, private events, and what comes
/// last. It is read on the side: what cannot be read goes on all the same.
pub struct Relay {
    dialect: Dialect,
    units: Units,
    passing: Passing,
}

impl Relay {
    /// For the answer to this request, of a member of its API. The caller's name of the model is the one it asked for.
    pub fn new(request: &Request, member: Member) -> Relay {
        let format = format(request.dialect);
        Relay {
            dialect: request.dialect,
            units: Units::default(),
            passing: Passing {
                decoder: restore(request, member).over(format.decoder()),
                is_public: format.public_events(),
                names: ModelName::new(format.model_paths(), &request.model),
                last: (request.dialect == Dialect::Chat).then(|| Last::new(request)),
                went_on: true,
                dropped: 0,
                plain: None,
                unread: 0,
            },
        }
    }

    /// The bytes that go on now: at most one unfinished event or line is held back, and of a chat stream its end mark.
    /// What they say is appended to `events`, in the member's own seals.
    pub fn push(&mut self, bytes: &[u8], events: &mut Vec<Event>) -> Vec<u8> {
        let mut out = Vec::with_capacity(bytes.len() + 64);
        let passing = &mut self.passing;
        self.units.push(bytes, &mut |unit| passing.pass(unit, events, &mut out));
        out
    }

    /// The body ended, or will not go on: what was held back. The last event tells how, unless it has come already.
    pub fn end(&mut self, events: &mut Vec<Event>) -> Vec<u8> {
        let mut out = Vec::new();
        let passing = &mut self.passing;
        self.units.end(&mut |unit| passing.pass(unit, events, &mut out));
        out.extend(passing.names.end());
        if let Some(last) = passing.last.as_mut().filter(|_| !out.is_empty()) {
            last.leave_open();
        }
        passing.decoder.end(events);
        out
    }

    /// What comes after everything else: of a chat stream a chunk without choices that carries `bench`, and the end
    /// mark. Other APIs' streams have had their end, and get nothing.
    pub fn finish(&mut self, bench: Option<&Value>) -> Vec<u8> {
        match &self.passing.last {
            Some(last) if self.units.framing() == Framing::Events => last.write(bench),
            _ => Vec::new(),
        }
    }

    /// From here on pieces of text and thinking need not be told (some still are): only calls, seals, usage, the
    /// model, and the end.
    pub fn only_what_counts(&mut self) {
        self.passing.plain = format(self.dialect).plain_pieces().map(Search::new);
    }

    /// About how many bytes of text and thinking have gone on untold since this was last asked.
    pub fn take_unread(&mut self) -> u64 {
        std::mem::take(&mut self.passing.unread)
    }

    /// As [`EventDecoder::may_end`].
    pub fn may_end(&self) -> bool {
        self.passing.decoder.may_end()
    }

    /// How many private events were left out.
    pub fn dropped(&self) -> u32 {
        self.passing.dropped
    }
}

/// A whole reply: the caller's name of the model is put back, and `bench` at the end of the object where the API has
/// room for it; every other byte is as it came. What it says, [`restore`] gives of the events that its API reads in it.
pub fn whole(request: &Request, body: &[u8], bench: Option<&Value>) -> Vec<u8> {
    let paths = format(request.dialect).model_paths();
    let (mark, text) = match body.strip_prefix(BYTE_ORDER_MARK) {
        Some(text) => (BYTE_ORDER_MARK, text),
        None => (&[][..], body),
    };
    // As it was written: what a caller's body is repaired of stays in a reply.
    let read = std::str::from_utf8(text).ok().and_then(|text| Json::of(text.to_owned()).ok());
    let Some(mut object) = read.as_ref().and_then(|json| Body::new(json).ok()) else {
        let mut names = ModelName::new(paths, &request.model);
        let mut out = names.push(body);
        out.extend(names.end());
        return out;
    };
    let name = Value::from(request.model.as_str()).to_string();
    for path in paths {
        if object.has_text(path) {
            object.set(path, &name);
        }
    }
    if let Some(bench) = bench.filter(|_| request.dialect != Dialect::Gemini) {
        object.set(&["bench"], &bench.to_string());
    }
    [mark, &object.into_bytes()].concat()
}

const BYTE_ORDER_MARK: &[u8] = b"\xEF\xBB\xBF";

/// Nothing was mapped on the way to the member; calls without an id get the one that they will have when the caller
/// sends them back.
pub fn restore(request: &Request, member: Member) -> Restore {
    let calls = request.parts().filter(|part| matches!(part.content, Content::ToolCall(_))).count();
    Restore(Arc::new(Mapped { member, calls, ..Mapped::default() }))
}

struct Passing {
    decoder: Box<dyn EventDecoder>,
    is_public: Option<fn(&str) -> bool>,
    names: ModelName,
    /// What a chat stream ends with.
    last: Option<Last>,
    /// What need not be read any more.
    plain: Option<Search>,
    /// Bytes of text in what was not read.
    unread: u64,
    /// Whether the event before went on.
    went_on: bool,
    dropped: u32,
}

impl Passing {
    fn pass(&mut self, unit: Unit<'_>, events: &mut Vec<Event>, out: &mut Vec<u8>) {
        let (bytes, is_familiar) = match unit {
            Unit::Event(bytes) => {
                let passed = self.event(bytes, out);
                self.went_on = passed.is_some();
                (bytes, passed.unwrap_or_default())
            }
            Unit::Line(bytes) => (bytes, self.names.whole_to(bytes, false, out)),
            Unit::Loose { bytes, follows } => {
                if !follows || self.went_on {
                    out.extend_from_slice(bytes);
                }
                (bytes, false)
            }
        };
        match &self.plain {
            Some(plain) if is_familiar && plain.is_plain(bytes) => {
                self.unread = self.unread.saturating_add(plain.said(bytes));
                self.decoder.pass_over(bytes.len(), events);
            }
            _ => self.decoder.push(bytes, events),
        }
    }

    /// Whether it names the same model as events before it, or none; `None` when it does not go on.
    fn event(&mut self, event: &[u8], out: &mut Vec<u8>) -> Option<bool> {
        if let Some(is_public) = self.is_public
            && !public::is_public(event, is_public)
        {
            self.dropped += 1;
            return None;
        }
        match &mut self.last {
            Some(last) => {
                let event = last.goes_on(event)?;
                Some(self.names.whole_to(&event, true, out))
            }
            None => Some(self.names.whole_to(event, true, out)),
        }
    }
}
