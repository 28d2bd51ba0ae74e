//! Earlier reasoning: what goes back, and to whom. A seal is only ever sent to the member that made it.

use crate::{
    model::{Content, Part, Request, Role, Seal, Target, Thinking},
    notice::Notice,
    rules::{Keeps, Rules},
};

pub(super) fn keep(request: &mut Request, target: &Target, rules: &Rules, notices: &mut Vec<Notice>) {
    let keeps = if target.quirks.reasoning_back { Keeps::Text } else { rules.thinking };
    for at in 0..request.messages.len() {
        if request.messages[at].role == Role::Assistant {
            reattach(&mut request.messages[at].parts, target, keeps);
        }
        for part_at in 0..request.messages[at].parts.len() {
            let place = request.part_place(at, part_at);
            let message = &mut request.messages[at];
            // Only turns that call tools want it back: elsewhere it is noise, and some refuse it.
            let wanted = keeps != Keeps::Text
                || rules.thinking == Keeps::Text
                || message.parts.iter().any(|part| matches!(part.content, Content::ToolCall(_)));
            let signed = is_signed(&message.parts[part_at].content);
            let checked = check(&mut message.parts[part_at], target, keeps, wanted);
            if signed && checked.is_ok() && !is_signed(&message.parts[part_at].content) {
                let reason = "goes without its signature, which only its maker can read";
                notices.push(Notice::new(place.clone(), reason));
            }
            if let Err(reason) = checked {
                notices.push(Notice::new(place, reason));
                // An empty text is passed over by every encoder; removing would move the places of what follows.
                message.parts[part_at].content = Content::Text("".into());
            }
        }
    }
    for message in &mut request.messages {
        // A member's answer in which nothing is left says nothing.
        if message.role == Role::Assistant && message.parts.len() > 1 {
            message.parts.retain(|part| !matches!(&part.content, Content::Text(text) if text.is_empty()));
        }
    }
}

/// What went round the caller is put back where it belongs.
fn reattach(parts: &mut Vec<Part>, target: &Target, keeps: Keeps) {
    let has_thinking = parts.iter().any(|part| matches!(part.content, Content::Thinking(_)));
    let mut before = None;
    for (at, part) in parts.iter_mut().enumerate() {
        let Content::ToolCall(call) = &mut part.content else { continue };
        let Some(kept) = target.kept.get(&call.id) else { continue };
        if call.signature.is_none() {
            call.signature.clone_from(&kept.signature);
        }
        if let Some(text) = kept.thinking.as_ref().filter(|_| !has_thinking && keeps == Keeps::Text) {
            before.get_or_insert((at, text.clone()));
        }
    }
    if let Some((at, text)) = before {
        parts.insert(at, Content::Thinking(Thinking { text, signature: None }).into());
    }
}

fn is_signed(content: &Content) -> bool {
    match content {
        Content::Thinking(thinking) => thinking.signature.is_some(),
        Content::ToolCall(call) => call.signature.is_some(),
        _ => false,
    }
}

/// `Err` with the reason when the part cannot go.
fn check(part: &mut Part, target: &Target, keeps: Keeps, wanted: bool) -> Result<(), &'static str> {
    let made = |seal: &Seal| target.made(seal);
    match &mut part.content {
        Content::ToolCall(call) => {
            if call.signature.as_ref().is_some_and(|seal| !made(seal)) {
                call.signature = None;
            }
            Ok(())
        }
        Content::Thinking(Thinking { signature, .. }) => match keeps {
            Keeps::Text if wanted => {
                *signature = None;
                Ok(())
            }
            Keeps::Nothing | Keeps::Text => Err("reasoning is not sent back to this member"),
            Keeps::Sealed => match signature {
                Some(seal) if made(seal) => Ok(()),
                Some(_) => Err("reasoning signed by another member"),
                None => Err("reasoning without a signature"),
            },
        },
        Content::Redacted { seal, .. } => match keeps {
            Keeps::Sealed if made(seal) => Ok(()),
            Keeps::Sealed => Err("reasoning that only another member can read"),
            Keeps::Nothing | Keeps::Text => Err("reasoning that this member cannot read"),
        },
        _ => Ok(()),
    }
}
