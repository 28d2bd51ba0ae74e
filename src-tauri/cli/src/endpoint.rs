//! `bench endpoint`: where models are served from, and their keys.

use std::collections::BTreeMap;

use control::Remote;
use control::dto::{
    Api, EndpointView, KeySource, KeyStoreKind, KeyView, ListedModel, Name, Nothing, PresetView,
    SaveEndpoint, SetKey,
};

use crate::args::{AddEndpoint, Common, Endpoint, Key, KeyFrom, SetEndpoint};
use crate::consent::{consent, secret};
use crate::failure::Failure;
use crate::limits;
use crate::model::listed;
use crate::out::Out;
use crate::paint::Look;
use crate::reach::Reached;
use crate::status::counted;
use crate::table::Table;
use crate::vault::{Use, unlock};

pub async fn endpoint(at: &Reached, common: &Common, command: &Endpoint, out: Out) -> Result<(), Failure> {
    let remote = &at.remote;
    match command {
        Endpoint::List => list(remote, out).await,
        Endpoint::Add(args) => add(at, args, out).await,
        Endpoint::Set(args) => set(remote, args, out).await,
        Endpoint::Test { name } => {
            unlock(at, Use::Call(std::slice::from_ref(name)), out).await?;
            let models = test(remote, name, out).await?;
            if !out.json && !models.is_empty() {
                out.painted(&listed(&models, out))?;
            }
            Ok(())
        }
        Endpoint::Key(args) => key(at, args, out).await,
        Endpoint::Rm { name } => {
            consent(common, &format!("Remove the endpoint {name} and its models?"))?;
            // Its key goes with it.
            unlock(at, Use::Call(std::slice::from_ref(name)), out).await?;
            remote.delete_endpoint(Name { name: name.clone() }).await?;
            done(out, &format!("removed {name}"))
        }
    }
}

async fn list(remote: &Remote, out: Out) -> Result<(), Failure> {
    let endpoints = remote.setup(Nothing {}).await?.endpoints;
    if out.json {
        return Ok(out.json(&endpoints)?);
    }
    let mut table = Table::new(&["name", "base", "api", "key", "models", ""]);
    for endpoint in &endpoints {
        let alert = endpoint.alert.clone().unwrap_or_default();
        table.row([
            (endpoint.name.clone(), Look::Plain),
            (endpoint.base.clone(), Look::Plain),
            (endpoint.api.name().to_owned(), Look::Plain),
            (key_in_words(&endpoint.key), Look::Plain),
            (endpoint.models.to_string(), Look::Plain),
            (alert, Look::Bad),
        ]);
    }
    table.print(out, "no endpoints yet")?;
    if endpoints.iter().any(|endpoint| endpoint.key.source == KeySource::None && !endpoint.practice) {
        let keys = remote.status(Nothing {}).await?.keys;
        if matches!(keys.kind, KeyStoreKind::None | KeyStoreKind::VaultLocked) {
            out.note(&keys.message);
        }
    }
    Ok(())
}

async fn add(at: &Reached, args: &AddEndpoint, out: Out) -> Result<(), Failure> {
    let remote = &at.remote;
    let (base, api, needs_key) = match (&args.base, &args.preset) {
        (Some(base), _) => (base.clone(), args.api, false),
        (None, Some(id)) => {
            let preset = preset(remote, id).await?;
            let api = api_of(&preset, args.api)?;
            (based(&preset, args.resource.as_deref())?, api, preset.needs_key)
        }
        (None, None) => return Err(Failure::Usage("give --base or --preset".to_owned())),
    };
    let asked = args.key.key_stdin || (needs_key && args.key.key_env.is_none());
    let key = if asked {
        unlock(at, Use::Store, out).await?;
        Some(key_of(&args.key, &args.name)?)
    } else {
        None
    };
    let saved = remote
        .save_endpoint(SaveEndpoint {
            name: args.name.clone(),
            base,
            api,
            key_env: args.key.key_env.clone(),
            key,
            new: true,
            allow_plain_http: args.allow_plain_http,
            limits: Some(limits::changed(Default::default(), &args.limits)?),
            kind: args.kind,
            headers: Some(args.headers.iter().cloned().collect()),
            paid: args.paid,
            test: !args.force,
        })
        .await?;
    tell(out, &saved)?;
    if out.json {
        return Ok(());
    }
    match test(remote, &args.name, out).await {
        // It is added, and what is wrong with it has been said.
        Ok(_) | Err(Failure::Said) => Ok(()),
        Err(failure) => Err(failure),
    }
}

async fn set(remote: &Remote, args: &SetEndpoint, out: Out) -> Result<(), Failure> {
    let old = known(remote, &args.name).await?;
    let saved = remote
        .save_endpoint(SaveEndpoint {
            name: old.name,
            base: old.base,
            api: None,
            key_env: old.key_env,
            key: None,
            new: false,
            // The base stays as it was agreed to.
            allow_plain_http: true,
            limits: Some(limits::changed(old.limits, &args.limits)?),
            kind: args.kind,
            headers: Some(headers(old.headers, &args.headers)),
            paid: args.paid,
            test: false,
        })
        .await?;
    tell(out, &saved)
}

/// The headers over what it had; one without a value is sent no more.
fn headers(old: BTreeMap<String, String>, given: &[(String, String)]) -> BTreeMap<String, String> {
    let mut headers = old;
    for (name, value) in given {
        match value.as_str() {
            "" => headers.remove(name),
            value => headers.insert(name.clone(), value.to_owned()),
        };
    }
    headers
}

async fn known(remote: &Remote, name: &str) -> Result<EndpointView, Failure> {
    let endpoints = remote.setup(Nothing {}).await?.endpoints;
    let found = endpoints.into_iter().find(|endpoint| endpoint.name == name);
    found.ok_or_else(|| Failure::refused(format!("there is no endpoint {name}")))
}

async fn preset(remote: &Remote, id: &str) -> Result<PresetView, Failure> {
    let presets = remote.presets(Nothing {}).await?;
    let known: Vec<&str> = presets.iter().map(|preset| preset.id.as_str()).collect();
    let unknown = format!("--preset {id}: not known; there are {}", known.join(", "));
    presets.into_iter().find(|preset| preset.id == id).ok_or(Failure::Usage(unknown))
}

/// A preset's base, with the owner's name for it where it has a place for one.
fn based(preset: &PresetView, resource: Option<&str>) -> Result<String, Failure> {
    match (preset.needs_resource, resource.map(str::trim)) {
        (false, None) => Ok(preset.base.clone()),
        (false, Some(_)) => Err(Failure::Usage(format!("--resource: {} has none", preset.title))),
        (true, Some(name)) if is_host_label(name) => Ok(preset.base.replace("{resource}", name)),
        (true, Some(_)) => Err(Failure::Usage("--resource: letters, digits and - only".to_owned())),
        (true, None) => Err(Failure::Usage(format!(
            "{} is at an address of your own: give the name in it, --resource NAME ({})",
            preset.title, preset.base
        ))),
    }
}

fn is_host_label(name: &str) -> bool {
    let inner = name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
    inner && (1..=63).contains(&name.len()) && !name.starts_with('-') && !name.ends_with('-')
}

/// The API a preset is asked in: the wanted one, if it is spoken at the preset's base, else its own.
fn api_of(preset: &PresetView, wanted: Option<Api>) -> Result<Option<Api>, Failure> {
    match wanted {
        Some(api) if !preset.apis.contains(&api) => {
            let speaks: Vec<&str> = preset.apis.iter().map(|api| api.name()).collect();
            Err(Failure::Usage(format!(
                "--api {}: {} speaks {} at {}; for another address give --base",
                api.name(),
                preset.title,
                speaks.join(" and "),
                preset.base
            )))
        }
        Some(api) => Ok(Some(api)),
        None => Ok(preset.apis.first().copied()),
    }
}

/// Says whether the endpoint answers, and gives what it serves.
async fn test(remote: &Remote, name: &str, out: Out) -> Result<Vec<ListedModel>, Failure> {
    let test = remote.test_endpoint(Name { name: name.to_owned() }).await?;
    if out.json {
        out.json(&test)?;
    } else if test.ok {
        out.line(&test.message)?;
    } else {
        // With the base that is likely right, where another answered.
        out.note(&format!("bench: {name}: {}", test.message));
    }
    if test.ok { Ok(test.models) } else { Err(Failure::Said) }
}

async fn key(at: &Reached, args: &Key, out: Out) -> Result<(), Failure> {
    let remote = &at.remote;
    let name = args.name.clone();
    if args.key.key_env.is_none() {
        unlock(at, Use::Store, out).await?;
    }
    let saved = if args.remove {
        remote.delete_key(Name { name }).await?
    } else if let Some(variable) = &args.key.key_env {
        let old = known(remote, &name).await?;
        let changed = SaveEndpoint {
            name,
            base: old.base,
            api: None,
            key_env: Some(variable.clone()),
            key: None,
            new: false,
            // The base stays as it was agreed to.
            allow_plain_http: true,
            limits: None,
            kind: None,
            headers: None,
            paid: None,
            test: false,
        };
        remote.save_endpoint(changed).await?
    } else {
        let key = key_of(&args.key, &name)?;
        remote.set_key(SetKey { endpoint: name, key }).await?
    };
    tell(out, &saved)
}

fn key_of(from: &KeyFrom, name: &str) -> Result<String, Failure> {
    let key = secret(from.key_stdin, &format!("Key for {name}: "), "--key-stdin, or --key-env VARIABLE")?;
    Ok(key.trim().to_owned())
}

fn tell(out: Out, endpoint: &EndpointView) -> Result<(), Failure> {
    if out.json {
        return Ok(out.json(endpoint)?);
    }
    let models = counted(endpoint.models, "model");
    let rules: Vec<String> = endpoint
        .limits
        .named()
        .iter()
        .filter_map(|(name, count)| count.map(|count| format!(", {name} {count}")))
        .collect();
    Ok(out.line(&format!(
        "{}: {} ({}), key {}, {models}{}",
        endpoint.name,
        endpoint.base,
        endpoint.api.name(),
        key_in_words(&endpoint.key),
        rules.concat()
    ))?)
}

fn key_in_words(key: &KeyView) -> String {
    match (key.source, &key.variable) {
        (KeySource::Environment, Some(variable)) => format!("from {variable}"),
        (KeySource::Environment, None) => "from the environment".to_owned(),
        (KeySource::Keychain, _) => format!("in the keychain {}", key.hint),
        (KeySource::VaultFile, _) => format!("in the vault file {}", key.hint),
        (KeySource::None, Some(variable)) => format!("none ({variable} is not set)"),
        (KeySource::None, None) => "none".to_owned(),
    }
}

/// One sentence, or `{}` for a program.
pub fn done(out: Out, text: &str) -> Result<(), Failure> {
    let written = if out.json { out.json(&Nothing {}) } else { out.line(text) };
    Ok(written?)
}
