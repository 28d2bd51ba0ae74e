use std::sync::LazyLock;

use serde::Deserialize;
use wire::{Auth, Dialect};

use crate::{Endpoint, EndpointKind, QuotaProfile, is_loopback, quirks::is_like};

/// A known provider: what a person should not have to type. Data in `presets.toml`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Preset {
    /// `openai`, `groq`, `ollama`, …; also the endpoint name it suggests.
    pub id: String,
    /// As the provider writes itself: `OpenAI`.
    pub title: String,
    /// Where a person has to put a name of their own it holds `{resource}` ([`Preset::needs_resource`]).
    pub base: String,
    /// Its other hosts, as patterns: `*.services.ai.azure.com`.
    #[serde(default)]
    pub hosts: Vec<String>,
    /// Hosts of the same provider in other parts of the world, where prices are others.
    #[serde(default)]
    pub regions: Vec<String>,
    /// Its name in models.dev, where it is not the id.
    #[serde(default)]
    pub models_dev: Option<String>,
    /// The address of the model list, where it is not `<base>/models`.
    #[serde(default)]
    pub models: Option<String>,
    /// What it is asked in: its native one.
    #[serde(default)]
    pub api: Dialect,
    /// Other APIs it speaks at the same base.
    #[serde(default)]
    pub also: Vec<Dialect>,
    pub kind: EndpointKind,
    /// Where a key is made; empty for local runtimes.
    #[serde(default)]
    pub key_page: String,
    /// Environment variables that usually hold this provider's key, most usual first.
    #[serde(default)]
    pub key_env: Vec<String>,
    /// How the key is sent, where it is not as its API says.
    #[serde(default)]
    pub auth: Option<AuthStyle>,
    /// Whose words its replies use for what is left of a quota.
    #[serde(default)]
    pub quota: QuotaProfile,
}

/// How a key goes to a provider, in the data file: `"bearer"`, or `{ header = "api-key" }`.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum AuthStyle {
    Bearer,
    Header(String),
}

/// What stands in a preset's base for a name that only its owner knows.
pub(crate) const RESOURCE: &str = "{resource}";

/// Every preset, in the order it is shown: providers, then local runtimes.
pub fn presets() -> &'static [Preset] {
    &PRESETS
}

/// The preset with this id.
pub fn preset(id: &str) -> Option<&'static Preset> {
    presets().iter().find(|preset| preset.id == id)
}

/// Where an endpoint's model list is: `<base>/models`, Ollama's `<base>/api/tags`, or where a known provider
/// keeps it (GitHub Models, whose list is a bare JSON array).
pub fn models_url(api: Dialect, base: &str) -> String {
    let base = base.trim_end_matches('/');
    if api == Dialect::Ollama {
        return format!("{base}/api/tags");
    }
    match presets().iter().find(|preset| preset.base == base) {
        Some(Preset { models: Some(models), .. }) => models.clone(),
        _ => format!("{base}/models"),
    }
}

/// How the endpoint's key is sent: as its provider wants it, else as its API says. Asked on every call, so no URL is
/// read where no provider with a way of its own can be meant.
pub fn auth(endpoint: &Endpoint) -> Auth {
    static OWN: LazyLock<Vec<String>> = LazyLock::new(|| {
        let own = presets().iter().filter(|preset| preset.auth.is_some());
        own.flat_map(Preset::places).map(|(host, _)| host.trim_start_matches('*').to_owned()).collect()
    });
    if !OWN.iter().any(|host| holds(&endpoint.base, host)) {
        return wire::format(endpoint.api).auth();
    }
    match preset_of(&endpoint.base).and_then(|preset| preset.auth.as_ref()) {
        Some(AuthStyle::Bearer) => Auth::Bearer,
        Some(AuthStyle::Header(name)) => Auth::Header(name),
        None => wire::format(endpoint.api).auth(),
    }
}

/// Whether `part` is in `text`, whatever their letters' case.
fn holds(text: &str, part: &str) -> bool {
    let mut places = text.as_bytes().windows(part.len().max(1));
    places.any(|place| place.eq_ignore_ascii_case(part.as_bytes()))
}

/// The known provider that serves this base: by host and port, since one host has several paths.
pub(crate) fn preset_of(base: &str) -> Option<&'static Preset> {
    static PLACES: LazyLock<Vec<Vec<(String, u16)>>> =
        LazyLock::new(|| presets().iter().map(Preset::places).collect());
    let (host, port) = place(base)?;
    let is_there = |(pattern, at): &(String, u16)| *at == port && is_like(&host, pattern);
    let at = PLACES.iter().position(|places| places.iter().any(is_there))?;
    presets().get(at)
}

/// Host and port; every name of this machine is one.
fn place(base: &str) -> Option<(String, u16)> {
    let url = url::Url::parse(base).ok()?;
    let host = if is_loopback(base) { "loopback" } else { url.host_str()? };
    Some((host.to_owned(), url.port_or_known_default()?))
}

impl Preset {
    /// The APIs it can be asked in, its native one first.
    pub fn apis(&self) -> impl Iterator<Item = Dialect> + '_ {
        std::iter::once(self.api).chain(self.also.iter().copied())
    }

    /// Whether its base has a place for a name of the owner's own.
    pub fn needs_resource(&self) -> bool {
        self.base.contains(RESOURCE)
    }

    /// What the shipped catalog and models.dev call it.
    pub(crate) fn models_dev(&self) -> &str {
        self.models_dev.as_deref().unwrap_or(&self.id)
    }

    /// Whether the base is where the provider's known prices hold.
    pub(crate) fn has_known_prices_at(&self, base: &str) -> bool {
        place(base).is_some_and(|(host, _)| !self.regions.iter().any(|region| is_like(&host, region)))
    }

    /// Patterns of its hosts, with their ports.
    fn places(&self) -> Vec<(String, u16)> {
        let own = place(&self.base.replace(RESOURCE, ANY_RESOURCE))
            .map(|(host, port)| (host.replace(ANY_RESOURCE, "*"), port));
        own.into_iter()
            .chain(self.hosts.iter().chain(&self.regions).map(|host| (host.clone(), HTTPS)))
            .collect()
    }

    /// Whether a call without a key is bound to be refused.
    pub fn needs_key(&self) -> bool {
        self.kind != EndpointKind::Local
    }
}

/// Stands for a resource's name while the base is read as a URL.
const ANY_RESOURCE: &str = "any-resource";

const HTTPS: u16 = 443;

#[expect(
    clippy::expect_used,
    reason = "the file is embedded and a test reads it: it cannot fail in the field"
)]
static PRESETS: LazyLock<Vec<Preset>> =
    LazyLock::new(|| read(include_str!("../presets.toml")).expect("presets.toml is valid"));

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    preset: Vec<Preset>,
}

fn read(text: &str) -> Result<Vec<Preset>, toml::de::Error> {
    toml::from_str::<File>(text).map(|file| file.preset)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::{check_base, valid_endpoint_name};

    #[test]
    fn the_file_is_valid() {
        let presets = read(include_str!("../presets.toml")).expect("presets.toml");
        let mut ids = BTreeSet::new();
        let mut bases = BTreeSet::new();
        for preset in &presets {
            let id = &preset.id;
            assert!(valid_endpoint_name(id), "{id}: not an endpoint name");
            assert!(ids.insert(id), "{id}: twice");
            assert!(bases.insert(&preset.base), "{id}: base used twice");
            assert!(!preset.title.trim().is_empty(), "{id}: no title");
            assert_eq!(check_base(&preset.base.replace(RESOURCE, "mine")), Ok(()), "{id}: base");
            assert_eq!(preset_of(&preset.base.replace(RESOURCE, "mine")).map(|found| &found.id), Some(id));
            for host in preset.hosts.iter().chain(&preset.regions) {
                let base = format!("https://{}/v1", host.replace('*', "mine"));
                assert_eq!(preset_of(&base).map(|found| &found.id), Some(id), "{id}: {host}");
            }
            if let Some(AuthStyle::Header(name)) = &preset.auth {
                let plain = |c: char| c.is_ascii_lowercase() || c == '-';
                assert!(!name.is_empty() && name.chars().all(plain), "{id}: header {name}");
            }
            let mut apis = BTreeSet::new();
            for api in preset.apis() {
                assert!(wire::format(api).is_spoken_to_members(), "{id}: {api:?} is for callers only");
                assert!(apis.insert(format!("{api:?}")), "{id}: {api:?} twice");
            }
            assert!(!preset.base.ends_with('/'), "{id}: trailing slash");
            if let Some(models) = &preset.models {
                assert!(url::Url::parse(models).is_ok_and(|url| url.scheme() == "https"), "{id}: models");
            }
            for variable in &preset.key_env {
                let plain = |c: char| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_';
                assert!(!variable.is_empty() && variable.chars().all(plain), "{id}: variable {variable}");
            }
            if preset.kind == EndpointKind::Local {
                assert!(is_loopback(&preset.base), "{id}: local, but not on loopback");
                assert!(preset.key_page.is_empty(), "{id}: a local runtime has no key page");
            } else {
                assert!(preset.base.starts_with("https://"), "{id}: not https");
                assert!(preset.key_page.starts_with("https://"), "{id}: no key page");
                assert!(!preset.key_env.is_empty(), "{id}: no key variable");
            }
        }
    }

    #[test]
    fn every_provider_of_the_product_is_there() {
        let wanted = "openai anthropic google openrouter groq mistral cerebras deepseek xai together \
            fireworks nvidia sambanova cohere moonshot zai minimax alibaba huggingface github perplexity azure \
            ollama lm-studio llama-cpp vllm jan";
        let found: Vec<&str> = presets().iter().map(|preset| preset.id.as_str()).collect();
        assert_eq!(found, wanted.split_whitespace().collect::<Vec<_>>());
    }

    #[test]
    fn a_preset_is_found_by_its_id() {
        assert_eq!(preset("groq").map(|preset| preset.base.as_str()), Some("https://api.groq.com/openai/v1"));
        assert_eq!(preset("ollama").map(Preset::needs_key), Some(false));
        assert_eq!(preset("openai").map(Preset::needs_key), Some(true));
        assert!(preset("Groq").is_none());
    }

    #[test]
    fn a_key_is_sent_as_the_provider_wants_it() {
        let auth = |base: &str, api| super::auth(&Endpoint { api, ..Endpoint::new("here", base) });
        for (base, api, wanted) in [
            ("https://mine.openai.azure.com/openai/v1", Dialect::Chat, Auth::Header("api-key")),
            ("https://mine.openai.azure.com/openai/v1/", Dialect::Responses, Auth::Header("api-key")),
            ("https://mine.services.ai.azure.com/openai/v1", Dialect::Chat, Auth::Header("api-key")),
            ("https://openai.azure.com.evil.example/v1", Dialect::Chat, Auth::Bearer),
            ("https://api.openai.com/v1", Dialect::Chat, Auth::Bearer),
            ("https://api.anthropic.com/v1", Dialect::Anthropic, Auth::Header("x-api-key")),
            ("https://example.com/v1", Dialect::Anthropic, Auth::Header("x-api-key")),
            ("https://example.com/v1", Dialect::Chat, Auth::Bearer),
        ] {
            assert_eq!(auth(base, api), wanted, "{base}");
        }
        assert_eq!(preset("azure").map(Preset::needs_resource), Some(true));
        assert_eq!(preset("openai").map(Preset::needs_resource), Some(false));
    }

    #[test]
    fn the_model_list_is_beside_the_base_unless_the_preset_says() {
        let cases = [
            (Dialect::Chat, "http://127.0.0.1:11434/v1/", "http://127.0.0.1:11434/v1/models"),
            (Dialect::Ollama, "http://127.0.0.1:11434", "http://127.0.0.1:11434/api/tags"),
            (Dialect::Anthropic, "https://api.anthropic.com/v1", "https://api.anthropic.com/v1/models"),
            (Dialect::Chat, "https://models.github.ai/inference", "https://models.github.ai/catalog/models"),
        ];
        for (api, base, list) in cases {
            assert_eq!(models_url(api, base), list);
        }
    }

    #[test]
    fn a_provider_with_an_api_of_its_own_is_asked_in_it() {
        let apis = |id: &str| preset(id).expect(id).apis().collect::<Vec<_>>();
        assert_eq!(apis("anthropic"), [Dialect::Anthropic]);
        assert_eq!(apis("google"), [Dialect::Gemini]);
        assert_eq!(apis("ollama"), [Dialect::Ollama]);
        assert_eq!(apis("openai"), [Dialect::Chat, Dialect::Responses]);
        assert_eq!(apis("groq"), [Dialect::Chat]);
    }
}
