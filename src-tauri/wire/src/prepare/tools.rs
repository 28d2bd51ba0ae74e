//! Tools, and what names them: names and ids the member can take, free-form tools as functions, vendors' own only
//! to their vendor, schemas as the dialect has them.

use std::collections::BTreeMap;

use crate::{
    custom,
    model::{CallKind, Content, Request, Tool, ToolChoice, ToolMode, ToolRef},
    names::Names,
    notice::Notice,
    restore::Mapped,
    rules::Rules,
    schema,
};

pub(super) fn map(request: &mut Request, rules: &Rules, mapped: &mut Mapped, notices: &mut Vec<Notice>) {
    vendors(request, rules, notices);
    choice(request, rules, notices);
    let names = flat_names(request, rules);
    mapped.ids = Names::new(ids(request), &rules.ids);
    let member_name = |name: &str, namespace: Option<&str>| {
        let known = ToolRef { name: name.to_owned(), namespace: namespace.map(str::to_owned) };
        names.get(&known).cloned().unwrap_or_else(|| name.to_owned())
    };
    for (caller, flat) in &names {
        if caller.namespace.is_some() && !rules.namespaces || caller.name != *flat {
            mapped.names.insert(flat.clone(), caller.clone());
        }
    }
    for (at, tool) in request.tools.iter_mut().enumerate() {
        tool_for(tool, at, rules, &member_name, mapped, notices);
    }
    for part in request.messages.iter_mut().flat_map(|message| &mut message.parts) {
        match &mut part.content {
            Content::ToolCall(call) => {
                call.name = member_name(&call.name, call.namespace.as_deref());
                if !rules.namespaces {
                    call.namespace = None;
                }
                call.id = mapped.ids.there(&call.id).to_owned();
                if call.kind == CallKind::Custom && !rules.custom_tools {
                    call.kind = CallKind::Function;
                    call.arguments = custom::arguments(&call.arguments).into();
                }
            }
            Content::ToolResult(result) => {
                if let Some(name) = &mut result.name {
                    *name = member_name(name, None);
                }
                result.call_id = mapped.ids.there(&result.call_id).to_owned();
                if !rules.custom_tools {
                    result.kind = CallKind::Function;
                }
            }
            _ => {}
        }
    }
    match &mut request.tool_choice {
        Some(ToolChoice::Named(tool)) => *tool = named(tool, rules, &member_name),
        Some(ToolChoice::Allowed { tools, .. }) => {
            tools.iter_mut().for_each(|tool| *tool = named(tool, rules, &member_name));
        }
        _ => {}
    }
}

fn named(tool: &ToolRef, rules: &Rules, member_name: &impl Fn(&str, Option<&str>) -> String) -> ToolRef {
    ToolRef {
        name: member_name(&tool.name, tool.namespace.as_deref()),
        namespace: tool.namespace.clone().filter(|_| rules.namespaces),
    }
}

/// Vendor-run tools are left out for members of other dialects (the gateway refuses where that would leave the
/// question senseless).
fn vendors(request: &mut Request, rules: &Rules, notices: &mut Vec<Notice>) {
    let mut at = 0;
    request.tools.retain(|tool| {
        let keep = !matches!(tool, Tool::Vendor { dialect, .. } if *dialect != rules.dialect);
        if !keep {
            let reason = format!("{} is run by its vendor only", tool.name());
            notices.push(Notice::new(format!("tools[{at}]"), reason));
        }
        at += 1;
        keep
    });
}

/// Without tools there is no choice among them; a list of allowed tools the dialect cannot say leaves the others
/// out.
fn choice(request: &mut Request, rules: &Rules, notices: &mut Vec<Notice>) {
    let place = request.spelling("tool_choice").to_owned();
    if let Some(ToolChoice::Vendor { dialect, .. }) = &request.tool_choice
        && *dialect != rules.dialect
    {
        notices.push(Notice::new(&place, "only its own API takes it"));
        request.tool_choice = None;
    }
    if let Some(ToolChoice::Allowed { mode, tools }) = &request.tool_choice
        && !rules.allowed_tools
    {
        let (mode, allowed) = (*mode, tools.clone());
        request.tools.retain(|tool| tool.reference().is_some_and(|tool| allowed.contains(&tool)));
        request.tool_choice = Some(match mode {
            ToolMode::Auto => ToolChoice::Auto,
            ToolMode::Required => ToolChoice::Required,
        });
        notices.push(Notice::new(&place, "the tools that are not allowed are left out"));
    }
    if request.tools.is_empty() {
        request.tool_choice = None;
        request.parallel_tool_calls = None;
    }
    if request.tool_choice == Some(ToolChoice::None) {
        request.parallel_tool_calls = None;
    }
}

fn tool_for(
    tool: &mut Tool,
    at: usize,
    rules: &Rules,
    member_name: &impl Fn(&str, Option<&str>) -> String,
    mapped: &mut Mapped,
    notices: &mut Vec<Notice>,
) {
    match tool {
        Tool::Function { name, namespace, parameters, .. } => {
            *name = member_name(name, namespace.as_deref());
            if !rules.namespaces {
                *namespace = None;
            }
            let place = format!("tools[{at}].parameters");
            *parameters = Some(match parameters {
                Some(raw) => schema::reduce(raw, rules.tool_schema, &place, notices),
                None => schema::reduce(&schema::empty(), rules.tool_schema, &place, notices),
            });
        }
        Tool::Custom { name, namespace, description, grammar, cache } => {
            let name = member_name(name, namespace.as_deref());
            if rules.custom_tools {
                let namespace = namespace.take().filter(|_| rules.namespaces);
                let (description, grammar, cache) = (description.take(), grammar.take(), cache.take());
                *tool = Tool::Custom { name, namespace, description, grammar, cache };
                return;
            }
            notices.push(Notice::new(format!("tools[{at}]"), "a free-form tool sent as a function"));
            mapped.custom.insert(name.clone());
            let described = custom::description(description.as_deref(), grammar.as_ref());
            let parameters = schema::reduce(&custom::parameters(), rules.tool_schema, "", &mut Vec::new());
            *tool = Tool::Function {
                name,
                namespace: namespace.take().filter(|_| rules.namespaces),
                description: Some(described).filter(|text| !text.is_empty()),
                parameters: Some(parameters),
                strict: None,
                cache: cache.take(),
            };
        }
        Tool::Vendor { .. } => {}
    }
}

/// Every tool the request names, to the name the member gets.
fn flat_names(request: &Request, rules: &Rules) -> BTreeMap<ToolRef, String> {
    let mut all: Vec<ToolRef> = request.tools.iter().filter_map(Tool::reference).collect();
    for part in request.parts() {
        match &part.content {
            Content::ToolCall(call) => {
                all.push(ToolRef { name: call.name.clone(), namespace: call.namespace.clone() });
            }
            Content::ToolResult(result) => {
                all.extend(result.name.clone().map(|name| ToolRef { name, namespace: None }));
            }
            _ => {}
        }
    }
    match &request.tool_choice {
        Some(ToolChoice::Named(tool)) => all.push(tool.clone()),
        Some(ToolChoice::Allowed { tools, .. }) => all.extend(tools.iter().cloned()),
        _ => {}
    }
    // A group's name before the tool's, in a way no charset allows, so that it is always mapped and never meets
    // another tool's name.
    let spelled = |tool: &ToolRef| match &tool.namespace {
        Some(namespace) if !rules.namespaces => format!("{namespace}\u{1f}{}", tool.name),
        _ => tool.name.clone(),
    };
    let flat: Vec<String> = all.iter().map(spelled).collect();
    let names = Names::new(flat.iter().map(String::as_str), &rules.names);
    all.into_iter().zip(&flat).map(|(tool, flat)| (tool, names.there(flat).to_owned())).collect()
}

fn ids(request: &Request) -> impl Iterator<Item = &str> {
    request.parts().filter_map(|part| match &part.content {
        Content::ToolCall(call) => Some(call.id.as_str()),
        Content::ToolResult(result) => Some(result.call_id.as_str()),
        _ => None,
    })
}
