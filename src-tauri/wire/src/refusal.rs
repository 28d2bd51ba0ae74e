//! What a provider's refusal of a request says of the provider: that this member, or its API, lacks something that the
//! request holds. The tables are data; `tests/dialects/refusals.txt` holds what providers really say.

use crate::{
    error::{Class, UpstreamError},
    model::Quirks,
};

/// A field that a member may refuse and that it can be asked without, or under another name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Parameter {
    /// The output budget under its older name, `max_tokens`.
    PlainBudget,
    /// The output budget as `max_completion_tokens`.
    CompletionBudget,
    /// `temperature`, `top_p`, penalties and their like.
    Sampling,
    /// How much to think, in any API's words.
    Effort,
    /// Whether to call tools side by side.
    Parallel,
    /// Chat's `stream_options`.
    Usage,
    CacheMarks,
    /// The role.
    Developer,
    /// A model's own reasoning, given back.
    ReasoningBack,
}

impl UpstreamError {
    /// Whether it refuses a parameter or a schema that the member, or its API, does not take: another may take the
    /// request. Not so when the caller's content is refused.
    pub fn names_a_lack(&self) -> bool {
        self.said_lack().is_some()
            || (self.is_refusal() && (says(&self.message, UNKNOWN) || says(&self.message, LACKS)))
    }

    /// The one parameter that it refuses by name, where leaving it out or naming it otherwise mends it
    /// ([`Quirks::without`]).
    pub fn refused_parameter(&self) -> Option<Parameter> {
        self.refused_name().map(|(_, parameter)| parameter)
    }

    /// The same with the name that it is refused under, in lower case.
    pub fn refused_name(&self) -> Option<(&'static str, Parameter)> {
        let words = self.message.to_lowercase();
        if !self.is_refusal() || !says(&words, UNKNOWN) || says(&words, BOUNDS) {
            return None;
        }
        // The one that is named first: the way out is named after it.
        let named = NAMES.iter().filter_map(|it| Some((place(&words, it.0)?, *it)));
        named.min_by_key(|(place, _)| *place).map(|(_, it)| it)
    }

    /// The first of these fields that it refuses by name: such as it does not know.
    pub fn refused_field<'a>(&self, fields: impl Iterator<Item = &'a str>) -> Option<&'a str> {
        let words = self.message.to_lowercase();
        if !self.is_refusal() || !says(&words, UNKNOWN) || says(&words, BOUNDS) {
            return None;
        }
        let named = fields.filter_map(|name| Some((place(&words, &name.to_lowercase())?, name)));
        named.min_by_key(|(place, _)| *place).map(|(_, name)| name)
    }

    fn is_refusal(&self) -> bool {
        self.class == Class::BadRequest && matches!(self.status, None | Some(400 | 422))
    }
}

impl Quirks {
    /// How the member is asked from now on, once it has refused the parameter; `None` when nothing can be changed.
    /// After a few refusals there is nothing left to change.
    pub fn without(self, parameter: Parameter) -> Option<Quirks> {
        let mut learned = self;
        match parameter {
            // A member that refuses both names is not asked in turns.
            Parameter::PlainBudget => learned.completion_budget |= !self.plain_budget,
            Parameter::CompletionBudget => {
                (learned.completion_budget, learned.plain_budget) = (false, true);
            }
            Parameter::Sampling => learned.own_sampling = true,
            Parameter::Effort => learned.no_effort = true,
            Parameter::Parallel => learned.no_parallel = true,
            Parameter::Usage => learned.no_usage = true,
            Parameter::CacheMarks => (learned.cache_marks, learned.cache_ttl) = (false, false),
            Parameter::Developer => learned.developer = false,
            Parameter::ReasoningBack => learned.reasoning_back = false,
        }
        (learned != self).then_some(learned)
    }
}

/// A field is refused as such. In lower case, as all phrases here.
const UNKNOWN: &[&str] = &[
    "unsupported parameter",
    "unsupported_parameter",
    "unsupported value",
    "unrecognized request argument",
    "unrecognized argument",
    "unknown parameter",
    "unknown name",
    "unknown field",
    "cannot find field",
    "no such field",
    "extra inputs are not permitted",
    "extra_forbidden",
    "additional properties are not allowed",
    "unexpected keyword argument",
    "unexpected role",
    "not supported",
    "unsupported",
    "not support",
    "n't support",
    "deprecated for this model",
    "is not one of ['system'",
];

/// The member has too little of it, or reads schemas otherwise.
const LACKS: &[&str] = &[
    "invalid schema for",
    "invalid function schema",
    "invalid_function_parameters",
    "flavored json schema",
    "json schema is invalid",
    "schema must have",
    "function_declarations[",
    "functiondeclaration",
    "response_schema",
    "may only be set to 1",
    "maximum allowed number of output tokens",
    "the maximum value for `max_tokens`",
    "max_tokens is too large",
    "max_completion_tokens is too large",
    "must alternate",
    "only one system message",
    "no endpoints found that support",
];

/// Only some values of it are refused: leaving it out for good would be too much.
const BOUNDS: &[&str] = &[
    "supported values are",
    "is too large",
    "may only be set to 1",
    "must be less than",
    "maximum allowed number",
];

/// Names as providers spell them, in lower case, each as a word of its own.
const NAMES: &[(&str, Parameter)] = &[
    ("max_tokens", Parameter::PlainBudget),
    ("max_completion_tokens", Parameter::CompletionBudget),
    ("temperature", Parameter::Sampling),
    ("top_p", Parameter::Sampling),
    ("top_k", Parameter::Sampling),
    ("topp", Parameter::Sampling),
    ("topk", Parameter::Sampling),
    ("min_p", Parameter::Sampling),
    ("presence_penalty", Parameter::Sampling),
    ("frequency_penalty", Parameter::Sampling),
    ("presencepenalty", Parameter::Sampling),
    ("frequencypenalty", Parameter::Sampling),
    ("repetition_penalty", Parameter::Sampling),
    ("logit_bias", Parameter::Sampling),
    ("logprobs", Parameter::Sampling),
    ("top_logprobs", Parameter::Sampling),
    ("reasoning_effort", Parameter::Effort),
    ("reasoningeffort", Parameter::Effort),
    ("reasoning.effort", Parameter::Effort),
    ("reasoning", Parameter::Effort),
    ("thinking", Parameter::Effort),
    ("think", Parameter::Effort),
    ("thinkingconfig", Parameter::Effort),
    ("thinking_config", Parameter::Effort),
    ("thinking_budget", Parameter::Effort),
    ("parallel_tool_calls", Parameter::Parallel),
    ("stream_options", Parameter::Usage),
    ("include_usage", Parameter::Usage),
    ("cache_control", Parameter::CacheMarks),
    ("developer", Parameter::Developer),
    ("reasoning_content", Parameter::ReasoningBack),
];

fn says(words: &str, phrases: &[&str]) -> bool {
    let words = words.to_lowercase();
    phrases.iter().any(|phrase| words.contains(phrase))
}

/// Where the name stands: not as a part of a longer name, nor as where a field of another name is.
fn place(words: &str, name: &str) -> Option<usize> {
    let is_part = |byte: Option<&u8>| byte.is_some_and(|byte| byte.is_ascii_alphanumeric() || *byte == b'_');
    let bytes = words.as_bytes();
    words.match_indices(name).map(|(at, _)| at).find(|at| {
        let end = at + name.len();
        let is_longer =
            is_part(at.checked_sub(1).and_then(|before| bytes.get(before))) || is_part(bytes.get(end));
        let is_holder = bytes.get(end) == Some(&b'.') && is_part(bytes.get(end + 1));
        !is_longer && !is_holder
    })
}
