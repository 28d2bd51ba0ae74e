//! What a turn is made of.

use std::{borrow::Cow, fmt};

use crate::{
    dialect::Dialect,
    model::Member,
    raw::{Fields, Raw},
    text::Text,
};

/// One piece of a turn, in the order its author gave.
#[derive(Clone, Debug, PartialEq)]
pub struct Part {
    pub content: Content,
    /// The provider may cache the prompt up to here.
    pub cache: Option<CacheMark>,
    /// Where the part stands in the caller's words; `None` is `messages[i].content[j]` by position.
    pub place: Option<Box<str>>,
    /// Fields of the part that the model has no place for, raw, in order.
    pub extra: Fields,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Content {
    Text(Text),
    /// The model declined: its words. In assistant turns only.
    Refusal(Text),
    Image(Image),
    Document(Document),
    Audio(Audio),
    Thinking(Thinking),
    /// Reasoning that only its maker can read: Anthropic's `redacted_thinking`, an encrypted reasoning item. A
    /// summary that came with it stands before it as [`Content::Thinking`].
    Redacted {
        seal: Seal,
        /// The item's own id (`rs_…`), where the dialect has one.
        id: Option<String>,
    },
    ToolCall(ToolCall),
    /// In messages of [`Role::Tool`](crate::Role::Tool) only, and nothing else stands in those.
    ToolResult(ToolResult),
    /// What only the dialect it came in can say: a server tool's use and its result, a search result.
    Vendor {
        dialect: Dialect,
        /// The part's own `type`.
        kind: String,
        raw: Raw,
    },
}

/// Where media come from.
#[derive(Clone, PartialEq, Eq)]
pub enum Source {
    /// http or https.
    Url(String),
    /// `media_type` is never empty; `data` is base64 as it was sent.
    Base64 { media_type: String, data: String },
    /// A document as plain text.
    Text(String),
    /// An uploaded file's id: only the vendor it was uploaded to can fetch it.
    File(String),
}

#[derive(Clone, Debug, PartialEq)]
pub struct Image {
    pub source: Source,
    /// `low`, `high`, `auto`, as sent.
    pub detail: Option<String>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Document {
    pub source: Source,
    /// A file name or a title.
    pub name: Option<String>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Audio {
    pub source: Source,
    /// `wav`, `mp3`, …
    pub format: String,
}

/// A member's reasoning as text.
#[derive(Clone, Debug, PartialEq)]
pub struct Thinking {
    pub text: String,
    pub signature: Option<Seal>,
}

/// An opaque proof or ciphertext that is only ever sent back to the member that made it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Seal {
    /// The provider's own text, without our mark.
    pub data: String,
    /// Who made it; `None` when it came without our mark (a relayed answer's).
    pub origin: Option<Member>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct ToolCall {
    /// Unique in the conversation. Empty only in a member's answer before [`Restore`](crate::Restore) has been over it.
    pub id: String,
    pub name: String,
    /// The group a name belongs to (Codex's `namespace` tools).
    pub namespace: Option<String>,
    /// A function's arguments as raw JSON text, `{}` when there are none; a custom tool's input as plain text.
    pub arguments: Text,
    pub kind: CallKind,
    /// Gemini's `thoughtSignature`.
    pub signature: Option<Seal>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum CallKind {
    #[default]
    Function,
    /// Free-form: the input is text, not JSON.
    Custom,
}

#[derive(Clone, Debug, PartialEq)]
pub struct ToolResult {
    pub call_id: String,
    /// The tool's name where the dialect gives it (Gemini, Ollama).
    pub name: Option<String>,
    /// Text, images, documents; never calls or results.
    pub parts: Vec<Part>,
    pub is_error: bool,
    pub kind: CallKind,
}

/// `cache_control`
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CacheMark {
    /// `5m`, `1h`.
    pub ttl: Option<String>,
}

impl Part {
    pub fn new(content: Content) -> Self {
        Part { content, cache: None, place: None, extra: Fields::new() }
    }

    pub fn text(text: impl Into<Text>) -> Self {
        Part::new(Content::Text(text.into()))
    }

    /// The same part, standing where `place` says in the caller's words.
    pub fn at(mut self, place: impl Into<Box<str>>) -> Self {
        self.place = Some(place.into());
        self
    }
}

impl From<Content> for Part {
    fn from(content: Content) -> Self {
        Part::new(content)
    }
}

impl Content {
    /// A word for the part, for messages: `text`, `image`, `document`, `tool call`, or a vendor's own type.
    pub fn kind(&self) -> &str {
        match self {
            Content::Text(_) => "text",
            Content::Refusal(_) => "refusal",
            Content::Image(_) => "image",
            Content::Document(_) => "document",
            Content::Audio(_) => "audio",
            Content::Thinking(_) | Content::Redacted { .. } => "thinking",
            Content::ToolCall(_) => "tool call",
            Content::ToolResult(_) => "tool result",
            Content::Vendor { kind, .. } => kind,
        }
    }

    /// Text that a person or a model reads: the answer's own, a refusal's among it.
    pub fn as_text(&self) -> Option<&str> {
        match self {
            Content::Text(text) | Content::Refusal(text) => Some(text),
            _ => None,
        }
    }

    /// What binds the part to the member that made it.
    pub fn seal(&self) -> Option<&Seal> {
        match self {
            Content::Thinking(thinking) => thinking.signature.as_ref(),
            Content::Redacted { seal, .. } => Some(seal),
            Content::ToolCall(call) => call.signature.as_ref(),
            _ => None,
        }
    }
}

impl Document {
    /// A document of text as text: what every model can read. `None` for any other.
    pub fn text(&self) -> Option<Cow<'_, str>> {
        match &self.source {
            Source::Text(text) => Some(text.into()),
            Source::Base64 { media_type, data } if crate::media::is_text(media_type) => {
                String::from_utf8(crate::media::decode(data)?).ok().map(Cow::from)
            }
            _ => None,
        }
    }

    /// Whether [`text`](Self::text) has something to give.
    pub fn is_text(&self) -> bool {
        self.text().is_some()
    }
}

impl Source {
    /// An http(s) URL, or a `data:` URL taken apart; `None` for anything else.
    pub fn from_url(url: String) -> Option<Self> {
        crate::media::source_from_url(url)
    }

    /// An image of which only the base64 is known: its type is told by its first bytes, and a JPEG where they tell
    /// nothing.
    pub fn image(data: String) -> Self {
        let media_type = crate::media::image_type(&data).unwrap_or("image/jpeg").to_owned();
        Source::Base64 { media_type, data }
    }

    /// The URL, or a `data:` URL built of the parts; `None` for text and for a file's id.
    pub fn to_url(&self) -> Option<Cow<'_, str>> {
        match self {
            Source::Url(url) => Some(url.as_str().into()),
            Source::Base64 { media_type, data } => Some(format!("data:{media_type};base64,{data}").into()),
            Source::Text(_) | Source::File(_) => None,
        }
    }

    /// What a record holds for it: never the data.
    pub fn placeholder(&self) -> String {
        match self {
            Source::Url(url) => crate::redact::image_placeholder(url),
            Source::Base64 { data, .. } => {
                format!("[image: data URL, {} KB]", crate::media::decoded_length(data).div_ceil(1024))
            }
            Source::Text(text) => format!("[text: {} characters]", text.chars().count()),
            Source::File(_) => "[uploaded file]".to_owned(),
        }
    }
}

/// Long data are told by their length: a debug line that holds megabytes helps nobody.
impl fmt::Debug for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Source::Url(url) => write!(f, "Url({url:?})"),
            Source::Base64 { media_type, data } if data.len() > 200 => {
                write!(f, "Base64({media_type}, {} characters)", data.len())
            }
            Source::Base64 { media_type, data } => write!(f, "Base64({media_type}, {data:?})"),
            Source::Text(text) => write!(f, "Text({text:?})"),
            Source::File(id) => write!(f, "File({id:?})"),
        }
    }
}
