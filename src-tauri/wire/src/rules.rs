//! What members of a dialect take, as data. One pipeline ([`prepare`](crate::prepare)) holds every request to
//! it, so that a dialect's encoder only writes.

use crate::{
    dialect::Dialect,
    model::{Content, Request, Source},
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
    /// The media types that base64 may be of; empty is any.
    pub types: &'static [&'static str],
}

impl Sources {
    pub const NONE: Sources = Sources { url: false, base64: false, text: false, types: &[] };

    /// Data of any type.
    pub const DATA: Sources = Sources { base64: true, ..Sources::NONE };

    /// What of the source cannot be sent, as it follows the medium's name (` by URL`); `None` when it can.
    fn lacks(&self, source: &Source) -> Option<String> {
        match source {
            Source::Url(_) if !self.url && self.base64 => Some(" by URL".to_owned()),
            Source::Url(_) => (!self.url).then(String::new),
            Source::Base64 { media_type, .. } if self.base64 => {
                let taken = self.types.is_empty() || self.types.contains(&media_type.as_str());
                (!taken).then(|| format!(" of type {media_type}"))
            }
            Source::Base64 { .. } => Some(String::new()),
            Source::Text(_) => (!self.text).then(String::new),
            Source::File(_) => Some(" by the id of an upload".to_owned()),
        }
    }
}

impl Rules {
    /// The first thing of the request that a member of this dialect cannot be sent, as [`lacks`](Self::lacks) says it.
    pub fn first_lacking(&self, request: &Request) -> Option<String> {
        request.parts().find_map(|part| match &part.content {
            Content::ToolResult(result) => result.parts.iter().find_map(|part| self.lacks(&part.content)),
            content => self.lacks(content),
        })
    }

    /// What a member of this dialect cannot be sent of the part: `image by URL`, `document of type text/html`.
    /// `None` when it can take it. The gateway does not ask a member that lacks something; what an encoder meets
    /// all the same is left out and listed.
    pub fn lacks(&self, content: &Content) -> Option<String> {
        let how = match content {
            Content::Image(image) => self.images.lacks(&image.source),
            // Text is text in every dialect.
            Content::Document(document) if document.is_text() => None,
            Content::Document(document) => self.documents.lacks(&document.source),
            Content::Audio(audio) => self.audio.lacks(&audio.source),
            Content::Vendor { dialect, .. } => (*dialect != self.dialect).then(String::new),
            _ => None,
        };
        how.map(|how| format!("{}{how}", content.kind()))
    }
}
