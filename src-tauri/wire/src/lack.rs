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

/// What was asked, as far as a refusal can be about it.
#[derive(Clone, Copy, Debug)]
pub struct AskedWith<'a> {
    /// The provider's id of the model.
    pub served: &'a str,
    pub tools: bool,
    pub images: bool,
}

impl UpstreamError {
    /// What the model that was asked does not take at all, where the provider's words leave no doubt: they are about
    /// what was sent, and about this model.
    pub fn lack(&self, asked: AskedWith<'_>) -> Option<Lack> {
        let lack = self.said_lack()?;
        let was_sent = match lack {
            Lack::Tools => asked.tools,
            Lack::Images => asked.images,
        };
        (was_sent && !names_another(&plain(&self.message), &plain(asked.served))).then_some(lack)
    }

    /// What its words say that a model does not take, whatever was asked.
    pub(crate) fn said_lack(&self) -> Option<Lack> {
        let is_about_the_request = matches!(self.class, Class::BadRequest | Class::NotFound | Class::Other);
        if !is_about_the_request || !matches!(self.status, None | Some(400 | 404 | 415 | 422 | 500 | 501)) {
            return None;
        }
        let words = plain(&self.message);
        let table = [(Lack::Tools, &TOOLS), (Lack::Images, &IMAGES)];
        let mut said = table.into_iter().filter(|(_, it)| it.is_said_in(&words)).map(|(lack, _)| lack);
        // Both at once are one thing together.
        said.next().filter(|_| said.next().is_none())
    }
}

/// In lower case, and without quotation marks or apostrophes.
fn plain(words: &str) -> String {
    words.to_lowercase().chars().filter(|c| !matches!(c, '\'' | '’' | '"' | '`')).collect()
}

/// Whether the words name a model and none of those they name is this one: `model x`, `models/x`, `x does not`.
fn names_another(words: &str, served: &str) -> bool {
    let words: Vec<&str> = words.split_whitespace().collect();
    let mut named = (0..words.len()).filter_map(|at| {
        let word = words[at].trim_matches(|c: char| !c.is_ascii_alphanumeric());
        let before = at.checked_sub(1).map(|before| words[before]);
        let after = words.get(at + 1).copied();
        let is_named = before == Some("model")
            || word.starts_with("models/")
            || matches!(after, Some("does" | "doesnt" | "do" | "dont" | "is" | "isnt" | "cannot" | "not"));
        (is_named && is_id(word)).then_some(word)
    });
    let Some(first) = named.next() else { return false };
    !std::iter::once(first).chain(named).any(|named| is_same(named, served))
}

/// With or without whose it is, where it is from, and which of its versions.
fn is_same(named: &str, served: &str) -> bool {
    let own = |id: &str| {
        let id = id.strip_suffix(":latest").unwrap_or(id);
        id.rsplit('/').next().unwrap_or(id).to_owned()
    };
    let (named, served) = (own(named), own(served));
    named.contains(&served) || served.contains(&named)
}

fn is_id(word: &str) -> bool {
    word.contains(|c: char| c.is_ascii_digit() || matches!(c, ':' | '/' | '-'))
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
