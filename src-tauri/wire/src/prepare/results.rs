//! Tool results where every API wants them: one for each call, right after the turn that called, none without a
//! call.

use crate::{
    model::{CallKind, Content, Message, Part, Request, Role, ToolCall, ToolResult},
    notice::Notice,
    rules::Rules,
};

/// Also normalises arguments: none at all is `{}`.
pub(super) fn repair(request: &mut Request, rules: &Rules, notices: &mut Vec<Notice>) {
    arguments(request);
    if is_sound(&request.messages, rules) {
        return;
    }
    let places: Vec<String> = (0..request.messages.len()).map(|at| request.message_place(at)).collect();
    let mut out: Vec<Message> = Vec::with_capacity(request.messages.len());
    let mut batch = Batch::default();
    for (message, place) in std::mem::take(&mut request.messages).into_iter().zip(places) {
        match message.role {
            Role::Tool => batch.results(message, &place, &mut out, notices),
            Role::Assistant => {
                // Adjacent assistant turns are one turn to the member.
                if out.last().is_none_or(|last| last.role != Role::Assistant) {
                    batch.close(&mut out, rules, notices);
                    batch = Batch { from: out.len(), ..Batch::default() };
                }
                batch.calls.extend(calls(&message).cloned());
                out.push(message.at(place.as_str()));
                batch.at = out.len();
            }
            _ => out.push(message.at(place.as_str())),
        }
    }
    batch.close(&mut out, rules, notices);
    request.messages = out;
}

/// The calls of the latest turn that called, and where their results belong.
#[derive(Default)]
struct Batch {
    calls: Vec<ToolCall>,
    /// Where in the list the turn stands: ids may come again in a later one.
    from: usize,
    /// Where the next result goes.
    at: usize,
}

impl Batch {
    fn results(&mut self, message: Message, place: &str, out: &mut Vec<Message>, notices: &mut Vec<Notice>) {
        for part in message.parts {
            let Content::ToolResult(result) = part.content else { continue };
            if !self.calls.iter().any(|call| call.id == result.call_id) {
                notices.push(Notice::new(place, "a result without its call, sent as a user turn"));
                out.push(Message::new(Role::User, told(result)).at(place));
            } else if let Some(earlier) =
                out[self.from..].iter_mut().find_map(|message| answered(message, &result.call_id))
            {
                notices.push(Notice::new(place, "a second result of one call, put in the first one's place"));
                *earlier = result;
            } else {
                if self.at < out.len() {
                    notices.push(Notice::new(place, "a result moved to its call"));
                }
                let part = Part { content: Content::ToolResult(result), ..part };
                out.insert(self.at, Message::new(Role::Tool, vec![part]).at(place));
                self.at += 1;
            }
        }
    }

    /// Calls that were never answered although the conversation went on.
    fn close(&mut self, out: &mut Vec<Message>, rules: &Rules, notices: &mut Vec<Notice>) {
        let went_on = out.last().is_some_and(|last| last.role != Role::Assistant);
        if !rules.results_required || !went_on {
            return;
        }
        for call in std::mem::take(&mut self.calls) {
            if out[self.from..].iter_mut().any(|message| answered(message, &call.id).is_some()) {
                continue;
            }
            let place = out[self.from].place.clone().unwrap_or_default();
            notices.push(Notice::new(place, "a call without a result was given an empty one"));
            let result = ToolResult {
                call_id: call.id,
                name: Some(call.name),
                parts: vec![Part::text("[no result: the call was not carried out]")],
                is_error: true,
                kind: call.kind,
            };
            out.insert(self.at, Message::new(Role::Tool, vec![Content::ToolResult(result).into()]));
            self.at += 1;
        }
    }
}

fn answered<'a>(message: &'a mut Message, call_id: &str) -> Option<&'a mut ToolResult> {
    message.parts.iter_mut().find_map(|part| match &mut part.content {
        Content::ToolResult(result) if result.call_id == call_id => Some(result),
        _ => None,
    })
}

/// A result as a person would tell it.
fn told(result: ToolResult) -> Vec<Part> {
    let name = result.name.map(|name| format!(" of {name}")).unwrap_or_default();
    let mut parts = vec![Part::text(format!("[result{name} of an earlier tool call]"))];
    parts.extend(result.parts);
    parts
}

fn arguments(request: &mut Request) {
    for part in request.messages.iter_mut().flat_map(|message| &mut message.parts) {
        if let Content::ToolCall(ToolCall { arguments, kind: CallKind::Function, .. }) = &mut part.content
            && arguments.trim().is_empty()
        {
            *arguments = "{}".into();
        }
    }
}

/// Whether every batch of results answers the calls right before it, once each.
fn is_sound(messages: &[Message], rules: &Rules) -> bool {
    let mut open: Vec<&str> = Vec::new();
    let mut previous = None;
    for message in messages {
        if message.role == Role::Tool {
            for part in &message.parts {
                let Content::ToolResult(result) = &part.content else { continue };
                let Some(at) = open.iter().position(|id| *id == result.call_id) else { return false };
                open.swap_remove(at);
            }
        } else if message.role == Role::Assistant && previous == Some(Role::Assistant) {
            open.extend(calls(message).map(|call| call.id.as_str()));
        } else {
            if !open.is_empty() && rules.results_required {
                return false;
            }
            open.extend(calls(message).map(|call| call.id.as_str()));
        }
        previous = Some(message.role);
    }
    // Calls that end the conversation wait for nobody.
    open.is_empty() || previous == Some(Role::Assistant) || !rules.results_required
}

fn calls(message: &Message) -> impl Iterator<Item = &ToolCall> {
    message.parts.iter().filter_map(|part| match &part.content {
        Content::ToolCall(call) => Some(call),
        _ => None,
    })
}
