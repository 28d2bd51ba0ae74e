//! What kind of failure a provider's status and words mean. The table is data: rows are tried in order and the
//! first that fits is the answer. The classes are those of providers.md §4; which of them hand a seat over is
//! [`Class::fails_over`].

use std::ops::RangeInclusive;

use crate::error::Class;

/// Stands for "no status": an error inside a 200.
pub(crate) const NO_STATUS: u16 = 0;

/// A row fits when the status is in one of its ranges and, if it has phrases, the words hold one of them.
struct Rule {
    statuses: &'static [RangeInclusive<u16>],
    phrases: &'static [&'static str],
    class: Class,
}

/// The class of a failure. `words` are the provider's message and machine codes.
pub(crate) fn classify(status: u16, words: &str) -> Class {
    let words = words.to_lowercase();
    RULES.iter().find(|rule| rule.fits(status, &words)).map_or(Class::Other, |rule| rule.class)
}

/// The class of an HTML page: something in front of the API, not the API.
pub(crate) fn page(status: u16, html: &str) -> Class {
    let html = html.to_lowercase();
    if status == 403 || CHALLENGES.iter().any(|phrase| html.contains(phrase)) {
        return Class::Network;
    }
    // A page's prose is not read for phrases: it says too much.
    classify(status, "")
}

impl Rule {
    fn fits(&self, status: u16, words: &str) -> bool {
        self.statuses.iter().any(|range| range.contains(&status))
            && (self.phrases.is_empty() || self.phrases.iter().any(|phrase| words.contains(phrase)))
    }
}

/// A bot check in front of a provider: it passes, and says nothing about the key.
const CHALLENGES: &[&str] = &[
    "just a moment",
    "attention required",
    "checking your browser",
    "enable javascript and cookies",
    "challenge-platform",
    "cf-chl",
];

const NONE: RangeInclusive<u16> = NO_STATUS..=NO_STATUS;
const SERVER: RangeInclusive<u16> = 500..=599;

const RULES: &[Rule] = &[
    // Statuses that leave nothing to read.
    Rule { statuses: &[401..=401], phrases: &[], class: Class::SignIn },
    Rule { statuses: &[402..=402], phrases: &[], class: Class::Paywalled },
    Rule { statuses: &[408..=408, 504..=504, 524..=524], phrases: &[], class: Class::Timeout },
    Rule { statuses: &[407..=407, 520..=523, 525..=527, 530..=530], phrases: &[], class: Class::Network },
    Rule { statuses: &[529..=529], phrases: &[], class: Class::Capacity },
    // Money, before rates: both may come as a 429.
    Rule {
        statuses: &[NONE, 400..=403, 412..=412, 422..=422, 429..=429, SERVER],
        phrases: &[
            "insufficient_quota",
            "exceeded_current_quota_error",
            "spending limit",
            "insufficient credit",
            "insufficient balance",
            "insufficient_balance",
            "insufficient funds",
            "credit balance is too low",
            "out of credits",
            "not enough credits",
            "requires more credits",
            "payment required",
            "payment_required",
            "billing hard limit",
            "billing_hard_limit",
            "billing_not_active",
            "account is not active",
            "key limit exceeded",
            "add credits",
            "purchase credits",
            "purchase more",
            "please recharge",
            "arrearage",
        ],
        class: Class::Paywalled,
    },
    // A rate named as such, whatever the status (a 413 may mean tokens a minute).
    Rule {
        statuses: &[NONE, 400..=400, 403..=403, 413..=413, 429..=429, SERVER],
        phrases: &[
            "rate limit",
            "rate_limit",
            "ratelimit",
            "too many requests",
            "tokens per min",
            "requests per min",
            "tokens per day",
            "requests per day",
            "resource_exhausted",
            "exceeded your current quota",
            "quota exceeded",
            "quota_exceeded",
        ],
        class: Class::Capacity,
    },
    Rule {
        statuses: &[NONE, 400..=400, 413..=413, 422..=422, SERVER],
        phrases: &[
            "context length",
            "context_length",
            "context window",
            "context size",
            "context limit",
            "context_exceeded",
            "maximum context",
            "maximum prompt length",
            "model token limit",
            "prompt is too long",
            "input is too long",
            "prompt too long",
            "input too long",
            "tokens) is too long",
            "prompt token count",
            "prompt exceeds",
            "range of input length",
            "too many tokens",
            "maximum number of tokens",
            "input token count",
            "maximum allowed input length",
            "maximum model length",
            "`inputs` tokens + `max_new_tokens`",
            "reduce the length",
            "request too large",
            "request_too_large",
            "payload too large",
            "body too large",
            "string_above_max_length",
        ],
        class: Class::TooLarge,
    },
    Rule {
        statuses: &[NONE, 400..=400, 403..=404],
        phrases: &["data policy", "guardrail restrictions"],
        class: Class::Entitlement,
    },
    Rule {
        statuses: &[NONE, 400..=400, 403..=403],
        phrases: &[
            "have access to",
            "no access to",
            "not allowed to access",
            "not allowed to sample",
            "not authorized to access this model",
            "not authorized to use this model",
            "must be verified",
            "unsupported_country",
            "country, region, or territory",
            "location is not supported",
            "not available in your",
            "upgrade your plan",
            "requires a subscription",
            "requires a paid plan",
            "not included in your plan",
        ],
        class: Class::Entitlement,
    },
    Rule {
        statuses: &[NONE, 400..=400],
        phrases: &[
            "api key not valid",
            "api_key_invalid",
            "invalid api key",
            "invalid_api_key",
            "incorrect api key",
            "invalid x-api-key",
            "missing api key",
            "no auth credentials",
            "authentication_error",
            "authentication failed",
            "unauthenticated",
            "unauthorized",
            "permission_error",
        ],
        class: Class::SignIn,
    },
    Rule {
        statuses: &[NONE, 400..=400, 422..=422, SERVER],
        phrases: &[
            "model_not_found",
            "model not found",
            "not_found_error",
            "no such model",
            "unknown model",
            "invalid model",
            "not a valid model",
            "model does not exist",
            "no endpoints found",
        ],
        class: Class::NotFound,
    },
    Rule {
        statuses: &[NONE, SERVER],
        phrases: &[
            "overloaded",
            "at capacity",
            "over capacity",
            "too busy",
            "is busy",
            "temporarily unavailable",
            "no available",
            "try again later",
            "loading model",
        ],
        class: Class::Capacity,
    },
    Rule { statuses: &[NONE, SERVER], phrases: &["timed out", "timeout", "deadline"], class: Class::Timeout },
    Rule {
        statuses: &[NONE, 502..=502],
        phrases: &["connect error", "connection refused", "connection reset", "econnreset", "econnrefused"],
        class: Class::Network,
    },
    Rule {
        statuses: &[NONE],
        phrases: &["invalid_request_error", "invalid_request", "invalid_argument", "bad request"],
        class: Class::BadRequest,
    },
    // What the status alone says.
    Rule { statuses: &[429..=429, 503..=503], phrases: &[], class: Class::Capacity },
    Rule { statuses: &[403..=403], phrases: &[], class: Class::SignIn },
    // 405 and redirects: the path is not the API's.
    Rule { statuses: &[404..=405, 410..=410, 300..=399], phrases: &[], class: Class::NotFound },
    Rule { statuses: &[413..=413], phrases: &[], class: Class::TooLarge },
    Rule { statuses: &[451..=451], phrases: &[], class: Class::Entitlement },
    Rule { statuses: &[400..=499], phrases: &[], class: Class::BadRequest },
];
