//! A whole answer: the fold of its events, so that streamed and whole replies have one truth.

use crate::{
    error::UpstreamError,
    model::{CallKind, CallStart, Content, Event, Finish, Image, Part, Source, Thinking, ToolCall},
    usage::Usage,
};

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Reply {
    /// The model the provider says it is.
    pub model: Option<String>,
    /// What was said, in order; neighbours of one kind are joined. Calls stand where they began.
    pub parts: Vec<Part>,
    pub usage: Usage,
    /// `None` while the answer is not finished, and when it failed.
    pub finish: Option<Finish>,
    pub error: Option<UpstreamError>,
    /// Where each call stands in `parts`, by its index, and whether it is whole.
    calls: Vec<(usize, bool)>,
}

impl Reply {
    /// A plain answer, as a panel's is.
    pub fn of_text(text: impl Into<String>, usage: Usage) -> Self {
        Reply { parts: vec![Part::text(text.into())], usage, finish: Some(Finish::Stop), ..Reply::default() }
    }

    pub fn from_events<'a>(events: impl IntoIterator<Item = &'a Event>) -> Self {
        let mut reply = Reply::default();
        events.into_iter().for_each(|event| reply.push(event));
        reply
    }

    /// Takes the next event in.
    pub fn push(&mut self, event: &Event) {
        match event {
            Event::Model(model) => self.model = Some(model.clone()),
            Event::Text(piece) => match self.last() {
                Some(Content::Text(text)) => text.push_str(piece),
                _ => self.add(Content::Text(piece.as_str().into())),
            },
            Event::Refusal(piece) => match self.last() {
                Some(Content::Refusal(text)) => text.push_str(piece),
                _ => self.add(Content::Refusal(piece.as_str().into())),
            },
            Event::Thinking(piece) => match self.last() {
                Some(Content::Thinking(Thinking { text, signature: None })) => text.push_str(piece),
                _ => self.add(Content::Thinking(Thinking { text: piece.clone(), signature: None })),
            },
            Event::ThinkingSignature(seal) => match self.last() {
                Some(Content::Thinking(Thinking { signature: signature @ None, .. })) => {
                    *signature = Some(seal.clone());
                }
                _ => self
                    .add(Content::Thinking(Thinking { text: String::new(), signature: Some(seal.clone()) })),
            },
            Event::Redacted { seal, id } => {
                self.add(Content::Redacted { seal: seal.clone(), id: id.clone() });
            }
            Event::CallStart(start) => self.start(start),
            Event::CallArguments { index, delta } => {
                if let Some(call) = self.call_mut(*index) {
                    call.arguments.push_str(delta);
                }
            }
            Event::CallEnd { index } => {
                if let Some(call) = self.call_mut(*index)
                    && call.kind == CallKind::Function
                    && call.arguments.trim().is_empty()
                {
                    call.arguments = "{}".into();
                }
                if let Some((_, whole)) = self.calls.get_mut(*index) {
                    *whole = true;
                }
            }
            Event::Image { media_type, data } => {
                let source = Source::Base64 { media_type: media_type.clone(), data: data.clone() };
                self.add(Content::Image(Image { source, detail: None }));
            }
            Event::Vendor { dialect, kind, raw } => {
                self.add(Content::Vendor { dialect: *dialect, kind: kind.clone(), raw: raw.clone() });
            }
            Event::Usage(usage) => self.usage.update(*usage),
            Event::Finish { reason, .. } => self.finish = Some(*reason),
            Event::Error(error) => self.error = Some(error.clone()),
        }
    }

    /// All text, refusals among it.
    pub fn text(&self) -> String {
        self.parts.iter().filter_map(|part| part.content.as_text()).collect()
    }

    /// The calls, in order.
    pub fn tool_calls(&self) -> impl Iterator<Item = &ToolCall> {
        self.parts.iter().filter_map(|part| match &part.content {
            Content::ToolCall(call) => Some(call),
            _ => None,
        })
    }

    /// Whether the part at this place is a call that was cut off before its end.
    pub fn is_cut_call(&self, part: usize) -> bool {
        self.calls.iter().any(|(at, whole)| *at == part && !whole)
    }

    fn start(&mut self, start: &CallStart) {
        self.calls.push((self.parts.len(), false));
        self.add(Content::ToolCall(ToolCall {
            id: start.id.clone(),
            name: start.name.clone(),
            namespace: start.namespace.clone(),
            arguments: "".into(),
            kind: start.kind,
            signature: start.signature.clone(),
        }));
    }

    fn add(&mut self, content: Content) {
        self.parts.push(Part::new(content));
    }

    fn last(&mut self) -> Option<&mut Content> {
        self.parts.last_mut().map(|part| &mut part.content)
    }

    fn call_mut(&mut self, index: usize) -> Option<&mut ToolCall> {
        let (at, _) = *self.calls.get(index)?;
        match &mut self.parts.get_mut(at)?.content {
            Content::ToolCall(call) => Some(call),
            _ => None,
        }
    }
}
