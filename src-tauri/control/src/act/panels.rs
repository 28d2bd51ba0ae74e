use gateway::{Verdict, VerdictError, view::PanelView};
use wire::Kind;

use super::reading;
use crate::{Code, Control, ControlError, dto::*};

/// The most panels a page holds.
const PAGE: u32 = 100;

impl Control {
    pub async fn ask(&self, ask: Ask) -> Result<Asked, ControlError> {
        let Ask { collection, prompt, system, client } = ask;
        let collection = collection.strip_prefix("bench/").unwrap_or(&collection).to_owned();
        let asked = self.gateway().ask(gateway::Ask { collection, prompt, system, client });
        asked.map(|asked| Asked { panel: asked.panel }).map_err(|error| {
            let code = match error.kind {
                Kind::NotFound => Code::NotFound,
                Kind::Unavailable => Code::Conflict,
                _ => Code::BadInput,
            };
            ControlError::new(code, error.message)
        })
    }

    pub async fn panels(&self, page: PanelsBefore) -> Result<Panels, ControlError> {
        let gateway = self.gateway().clone();
        let limit = page.limit.clamp(1, PAGE);
        // One more than asked for tells whether there are more.
        let mut panels = reading(move || gateway.panels(page.before.as_deref(), limit + 1)).await?;
        let more = panels.len() > limit as usize;
        panels.truncate(limit as usize);
        Ok(Panels { panels, more })
    }

    pub async fn panel(&self, panel: PanelId) -> Result<PanelView, ControlError> {
        let gateway = self.gateway().clone();
        let id = panel.id.clone();
        let found = reading(move || gateway.panel(&id)).await?;
        found.ok_or_else(|| ControlError::not_found(format!("There is no panel \"{}\" on record.", panel.id)))
    }

    pub async fn give_verdict(&self, given: GiveVerdict) -> Result<Recorded, ControlError> {
        let GiveVerdict { call, useful, note, real, false_claims } = given;
        let verdict = Verdict { call, useful, note, real, false_claims, by: "local".to_owned() };
        let recorded = self.gateway().give_verdict(verdict).await.map_err(verdict_error)?;
        Ok(Recorded { recorded })
    }

    pub async fn clear_verdict(&self, call: CallId) -> Result<Recorded, ControlError> {
        let recorded = self.gateway().clear_verdict(&call.call, "local").await.map_err(verdict_error)?;
        Ok(Recorded { recorded })
    }

    pub async fn owed(&self, _: Nothing) -> Result<Owed, ControlError> {
        let gateway = self.gateway().clone();
        let (panels, calls) = reading(move || gateway.owed()).await?;
        Ok(Owed { panels, calls })
    }
}

fn verdict_error(error: VerdictError) -> ControlError {
    let message = error.to_string();
    match error {
        VerdictError::Invalid { field, .. } => ControlError::bad_input(field, message),
        VerdictError::UnknownCall(_) => ControlError::not_found(message),
        VerdictError::Store(_) => ControlError::internal(message),
    }
}
