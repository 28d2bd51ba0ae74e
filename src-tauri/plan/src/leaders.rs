use std::cmp::Ordering;

use crate::{
    Record, Registered, SeatingInput, Shape,
    router::{Candidates, better, standing},
};

/// The models a shape is best left to, of those that may be picked now (panel.md §4).
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Leaders {
    pub primary: Option<Standing>,
    pub second: Option<Standing>,
}

/// A model with its record, and why it stands here.
#[derive(Clone, Debug, PartialEq)]
pub struct Standing {
    pub alias: String,
    pub record: Record,
    /// In words, with counts; `no evidence yet` when there is none.
    pub why: String,
}

/// Primary: most verified suite findings, then recall, then a paid connection; what is still equal (all of it,
/// until there are suites) goes by best record. Second: of another family, with 2 tasks or more and a recall
/// of at least 0.85 of the primary's, the longest without real work.
///
/// Members of the collection may lead too.
pub fn primary_and_second(input: &SeatingInput<'_>, shape: &Shape) -> Leaders {
    let candidates = Candidates::with_members(input, shape);
    let all: Vec<(&Registered, Record)> =
        candidates.all(&[]).into_iter().map(|it| (it, candidates.record(it))).collect();
    let Some((primary, record)) = all.iter().min_by(|a, b| leads(a, b)) else { return Leaders::default() };
    let enough = record.suite.recall * SECOND_RECALL;
    let second = all
        .iter()
        .filter(|(it, record)| {
            it.family != primary.family && record.suite.tasks >= SECOND_TASKS && record.suite.recall >= enough
        })
        .min_by(|(a, _), (b, _)| candidates.staler(a, b));
    Leaders {
        primary: Some(Standing {
            alias: primary.alias().to_owned(),
            record: *record,
            why: standing(record, shape, primary.paid),
        }),
        second: second.map(|(it, record)| Standing {
            alias: it.alias().to_owned(),
            record: *record,
            why: format!(
                "recall {:.2} over {} tasks; {}",
                record.suite.recall,
                record.suite.tasks,
                candidates.why_stalest(it)
            ),
        }),
    }
}

/// At most `most` models that may be picked for the shape, best record first, members among them.
pub fn best_records(input: &SeatingInput<'_>, shape: &Shape, most: usize) -> Vec<Standing> {
    let candidates = Candidates::with_members(input, shape);
    let mut all: Vec<(&Registered, Record)> =
        candidates.all(&[]).into_iter().map(|it| (it, candidates.record(it))).collect();
    all.sort_by(|(a, of_a), (b, of_b)| better(a, of_a, b, of_b));
    all.truncate(most);
    all.into_iter()
        .map(|(it, record)| Standing {
            alias: it.alias().to_owned(),
            record,
            why: standing(&record, shape, it.paid),
        })
        .collect()
}

const SECOND_TASKS: u32 = 2;
const SECOND_RECALL: f64 = 0.85;

fn leads(a: &(&Registered, Record), b: &(&Registered, Record)) -> Ordering {
    let ((a, of_a), (b, of_b)) = (a, b);
    of_b.suite
        .verified
        .cmp(&of_a.suite.verified)
        .then_with(|| of_b.suite.recall.total_cmp(&of_a.suite.recall))
        .then_with(|| b.paid.cmp(&a.paid))
        .then_with(|| better(a, of_a, b, of_b))
}
