//! How much a member is asked to think, and the output budget, which its thinking is part of.

use serde_json::{Value, json};

use crate::{
    dialect::Dialect,
    model::{Content, Message, Request, Role, Target, ThinkingMode, ThinkingScale, ToolChoice},
    notice::Notice,
};

/// The least the API takes as a budget.
const LEAST: u64 = 1_024;

/// What is added to an output budget that nobody stated where the model thinks as much as it likes.
const ROOM_TO_THINK: u64 = 24_576;

pub(super) const UNTHOUGHT: &str = "turned off: the thinking before the last tool call is not there";

const NO_ROOM: &str = "no room for thinking in so small an output";

pub(super) struct Plan {
    /// The `thinking` object.
    pub thinking: Option<Value>,
    /// `output_config.effort`
    pub effort: Option<String>,
    pub max_tokens: u64,
}

pub(super) fn plan(
    request: &Request,
    target: &Target,
    stated: Option<u64>,
    assumed: u64,
    notices: &mut Vec<Notice>,
) -> Plan {
    let place = request.spelling("reasoning");
    let (mode, effort) = asked(request, target);
    let mut mode = mode;
    if matches!(mode, Some(ThinkingMode::Budget(_) | ThinkingMode::On | ThinkingMode::Adaptive))
        && let Some(reason) = ruled_out(request, mode)
    {
        notices.push(Notice::new(place, reason));
        mode = None;
    }
    let thinks_freely = matches!(mode, Some(ThinkingMode::On | ThinkingMode::Adaptive));
    let assumed_whole = if thinks_freely { ROOM_TO_THINK + assumed } else { assumed };
    let mut max_tokens = stated.or(target.max_output).unwrap_or(assumed_whole);
    if let Some(ThinkingMode::Budget(budget)) = &mut mode {
        let wanted = (*budget).max(LEAST);
        if stated.is_none() {
            let most = target.max_output.unwrap_or(u64::MAX);
            max_tokens = wanted.saturating_add(assumed).min(most);
        }
        let room = if wanted < max_tokens { wanted } else { (max_tokens / 2).max(LEAST) };
        if room != *budget {
            notices.push(Notice::new(place, format!("{budget} tokens of thinking made {room}")));
            *budget = room;
        }
    }
    if matches!(mode, Some(ThinkingMode::Budget(budget)) if budget >= max_tokens) {
        notices.push(Notice::new(place, NO_ROOM));
        mode = None;
    }
    let thinking = mode.map(|mode| match mode {
        ThinkingMode::Off => json!({ "type": "disabled" }),
        // A word of other servers behind this API: a budget of their own.
        ThinkingMode::On => json!({ "type": "enabled" }),
        ThinkingMode::Adaptive => json!({ "type": "adaptive" }),
        ThinkingMode::Budget(budget) => json!({ "type": "enabled", "budget_tokens": budget }),
    });
    Plan { thinking: with_display(thinking, request), effort, max_tokens }
}

/// The owner's options without those that are refused beside what the caller asks.
pub(super) fn taken<'t>(
    request: &Request,
    target: &'t Target,
    notices: &mut Vec<Notice>,
) -> Vec<(&'t String, &'t Value)> {
    let mut options: Vec<_> = target.options.iter().collect();
    options.retain(|(name, value)| {
        let clash = clash(request, target, name, value);
        notices.extend(clash.map(|why| Notice::new(format!("options.{name}"), why)));
        clash.is_none()
    });
    options
}

fn clash(request: &Request, target: &Target, name: &str, value: &Value) -> Option<&'static str> {
    let budget = value["budget_tokens"].as_u64();
    let room = request.max_output.map(|asked| target.max_output.map_or(asked, |most| asked.min(most)));
    let says = |name: &str| request.sampling.get(name);
    let heats = says("temperature").is_some_and(|heat| heat.value().as_f64() != Some(1.0));
    match (name, request.reasoning.mode) {
        (
            "temperature" | "top_k",
            Some(ThinkingMode::Budget(_) | ThinkingMode::On | ThinkingMode::Adaptive),
        ) if says(name).is_none() => Some("not taken beside thinking"),
        ("thinking", None) if value["type"] == "disabled" => None,
        ("thinking", None) if heats || says("top_k").is_some() => {
            Some("not taken beside the caller's sampling")
        }
        ("thinking", None) if room.is_some_and(|room| budget.is_some_and(|budget| budget >= room)) => {
            Some(NO_ROOM)
        }
        ("thinking", None) => ruled_out(request, budget.map(ThinkingMode::Budget)),
        _ => None,
    }
}

/// What the caller asked, in the scale the model knows: effort, or tokens.
fn asked(request: &Request, target: &Target) -> (Option<ThinkingMode>, Option<String>) {
    let reasoning = &request.reasoning;
    let is_own = request.dialect == Dialect::Anthropic;
    let scaled = |effort: &str| (effort != "none").then(|| step(effort).to_owned());
    let scale = target.quirks.thinking;
    if scale == ThinkingScale::Effort {
        return match (reasoning.mode, reasoning.effort.as_deref()) {
            (None, Some("none")) => (Some(ThinkingMode::Off), None),
            (None, Some(effort)) => ((!is_own).then_some(ThinkingMode::Adaptive), scaled(effort)),
            (Some(ThinkingMode::Off), effort) => (Some(ThinkingMode::Off), effort.and_then(scaled)),
            (Some(_), _) => (Some(ThinkingMode::Adaptive), reasoning.as_effort().and_then(scaled)),
            (None, None) => (None, None),
        };
    }
    if is_own && scale == ThinkingScale::AsAsked {
        return (reasoning.mode, reasoning.effort.as_deref().and_then(scaled));
    }
    let mode = match reasoning.as_mode() {
        Some(ThinkingMode::On | ThinkingMode::Adaptive) => Some(ThinkingMode::Budget(4_096)),
        Some(ThinkingMode::Budget(0)) => Some(ThinkingMode::Off),
        mode => mode,
    };
    (mode, None)
}

/// The API's own steps begin at `low`.
fn step(effort: &str) -> &str {
    if effort == "minimal" { "low" } else { effort }
}

/// Why a member would refuse to think in this request.
fn ruled_out(request: &Request, mode: Option<ThinkingMode>) -> Option<&'static str> {
    if matches!(request.tool_choice, Some(ToolChoice::Required | ToolChoice::Named(_))) {
        return Some("a forced tool choice rules thinking out");
    }
    // Within a chain of calls a budget wants the thinking that led to the first of them, and only its maker can
    // sign it.
    if !matches!(mode, Some(ThinkingMode::Budget(_))) {
        return None;
    }
    begins_unthought(&chain(request), |_| true).then_some(UNTHOUGHT)
}

/// The member's turns in the chain of calls that the request goes on with, the last one first. What the user says
/// beside results does not end it: the API is sent both as one turn.
pub(super) fn chain(request: &Request) -> Vec<&Message> {
    let mut chain = Vec::new();
    let mut answered = true;
    for message in request.messages.iter().rev() {
        match message.role {
            Role::User => answered = false,
            Role::Tool => answered = true,
            Role::Assistant if answered => chain.push(message),
            Role::Assistant => break,
            Role::System | Role::Developer => {}
        }
    }
    chain
}

/// Whether the first calls of the chain were led to by no thinking, of the parts that are `sent`.
pub(super) fn begins_unthought(chain: &[&Message], sent: impl Fn(&Content) -> bool) -> bool {
    let calls =
        |message: &&&Message| message.parts.iter().any(|part| matches!(part.content, Content::ToolCall(_)));
    let Some(calling) = chain.iter().rfind(calls) else { return false };
    let mut parts = calling.parts.iter().map(|part| &part.content);
    let first = parts.find(|content| content.as_text() != Some("") && sent(content));
    !matches!(first, None | Some(Content::Thinking(_) | Content::Redacted { .. }))
}

fn with_display(thinking: Option<Value>, request: &Request) -> Option<Value> {
    let mut thinking = thinking?;
    // Only the API's own callers know the word; servers that do not may refuse it.
    if request.dialect == Dialect::Anthropic && thinking["type"] != "disabled" {
        match request.reasoning.summary.as_deref() {
            Some("none") => thinking["display"] = json!("omitted"),
            Some(_) => thinking["display"] = json!("summarized"),
            None => {}
        }
    }
    Some(thinking)
}
