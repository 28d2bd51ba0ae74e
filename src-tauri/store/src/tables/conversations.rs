//! Routed conversations and their turns.

/// A conversation as its newest turn leaves it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ConversationRow {
    /// `r20261129-154501-9f3a6c01`, unique.
    pub id: String,
    /// What a client's next turn is known by, as hex. Another conversation may have it once this one is over.
    pub key: String,
    /// The collection's bare name; `model/<alias>` where a model was asked for by its name.
    pub collection: String,
    pub shape: String,
    /// A gateway key's name, or `local`.
    pub caller: String,
    /// The user agent's short name.
    pub client: String,
    /// The beginning of the first user message.
    pub title: String,
    /// The first turn: Unix milliseconds.
    pub at_ms: i64,
    /// Whose conversation it is now; empty until somebody has answered.
    pub alias: String,
    pub practice: bool,
}

/// A turn as it ended.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TurnRow {
    pub conversation: ConversationRow,
    /// From 1, without gaps but for turns that were never recorded.
    pub n: u32,
    /// When it began: Unix milliseconds.
    pub at_ms: i64,
    /// `<conversation>.<n>` of the model that answered: one for each model of a conversation. Empty when nobody did.
    pub call: String,
    /// Who answered, else who was tried last.
    pub alias: String,
    pub endpoint: String,
    pub served: String,
    pub served_as: Option<String>,
    /// The caller's API, and the member's: `chat`, `anthropic`, …
    pub api: String,
    pub member_api: String,
    /// `ok`, `empty`, `error`, `cancelled`
    pub status: String,
    pub seconds: f64,
    pub first_token_s: Option<f64>,
    pub tool_calls: u32,
    /// `stop`, `length`, `content_filter`, `tool_calls`
    pub finish: Option<String>,
    /// Cache included.
    pub tokens_in: Option<u64>,
    pub tokens_out: Option<u64>,
    pub tokens_reasoning: Option<u64>,
    pub cache_read: Option<u64>,
    pub cache_write: Option<u64>,
    /// US dollars; `None` where the price or the usage is not known.
    pub cost: Option<f64>,
    pub attempts: u32,
    pub overhead_ms: f64,
    pub error_class: Option<String>,
    /// Redacted already.
    pub error: Option<String>,
    /// JSON arrays and an object, as they are shown.
    pub failed_over_json: String,
    pub skipped_json: String,
    pub lossy_json: String,
    pub why_json: String,
    /// The caller's messages and the answer, where they are kept; else empty.
    pub question: String,
    pub answer: String,
}

/// A conversation that may go on, as the gateway finds it at start.
#[derive(Clone, Debug, PartialEq)]
pub struct OpenConversation {
    pub row: ConversationRow,
    /// Its newest turn's end: Unix milliseconds.
    pub last_at_ms: i64,
    pub turns: u32,
    /// The call of each model that answered, and its alias, oldest first; shadows are not among them.
    pub calls: Vec<(String, String)>,
    /// How many shadow calls it has.
    pub shadows: u32,
}

/// A conversation as it is kept.
#[derive(Clone, Debug, PartialEq)]
pub struct StoredConversation {
    pub row: ConversationRow,
    pub last_at_ms: i64,
    pub turns: u32,
    pub tool_calls: u32,
    /// Turns that another model took over.
    pub failed_over: u32,
    /// Over all turns; `None` when no turn has one.
    pub tokens_in: Option<u64>,
    pub tokens_out: Option<u64>,
    /// Of the turns whose cost is known, and how many are not.
    pub cost: Option<f64>,
    pub cost_unknown: u32,
    /// The status of the newest turn.
    pub status: String,
    /// The calls of it, shadows among them, with their verdicts.
    pub calls: Vec<super::calls::StoredCall>,
}
