//! `bench onboard`: the models that are being registered and probed, and following them to their end.

use std::collections::{HashMap, HashSet};

use control::dto::{
    ClearOnboarding, Nothing, OnboardingItem, OnboardingLog, OnboardingMode, OnboardingOutcome,
    OnboardingQueue, OnboardingState, OnboardingStep,
};
use control::view::LiveEvent;
use control::{Remote, RemoteEvents};

use crate::args::Onboard;
use crate::failure::Failure;
use crate::out::Out;
use crate::paint::Look;
use crate::reach::Reached;
use crate::table::Table;

pub async fn onboard(remote: &Remote, command: Option<&Onboard>, out: Out) -> Result<(), Failure> {
    let queue = match command {
        None | Some(Onboard::Status) => remote.onboarding(Nothing {}).await?,
        Some(Onboard::Stop) => remote.stop_onboarding(Nothing {}).await?,
        Some(Onboard::Resume) => remote.resume_onboarding(Nothing {}).await?,
        Some(Onboard::Clear { all }) => remote.clear_onboarding(ClearOnboarding { all: *all }).await?,
    };
    if out.json { Ok(out.json(&queue)?) } else { show(&queue.items, out) }
}

/// Events of the gateway, from before anything was put into the queue.
pub struct Following(RemoteEvents);

/// An endpoint's name and a served id.
type Place = (String, String);

impl Following {
    pub async fn begin(remote: &Remote) -> Result<Following, Failure> {
        let mut events = remote.events().await?;
        // The snapshot: from here on nothing is missed.
        events.next().await?;
        Ok(Following(events))
    }

    /// Tells what comes of these models as it comes, to standard error; what came of them in the end, to standard output.
    pub async fn until_over(
        mut self,
        at: &Reached,
        places: Vec<Place>,
        queue: OnboardingQueue,
        out: Out,
    ) -> Result<(), Failure> {
        let mut told = Told { places: places.into_iter().collect(), items: HashMap::new(), out };
        told.queue(queue);
        while told.items.values().any(|item| is_open(item.state)) {
            let event = tokio::select! {
                event = self.0.next() => event?,
                _ = tokio::signal::ctrl_c() => {
                    out.note(match at.is_own() {
                        true => "bench: the rest goes on when a gateway runs again (bench serve); bench onboard shows it",
                        false => "bench: the rest goes on in the gateway; bench onboard shows how far it is",
                    });
                    return Err(Failure::Interrupted);
                }
            };
            match event {
                Some(LiveEvent::OnboardingChanged { item: Some(item) }) => told.item(*item),
                Some(LiveEvent::OnboardingChanged { item: None } | LiveEvent::Missed {}) => {
                    told.queue(at.remote.onboarding(Nothing {}).await?);
                }
                Some(_) => {}
                None => {
                    return Err(Failure::refused(
                        "the gateway has stopped; the rest goes on when it runs again",
                    ));
                }
            }
        }
        let mut items: Vec<OnboardingItem> = told.items.into_values().collect();
        items.sort_by_key(|item| item.id);
        show(&items, out)?;
        let failed = items.iter().any(|item| item.state == OnboardingState::Failed);
        if failed { Err(Failure::Said) } else { Ok(()) }
    }
}

struct Told {
    places: HashSet<Place>,
    /// The models that are followed, by their place in the queue, as they were last told.
    items: HashMap<i64, OnboardingItem>,
    out: Out,
}

impl Told {
    fn queue(&mut self, queue: OnboardingQueue) {
        // What was cleared is not waited for.
        self.items.retain(|id, _| queue.items.iter().any(|item| item.id == *id));
        queue.items.into_iter().for_each(|item| self.item(item));
    }

    fn item(&mut self, item: OnboardingItem) {
        if !self.places.contains(&(item.endpoint.clone(), item.served.clone())) {
            return;
        }
        let before = self.items.get(&item.id);
        let known = before.map_or(0, |before| before.log.len());
        if !self.out.json {
            for entry in item.log.iter().skip(known) {
                self.out.note(&format!("{}: {}", item.alias, in_words(entry)));
            }
            let is_news = before.is_none_or(|before| before.why != item.why);
            if let Some(why) = item.why.as_ref().filter(|_| is_news && item.state == OnboardingState::Waiting)
            {
                self.out.note(&format!("{} waits: {why}", item.alias));
            }
        }
        self.items.insert(item.id, item);
    }
}

fn show(items: &[OnboardingItem], out: Out) -> Result<(), Failure> {
    if out.json {
        return Ok(out.json(&items)?);
    }
    let mut table = Table::new(&["alias", "endpoint", "how", "state", "first token", "tokens/s", "seen", ""]);
    for item in items {
        let (state, look) = match item.state {
            OnboardingState::Waiting => ("waits".to_owned(), Look::Dim),
            OnboardingState::Running => (progress(item), Look::Plain),
            OnboardingState::Done => ("done".to_owned(), Look::Good),
            OnboardingState::Failed => ("failed".to_owned(), Look::Bad),
            OnboardingState::Stopped => (format!("stopped, {}", progress(item)), Look::Dim),
        };
        let best = item.log.iter().filter(|entry| entry.first_token_s.is_some());
        let warm = best.clone().find(|entry| entry.step == OnboardingStep::WordAgain).or(best.clone().next());
        let first = warm.and_then(|entry| entry.first_token_s).map(|seconds| format!("{seconds:.2} s"));
        let speed =
            best.filter_map(|entry| entry.tokens_a_s).reduce(f64::max).map(|speed| format!("{speed:.0}"));
        let until = item.until.as_ref().map(|until| format!(" (until {until})")).unwrap_or_default();
        let why = item.why.as_ref().map(|why| format!("{why}{until}")).unwrap_or_default();
        table.row([
            (item.alias.clone(), Look::Plain),
            (item.endpoint.clone(), Look::Plain),
            (mode(item.mode).to_owned(), Look::Dim),
            (state, look),
            (first.unwrap_or_default(), Look::Plain),
            (speed.unwrap_or_default(), Look::Plain),
            (seen(item), Look::Plain),
            (why, if item.state == OnboardingState::Failed { Look::Bad } else { Look::Dim }),
        ]);
    }
    Ok(table.print(out, "no models in the queue")?)
}

/// `step 3 of 8: large prompt`
fn progress(item: &OnboardingItem) -> String {
    let at = item.steps.iter().position(|step| *step == item.step).map_or(0, |at| at + 1);
    // The last one is that there is none left.
    format!("step {at} of {}: {}", item.steps.len().saturating_sub(1), step(item.step))
}

fn seen(item: &OnboardingItem) -> String {
    let worked = |step: OnboardingStep| {
        item.log.iter().any(|entry| entry.step == step && entry.outcome == OnboardingOutcome::Worked)
    };
    let names = [
        (OnboardingStep::Large, "large prompts"),
        (OnboardingStep::Tool, "tools"),
        (OnboardingStep::Vision, "images"),
    ];
    names.into_iter().filter(|(step, _)| worked(*step)).map(|(_, name)| name).collect::<Vec<_>>().join(", ")
}

fn in_words(entry: &OnboardingLog) -> String {
    let outcome = match entry.outcome {
        OnboardingOutcome::Worked => "ok",
        OnboardingOutcome::NotSeen => "not seen",
        OnboardingOutcome::Failed => "failed",
        OnboardingOutcome::Skipped => "left out",
    };
    let seconds = entry.seconds.map(|seconds| format!(" in {seconds:.2} s")).unwrap_or_default();
    let said = if entry.said.is_empty() { String::new() } else { format!("; {}", entry.said) };
    format!("{} {outcome}{seconds}{said}", step(entry.step))
}

fn is_open(state: OnboardingState) -> bool {
    matches!(state, OnboardingState::Waiting | OnboardingState::Running)
}

pub fn step(step: OnboardingStep) -> &'static str {
    match step {
        OnboardingStep::Listed => "list",
        OnboardingStep::Word => "a word",
        OnboardingStep::WordAgain => "a word again",
        OnboardingStep::Large => "large prompt",
        OnboardingStep::Tool => "tool call",
        OnboardingStep::Vision => "picture",
        OnboardingStep::Facts => "facts",
        OnboardingStep::Suite => "suite",
        OnboardingStep::Done => "done",
    }
}

fn mode(mode: OnboardingMode) -> &'static str {
    match mode {
        OnboardingMode::Full => "full",
        OnboardingMode::Quick => "quick",
        OnboardingMode::QuickAdHoc => "quick, ad hoc",
    }
}
