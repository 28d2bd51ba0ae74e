use gateway::OnboardError;

use crate::{Control, ControlError, dto::*};

impl Control {
    pub async fn onboard(&self, onboard: Onboard) -> Result<OnboardingQueue, ControlError> {
        let Onboard { endpoint, models, mode } = onboard;
        let models = models.into_iter().map(|model| (model.served, model.alias)).collect();
        self.gateway().onboard(&endpoint, models, mode).await.map_err(refused)?;
        Ok(self.gateway().onboarding_queue().await)
    }

    pub async fn probe_model(&self, name: Name) -> Result<OnboardingQueue, ControlError> {
        self.gateway().probe_model(&name.name).await.map_err(refused)?;
        Ok(self.gateway().onboarding_queue().await)
    }

    pub async fn onboarding(&self, _: Nothing) -> Result<OnboardingQueue, ControlError> {
        Ok(self.gateway().onboarding_queue().await)
    }

    pub async fn stop_onboarding(&self, _: Nothing) -> Result<OnboardingQueue, ControlError> {
        self.gateway().stop_onboarding().await;
        Ok(self.gateway().onboarding_queue().await)
    }

    pub async fn resume_onboarding(&self, _: Nothing) -> Result<OnboardingQueue, ControlError> {
        self.gateway().resume_onboarding().await;
        Ok(self.gateway().onboarding_queue().await)
    }

    pub async fn clear_onboarding(&self, clear: ClearOnboarding) -> Result<OnboardingQueue, ControlError> {
        self.gateway().clear_onboarding(clear.all).await.map_err(refused)?;
        Ok(self.gateway().onboarding_queue().await)
    }

    pub async fn dismiss_models(&self, models: ServedModels) -> Result<Nothing, ControlError> {
        let ServedModels { endpoint, served } = models;
        self.gateway().dismiss(&endpoint, served).await.map_err(refused)?;
        Ok(Nothing {})
    }

    pub async fn restore_dismissed(&self, models: ServedModels) -> Result<Nothing, ControlError> {
        let ServedModels { endpoint, served } = models;
        self.gateway().restore_dismissed(&endpoint, served).await.map_err(refused)?;
        Ok(Nothing {})
    }
}

fn refused(error: OnboardError) -> ControlError {
    let message = error.to_string();
    match error {
        OnboardError::UnknownEndpoint(_) => ControlError::bad_input("endpoint", message),
        OnboardError::UnknownModel(_) => ControlError::not_found(message),
        OnboardError::Retired(_) => ControlError::conflict(message),
        OnboardError::Alias { at, .. } => {
            ControlError { field: Some(format!("models[{at}].alias")), ..ControlError::conflict(message) }
        }
        OnboardError::Served { at } => ControlError::bad_input(format!("served[{at}]"), message),
        OnboardError::Unfit(unfit) => super::unfitting(&unfit),
        OnboardError::NotSaved(_) => ControlError::internal(message),
    }
}
