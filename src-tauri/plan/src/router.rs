//! The router (panel.md §4): who may be picked, the longest without real work, the best record.

use std::{cmp::Ordering, fmt};

use catalog::ModelRole;

use crate::{
    Record, Registered, SeatingInput, Shape, Unavailable,
    evidence::Staleness,
    seating::{Unfit, too_small, unfit},
};

/// What is said of [`Unavailable::Gone`].
pub(crate) const GONE: &str = "retired or removed since the panel began";

/// What is said of [`Unavailable::WentPaid`].
pub const WENT_PAID: &str =
    "it was free and costs money now; allow that under Models (bench model allow), or take it off";

/// Why a registered model is not a candidate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NotCandidate {
    Retired,
    AdHoc,
    /// The panel is practice and the model is not, or the other way round.
    OtherSideOfPractice {
        practice: bool,
    },
    /// The shape does not admit its role.
    Role,
    Member,
    /// The same model, whatever serves it, sits already.
    Family,
    Images,
    Documents,
    Audio,
    /// Its role is vision, and there is nothing to see.
    NothingToSee,
    /// Its API cannot say what the prompt holds.
    Barred,
    Window,
    Unavailable(Unavailable),
}

/// The models that may be picked for a panel and a shape.
pub(crate) struct Candidates<'a> {
    input: SeatingInput<'a>,
    shape: Shape,
    roles: &'a [ModelRole],
    practice: bool,
    members_too: bool,
}

impl<'a> Candidates<'a> {
    /// Those that may sit beside a collection's members.
    pub(crate) fn beside_members(input: &SeatingInput<'a>, shape: &Shape) -> Candidates<'a> {
        Candidates {
            input: *input,
            shape: shape.clone(),
            roles: input.roster.shapes().roles(shape),
            practice: input.roster.is_practice(&input.collection.members),
            members_too: false,
        }
    }

    /// The same, members among them.
    pub(crate) fn with_members(input: &SeatingInput<'a>, shape: &Shape) -> Candidates<'a> {
        Candidates { members_too: true, ..Candidates::beside_members(input, shape) }
    }

    /// The first rule that keeps a model from being picked; `None` for a candidate.
    pub(crate) fn why_not(&self, it: &Registered, seated: &[&Registered]) -> Option<NotCandidate> {
        self.never(it).or_else(|| self.not_beside(it, seated)).or_else(|| self.not_now(it))
    }

    /// The candidate longest without real work: fewest seats right now, then the oldest last offload (never is
    /// oldest), a paid connection, fewest offloads, alias.
    pub(crate) fn stalest(&self, seated: &[&Registered]) -> Option<&'a Registered> {
        self.first(seated, |_| true, |_| (), |(a, ()), (b, ())| self.staler(a, b))
    }

    /// The candidate with the best record, among those that pass.
    pub(crate) fn best(
        &self,
        seated: &[&Registered],
        passes: impl Fn(&Registered) -> bool,
    ) -> Option<&'a Registered> {
        self.first(seated, passes, |it| self.record(it), |(a, of_a), (b, of_b)| better(a, of_a, b, of_b))
    }

    /// Every candidate beside those that sit, in no order.
    pub(crate) fn all(&self, seated: &[&Registered]) -> Vec<&'a Registered> {
        self.input.roster.iter().filter(|it| self.why_not(it, seated).is_none()).collect()
    }

    pub(crate) fn staler(&self, a: &Registered, b: &Registered) -> Ordering {
        let evidence = self.input.evidence;
        evidence
            .staleness(a.alias())
            .cmp(&evidence.staleness(b.alias()))
            .then_with(|| b.paid.cmp(&a.paid))
            .then_with(|| self.offloads(a).cmp(&self.offloads(b)))
            .then_with(|| a.alias().cmp(b.alias()))
    }

    pub(crate) fn why_stalest(&self, it: &Registered) -> String {
        why_stalest(self.input.evidence.staleness(it.alias()), self.input.now_ms)
    }

    pub(crate) fn record(&self, it: &Registered) -> Record {
        self.input.evidence.record(it.alias(), &self.shape)
    }

    /// The first in an order. The rules are looked at only for a model that comes before the first so far, which
    /// of thousands is a handful.
    fn first<K>(
        &self,
        seated: &[&Registered],
        passes: impl Fn(&Registered) -> bool,
        key: impl Fn(&Registered) -> K,
        order: impl Fn((&Registered, &K), (&Registered, &K)) -> Ordering,
    ) -> Option<&'a Registered> {
        let mut first: Option<(&Registered, K)> = None;
        for it in self.input.roster.iter() {
            if self.never(it).is_some() || !passes(it) {
                continue;
            }
            let key = key(it);
            let comes_before =
                first.as_ref().is_none_or(|(known, its)| order((it, &key), (known, its)) == Ordering::Less);
            if comes_before && self.not_beside(it, seated).is_none() && self.not_now(it).is_none() {
                first = Some((it, key));
            }
        }
        first.map(|(it, _)| it)
    }

    fn offloads(&self, it: &Registered) -> u32 {
        self.record(it).overall.offloads
    }

    /// What keeps a model off every panel of this shape.
    fn never(&self, it: &Registered) -> Option<NotCandidate> {
        let model = &it.model;
        if model.retired.is_some() {
            return Some(NotCandidate::Retired);
        }
        if it.practice != self.practice {
            return Some(NotCandidate::OtherSideOfPractice { practice: it.practice });
        }
        if model.ad_hoc {
            return Some(NotCandidate::AdHoc);
        }
        (!model.role.sits() || !self.roles.contains(&model.role)).then_some(NotCandidate::Role)
    }

    /// What keeps it from sitting beside those that do.
    fn not_beside(&self, it: &Registered, seated: &[&Registered]) -> Option<NotCandidate> {
        let alias = it.model.alias.as_str();
        if !self.members_too && self.input.collection.members.iter().any(|member| member == alias) {
            return Some(NotCandidate::Member);
        }
        seated.iter().any(|other| other.family == it.family).then_some(NotCandidate::Family)
    }

    /// What keeps it from this prompt, at this moment.
    fn not_now(&self, it: &Registered) -> Option<NotCandidate> {
        match unfit(&it.model, &self.input) {
            Some(Unfit::Documents(_)) => return Some(NotCandidate::Documents),
            Some(Unfit::Audio(_)) => return Some(NotCandidate::Audio),
            Some(Unfit::Images(_)) => return Some(NotCandidate::Images),
            Some(Unfit::NothingToSee) => return Some(NotCandidate::NothingToSee),
            Some(Unfit::Barred(_)) => return Some(NotCandidate::Barred),
            // A role that never sits is no candidate to begin with.
            Some(Unfit::Role) | None => {}
        }
        if too_small(&it.model, self.input.estimate_tokens).is_some() {
            return Some(NotCandidate::Window);
        }
        (self.input.unavailable)(&it.model).map(NotCandidate::Unavailable)
    }
}

/// The better record first: useful verdicts of this shape, then overall, then suite findings, then a paid
/// connection: counts, so that one lucky verdict does not outrank a long good record. Then the alias.
pub(crate) fn better(a: &Registered, of_a: &Record, b: &Registered, of_b: &Record) -> Ordering {
    let key = |record: &Record| (record.shape.useful, record.overall.useful, record.suite.verified);
    key(of_b).cmp(&key(of_a)).then_with(|| b.paid.cmp(&a.paid)).then_with(|| a.alias().cmp(b.alias()))
}

/// A record in words and counts.
pub(crate) fn standing(record: &Record, shape: &Shape, paid: bool) -> String {
    let Record { shape: of_shape, overall, suite } = record;
    let mut parts = Vec::new();
    if overall.judged > 0 {
        parts.push(format!(
            "{} useful of {} judged on {}, {} of {} overall",
            of_shape.useful,
            of_shape.judged,
            shape.name(),
            overall.useful,
            overall.judged
        ));
    }
    if suite.tasks > 0 {
        parts.push(format!("{} verified suite findings in {} tasks", suite.verified, suite.tasks));
    }
    if parts.is_empty() {
        parts.push("no evidence yet".to_owned());
    }
    if paid {
        parts.push("paid".to_owned());
    }
    parts.join("; ")
}

/// Why the stalest of all is the one, in words.
pub(crate) fn why_stalest(stale: Staleness, now_ms: i64) -> String {
    match stale.since_ms {
        _ if stale.in_flight > 0 => {
            format!("every candidate is at work; it holds the fewest seats ({})", stale.in_flight)
        }
        None => "never asked".to_owned(),
        Some(since) => format!("longest without real work ({})", span(now_ms - since)),
    }
}

/// A time span in the largest unit that fits: `12 days`.
fn span(ms: i64) -> String {
    let minutes = ms.max(0) / 60_000;
    let (count, unit) = match minutes {
        0 => return "less than a minute".to_owned(),
        1..60 => (minutes, "minute"),
        60..1_440 => (minutes / 60, "hour"),
        _ => (minutes / 1_440, "day"),
    };
    format!("{count} {unit}{}", if count == 1 { "" } else { "s" })
}

/// Why it cannot be picked now: `its endpoint has no key`.
impl fmt::Display for Unavailable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&NotCandidate::Unavailable(*self).whatever_the_shape())
    }
}

impl NotCandidate {
    /// The reason as a group of models shares it.
    pub(crate) fn in_words(self, it: &Registered, shape: &Shape) -> String {
        if self == NotCandidate::Role {
            let role = it.model.role.name();
            return format!("the shape {} does not admit the role {role}", shape.name());
        }
        self.whatever_the_shape()
    }

    fn whatever_the_shape(self) -> String {
        let text = match self {
            NotCandidate::Retired => "retired",
            NotCandidate::AdHoc => "ad hoc, never chosen automatically",
            NotCandidate::OtherSideOfPractice { practice: true } => "a practice model",
            NotCandidate::OtherSideOfPractice { practice: false } => "not a practice model",
            NotCandidate::Role => "of a role that the shape does not admit",
            NotCandidate::Member => "a member of the collection",
            NotCandidate::Family => "the same model as one that sits",
            NotCandidate::Images => "not known to see images (fact vision)",
            NotCandidate::Documents => "not known to read documents (fact pdf)",
            NotCandidate::Audio => "not known to hear audio (fact audio)",
            NotCandidate::Barred => "its API cannot say what the prompt holds",
            NotCandidate::NothingToSee => "its role is vision and the request holds no image",
            NotCandidate::Window => "its window is too small for the prompt",
            NotCandidate::Unavailable(Unavailable::Gone) => GONE,
            NotCandidate::Unavailable(Unavailable::WentPaid) => {
                "free before, and costs money now (an alert says)"
            }
            NotCandidate::Unavailable(Unavailable::Cooling { .. }) => "cooling down after a rate limit",
            NotCandidate::Unavailable(Unavailable::Retiring) => "failing for days (an alert says how)",
            NotCandidate::Unavailable(Unavailable::Unlisted) => "no longer listed by its endpoint",
            NotCandidate::Unavailable(Unavailable::ProbeFailed) => "its last probe got no answer",
            NotCandidate::Unavailable(Unavailable::NoKey) => "its endpoint has no key",
            NotCandidate::Unavailable(Unavailable::OverLimit) => "at a limit of its endpoint",
        };
        text.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_in_words() {
        for (ms, wanted) in [
            (-5, "less than a minute"),
            (59_999, "less than a minute"),
            (60_000, "1 minute"),
            (59 * 60_000, "59 minutes"),
            (60 * 60_000, "1 hour"),
            (47 * 3_600_000, "1 day"),
            (12 * 86_400_000, "12 days"),
        ] {
            assert_eq!(span(ms), wanted);
        }
    }
}
