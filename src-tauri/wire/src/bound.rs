//! What binds a request to the caller's own API: no translation can carry it, so that only a member of that API,
//! to which the body goes as it came, can be asked.

use crate::{
    dialect::Dialect,
    error::ApiError,
    model::{Content, Part, Request, Role, Source, Tool, ToolChoice},
};

impl Request {
    /// Why only a member of the caller's own API can be asked this; the error is what the caller is told when
    /// there is none. `None`: every member can be asked, and what it lacks is left out and listed.
    pub fn bound(&self) -> Option<ApiError> {
        self.kept_elsewhere().or_else(|| self.vendor_run())
    }

    /// Why only a relay can carry this: it names what another service keeps (an uploaded file, a cache), which
    /// only the vendor it was given to can read.
    pub fn kept_elsewhere(&self) -> Option<ApiError> {
        self.cached().or_else(|| self.uploaded())
    }

    /// Where the request first uses tools: tools, calls or results, a vendor's own among them. A panel refuses
    /// those (`… use bench/<name>:route`).
    pub fn tool_use(&self) -> Option<String> {
        if !self.tools.is_empty() {
            return Some("tools".to_owned());
        }
        self.messages.iter().enumerate().find_map(|(at, message)| {
            let is_use = |part: &Part| {
                matches!(part.content, Content::ToolCall(_) | Content::ToolResult(_))
                    || part.content.is_vendors_tool()
            };
            let part = message.parts.iter().find(|part| is_use(part));
            if part.is_none() && message.role != Role::Tool {
                return None;
            }
            Some(
                part.and_then(|part| part.place.as_deref())
                    .map_or_else(|| self.message_place(at), str::to_owned),
            )
        })
    }

    fn cached(&self) -> Option<ApiError> {
        let is_cache = |name: &str| matches!(name, "cachedContent" | "cached_content");
        let (name, _) =
            self.extra.iter().find(|(name, _)| self.dialect == Dialect::Gemini && is_cache(name))?;
        let message =
            format!("{name}: no member can read another account's cache; send its contents instead");
        Some(ApiError::invalid("cached_content", message))
    }

    fn uploaded(&self) -> Option<ApiError> {
        self.messages.iter().enumerate().find_map(|(at, message)| {
            message.parts.iter().enumerate().find_map(|(part_at, part)| {
                let (field, instead) = self.upload_in(part)?;
                let place = self.part_place(at, part_at);
                let message = format!(
                    "{place}.{field}: no member can fetch an uploaded file; send its content as {instead}"
                );
                Some(ApiError::invalid("uploaded_file", message))
            })
        })
    }

    /// The field that names an uploaded file, and what to send in its place.
    fn upload_in(&self, part: &Part) -> Option<(&'static str, &'static str)> {
        let source = match &part.content {
            Content::Image(image) => &image.source,
            Content::Document(document) => &document.source,
            Content::Audio(audio) => &audio.source,
            Content::ToolResult(result) => {
                return result.parts.iter().find_map(|part| self.upload_in(part));
            }
            Content::Vendor { dialect: Dialect::Anthropic, kind, .. } if kind == "container_upload" => {
                return Some(("file_id", "a document or an image"));
            }
            _ => return None,
        };
        let is_image = matches!(part.content, Content::Image(_));
        matches!(source, Source::File(_)).then_some(match self.dialect {
            Dialect::Anthropic => ("source.file_id", "base64"),
            Dialect::Gemini => ("fileData.fileUri", "inlineData"),
            Dialect::Responses if is_image => ("file_id", "image_url"),
            Dialect::Responses => ("file_id", "file_data"),
            _ => ("file.file_id", "file_data"),
        })
    }

    /// A vendor-run tool that cannot be left out: what was asked needs it.
    fn vendor_run(&self) -> Option<ApiError> {
        let (place, kind, why) = self.needed_tool()?;
        let message = format!(
            "{place}: {kind} is run by its vendor only, and {why}; send a function of your own, or ask a \
             collection with a member of this API"
        );
        Some(ApiError::invalid("vendor_tool", message))
    }

    fn needed_tool(&self) -> Option<(String, &str, &'static str)> {
        for (at, message) in self.messages.iter().enumerate() {
            for (part_at, part) in message.parts.iter().enumerate() {
                if part.content.is_vendors_tool() {
                    let place = self.part_place(at, part_at);
                    return Some((place, part.content.kind(), "its results are in the conversation"));
                }
            }
        }
        let vendors = |tool: &&Tool| matches!(tool, Tool::Vendor { .. });
        let first = self.tools.iter().position(|tool| vendors(&tool))?;
        let kind = self.tools[first].name();
        let choice = || self.spelling("tool_choice").to_owned();
        match &self.tool_choice {
            Some(ToolChoice::None) => None,
            Some(ToolChoice::Vendor { .. }) => Some((choice(), kind, "it is the tool to be used")),
            // Those that have no name are all that is allowed.
            Some(ToolChoice::Allowed { tools, .. }) if tools.is_empty() => {
                Some((choice(), kind, "no other tool is allowed"))
            }
            _ if self.tools.iter().all(|tool| vendors(&tool)) => {
                Some((format!("tools[{first}]"), kind, "there is no other tool"))
            }
            _ => None,
        }
    }
}

impl Content {
    /// A call of a tool that its vendor ran, or what came of it.
    pub fn is_vendors_tool(&self) -> bool {
        let Content::Vendor { dialect, kind, .. } = self else { return false };
        match dialect {
            Dialect::Anthropic => kind.ends_with("_tool_use") || kind.ends_with("_tool_result"),
            Dialect::Responses => {
                kind.ends_with("_call") || kind.ends_with("_call_output") || kind.starts_with("mcp_")
            }
            Dialect::Gemini => {
                matches!(
                    kind.as_str(),
                    "executableCode" | "codeExecutionResult" | "toolCall" | "toolResponse"
                )
            }
            Dialect::Chat | Dialect::Completions | Dialect::Ollama => false,
        }
    }
}
