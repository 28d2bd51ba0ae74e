//! A chunk that says no more than a piece of text or thinking.

use serde::{Deserialize, de::IgnoredAny};

use super::answer::Answer;
use crate::{json::Key, model::Event};

/// What there may be beside it says nothing: `null`.
type Nothing = Option<IgnoredAny>;

/// Everything that [`Answer`] and the search for errors would look at. Other fields may hold what they like.
#[derive(Deserialize)]
pub(super) struct Chunk<'a> {
    #[serde(borrow)]
    model: Option<Key<'a>>,
    #[serde(borrow)]
    object: Option<Key<'a>>,
    choices: [Choice; 1],
    usage: Nothing,
    x_groq: Nothing,
    error: Nothing,
    base_resp: Nothing,
    #[serde(rename = "type")]
    kind: Nothing,
}

#[derive(Deserialize)]
struct Choice {
    index: Option<u64>,
    delta: Delta,
    finish_reason: Nothing,
    usage: Nothing,
    error: Nothing,
    base_resp: Nothing,
    object: Nothing,
    #[serde(rename = "type")]
    kind: Nothing,
}

#[derive(Deserialize)]
struct Delta {
    content: Option<String>,
    reasoning_content: Option<String>,
    reasoning: Option<String>,
    thinking: Option<String>,
    reasoning_details: Nothing,
    refusal: Nothing,
    tool_calls: Nothing,
    function_call: Nothing,
    images: Nothing,
    annotations: Nothing,
}

impl Answer {
    pub(super) fn read_piece(&mut self, text: &str, out: &mut Vec<Event>) -> bool {
        let Ok(chunk) = serde_json::from_str::<Chunk<'_>>(text) else { return false };
        let [choice] = chunk.choices;
        let delta = choice.delta;
        let others = [
            &chunk.usage,
            &chunk.x_groq,
            &chunk.error,
            &chunk.base_resp,
            &chunk.kind,
            &choice.finish_reason,
            &choice.usage,
            &choice.error,
            &choice.base_resp,
            &choice.object,
            &choice.kind,
            &delta.reasoning_details,
            &delta.refusal,
            &delta.tool_calls,
            &delta.function_call,
            &delta.images,
            &delta.annotations,
        ];
        if others.iter().any(|other| other.is_some()) || chunk.object.is_some_and(|kind| kind.0 == "error") {
            return false;
        }
        if let Some(model) = chunk.model {
            self.tell_model(&model.0, out);
        }
        if !self.follows(choice.index) {
            return true;
        }
        let thoughts = [delta.reasoning_content, delta.reasoning, delta.thinking];
        let thought = thoughts.into_iter().flatten().find(|text| !text.is_empty());
        out.extend(thought.map(Event::Thinking));
        if let Some(text) = delta.content.filter(|text| !text.is_empty()) {
            self.say_text(text, out);
        }
        true
    }
}
