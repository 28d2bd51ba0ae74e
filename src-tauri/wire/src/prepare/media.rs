//! Media a member cannot take, and media inside tool results.

use crate::{
    model::{Content, Message, Part, Request, Role, Source},
    notice::Notice,
    rules::Rules,
};

/// Leaves out what the dialect cannot say, and lists it. A document of text is that text.
pub(super) fn keep(request: &mut Request, rules: &Rules, notices: &mut Vec<Notice>) {
    for at in 0..request.messages.len() {
        for part_at in 0..request.messages[at].parts.len() {
            let place = request.part_place(at, part_at);
            let part = &mut request.messages[at].parts[part_at];
            if let Content::ToolResult(result) = &mut part.content {
                result.parts.iter_mut().for_each(|inner| keep_part(inner, &place, rules, notices));
            } else {
                keep_part(part, &place, rules, notices);
            }
        }
    }
}

fn keep_part(part: &mut Part, place: &str, rules: &Rules, notices: &mut Vec<Notice>) {
    if let Content::Document(document) = &mut part.content
        && let Some(text) = document.text()
    {
        document.source = Source::Text(text.into_owned());
    }
    let Some(lacking) = rules.lacks(&part.content) else { return };
    notices.push(Notice::new(place, format!("{lacking} not taken by this member")));
    // A vendor's own part says nothing to others; a medium's place is told, or the question is a riddle.
    part.content = Content::Text(match &part.content {
        Content::Vendor { .. } => "".into(),
        content => format!("[{} left out: this model cannot take it]", content.kind()).into(),
    });
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
                let mark =
                    Content::Text(format!("[{kind} {}: see the next user turn]", hoisted.len()).into());
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
