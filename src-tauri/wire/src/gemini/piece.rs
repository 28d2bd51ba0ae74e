//! A chunk that says no more than a piece of text or thinking, and perhaps what it has come to so far.

use serde::{Deserialize, de::IgnoredAny};
use serde_json::Value;

use super::answer::Answer;
use crate::{json::Key, model::Event};

/// What there may be beside it says nothing: `null`.
type Nothing = Option<IgnoredAny>;

/// Everything that [`Answer`] and the search for errors would look at, in either spelling.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Chunk<'a> {
    candidates: [Candidate; 1],
    #[serde(borrow, alias = "model_version")]
    model_version: Option<Key<'a>>,
    #[serde(alias = "usage_metadata")]
    usage_metadata: Option<Value>,
    #[serde(alias = "prompt_feedback")]
    prompt_feedback: Nothing,
    response: Nothing,
    error: Nothing,
    object: Nothing,
    #[serde(rename = "type")]
    kind: Nothing,
    #[serde(rename = "base_resp")]
    base_resp: Nothing,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Candidate {
    index: Option<u64>,
    content: Content,
    #[serde(alias = "finish_reason")]
    finish_reason: Nothing,
    #[serde(alias = "grounding_metadata")]
    grounding_metadata: Nothing,
    #[serde(alias = "citation_metadata")]
    citation_metadata: Nothing,
    #[serde(alias = "url_context_metadata")]
    url_context_metadata: Nothing,
}

#[derive(Deserialize)]
struct Content {
    parts: [Part; 1],
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Part {
    text: String,
    thought: Option<bool>,
    #[serde(alias = "thought_signature")]
    thought_signature: Nothing,
    #[serde(alias = "function_call")]
    function_call: Nothing,
}

impl Answer {
    pub(super) fn read_piece(&mut self, text: &str, out: &mut Vec<Event>) -> bool {
        let Ok(chunk) = serde_json::from_str::<Chunk<'_>>(text) else { return false };
        let [candidate] = chunk.candidates;
        let [part] = candidate.content.parts;
        let others = [
            chunk.prompt_feedback,
            chunk.response,
            chunk.error,
            chunk.object,
            chunk.kind,
            chunk.base_resp,
            candidate.finish_reason,
            candidate.grounding_metadata,
            candidate.citation_metadata,
            candidate.url_context_metadata,
            part.thought_signature,
            part.function_call,
        ];
        if others.iter().any(Option::is_some) {
            return false;
        }
        if let Some(model) = chunk.model_version {
            self.tell_model(&model.0, out);
        }
        if let Some(counts) = chunk.usage_metadata {
            self.count(&counts, out);
        }
        if self.follows(candidate.index) && !part.text.is_empty() {
            let is_thought = part.thought.unwrap_or_default();
            out.push(if is_thought { Event::Thinking(part.text) } else { Event::Text(part.text) });
        }
        true
    }
}
