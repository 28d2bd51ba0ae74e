//! Streamed tool calls, put together: keyed by id, then index, then position; never dropped.

use serde_json::Value;

use crate::{
    error::{Class, UpstreamError},
    failure,
    model::{CallKind, CallStart, Event, Finish, Seal},
};

#[derive(Default)]
pub(super) struct Calls {
    /// In the order they began.
    calls: Vec<Call>,
    started: usize,
}

#[derive(Default)]
struct Call {
    id: String,
    /// The provider's index: it may begin at 1, or be the same for all.
    index: Option<u64>,
    name: String,
    kind: CallKind,
    signature: Option<Seal>,
    arguments: String,
    /// Ours, once it has begun: a call without a name has not.
    started: Option<usize>,
    ended: bool,
}

/// What one delta says.
struct Delta<'a> {
    id: &'a str,
    index: Option<u64>,
    name: &'a str,
    arguments: String,
    kind: CallKind,
    signature: Option<Seal>,
}

impl Calls {
    pub fn any(&self) -> bool {
        !self.calls.is_empty()
    }

    pub fn read(&mut self, value: &Value, out: &mut Vec<Event>) {
        let delta = Delta::of(value);
        let at = self.find(&delta).unwrap_or_else(|| {
            self.end_whole(out);
            self.calls.push(Call::default());
            self.calls.len() - 1
        });
        let call = &mut self.calls[at];
        // An empty id or name in a later delta says nothing.
        if call.started.is_none() {
            if call.id.is_empty() {
                delta.id.clone_into(&mut call.id);
            }
            if call.name.is_empty() {
                delta.name.clone_into(&mut call.name);
                call.kind = delta.kind;
            }
            call.signature = call.signature.take().or(delta.signature);
        }
        call.index = call.index.or(delta.index);
        if call.ended {
            return;
        }
        call.arguments.push_str(&delta.arguments);
        let news = match call.started {
            Some(_) => delta.arguments,
            None if call.name.is_empty() => return,
            None => {
                call.started = Some(self.started);
                out.push(Event::CallStart(CallStart {
                    index: self.started,
                    id: call.id.clone(),
                    name: call.name.clone(),
                    namespace: None,
                    kind: call.kind,
                    signature: call.signature.clone(),
                }));
                self.started += 1;
                call.arguments.clone()
            }
        };
        if let Some(index) = call.started.filter(|_| !news.is_empty()) {
            out.push(Event::CallArguments { index, delta: news });
        }
    }

    /// Ends the calls that are whole. A call that was cut stays open.
    pub fn close(&mut self, finish: Finish, stated: bool, out: &mut Vec<Event>) -> Result<(), UpstreamError> {
        let is_plain = matches!(finish, Finish::Stop | Finish::ToolCalls);
        if self.any() && self.started == 0 && is_plain {
            // Passing this on as a finished turn would stop an agent without a word.
            return Err(failure::fault(Class::Other, "the model called tools without naming any"));
        }
        let trusted = stated && is_plain;
        for call in &mut self.calls {
            if let Some(index) = call.started.filter(|_| !call.ended && (trusted || call.is_whole(true))) {
                call.ended = true;
                out.push(Event::CallEnd { index });
            }
        }
        Ok(())
    }

    /// A new call begins: those whose arguments are whole can get no more.
    fn end_whole(&mut self, out: &mut Vec<Event>) {
        for call in &mut self.calls {
            if let Some(index) = call.started.filter(|_| !call.ended && call.is_whole(false)) {
                call.ended = true;
                out.push(Event::CallEnd { index });
            }
        }
    }

    fn find(&self, delta: &Delta<'_>) -> Option<usize> {
        let last = |fits: &dyn Fn(&Call) -> bool| self.calls.iter().rposition(fits);
        if !delta.id.is_empty()
            && let Some(at) = last(&|call| call.id == delta.id)
        {
            return Some(at);
        }
        let at = match delta.index {
            Some(index) => last(&|call| call.index == Some(index))?,
            // Only the call that is being written can go on without a key.
            None => self.calls.len().checked_sub(1)?,
        };
        let call = &self.calls[at];
        // A new id or another name begins a new call, whatever its index says; some servers give every delta a
        // new id, but not a new name.
        let other_id = !delta.id.is_empty() && !call.id.is_empty() && !delta.name.is_empty();
        let other_name = !delta.name.is_empty() && !call.name.is_empty() && call.name != delta.name;
        // The same name again after whole arguments, with arguments of its own.
        let again = !delta.name.is_empty()
            && call.name == delta.name
            && call.is_whole(false)
            && delta.arguments.starts_with('{');
        (!other_id && !other_name && !again).then_some(at)
    }
}

impl Call {
    /// Whether the arguments are one JSON object. No arguments at all are only whole at the end of the turn.
    fn is_whole(&self, at_end: bool) -> bool {
        if self.kind == CallKind::Custom {
            return false;
        }
        let text = self.arguments.trim();
        if text.is_empty() {
            return at_end;
        }
        text.ends_with('}') && serde_json::from_str::<serde::de::IgnoredAny>(text).is_ok()
    }
}

impl<'a> Delta<'a> {
    fn of(value: &'a Value) -> Self {
        let string = |value: Option<&'a Value>| value.and_then(Value::as_str).unwrap_or_default();
        let is_custom = value.get("custom").is_some_and(Value::is_object);
        let (inner, arguments) = if is_custom {
            (value.get("custom"), "input")
        } else {
            // The legacy `function_call` is the function itself.
            (value.get("function").or(Some(value)), "arguments")
        };
        let inner = inner.filter(|inner| inner.is_object());
        let arguments = match inner.and_then(|inner| inner.get(arguments)) {
            Some(Value::String(text)) => text.clone(),
            // Some servers send the object itself.
            Some(value @ Value::Object(_)) => value.to_string(),
            _ => String::new(),
        };
        Delta {
            id: string(value.get("id")),
            index: value.get("index").and_then(Value::as_u64),
            name: string(inner.and_then(|inner| inner.get("name"))),
            arguments,
            kind: if is_custom { CallKind::Custom } else { CallKind::Function },
            signature: value
                .pointer("/extra_content/google/thought_signature")
                .and_then(Value::as_str)
                .map(Seal::new),
        }
    }
}
