//! The API takes four cache marks and refuses a request with more.

use std::borrow::Cow;

use crate::{
    model::{CacheMark, Content, Request, Tool},
    notice::Notice,
};

const MOST: usize = 4;

/// Takes the earliest marks of the messages off: a later one covers what is before it.
pub(super) fn limit(request: &mut Cow<'_, Request>, notices: &mut Vec<Notice>) {
    let tools = request.tools.iter().filter(|tool| {
        matches!(tool, Tool::Function { cache: Some(_), .. } | Tool::Custom { cache: Some(_), .. })
    });
    let (tools, parts) = (tools.count(), request.parts().map(|part| marks(&part.content, &part.cache)));
    let mut over = (tools + parts.sum::<usize>()).saturating_sub(MOST);
    if over == 0 {
        return;
    }
    let request = request.to_mut();
    for at in 0..request.messages.len() {
        for part_at in 0..request.messages[at].parts.len() {
            let place = request.part_place(at, part_at);
            let part = &mut request.messages[at].parts[part_at];
            let mut take = |cache: &mut Option<CacheMark>| {
                if over > 0 && cache.take().is_some() {
                    over -= 1;
                    notices.push(Notice::new(
                        format!("{place}.cache_control"),
                        "only the last four marks are taken",
                    ));
                }
            };
            if let Content::ToolResult(result) = &mut part.content {
                result.parts.iter_mut().for_each(|inner| take(&mut inner.cache));
            }
            take(&mut part.cache);
        }
    }
}

fn marks(content: &Content, own: &Option<CacheMark>) -> usize {
    let inside = match content {
        Content::ToolResult(result) => result.parts.iter().filter(|part| part.cache.is_some()).count(),
        _ => 0,
    };
    inside + usize::from(own.is_some())
}
