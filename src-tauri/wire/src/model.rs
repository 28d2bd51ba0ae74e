//! The inner representation: what any of the dialects can say. Raw JSON text is kept wherever it is not ours
//! to change (schemas, arguments, unknown fields), so key order and number text survive.

mod event;
mod options;
mod part;
mod reply;
mod request;
mod target;
mod tool;

pub use event::{CallStart, Event, Finish};
pub use options::{BenchOptions, Metadata, Reasoning, ReplyMode, Sampling, StructuredOutput, ThinkingMode};
pub use part::{
    Audio, CacheMark, CallKind, Content, Document, Image, Part, Seal, Source, Thinking, ToolCall, ToolResult,
};
pub use reply::Reply;
pub use request::{Form, Message, Request, Role, Route};
pub use target::{Kept, Member, Quirks, Target, ThinkingScale};
pub use tool::{Tool, ToolChoice, ToolMode, ToolRef};
