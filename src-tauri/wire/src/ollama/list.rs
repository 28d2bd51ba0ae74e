//! What Ollama's own clients list: `/api/tags`, `/api/show`, `/api/version`, `/api/ps`.

use serde::Serialize;
use serde_json::{Map, Value, json};

use super::date;
use crate::{
    error::ApiError,
    hash::fnv1a,
    json::{self as text, Json, Place},
    list::{ModelEntry, ModelList},
    model::{Form, ReplyMode},
};

/// What `/api/version` tells. Editors ask for 0.6.4 or later before they speak `/api/chat` with tools, agents for
/// 0.12 before they send `think` levels: what this dialect holds is what 0.12.6 holds.
const VERSION: &str = "0.12.6";

/// What the models seem to be built as: some clients look `<family>.context_length` up by it.
const FAMILY: &str = "benchwarmers";

impl ModelList {
    /// What `/api/tags` answers: `{"models":[…]}`.
    pub fn encode_tags(&self) -> Vec<u8> {
        #[derive(Serialize)]
        struct Tags<'a> {
            models: Vec<Tag<'a>>,
        }
        text::to_vec(&Tags { models: self.entries.iter().map(Tag::of).collect() })
    }
}

impl ModelEntry {
    /// What `/api/show` answers for the entry.
    pub fn encode_show(&self) -> Vec<u8> {
        let mut info = Map::new();
        info.insert("general.architecture".to_owned(), json!(FAMILY));
        info.insert("general.basename".to_owned(), json!(self.id));
        if let Some(window) = self.together.context_window {
            info.insert(format!("{FAMILY}.context_length"), json!(window));
        }
        text::to_vec(&Show {
            license: "",
            modelfile: "",
            parameters: "",
            template: "",
            details: Details::default(),
            model_info: info,
            capabilities: capabilities(self),
            modified_at: date::rfc3339(self.created),
        })
    }
}

/// What `/api/version` answers.
pub fn version() -> Vec<u8> {
    text::to_vec(&json!({ "version": VERSION }))
}

/// What `/api/ps` answers: no model is held in memory here.
pub fn running() -> Vec<u8> {
    text::to_vec(&json!({ "models": [] }))
}

/// What a body that asks nothing is answered, which upstream loads the model; the decoder refuses it with the code
/// [`NOTHING_ASKED`](super::request::NOTHING_ASKED). `created` is in Unix seconds.
pub fn loaded(model: &str, created: i64, form: Form) -> Vec<u8> {
    let (created_at, done_reason) = (date::rfc3339(created), "load");
    text::to_vec(&match form {
        Form::Generate => json!({
            "model": model, "created_at": created_at, "response": "", "done": true, "done_reason": done_reason
        }),
        _ => json!({
            "model": model, "created_at": created_at, "message": { "role": "assistant", "content": "" },
            "done": true, "done_reason": done_reason
        }),
    })
}

/// Which model a body of `/api/show` names: `model`, or `name` as older clients say.
pub fn shown(body: &[u8]) -> Result<String, ApiError> {
    let body = Json::read(body.to_vec())?;
    let mut fields = body.fields()?;
    for name in ["model", "name"] {
        if let Some(raw) = fields.take(name) {
            let model = text::string(raw, Place::Root.field(name))?;
            if !model.is_empty() {
                return Ok(model);
            }
        }
    }
    Err(Place::Root.field("model").expected("the name of a collection"))
}

/// In Ollama's words, as they hold for all members. A panel takes no tools.
fn capabilities(entry: &ModelEntry) -> Vec<&'static str> {
    let has = |name: &str| entry.together.capabilities.iter().any(|known| known == name);
    let named = [
        ("completion", true),
        ("tools", has("tools") && entry.reply == ReplyMode::Route),
        ("vision", has("vision")),
        ("thinking", has("reasoning")),
    ];
    named.into_iter().filter(|(_, holds)| *holds).map(|(name, _)| name).collect()
}

#[derive(Serialize)]
struct Tag<'a> {
    name: &'a str,
    model: &'a str,
    modified_at: String,
    size: u64,
    digest: String,
    details: Details,
}

impl<'a> Tag<'a> {
    fn of(entry: &'a ModelEntry) -> Self {
        Tag {
            name: &entry.id,
            model: &entry.id,
            modified_at: date::rfc3339(entry.created),
            size: 0,
            digest: digest(&entry.id),
            details: Details::default(),
        }
    }
}

/// 64 hexadecimal digits, as clients cut them: stable for a name, and no two names' alike.
fn digest(id: &str) -> String {
    ["a", "b", "c", "d"].iter().map(|salt| format!("{:016x}", fnv1a(&[id, "\n", salt]))).collect()
}

#[derive(Serialize)]
struct Details {
    parent_model: &'static str,
    format: &'static str,
    family: &'static str,
    families: [&'static str; 1],
    parameter_size: &'static str,
    quantization_level: &'static str,
}

impl Default for Details {
    fn default() -> Self {
        Details {
            parent_model: "",
            format: "",
            family: FAMILY,
            families: [FAMILY],
            parameter_size: "",
            quantization_level: "",
        }
    }
}

#[derive(Serialize)]
struct Show {
    license: &'static str,
    modelfile: &'static str,
    parameters: &'static str,
    template: &'static str,
    details: Details,
    model_info: Map<String, Value>,
    capabilities: Vec<&'static str>,
    modified_at: String,
}
