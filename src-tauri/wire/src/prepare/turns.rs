//! Turns as strict servers want them: one system turn in front, user and assistant in turn.

use crate::{
    model::{Message, Part, Request, Role, Target},
    notice::Notice,
};

pub(super) fn shape(request: &mut Request, target: &Target, notices: &mut Vec<Notice>) {
    if target.quirks.one_system {
        one_system(request, notices);
    }
    if target.quirks.alternate {
        alternate(request, notices);
    }
}

fn one_system(request: &mut Request, notices: &mut Vec<Notice>) {
    let is_system = |message: &Message| matches!(message.role, Role::System | Role::Developer);
    let late: Vec<usize> =
        (1..request.messages.len()).filter(|at| is_system(&request.messages[*at])).collect();
    if late.is_empty() {
        return;
    }
    for at in &late {
        notices.push(Notice::new(request.message_place(*at), "moved to the one system turn in front"));
    }
    let (system, others): (Vec<Message>, Vec<Message>) =
        std::mem::take(&mut request.messages).into_iter().partition(is_system);
    let texts: Vec<String> = system.iter().map(Message::text).collect();
    request.messages.push(Message::new(Role::System, vec![Part::text(texts.join("\n\n"))]));
    request.messages.extend(others);
}

fn alternate(request: &mut Request, notices: &mut Vec<Notice>) {
    let places: Vec<String> = (0..request.messages.len()).map(|at| request.message_place(at)).collect();
    let mut out: Vec<Message> = Vec::with_capacity(request.messages.len());
    for (message, place) in std::mem::take(&mut request.messages).into_iter().zip(places) {
        match out.last_mut() {
            Some(last) if last.role == message.role && matches!(last.role, Role::User | Role::Assistant) => {
                notices.push(Notice::new(place, "joined with the turn before it"));
                last.parts.extend(message.parts);
            }
            _ => out.push(message),
        }
    }
    request.messages = out;
}
