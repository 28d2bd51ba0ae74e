//! Tools and the choice among them.

use crate::{dialect::Dialect, model::CacheMark, raw::Raw};

#[derive(Clone, Debug, PartialEq)]
pub enum Tool {
    Function {
        name: String,
        /// The group the name belongs to (Codex's `namespace` tools).
        namespace: Option<String>,
        description: Option<String>,
        /// A JSON Schema in standard words (lower-case types), raw; `None` is no parameters.
        parameters: Option<Raw>,
        strict: Option<bool>,
        cache: Option<CacheMark>,
    },
    /// Free-form: the model writes text, not JSON.
    Custom {
        name: String,
        namespace: Option<String>,
        description: Option<String>,
        /// OpenAI's `format` object: `{"type":"grammar","syntax":"lark","definition":"…"}`, raw.
        grammar: Option<Raw>,
        cache: Option<CacheMark>,
    },
    /// Run by the vendor itself: web search, code execution. Only that vendor's dialect can say it.
    Vendor {
        dialect: Dialect,
        /// Its own `type`: `web_search_20250305`, `file_search`, `googleSearch`.
        kind: String,
        /// The whole definition.
        raw: Raw,
    },
}

/// A tool by its name.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ToolRef {
    pub name: String,
    pub namespace: Option<String>,
}

#[derive(Clone, Debug, PartialEq)]
pub enum ToolChoice {
    Auto,
    None,
    /// Any tool, but one.
    Required,
    Named(ToolRef),
    /// Only these may be called.
    Allowed {
        mode: ToolMode,
        tools: Vec<ToolRef>,
    },
    /// A choice only its dialect can say (a vendor's own tool forced).
    Vendor {
        dialect: Dialect,
        raw: Raw,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ToolMode {
    Auto,
    Required,
}

impl Tool {
    /// The name calls will have; a vendor's tool has its type.
    pub fn name(&self) -> &str {
        match self {
            Tool::Function { name, .. } | Tool::Custom { name, .. } => name,
            Tool::Vendor { kind, .. } => kind,
        }
    }

    /// How the tool is referred to; `None` for a vendor's own.
    pub fn reference(&self) -> Option<ToolRef> {
        match self {
            Tool::Function { name, namespace, .. } | Tool::Custom { name, namespace, .. } => {
                Some(ToolRef { name: name.clone(), namespace: namespace.clone() })
            }
            Tool::Vendor { .. } => None,
        }
    }
}
