//! Whoever takes the steps: one task, from the listening on until the gateway stops.

use std::{sync::atomic::Ordering, time::Duration};

use catalog::{EndpointKind, Facts, Model};
use plan::{
    Setup, WENT_PAID,
    onboarding::{Mode, Outcome, Probed, Step},
};
use tokio_util::sync::CancellationToken;
use wire::Class;

use super::{
    item::{HAS_SUITE, Item},
    keeps_out, last, probe,
    probe::{Asked, Found},
    registered,
};
use crate::{
    clock::rfc3339,
    gateway::Gateway,
    setup::{ChangeError, Snapshot},
    view::{AlertKind, LiveEvent, OnboardingLog, OnboardingOutcome, OnboardingState as State},
};

/// What was left in the queue waits so long at start: a command that opens the gateway for itself is over by then, and
/// would cut the step off.
const SETTLE: Duration = Duration::from_secs(3);
/// What waits for something of no known end is looked at again.
const LOOK_AGAIN_MS: i64 = 30_000;
/// Who changes the set-up, for the audit log.
const ACTOR: &str = "onboarding";

/// What comes of a step.
enum Taken {
    Logged(OnboardingLog),
    /// Later: until when at most, and why.
    Waits {
        until_ms: i64,
        why: String,
    },
    /// It cannot be taken on.
    Impossible(String),
}

enum Next {
    /// Boxed: an item is large.
    Step(Box<Item>, CancellationToken),
    /// Nothing, for so long at most.
    Rest(Option<Duration>),
}

pub(crate) fn begin(gateway: &Gateway) {
    let gateway = gateway.clone();
    gateway.tasks().clone().spawn(async move {
        tokio::select! {
            () = gateway.stopping().cancelled() => return,
            () = gateway.onboarding().asked.notified() => {}
            () = tokio::time::sleep(SETTLE) => {}
        }
        loop {
            let (item, cancelled) = match next(&gateway).await {
                Next::Step(item, cancelled) => (item, cancelled),
                Next::Rest(rest) => {
                    tokio::select! {
                        () = gateway.stopping().cancelled() => return,
                        () = gateway.onboarding().woken.notified() => {}
                        () = tokio::time::sleep(rest.unwrap_or(Duration::MAX)) => {}
                    }
                    continue;
                }
            };
            let taken = tokio::select! {
                biased;
                // Begun again after the next start.
                () = gateway.stopping().cancelled() => return,
                () = cancelled.cancelled() => continue,
                taken = take(&gateway, &item) => taken,
            };
            took(&gateway, item.id, taken).await;
        }
    });
}

/// The next step: of the model that is being taken on, else of the first that has not to wait.
async fn next(gateway: &Gateway) -> Next {
    let onboarding = gateway.onboarding();
    let again = onboarding.look_again.swap(false, Ordering::AcqRel);
    let mut queue = onboarding.queue.lock().await;
    let now_ms = gateway.clock().now_ms();
    let snapshot = gateway.snapshot();
    let mut first = queue.items.iter().position(|item| item.state == State::Running);
    let mut rest_until = None;
    if first.is_none() {
        for (at, item) in queue.items.iter_mut().enumerate().filter(|(_, item)| item.state == State::Waiting)
        {
            if again {
                item.until_ms = None;
            }
            if item.until_ms.is_none_or(|until_ms| until_ms <= now_ms) {
                let Some((until_ms, why)) = held_up(gateway, &snapshot, item, now_ms) else {
                    first = Some(at);
                    break;
                };
                wait(gateway, item, until_ms, why);
            }
            rest_until = rest_until.into_iter().chain(item.until_ms).min();
        }
    }
    let Some(item) = first.and_then(|at| queue.items.get_mut(at)) else {
        let rest =
            rest_until.map(|until| Duration::from_millis(u64::try_from(until - now_ms).unwrap_or(0) + 1));
        return Next::Rest(rest);
    };
    if item.state != State::Running {
        (item.state, item.why, item.until_ms) = (State::Running, None, None);
        item.started_ms.get_or_insert(now_ms);
        gateway.keep(item);
        gateway.tell(item);
    }
    let item = Box::new(item.clone());
    let cancelled = CancellationToken::new();
    queue.under_way = Some(cancelled.clone());
    Next::Step(item, cancelled)
}

/// What a call to the model would have to wait for, that is known without making one.
fn held_up(gateway: &Gateway, snapshot: &Snapshot, item: &Item, now_ms: i64) -> Option<(i64, String)> {
    let endpoint = snapshot.endpoint(&item.place.0)?;
    let name = &endpoint.name;
    let later = now_ms + LOOK_AGAIN_MS;
    if gateway.live().is_raised(AlertKind::KeyRefused, name) {
        return Some((later, format!("the key of {name} was refused; give it a new one under Endpoints")));
    }
    let wants_key = matches!(endpoint.kind(), EndpointKind::Provider | EndpointKind::Aggregator);
    if wants_key && !gateway.has_key(endpoint) {
        return Some((later, format!("{name} has no key; give it one under Endpoints")));
    }
    let it = registered(snapshot, item)?;
    if snapshot.has_gone_paid(&it.model.alias) {
        return Some((later, WENT_PAID.to_owned()));
    }
    let until_ms = gateway.cooling(it, now_ms)?;
    Some((until_ms, "it is cooling down after a rate limit".to_owned()))
}

fn wait(gateway: &Gateway, item: &mut Item, until_ms: i64, why: String) {
    let is_news = item.state != State::Waiting || item.why.as_ref() != Some(&why);
    (item.state, item.why, item.until_ms) = (State::Waiting, Some(why), Some(until_ms));
    if is_news {
        gateway.keep(item);
        gateway.tell(item);
    }
}

/// Takes a step, and changes nothing of the queue.
async fn take(gateway: &Gateway, item: &Item) -> Taken {
    match item.step {
        Step::Listed => listed(gateway, item).await,
        step if step.is_call() => called(gateway, item, step).await,
        Step::Facts => facts(gateway, item).await,
        step => Taken::Logged(entry(gateway, step, OnboardingOutcome::Skipped, String::new())),
    }
}

/// Finds it in its endpoint's list, and registers it where it is not.
async fn listed(gateway: &Gateway, item: &Item) -> Taken {
    let (name, served) = &item.place;
    let snapshot = gateway.snapshot();
    let Some(endpoint) = snapshot.endpoint(name) else { return Taken::Impossible(no_endpoint(name)) };
    let mut said = Vec::new();
    if gateway.known().is_listed(name, served).is_none() {
        let test = gateway.test_endpoint(endpoint).await;
        if !test.ok {
            said.push(format!("{name} was asked for its models in vain: {}", test.message));
        }
    }
    let is_listed = gateway.known().is_listed(name, served);
    if is_listed == Some(false) {
        said.push(format!("{name} does not list it; it is asked all the same"));
    }
    // Not by way of `Gateway::change_setup`: limits and keys stay as they are, and what waits goes on waiting.
    let own = item.clone();
    let is_new = match whole(gateway, async move |gateway| {
        gateway.setup_state().change(ACTOR, gateway.vault().get(), |setup| register(setup, &own)).await
    })
    .await
    {
        Some(Ok(is_new)) => is_new,
        Some(Err(ChangeError::Refused(why))) => return Taken::Impossible(why),
        Some(Err(error @ ChangeError::Unfit(_))) => return Taken::Impossible(error.to_string()),
        Some(Err(ChangeError::NotSaved(error))) => {
            return Taken::Impossible(format!("it was not saved: {error}"));
        }
        None => return Taken::Impossible("it could not be registered".to_owned()),
    };
    let known = gateway.snapshot();
    if let Some(it) = registered(&known, item) {
        let model = it.model.clone();
        let forgets = async move |gateway: Gateway| gateway.setup_state().forget_refusals(&model).await;
        if whole(gateway, forgets).await == Some(true) {
            gateway.live().publish(LiveEvent::SetupChanged {});
        }
    }
    if is_new {
        gateway.live().publish(LiveEvent::SetupChanged {});
        said.push(format!("registered as {}", item.alias));
    }
    let outcome = match is_listed {
        Some(true) => OnboardingOutcome::Worked,
        Some(false) | None => OnboardingOutcome::NotSeen,
    };
    Taken::Logged(entry(gateway, Step::Listed, outcome, said.join("; ")))
}

/// Changes what is kept, to its end even where the step is cancelled: what is on disk is in memory too.
async fn whole<T: Send + 'static, F: Future<Output = T> + Send>(
    gateway: &Gateway,
    change: impl FnOnce(Gateway) -> F + Send + 'static,
) -> Option<T> {
    let own = gateway.clone();
    gateway.panel_tasks().spawn(async move { change(own).await }).await.ok()
}

/// Whether it is new.
fn register(setup: &mut Setup, item: &Item) -> Result<bool, String> {
    let (endpoint, served) = &item.place;
    let ad_hoc = item.mode == Mode::QuickAdHoc;
    let is_it = |model: &&mut Model| (&model.endpoint, &model.served) == (endpoint, served);
    if let Some(model) = setup.models.iter_mut().find(is_it) {
        if model.retired.is_some() {
            return Err(retired(&model.alias));
        }
        model.ad_hoc |= ad_hoc;
        return Ok(false);
    }
    if !setup.endpoints.iter().any(|known| known.name == *endpoint) {
        return Err(no_endpoint(endpoint));
    }
    if setup.models.iter().any(|model| model.alias == item.alias) {
        return Err(format!("the alias {} was taken meanwhile; add it again under another", item.alias));
    }
    setup.models.push(Model { ad_hoc, ..Model::new(&item.alias, endpoint, served) });
    Ok(true)
}

async fn called(gateway: &Gateway, item: &Item, step: Step) -> Taken {
    // A slow keychain: without its key a call would only be refused.
    gateway.vault().wait().await;
    let snapshot = gateway.snapshot();
    let Some(endpoint) = snapshot.endpoint(&item.place.0) else {
        return Taken::Impossible(no_endpoint(&item.place.0));
    };
    let Some(it) = registered(&snapshot, item) else {
        return Taken::Impossible("it was taken off the register meanwhile".to_owned());
    };
    if it.model.retired.is_some() {
        return Taken::Impossible(retired(&it.model.alias));
    }
    if let Some((until_ms, why)) = held_up(gateway, &snapshot, item, gateway.clock().now_ms()) {
        return Taken::Waits { until_ms, why };
    }
    let Found { outcome, seconds, first_token_s, tokens_a_s, tokens_in, tokens_out, said } =
        match probe::ask(gateway, &snapshot, it, endpoint, step).await {
            Asked::Paced { until_ms, why } => return Taken::Waits { until_ms, why },
            Asked::Found(found) => found,
        };
    let (outcome, class) = match outcome {
        Outcome::Worked => (OnboardingOutcome::Worked, None),
        Outcome::NotSeen => (OnboardingOutcome::NotSeen, None),
        Outcome::Failed(class) => (OnboardingOutcome::Failed, Some(class)),
    };
    let entry = entry(gateway, step, outcome, said);
    Taken::Logged(OnboardingLog { class, seconds, first_token_s, tokens_a_s, tokens_in, tokens_out, ..entry })
}

/// Writes down what was seen to work.
async fn facts(gateway: &Gateway, item: &Item) -> Taken {
    let snapshot = gateway.snapshot();
    let Some(it) = registered(&snapshot, item) else {
        return Taken::Impossible("it was taken off the register meanwhile".to_owned());
    };
    let seen = item.with(Some(it), |onboarded| onboarded.seen());
    let Facts { tools, vision, .. } = seen;
    let names: Vec<&str> = [tools.map(|_| "tools"), vision.map(|_| "images")].into_iter().flatten().collect();
    // Practice models are scripted: nothing is learned of them.
    if !it.practice {
        let model = it.model.clone();
        let is_news = whole(gateway, async move |gateway| {
            gateway.setup_state().learned(&model, &seen, gateway.clock().now_ms()).await
        });
        if is_news.await == Some(true) {
            gateway.live().publish(LiveEvent::SetupChanged {});
        }
    }
    let mut said = match names.as_slice() {
        [] => "nothing was seen that is worth a fact".to_owned(),
        names => format!("seen to work: {}", names.join(", ")),
    };
    if item.mode == Mode::Full && !HAS_SUITE {
        said.push_str("; there is no suite yet, so a full look ends here");
    }
    Taken::Logged(entry(gateway, Step::Facts, OnboardingOutcome::Worked, said))
}

fn entry(gateway: &Gateway, step: Step, outcome: OnboardingOutcome, said: String) -> OnboardingLog {
    let said = gateway.scrub(&said);
    OnboardingLog {
        step,
        // Told as it is logged.
        at: String::new(),
        outcome,
        class: None,
        seconds: None,
        first_token_s: None,
        tokens_a_s: None,
        tokens_in: None,
        tokens_out: None,
        said,
    }
}

/// Puts what came of a step into the queue, unless its owner has stopped it meanwhile.
async fn took(gateway: &Gateway, id: i64, taken: Taken) {
    let mut queue = gateway.onboarding().queue.lock().await;
    queue.under_way = None;
    let Some(item) = queue.items.iter_mut().find(|item| item.id == id && item.state == State::Running) else {
        return;
    };
    match taken {
        Taken::Waits { until_ms, why } => return wait(gateway, item, until_ms, why),
        Taken::Impossible(why) => end(gateway, item, State::Failed, Some(why)),
        Taken::Logged(entry) => {
            let now_ms = gateway.clock().now_ms();
            let entry = OnboardingLog { at: rfc3339(now_ms), ..entry };
            if entry.step.is_call() {
                drop(gateway.store().probed(last::row(&item.place, &entry, now_ms)));
            }
            let step = entry.step;
            item.log.push(entry);
            let snapshot = gateway.snapshot();
            let it = registered(&snapshot, item);
            let (next, probed) = item.with(it, |onboarded| (onboarded.next(step), onboarded.probed()));
            if step == Step::Facts {
                gateway.onboarding().note(&item.place, keeps_out(probed));
            }
            match next {
                Step::Done => {
                    let (state, why) = conclusion(item, probed);
                    end(gateway, item, state, why);
                }
                next => item.step = next,
            }
        }
    }
    gateway.keep(item);
    gateway.tell(item);
}

fn end(gateway: &Gateway, item: &mut Item, state: State, why: Option<String>) {
    if state == State::Done {
        item.step = Step::Done;
    }
    (item.state, item.why, item.ended_ms) = (state, why, Some(gateway.clock().now_ms()));
}

fn conclusion(item: &Item, probed: Probed) -> (State, Option<String>) {
    let last = || {
        let failed = item.log.iter().rev().find(|entry| entry.outcome == OnboardingOutcome::Failed);
        failed.map(|entry| entry.said.clone()).unwrap_or_default()
    };
    match probed {
        Probed::Answers | Probed::NotYet => (State::Done, None),
        Probed::Fails(Class::SignIn) => {
            (State::Failed, Some(format!("its endpoint's key was refused ({})", last())))
        }
        Probed::Fails(_) => {
            let why = "it is not chosen for panels until a probe is answered";
            (State::Failed, Some(format!("it does not answer: {}; {why}", last())))
        }
        Probed::Unsure(_) => {
            let why = "which may pass: probe it again later";
            (State::Failed, Some(format!("it did not answer twice ({}), {why}", last())))
        }
    }
}

fn no_endpoint(name: &str) -> String {
    format!("there is no endpoint {name} any more")
}

fn retired(alias: &str) -> String {
    format!("{alias} is retired; restore it first")
}
