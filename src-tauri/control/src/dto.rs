//! What the control API takes and gives. TypeScript is generated from these (`ui/src/host/gen.ts`).

mod collections;
mod keys;
mod lifecycle;
mod limits;
mod onboarding;

use std::collections::BTreeMap;

use catalog::{Facts, ModelRole, Retired};
use gateway::view::{Alert, ConversationView, PanelView, Recording, TurnView};
use plan::Settings;
use serde::{Deserialize, Serialize};
use ts_rs::TS;

pub use catalog::EndpointKind;

pub use self::{collections::*, keys::*, lifecycle::*, limits::*, onboarding::*};
pub use crate::{
    api::Api,
    sheet::{FactSource, FactTold, FactView, ModelSheet},
};

/// No arguments.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize, TS)]
#[ts(type = "Record<string, never>")]
pub struct Nothing {}

#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct Status {
    pub version: String,
    /// `http://127.0.0.1:8123`: the real address, whatever was wanted.
    pub url: String,
    pub urls: BaseUrls,
    pub wanted_port: u16,
    pub port: u16,
    /// Empty, or `Port 8123 was taken; serving on 8124.`
    pub port_note: String,
    pub data_dir: String,
    pub pid: u32,
    /// Panels and turns running now.
    pub running: u32,
    /// Verdicts owed.
    pub owed: u32,
    /// No endpoint and no collection yet.
    pub first_run: bool,
    pub keys: KeyStoreStatus,
    pub recording: Recording,
    /// Standing alerts, oldest first.
    pub alerts: Vec<Alert>,
}

/// What to paste into a client as its base URL, by the API the client speaks.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct BaseUrls {
    /// With `/v1`, as OpenAI's SDKs want it.
    pub openai: String,
    /// Without: the SDKs of the other three add their own path.
    pub anthropic: String,
    pub ollama: String,
    pub gemini: String,
}

#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct KeyStoreStatus {
    pub kind: KeyStoreKind,
    /// In words, with the way out where there is none.
    pub message: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum KeyStoreKind {
    /// The operating system's.
    Keychain,
    /// The passphrase-encrypted file, unlocked.
    VaultFile,
    /// The file exists and waits for its passphrase.
    VaultLocked,
    /// Neither: keys come from environment variables only.
    None,
}

#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct SetupView {
    pub endpoints: Vec<EndpointView>,
    pub models: Vec<ModelView>,
    pub collections: Vec<CollectionView>,
    pub settings: Settings,
}

#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct EndpointView {
    pub name: String,
    pub base: String,
    pub api: Api,
    pub kind: EndpointKind,
    pub key: KeyView,
    pub key_env: Option<String>,
    /// Its calls cost money, which breaks ties between models that have waited equally long.
    pub paid: bool,
    /// Sent with every request to it. Never a secret.
    pub headers: BTreeMap<String, String>,
    pub practice: bool,
    /// What may be sent to it; absent where it has no limits of its own.
    #[serde(default, skip_serializing_if = "Limits::is_empty")]
    #[ts(optional, as = "Option<Limits>")]
    pub limits: Limits,
    /// Registered models.
    pub models: u32,
    /// The standing alert's message (a refused key), if any.
    pub alert: Option<String>,
}

/// Where an endpoint's key comes from. Never the key.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct KeyView {
    pub source: KeySource,
    /// `••••last4`, or empty.
    pub hint: String,
    /// The variable's name when it comes from the environment.
    pub variable: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum KeySource {
    Environment,
    Keychain,
    VaultFile,
    None,
}

#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct ModelView {
    pub alias: String,
    pub endpoint: String,
    pub served: String,
    pub role: ModelRole,
    pub ad_hoc: bool,
    /// The owner's own.
    pub facts: Facts,
    /// What holds, whoever says it.
    pub known: Facts,
    /// What goes into the body of every request to it: `max_tokens`, `temperature`, …
    #[ts(type = "Record<string, unknown>")]
    pub options: serde_json::Map<String, serde_json::Value>,
    /// Since when and why it is never called.
    pub retired: Option<Retired>,
    /// It was free and costs money now: it is not called until that is allowed.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    #[ts(optional, as = "Option<bool>")]
    pub went_paid: bool,
    pub practice: bool,
    pub collections: Vec<String>,
}

#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct PresetView {
    pub id: String,
    pub title: String,
    /// With `{resource}` where `needs_resource`.
    pub base: String,
    /// What it can be asked in at that base, its native API first.
    pub apis: Vec<Api>,
    pub kind: EndpointKind,
    pub key_page: String,
    pub needs_key: bool,
    /// Its base has a place for a name of the owner's own, `{resource}`.
    pub needs_resource: bool,
}

/// What first run can offer.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct Found {
    /// Local runtimes that answered on loopback.
    pub runtimes: Vec<FoundRuntime>,
    /// Provider keys in the environment (the variable's name only).
    pub keys: Vec<FoundKey>,
}

#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct FoundRuntime {
    pub preset: String,
    pub title: String,
    pub base: String,
    /// Ids it serves.
    pub models: Vec<String>,
}

#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct FoundKey {
    pub preset: String,
    pub title: String,
    pub variable: String,
}

/// Add or change an endpoint; the name says which.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct SaveEndpoint {
    pub name: String,
    pub base: String,
    /// Absent keeps what is there; a new endpoint speaks chat.
    #[ts(optional)]
    pub api: Option<Api>,
    pub key_env: Option<String>,
    /// A new key for the keychain; write-only. Absent keeps what is there.
    #[ts(optional)]
    pub key: Option<String>,
    /// The endpoint this renames nothing: `true` says it must not exist yet.
    pub new: bool,
    /// Plain http to another machine needs the owner's consent.
    pub allow_plain_http: bool,
    /// All of them; absent keeps what is there.
    #[serde(default)]
    #[ts(optional)]
    pub limits: Option<Limits>,
    /// Absent keeps what is there; a new endpoint's is told from its base.
    #[serde(default)]
    #[ts(optional)]
    pub kind: Option<EndpointKind>,
    /// Sent with every request. All of them; absent keeps what is there.
    #[serde(default)]
    #[ts(optional)]
    pub headers: Option<BTreeMap<String, String>>,
    /// Absent keeps what is there.
    #[serde(default)]
    #[ts(optional)]
    pub paid: Option<bool>,
    /// It is saved only when it answers; else it is refused as `test_failed`.
    #[serde(default)]
    #[ts(optional, as = "Option<bool>")]
    pub test: bool,
}

#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct Name {
    pub name: String,
}

/// The outcome of listing what an endpoint serves.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct EndpointTest {
    pub ok: bool,
    /// In words: `answered with 12 models`, or what is wrong and the likely right base.
    pub message: String,
    /// A base URL that is likely the right one, when the path seems wrong and another answered.
    pub suggested_base: Option<String>,
    pub models: Vec<ListedModel>,
}

#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct ListedModel {
    pub served: String,
    /// A free alias made from `served`.
    pub alias: String,
    /// The alias it is registered under already.
    pub registered: Option<String>,
    #[ts(type = "number | null")]
    pub context_window: Option<u64>,
    /// Its owner does not want to be offered it.
    #[serde(default)]
    pub dismissed: bool,
}

#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct RegisterModels {
    pub endpoint: String,
    pub models: Vec<RegisterModel>,
}

#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct RegisterModel {
    pub served: String,
    pub alias: String,
}

/// Changes a registered model; what is absent stays.
#[derive(Clone, Debug, Default, Serialize, Deserialize, TS)]
pub struct SaveModel {
    pub alias: String,
    #[serde(default)]
    #[ts(optional)]
    pub role: Option<ModelRole>,
    #[serde(default)]
    #[ts(optional)]
    pub ad_hoc: Option<bool>,
    /// All of them: a fact that is not in it is unknown from now on.
    #[serde(default)]
    #[ts(optional)]
    pub facts: Option<Facts>,
    /// All of them.
    #[serde(default)]
    #[ts(optional, type = "Record<string, unknown>")]
    pub options: Option<serde_json::Map<String, serde_json::Value>>,
}

#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct RetireModel {
    pub alias: String,
    /// One line; it is told where the model would have sat.
    pub why: String,
}

/// A panel as it would be seated now: of a collection, or of one being edited.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct PreviewPanel {
    /// A collection's name; empty is none: explorers only.
    pub collection: String,
    /// The members instead of the collection's own.
    #[serde(default)]
    #[ts(optional)]
    pub members: Option<Vec<String>>,
    /// The shape instead of the collection's own; empty is automatic.
    #[serde(default)]
    #[ts(optional)]
    pub shape: Option<String>,
}

/// Full-text search over prompts, answers and what verdicts say.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct Search {
    /// Words that must stand together in one text; the last may be the beginning of one.
    pub query: String,
    /// A panel id; panels older than it. `null` starts at the newest.
    pub before: Option<String>,
    /// At most 100.
    pub limit: u32,
}

#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct SearchHits {
    pub hits: Vec<SearchHit>,
    pub more: bool,
}

#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct SearchHit {
    pub panel: PanelView,
    pub in_prompt: bool,
    /// Calls in whose answer or verdict the words stand.
    pub calls: Vec<String>,
}

#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct SetKey {
    pub endpoint: String,
    pub key: String,
}

#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct Passphrase {
    pub passphrase: String,
}

#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct Ask {
    pub collection: String,
    pub prompt: String,
    #[serde(default)]
    pub system: String,
    /// `data:image/…;base64,…` or http(s) URLs.
    #[serde(default)]
    #[ts(optional, as = "Option<Vec<String>>")]
    pub images: Vec<String>,
    /// Aliases that are asked too, in explorer seats.
    #[serde(default)]
    #[ts(optional, as = "Option<Vec<String>>")]
    pub with: Vec<String>,
    /// `all`, `merged`; empty is the collection's own.
    #[serde(default)]
    #[ts(optional, as = "Option<String>")]
    pub reply: String,
    /// Who asks, for the record: `window`, `bench ask`.
    pub client: String,
}

#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct Asked {
    pub panel: String,
}

#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct PanelId {
    pub id: String,
}

/// A page of panels, newest first.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct PanelsBefore {
    /// A panel id; panels older than it. `null` starts at the newest.
    pub before: Option<String>,
    /// At most 100.
    pub limit: u32,
}

#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct Panels {
    pub panels: Vec<PanelView>,
    pub more: bool,
}

/// A page of routed conversations, the newest turn first.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct ConversationsBefore {
    /// A conversation id; those whose newest turn is older than its. `null` starts at the newest.
    pub before: Option<String>,
    /// At most 100.
    pub limit: u32,
}

#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct Conversations {
    pub conversations: Vec<ConversationView>,
    pub more: bool,
}

#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct ConversationId {
    pub id: String,
}

/// A page of a conversation's ended turns, newest first.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct TurnsBefore {
    /// A conversation id.
    pub conversation: String,
    /// A turn's number; turns before it. `null` starts at the newest.
    pub before: Option<u32>,
    /// With questions and answers, where they are kept; an agent's question is its whole session.
    pub texts: bool,
    /// At most 100.
    pub limit: u32,
}

#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct Turns {
    pub turns: Vec<TurnView>,
    pub more: bool,
}

/// Absent note or lists keep what was there.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct GiveVerdict {
    pub call: String,
    pub useful: bool,
    #[serde(default)]
    #[ts(optional)]
    pub note: Option<String>,
    #[serde(default)]
    #[ts(optional)]
    pub real: Option<Vec<String>>,
    #[serde(default, rename = "false")]
    #[ts(optional)]
    pub false_claims: Option<Vec<String>>,
}

#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct CallId {
    pub call: String,
}

/// Whether the verdict changed anything: the same verdict again writes nothing.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct Recorded {
    pub recorded: bool,
}

/// The owed queue: panels with at least one unjudged answer, among the last 30, newest first.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct Owed {
    pub panels: Vec<PanelView>,
    pub calls: Vec<String>,
}

#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct SetupText {
    pub text: String,
}

#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct Imported {
    /// `added endpoint groq`, `changed collection core`, …
    pub changes: Vec<String>,
}
