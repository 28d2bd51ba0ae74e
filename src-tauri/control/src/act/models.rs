use catalog::{FactSource, Facts, FieldError, Model, Retired, SNAPSHOT_DATE};
use gateway::{Snapshot, rfc3339};
use serde_json::Value;

use super::{ACTOR, reading, refused, setup::model_view};
use crate::{Control, ControlError, dto::*};

impl Control {
    pub async fn register_models(&self, register: RegisterModels) -> Result<Vec<ModelView>, ControlError> {
        let aliases: Vec<String> = register.models.iter().map(|model| model.alias.clone()).collect();
        self.gateway()
            .change_setup(ACTOR, |setup| {
                if !setup.endpoints.iter().any(|endpoint| endpoint.name == register.endpoint) {
                    let message = format!("endpoint: there is no endpoint \"{}\"", register.endpoint);
                    return Err(ControlError::bad_input("endpoint", message));
                }
                for (at, wanted) in register.models.into_iter().enumerate() {
                    let model = Model::new(wanted.alias, &register.endpoint, wanted.served);
                    let field = |field: &str| format!("models[{at}].{field}");
                    model
                        .check()
                        .map_err(|error| ControlError::bad_input(field(&error.field), error.message))?;
                    if setup.models.iter().any(|known| known.alias == model.alias) {
                        let message = format!("The alias {} is taken; choose another.", model.alias);
                        return Err(ControlError {
                            field: Some(field("alias")),
                            ..ControlError::conflict(message)
                        });
                    }
                    setup.models.push(model);
                }
                Ok(())
            })
            .await
            .map_err(refused)?;
        let snapshot = self.gateway().snapshot();
        Ok(aliases.iter().filter_map(|alias| registered(&snapshot, alias)).collect())
    }

    pub async fn model(&self, name: Name) -> Result<ModelSheet, ControlError> {
        let unknown = || ControlError::not_found(format!("There is no model \"{}\".", name.name));
        let model = registered(&self.gateway().snapshot(), &name.name).ok_or_else(unknown)?;
        let known = self.gateway().facts_of(&name.name).ok_or_else(unknown)?;
        let (gateway, alias) = (self.gateway().clone(), name.name);
        let probes = reading(move || gateway.last_probes(&alias)).await?;
        let value = |facts: &Facts, fact: &str| {
            serde_json::to_value(facts).ok().and_then(|facts| facts.get(fact).cloned())
        };
        let when = |source: FactSource, at_ms: Option<i64>| match source {
            FactSource::Snapshot => Some(SNAPSHOT_DATE.to_owned()),
            _ => at_ms.map(rfc3339),
        };
        let fact = |name: &str| FactView {
            name: name.to_owned(),
            value: value(&known.facts, name).unwrap_or(Value::Null),
            source: known.sources.get(name).copied(),
            told: known
                .told
                .iter()
                .filter_map(|(source, facts, at_ms)| {
                    let value = value(facts, name)?;
                    Some(FactTold { source: *source, value, at: when(*source, *at_ms) })
                })
                .collect(),
        };
        Ok(ModelSheet { facts: Facts::NAMES.iter().map(|name| fact(name)).collect(), model, probes })
    }

    pub async fn save_model(&self, save: SaveModel) -> Result<ModelView, ControlError> {
        let SaveModel { alias, role, ad_hoc, facts, options } = save;
        self.change_model(&alias, |model| {
            model.role = role.unwrap_or_else(|| model.role.clone());
            model.ad_hoc = ad_hoc.unwrap_or(model.ad_hoc);
            model.facts = facts.unwrap_or_else(|| model.facts.clone());
            model.options = options.unwrap_or_else(|| model.options.clone());
        })
        .await
    }

    pub async fn retire_model(&self, retire: RetireModel) -> Result<ModelView, ControlError> {
        let retired =
            Retired { at: rfc3339(self.gateway().clock().now_ms()), why: retire.why.trim().to_owned() };
        self.change_model(&retire.alias, |model| model.retired = Some(retired)).await
    }

    pub async fn restore_model(&self, name: Name) -> Result<ModelView, ControlError> {
        self.change_model(&name.name, |model| model.retired = None).await
    }

    async fn change_model(
        &self,
        alias: &str,
        change: impl FnOnce(&mut Model),
    ) -> Result<ModelView, ControlError> {
        let unknown = || ControlError::not_found(format!("There is no model \"{alias}\"."));
        let bad = |error: FieldError| ControlError::bad_input(error.field.clone(), error.to_string());
        self.gateway()
            .change_setup(ACTOR, |setup| {
                let shapes = setup.shapes();
                let Some(at) = setup.models.iter().position(|model| model.alias == alias) else {
                    return Err(unknown());
                };
                if setup.is_practice_model(alias) {
                    let message =
                        format!("{alias} is a practice model, which is built in and stays as it is.");
                    return Err(ControlError::conflict(message));
                }
                let model = &mut setup.models[at];
                change(model);
                model.check().and_then(|()| shapes.check_role(&model.role)).map_err(bad)
            })
            .await
            .map_err(refused)?;
        let snapshot = self.gateway().snapshot();
        registered(&snapshot, alias).ok_or_else(unknown)
    }

    pub async fn unregister_model(&self, name: Name) -> Result<Nothing, ControlError> {
        self.gateway()
            .change_setup(ACTOR, |setup| {
                let within: Vec<&str> = setup
                    .collections
                    .iter()
                    .filter(|it| it.members.contains(&name.name) || it.merger.as_ref() == Some(&name.name))
                    .map(|it| it.name.as_str())
                    .collect();
                if !within.is_empty() {
                    let message =
                        format!("{} is used by {}; take it off there first.", name.name, within.join(", "));
                    return Err(ControlError::conflict(message));
                }
                let before = setup.models.len();
                setup.models.retain(|model| model.alias != name.name);
                if setup.models.len() == before {
                    return Err(ControlError::not_found(format!("There is no model \"{}\".", name.name)));
                }
                Ok(Nothing {})
            })
            .await
            .map_err(refused)
    }
}

pub(super) fn registered(snapshot: &Snapshot, alias: &str) -> Option<ModelView> {
    let model = snapshot.setup.models.iter().find(|model| model.alias == alias)?;
    Some(model_view(snapshot, model))
}
