//! What members of a dialect take, as data. One pipeline ([`prepare`](crate::prepare)) holds every request to
//! it, so that a dialect's encoder only writes.

use crate::{
    dialect::Dialect,
    model::{Content, Source},
    names::Charset,
    schema::Profile,
};

#[derive(Clone, Copy, Debug)]
pub struct Rules {
    pub dialect: Dialect,
    /// What the name of a tool may be.
    pub names: Charset,
    /// What the id of a tool call may be.
    pub ids: Charset,
    /// Free-form tools; otherwise they go as a function with one string `input`.
    pub custom_tools: bool,
    /// Groups of tools; otherwise names are made flat.
    pub namespaces: bool,
    /// A list of tools that may be chosen from; otherwise the others are left out.
    pub allowed_tools: bool,
    pub tool_schema: &'static Profile,
    pub response_schema: &'static Profile,
    /// A tool's result may hold images and documents; otherwise they follow in a user turn.
    pub media_in_results: bool,
    /// Whether a result can say that its tool failed.
    pub error_flag: bool,
    /// Every call must be followed by its result; one that has none is given one.
    pub results_required: bool,
    pub cache_marks: bool,
    /// Takes `Request::cache_key`.
    pub cache_key: bool,
    pub thinking: Keeps,
    pub images: Sources,
    pub documents: Sources,
    pub audio: Sources,
}

/// What of earlier reasoning is sent back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Keeps {
    /// Nothing, but to a member whose quirks say otherwise.
    Nothing,
    /// Text, whoever thought it.
    Text,
    /// What carries a seal of the member's own.
    Sealed,
}

/// The ways a medium may be sent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sources {
    pub url: bool,
    pub base64: bool,
    pub text: bool,
}

impl Sources {
    pub const NONE: Sources = Sources { url: false, base64: false, text: false };

    /// An uploaded file's id is never taken: no member can fetch it.
    pub fn takes(&self, source: &Source) -> bool {
        match source {
            Source::Url(_) => self.url,
            Source::Base64 { .. } => self.base64,
            Source::Text(_) => self.text,
            Source::File(_) => false,
        }
    }
}

impl Rules {
    /// Whether a member of this dialect can be sent the part. The gateway refuses a document or audio part when no
    /// eligible member takes it; what an encoder meets all the same is left out and listed.
    pub fn takes(&self, content: &Content) -> bool {
        match content {
            Content::Image(image) => self.images.takes(&image.source),
            Content::Document(document) => self.documents.takes(&document.source),
            Content::Audio(audio) => self.audio.takes(&audio.source),
            Content::Vendor { dialect, .. } => *dialect == self.dialect,
            _ => true,
        }
    }
}
