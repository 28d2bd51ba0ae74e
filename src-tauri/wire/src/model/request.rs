//! What a caller asked, whatever API it was asked in.

use crate::{
    dialect::Dialect,
    model::{
        BenchOptions, Content, Image, Metadata, Part, Reasoning, Sampling, StructuredOutput, Tool, ToolChoice,
    },
    raw::Fields,
};

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Request {
    /// The API it was asked in: whose words `extra` and vendor tools are in.
    pub dialect: Dialect,
    pub form: Form,
    /// `model` exactly as asked, suffix included; empty when the caller named none.
    pub model: String,
    /// System, developer, user, assistant and tool turns in the caller's order.
    pub messages: Vec<Message>,
    /// An empty list is no tools.
    pub tools: Vec<Tool>,
    /// Never there without tools.
    pub tool_choice: Option<ToolChoice>,
    pub parallel_tool_calls: Option<bool>,
    pub sampling: Sampling,
    /// The output budget in tokens, under whichever name the dialect has.
    pub max_output: Option<u64>,
    pub structured_output: Option<StructuredOutput>,
    pub reasoning: Reasoning,
    pub cache_key: Option<String>,
    pub metadata: Metadata,
    pub stream: bool,
    /// Whether a streamed answer carries a usage chunk (chat's `stream_options.include_usage`).
    pub include_usage: bool,
    /// `"with": ["alias", …]`.
    pub with: Vec<String>,
    pub bench: BenchOptions,
    /// Fields of the inbound dialect that the model has no place for, raw, in order, each by its whole path.
    pub extra: Fields,
    /// Fields that the dialect's reply repeats (Responses tells back what it was asked).
    pub echo: Fields,
    /// How the caller spelled an option whose name here is another: (`max_output`, `max_tokens`).
    pub spelled: Vec<(&'static str, String)>,
}

/// How the reply is framed, where a dialect has several routes for one question.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Form {
    #[default]
    Usual,
    /// Ollama's `/api/generate`.
    Generate,
    /// Gemini's `:streamGenerateContent?alt=sse`.
    Events,
    /// Gemini's `:streamGenerateContent` without it: one JSON array.
    Array,
}

/// What the route says beside the body.
#[derive(Clone, Copy, Debug, Default)]
pub struct Route<'a> {
    /// Gemini names the model in the path.
    pub model: Option<&'a str>,
    pub form: Form,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Role {
    System,
    Developer,
    User,
    Assistant,
    /// Holds [`Content::ToolResult`]s and nothing else.
    Tool,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Message {
    pub role: Role,
    pub parts: Vec<Part>,
    /// Chat's `name`.
    pub name: Option<String>,
    /// Where the message stands in the caller's words; `None` is `messages[i]` by position.
    pub place: Option<Box<str>>,
    /// Fields of the message that the model has no place for, raw, in order.
    pub extra: Fields,
}

impl Request {
    /// The system and developer turns as text, joined by blank lines.
    pub fn system_text(&self) -> String {
        self.text_of(|role| matches!(role, Role::System | Role::Developer))
    }

    /// The last user turn as text: what a person would call the question.
    pub fn last_user_text(&self) -> String {
        self.messages
            .iter()
            .rev()
            .find(|message| message.role == Role::User)
            .map(Message::text)
            .unwrap_or_default()
    }

    /// Whether a turn holds a document that is no text: what a member must be known to take.
    pub fn has_documents(&self) -> bool {
        self.parts().any(|part| matches!(&part.content, Content::Document(document) if !document.is_text()))
    }

    /// Whether a turn holds sound.
    pub fn has_audio(&self) -> bool {
        self.parts().any(|part| matches!(part.content, Content::Audio(_)))
    }

    /// Every image of a turn, in order (those inside tool results are not among them).
    pub fn images(&self) -> impl Iterator<Item = &Image> {
        self.parts().filter_map(|part| match &part.content {
            Content::Image(image) => Some(image),
            _ => None,
        })
    }

    pub fn parts(&self) -> impl Iterator<Item = &Part> {
        self.messages.iter().flat_map(|message| &message.parts)
    }

    /// How the caller spelled an option: `max_output` may be `max_tokens`, `temperature` may be
    /// `generationConfig.temperature`.
    pub fn spelling<'a>(&'a self, option: &'a str) -> &'a str {
        self.spelled.iter().find(|(known, _)| *known == option).map_or(option, |(_, spelled)| spelled)
    }

    /// Where a message stands in the caller's words.
    pub fn message_place(&self, at: usize) -> String {
        match self.messages.get(at).and_then(|message| message.place.as_deref()) {
            Some(place) => place.to_owned(),
            None => format!("messages[{at}]"),
        }
    }

    /// Where a part stands in the caller's words.
    pub fn part_place(&self, message: usize, part: usize) -> String {
        match self.messages.get(message).and_then(|m| m.parts.get(part)?.place.as_deref()) {
            Some(place) => place.to_owned(),
            None => format!("{}.content[{part}]", self.message_place(message)),
        }
    }

    fn text_of(&self, wanted: impl Fn(Role) -> bool) -> String {
        let texts: Vec<String> =
            self.messages.iter().filter(|message| wanted(message.role)).map(Message::text).collect();
        texts.join("\n\n")
    }
}

impl Message {
    pub fn new(role: Role, parts: Vec<Part>) -> Self {
        Message { role, parts, name: None, place: None, extra: Fields::new() }
    }

    /// The same message, standing where `place` says in the caller's words.
    pub fn at(mut self, place: impl Into<Box<str>>) -> Self {
        self.place = Some(place.into());
        self
    }

    /// Text parts joined by newlines.
    pub fn text(&self) -> String {
        let texts: Vec<&str> = self.parts.iter().filter_map(|part| part.content.as_text()).collect();
        texts.join("\n")
    }
}
