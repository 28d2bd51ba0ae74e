use gateway::{GatewayKeyError, NewGatewayKey, view::GatewayKeyView};
use secrecy::ExposeSecret;

use super::ACTOR;
use crate::{Control, ControlError, dto::*};

impl Control {
    pub async fn create_key(&self, create: CreateKey) -> Result<NewKey, ControlError> {
        let CreateKey { name, collections, requests_a_minute, budget, expires } = create;
        let new = NewGatewayKey { name, collections, requests_a_minute, budget, expires };
        let (key, text) = self.gateway().create_gateway_key(ACTOR, new).await.map_err(refused)?;
        Ok(NewKey { key, text: text.expose_secret().to_owned() })
    }

    pub async fn keys(&self, _: Nothing) -> Result<Vec<GatewayKeyView>, ControlError> {
        Ok(self.gateway().gateway_keys())
    }

    pub async fn revoke_key(&self, name: Name) -> Result<GatewayKeyView, ControlError> {
        self.gateway().revoke_gateway_key(ACTOR, &name.name).await.map_err(refused)
    }
}

fn refused(error: GatewayKeyError) -> ControlError {
    let message = error.to_string();
    match error {
        GatewayKeyError::Field { field, .. } => ControlError::bad_input(field, message),
        GatewayKeyError::Unfit(unfit) => super::unfitting(&unfit),
        GatewayKeyError::Taken(_) => {
            ControlError { field: Some("name".to_owned()), ..ControlError::conflict(message) }
        }
        GatewayKeyError::Unknown(_) => ControlError::not_found(message),
        GatewayKeyError::NoRandomness(_) | GatewayKeyError::NotSaved(_) => ControlError::internal(message),
    }
}
