//! The list of models in the OpenAI shape: `/v1/models` and `/v1/models/{id}`.

use serde::Serialize;

use crate::{json, model::ReplyMode};

/// What `/v1/models` answers.
#[derive(Clone, Debug, PartialEq)]
pub struct ModelList {
    pub entries: Vec<ModelEntry>,
}

impl ModelList {
    /// `{"object":"list","data":[…]}`
    pub fn encode(&self) -> Vec<u8> {
        #[derive(Serialize)]
        struct List<'a> {
            object: &'static str,
            data: Vec<Entry<'a>>,
        }
        json::to_vec(&List { object: "list", data: self.entries.iter().map(Entry::of).collect() })
    }

    /// Anthropic's page: `{"data":[…],"has_more":false,"first_id":…,"last_id":…}`. It is always whole.
    pub fn encode_anthropic(&self) -> Vec<u8> {
        let id = |entry: Option<&ModelEntry>| entry.map(|entry| entry.id.clone());
        json::to_vec(&serde_json::json!({
            "data": self.entries.iter().map(ModelEntry::anthropic).collect::<Vec<_>>(),
            "has_more": false,
            "first_id": id(self.entries.first()),
            "last_id": id(self.entries.last()),
        }))
    }

    /// Gemini's page: `{"models":[…]}`.
    pub fn encode_gemini(&self) -> Vec<u8> {
        let models: Vec<_> = self.entries.iter().map(ModelEntry::gemini).collect();
        json::to_vec(&serde_json::json!({ "models": models }))
    }
}

/// One collection as one entry: as set, or with a mode's suffix.
#[derive(Clone, Debug, PartialEq)]
pub struct ModelEntry {
    /// `bench/core`, `bench/core:merged`
    pub id: String,
    /// Unix seconds.
    pub created: i64,
    pub description: String,
    pub tags: Vec<String>,
    /// Aliases, in seating order.
    pub members: Vec<String>,
    /// `null` when it is chosen by what is asked.
    pub shape: Option<String>,
    /// Explorer seats.
    pub explorers: u32,
    pub reply: ReplyMode,
    pub merger: Option<String>,
    pub together: Together,
}

impl ModelEntry {
    /// The entry alone, as `/v1/models/{id}` answers it.
    pub fn encode(&self) -> Vec<u8> {
        json::to_vec(&Entry::of(self))
    }

    pub fn encode_anthropic(&self) -> Vec<u8> {
        json::to_vec(&self.anthropic())
    }

    pub fn encode_gemini(&self) -> Vec<u8> {
        json::to_vec(&self.gemini())
    }

    fn anthropic(&self) -> serde_json::Value {
        serde_json::json!({
            "type": "model",
            "id": self.id,
            "display_name": self.id,
            // The field is required; nothing is known of when a collection was made.
            "created_at": "1970-01-01T00:00:00Z",
            "description": self.description,
            "members": self.members,
        })
    }

    fn gemini(&self) -> serde_json::Value {
        let mut model = serde_json::json!({
            "name": format!("models/{}", self.id),
            "displayName": self.id,
            "description": self.description,
            "supportedGenerationMethods": ["generateContent", "streamGenerateContent", "countTokens"],
        });
        if let (Some(window), Some(model)) = (self.together.context_window, model.as_object_mut()) {
            model.insert("inputTokenLimit".to_owned(), window.into());
        }
        model
    }
}

/// What the members can do together.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Together {
    /// The smallest known window of the members, in tokens.
    pub context_window: Option<u64>,
    /// Aliases whose window is not known.
    pub context_unknown: Vec<String>,
    /// Those that every member has, of `tools`, `vision`, `structured_output`, `reasoning`, `pdf`.
    pub capabilities: Vec<String>,
    /// Names of what shares a rate limit.
    pub connections: Vec<String>,
    pub limits: Limits,
}

/// The tightest limit of the members on each axis; `null` where none is known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Limits {
    pub rpm: Option<u64>,
    pub rpd: Option<u64>,
    pub tpm: Option<u64>,
    pub tpd: Option<u64>,
}

/// The entry's wire form: what every OpenAI client reads first, then what is ours.
#[derive(Serialize)]
struct Entry<'a> {
    id: &'a str,
    object: &'static str,
    created: i64,
    owned_by: &'static str,
    description: &'a str,
    tags: &'a [String],
    members: &'a [String],
    shape: Option<&'a str>,
    explorers: u32,
    reply: ReplyMode,
    merger: Option<&'a str>,
    together: &'a Together,
}

impl<'a> Entry<'a> {
    fn of(entry: &'a ModelEntry) -> Self {
        Entry {
            id: &entry.id,
            object: "model",
            created: entry.created,
            owned_by: "benchwarmers",
            description: &entry.description,
            tags: &entry.tags,
            members: &entry.members,
            shape: entry.shape.as_deref(),
            explorers: entry.explorers,
            reply: entry.reply,
            merger: entry.merger.as_deref(),
            together: &entry.together,
        }
    }
}
