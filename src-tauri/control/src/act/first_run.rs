use super::setup::collection_view;
use crate::{Control, ControlError, dto::*};

impl Control {
    pub async fn presets(&self, _: Nothing) -> Result<Vec<PresetView>, ControlError> {
        let views = catalog::presets().iter().map(|preset| PresetView {
            id: preset.id.clone(),
            title: preset.title.clone(),
            base: preset.base.clone(),
            apis: preset.apis().map(Api::of).collect(),
            kind: preset.kind,
            key_page: preset.key_page.clone(),
            needs_key: preset.needs_key(),
            needs_resource: preset.needs_resource(),
        });
        Ok(views.collect())
    }

    pub async fn found(&self, _: Nothing) -> Result<Found, ControlError> {
        let runtimes = self.gateway().find_runtimes().await.into_iter().map(|found| FoundRuntime {
            preset: found.preset.id.clone(),
            title: found.preset.title.clone(),
            base: found.preset.base.clone(),
            models: found.models,
        });
        // One with an address of its owner's own is not added by a click.
        let found = self.gateway().find_keys().into_iter().filter(|found| !found.preset.needs_resource());
        let keys = found.map(|found| FoundKey {
            preset: found.preset.id.clone(),
            title: found.preset.title.clone(),
            variable: found.variable,
        });
        Ok(Found { runtimes: runtimes.collect(), keys: keys.collect() })
    }

    pub async fn start_practice(&self, _: Nothing) -> Result<CollectionView, ControlError> {
        let made = self.gateway().start_practice(super::ACTOR).await;
        let collection = made.map_err(|error| ControlError::internal(error.to_string()))?;
        Ok(collection_view(&self.gateway().snapshot(), &collection))
    }
}
