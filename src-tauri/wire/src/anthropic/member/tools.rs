//! Tools and the choice among them as a member is sent them.

use super::tree::Node;
use crate::{
    model::{CacheMark, Request, Target, Tool, ToolChoice},
    notice::Notice,
};

pub(super) fn offered(request: &Request, target: &Target, notices: &mut Vec<Notice>) -> Node {
    let tools = request.tools.iter().enumerate().map(|(at, tool)| match tool {
        Tool::Vendor { raw, .. } => Node::Raw(raw.clone()),
        Tool::Function { name, description, parameters, strict, cache, .. } => {
            if *strict == Some(true) {
                notices.push(Notice::new(format!("tools[{at}].strict"), "not sent to members"));
            }
            let mut node = Node::map([("name", Node::text(name))]);
            if let Some(description) = description {
                node = node.with("description", Node::text(description));
            }
            if let Some(parameters) = parameters {
                node = node.with("input_schema", Node::Raw(parameters.clone()));
            }
            let mark = mark(cache.as_ref(), &format!("tools[{at}]"), target, notices);
            node.marked(mark.as_ref())
        }
        // Made a function before: see the rules.
        Tool::Custom { name, .. } => Node::map([("name", Node::text(name))]),
    });
    Node::List(tools.collect())
}

/// A mark as the member takes it: not every one lets its callers choose how long.
pub(super) fn mark(
    mark: Option<&CacheMark>,
    place: &str,
    target: &Target,
    notices: &mut Vec<Notice>,
) -> Option<CacheMark> {
    let mut mark = mark?.clone();
    if !target.quirks.cache_ttl && mark.ttl.take().is_some() {
        notices.push(Notice::new(format!("{place}.cache_control.ttl"), "not sent to members"));
    }
    Some(mark)
}

pub(super) fn choice(request: &Request) -> Option<Node> {
    let one = request.parallel_tool_calls == Some(false);
    let kind = |word: &str| Node::map([("type", Node::text(word))]);
    let choice = match &request.tool_choice {
        None if one => kind("auto"),
        None => return None,
        Some(ToolChoice::Auto | ToolChoice::Allowed { .. }) => kind("auto"),
        // The only one that takes no flag.
        Some(ToolChoice::None) => return Some(kind("none")),
        Some(ToolChoice::Required) => kind("any"),
        Some(ToolChoice::Named(tool)) => kind("tool").with("name", Node::text(&tool.name)),
        Some(ToolChoice::Vendor { raw, .. }) => return Some(Node::Raw(raw.clone())),
    };
    Some(if one { choice.with("disable_parallel_tool_use", Node::Value(true.into())) } else { choice })
}
