//! A model that plays one errand with whatever agent asks it: it calls the tools of its steps one after another,
//! then answers. What it does is read off the request alone, so it does the same however often it is asked.

use super::{
    Api, Reply, Script,
    tools::{Call, Turn},
};

/// What the model does in the conversation of this errand. To everything else (titles, summaries, probes) it says
/// a few words.
#[derive(Clone, Debug)]
pub struct Errand {
    /// Stands in what the person said, and nowhere else.
    pub mark: String,
    pub steps: Vec<Call>,
    /// Said when every step has its result.
    pub answer: String,
}

/// What anything but the errand is answered with.
const ASIDE: &str = "A small errand";

impl Errand {
    /// Whether it is a request of the errand's own conversation: the person asked for it, and the tools are there.
    pub fn is_asked(&self, turn: &Turn) -> bool {
        turn.said.iter().any(|text| text.contains(&self.mark))
            && self.steps.iter().all(|step| turn.declares(&step.tool).is_some())
    }

    pub fn script(self) -> Script {
        Script::in_any(move |api, request| {
            if request.path.contains("count") {
                return counted(api);
            }
            let turn = api.turn(&request.json());
            match self.steps.get(turn.results.len()) {
                _ if !self.is_asked(&turn) => api.says(ASIDE),
                Some(step) => api.calls(&turn, step),
                None => api.says(&self.answer),
            }
        })
    }
}

/// What a count of tokens answers.
fn counted(api: Api) -> Reply {
    let field = if api == Api::Gemini { "totalTokens" } else { "input_tokens" };
    Reply::whole(200, "application/json", format!("{{\"{field}\":1234}}"))
}
