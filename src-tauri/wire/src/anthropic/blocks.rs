//! The content blocks of an answer: found by the server's index, told in our order.

use serde_json::{Map, Value};

use crate::{
    dialect::Dialect,
    error::{Class, UpstreamError},
    failure,
    model::{CallKind, CallStart, Event, Finish, Seal},
};

#[derive(Default)]
pub(super) struct Blocks {
    open: Vec<Block>,
    /// In the order they began: their places are our indices.
    calls: Vec<Call>,
}

struct Block {
    index: Option<u64>,
    kind: Kind,
}

enum Kind {
    Thinking {
        signature: String,
    },
    /// A call, by our index.
    Call(usize),
    /// What only this API can say, and its input as it comes.
    Vendor {
        block: Value,
        input: String,
    },
    Other,
}

#[derive(Default)]
struct Call {
    arguments: String,
    /// Arguments that stood whole in the block's start: told only if none are streamed.
    given: Option<String>,
    ended: bool,
}

impl Blocks {
    pub fn any_call(&self) -> bool {
        !self.calls.is_empty()
    }

    pub fn start(
        &mut self,
        index: Option<u64>,
        block: &Value,
        out: &mut Vec<Event>,
    ) -> Result<(), UpstreamError> {
        let string = |name: &str| block.get(name).and_then(Value::as_str).unwrap_or_default();
        let kind = match string("type") {
            "text" => {
                push_text(string("text"), Event::Text, out);
                for citation in block.get("citations").and_then(Value::as_array).into_iter().flatten() {
                    out.push(cited(citation));
                }
                Kind::Other
            }
            "thinking" => {
                push_text(string("thinking"), Event::Thinking, out);
                Kind::Thinking { signature: string("signature").to_owned() }
            }
            "redacted_thinking" => {
                let data = string("data");
                if !data.is_empty() {
                    out.push(Event::Redacted { seal: Seal::new(data), id: None });
                }
                Kind::Other
            }
            "tool_use" => {
                if string("name").is_empty() {
                    return Err(failure::fault(Class::Other, "the model called a tool without naming it"));
                }
                self.end_stopped(out);
                let ours = self.calls.len();
                out.push(Event::CallStart(CallStart {
                    index: ours,
                    id: string("id").to_owned(),
                    name: string("name").to_owned(),
                    namespace: None,
                    kind: CallKind::Function,
                    signature: None,
                }));
                // An object, as its text.
                let given = block.get("input").and_then(Value::as_str).filter(|input| !is_empty(input));
                let given = given.map(str::to_owned);
                self.calls.push(Call { given, ..Call::default() });
                Kind::Call(ours)
            }
            "" => Kind::Other,
            _ => Kind::Vendor { block: block.clone(), input: String::new() },
        };
        self.open.push(Block { index, kind });
        Ok(())
    }

    pub fn delta(&mut self, index: Option<u64>, delta: &Value, out: &mut Vec<Event>) {
        let string = |name: &str| delta.get(name).and_then(Value::as_str).unwrap_or_default();
        let at = self.find(index);
        let kind = at.map(|at| &mut self.open[at].kind);
        match string("type") {
            "text_delta" => push_text(string("text"), Event::Text, out),
            "thinking_delta" => push_text(string("thinking"), Event::Thinking, out),
            "signature_delta" => match kind {
                Some(Kind::Thinking { signature }) => signature.push_str(string("signature")),
                _ if string("signature").is_empty() => {}
                _ => out.push(Event::ThinkingSignature(Seal::new(string("signature")))),
            },
            "input_json_delta" => {
                let piece = match delta.get("partial_json") {
                    Some(Value::String(piece)) => piece.clone(),
                    Some(whole @ Value::Object(_)) => whole.to_string(),
                    _ => return,
                };
                match kind {
                    Some(Kind::Call(ours)) if !piece.is_empty() => {
                        let index = *ours;
                        self.calls[index].arguments.push_str(&piece);
                        out.push(Event::CallArguments { index, delta: piece });
                    }
                    Some(Kind::Vendor { input, .. }) => input.push_str(&piece),
                    _ => {}
                }
            }
            "citations_delta" => out.extend(delta.get("citation").map(cited)),
            _ => {}
        }
    }

    pub fn stop(&mut self, index: Option<u64>, out: &mut Vec<Event>) {
        let Some(at) = self.find(index) else { return };
        match self.open.remove(at).kind {
            Kind::Thinking { signature } if !signature.is_empty() => {
                out.push(Event::ThinkingSignature(Seal::new(signature)));
            }
            Kind::Call(ours) => self.whole_arguments(ours, out),
            Kind::Vendor { block, input } => out.push(vendor(block, &input)),
            Kind::Thinking { .. } | Kind::Other => {}
        }
    }

    /// Ends the calls that are whole. A block has a stop even when the budget cut its call: such a call stays open.
    pub fn close(&mut self, finish: Finish, stated: bool, out: &mut Vec<Event>) {
        while let Some(block) = self.open.first() {
            let index = block.index;
            self.stop(index, out);
        }
        let trusted = stated && matches!(finish, Finish::Stop | Finish::ToolCalls);
        for (index, call) in self.calls.iter_mut().enumerate() {
            if trusted && !std::mem::replace(&mut call.ended, true) {
                out.push(Event::CallEnd { index });
            }
        }
    }

    /// Tells arguments that came with the start, and the end where they are an object. None at all may be a call
    /// that was cut: what follows tells.
    fn whole_arguments(&mut self, index: usize, out: &mut Vec<Event>) {
        let call = &mut self.calls[index];
        if call.arguments.is_empty()
            && let Some(given) = call.given.take()
        {
            call.arguments.clone_from(&given);
            out.push(Event::CallArguments { index, delta: given });
        }
        if is_object(&call.arguments) && !std::mem::replace(&mut call.ended, true) {
            out.push(Event::CallEnd { index });
        }
    }

    /// Another call begins: an earlier one without arguments was none that was cut.
    fn end_stopped(&mut self, out: &mut Vec<Event>) {
        let open: Vec<usize> = self
            .open
            .iter()
            .filter_map(|block| match block.kind {
                Kind::Call(ours) => Some(ours),
                _ => None,
            })
            .collect();
        for (index, call) in self.calls.iter_mut().enumerate() {
            if !call.ended && call.arguments.trim().is_empty() && !open.contains(&index) {
                call.ended = true;
                out.push(Event::CallEnd { index });
            }
        }
    }

    /// The open block of this index; without an index the latest.
    fn find(&self, index: Option<u64>) -> Option<usize> {
        match index {
            Some(_) => self.open.iter().rposition(|block| block.index == index),
            None => self.open.len().checked_sub(1),
        }
    }
}

fn push_text(text: &str, event: impl Fn(String) -> Event, out: &mut Vec<Event>) {
    if !text.is_empty() {
        out.push(event(text.to_owned()));
    }
}

/// `""` and `{}`: what every streamed call begins with.
fn is_empty(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_whitespace() || matches!(byte, b'{' | b'}'))
}

fn is_object(text: &str) -> bool {
    serde_json::from_str::<Map<String, Value>>(text).is_ok()
}

fn cited(citation: &Value) -> Event {
    Event::Vendor { dialect: Dialect::Anthropic, kind: "citation".to_owned(), raw: citation.into() }
}

fn vendor(mut block: Value, input: &str) -> Event {
    if let Ok(input) = serde_json::from_str::<Value>(input) {
        block["input"] = input;
    }
    let kind = block.get("type").and_then(Value::as_str).unwrap_or_default().to_owned();
    Event::Vendor { dialect: Dialect::Anthropic, kind, raw: (&block).into() }
}
