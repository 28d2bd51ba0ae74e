//! What a member's answer says, as far as the gateway must know it: read on the side of what goes on.

use tokio::time::Instant;
use wire::{Event, Finish, UpstreamError, Usage};

use crate::{
    origins::Listening,
    upstream::{Heard, Sends},
};

/// The most of an answer that is kept.
const ANSWER: usize = 1024 * 1024;

pub(crate) struct Watch {
    pub usage: Usage,
    pub finish: Option<Finish>,
    pub error: Option<UpstreamError>,
    pub tool_calls: u32,
    /// The model the provider says answered.
    pub served_as: Option<String>,
    /// The text and the calls of tools, where they are kept.
    pub answer: String,
    /// When the first piece came: text, or the name of a tool.
    pub first_piece: Option<Instant>,
    /// Text so far, until it is taken for an answer.
    opening: String,
    early: bool,
    keeps: bool,
    listening: Listening,
    /// Where what it says is counted.
    sends: Sends,
}

impl Watch {
    /// `early`: reasoning is a piece too. `keeps`: the answer's text is kept.
    pub(crate) fn new(listening: Listening, sends: Sends, early: bool, keeps: bool) -> Watch {
        Watch {
            usage: Usage::default(),
            finish: None,
            error: None,
            tool_calls: 0,
            served_as: None,
            answer: String::new(),
            first_piece: None,
            opening: String::new(),
            early,
            keeps,
            listening,
            sends,
        }
    }

    pub(crate) fn take(&mut self, event: &Event) {
        self.listening.hear(event);
        self.heard().take(event);
        match event {
            Event::Text(text) | Event::Refusal(text) => self.text(text),
            Event::CallStart(call) => {
                self.tool_calls += 1;
                self.keep("\n");
                self.keep(&call.name);
                self.keep(" ");
                self.piece();
            }
            Event::CallArguments { delta, .. } => self.keep(delta),
            Event::Thinking(_) if self.early => self.piece(),
            Event::Image { .. } | Event::Vendor { .. } => self.piece(),
            Event::Usage(usage) => self.usage.update(*usage),
            Event::Model(model) => self.served_as = Some(model.clone()),
            Event::Finish { reason, .. } => {
                self.finish = Some(*reason);
                // It has become no notice.
                if self.first_piece.is_none() && is_said(&self.opening) {
                    self.piece();
                }
            }
            Event::Error(error) => self.error = Some(error.clone()),
            Event::Thinking(_)
            | Event::ThinkingSignature(_)
            | Event::Redacted { .. }
            | Event::CallEnd { .. } => {}
        }
    }

    /// What the answer took: nothing of that is known before its end.
    pub(crate) fn took(&self) -> Usage {
        self.finish.map(|_| self.usage).unwrap_or_default()
    }

    /// Where it is counted what the answer says.
    pub(crate) fn heard(&self) -> &Heard {
        self.sends.heard()
    }

    /// A finish or an error has come: nothing follows.
    pub(crate) fn is_over(&self) -> bool {
        self.finish.is_some() || self.error.is_some()
    }

    /// All that was said is that a quota is used up.
    pub(crate) fn is_notice(&self) -> bool {
        self.first_piece.is_none() && wire::quota_notice(&self.opening)
    }

    /// What it said so far, when it was not taken for an answer.
    pub(crate) fn opening(&self) -> &str {
        &self.opening
    }

    fn text(&mut self, text: &str) {
        self.keep(text);
        if self.first_piece.is_some() {
            return;
        }
        self.opening.push_str(text);
        if is_said(&self.opening) && !wire::may_be_quota_notice(&self.opening) {
            self.piece();
        }
    }

    fn keep(&mut self, text: &str) {
        if self.keeps && self.answer.len() + text.len() <= ANSWER {
            self.answer.push_str(text);
        }
    }

    fn piece(&mut self) {
        self.first_piece.get_or_insert_with(Instant::now);
        self.opening = String::new();
    }
}

/// Spaces say nothing, and a notice that a quota is used up is no answer: it is one as long as nothing follows.
fn is_said(text: &str) -> bool {
    !text.trim().is_empty() && !wire::quota_notice(text)
}
