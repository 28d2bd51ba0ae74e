use std::collections::{HashMap, HashSet};

use catalog::{BaseError, Endpoint, FieldError, FreeAliases};
use gateway::{KeyError, Snapshot};

use super::{ACTOR, reading, refused, secret, status::key_store};
use crate::{Code, Control, ControlError, dto::*};

impl Control {
    pub async fn save_endpoint(&self, save: SaveEndpoint) -> Result<EndpointView, ControlError> {
        let name = save.name.clone();
        let base = save.base.trim().trim_end_matches('/').to_owned();
        match catalog::check_base(&base) {
            Ok(()) => {}
            Err(BaseError::PlainHttp(_)) if save.allow_plain_http => {}
            Err(error) => {
                let plain = matches!(error, BaseError::PlainHttp(_));
                let code = if plain { Code::PlainHttp } else { Code::BadInput };
                return Err(ControlError {
                    code,
                    ..ControlError::bad_input("base", format!("base: {error}"))
                });
            }
        }
        let key = save.key.clone().filter(|key| !key.trim().is_empty()).map(secret);
        if let Some(key) = &key {
            // First: an endpoint saved without the key that came with it would be half of what was asked.
            self.gateway().check_key(key).await.map_err(key_error)?;
        }
        if save.test {
            // As it will be, before it is: with what is wrong it is not saved.
            let wanted = changed(&self.gateway().snapshot().setup.endpoints, &save, &base)?;
            let test = self.gateway().try_endpoint(&wanted, key.as_ref()).await;
            if !test.ok {
                let refused = ControlError::new(Code::TestFailed, test.message);
                return Err(ControlError { suggestion: test.suggested_base, ..refused });
            }
        }
        self.gateway()
            .change_setup(ACTOR, |setup| {
                let endpoint = changed(&setup.endpoints, &save, &base)?;
                match setup.endpoints.iter_mut().find(|known| known.name == endpoint.name) {
                    Some(known) => *known = endpoint,
                    None => setup.endpoints.push(endpoint),
                }
                Ok(())
            })
            .await
            .map_err(refused)?;
        if let Some(key) = key {
            self.gateway().set_key(&name, key).await.map_err(key_error)?;
        }
        self.one_endpoint(&name).await
    }

    pub async fn test_endpoint(&self, name: Name) -> Result<EndpointTest, ControlError> {
        self.gateway().try_keychain_again().await;
        let snapshot = self.gateway().snapshot();
        let endpoint = known(&snapshot, &name.name)?;
        let test = self.gateway().test_endpoint(endpoint).await;
        let mut aliases = FreeAliases::beside(self.gateway().aliases_in_use().await);
        let dismissed = self.dismissed(&endpoint.name).await?;
        let here = snapshot.setup.models.iter().filter(|model| model.endpoint == endpoint.name);
        let registered: HashMap<&str, &str> =
            here.map(|model| (model.served.as_str(), model.alias.as_str())).collect();
        let models = test
            .models
            .into_iter()
            .map(|listed| {
                let registered = registered.get(listed.served.as_str()).map(|alias| (*alias).to_owned());
                let alias =
                    registered.clone().unwrap_or_else(|| aliases.take(&listed.served, &endpoint.name));
                ListedModel {
                    dismissed: dismissed.contains(&listed.served),
                    served: listed.served,
                    alias,
                    registered,
                    context_window: listed.facts.context_window,
                }
            })
            .collect();
        Ok(EndpointTest { ok: test.ok, message: test.message, suggested_base: test.suggested_base, models })
    }

    async fn dismissed(&self, endpoint: &str) -> Result<HashSet<String>, ControlError> {
        let (gateway, endpoint) = (self.gateway().clone(), endpoint.to_owned());
        reading(move || gateway.dismissed(&endpoint)).await
    }

    pub async fn delete_endpoint(&self, name: Name) -> Result<Nothing, ControlError> {
        self.gateway()
            .change_setup(ACTOR, |setup| {
                let models: Vec<&str> = setup
                    .models
                    .iter()
                    .filter(|model| model.endpoint == name.name)
                    .map(|model| model.alias.as_str())
                    .collect();
                let within: Vec<&str> = setup
                    .collections
                    .iter()
                    .filter(|it| it.members.iter().any(|member| models.contains(&member.as_str())))
                    .map(|it| it.name.as_str())
                    .collect();
                if !within.is_empty() {
                    let message = format!(
                        "Models of {} are members of {}; take them off there first.",
                        name.name,
                        within.join(", ")
                    );
                    return Err(ControlError::conflict(message));
                }
                setup.models.retain(|model| model.endpoint != name.name);
                let before = setup.endpoints.len();
                setup.endpoints.retain(|endpoint| endpoint.name != name.name);
                if setup.endpoints.len() == before {
                    return Err(unknown(&name.name));
                }
                Ok(())
            })
            .await
            .map_err(refused)?;
        // Its key goes with it, where one was kept; with no key store there is none.
        self.gateway().forget_key(&name.name).await;
        Ok(Nothing {})
    }

    pub async fn set_key(&self, set: SetKey) -> Result<EndpointView, ControlError> {
        self.gateway().set_key(&set.endpoint, secret(set.key)).await.map_err(key_error)?;
        self.one_endpoint(&set.endpoint).await
    }

    pub async fn delete_key(&self, name: Name) -> Result<EndpointView, ControlError> {
        self.gateway().delete_key(&name.name).await.map_err(key_error)?;
        self.one_endpoint(&name.name).await
    }

    pub async fn open_vault_file(&self, passphrase: Passphrase) -> Result<KeyStoreStatus, ControlError> {
        let opened = self.gateway().open_vault_file(secret(passphrase.passphrase)).await;
        opened.map(key_store).map_err(key_error)
    }

    async fn one_endpoint(&self, name: &str) -> Result<EndpointView, ControlError> {
        let snapshot = self.gateway().snapshot();
        Ok(self.endpoint_view(&snapshot, known(&snapshot, name)?).await)
    }
}

/// The endpoint as it is to be saved, if it may be.
fn changed(known: &[Endpoint], save: &SaveEndpoint, base: &str) -> Result<Endpoint, ControlError> {
    let old = known.iter().find(|endpoint| endpoint.name == save.name);
    if old.is_some() && save.new {
        let message = format!("name: there is an endpoint \"{}\" already", save.name);
        return Err(ControlError { field: Some("name".to_owned()), ..ControlError::conflict(message) });
    }
    if old.is_some_and(Endpoint::is_practice) {
        return Err(ControlError::conflict("The practice endpoint is built in and cannot be changed."));
    }
    let old = old.cloned().unwrap_or_else(|| Endpoint::new(&save.name, base));
    let endpoint = Endpoint {
        base: base.to_owned(),
        api: save.api.map_or(old.api, Api::dialect),
        kind: save.kind.or(old.kind),
        key_env: save.key_env.clone().filter(|variable| !variable.trim().is_empty()),
        headers: save.headers.clone().unwrap_or(old.headers),
        plain_http: save.allow_plain_http,
        limits: save.limits.unwrap_or(old.limits),
        paid: save.paid.unwrap_or(old.paid),
        ..old
    };
    let bad = |error: FieldError| {
        ControlError::bad_input(&error.field, format!("{}: {}", error.field, error.message))
    };
    endpoint.check().map_err(bad)?;
    Ok(endpoint)
}

fn known<'a>(snapshot: &'a Snapshot, name: &str) -> Result<&'a Endpoint, ControlError> {
    snapshot.endpoint(name).ok_or_else(|| unknown(name))
}

fn unknown(name: &str) -> ControlError {
    ControlError::not_found(format!("There is no endpoint \"{name}\"."))
}

fn key_error(error: KeyError) -> ControlError {
    use gateway::VaultError::{BadKey, Locked, NoStore, PassphraseTooShort, WrongPassphrase};
    let (code, field) = match &error {
        KeyError::UnknownEndpoint(_) => (Code::NotFound, None),
        KeyError::Vault(NoStore(_)) => (Code::NoKeychain, None),
        KeyError::Vault(Locked) => (Code::VaultLocked, None),
        KeyError::Vault(BadKey(_)) => (Code::BadInput, Some("key")),
        KeyError::Vault(WrongPassphrase | PassphraseTooShort(_)) => (Code::BadInput, Some("passphrase")),
        KeyError::Vault(_) | KeyError::Gone => (Code::Internal, None),
    };
    ControlError { field: field.map(str::to_owned), ..ControlError::new(code, error.to_string()) }
}
