//! Streamed tool calls, put together: keyed by the item's place in the output, then by its id.

use serde_json::Value;

use crate::model::{CallKind, CallStart, Event};

#[derive(Default)]
pub(super) struct Calls {
    /// In the order they began.
    calls: Vec<Call>,
}

struct Call {
    place: Option<u64>,
    item: String,
    kind: CallKind,
    arguments: String,
    ended: bool,
}

/// A function's call or a free-form one; `None` for any other item.
pub(super) fn kind_of(item: &Value) -> Option<CallKind> {
    match item.get("type")?.as_str()? {
        "function_call" => Some(CallKind::Function),
        "custom_tool_call" => Some(CallKind::Custom),
        _ => None,
    }
}

impl Calls {
    pub fn any(&self) -> bool {
        !self.calls.is_empty()
    }

    /// An item was added, or came whole without having been added.
    pub fn start(&mut self, kind: CallKind, place: Option<u64>, item: &Value, out: &mut Vec<Event>) {
        let string = |name: &str| item.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
        if self.find(place, &string("id")).is_some() {
            return;
        }
        let name = string("name");
        if name.is_empty() {
            // The name may come with the whole item.
            return;
        }
        out.push(Event::CallStart(CallStart {
            index: self.calls.len(),
            id: string("call_id"),
            name,
            namespace: item.get("namespace").and_then(Value::as_str).map(str::to_owned),
            kind,
            signature: None,
        }));
        let item_id = string("id");
        self.calls.push(Call { place, item: item_id, kind, arguments: String::new(), ended: false });
        // Some servers give all of it with the item and stream nothing.
        let index = self.calls.len() - 1;
        self.calls[index].push(index, &said(item), out);
    }

    /// A piece of the arguments.
    pub fn delta(&mut self, place: Option<u64>, item: &str, delta: &str, out: &mut Vec<Event>) {
        if let Some(index) = self.find(place, item) {
            self.calls[index].push(index, delta, out);
        }
    }

    /// All of the arguments: what of them has not come yet is added.
    pub fn all(&mut self, place: Option<u64>, item: &str, all: &str, out: &mut Vec<Event>) {
        if let Some(index) = self.find(place, item)
            && let Some(rest) = all.strip_prefix(self.calls[index].arguments.as_str())
        {
            self.calls[index].push(index, rest, out);
        }
    }

    /// The item is whole, or was cut off.
    pub fn end(&mut self, kind: CallKind, place: Option<u64>, item: &Value, out: &mut Vec<Event>) {
        self.start(kind, place, item, out);
        let id = item.get("id").and_then(Value::as_str).unwrap_or_default();
        self.all(place, id, &said(item), out);
        let is_cut = item.get("status").and_then(Value::as_str) == Some("incomplete");
        if let Some(index) = self.find(place, id)
            && !is_cut
            && self.calls[index].is_whole()
        {
            self.calls[index].end(index, out);
        }
    }

    /// The turn is over: calls that are not ended are whole only in a turn that was not cut.
    pub fn close(&mut self, is_plain: bool, out: &mut Vec<Event>) {
        for (index, call) in self.calls.iter_mut().enumerate() {
            if is_plain || (!call.arguments.is_empty() && call.kind == CallKind::Function && call.is_whole())
            {
                call.end(index, out);
            }
        }
    }

    fn find(&self, place: Option<u64>, item: &str) -> Option<usize> {
        let last = |fits: &dyn Fn(&Call) -> bool| self.calls.iter().rposition(fits);
        match place {
            Some(_) => last(&|call| call.place == place),
            None if !item.is_empty() => last(&|call| call.item == item),
            None => None,
        }
    }
}

impl Call {
    fn push(&mut self, index: usize, delta: &str, out: &mut Vec<Event>) {
        if !self.ended && !delta.is_empty() {
            self.arguments.push_str(delta);
            out.push(Event::CallArguments { index, delta: delta.to_owned() });
        }
    }

    fn end(&mut self, index: usize, out: &mut Vec<Event>) {
        if !std::mem::replace(&mut self.ended, true) {
            out.push(Event::CallEnd { index });
        }
    }

    /// Some servers finalise a call that the length cut off.
    fn is_whole(&self) -> bool {
        let text = self.arguments.trim();
        self.kind == CallKind::Custom
            || text.is_empty()
            || serde_json::from_str::<serde::de::IgnoredAny>(text).is_ok()
    }
}

/// The arguments or the input of a whole item; some servers give the object itself.
fn said(item: &Value) -> String {
    match item.get("arguments").or_else(|| item.get("input")) {
        Some(Value::String(text)) => text.clone(),
        Some(value @ Value::Object(_)) => value.to_string(),
        _ => String::new(),
    }
}
