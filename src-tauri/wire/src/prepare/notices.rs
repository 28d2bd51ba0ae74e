//! What is lost whatever the dialect: options a panel does not pass, fields nobody knows, cache marks.

use crate::{
    model::{Content, Request, Target, Tool},
    notice::Notice,
    rules::Rules,
};

/// Fields that go to no member of a translated request.
pub(super) fn of_fields(request: &Request, rules: &Rules, options: bool) -> Vec<Notice> {
    let mut notices = Vec::new();
    if !options {
        let mut ignored = |name: &str| {
            notices.push(Notice::new(request.spelling(name), "ignored by a panel"));
        };
        request.sampling.fields.iter().for_each(|(name, _)| ignored(name));
        let others = [
            ("max_output", request.max_output.is_some()),
            ("structured_output", request.structured_output.is_some()),
            ("reasoning", !request.reasoning.is_empty()),
        ];
        others.iter().filter(|(_, sent)| *sent).for_each(|(name, _)| ignored(name));
    }
    let not_sent = |field: String| Notice::new(field, "not sent to members");
    for (at, message) in request.messages.iter().enumerate() {
        for (part_at, part) in message.parts.iter().enumerate() {
            let names = part.extra.iter().map(|(name, _)| name);
            notices.extend(names.map(|name| not_sent(format!("{}.{name}", request.part_place(at, part_at)))));
        }
        let names = message.extra.iter().map(|(name, _)| name);
        notices.extend(names.map(|name| not_sent(format!("{}.{name}", request.message_place(at)))));
    }
    let told = [
        ("prompt_cache_key", request.cache_key.is_some() && !rules.cache_key),
        ("user", request.metadata.user.is_some()),
        ("session", request.metadata.session.is_some()),
        ("metadata", request.metadata.fields.is_some()),
    ];
    let told = told.iter().filter(|(_, sent)| *sent);
    notices.extend(told.map(|(name, _)| not_sent(request.spelling(name).to_owned())));
    notices.extend(request.extra.iter().map(|(name, _)| not_sent(name.clone())));
    notices
}

/// A result that failed is told from others by its own words only.
pub(super) fn error_flags(request: &Request, rules: &Rules, notices: &mut Vec<Notice>) {
    if rules.error_flag {
        return;
    }
    for (at, message) in request.messages.iter().enumerate() {
        for (part_at, part) in message.parts.iter().enumerate() {
            if matches!(&part.content, Content::ToolResult(result) if result.is_error) {
                let place = format!("{}.is_error", request.part_place(at, part_at));
                notices.push(Notice::new(place, "not sent to members"));
            }
        }
    }
}

/// Marks go only to members that know them: others refuse the whole request.
pub(super) fn cache_marks(request: &mut Request, target: &Target, rules: &Rules, notices: &mut Vec<Notice>) {
    if rules.cache_marks || target.quirks.cache_marks {
        return;
    }
    let mut lost = Vec::new();
    for (at, message) in request.messages.iter().enumerate() {
        for (part_at, part) in message.parts.iter().enumerate() {
            let inside = match &part.content {
                Content::ToolResult(result) => result.parts.iter().any(|part| part.cache.is_some()),
                _ => false,
            };
            if part.cache.is_some() || inside {
                lost.push(format!("{}.cache_control", request.part_place(at, part_at)));
            }
        }
    }
    for (at, tool) in request.tools.iter_mut().enumerate() {
        if let Tool::Function { cache, .. } | Tool::Custom { cache, .. } = tool
            && cache.take().is_some()
        {
            lost.push(format!("tools[{at}].cache_control"));
        }
    }
    notices.extend(lost.into_iter().map(|field| Notice::new(field, "not sent to members")));
    for part in request.messages.iter_mut().flat_map(|message| &mut message.parts) {
        part.cache = None;
        if let Content::ToolResult(result) = &mut part.content {
            result.parts.iter_mut().for_each(|part| part.cache = None);
        }
    }
}
