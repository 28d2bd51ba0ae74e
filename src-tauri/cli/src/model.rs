//! `bench model`: the register of models.

use control::Remote;
use control::dto::{
    CatalogView, EndpointTest, ListedModel, ModelView, Name, Nothing, Onboard, OnboardingMode, RegisterModel,
    RegisterModels, RenameModel, RetireModel, SaveModel, ServedModels,
};
use serde_json::{Map, Value};

use crate::args::{AddModels, Model, SetModel};
use crate::endpoint::done;
use crate::failure::Failure;
use crate::fields;
use crate::onboard::Following;
use crate::out::Out;
use crate::paint::{Look, Painted};
use crate::reach::Reached;
use crate::sheet::show;
use crate::table::Table;
use crate::vault::{Use, unlock};

pub async fn model(at: &Reached, command: &Model, out: Out) -> Result<(), Failure> {
    let remote = &at.remote;
    match command {
        Model::List => list(&remote.setup(Nothing {}).await?.models, out),
        Model::Show { alias } => show(&remote.model(Name { name: alias.clone() }).await?, out),
        Model::Add(args) => add(at, args, out).await,
        Model::Probe { aliases } => probe(at, aliases, out).await,
        Model::Dismiss { endpoint, models, restore } => {
            let served = ServedModels { endpoint: endpoint.clone(), served: models.clone() };
            let count = models.len();
            if *restore {
                remote.restore_dismissed(served).await?;
                return done(out, &format!("{count} of {endpoint} offered again"));
            }
            remote.dismiss_models(served).await?;
            done(out, &format!("{count} of {endpoint} not offered any more"))
        }
        Model::Set(args) => list(&[set(remote, args).await?], out),
        Model::Retire { alias, why } => {
            let retire = RetireModel { alias: alias.clone(), why: why.clone() };
            list(&[remote.retire_model(retire).await?], out)
        }
        Model::Restore { alias } => list(&[remote.restore_model(Name { name: alias.clone() }).await?], out),
        Model::Rename { alias, to } => {
            let rename = RenameModel { alias: alias.clone(), to: to.clone() };
            list(&[remote.rename_model(rename).await?], out)
        }
        Model::Refresh => refreshed(&remote.refresh_catalog(Nothing {}).await?, out),
        Model::Allow { alias } => list(&[remote.allow_paid(Name { name: alias.clone() }).await?], out),
        Model::Rm { alias } => {
            remote.unregister_model(Name { name: alias.clone() }).await?;
            done(out, &format!("removed {alias}"))
        }
    }
}

async fn add(at: &Reached, args: &AddModels, out: Out) -> Result<(), Failure> {
    let AddModels { endpoint, models, .. } = args;
    if models.is_empty() {
        return offered(at, endpoint, args.all, out).await;
    }
    let listed = if models.iter().all(|model| model.contains('=')) {
        Vec::new()
    } else {
        // Only for the aliases it proposes.
        listing(at, endpoint, out).await?.models
    };
    let models: Vec<RegisterModel> =
        models.iter().map(|text| named(text, &listed)).collect::<Result<_, _>>()?;
    let endpoint = endpoint.clone();
    let mode = match (args.full, args.quick, args.ad_hoc) {
        (true, ..) => OnboardingMode::Full,
        (_, true, _) => OnboardingMode::Quick,
        (.., true) => OnboardingMode::QuickAdHoc,
        _ => {
            let register = RegisterModels { endpoint, models };
            return list(&at.remote.register_models(register).await?, out);
        }
    };
    unlock(at, Use::Call(std::slice::from_ref(&endpoint)), out).await?;
    let places = models.iter().map(|model| (endpoint.clone(), model.served.clone())).collect();
    let following = Following::begin(&at.remote).await?;
    let queue = at.remote.onboard(Onboard { endpoint, models, mode }).await?;
    following.until_over(at, places, queue, out).await
}

async fn probe(at: &Reached, aliases: &[String], out: Out) -> Result<(), Failure> {
    let known = at.remote.setup(Nothing {}).await?.models;
    let mut places = Vec::new();
    for alias in aliases {
        let Some(model) = known.iter().find(|model| model.alias == *alias) else {
            return Err(Failure::refused(format!("there is no model {alias}; bench model list has them")));
        };
        places.push((model.endpoint.clone(), model.served.clone()));
    }
    let endpoints: Vec<String> = places.iter().map(|(endpoint, _)| endpoint.clone()).collect();
    unlock(at, Use::Call(&endpoints), out).await?;
    let following = Following::begin(&at.remote).await?;
    let mut queue = at.remote.onboarding(Nothing {}).await?;
    for alias in aliases {
        queue = at.remote.probe_model(Name { name: alias.clone() }).await?;
    }
    following.until_over(at, places, queue, out).await
}

/// What is given, over what is known.
async fn set(remote: &Remote, args: &SetModel) -> Result<ModelView, Failure> {
    let models = remote.setup(Nothing {}).await?.models;
    let Some(old) = models.into_iter().find(|model| model.alias == args.alias) else {
        return Err(Failure::refused(format!("there is no model {}; bench model list has them", args.alias)));
    };
    let changed = |mut fields: Map<String, Value>, given: &[(String, String)]| {
        given.iter().try_for_each(|(name, text)| fields::put(&mut fields, name, text))?;
        Ok::<_, Failure>(fields)
    };
    let facts = changed(fields::of(&old.facts)?, &args.facts)?;
    let role = args.role.as_ref().map(|role| serde_json::from_value(Value::String(role.clone())));
    let save = SaveModel {
        alias: args.alias.clone(),
        role: role.transpose().map_err(Failure::refused)?,
        ad_hoc: args.ad_hoc,
        facts: if args.facts.is_empty() { None } else { Some(fields::read(facts)?) },
        options: (!args.options.is_empty()).then(|| changed(old.options, &args.options)).transpose()?,
    };
    Ok(remote.save_model(save).await?)
}

/// `ALIAS=ID`, or an id the endpoint lists, under the alias proposed for it.
fn named(text: &str, listed: &[ListedModel]) -> Result<RegisterModel, Failure> {
    if let Some((alias, served)) = text.split_once('=') {
        return Ok(RegisterModel { served: served.to_owned(), alias: alias.to_owned() });
    }
    match listed.iter().find(|model| model.served == text) {
        Some(model) => {
            let alias = model.registered.as_ref().unwrap_or(&model.alias).clone();
            Ok(RegisterModel { served: model.served.clone(), alias })
        }
        None => Err(Failure::refused(format!(
            "the endpoint does not list {text}; to register it all the same, name it: ALIAS={text}"
        ))),
    }
}

async fn listing(at: &Reached, endpoint: &str, out: Out) -> Result<EndpointTest, Failure> {
    unlock(at, Use::Call(&[endpoint.to_owned()]), out).await?;
    let test = at.remote.test_endpoint(Name { name: endpoint.to_owned() }).await?;
    if test.ok { Ok(test) } else { Err(Failure::refused(format!("{endpoint}: {}", test.message))) }
}

async fn offered(at: &Reached, endpoint: &str, all: bool, out: Out) -> Result<(), Failure> {
    let mut models = listing(at, endpoint, out).await?.models;
    let count = models.len();
    models.retain(|model| all || !model.dismissed);
    let hidden = count - models.len();
    if out.json {
        return Ok(out.json(&models)?);
    }
    out.painted(&listed(&models, out))?;
    if hidden > 0 {
        out.note(&format!("{hidden} dismissed are not shown; --all shows them"));
    }
    out.note(&format!("register with: bench model add {endpoint} MODEL…  or  ALIAS=MODEL…"));
    Ok(())
}

/// What an endpoint serves, with the alias each model has or could have.
pub fn listed(models: &[ListedModel], out: Out) -> Painted {
    let mut table = Table::new(&["model", "alias", "window"]);
    for model in models {
        let window = model.context_window.map_or_else(String::new, |window| window.to_string());
        let alias = match &model.registered {
            Some(alias) => (format!("{alias} (registered)"), Look::Good),
            None if model.dismissed => (format!("{} (dismissed)", model.alias), Look::Dim),
            None => (model.alias.clone(), Look::Plain),
        };
        table.row([(model.served.clone(), Look::Plain), alias, (window, Look::Plain)]);
    }
    table.text(out.paint)
}

/// When each list was fetched, or why it was not now. Refused where none could be.
fn refreshed(catalog: &CatalogView, out: Out) -> Result<(), Failure> {
    if out.json {
        out.json(catalog)?;
    } else {
        let mut table = Table::new(&["list", "fetched", "from"]);
        for source in &catalog.sources {
            let fetched = match (&source.error, &source.refreshed_at) {
                (Some(error), _) => (format!("not now: {error}"), Look::Bad),
                (None, at) => (at.clone().unwrap_or_default(), Look::Plain),
            };
            table.row([(source.name.clone(), Look::Plain), fetched, (source.url.clone(), Look::Plain)]);
        }
        out.painted(&table.text(out.paint))?;
    }
    match catalog.sources.iter().all(|source| source.error.is_some()) {
        true => Err(Failure::refused("no list of models could be fetched; what is known stays")),
        false => Ok(()),
    }
}

fn list(models: &[ModelView], out: Out) -> Result<(), Failure> {
    if out.json {
        return Ok(out.json(&models)?);
    }
    let mut table = Table::new(&["alias", "endpoint", "model", "role", "known", "collections"]);
    for model in models {
        let ad_hoc = if model.ad_hoc { ", ad hoc" } else { "" };
        let known = match &model.retired {
            Some(retired) => (format!("retired {}: {}", retired.date(), retired.why), Look::Bad),
            None if model.went_paid => ("costs money now, not called until allowed".to_owned(), Look::Bad),
            None => (fields::listed(&fields::of(&model.known)?), Look::Plain),
        };
        table.row([
            (model.alias.clone(), Look::Plain),
            (model.endpoint.clone(), Look::Plain),
            (model.served.clone(), Look::Plain),
            (format!("{}{ad_hoc}", model.role.name()), Look::Plain),
            known,
            (model.collections.join(", "), Look::Plain),
        ]);
    }
    Ok(table.print(out, "no models yet")?)
}

#[cfg(test)]
mod tests {
    use control::dto::ListedModel;

    use super::named;

    #[test]
    fn aliases_are_given_or_proposed() {
        let listed = |served: &str, alias: &str, registered: Option<&str>| ListedModel {
            served: served.to_owned(),
            alias: alias.to_owned(),
            registered: registered.map(str::to_owned),
            context_window: None,
            dismissed: false,
        };
        let offered = [listed("vendor/alpha-1", "alpha-1", None), listed("b", "b-2", Some("beta"))];
        let cases = [
            ("vendor/alpha-1", Some(("alpha-1", "vendor/alpha-1"))),
            ("b", Some(("beta", "b"))),
            ("quick=vendor/alpha-1", Some(("quick", "vendor/alpha-1"))),
            ("odd=a=b", Some(("odd", "a=b"))),
            ("gamma", None),
        ];
        for (text, wanted) in cases {
            let named = named(text, &offered).ok().map(|model| (model.alias, model.served));
            let wanted = wanted.map(|(alias, served)| (alias.to_owned(), served.to_owned()));
            assert_eq!(named, wanted, "{text}");
        }
    }
}
