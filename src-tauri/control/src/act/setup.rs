use catalog::{Endpoint, Model};
use gateway::{KeySource as Source, Snapshot, view::AlertKind};
use plan::{Collection, Settings};

use super::{ACTOR, refused};
use crate::{Control, ControlError, dto::*};

impl Control {
    pub async fn setup(&self, _: Nothing) -> Result<SetupView, ControlError> {
        let snapshot = self.gateway().snapshot();
        let mut endpoints = Vec::new();
        for endpoint in &snapshot.setup.endpoints {
            endpoints.push(self.endpoint_view(&snapshot, endpoint).await);
        }
        Ok(SetupView {
            endpoints,
            models: snapshot.setup.models.iter().map(|model| model_view(&snapshot, model)).collect(),
            collections: snapshot.setup.collections.iter().map(|it| collection_view(&snapshot, it)).collect(),
            settings: snapshot.setup.settings.clone(),
        })
    }

    pub async fn save_settings(&self, settings: Settings) -> Result<Settings, ControlError> {
        settings.check().map_err(|error| ControlError::bad_input(&error.field, error.to_string()))?;
        let saved = settings.clone();
        self.gateway()
            .change_setup(ACTOR, |setup| {
                // A cap below what a collection has would silently drop members.
                let wider =
                    setup.collections.iter().find(|it| it.members.len() > settings.max_calls as usize);
                if let Some(wider) = wider {
                    let message = format!(
                        "max_calls: the collection {} has {} members; take some off first",
                        wider.name,
                        wider.members.len()
                    );
                    return Err(ControlError::bad_input("max_calls", message));
                }
                setup.settings = settings;
                Ok(())
            })
            .await
            .map_err(refused)?;
        Ok(saved)
    }

    pub async fn import_setup(&self, file: SetupText) -> Result<Imported, ControlError> {
        let bad = |error: plan::SetupError| ControlError::bad_input(error.path.clone(), error.to_string());
        let parsed = plan::parse(&file.text).map_err(bad)?;
        let changes = self
            .gateway()
            .change_setup("import", |setup| {
                let (merged, changes) = plan::merge(setup, parsed).map_err(bad)?;
                *setup = merged;
                Ok(changes)
            })
            .await
            .map_err(refused)?;
        Ok(Imported { changes: changes.iter().map(ToString::to_string).collect() })
    }

    pub async fn export_setup(&self, _: Nothing) -> Result<SetupText, ControlError> {
        Ok(SetupText { text: plan::export(&self.gateway().snapshot().setup) })
    }

    pub(super) async fn endpoint_view(&self, snapshot: &Snapshot, endpoint: &Endpoint) -> EndpointView {
        let key = self.gateway().key_info(endpoint).await;
        let alerts = self.gateway().alerts();
        let alert = alerts.iter().find(|it| it.kind == AlertKind::KeyRefused && it.subject == endpoint.name);
        EndpointView {
            name: endpoint.name.clone(),
            base: endpoint.base.clone(),
            api: Api::of(endpoint.api),
            kind: endpoint.kind(),
            key: KeyView {
                source: match key.source {
                    Some(Source::Environment) => KeySource::Environment,
                    Some(Source::Keychain) => KeySource::Keychain,
                    Some(Source::VaultFile) => KeySource::VaultFile,
                    None => KeySource::None,
                },
                hint: key.hint,
                variable: key.variable,
            },
            key_env: endpoint.key_env.clone(),
            paid: endpoint.paid,
            headers: endpoint.headers.clone(),
            practice: endpoint.is_practice(),
            limits: endpoint.limits,
            models: snapshot.setup.models.iter().filter(|model| model.endpoint == endpoint.name).count()
                as u32,
            alert: alert.map(|alert| alert.message.clone()),
        }
    }
}

/// Of a model of `snapshot.setup`, which has the owner's facts and no others.
pub(super) fn model_view(snapshot: &Snapshot, model: &Model) -> ModelView {
    let within = snapshot.setup.collections.iter().filter(|it| it.members.contains(&model.alias));
    ModelView {
        alias: model.alias.clone(),
        endpoint: model.endpoint.clone(),
        served: model.served.clone(),
        role: model.role.clone(),
        ad_hoc: model.ad_hoc,
        facts: model.facts.clone(),
        known: snapshot.model(&model.alias).map(|model| model.facts.clone()).unwrap_or_default(),
        options: model.options.clone(),
        retired: model.retired.clone(),
        went_paid: snapshot.has_gone_paid(&model.alias),
        practice: snapshot.is_practice(&model.alias),
        collections: within.map(|it| it.name.clone()).collect(),
    }
}

pub(super) fn collection_view(snapshot: &Snapshot, collection: &Collection) -> CollectionView {
    CollectionView {
        name: collection.name.clone(),
        description: collection.description.clone(),
        tags: collection.tags.clone(),
        members: collection.members.clone(),
        shape: collection.shape.as_ref().map(|shape| shape.name().to_owned()).unwrap_or_default(),
        reply: match collection.reply {
            wire::ReplyMode::All => "all",
            wire::ReplyMode::Merged => "merged",
            wire::ReplyMode::Route => "route",
        }
        .to_owned(),
        merger: collection.merger.clone(),
        shadow: collection.shadow,
        shadow_share: collection.shadow_share,
        shadow_tokens: collection.shadow_tokens,
        budget: collection.budget.clone(),
        when_too_large: match collection.when_too_large {
            plan::WhenTooLarge::Refuse => "refuse",
            plan::WhenTooLarge::Skip => "skip",
        }
        .to_owned(),
        practice: snapshot.is_practice_collection(collection),
    }
}
