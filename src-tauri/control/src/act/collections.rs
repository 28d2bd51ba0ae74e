use plan::{Collection, Shape, WhenTooLarge};

use wire::ReplyMode;

use super::{ACTOR, refused, setup::collection_view};
use crate::{Control, ControlError, dto::*};

impl Control {
    pub async fn save_collection(&self, save: SaveCollection) -> Result<CollectionView, ControlError> {
        let shape = (!save.shape.is_empty()).then(|| Shape::new(save.shape.as_str()));
        let when_too_large = match save.when_too_large.as_str() {
            "" | "refuse" => WhenTooLarge::Refuse,
            "skip" => WhenTooLarge::Skip,
            other => {
                let message = format!("when_too_large: \"{other}\" is neither refuse nor skip");
                return Err(ControlError::bad_input("when_too_large", message));
            }
        };
        let name = save.name.clone();
        self.gateway()
            .change_setup(ACTOR, |setup| {
                let at = match &save.was {
                    Some(was) => {
                        Some(setup.collections.iter().position(|it| it.name == *was).ok_or_else(|| {
                            ControlError::not_found(format!("There is no collection \"{was}\" any more."))
                        })?)
                    }
                    None => None,
                };
                let old = at.map(|at| setup.collections[at].clone());
                let kept = old.as_ref().map_or(ReplyMode::All, |old| old.reply);
                let reply = save.reply.as_deref().map_or(Ok(kept), reply_mode)?;
                let merger = match save.merger {
                    Some(merger) => (!merger.is_empty()).then_some(merger),
                    None => old.as_ref().and_then(|old| old.merger.clone()),
                };
                let (kept_shadow, kept_share, kept_tokens) =
                    old.as_ref().map_or((0, 1.0, 0), |old| (old.shadow, old.shadow_share, old.shadow_tokens));
                let collection = Collection {
                    budget: match (save.no_budget, save.budget) {
                        (true, _) => None,
                        (false, Some(budget)) => Some(budget),
                        (false, None) => old.as_ref().and_then(|old| old.budget.clone()),
                    },
                    shadow: save.shadow.unwrap_or(kept_shadow),
                    shadow_share: save.shadow_share.unwrap_or(kept_share),
                    shadow_tokens: save.shadow_tokens.unwrap_or(kept_tokens),
                    name: save.name,
                    description: save.description.trim().to_owned(),
                    tags: save.tags,
                    members: save.members,
                    shape,
                    when_too_large,
                    reply,
                    merger,
                };
                let others: Vec<Collection> = setup
                    .collections
                    .iter()
                    .filter(|it| Some(&it.name) != save.was.as_ref())
                    .cloned()
                    .collect();
                plan::check_collection(&collection, &setup.models, &setup.shapes(), &setup.settings, &others)
                    .map_err(first)?;
                match at {
                    Some(at) => setup.collections[at] = collection,
                    None => setup.collections.push(collection),
                }
                Ok(())
            })
            .await
            .map_err(refused)?;
        let snapshot = self.gateway().snapshot();
        let saved = snapshot.collection(&name).map(|collection| collection_view(&snapshot, collection));
        saved.ok_or_else(|| ControlError::not_found(format!("There is no collection \"{name}\" any more.")))
    }

    pub async fn delete_collection(&self, name: Name) -> Result<Nothing, ControlError> {
        self.gateway()
            .change_setup(ACTOR, |setup| {
                let before = setup.collections.len();
                setup.collections.retain(|collection| collection.name != name.name);
                if setup.collections.len() == before {
                    return Err(ControlError::not_found(format!(
                        "There is no collection \"{}\".",
                        name.name
                    )));
                }
                Ok(Nothing {})
            })
            .await
            .map_err(refused)
    }
}

fn reply_mode(word: &str) -> Result<ReplyMode, ControlError> {
    match word {
        "all" => Ok(ReplyMode::All),
        "merged" => Ok(ReplyMode::Merged),
        "route" => Ok(ReplyMode::Route),
        other => {
            let message = format!("reply: \"{other}\" is none of all, merged, route");
            Err(ControlError::bad_input("reply", message))
        }
    }
}

fn first(errors: Vec<plan::CollectionError>) -> ControlError {
    match errors.into_iter().next() {
        Some(error) => {
            let message = format!("{}: {}", error.field, error.message);
            ControlError::bad_input(error.field, message)
        }
        None => ControlError::internal("The collection was refused for no stated reason."),
    }
}
