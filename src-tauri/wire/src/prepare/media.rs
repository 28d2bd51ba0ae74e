//! Media a member cannot take, and media inside tool results.

use crate::{
    model::{Content, Message, Part, Request, Role},
    notice::Notice,
    rules::Rules,
};

/// Leaves out what the dialect cannot say, and lists it.
pub(super) fn keep(request: &mut Request, rules: &Rules, notices: &mut Vec<Notice>) {
    for at in 0..request.messages.len() {
        for part_at in 0..request.messages[at].parts.len() {
            if takes(&request.messages[at].parts[part_at].content, rules) {
                continue;
            }
            let place = request.part_place(at, part_at);
            let part = &mut request.messages[at].parts[part_at];
            let note = |kind: &str| format!("[{kind} left out: this model cannot take it]");
            if let Content::ToolResult(result) = &mut part.content {
                for inner in result.parts.iter_mut().filter(|inner| !rules.takes(&inner.content)) {
                    notices.push(Notice::new(
                        &place,
                        format!("{} not taken by this member", inner.content.kind()),
                    ));
                    inner.content = Content::Text(note(inner.content.kind()));
                }
            } else {
                notices.push(Notice::new(place, format!("{} not taken by this member", part.content.kind())));
                // A vendor's own part says nothing to others; a medium's place is told, or the question is a riddle.
                let is_vendor = matches!(part.content, Content::Vendor { .. });
                part.content =
                    Content::Text(if is_vendor { String::new() } else { note(part.content.kind()) });
            }
        }
    }
}

fn takes(content: &Content, rules: &Rules) -> bool {
    match content {
        Content::ToolResult(result) => result.parts.iter().all(|part| rules.takes(&part.content)),
        content => rules.takes(content),
    }
}

/// Where results hold text only, their media follow in one user turn after the whole batch of results; a mark
/// stands in their place. A result without media stays as it is, byte for byte.
pub(super) fn hoist(request: &mut Request, rules: &Rules, notices: &mut Vec<Notice>) {
    if rules.media_in_results {
        return;
    }
    let mut hoisted: Vec<Part> = Vec::new();
    let mut out: Vec<Message> = Vec::with_capacity(request.messages.len());
    for (at, mut message) in std::mem::take(&mut request.messages).into_iter().enumerate() {
        if message.role != Role::Tool && !hoisted.is_empty() {
            out.push(Message::new(Role::User, std::mem::take(&mut hoisted)));
        }
        for part in &mut message.parts {
            let place = part.place.as_deref().or(message.place.as_deref());
            let place = place.map_or_else(|| format!("messages[{at}].content"), str::to_owned);
            let Content::ToolResult(result) = &mut part.content else { continue };
            for inner in &mut result.parts {
                if !is_medium(&inner.content) {
                    continue;
                }
                let kind = inner.content.kind().to_owned();
                if hoisted.is_empty() {
                    hoisted.push(Part::text("Media from the tool results above, in order:"));
                }
                notices.push(Notice::new(&place, format!("{kind} of a tool result sent in a user turn")));
                let mark = Content::Text(format!("[{kind} {}: see the next user turn]", hoisted.len()));
                hoisted.push(Part::new(std::mem::replace(&mut inner.content, mark)));
            }
        }
        out.push(message);
    }
    if !hoisted.is_empty() {
        out.push(Message::new(Role::User, hoisted));
    }
    request.messages = out;
}

fn is_medium(content: &Content) -> bool {
    matches!(content, Content::Image(_) | Content::Document(_) | Content::Audio(_))
}
