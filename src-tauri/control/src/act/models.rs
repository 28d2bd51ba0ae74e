use catalog::Model;

use super::{ACTOR, refused, setup::model_view};
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
        let registered = aliases.iter().filter_map(|alias| snapshot.model(alias));
        Ok(registered.map(|model| model_view(&snapshot, model)).collect())
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
