//! What models are called, and were once: a name that was given up is not given to another model, and leads to what its
//! own is called now.

use std::collections::HashMap;

use plan::Setup;
use store::{LearnedRow, Store, StoreError};

use crate::{
    facts::Place,
    gateway::Gateway,
    setup::{ChangeError, Snapshot},
    view::LiveEvent,
};

/// Names that were given up.
#[derive(Clone, Debug, Default)]
pub(crate) struct Names(HashMap<String, GivenUp>);

#[derive(Clone, Debug, Default)]
struct GivenUp {
    /// What its model is called now; nothing where it is not there any more.
    now: Option<String>,
    /// Where its model was reached when it was removed, if that is known.
    base: Option<String>,
}

/// A model that is in the set-up no more.
pub(crate) struct Gone {
    pub alias: String,
    /// Its endpoint and its served id.
    pub place: Place,
    /// Where its endpoint was, if that is known.
    pub base: Option<String>,
}

impl Gone {
    /// Where it was, as it is kept.
    pub(crate) fn learned(self) -> Option<LearnedRow> {
        let Gone { alias, place: (endpoint, served), base } = self;
        let what = format!("{BASE_OF}{alias}");
        Some(LearnedRow { endpoint, served, what, body: base?, ..LearnedRow::default() })
    }
}

/// What is kept of a model that was removed: with its alias behind it.
const BASE_OF: &str = "base of ";

/// Why a model was not given another name.
#[derive(Debug, thiserror::Error)]
pub enum RenameError {
    #[error("There is no model \"{0}\".")]
    Unknown(String),
    #[error("The alias {0} is taken; choose another.")]
    Taken(String),
    #[error("The alias {alias} was {of}, and its record is under it; choose another.")]
    GivenUp { alias: String, of: String },
    #[error("{0} is a practice model, which is built in and stays as it is.")]
    Practice(String),
    /// What is wrong with the new alias.
    #[error("{0}")]
    Bad(String),
}

impl Names {
    /// Blocks.
    pub(crate) fn load(store: &Store) -> Result<Names, StoreError> {
        let mut names: HashMap<String, GivenUp> =
            store.names()?.into_iter().map(|row| (row.alias, GivenUp { now: row.now, base: None })).collect();
        for row in store.learned()? {
            if let Some(name) = row.what.strip_prefix(BASE_OF).and_then(|alias| names.get_mut(alias)) {
                name.base = Some(row.body);
            }
        }
        Ok(Names(names))
    }

    /// As the store has them once `from` is called `to`: names that led to it lead on, and one that its model takes up
    /// again leads nowhere.
    pub(crate) fn renamed(&self, from: &str, to: &str) -> Names {
        let mut names = self.0.clone();
        for it in names.values_mut().filter(|it| it.now.as_deref() == Some(from)) {
            it.now = Some(to.to_owned());
        }
        names.remove(to);
        names.insert(from.to_owned(), GivenUp { now: Some(to.to_owned()), base: None });
        Names(names)
    }

    /// As the store has them once these are no model's name any more: names that led to them lead nowhere.
    pub(crate) fn given_up(&self, gone: &[Gone]) -> Names {
        let mut names = self.0.clone();
        for Gone { alias, base, .. } in gone {
            names.values_mut().filter(|it| it.now.as_ref() == Some(alias)).for_each(|it| it.now = None);
            names.insert(alias.clone(), GivenUp { now: None, base: base.clone() });
        }
        Names(names)
    }

    /// Whether the model that had the name was reached somewhere else.
    pub(crate) fn was_elsewhere(&self, alias: &str, base: &str) -> bool {
        let had = self.0.get(alias).and_then(|it| it.base.as_deref());
        had.is_some_and(|had| had.trim_end_matches('/') != base.trim_end_matches('/'))
    }

    /// Every name that was given up.
    pub(crate) fn all(&self) -> impl Iterator<Item = &str> {
        self.0.keys().map(String::as_str)
    }

    /// Whether a name was given up, and with it what was done under it.
    pub(crate) fn is_given_up(&self, alias: &str) -> bool {
        self.0.contains_key(alias)
    }

    /// What a given-up name's model is called now; `None` for a name that was never given up, and for one whose model is
    /// gone.
    pub(crate) fn now(&self, alias: &str) -> Option<&str> {
        self.0.get(alias)?.now.as_deref()
    }
}

impl Snapshot {
    /// What the model of an alias is called in this set-up, whatever it was called when its work began.
    pub(crate) fn called_now<'a>(&'a self, alias: &'a str) -> &'a str {
        self.names.now(alias).unwrap_or(alias)
    }

    /// Whether a name is a model's, or was one's once.
    pub(crate) fn is_name_used(&self, alias: &str) -> bool {
        self.names.0.contains_key(alias) || self.setup.models.iter().any(|model| model.alias == alias)
    }
}

impl Gateway {
    /// Whether a name is a model's, or was one's once: it is not given to another.
    pub fn is_name_used(&self, alias: &str) -> bool {
        self.snapshot().is_name_used(alias)
    }

    /// What a model is called now, whose work began under this alias.
    pub(crate) fn called_now(&self, alias: &str) -> String {
        self.snapshot().called_now(alias).to_owned()
    }

    /// Whether the owner has retired or removed a model since its work began; renamed, it is still there.
    pub(crate) fn is_gone(&self, alias: &str) -> bool {
        let now = self.snapshot();
        now.model(now.called_now(alias)).is_none_or(|model| model.retired.is_some())
    }

    /// Gives a model another alias. Its record, its seats in collections and its conversations follow; what is under way
    /// ends under the new name. A model may take up a name again that was its own.
    pub async fn rename_model(
        &self,
        actor: &str,
        from: &str,
        to: &str,
    ) -> Result<(), ChangeError<RenameError>> {
        if from == to {
            return Ok(());
        }
        // A caller that hangs up does not leave a name on disk that nobody here was told of.
        let (gateway, actor) = (self.clone(), actor.to_owned());
        let (from, to) = (from.to_owned(), to.to_owned());
        let renaming = async move { gateway.rename(&actor, &from, &to).await };
        self.panel_tasks().spawn(renaming).await.unwrap_or(Err(StoreError::Closed.into()))
    }

    async fn rename(&self, actor: &str, from: &str, to: &str) -> Result<(), ChangeError<RenameError>> {
        // A verdict goes to the evidence under the name that it was written with.
        let in_turn = self.known().verdicts().await;
        let vault = self.vault().wait().await;
        let edit = |before: &Snapshot, setup: &mut Setup| renamed(before, setup, from, to);
        self.setup_state().rename(actor, (from, to), vault, self.known(), edit).await?;
        drop(in_turn);
        self.conversations().lock().renamed(from, to);
        self.onboarding_renamed(from, to).await;
        self.live().renamed(from, to);
        self.tell_paid();
        self.tell_retiring();
        self.live().publish(LiveEvent::SetupChanged {});
        Ok(())
    }
}

/// The set-up in which `from` is called `to`.
fn renamed(before: &Snapshot, setup: &mut Setup, from: &str, to: &str) -> Result<(), RenameError> {
    let unknown = || RenameError::Unknown(from.to_owned());
    if setup.is_practice_model(from) {
        return Err(RenameError::Practice(from.to_owned()));
    }
    let at = setup.models.iter().position(|model| model.alias == from).ok_or_else(unknown)?;
    if setup.models.iter().any(|model| model.alias == to) {
        return Err(RenameError::Taken(to.to_owned()));
    }
    if before.is_name_used(to) && before.names.now(to) != Some(from) {
        let of = match before.names.now(to) {
            Some(now) => format!("the name of {now} once"),
            None => "the name of a model that is gone".to_owned(),
        };
        return Err(RenameError::GivenUp { alias: to.to_owned(), of });
    }
    to.clone_into(&mut setup.models[at].alias);
    setup.models[at].check().map_err(|error| RenameError::Bad(error.message))?;
    for collection in &mut setup.collections {
        let members = collection.members.iter_mut().chain(collection.merger.as_mut());
        members.filter(|alias| *alias == from).for_each(|alias| to.clone_into(alias));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_of_a_model_that_goes_leads_nowhere() {
        let base = "https://example.com/v1";
        let place = ("fake".to_owned(), "a".to_owned());
        let gone = Gone { alias: "omega".to_owned(), place, base: Some(base.to_owned()) };
        let names = Names::default().renamed("alpha", "omega").given_up(&[gone]);
        assert!(
            names.was_elsewhere("omega", "https://example.org/v1") && !names.was_elsewhere("omega", base)
        );
        assert!(!names.was_elsewhere("alpha", "https://example.org/v1"), "nobody knows");
        assert_eq!((names.now("alpha"), names.now("omega")), (None, None));
        assert!(names.is_given_up("alpha") && names.is_given_up("omega") && !names.is_given_up("psi"));
    }

    #[test]
    fn names_lead_to_what_their_model_is_called_in_the_end() {
        let names = Names::default().renamed("alpha", "omega").renamed("omega", "psi");
        assert_eq!(
            (names.now("alpha"), names.now("omega"), names.now("psi")),
            (Some("psi"), Some("psi"), None)
        );
        let names = names.renamed("psi", "alpha");
        assert_eq!(
            (names.now("alpha"), names.now("omega"), names.now("psi")),
            (None, Some("alpha"), Some("alpha"))
        );
    }
}
