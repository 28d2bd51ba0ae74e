use gateway::{
    Verdict, VerdictError,
    view::{PanelPreview, PanelView},
};
use plan::{Collection, Shape};
use wire::{Kind, ReplyMode};

use super::{page, reading};
use crate::{Code, Control, ControlError, dto::*};

impl Control {
    pub async fn ask(&self, ask: Ask) -> Result<Asked, ControlError> {
        let Ask { collection, prompt, system, images, with, reply, client } = ask;
        let collection = collection.strip_prefix("bench/").unwrap_or(&collection).to_owned();
        let reply = match reply.as_str() {
            "" => None,
            "all" => Some(ReplyMode::All),
            "merged" => Some(ReplyMode::Merged),
            other => {
                let message = format!("reply: \"{other}\" is neither all nor merged");
                return Err(ControlError::bad_input("reply", message));
            }
        };
        let ask = gateway::Ask { collection, prompt, system, images, with, reply, client };
        let asked = self.gateway().ask(ask);
        asked.map(|asked| Asked { panel: asked.panel }).map_err(|error| {
            let code = match error.kind {
                Kind::NotFound => Code::NotFound,
                Kind::Unavailable => Code::Conflict,
                _ => Code::BadInput,
            };
            ControlError::new(code, error.message)
        })
    }

    pub async fn panels(&self, asked: PanelsBefore) -> Result<Panels, ControlError> {
        let gateway = self.gateway().clone();
        let read = move |limit| gateway.panels(asked.before.as_deref(), limit);
        let (panels, more) = page(asked.limit, read).await?;
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

    pub async fn search(&self, search: Search) -> Result<SearchHits, ControlError> {
        let gateway = self.gateway().clone();
        let read = move |limit| gateway.search(&search.query, search.before.as_deref(), limit);
        let (found, more) = page(search.limit, read).await?;
        let hit = |(panel, calls, in_prompt)| SearchHit { panel, in_prompt, calls };
        Ok(SearchHits { hits: found.into_iter().map(hit).collect(), more })
    }

    pub async fn preview_panel(&self, preview: PreviewPanel) -> Result<PanelPreview, ControlError> {
        let PreviewPanel { collection, members, shape } = preview;
        let name = collection.strip_prefix("bench/").unwrap_or(&collection);
        let snapshot = self.gateway().snapshot();
        let mut draft = match (snapshot.collection(name), name) {
            (Some(collection), _) => collection.clone(),
            (None, "") => Collection::new("", Vec::<String>::new()),
            // One that is being made has members of its own, and no name on record.
            (None, name) if members.is_some() => Collection::new(name, Vec::<String>::new()),
            (None, name) => {
                return Err(ControlError::not_found(format!("There is no collection \"{name}\".")));
            }
        };
        if let Some(members) = members {
            draft.members = members;
        }
        if let Some(shape) = shape {
            let known = snapshot.setup.shapes();
            if !shape.is_empty() && known.get(&shape).is_none() {
                let message = format!("shape: there is no shape \"{shape}\"; use one of {}", known.names());
                return Err(ControlError::bad_input("shape", message));
            }
            draft.shape = (!shape.is_empty()).then(|| Shape::new(shape));
        }
        Ok(self.gateway().preview(draft))
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
