//! Which alerts become notifications, when, and in which words. Pure: the time is an argument.
//!
//! A cause (a kind and what it is about) speaks once a minute. What comes in between is held and told as one
//! notice when the minute is over, with how often it happened. A practice seat that fails over does so on
//! purpose, at every panel: it is told once, to show how it would be told.

use std::collections::{HashMap, HashSet, hash_map::Entry};

use control::view::{Alert, AlertKind};

use crate::page;

/// How long a cause stays silent after it spoke, in milliseconds.
const QUIET_MS: i64 = 60_000;

/// A notification to show.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Notice {
    pub(crate) summary: String,
    /// Plain text; whoever shows it escapes what its platform takes for markup.
    pub(crate) body: String,
    /// The page a click opens; without one the window opens where it was left.
    pub(crate) page: Option<String>,
    pub(crate) action: Option<Action>,
}

/// A button beside the notice's own click, which opens the window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Action {
    Quit,
}

#[derive(Default)]
pub(crate) struct Notices {
    causes: HashMap<(AlertKind, String), Cause>,
    /// Collections of practice models.
    practice: HashSet<String>,
    practice_told: bool,
}

struct Cause {
    spoke_ms: i64,
    /// The newest alert of this cause that was seen: a snapshot may bring it again.
    seen: Alert,
    held: usize,
}

impl Notices {
    /// A panel of practice models was asked of this collection.
    pub(crate) fn practises(&mut self, collection: &str) {
        self.practice.insert(collection.to_owned());
    }

    /// Takes an alert that was raised at `now_ms`; answers with what to show at once, if anything.
    pub(crate) fn raise(&mut self, alert: &Alert, now_ms: i64) -> Option<Notice> {
        if matches!(alert.kind, AlertKind::FailedOver | AlertKind::TurnFailedOver)
            && self.practice.contains(&alert.subject)
        {
            let first = !std::mem::replace(&mut self.practice_told, true);
            return first.then(|| Notice { body: PRACTICE.to_owned(), ..words(alert, 1) });
        }
        match self.causes.entry((alert.kind, alert.subject.clone())) {
            Entry::Vacant(vacant) => {
                vacant.insert(Cause { spoke_ms: now_ms, seen: alert.clone(), held: 0 });
                Some(words(alert, 1))
            }
            Entry::Occupied(mut occupied) => {
                let cause = occupied.get_mut();
                if cause.seen == *alert {
                    return None;
                }
                cause.seen = alert.clone();
                cause.held += 1;
                (now_ms - cause.spoke_ms >= QUIET_MS).then(|| cause.speak(now_ms))
            }
        }
    }

    /// What has been held long enough by `now_ms`.
    pub(crate) fn due(&mut self, now_ms: i64) -> Vec<Notice> {
        let waiting = self.causes.values_mut().filter(|cause| cause.held > 0);
        waiting.filter(|cause| now_ms - cause.spoke_ms >= QUIET_MS).map(|cause| cause.speak(now_ms)).collect()
    }

    /// Milliseconds from `now_ms` until something held is due; `None` when nothing is held.
    pub(crate) fn wait_ms(&self, now_ms: i64) -> Option<u64> {
        let held = self.causes.values().filter(|cause| cause.held > 0);
        held.map(|cause| u64::try_from(cause.spoke_ms + QUIET_MS - now_ms).unwrap_or(0)).min()
    }
}

impl Cause {
    fn speak(&mut self, now_ms: i64) -> Notice {
        self.spoke_ms = now_ms;
        words(&self.seen, std::mem::take(&mut self.held))
    }
}

const HANDED_OVER: &str = "The failed call is kept beside the answer that took its place.";
const TURN_HANDED_OVER: &str =
    "Its client saw nothing of it; the conversation goes on with the model that answered.";
const PRACTICE: &str = "Practice: it fails on purpose, to show how a failover is told. This is said once.";

/// What happened, to whom; the alert's own message says why and what to do.
fn words(alert: &Alert, times: usize) -> Notice {
    let subject = &alert.subject;
    let summary = match (alert.kind, times) {
        (AlertKind::PanelFailed, 0 | 1) => format!("No seat answered in bench/{subject}"),
        (AlertKind::PanelFailed, n) => format!("{n} panels had no answer in bench/{subject}"),
        // One alone has all its words in one line; of several, the newest stands below.
        (AlertKind::FailedOver, 0 | 1) => alert.message.clone(),
        (AlertKind::FailedOver, n) => format!("{n} seats failed over in bench/{subject}"),
        (AlertKind::TurnFailedOver, 0 | 1) => alert.message.clone(),
        (AlertKind::TurnFailedOver, n) => format!("{n} turns failed over in bench/{subject}"),
        (AlertKind::KeyRefused, 0 | 1) => format!("{subject} refused its key"),
        (AlertKind::KeyRefused, n) => format!("{subject} refused its key {n} times"),
        (AlertKind::RecordingStopped, _) => "Recording stopped".to_owned(),
        (AlertKind::RecordsMoved, _) => "Damaged records were moved aside".to_owned(),
        (AlertKind::PortTaken, _) => format!("Port {subject} was taken"),
        (AlertKind::WentPaid, _) => format!("{subject} costs money now"),
        (AlertKind::Retiring, _) => format!("{subject} has failed for days"),
    };
    let page = match alert.kind {
        AlertKind::PanelFailed | AlertKind::FailedOver | AlertKind::TurnFailedOver => page::LIVE.to_owned(),
        AlertKind::KeyRefused => page::endpoint(subject),
        AlertKind::RecordingStopped | AlertKind::RecordsMoved | AlertKind::PortTaken => {
            page::SETTINGS.to_owned()
        }
        AlertKind::WentPaid | AlertKind::Retiring => page::MODELS.to_owned(),
    };
    let body = match (alert.kind, times) {
        (AlertKind::FailedOver, 0 | 1) => HANDED_OVER.to_owned(),
        (AlertKind::TurnFailedOver, 0 | 1) => TURN_HANDED_OVER.to_owned(),
        _ => alert.message.clone(),
    };
    Notice { summary, body, page: Some(page), action: None }
}

/// Said once when the window cannot go to a tray: where it went, and the way out.
pub(crate) fn no_tray() -> Notice {
    Notice {
        summary: "Benchwarmers is minimised".to_owned(),
        body: "This desktop shows no tray icons, so closing the window minimises it and the gateway keeps \
               serving. To end it, choose Quit here or run benchwarmers --quit."
            .to_owned(),
        page: None,
        action: Some(Action::Quit),
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    pub(crate) fn alert(kind: AlertKind, subject: &str) -> Alert {
        at(kind, subject, "2026-11-29T15:45:01.000Z")
    }

    fn at(kind: AlertKind, subject: &str, at: &str) -> Alert {
        Alert { kind, subject: subject.into(), message: "Why, and what to do.".into(), at: at.into() }
    }

    fn summaries(notices: impl IntoIterator<Item = Notice>) -> Vec<String> {
        notices.into_iter().map(|notice| notice.summary).collect()
    }

    #[test]
    fn a_cause_speaks_at_once_then_once_a_minute_for_the_rest() {
        let mut notices = Notices::default();
        let first = notices.raise(&at(AlertKind::PanelFailed, "core", "1"), 0);
        assert_eq!(
            first,
            Some(Notice {
                summary: "No seat answered in bench/core".into(),
                body: "Why, and what to do.".into(),
                page: Some("/live".into()),
                action: None
            })
        );
        assert_eq!(notices.wait_ms(0), None);

        assert_eq!(notices.raise(&at(AlertKind::PanelFailed, "core", "2"), 10_000), None);
        assert_eq!(notices.raise(&at(AlertKind::PanelFailed, "core", "3"), 20_000), None);
        assert_eq!(notices.wait_ms(20_000), Some(40_000));
        assert_eq!(notices.due(59_999), []);
        assert_eq!(summaries(notices.due(60_000)), ["2 panels had no answer in bench/core"]);
        assert_eq!(notices.due(60_000), []);

        assert_eq!(notices.raise(&at(AlertKind::PanelFailed, "core", "4"), 61_000), None);
        assert_eq!(
            summaries(notices.raise(&at(AlertKind::PanelFailed, "core", "5"), 130_000)),
            ["2 panels had no answer in bench/core"]
        );
    }

    fn failed_over(from: &str, collection: &str) -> Alert {
        let message = format!("{from} failed (429, 40 s) → gamma took its seat in bench/{collection}");
        Alert { message, ..at(AlertKind::FailedOver, collection, from) }
    }

    fn turn_failed_over(from: &str, collection: &str) -> Alert {
        let message = format!("{from} failed (429, 40 s) → gamma took the turn in bench/{collection}");
        Alert { message, ..at(AlertKind::TurnFailedOver, collection, from) }
    }

    #[test]
    fn turns_that_fail_over_are_one_notice_a_collection_and_minute() {
        // Who failed where, in which second, and what is shown at once.
        let cases: [(i64, &str, &str, Option<&str>); 6] = [
            (0, "beta", "agents", Some("beta failed (429, 40 s) → gamma took the turn in bench/agents")),
            (1, "beta", "agents", None),
            (2, "alpha", "agents", None),
            (3, "beta", "quick", Some("beta failed (429, 40 s) → gamma took the turn in bench/quick")),
            (4, "delta", "agents", None),
            (4, "delta", "quick", None),
        ];
        let mut notices = Notices::default();
        for (n, (second, from, collection, shown)) in cases.into_iter().enumerate() {
            // Each at its own time: one that a snapshot brings again is no news.
            let alert = Alert { at: n.to_string(), ..turn_failed_over(from, collection) };
            let notice = notices.raise(&alert, second * 1_000);
            assert_eq!(notice.as_ref().map(|it| it.summary.as_str()), shown, "case {n}");
            if let Some(notice) = notice {
                assert_eq!((notice.body.as_str(), notice.page.as_deref()), (TURN_HANDED_OVER, Some("/live")));
            }
        }
        // A seat of the same collection is another cause.
        assert!(notices.raise(&failed_over("beta", "agents"), 5_000).is_some());
        let mut grouped = notices.due(63_000);
        grouped.sort_by(|a, b| a.summary.cmp(&b.summary));
        assert_eq!(
            grouped.iter().map(|it| (it.summary.as_str(), it.body.as_str())).collect::<Vec<_>>(),
            [
                (
                    "3 turns failed over in bench/agents",
                    "delta failed (429, 40 s) → gamma took the turn in bench/agents"
                ),
                ("delta failed (429, 40 s) → gamma took the turn in bench/quick", TURN_HANDED_OVER),
            ]
        );
    }

    #[test]
    fn a_practice_turn_that_fails_over_is_told_once() {
        let mut notices = Notices::default();
        notices.practises("practice");
        let told = |notices: &mut Notices, alert: &Alert, at| notices.raise(alert, at).map(|it| it.body);
        let first = told(&mut notices, &turn_failed_over("practice-limited", "practice"), 0);
        assert_eq!(first.as_deref(), Some(PRACTICE));
        // Once for seats and turns together: it shows how a failover is told.
        assert_eq!(told(&mut notices, &failed_over("practice-limited", "practice"), 70_000), None);
        assert_eq!(told(&mut notices, &turn_failed_over("practice-slow", "practice"), 140_000), None);
        assert_eq!(notices.wait_ms(140_000), None);
        assert!(told(&mut notices, &turn_failed_over("beta", "agents"), 140_000).is_some());
    }

    #[test]
    fn one_failover_is_told_in_full_and_several_as_a_number() {
        let mut notices = Notices::default();
        assert_eq!(
            notices.raise(&failed_over("beta", "core"), 0),
            Some(Notice {
                summary: "beta failed (429, 40 s) → gamma took its seat in bench/core".into(),
                body: "The failed call is kept beside the answer that took its place.".into(),
                page: Some("/live".into()),
                action: None
            })
        );
        for (n, from) in ["alpha", "beta2", "delta"].into_iter().enumerate() {
            assert_eq!(notices.raise(&failed_over(from, "core"), 1_000 * n as i64), None);
        }
        let grouped = notices.due(60_000);
        assert_eq!(
            (grouped[0].summary.as_str(), grouped[0].body.as_str()),
            (
                "3 seats failed over in bench/core",
                "delta failed (429, 40 s) → gamma took its seat in bench/core"
            )
        );
        // Another collection is another cause, and one alone is told in full again.
        assert_eq!(
            summaries(notices.raise(&failed_over("beta", "quick"), 60_001)),
            ["beta failed (429, 40 s) → gamma took its seat in bench/quick"]
        );
        assert_eq!(notices.raise(&failed_over("eta", "core"), 61_000), None);
        assert_eq!(
            summaries(notices.due(120_000)),
            ["eta failed (429, 40 s) → gamma took its seat in bench/core"]
        );
    }

    #[test]
    fn a_practice_failover_is_told_once_and_says_that_it_is_practice() {
        let mut notices = Notices::default();
        notices.practises("practice");
        let first = notices.raise(&failed_over("practice-limited", "practice"), 0).expect("a notice");
        assert_eq!(
            first.summary,
            "practice-limited failed (429, 40 s) → gamma took its seat in bench/practice"
        );
        assert!(first.body.starts_with("Practice: "), "{first:?}");
        for minute in 1..4 {
            let again = failed_over(&format!("practice-{minute}"), "practice");
            assert_eq!(notices.raise(&again, minute * 70_000), None);
        }
        assert_eq!((notices.wait_ms(300_000), notices.due(300_000)), (None, vec![]));
        // Real ones are told as ever, and so is a practice panel that nobody answered.
        assert!(notices.raise(&failed_over("beta", "core"), 300_000).is_some());
        assert!(notices.raise(&alert(AlertKind::PanelFailed, "practice"), 300_000).is_some());
    }

    #[test]
    fn causes_do_not_silence_each_other() {
        let mut notices = Notices::default();
        let said = [
            notices.raise(&alert(AlertKind::KeyRefused, "groq"), 0),
            notices.raise(&alert(AlertKind::KeyRefused, "mistral"), 1),
            notices.raise(&alert(AlertKind::PanelFailed, "core"), 2),
            notices.raise(&alert(AlertKind::RecordingStopped, "records"), 3),
            notices.raise(&alert(AlertKind::PortTaken, "8123"), 4),
            notices.raise(&alert(AlertKind::RecordsMoved, "records"), 5),
            notices.raise(&alert(AlertKind::WentPaid, "alpha"), 6),
            notices.raise(&alert(AlertKind::Retiring, "alpha"), 7),
        ];
        assert_eq!(
            summaries(said.into_iter().flatten()),
            [
                "groq refused its key",
                "mistral refused its key",
                "No seat answered in bench/core",
                "Recording stopped",
                "Port 8123 was taken",
                "Damaged records were moved aside",
                "alpha costs money now",
                "alpha has failed for days",
            ]
        );
    }

    #[test]
    fn an_alert_brought_again_by_a_snapshot_is_no_news() {
        let mut notices = Notices::default();
        let standing = alert(AlertKind::KeyRefused, "groq");
        assert!(notices.raise(&standing, 0).is_some());
        assert_eq!(notices.raise(&standing, 90_000), None);
        assert_eq!(notices.wait_ms(90_000), None);
    }
}
