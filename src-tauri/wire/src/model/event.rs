//! What an answer can say, in the order it is said.

use crate::{
    dialect::Dialect,
    error::UpstreamError,
    model::{CallKind, Seal},
    raw::Raw,
    usage::Usage,
};

/// How an answer ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Finish {
    Stop,
    Length,
    ContentFilter,
    ToolCalls,
}

/// One thing a member said.
///
/// The order every decoder keeps: text, refusals and thinking come as they are said, each a piece to be joined
/// with its neighbours of the same kind. `CallStart` opens a call, `CallArguments` add to it, `CallEnd` tells
/// that it is whole; indices count calls only, densely from 0 (calls may be interleaved). A call that was never
/// ended was cut off. `Finish` or `Error` is the last event, once.
#[derive(Clone, Debug, PartialEq)]
pub enum Event {
    /// The model the provider says it is: the first time and when it changes.
    Model(String),
    Text(String),
    Refusal(String),
    Thinking(String),
    /// Closes the thinking before it; alone it signs the text or call beside it.
    ThinkingSignature(Seal),
    /// A whole block of reasoning that only its maker can read.
    Redacted {
        seal: Seal,
        id: Option<String>,
    },
    CallStart(CallStart),
    /// A function's arguments as raw JSON text, or a custom tool's input, piece by piece. Never empty.
    CallArguments {
        index: usize,
        delta: String,
    },
    CallEnd {
        index: usize,
    },
    /// An image the model made, base64.
    Image {
        media_type: String,
        data: String,
    },
    /// What only its dialect can say: a server tool's use or result, a citation. `kind` is its own type.
    Vendor {
        dialect: Dialect,
        kind: String,
        raw: Raw,
    },
    /// Cumulative: the last one stands, field by field.
    Usage(Usage),
    /// The end mark. `inferred` when the provider gave an end mark but no finish reason.
    Finish {
        reason: Finish,
        inferred: bool,
    },
    /// The provider's error inside a 200, or a fault of the reply itself.
    Error(UpstreamError),
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct CallStart {
    pub index: usize,
    /// Empty when the dialect has none: [`Restore`](crate::Restore) gives it one by position.
    pub id: String,
    pub name: String,
    pub namespace: Option<String>,
    pub kind: CallKind,
    pub signature: Option<Seal>,
}

impl Finish {
    /// length > content_filter > tool_calls > stop: of several reasons the first of these stands.
    pub fn or_heavier(self, other: Finish) -> Finish {
        if other.weight() > self.weight() { other } else { self }
    }

    fn weight(self) -> u8 {
        match self {
            Finish::Stop => 0,
            Finish::ToolCalls => 1,
            Finish::ContentFilter => 2,
            Finish::Length => 3,
        }
    }
}

impl Event {
    pub fn is_last(&self) -> bool {
        matches!(self, Event::Finish { .. } | Event::Error(_))
    }

    /// Whether it holds something of the answer, after which another member can no longer take over unseen.
    pub fn is_content(&self) -> bool {
        !matches!(self, Event::Model(_) | Event::Usage(_) | Event::Finish { .. } | Event::Error(_))
    }
}
