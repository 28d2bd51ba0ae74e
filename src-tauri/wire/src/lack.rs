//! What a provider says in so many words that a model, as it is served, does not take at all: tools, or images. Only a
//! plain statement counts. One that is bound to something else in the request (streaming, a schema, one kind of tool, the
//! size or the place of an image) says nothing of the model; `tests/dialects/lacks.txt` holds both.

use crate::error::{Class, UpstreamError};

/// What a model is said not to take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lack {
    Tools,
    Images,
}

impl UpstreamError {
    /// What the model that was asked does not take at all, where the provider's words leave no doubt.
    pub fn lack(&self) -> Option<Lack> {
        let is_about_the_request = matches!(self.class, Class::BadRequest | Class::NotFound | Class::Other);
        if !is_about_the_request || !matches!(self.status, None | Some(400 | 404 | 415 | 422 | 500 | 501)) {
            return None;
        }
        let words: String =
            self.message.to_lowercase().chars().filter(|c| !matches!(c, '\'' | '’' | '"' | '`')).collect();
        let table = [(Lack::Tools, &TOOLS), (Lack::Images, &IMAGES)];
        let mut said = table.into_iter().filter(|(_, it)| it.is_said_in(&words)).map(|(lack, _)| lack);
        // Both at once are one thing together.
        said.next().filter(|_| said.next().is_none())
    }
}

struct Words {
    /// What it is called: in lower case and without quotation marks or apostrophes, as all phrases here.
    names: &'static [&'static str],
    /// Sentences that say it by themselves.
    plain: &'static [&'static str],
    /// Words that bind it to something else.
    bound: &'static [&'static str],
}

impl Words {
    fn is_said_in(&self, words: &str) -> bool {
        if BOUND.iter().chain(self.bound).any(|it| words.contains(it)) {
            return false;
        }
        self.plain.iter().any(|it| words.contains(it)) || self.names.iter().any(|name| is_denied(words, name))
    }
}

/// `does not support NAME`, `NAME is not supported`.
fn is_denied(words: &str, name: &str) -> bool {
    words.match_indices(name).any(|(at, _)| {
        let (before, after) = (&words[..at], &words[at + name.len()..]);
        let is_whole = !before.ends_with(is_of_a_name) && !after.starts_with(is_of_a_name);
        // `tools.function.strict`, `tools[0]` are parts of it.
        let is_a_part = after.starts_with('[')
            || after.strip_prefix('.').is_some_and(|rest| rest.starts_with(is_of_a_name));
        let before = before.strip_suffix("the ").unwrap_or(before);
        let denied =
            DENIES.iter().any(|it| before.ends_with(it)) || DENIED.iter().any(|it| after.starts_with(it));
        is_whole && !is_a_part && denied
    })
}

fn is_of_a_name(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '_' | '-')
}

const DENIES: &[&str] = &[
    "not support ",
    "nt support ",
    "not currently support ",
    "not yet support ",
    "not accept ",
    "nt accept ",
    "no endpoints found that support ",
];

const DENIED: &[&str] = &[
    " is not supported",
    " are not supported",
    " isnt supported",
    " arent supported",
    " not supported",
    " is unsupported",
    " are unsupported",
    " is not enabled",
    " are not enabled",
    " modality is not enabled",
    " is not available for this model",
];

const TOOLS: Words = Words {
    names: &[
        "tools",
        "tool use",
        "tool calling",
        "tool calls",
        "function calling",
        "function calls",
        "tools parameter",
    ],
    plain: &["tool choice requires --enable-auto-tool-choice", "tools param requires --jinja"],
    bound: &[
        "parallel",
        "strict",
        "schema",
        "custom tool",
        "built-in",
        "builtin",
        "hosted tool",
        "server tool",
        "server-side",
        "mcp",
        "web_search",
        "search",
        "images",
        "these tools",
        "those tools",
        "such tools",
        "some tools",
        "following tools",
        "provided tools",
        "requested tools",
        "specified tools",
        "of the tools",
    ],
};

const IMAGES: Words = Words {
    names: &[
        "images",
        "image input",
        "image inputs",
        "image content",
        "image content block",
        "image_url",
        "image_url content",
        "vision",
        "vision input",
        "multimodal input",
        "multimodal inputs",
    ],
    plain: &[
        "image_url is only supported by certain models",
        "unknown variant image_url, expected text",
        "is not a multimodal model",
        "at most 0 image(s) may be provided",
        "only supports text input",
        "only accepts text input",
    ],
    bound: &[
        "image url",
        "image_url.",
        "image format",
        "image type",
        "media type",
        "mime",
        "format of",
        "size",
        "too large",
        "larger",
        "dimension",
        "resolution",
        "multiple",
        "more than one",
        "generat",
        "output",
        "edit",
        "tool",
        "animated",
    ],
};

/// What is said of both only together with something else.
const BOUND: &[&str] = &[
    "streaming",
    "stream=",
    "stream mode",
    "with stream",
    " when ",
    " while ",
    " unless ",
    "together with",
    "combin",
    "at the same time",
    "simultaneous",
    "response_format",
    "response format",
    "json mode",
    "thinking",
    " reasoning",
    "role",
    "in system",
    "in assistant",
    "system message",
    "system prompt",
    "assistant message",
    "tool result",
    "tool message",
    "temporarily",
    "currently unavailable",
    "your plan",
    "your account",
    "region",
];
