//! Who may take a turn of a routed conversation, and in which order they are tried (route.md §1–§3).

use std::cmp::Reverse;

use catalog::Model;
use wire::Kind;

use crate::{
    Record, Registered, SeatingError, SeatingInput, Shape, Skipped, Unavailable,
    router::{GONE, WENT_PAID, standing, why_stalest},
    seating::{does_not_fit, too_small, unfit},
};

/// What choosing a member for a turn depends on.
#[derive(Clone, Copy)]
pub struct TurnInput<'a> {
    /// The collection and what the request holds; nominees are not looked at.
    pub seating: SeatingInput<'a>,
    /// The request declares tools, or holds calls or results of some.
    pub tools: bool,
    /// The model was asked for by its own name: one that is ad hoc may take the turn.
    pub by_name: bool,
    /// The model that the conversation has been with.
    pub kept: Option<&'a str>,
    /// A new conversation begins with the member whose last work is oldest.
    pub rotates: bool,
}

/// The members that may take the turn, first to last, and why the others may not.
#[derive(Clone, Debug, PartialEq)]
pub struct TurnOrder {
    /// At least one.
    pub candidates: Vec<Candidate>,
    pub skipped: Vec<Skipped>,
    /// Why the first one is the first, in words.
    pub by: String,
}

/// A member that may take the turn.
#[derive(Clone, Debug, PartialEq)]
pub struct Candidate {
    pub alias: String,
    pub record: Record,
    /// Its record in words and counts, and what keeps it back; `no evidence yet` when there is none.
    pub why: String,
    /// It stands behind the others for now.
    pub held_back: Option<Unavailable>,
}

/// Orders the members for a turn.
///
/// The conversation's own model goes first while it can take the turn. Else the best record does: useful verdicts
/// of the collection's shape, then overall, then suite findings, then a paid connection, then the collection's
/// order. Models that rest for a while (a rate limit, a retiring alert) come last, in the same order.
///
/// Errors: 413 when every member is too small, and nothing else is why; 503 when the collection has no members; else
/// 400.
pub fn turn_order(input: &TurnInput<'_>) -> Result<TurnOrder, SeatingError> {
    let seating = &input.seating;
    let shape = seating.collection.shape_or_general();
    let mut skipped = Vec::new();
    let mut refusals = Vec::new();
    let mut may: Vec<Standing<'_>> = Vec::new();
    for (at, alias) in seating.collection.members.iter().enumerate() {
        if seating.collection.members[..at].contains(alias) {
            continue;
        }
        let judged = match seating.roster.get(alias) {
            Some(it) => may_take(input, it).map(|held_back| (it, held_back)),
            None => Err(Out::setup("no model of this alias is registered".to_owned())),
        };
        match judged {
            Ok((it, held_back)) => {
                let record = seating.evidence.record(alias, &shape);
                may.push(Standing { it, at, record, held_back });
            }
            Err(out) => {
                refusals.push(out.refusal);
                skipped.push(Skipped { seat: MEMBER, alias: alias.clone(), why: out.why });
            }
        }
    }
    if may.is_empty() {
        return Err(nobody(input, &refusals, skipped));
    }
    may.sort_by_key(Standing::rank);
    let by = first(input, &mut may);
    let candidates = may.into_iter().map(|it| it.candidate(&shape, seating.now_ms)).collect();
    Ok(TurnOrder { candidates, skipped, by })
}

const MEMBER: &str = "member";
/// The code where the request is not to blame.
const NO_MEMBER: &str = "no_member";

struct Standing<'a> {
    it: &'a Registered,
    at: usize,
    record: Record,
    held_back: Option<Unavailable>,
}

impl Standing<'_> {
    /// Less is earlier.
    fn rank(&self) -> impl Ord + use<> {
        let Record { shape, overall, suite } = &self.record;
        let counts = Reverse((shape.useful, overall.useful, suite.verified, self.it.paid));
        (self.held_back.is_some(), counts, self.at)
    }

    fn candidate(self, shape: &Shape, now_ms: i64) -> Candidate {
        let mut why = standing(&self.record, shape, self.it.paid);
        if let Some(held_back) = self.held_back {
            why.push_str("; ");
            why.push_str(&rests(held_back, now_ms));
        }
        Candidate { alias: self.it.alias().to_owned(), record: self.record, why, held_back: self.held_back }
    }
}

/// Puts whoever begins in front, and says why.
fn first(input: &TurnInput<'_>, may: &mut [Standing<'_>]) -> String {
    let to_front = |may: &mut [Standing<'_>], at: usize| may[..=at].rotate_right(1);
    if let Some(kept) = input.kept {
        let now_ms = input.seating.now_ms;
        return match may.iter().position(|it| it.it.alias() == kept) {
            // Where everybody rests, nobody is better for it.
            Some(at) if may[at].held_back.is_none() || may[0].held_back.is_some() => {
                to_front(may, at);
                "the conversation's model".to_owned()
            }
            Some(at) => {
                let rests = may[at].held_back.map(|why| rests(why, now_ms)).unwrap_or_default();
                format!("best record; the conversation's model {kept} is {rests}")
            }
            None => format!("best record; the conversation's model {kept} cannot take this turn"),
        };
    }
    if may.len() == 1 {
        return "the only member that may take it".to_owned();
    }
    if input.rotates {
        let evidence = input.seating.evidence;
        let ready = may.iter().enumerate().filter(|(_, it)| it.held_back.is_none());
        let stalest = ready.map(|(at, it)| (evidence.staleness(it.it.alias()), at)).min();
        if let Some((stale, at)) = stalest {
            to_front(may, at);
            return format!("rotation: {}", why_stalest(stale, input.seating.now_ms));
        }
    }
    "best record".to_owned()
}

/// Why a member may not take the turn.
struct Out {
    why: String,
    refusal: Refusal,
}

#[derive(Clone, Copy, PartialEq)]
enum Refusal {
    /// The owner's doing: nothing of the request.
    Setup,
    Size,
    Content(&'static str),
}

impl Out {
    fn setup(why: String) -> Out {
        Out { why, refusal: Refusal::Setup }
    }
}

/// What holds a member back when it may take the turn.
fn may_take(input: &TurnInput<'_>, it: &Registered) -> Result<Option<Unavailable>, Out> {
    let (model, seating) = (&it.model, &input.seating);
    if let Some(retired) = &model.retired {
        return Err(Out::setup(format!("retired on {}: {}", retired.date(), retired.why)));
    }
    if model.ad_hoc && !input.by_name {
        let why = format!("ad hoc, never chosen automatically; ask for bench/model/{}", model.alias);
        return Err(Out::setup(why));
    }
    if let Some(unfit) = unfit(model, seating) {
        let refusal = unfit.code().map_or(Refusal::Setup, Refusal::Content);
        return Err(Out { why: unfit.why(model), refusal });
    }
    if input.tools && model.facts.tools != Some(true) {
        return Err(Out { why: no_tools(model), refusal: Refusal::Content("tools_not_taken") });
    }
    if let Some(window) = too_small(model, seating.estimate_tokens) {
        let why = does_not_fit(seating.estimate_tokens, window);
        return Err(Out { why, refusal: Refusal::Size });
    }
    match (seating.unavailable)(model) {
        Some(Unavailable::Gone) => Err(Out::setup(GONE.to_owned())),
        Some(Unavailable::WentPaid) => Err(Out::setup(WENT_PAID.to_owned())),
        Some(Unavailable::NoKey) => Err(Out::setup(format!(
            "its endpoint {} has no key that is taken; set it in Endpoints",
            model.endpoint
        ))),
        held_back => Ok(held_back),
    }
}

fn no_tools(model: &Model) -> String {
    let what = if model.facts.tools == Some(false) { "takes no tools" } else { "not known to take tools" };
    format!("{what}; if it does, set the fact tools on the model")
}

fn rests(why: Unavailable, now_ms: i64) -> String {
    match why {
        Unavailable::Cooling { until_ms } => {
            format!("cooling down for {} s", (until_ms.saturating_sub(now_ms) + 999) / 1000)
        }
        Unavailable::Retiring => "failing for days".to_owned(),
        Unavailable::Unlisted => "no longer listed by its endpoint".to_owned(),
        Unavailable::ProbeFailed => "without an answer to its last probe".to_owned(),
        Unavailable::OverLimit => "at a limit of its endpoint".to_owned(),
        Unavailable::Gone => GONE.to_owned(),
        Unavailable::WentPaid => WENT_PAID.to_owned(),
        Unavailable::NoKey => "without a key".to_owned(),
    }
}

/// Every reason is given.
fn nobody(input: &TurnInput<'_>, refusals: &[Refusal], skipped: Vec<Skipped>) -> SeatingError {
    let name = &input.seating.collection.name;
    let reasons: Vec<String> = skipped.iter().map(|skip| format!("{}: {}", skip.alias, skip.why)).collect();
    let reasons = reasons.join("; ");
    let content = refusals.iter().find_map(|refusal| match refusal {
        Refusal::Content(code) => Some(*code),
        Refusal::Size | Refusal::Setup => None,
    });
    let (kind, code, message) = if refusals.is_empty() {
        (Kind::Unavailable, NO_MEMBER, format!("bench/{name} has no members; add one"))
    } else if refusals.iter().all(|refusal| *refusal == Refusal::Size) {
        let message = format!(
            "no member of bench/{name} has a window for this turn; shorten it, or add a member with a larger one: \
             {reasons}"
        );
        (Kind::TooLarge, "too_large", message)
    } else {
        let message = format!("no member of bench/{name} may take this turn: {reasons}");
        (Kind::InvalidRequest, content.unwrap_or(NO_MEMBER), message)
    };
    SeatingError { kind, code, message, skipped }
}
