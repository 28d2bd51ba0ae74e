//! Verdicts against a plain model: whatever is given and withdrawn in whatever order, what stands, the
//! history and the record are what the model says.

use std::collections::BTreeMap;

use proptest::{collection::vec, option, prelude::*};
use store::{
    AliasRecord, CallRow, ClearOutcome, Judged, NewVerdict, RecordFilter, StoredCall, VerdictOutcome,
};

use crate::harness::{Folder, START, call, panel};

/// Three calls, two of them by one alias.
const CALLS: [(u32, &str); 3] = [(1, "alpha"), (2, "alpha"), (3, "beta")];

#[derive(Clone, Debug)]
enum Step {
    Give { at: usize, useful: bool, note: Option<u8>, real: Option<Vec<u8>>, wrong: Option<Vec<u8>> },
    Clear { at: usize },
}

fn step() -> impl Strategy<Value = Step> {
    // A small alphabet, so that the same verdict comes again often; the last call is unknown.
    let claims = || option::of(vec(0..2_u8, 0..2));
    prop_oneof![
        4 => (0..4_usize, any::<bool>(), option::of(0..2_u8), claims(), claims())
            .prop_map(|(at, useful, note, real, wrong)| Step::Give { at, useful, note, real, wrong }),
        1 => (0..4_usize).prop_map(|at| Step::Clear { at }),
    ]
}

#[derive(Clone, Debug, Default, PartialEq)]
struct Said {
    useful: bool,
    note: String,
    real: Vec<String>,
    wrong: Vec<String>,
}

#[derive(Default)]
struct Model {
    standing: [Option<Said>; 3],
    history: [Vec<Option<Said>>; 3],
}

impl Model {
    /// Whether something was recorded.
    fn give(&mut self, at: usize, new: &NewVerdict) -> bool {
        let mut said = self.standing[at].clone().unwrap_or_default();
        said.useful = new.useful;
        said.note = new.note.clone().unwrap_or(said.note);
        said.real = new.real.clone().unwrap_or(said.real);
        said.wrong = new.false_claims.clone().unwrap_or(said.wrong);
        if self.standing[at].as_ref() == Some(&said) {
            return false;
        }
        self.history[at].push(Some(said.clone()));
        self.standing[at] = Some(said);
        true
    }

    fn clear(&mut self, at: usize) -> bool {
        let stood = self.standing[at].take().is_some();
        if stood {
            self.history[at].push(None);
        }
        stood
    }

    fn record(&self) -> Vec<AliasRecord> {
        let mut aliases = BTreeMap::new();
        for ((_, alias), standing) in CALLS.iter().zip(&self.standing) {
            let record = aliases.entry(*alias).or_insert_with(|| AliasRecord {
                alias: (*alias).to_owned(),
                useful: 0,
                not_useful: 0,
                judged: 0,
                offloads: 0,
                last_at_ms: START + 1500,
            });
            record.offloads += 1;
            record.useful += u64::from(standing.as_ref().is_some_and(|said| said.useful));
            record.not_useful += u64::from(standing.as_ref().is_some_and(|said| !said.useful));
            record.judged += u64::from(standing.is_some());
        }
        aliases.into_values().collect()
    }
}

fn call_name(at: usize) -> String {
    CALLS.get(at).map_or("p1.unknown".to_owned(), |(number, alias)| call("p1", *number, alias).call)
}

fn texts(of: &Option<Vec<u8>>) -> Option<Vec<String>> {
    of.as_ref().map(|of| of.iter().map(|claim| format!("claim {claim}")).collect())
}

fn judged_before(model: &Model, at: usize) -> Judged {
    let was = model.standing[at].as_ref().map(|said| said.useful);
    Judged { alias: CALLS[at].1.to_owned(), shape: "general".to_owned(), was }
}

fn said(row: store::VerdictRow) -> Said {
    Said { useful: row.useful, note: row.note, real: row.real, wrong: row.false_claims }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_record_is_a_recount(steps in vec(step(), 0..40), reopen_after in 0..40_usize) {
        let folder = Folder::new();
        let mut store = folder.open();
        drop(store.panel_started(panel("p1")));
        for (number, alias) in CALLS {
            store.call_ended(CallRow { ..call("p1", number, alias) }).blocking_wait().unwrap();
        }
        let mut model = Model::default();
        for (index, step) in steps.into_iter().enumerate() {
            if index == reopen_after {
                store.close();
                store = folder.open();
            }
            match step {
                Step::Give { at, useful, note, real, wrong } => {
                    let new = NewVerdict {
                        call: call_name(at),
                        useful,
                        note: note.map(|note| if note == 0 { String::new() } else { "note".to_owned() }),
                        real: texts(&real),
                        false_claims: texts(&wrong),
                        by: "window".to_owned(),
                    };
                    let outcome = store.give_verdict(new.clone()).blocking_wait().unwrap();
                    match outcome {
                        VerdictOutcome::UnknownCall => prop_assert_eq!(at, CALLS.len()),
                        VerdictOutcome::Given { recorded, verdict, judged } => {
                            prop_assert_eq!(judged, judged_before(&model, at));
                            prop_assert_eq!(recorded, model.give(at, &new));
                            prop_assert_eq!(Some(&said(verdict)), model.standing[at].as_ref());
                        }
                    }
                }
                Step::Clear { at } => {
                    let outcome = store.clear_verdict(call_name(at), "window".to_owned());
                    let judged = (at < CALLS.len()).then(|| judged_before(&model, at));
                    let expected = match judged {
                        None => ClearOutcome::UnknownCall,
                        Some(judged) if model.clear(at) => ClearOutcome::Cleared(judged),
                        Some(_) => ClearOutcome::NothingStood,
                    };
                    prop_assert_eq!(outcome.blocking_wait().unwrap(), expected);
                }
            }
        }
        prop_assert_eq!(store.record(RecordFilter::default()).unwrap(), model.record());
        for at in 0..CALLS.len() {
            let stored: StoredCall = store.call(&call_name(at)).unwrap().unwrap();
            prop_assert_eq!(stored.verdict.map(said), model.standing[at].clone());
            let history = store.verdict_history(&call_name(at)).unwrap();
            let history: Vec<_> = history.into_iter().map(|event| event.given.map(said)).collect();
            prop_assert_eq!(&history, &model.history[at]);
        }
        let unjudged = model.standing.iter().filter(|standing| standing.is_none()).count();
        prop_assert_eq!(store.owed_count(30).unwrap() as usize, unjudged);
    }
}
