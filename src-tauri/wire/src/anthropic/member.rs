//! A [`Request`] into the body a member is asked with, built anew or edited in place.

mod marks;
mod options;
mod relay;
mod thinking;
mod tools;
pub(super) mod tree;
mod turns;

pub(super) use relay::relay;

use super::RULES;
use crate::{
    format::Encoded,
    json,
    model::{Request, Target},
    notice::Notice,
    prepare::{Prepared, prepare},
};
use tree::Node;

const PATH: &str = "/messages";
const HEADERS: [(&str, &str); 1] = [("anthropic-version", "2023-06-01")];

/// Body fields the gateway sets itself: an owner's default option never takes their place.
const OURS: [&str; 4] = ["model", "messages", "system", "stream"];

/// The same request and target give the same bytes: members' prompt caches depend on it.
pub(super) fn encode(request: &Request, target: &Target) -> Encoded {
    let Prepared { mut request, options: callers, mut notices, restore } = prepare(request, target, &RULES);
    let owners = target.options.keys().filter(|name| OURS.contains(&name.as_str()));
    notices.extend(owners.map(|name| Notice::new(format!("options.{name}"), "set by the gateway")));

    marks::limit(&mut request, &mut notices);
    let options = options::merged(&request, target, callers, &mut notices);
    let turns = turns::write(&request, target, &mut notices);
    let mut body = vec![
        ("model".to_owned(), Node::text(&target.served)),
        ("max_tokens".to_owned(), Node::number(options.max_tokens)),
    ];
    body.extend(turns.system.map(|system| ("system".to_owned(), system)));
    body.push(("messages".to_owned(), turns.messages));
    if !request.tools.is_empty() {
        body.push(("tools".to_owned(), tools::offered(&request, target, &mut notices)));
        body.extend(tools::choice(&request).map(|choice| ("tool_choice".to_owned(), choice)));
    }
    body.push(("stream".to_owned(), Node::Value(true.into())));
    body.extend(options.others);
    let body = json::to_vec(&Node::Map(body));
    Encoded { path: PATH.to_owned(), headers: HEADERS.to_vec(), body, notices, restore }
}
