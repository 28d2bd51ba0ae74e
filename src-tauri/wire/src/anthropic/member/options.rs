//! The owner's default options, and over them the caller's.

use serde_json::Value;

use super::{
    OURS,
    thinking::{self, Plan},
    tree::Node,
};
use crate::{
    anthropic::schema::closed,
    model::{Request, StructuredOutput, Target},
    notice::Notice,
};

/// The API wants a budget with every request: what is asked for where nobody said one.
const MAX_TOKENS: u64 = 8_192;

pub(super) struct Options {
    pub max_tokens: u64,
    /// Every other, in the owner's order, then the caller's.
    pub others: Vec<(String, Node)>,
}

pub(super) fn merged(
    request: &Request,
    target: &Target,
    callers: bool,
    notices: &mut Vec<Notice>,
) -> Options {
    let owners =
        if callers { thinking::taken(request, target, notices) } else { target.options.iter().collect() };
    let mut others: Vec<(String, Node)> = owners
        .into_iter()
        .filter(|(name, _)| !OURS.contains(&name.as_str()) && *name != "max_tokens")
        .map(|(name, value)| (name.clone(), Node::Value(value.clone())))
        .collect();
    let owners = target.options.get("max_tokens").and_then(Value::as_u64);
    let stated = request.max_output.filter(|_| callers).or(owners);
    if !callers {
        return Options { max_tokens: stated.or(target.max_output).unwrap_or(MAX_TOKENS), others };
    }
    let Plan { thinking, effort, max_tokens } = thinking::plan(request, target, stated, MAX_TOKENS, notices);
    let thinks = thinking.as_ref().is_some_and(|thinking| thinking["type"] != "disabled");
    sampling(request, thinks, &mut others, notices);
    if let Some(thinking) = thinking {
        set(&mut others, "thinking", Node::Value(thinking));
    }
    let format = format(request, notices);
    if effort.is_some() || format.is_some() {
        let mut config = match others.iter().position(|(name, _)| name == "output_config") {
            Some(at) => fields(others.remove(at).1),
            None => Node::Map(Vec::new()),
        };
        if let Some(effort) = effort {
            config = config.with("effort", Node::text(&effort));
        }
        if let Some(format) = format {
            config = config.with("format", format);
        }
        set(&mut others, "output_config", config);
    }
    Options { max_tokens, others }
}

/// The caller's sampling in the member's words.
fn sampling(request: &Request, thinks: bool, others: &mut Vec<(String, Node)>, notices: &mut Vec<Notice>) {
    for (name, raw) in &request.sampling.fields {
        let mut lost = |reason: &str| notices.push(Notice::new(request.spelling(name), reason));
        match name.as_str() {
            "temperature" | "top_k" if thinks => lost("not taken beside thinking"),
            "temperature" if raw.value().as_f64().is_some_and(|heat| heat > 1.0) => {
                lost("cut to 1, the most this API takes");
                set(others, name, Node::Value(1.into()));
            }
            "temperature" | "top_p" | "top_k" => set(others, name, Node::Raw(raw.clone())),
            "stop" => {
                let list = match raw.value() {
                    Value::String(word) => vec![word.into()],
                    Value::Array(words) => words,
                    _ => Vec::new(),
                };
                if !list.is_empty() {
                    set(others, "stop_sequences", Node::Value(Value::Array(list)));
                }
            }
            _ => lost("not taken by this member"),
        }
    }
}

fn format(request: &Request, notices: &mut Vec<Notice>) -> Option<Node> {
    match request.structured_output.as_ref()? {
        StructuredOutput::Schema { schema, .. } => {
            let schema = closed(schema, request.spelling("structured_output"), notices);
            Some(Node::map([("type", Node::text("json_schema")), ("schema", Node::Raw(schema))]))
        }
        StructuredOutput::Vendor { raw, .. } => Some(Node::Raw(raw.clone())),
        StructuredOutput::Object => {
            let place = request.spelling("structured_output");
            notices.push(Notice::new(place, "this API wants a schema"));
            None
        }
    }
}

fn fields(node: Node) -> Node {
    match node {
        Node::Value(Value::Object(fields)) => {
            Node::Map(fields.into_iter().map(|(name, value)| (name, Node::Value(value))).collect())
        }
        node @ Node::Map(_) => node,
        _ => Node::Map(Vec::new()),
    }
}

fn set(others: &mut Vec<(String, Node)>, name: &str, node: Node) {
    match others.iter_mut().find(|(known, _)| known == name) {
        Some((_, old)) => *old = node,
        None => others.push((name.to_owned(), node)),
    }
}
