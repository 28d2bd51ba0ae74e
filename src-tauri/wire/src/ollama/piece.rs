//! A line that says no more than a piece of text or thinking.

use serde::{Deserialize, de::IgnoredAny};

use super::answer::Answer;
use crate::{json::Key, model::Event};

/// What there may be beside it says nothing: `null`.
type Nothing = Option<IgnoredAny>;

/// Everything that [`Answer`] and the search for errors would look at.
#[derive(Deserialize)]
struct Line<'a> {
    #[serde(borrow)]
    model: Option<Key<'a>>,
    message: Message,
    done: Option<bool>,
    prompt_eval_count: Nothing,
    eval_count: Nothing,
    error: Nothing,
    object: Nothing,
    base_resp: Nothing,
    #[serde(rename = "type")]
    kind: Nothing,
}

#[derive(Deserialize)]
struct Message {
    content: Option<String>,
    thinking: Option<String>,
    response: Nothing,
    images: Nothing,
    tool_calls: Nothing,
}

impl Answer {
    pub(super) fn read_piece(&mut self, text: &str, out: &mut Vec<Event>) -> bool {
        let Ok(line) = serde_json::from_str::<Line<'_>>(text) else { return false };
        let message = line.message;
        let others = [
            line.prompt_eval_count,
            line.eval_count,
            line.error,
            line.object,
            line.base_resp,
            line.kind,
            message.response,
            message.images,
            message.tool_calls,
        ];
        if line.done == Some(true) || others.iter().any(Option::is_some) {
            return false;
        }
        if let Some(model) = line.model {
            self.tell_model(&model.0, out);
        }
        self.begin();
        out.extend(message.thinking.filter(|text| !text.is_empty()).map(Event::Thinking));
        out.extend(message.content.filter(|text| !text.is_empty()).map(Event::Text));
        true
    }
}
