//! The steps by which a model is taken on (providers.md §3): which comes next, and what they have shown.

use catalog::Facts;
use serde::{Deserialize, Serialize};
use wire::Class;

/// How thoroughly a model is looked at.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ts_rs::TS)]
#[serde(rename_all = "snake_case")]
#[ts(rename = "OnboardingMode")]
pub enum Mode {
    /// The probe, then the suite; without a suite it is as quick.
    Full,
    /// The probe.
    #[default]
    Quick,
    /// The probe, of a model that is never chosen automatically.
    QuickAdHoc,
}

/// One step, in the order in which they are taken. Whichever was begun when the program ended is begun again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, ts_rs::TS)]
#[serde(rename_all = "snake_case")]
#[ts(rename = "OnboardingStep")]
pub enum Step {
    /// It is found in its endpoint's listing, and registered.
    Listed,
    /// A one-word answer.
    Word,
    /// The same again, for how fast it is when warm.
    WordAgain,
    /// About 18 KB of prompt.
    Large,
    /// A call of the tool `get_time`.
    Tool,
    /// What shape a picture shows.
    Vision,
    /// What was seen is written down.
    Facts,
    Suite,
    Done,
}

/// How a step went.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// What was asked for was seen.
    Worked,
    /// An answer came, but not what was asked for: no tool was called, another shape was named.
    NotSeen,
    Failed(Class),
}

/// What the steps depend on.
#[derive(Clone, Copy, Debug)]
pub struct Onboarded<'a> {
    pub mode: Mode,
    /// As they are without the probe.
    pub facts: &'a Facts,
    pub has_suite: bool,
    /// Of the steps taken so far; of one that was taken twice the later counts.
    pub outcomes: &'a [(Step, Outcome)],
}

/// What a probe has shown of a model as a whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Probed {
    /// It has not been asked yet.
    NotYet,
    Answers,
    /// It cannot be used as it is set up.
    Fails(Class),
    /// It did not answer, for a reason that may pass: nothing is concluded from it.
    Unsure(Class),
}

/// The large prompt and its answer, generously.
const LARGE_TOKENS: u64 = 8_000;

impl Step {
    pub const ALL: [Step; 9] = [
        Step::Listed,
        Step::Word,
        Step::WordAgain,
        Step::Large,
        Step::Tool,
        Step::Vision,
        Step::Facts,
        Step::Suite,
        Step::Done,
    ];

    /// As it is stored and sent: `word_again`.
    pub fn name(self) -> &'static str {
        match self {
            Step::Listed => "listed",
            Step::Word => "word",
            Step::WordAgain => "word_again",
            Step::Large => "large",
            Step::Tool => "tool",
            Step::Vision => "vision",
            Step::Facts => "facts",
            Step::Suite => "suite",
            Step::Done => "done",
        }
    }

    pub fn named(name: &str) -> Option<Step> {
        Step::ALL.into_iter().find(|step| step.name() == name)
    }

    /// Whether it calls the model.
    pub fn is_call(self) -> bool {
        matches!(self, Step::Word | Step::WordAgain | Step::Large | Step::Tool | Step::Vision)
    }
}

impl Mode {
    const ALL: [Mode; 3] = [Mode::Full, Mode::Quick, Mode::QuickAdHoc];

    /// As it is stored and sent: `quick_ad_hoc`.
    pub fn name(self) -> &'static str {
        match self {
            Mode::Full => "full",
            Mode::Quick => "quick",
            Mode::QuickAdHoc => "quick_ad_hoc",
        }
    }

    pub fn named(name: &str) -> Option<Mode> {
        Mode::ALL.into_iter().find(|mode| mode.name() == name)
    }
}

impl Onboarded<'_> {
    /// The step after one that has ended; `Done` has none but itself.
    pub fn next(&self, step: Step) -> Step {
        let later = Step::ALL.into_iter().filter(|later| *later > step);
        later.into_iter().find(|later| self.applies(*later)).unwrap_or(Step::Done)
    }

    /// All steps as it looks now, for `3 of 7`.
    pub fn steps(&self) -> Vec<Step> {
        Step::ALL.into_iter().filter(|step| self.taken(*step).is_some() || self.applies(*step)).collect()
    }

    /// What the probe has shown.
    pub fn probed(&self) -> Probed {
        let mut shown = Probed::NotYet;
        for (_, outcome) in self.outcomes.iter().filter(|(step, _)| step.is_call()) {
            shown = match outcome {
                Outcome::Worked | Outcome::NotSeen => return Probed::Answers,
                Outcome::Failed(class) if is_final(*class) => Probed::Fails(*class),
                Outcome::Failed(class) => Probed::Unsure(*class),
            };
        }
        shown
    }

    /// Capabilities that were seen working. What was not seen is not known to be missing.
    pub fn seen(&self) -> Facts {
        let seen = |step| (self.taken(step) == Some(Outcome::Worked)).then_some(true);
        Facts { tools: seen(Step::Tool), vision: seen(Step::Vision), ..Facts::default() }
    }

    fn applies(&self, step: Step) -> bool {
        let may_answer = match self.probed() {
            Probed::NotYet | Probed::Answers => true,
            Probed::Fails(_) => false,
            // Asked twice in vain, it is not asked more.
            Probed::Unsure(_) => self.taken(Step::WordAgain).is_none(),
        };
        match step {
            Step::Listed | Step::Facts | Step::Done => true,
            Step::Word | Step::WordAgain | Step::Tool => may_answer,
            Step::Large => {
                may_answer && self.facts.context_window.is_none_or(|window| window >= LARGE_TOKENS)
            }
            Step::Vision => may_answer && self.facts.vision.is_none(),
            Step::Suite => {
                may_answer
                    && self.has_suite
                    && self.mode == Mode::Full
                    && !matches!(self.probed(), Probed::Unsure(_))
            }
        }
    }

    fn taken(&self, step: Step) -> Option<Outcome> {
        self.outcomes.iter().rev().find(|(taken, _)| *taken == step).map(|(_, outcome)| *outcome)
    }
}

/// Whether asking once more can show nothing else.
fn is_final(class: Class) -> bool {
    matches!(class, Class::SignIn | Class::NotFound | Class::Paywalled | Class::Entitlement)
}

#[cfg(test)]
mod tests {
    use super::*;

    use Outcome::{Failed, NotSeen, Worked};

    /// The steps that are taken when each goes as the table says, `Worked` where it says nothing.
    fn run(mode: Mode, facts: &Facts, has_suite: bool, table: &[(Step, Outcome)]) -> (Vec<Step>, Probed) {
        let mut outcomes = Vec::new();
        let mut steps = vec![Step::Listed];
        loop {
            let onboarded = Onboarded { mode, facts, has_suite, outcomes: &outcomes };
            let last = steps[steps.len() - 1];
            let step = onboarded.next(last);
            if step == Step::Done {
                return (steps, onboarded.probed());
            }
            let went = table.iter().find(|(of, _)| *of == step).map_or(Worked, |(_, outcome)| *outcome);
            outcomes.push((step, went));
            steps.push(step);
        }
    }

    #[test]
    fn which_steps_are_taken() {
        use Step::{Facts as Known, Large, Listed, Suite, Tool, Vision, Word, WordAgain};
        let silent = Facts::default();
        let sees = Facts { vision: Some(true), ..Facts::default() };
        let blind_and_small = Facts { vision: Some(false), context_window: Some(4_096), ..Facts::default() };
        let probe = vec![Listed, Word, WordAgain, Large, Tool, Vision, Known];
        let cases = [
            (Mode::Quick, &silent, true, vec![], probe.clone(), Probed::Answers),
            (Mode::QuickAdHoc, &silent, true, vec![], probe.clone(), Probed::Answers),
            (Mode::Full, &silent, false, vec![], probe.clone(), Probed::Answers),
            (Mode::Full, &silent, true, vec![], [probe.clone(), vec![Suite]].concat(), Probed::Answers),
            (
                Mode::Quick,
                &sees,
                true,
                vec![],
                vec![Listed, Word, WordAgain, Large, Tool, Known],
                Probed::Answers,
            ),
            (
                Mode::Full,
                &blind_and_small,
                true,
                vec![],
                vec![Listed, Word, WordAgain, Tool, Known, Suite],
                Probed::Answers,
            ),
            // No such model: nothing more is asked.
            (
                Mode::Full,
                &silent,
                true,
                vec![(Word, Failed(Class::NotFound))],
                vec![Listed, Word, Known],
                Probed::Fails(Class::NotFound),
            ),
            // A limit may pass once, and not twice.
            (
                Mode::Full,
                &silent,
                true,
                vec![(Word, Failed(Class::Capacity))],
                [probe.clone(), vec![Suite]].concat(),
                Probed::Answers,
            ),
            (
                Mode::Full,
                &silent,
                true,
                vec![(Word, Failed(Class::Timeout)), (WordAgain, Failed(Class::Capacity))],
                vec![Listed, Word, WordAgain, Known],
                Probed::Unsure(Class::Capacity),
            ),
            (
                Mode::Quick,
                &silent,
                true,
                vec![(Word, Failed(Class::Network)), (WordAgain, Failed(Class::Paywalled))],
                vec![Listed, Word, WordAgain, Known],
                Probed::Fails(Class::Paywalled),
            ),
            // What fails later, or is not seen, is of its own.
            (
                Mode::Quick,
                &silent,
                true,
                vec![(Large, Failed(Class::TooLarge)), (Tool, NotSeen), (Vision, Failed(Class::BadRequest))],
                probe,
                Probed::Answers,
            ),
        ];
        for (mode, facts, has_suite, table, steps, probed) in cases {
            assert_eq!(run(mode, facts, has_suite, &table), (steps, probed), "{mode:?} {table:?}");
        }
    }

    #[test]
    fn what_was_seen_working_is_known_and_nothing_else() {
        let facts = Facts::default();
        let seen = |outcomes: &[(Step, Outcome)]| {
            Onboarded { mode: Mode::Quick, facts: &facts, has_suite: false, outcomes }.seen()
        };
        assert_eq!(seen(&[(Step::Tool, NotSeen), (Step::Vision, Failed(Class::BadRequest))]), facts);
        let both = seen(&[(Step::Tool, NotSeen), (Step::Vision, Worked), (Step::Tool, Worked)]);
        assert_eq!(both, Facts { tools: Some(true), vision: Some(true), ..Facts::default() });
    }

    #[test]
    fn every_step_ends_at_done_and_names_go_both_ways() {
        let facts = Facts::default();
        for outcomes in [vec![], vec![(Step::Word, Failed(Class::SignIn))]] {
            let it = Onboarded { mode: Mode::Full, facts: &facts, has_suite: true, outcomes: &outcomes };
            for step in Step::ALL {
                assert!(it.next(step) > step || step == Step::Done, "{step:?}");
            }
            assert_eq!(it.next(Step::Done), Step::Done);
        }
        for step in Step::ALL {
            assert_eq!(Step::named(step.name()), Some(step));
            assert_eq!(serde_json::to_value(step).ok(), Some(step.name().into()));
        }
        for mode in Mode::ALL {
            assert_eq!(Mode::named(mode.name()), Some(mode));
            assert_eq!(serde_json::to_value(mode).ok(), Some(mode.name().into()));
        }
        let it = Onboarded { mode: Mode::Quick, facts: &facts, has_suite: false, outcomes: &[] };
        assert_eq!(it.steps().len(), 8, "all but the suite");
        assert_eq!((Step::named("x"), Mode::named("")), (None, None));
    }
}
