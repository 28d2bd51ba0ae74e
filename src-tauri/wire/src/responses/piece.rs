//! An event that says no more than a piece of text.

use serde::Deserialize;

use super::answer::Answer;
use crate::{json::Key, model::Event};

/// Everything that [`Answer`] would look at.
#[derive(Deserialize)]
struct TextDelta<'a> {
    #[serde(borrow, rename = "type")]
    kind: Key<'a>,
    output_index: Option<u64>,
    content_index: Option<u64>,
    #[serde(borrow)]
    delta: Key<'a>,
}

impl Answer {
    pub(super) fn read_piece(&mut self, text: &str, out: &mut Vec<Event>) -> bool {
        let Ok(event) = serde_json::from_str::<TextDelta<'_>>(text) else { return false };
        if event.kind.0 != "response.output_text.delta" {
            return false;
        }
        self.begin();
        let (place, part) = (event.output_index.unwrap_or(0), event.content_index.unwrap_or(0));
        self.say("text", place, part, &event.delta.0, out);
        true
    }
}
