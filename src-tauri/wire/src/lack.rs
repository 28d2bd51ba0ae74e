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

/// `This model does not support NAME.`, `NAME is not supported by this model.`: each word of the sentence is looked at, as
/// one more (`GIF images`, `more than 64 tools`, `in batches`) makes it another statement.
fn is_denied(words: &str, name: &str) -> bool {
    words.match_indices(name).any(|(at, _)| {
        let (before, after) = (sentence(&words[..at]), &words[at + name.len()..]);
        let before = before.strip_suffix("the ").unwrap_or(before);
        if before == "no endpoints found that support " {
            return ends(after);
        }
        let active = DENIES.iter().find_map(|it| before.strip_suffix(it)).is_some_and(is_the_model);
        let passive = || DENIED.iter().find_map(|it| after.strip_prefix(it)).is_some_and(is_by_the_model);
        (active && ends(after)) || (before.is_empty() && passive())
    })
}

/// What has been said of the last sentence, or behind its colon.
fn sentence(words: &str) -> &str {
    let breaks = [". ", ": ", "; ", "! ", "\n"].iter().filter_map(|it| Some(words.rfind(it)? + it.len()));
    words[breaks.max().unwrap_or(0)..].trim_start()
}

/// Nothing more is said, or something else.
fn ends(rest: &str) -> bool {
    let rest = rest.trim_end();
    rest.is_empty()
        || rest == "."
        || [". ", "; ", "! ", " (", " - ", "\n"].iter().any(|it| rest.starts_with(it))
}

/// `this model does`, `model x does`, `x:latest does`.
fn is_the_model(subject: &str) -> bool {
    let mut words: Vec<&str> =
        subject.split_whitespace().filter(|it| !matches!(*it, "does" | "do")).collect();
    let is_id = |word: &str| word.contains(|c: char| c.is_ascii_digit() || matches!(c, ':' | '/' | '-'));
    if words.len() > 1 && words.last().is_some_and(|it| is_id(it)) {
        words.pop();
        return words.last() == Some(&"model");
    }
    matches!(words[..], [id] if is_id(id)) || words.last() == Some(&"model")
}

/// `with this model.`, or nothing.
fn is_by_the_model(rest: &str) -> bool {
    let by = ["with", "by", "for", "on", "in"].iter().find_map(|it| rest.strip_prefix(' ')?.strip_prefix(it));
    match by {
        None => ends(rest),
        Some(whom) => {
            let whom = whom.trim_start();
            ["this model", "the model"].iter().any(|it| whom.strip_prefix(it).is_some_and(ends))
                || whom.starts_with("models/")
        }
    }
}

const DENIES: &[&str] = &[
    "not support ",
    "nt support ",
    "not currently support ",
    "not yet support ",
    "not accept ",
    "nt accept ",
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
    " is not available",
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
