//! Models are taken on (providers.md §3): one at a time, in a queue that is kept in the store and goes on after a restart.
//!
//! [`worker`] takes the steps that `plan::onboarding` names, [`probe`] is what a model is asked, and here is what the
//! owner does with the queue. The queue in memory is the truth; every change of it is written down in the order in which
//! it was made, so that the store is never more than the step under way behind.

mod item;
mod last;
mod probe;
mod worker;

use std::{
    collections::{HashMap, HashSet},
    sync::atomic::{AtomicBool, Ordering},
};

use arc_swap::ArcSwap;
use catalog::Model;
use plan::{
    Registered,
    onboarding::{Mode, Onboarded, Outcome, Probed, Step},
};
use store::{ProbeRow, Store, StoreError};
use tokio::sync::{Mutex, Notify};
use tokio_util::sync::CancellationToken;
use wire::Class;

use self::item::{HAS_SUITE, Item};
pub(crate) use self::worker::begin;
use crate::{
    gateway::Gateway,
    setup::Snapshot,
    unfit::Unfit,
    view::{LiveEvent, OnboardingQueue, OnboardingState as State},
};

/// An endpoint's name and a served id.
type Place = (String, String);

pub(crate) struct Onboarding {
    queue: Mutex<Queue>,
    /// Models whose last probe failed for a reason that asking again would not mend.
    failed: ArcSwap<HashSet<Place>>,
    /// The worker has something to look at.
    woken: Notify,
    /// Whatever waits for something is looked at again.
    look_again: AtomicBool,
    /// Its owner has asked for something: what was left in the queue at start is gone on with at once.
    asked: Notify,
}

#[derive(Default)]
struct Queue {
    /// As they are in the store, in its order.
    items: Vec<Item>,
    /// Cancels the step that is being taken.
    under_way: Option<CancellationToken>,
}

/// Why models were not put into the queue. Nothing was changed.
#[derive(Debug, thiserror::Error)]
pub enum OnboardError {
    #[error("There is no endpoint \"{0}\".")]
    UnknownEndpoint(String),
    #[error("There is no model \"{0}\".")]
    UnknownModel(String),
    #[error("{0} is retired; restore it first.")]
    Retired(String),
    /// The one at this place among those that were given.
    #[error("{message}")]
    Alias { at: usize, message: String },
    #[error("served[{at}]: the provider's id of the model, at most 256 characters")]
    Served { at: usize },
    #[error(transparent)]
    Unfit(#[from] Unfit),
    #[error("the queue could not be saved: {0}")]
    NotSaved(#[from] StoreError),
}

impl Onboarding {
    /// As it was kept. Blocks.
    pub(crate) fn load(store: &Store) -> Result<Onboarding, StoreError> {
        let mut items = Vec::new();
        for row in store.onboarding()? {
            let (id, served) = (row.id, row.served.clone());
            match Item::read(row) {
                Some(item) => items.push(item),
                None => tracing::warn!(id, served, "a model in the queue could not be read"),
            }
        }
        Ok(Onboarding {
            queue: Mutex::new(Queue { items, under_way: None }),
            failed: ArcSwap::from_pointee(failed(store.probes()?)),
            woken: Notify::new(),
            look_again: AtomicBool::new(false),
            asked: Notify::new(),
        })
    }

    /// Whether a model's last probe failed, so that it is not chosen until it is probed again.
    pub(crate) fn has_failed(&self, model: &Model) -> bool {
        let failed = self.failed.load();
        !failed.is_empty() && failed.contains(&(model.endpoint.clone(), model.served.clone()))
    }

    /// Keys or the set-up have changed: what waits for something may not have to any more.
    pub(crate) fn look_again(&self) {
        self.look_again.store(true, Ordering::Release);
        self.woken.notify_one();
    }

    fn wake(&self) {
        self.woken.notify_one();
        self.asked.notify_one();
    }

    fn note(&self, place: &Place, has_failed: bool) {
        self.failed.rcu(|failed| {
            let mut failed = HashSet::clone(failed);
            if has_failed {
                failed.insert(place.clone())
            } else {
                failed.remove(place)
            };
            failed
        });
    }
}

impl Queue {
    /// The names of models that are still to be registered.
    fn names(&self) -> impl Iterator<Item = &str> {
        self.items.iter().filter(|item| !item.is_over()).map(|item| item.alias.as_str())
    }
}

impl Gateway {
    /// The models that are being taken on, and those that were.
    pub async fn onboarding_queue(&self) -> OnboardingQueue {
        let queue = self.onboarding().queue.lock().await;
        let snapshot = self.snapshot();
        let registered: HashMap<(&str, &str), &Registered> = snapshot
            .roster
            .iter()
            .map(|it| ((it.model.endpoint.as_str(), it.model.served.as_str()), it))
            .collect();
        // Of two models at one place it is the one of its name.
        let find = |item: &Item| {
            let place = (item.place.0.as_str(), item.place.1.as_str());
            let named = snapshot.roster.get(&item.alias);
            let named = named.filter(|it| (it.model.endpoint.as_str(), it.model.served.as_str()) == place);
            named.or_else(|| registered.get(&place).copied())
        };
        let items = queue.items.iter().map(|item| item.view(find(item))).collect();
        OnboardingQueue { items, has_suite: HAS_SUITE }
    }

    /// Puts models of an endpoint (each a served id and an alias) at the end of the queue. One that waits already stays
    /// where it is; one that is registered already is probed again under the alias it has.
    pub async fn onboard(
        &self,
        endpoint: &str,
        models: Vec<(String, String)>,
        mode: Mode,
    ) -> Result<(), OnboardError> {
        let mut queue = self.onboarding().queue.lock().await;
        let snapshot = self.snapshot();
        if snapshot.endpoint(endpoint).is_none() {
            return Err(OnboardError::UnknownEndpoint(endpoint.to_owned()));
        }
        let texts = models.iter().enumerate().flat_map(|(at, (served, alias))| {
            [(format!("models[{at}].served"), served), (format!("models[{at}].alias"), alias)]
        });
        let texts = texts.map(|(field, text)| (field, text.as_str()));
        self.hold_no_key(&format!("endpoint {endpoint}"), texts).await?;
        let items = checked(&queue, &snapshot, endpoint, models, mode, self.clock().now_ms())?;
        let added = self.store().onboard(items.iter().map(Item::row).collect()).await?;
        let again: HashSet<Place> =
            added.iter().map(|row| (row.endpoint.clone(), row.served.clone())).collect();
        queue.items.retain(|item| item.is_open() || !again.contains(&item.place));
        queue.items.extend(added.into_iter().filter_map(Item::read));
        self.queue_changed();
        Ok(())
    }

    /// Probes a registered model again, after those that wait.
    pub async fn probe_model(&self, alias: &str) -> Result<(), OnboardError> {
        let snapshot = self.snapshot();
        let Some(model) = snapshot.model(alias) else {
            return Err(OnboardError::UnknownModel(alias.to_owned()));
        };
        self.onboard(&model.endpoint, vec![(model.served.clone(), alias.to_owned())], Mode::Quick).await
    }

    /// A model is called otherwise, in the queue too, where it stands after its model is gone.
    pub(crate) async fn onboarding_renamed(&self, from: &str, to: &str) {
        let mut queue = self.onboarding().queue.lock().await;
        for item in queue.items.iter_mut().filter(|item| item.alias == from) {
            to.clone_into(&mut item.alias);
        }
        self.live().publish(LiveEvent::OnboardingChanged { item: None });
    }

    /// Cancels the step that is being taken, and takes no more until the queue is resumed.
    pub async fn stop_onboarding(&self) {
        let mut queue = self.onboarding().queue.lock().await;
        if let Some(under_way) = queue.under_way.take() {
            under_way.cancel();
        }
        self.restate(&mut queue, Item::is_open, State::Stopped);
    }

    /// Goes on where the queue was stopped: a step that was cancelled is taken again.
    pub async fn resume_onboarding(&self) {
        let mut queue = self.onboarding().queue.lock().await;
        self.restate(&mut queue, |item| item.state == State::Stopped, State::Waiting);
    }

    /// Takes out of the queue what is over, and with `all` what waits or was stopped too; never what is being taken on.
    pub async fn clear_onboarding(&self, all: bool) -> Result<(), OnboardError> {
        let mut queue = self.onboarding().queue.lock().await;
        self.store().clear_onboarding(all).await?;
        queue.items.retain(|item| item.state == State::Running || !(all || item.is_over()));
        self.queue_changed();
        Ok(())
    }

    /// The aliases that no other model may have: of those that are registered, wait to be, or were once.
    pub async fn aliases_in_use(&self) -> HashSet<String> {
        let queue = self.onboarding().queue.lock().await;
        let snapshot = self.snapshot();
        let registered = snapshot.setup.models.iter().map(|model| model.alias.clone());
        let given_up = snapshot.names.all();
        registered.chain(queue.names().chain(given_up).map(str::to_owned)).collect()
    }

    /// Models of an endpoint's listing that their owner does not want to be offered.
    pub async fn dismiss(&self, endpoint: &str, served: Vec<String>) -> Result<(), OnboardError> {
        if self.snapshot().endpoint(endpoint).is_none() {
            return Err(OnboardError::UnknownEndpoint(endpoint.to_owned()));
        }
        if let Some(at) = served.iter().position(|served| !catalog::valid_served(served)) {
            return Err(OnboardError::Served { at });
        }
        let texts = served.iter().enumerate().map(|(at, served)| (format!("served[{at}]"), served.as_str()));
        self.hold_no_key(&format!("endpoint {endpoint}"), texts).await?;
        Ok(self.store().dismiss(endpoint.to_owned(), served).await?)
    }

    pub async fn restore_dismissed(&self, endpoint: &str, served: Vec<String>) -> Result<(), OnboardError> {
        Ok(self.store().restore_dismissed(endpoint.to_owned(), served).await?)
    }

    /// The served ids of an endpoint's models that are not to be offered. Blocks.
    pub fn dismissed(&self, endpoint: &str) -> Result<HashSet<String>, StoreError> {
        Ok(self.store().dismissed(endpoint)?.into_iter().collect())
    }

    /// An endpoint that is elsewhere now serves other models: what probes found of those before says nothing.
    pub(crate) fn onboarding_elsewhere(&self, before: &Snapshot) {
        let now = self.snapshot();
        let stays = |old: &catalog::Endpoint| {
            now.endpoint(&old.name).is_some_and(|new| (&new.base, new.api) == (&old.base, old.api))
        };
        for old in before.setup.endpoints.iter().filter(|old| !stays(old)) {
            let name = old.name.clone();
            self.onboarding().failed.rcu(|failed| {
                failed.iter().filter(|(endpoint, _)| *endpoint != name).cloned().collect::<HashSet<_>>()
            });
            // Recording goes on without it, and it is written before what comes later.
            drop(self.store().forget_probes(name));
        }
    }

    fn restate(&self, queue: &mut Queue, which: impl Fn(&Item) -> bool, state: State) {
        for item in queue.items.iter_mut().filter(|item| which(item)) {
            (item.state, item.why, item.until_ms) = (state, None, None);
            self.keep(item);
        }
        self.queue_changed();
    }

    /// Writes down how an item stands; the writes are made in their order.
    fn keep(&self, item: &Item) {
        drop(self.store().onboarding_changed(item.row()));
    }

    fn tell(&self, item: &Item) {
        let view = item.view(registered(&self.snapshot(), item));
        self.live().publish(LiveEvent::OnboardingChanged { item: Some(Box::new(view)) });
    }

    fn queue_changed(&self) {
        self.live().publish(LiveEvent::OnboardingChanged { item: None });
        self.onboarding().wake();
    }
}

/// The model of an item, where it is registered, under whatever alias.
fn registered<'a>(snapshot: &'a Snapshot, item: &Item) -> Option<&'a Registered> {
    let is_it = |it: &&Registered| (&it.model.endpoint, &it.model.served) == (&item.place.0, &item.place.1);
    snapshot.roster.get(&item.alias).filter(is_it).or_else(|| snapshot.roster.iter().find(is_it))
}

/// The models as items that wait, each under a name that no other has.
fn checked(
    queue: &Queue,
    snapshot: &Snapshot,
    endpoint: &str,
    models: Vec<(String, String)>,
    mode: Mode,
    now_ms: i64,
) -> Result<Vec<Item>, OnboardError> {
    let here = snapshot.setup.models.iter().filter(|model| model.endpoint == endpoint);
    let registered: HashMap<&str, &Model> = here.map(|model| (model.served.as_str(), model)).collect();
    let mut taken: HashMap<&str, &str> =
        snapshot.setup.models.iter().map(|model| (model.alias.as_str(), "")).collect();
    let waiting = queue.items.iter().filter(|item| !item.is_over());
    taken.extend(waiting.map(|item| (item.alias.as_str(), item.place.1.as_str())));
    let mut items = Vec::new();
    let mut given = HashSet::new();
    for (at, (served, alias)) in models.into_iter().enumerate() {
        let wrong = |message: String| OnboardError::Alias { at, message };
        let alias = match registered.get(served.as_str()) {
            Some(model) if model.retired.is_some() => return Err(OnboardError::Retired(model.alias.clone())),
            Some(model) => model.alias.clone(),
            None => {
                let model = Model::new(alias, endpoint, &served);
                model.check().map_err(|error| wrong(error.message))?;
                let is_taken = taken.get(model.alias.as_str()).is_some_and(|other| *other != served);
                if is_taken || given.contains(&model.alias) {
                    return Err(wrong(format!("The alias {} is taken; choose another.", model.alias)));
                }
                model.alias
            }
        };
        given.insert(alias.clone());
        items.push(Item {
            id: 0,
            place: (endpoint.to_owned(), served),
            alias,
            mode,
            state: State::Waiting,
            step: Step::Listed,
            added_ms: now_ms,
            started_ms: None,
            ended_ms: None,
            why: None,
            log: Vec::new(),
            until_ms: None,
        });
    }
    Ok(items)
}

/// Which models' last probe failed, by what was found at each step.
fn failed(rows: Vec<ProbeRow>) -> HashSet<Place> {
    let mut by_place: HashMap<Place, Vec<ProbeRow>> = HashMap::new();
    for row in rows {
        by_place.entry((row.endpoint.clone(), row.served.clone())).or_default().push(row);
    }
    let has_failed = |rows: &Vec<ProbeRow>| {
        // Every probe begins with a word: what was found before it is of an earlier one.
        let begun_ms = rows.iter().find(|row| row.step == Step::Word.name()).map_or(0, |row| row.at_ms);
        let mut outcomes: Vec<(Step, Outcome)> = rows
            .iter()
            .filter(|row| row.at_ms >= begun_ms)
            .filter_map(|row| Some((Step::named(&row.step)?, found(row))))
            .collect();
        outcomes.sort_by_key(|(step, _)| *step);
        let onboarded = Onboarded {
            mode: Mode::Quick,
            facts: &catalog::Facts::default(),
            has_suite: HAS_SUITE,
            outcomes: &outcomes,
        };
        keeps_out(onboarded.probed())
    };
    by_place.into_iter().filter(|(_, rows)| has_failed(rows)).map(|(place, _)| place).collect()
}

fn found(row: &ProbeRow) -> Outcome {
    let class = row.class.as_ref().map(|class| {
        serde_json::from_value(serde_json::Value::String(class.clone())).unwrap_or(Class::Other)
    });
    match class {
        Some(class) => Outcome::Failed(class),
        None if row.ok => Outcome::Worked,
        None => Outcome::NotSeen,
    }
}

/// Whether a model is not chosen after such a probe. A refused key is its endpoint's matter, and is seen there.
fn keeps_out(probed: Probed) -> bool {
    matches!(probed, Probed::Fails(class) if class != Class::SignIn)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(step: &str, at_ms: i64, class: Option<&str>) -> ProbeRow {
        ProbeRow {
            endpoint: "lab".to_owned(),
            served: "a".to_owned(),
            step: step.to_owned(),
            at_ms,
            ok: class.is_none(),
            class: class.map(str::to_owned),
            ..ProbeRow::default()
        }
    }

    #[test]
    fn the_last_probe_says_who_is_kept_out() {
        for (rows, wanted) in [
            (vec![], false),
            (vec![row("word", 1, None)], false),
            (vec![row("word", 1, Some("not_found"))], true),
            // It answered once, and is gone now.
            (vec![row("word", 9, Some("not_found")), row("tool", 2, None), row("large", 1, None)], true),
            // It was gone once, and answers now.
            (vec![row("word", 9, None), row("word_again", 2, Some("not_found"))], false),
            (vec![row("word", 1, Some("timeout")), row("word_again", 2, Some("paywalled"))], true),
            (vec![row("word", 1, Some("timeout")), row("word_again", 2, None)], false),
            (vec![row("word", 1, Some("capacity")), row("word_again", 2, Some("capacity"))], false),
            (vec![row("word", 1, Some("sign_in"))], false),
            (vec![row("word", 1, Some("a class of a later version"))], false),
        ] {
            assert_eq!(!failed(rows.clone()).is_empty(), wanted, "{rows:?}");
        }
    }
}
