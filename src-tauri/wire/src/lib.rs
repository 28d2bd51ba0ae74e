//! The LLM wire formats, without I/O: bytes in, bytes out.
//!
//! A dialect implements [`Format`]: its wire types, pure functions from and to the inner representation
//! ([`Request`], [`Event`]), and two small state machines for streams. Nothing here knows time, sockets or a
//! provider's name, so everything about a dialect can be tested with bytes. How to add one: `docs/README.md`.

mod anthropic;
mod arguments;
mod bound;
mod budget;
mod caller;
mod chat;
mod classify;
mod completions;
mod count;
mod custom;
mod dialect;
mod error;
mod failure;
mod format;
mod gemini;
mod hash;
mod ids;
mod json;
mod lack;
mod list;
mod media;
mod model;
mod names;
pub mod ndjson;
mod notice;
mod ollama;
mod openai;
mod prepare;
mod quota;
mod raw;
mod reach;
mod reading;
pub mod redact;
mod refusal;
pub mod relay;
mod responses;
mod restore;
mod rules;
mod schema;
mod seal;
pub mod sse;
mod stated;
mod text;
mod usage;
pub mod wait;

pub use budget::{budget, with_twice_the_budget};
pub use count::TokenCount;
pub use dialect::{Dialect, format};
pub use error::{ApiError, Class, Kind, Origin, UpstreamError};
pub use format::{Auth, Encoded, EventDecoder, EventEncoder, Format, ReplyHead, Silence};
pub use json::{Json, value as json_value};
pub use lack::{AskedWith, Lack};
pub use list::{Limits, ModelEntry, ModelList, Together};
pub use model::{
    Audio, BenchOptions, CacheMark, CallKind, CallStart, Content, Document, Event, Finish, Form, Image, Kept,
    Member, Message, Metadata, Part, Quirks, Reasoning, Reply, ReplyMode, Request, Role, Route, Sampling,
    Seal, Source, StructuredOutput, Target, Thinking, ThinkingMode, ThinkingScale, Tool, ToolCall,
    ToolChoice, ToolMode, ToolRef, ToolResult,
};
pub use names::Charset;
pub use notice::Notice;
pub use ollama::{
    list::{
        loaded as ollama_loaded, running as ollama_running, shown as ollama_shown, version as ollama_version,
    },
    request::NOTHING_ASKED,
};
pub use quota::{may_be_quota_notice, quota_notice};
pub use raw::{Fields, Raw};
pub use refusal::Parameter;
pub use responses::conversation;
pub use restore::Restore;
pub use rules::{Keeps, Rules, Sources};
pub use schema::Profile;
pub use stated::{Axis, StatedLimit};
pub use text::Text;
pub use usage::{Usage, estimate_text_tokens, estimate_tokens};
