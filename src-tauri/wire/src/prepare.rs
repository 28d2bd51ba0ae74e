//! A request as a member of another dialect can be asked it. Each step is a file; what a step drops or changes is
//! a [`Notice`]. A request that asks for nothing special is not copied.

mod media;
mod notices;
mod results;
#[cfg(test)]
mod tests;
mod thinking;
mod tools;
mod turns;

use std::{borrow::Cow, sync::Arc};

use crate::{
    model::{Content, Reasoning, Request, Role, StructuredOutput, Target},
    notice::Notice,
    relay::bend::{NO_EFFORT, NO_PARALLEL},
    restore::{Mapped, Restore},
    rules::Rules,
    schema,
};

/// What an encoder writes.
pub(crate) struct Prepared<'a> {
    /// Tools, calls and results have the member's names and ids; what the member cannot take is gone.
    pub request: Cow<'a, Request>,
    /// The caller's own options go to the member.
    pub options: bool,
    pub notices: Vec<Notice>,
    pub restore: Restore,
}

pub(crate) fn prepare<'a>(request: &'a Request, target: &Target, rules: &Rules) -> Prepared<'a> {
    let options = target.callers_options || request.bench.options;
    let mut notices = notices::of_fields(request, rules, options);
    let mut mapped = Mapped { member: target.member, ..Mapped::default() };
    let mut request = Cow::Borrowed(request);
    if is_special(&request) || needs_turns(&request, target) {
        let request = request.to_mut();
        notices::cache_marks(request, target, rules, &mut notices);
        notices::error_flags(request, rules, &mut notices);
        thinking::keep(request, target, rules, &mut notices);
        media::keep(request, rules, &mut notices);
        mapped.calls = request.parts().filter(|part| matches!(part.content, Content::ToolCall(_))).count();
        results::repair(request, rules, &mut notices);
        media::hoist(request, rules, &mut notices);
        tools::map(request, rules, &mut mapped, &mut notices);
        turns::shape(request, target, &mut notices);
        structured(request, rules, options, &mut notices);
    }
    refused(&mut request, target, options, &mut notices);
    if let Some(limit) = target.max_output
        && let Some(asked) = request.max_output.filter(|asked| options && *asked > limit)
    {
        let field = request.spelling("max_output").to_owned();
        notices.push(Notice::new(field, format!("cut from {asked} to {limit}, the most this model writes")));
        request.to_mut().max_output = Some(limit);
    }
    Prepared { request, options, notices, restore: Restore(Arc::new(mapped)) }
}

/// What the member refuses to be told at all.
fn refused(request: &mut Cow<'_, Request>, target: &Target, options: bool, notices: &mut Vec<Notice>) {
    if target.quirks.no_effort && request.reasoning != Reasoning::default() {
        if options {
            notices.push(Notice::new(request.spelling("reasoning"), NO_EFFORT));
        }
        request.to_mut().reasoning = Reasoning::default();
    }
    if target.quirks.no_parallel && request.parallel_tool_calls.is_some() {
        notices.push(Notice::new(request.spelling("parallel_tool_calls"), NO_PARALLEL));
        request.to_mut().parallel_tool_calls = None;
    }
}

/// Whether any step but the options' may have something to do.
fn is_special(request: &Request) -> bool {
    !request.tools.is_empty()
        || request.tool_choice.is_some()
        || request.parallel_tool_calls.is_some()
        || request.structured_output.as_ref().is_some_and(|output| *output != StructuredOutput::Object)
        || request.messages.iter().any(|message| {
            message.role == Role::Tool
                || message.parts.iter().any(|part| {
                    part.cache.is_some() || !matches!(part.content, Content::Text(_) | Content::Refusal(_))
                })
        })
}

fn needs_turns(request: &Request, target: &Target) -> bool {
    (target.quirks.one_system || target.quirks.alternate) && request.messages.len() > 1
}

fn structured(request: &mut Request, rules: &Rules, options: bool, notices: &mut Vec<Notice>) {
    let place = request.spelling("structured_output").to_owned();
    match &mut request.structured_output {
        Some(StructuredOutput::Schema { schema, .. }) if options => {
            *schema = schema::reduce(schema, rules.response_schema, &place, notices);
        }
        Some(StructuredOutput::Vendor { dialect, .. }) if *dialect != rules.dialect => {
            if options {
                notices.push(Notice::new(place, "only its own API takes it"));
            }
            request.structured_output = None;
        }
        _ => {}
    }
}
