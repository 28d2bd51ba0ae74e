//! An event that says no more than a piece of text or thinking.

use serde::{Deserialize, de::IgnoredAny};

use super::answer::Answer;
use crate::{json::Key, model::Event};

/// Everything that [`Answer`] and the search for errors would look at.
#[derive(Deserialize)]
struct BlockDelta<'a> {
    #[serde(borrow, rename = "type")]
    kind: Key<'a>,
    #[serde(borrow)]
    delta: Delta<'a>,
    error: Option<IgnoredAny>,
    object: Option<IgnoredAny>,
    base_resp: Option<IgnoredAny>,
}

#[derive(Deserialize)]
struct Delta<'a> {
    #[serde(borrow, rename = "type")]
    kind: Key<'a>,
    text: Option<String>,
    thinking: Option<String>,
}

impl Answer {
    pub(super) fn read_piece(&mut self, text: &str, out: &mut Vec<Event>) -> bool {
        let Ok(event) = serde_json::from_str::<BlockDelta<'_>>(text) else { return false };
        let others = [event.error, event.object, event.base_resp];
        if event.kind.0 != "content_block_delta" || others.iter().any(Option::is_some) {
            return false;
        }
        let piece = match &*event.delta.kind.0 {
            "text_delta" => event.delta.text.map(Event::Text),
            "thinking_delta" => event.delta.thinking.map(Event::Thinking),
            _ => None,
        };
        let Some(piece) = piece else { return false };
        self.begin();
        if !matches!(&piece, Event::Text(text) | Event::Thinking(text) if text.is_empty()) {
            out.push(piece);
        }
        true
    }
}
