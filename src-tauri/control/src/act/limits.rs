use super::reading;
use gateway::{SpendError, view::LimitsView};

use crate::{Control, ControlError, dto::*};

impl Control {
    pub async fn limits(&self, _: Nothing) -> Result<LimitsView, ControlError> {
        Ok(self.gateway().limits_view())
    }

    pub async fn clear_cooldown(&self, name: Name) -> Result<Nothing, ControlError> {
        if self.gateway().clear_cooldown(&name.name) {
            return Ok(Nothing {});
        }
        let message = format!("Nothing is cooling down under \"{}\".", name.name);
        Err(ControlError::not_found(message))
    }

    pub async fn model_records(&self, _: Nothing) -> Result<Vec<ModelRecord>, ControlError> {
        let gateway = self.gateway().clone();
        reading(move || gateway.model_records()).await
    }

    pub async fn spend(&self, query: SpendQuery) -> Result<Spend, ControlError> {
        let gateway = self.gateway().clone();
        let read = move || gateway.spend(query.by, query.since.as_deref());
        match tokio::task::spawn_blocking(read).await {
            Ok(Ok(spend)) => Ok(spend),
            Ok(Err(error @ SpendError::Store(_))) => Err(ControlError::internal(error.to_string())),
            Ok(Err(error)) => Err(ControlError::bad_input("since", error.to_string())),
            Err(_) => Err(ControlError::internal("The records could not be read.")),
        }
    }
}
