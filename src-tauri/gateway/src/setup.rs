//! The owner's set-up: an immutable snapshot that requests read, and the one way to change it.

use std::{
    collections::{HashMap, HashSet},
    sync::{Arc, MutexGuard, PoisonError},
};

use arc_swap::ArcSwap;
use catalog::{Endpoint, Facts, Model, ModelCatalog, Price};
use plan::{Collection, Roster, Setup};
use store::{AuditEntry, FactsRow, SetupChange, SetupItem, Store, StoreError};
use tokio::sync::Mutex;
use vault::Vault;

use crate::{
    evidence::Known,
    facts::{self, Book, ModelFacts, ToKeep},
    names::{Gone, Names},
    paid::{self, Paid, PaidChange},
    refresh::{Refreshed, Seen},
    under_way::UnderWay,
    unfit::{self, Unfit},
    unmasked,
    upstream::ListedModel,
};

/// What a request reads: no lock, no database.
pub struct Snapshot {
    /// With the owner's facts of the models.
    pub setup: Setup,
    /// What seating reads of it, with the facts that are in effect.
    pub(crate) roster: Roster,
    pub(crate) names: Arc<Names>,
    pub(crate) under_way: UnderWay,
    /// Aliases of models that were free, cost money now, and may not be called for it.
    paid_now: HashSet<String>,
    endpoints: HashMap<String, usize>,
    collections: HashMap<String, usize>,
}

impl Snapshot {
    fn new(setup: Setup, names: Arc<Names>, before: &UnderWay, book: &mut Book) -> Snapshot {
        let endpoints = index(setup.endpoints.iter().map(|endpoint| &endpoint.name));
        let collections = index(setup.collections.iter().map(|collection| &collection.name));
        let roster = Roster::new(&book.in_effect(&setup));
        let held = setup.models.iter().filter(|model| book.paid.held(model).is_some());
        let paid_now = held.map(|model| model.alias.clone()).collect();
        let under_way = before.next(&setup, &names);
        Snapshot { setup, roster, names, under_way, paid_now, endpoints, collections }
    }

    pub fn endpoint(&self, name: &str) -> Option<&Endpoint> {
        self.endpoints.get(name).map(|at| &self.setup.endpoints[*at])
    }

    /// A model with the facts that are in effect: to be read, never to be written back.
    pub fn model(&self, alias: &str) -> Option<&Model> {
        self.roster.get(alias).map(|it| &it.model)
    }

    pub fn collection(&self, name: &str) -> Option<&Collection> {
        self.collections.get(name).map(|at| &self.setup.collections[*at])
    }

    /// Whether a model was free, costs money now, and may not be called for it.
    pub fn has_gone_paid(&self, alias: &str) -> bool {
        self.paid_now.contains(alias)
    }

    /// Whether a model is served by the practice endpoint.
    pub fn is_practice(&self, alias: &str) -> bool {
        self.roster.get(alias).is_some_and(|it| it.practice)
    }

    /// Whether every member is a practice model: its record is kept apart.
    pub fn is_practice_collection(&self, collection: &Collection) -> bool {
        self.roster.is_practice(&collection.members)
    }
}

fn index<'a>(names: impl Iterator<Item = &'a String>) -> HashMap<String, usize> {
    names.enumerate().map(|(at, name)| (name.clone(), at)).collect()
}

/// Why the set-up was not changed.
#[derive(Debug, thiserror::Error)]
pub enum ChangeError<E> {
    /// The change itself was refused.
    #[error("{0}")]
    Refused(E),
    #[error("{0}")]
    Unfit(#[from] Unfit),
    #[error("nothing was changed, because it could not be saved: {0}")]
    NotSaved(#[from] StoreError),
}

pub(crate) struct SetupState {
    snapshot: ArcSwap<Snapshot>,
    /// Held while a change is made and saved: changes are serial.
    changing: Mutex<()>,
    book: std::sync::Mutex<Book>,
    store: Store,
}

impl SetupState {
    /// Reads the set-up from the store.
    pub(crate) fn load(store: Store) -> Result<SetupState, StoreError> {
        let setup = from_items(store.setup_items()?);
        let mut book = Book::load(&store)?;
        let names = Arc::new(Names::load(&store)?);
        Ok(SetupState {
            snapshot: ArcSwap::from_pointee(Snapshot::new(setup, names, &UnderWay::default(), &mut book)),
            changing: Mutex::new(()),
            book: std::sync::Mutex::new(book),
            store,
        })
    }

    pub(crate) fn snapshot(&self) -> Arc<Snapshot> {
        self.snapshot.load_full()
    }

    /// Makes a change: `edit` gets a copy and may refuse; what differs is saved in one transaction with its
    /// audit lines; only then do requests see it. No text of it may hold a key that the vault knows.
    pub(crate) async fn change<T, E>(
        &self,
        actor: &str,
        vault: Option<&Vault>,
        edit: impl FnOnce(&mut Setup) -> Result<T, E>,
    ) -> Result<T, ChangeError<E>> {
        let _serial = self.changing.lock().await;
        let before = self.snapshot();
        let mut after = before.setup.clone();
        let outcome = edit(&mut after).map_err(ChangeError::Refused)?;
        if let Some(vault) = vault {
            unmasked::restore(vault, &before.setup, &mut after);
        }
        let (mut changes, mut audit) = difference(&before.setup, &after, actor);
        if !changes.is_empty() {
            self.names_are_free(&before, &after).await?;
            unfit::options_are_right(&before.setup, &after)?;
            if let Some(vault) = vault {
                holds_no_key(vault, &before, &after).await?;
            }
            // What was there before may hold one.
            for entry in &mut audit {
                entry.detail = vault
                    .and_then(|vault| vault.mask(&entry.detail))
                    .unwrap_or(std::mem::take(&mut entry.detail));
            }
            let mut gone = gone(&before.setup, &after);
            for it in &mut gone {
                it.base.take_if(|base| vault.is_some_and(|vault| vault.mask(base).is_some()));
            }
            changes.extend(gone.iter().map(|it| SetupChange::GiveUpName { alias: it.alias.clone() }));
            let names = match gone.is_empty() {
                true => before.names.clone(),
                false => Arc::new(before.names.given_up(&gone)),
            };
            self.store.change_setup(changes, audit).await?;
            for row in gone.into_iter().filter_map(Gone::learned) {
                // Recording goes on without it.
                drop(self.store.keep_learned(row));
            }
            let keep = self.book().changed(&before.setup, &after);
            self.show(after, names);
            self.keep(keep).await;
        }
        Ok(outcome)
    }

    /// An alias with a call under way or in the records stands for one model at one place, for ever: of one that was
    /// removed, the ledger says which that was.
    async fn names_are_free<E>(&self, before: &Snapshot, after: &Setup) -> Result<(), ChangeError<E>> {
        // An endpoint that was made anew under the name of another may be anywhere.
        let is_elsewhere = |model: &Model| {
            let endpoint = after.endpoints.iter().find(|endpoint| endpoint.name == model.endpoint);
            endpoint.is_some_and(|endpoint| before.names.was_elsewhere(&model.alias, &endpoint.base))
        };
        for model in &after.models {
            let (alias, place) = (&model.alias, facts::place(model));
            let old = before.setup.models.iter().find(|old| old.alias == *alias);
            let was_name = old.is_some() || before.names.is_given_up(alias);
            if !was_name || old.is_some_and(|old| facts::place(old) == place) {
                continue;
            }
            if before.names.now(alias).is_some() {
                return Err(Unfit::NameGivenUp(alias.clone()).into());
            }
            if let Some((endpoint, served)) = before.under_way.elsewhere(alias, &place).cloned() {
                return Err(Unfit::UnderWay { alias: alias.clone(), endpoint, served }.into());
            }
            match self.store.last_served_under(alias.clone()).await? {
                Some(had) if old.is_none() && (had != place || is_elsewhere(model)) => {
                    return Err(Unfit::NameGivenUp(alias.clone()).into());
                }
                Some((endpoint, served)) if (&endpoint, &served) != (&place.0, &place.1) => {
                    return Err(Unfit::NameOfAnother { alias: alias.clone(), endpoint, served }.into());
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// Gives a model another alias, with all that is recorded of it, in one transaction. `edit` makes the set-up of it,
    /// or refuses.
    pub(crate) async fn rename<E>(
        &self,
        actor: &str,
        (from, to): (&str, &str),
        vault: &Vault,
        known: &Known,
        edit: impl FnOnce(&Snapshot, &mut Setup) -> Result<(), E>,
    ) -> Result<(), ChangeError<E>> {
        let _serial = self.changing.lock().await;
        let before = self.snapshot();
        let mut after = before.setup.clone();
        edit(&before, &mut after).map_err(ChangeError::Refused)?;
        holds_no_key(vault, &before, &after).await?;
        let (kind, from, to) = (MODEL.to_owned(), from.to_owned(), to.to_owned());
        let (mut changes, mut audit) = difference(&before.setup, &after, actor);
        // It is not removed, and no other is added.
        let removed = SetupChange::Remove { kind: kind.clone(), name: from.clone() };
        changes.retain(|change| *change != removed);
        let moved = [
            SetupChange::Rename { kind, from: from.clone(), to: to.clone() },
            SetupChange::MoveRecord { from: from.clone(), to: to.clone() },
        ];
        changes.splice(0..0, moved);
        let subject = |alias: &str| format!("{MODEL} {alias}");
        audit.retain(|entry| entry.subject != subject(&from) && entry.subject != subject(&to));
        audit.push(AuditEntry {
            actor: actor.to_owned(),
            action: "renamed".to_owned(),
            subject: subject(&from),
            detail: to.clone(),
        });
        self.store.change_setup(changes, audit).await?;
        let names = Arc::new(before.names.renamed(&from, &to));
        // In one step for whoever tells of a model's work: under its old name before, under its new one after.
        let mut evidence = known.evidence();
        evidence.rename(&from, &to);
        self.show(after, names);
        drop(evidence);
        Ok(())
    }

    fn show(&self, setup: Setup, names: Arc<Names>) {
        let before = self.snapshot();
        self.snapshot.store(Arc::new(Snapshot::new(setup, names, &before.under_way, &mut self.book())));
    }

    /// Takes in what an endpoint lists; whether any registered model's facts have changed.
    pub(crate) async fn listed(&self, endpoint: &Endpoint, models: &[ListedModel], at_ms: i64) -> bool {
        let _serial = self.changing.lock().await;
        let now = self.snapshot();
        // One that was changed while it was asked is somewhere else.
        let is_it = |known: &Endpoint| (&known.base, known.api) == (&endpoint.base, endpoint.api);
        if !now.endpoint(&endpoint.name).is_some_and(is_it) {
            return false;
        }
        let (keep, changed) = self.book().listed(&now.setup, endpoint, models, at_ms);
        if changed {
            self.show(now.setup.clone(), now.names.clone());
        }
        self.keep(keep).await;
        changed
    }

    /// Takes a public list of models in; whether any registered model's facts have changed.
    pub(crate) async fn refreshed(
        &self,
        source: &'static str,
        catalog: ModelCatalog,
        seen: Seen,
        at_ms: i64,
    ) -> bool {
        let _serial = self.changing.lock().await;
        let now = self.snapshot();
        let (keep, changed) = self.book().refreshed(&now.setup, source, (catalog, seen), at_ms);
        if changed {
            self.show(now.setup.clone(), now.names.clone());
        }
        self.keep(keep).await;
        changed
    }

    /// A list says what it said before.
    pub(crate) fn refreshed_again(&self, source: &str, at_ms: i64) {
        self.book().refreshed.again(source, at_ms);
    }

    pub(crate) fn refreshed_as<T>(&self, at: impl FnOnce(&Refreshed) -> T) -> T {
        at(&self.book().refreshed)
    }

    /// What calls have shown of a model; whether it is news.
    pub(crate) async fn learned(&self, model: &Model, shown: &Facts, at_ms: i64) -> bool {
        self.learns(model, |book, model| book.learn(model, shown, at_ms)).await
    }

    /// A model is tried afresh: what it has refused says nothing any more. Whether there was anything.
    pub(crate) async fn forget_refusals(&self, model: &Model) -> bool {
        self.learns(model, Book::forget_refusals).await
    }

    async fn learns(&self, model: &Model, learn: impl FnOnce(&mut Book, &Model) -> Option<FactsRow>) -> bool {
        let _serial = self.changing.lock().await;
        let now = self.snapshot();
        let is_it = |known: &&Model| (&known.endpoint, &known.served) == (&model.endpoint, &model.served);
        let Some(model) = now.setup.models.iter().find(is_it) else { return false };
        let Some(row) = learn(&mut self.book(), model) else { return false };
        self.show(now.setup.clone(), now.names.clone());
        self.keep(ToKeep { rows: vec![row], ..ToKeep::default() }).await;
        true
    }

    /// Models that cost money now and may not, and what they cost.
    pub(crate) fn paid_now(&self) -> Vec<(String, Price)> {
        let (now, book) = (self.snapshot(), self.book());
        let held = now.setup.models.iter().filter(|model| model.retired.is_none());
        held.filter_map(|model| Some((model.alias.clone(), book.paid.held(model)?.clone()))).collect()
    }

    /// Lets a model be called for money; `allow` refuses what needs none. It is in effect once it is on disk.
    pub(crate) async fn allow_paid<E>(
        &self,
        alias: &str,
        allow: impl FnOnce(&mut Paid, Option<&Model>) -> Result<PaidChange, E>,
    ) -> Result<(), ChangeError<E>> {
        let _serial = self.changing.lock().await;
        let now = self.snapshot();
        let model = now.setup.models.iter().find(|model| model.alias == alias);
        let change = allow(&mut self.book().paid, model).map_err(ChangeError::Refused)?;
        paid::keep(&self.store, vec![change]).await?;
        self.show(now.setup.clone(), now.names.clone());
        Ok(())
    }

    /// What is known of a registered model, and who says so.
    pub(crate) fn facts_of(&self, alias: &str) -> Option<ModelFacts> {
        let now = self.snapshot();
        let model = now.setup.models.iter().find(|model| model.alias == alias)?;
        Some(self.book().of(now.endpoint(&model.endpoint), model))
    }

    fn book(&self) -> MutexGuard<'_, Book> {
        self.book.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// In effect it is already; unkept, it is found out again.
    async fn keep(&self, keep: ToKeep) {
        if let Err(error) = facts::keep(&self.store, keep).await {
            tracing::warn!(%error, "what is known of models could not be kept");
        }
    }
}

async fn holds_no_key(vault: &Vault, before: &Arc<Snapshot>, after: &Setup) -> Result<(), Unfit> {
    let (vault, before, after) = (vault.clone(), before.clone(), after.clone());
    let look = move || unfit::holds_no_key(&vault, &before.setup, &after);
    tokio::task::spawn_blocking(look).await.unwrap_or(Ok(()))
}

const ENDPOINT: &str = "endpoint";
const MODEL: &str = "model";
const COLLECTION: &str = "collection";
const SHAPE: &str = "shape";
const SETTINGS: &str = "settings";

fn to_items(setup: &Setup) -> Vec<SetupItem> {
    let mut items = Vec::new();
    let mut add = |kind: &str, name: &str, body: serde_json::Result<String>| {
        // These types hold strings, numbers and maps with string keys: they always serialise.
        let body = body.unwrap_or_default();
        items.push(SetupItem { kind: kind.to_owned(), name: name.to_owned(), body });
    };
    for endpoint in &setup.endpoints {
        add(ENDPOINT, &endpoint.name, serde_json::to_string(endpoint));
    }
    for model in &setup.models {
        add(MODEL, &model.alias, serde_json::to_string(model));
    }
    for collection in &setup.collections {
        add(COLLECTION, &collection.name, serde_json::to_string(collection));
    }
    for rule in &setup.shapes {
        add(SHAPE, rule.name.name(), serde_json::to_string(rule));
    }
    add(SETTINGS, SETTINGS, serde_json::to_string(&setup.settings));
    items
}

fn from_items(items: Vec<SetupItem>) -> Setup {
    let mut setup = Setup { version: 1, ..Setup::default() };
    for item in items {
        let read = match item.kind.as_str() {
            ENDPOINT => serde_json::from_str(&item.body).map(|it| setup.endpoints.push(it)),
            MODEL => serde_json::from_str(&item.body).map(|it| setup.models.push(it)),
            COLLECTION => serde_json::from_str(&item.body).map(|it| setup.collections.push(it)),
            SHAPE => serde_json::from_str(&item.body).map(|it| setup.shapes.push(it)),
            SETTINGS => serde_json::from_str(&item.body).map(|it| setup.settings = it),
            _ => continue,
        };
        if let Err(error) = read {
            // One unreadable item must not keep the gateway from starting; it stays in the store as it is.
            tracing::error!(kind = item.kind, name = item.name, %error, "a set-up item could not be read");
        }
    }
    setup
}

/// The models that are there no more, under their alias.
fn gone(before: &Setup, after: &Setup) -> Vec<Gone> {
    let stay: HashSet<&str> = after.models.iter().map(|model| model.alias.as_str()).collect();
    let base = |name: &str| {
        let endpoint = before.endpoints.iter().find(|endpoint| endpoint.name == *name);
        endpoint.map(|endpoint| endpoint.base.clone())
    };
    let old = before.models.iter().filter(|model| !stay.contains(model.alias.as_str()));
    let gone = |model: &Model| Gone {
        alias: model.alias.clone(),
        place: facts::place(model),
        base: base(&model.endpoint),
    };
    old.map(gone).collect()
}

fn difference(before: &Setup, after: &Setup, actor: &str) -> (Vec<SetupChange>, Vec<AuditEntry>) {
    let key = |item: &SetupItem| (item.kind.clone(), item.name.clone());
    let old: HashMap<_, _> = to_items(before).into_iter().map(|item| (key(&item), item.body)).collect();
    let new = to_items(after);
    let kept: HashSet<_> = new.iter().map(key).collect();
    let mut changes = Vec::new();
    let mut audit = Vec::new();
    let mut note = |action: &str, kind: &str, name: &str, detail: &str| {
        audit.push(AuditEntry {
            actor: actor.to_owned(),
            action: action.to_owned(),
            subject: if kind == name { kind.to_owned() } else { format!("{kind} {name}") },
            detail: detail.to_owned(),
        });
    };
    for (kind, name) in old.keys().filter(|key| !kept.contains(key)) {
        note("removed", kind, name, &old[&(kind.clone(), name.clone())]);
        changes.push(SetupChange::Remove { kind: kind.clone(), name: name.clone() });
    }
    for item in new {
        match old.get(&key(&item)) {
            Some(body) if *body == item.body => continue,
            Some(_) => note("changed", &item.kind, &item.name, &item.body),
            None => note("added", &item.kind, &item.name, &item.body),
        }
        changes.push(SetupChange::Put(item));
    }
    (changes, audit)
}
