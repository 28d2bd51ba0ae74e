use std::{
    collections::{BTreeMap, HashMap},
    fmt,
};

use catalog::FieldError;
use jiff::{Timestamp, ToSpan, civil::Date, tz::TimeZone};
use serde::{Deserialize, Serialize};

use crate::DAY_MS;

/// What may be spent in a day or a month, by UTC (providers.md §6): tokens, dollars, or both.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ts_rs::TS)]
#[serde(deny_unknown_fields)]
pub struct Budget {
    /// In and out together, cached input included.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional, type = "number")]
    pub tokens: Option<u64>,
    /// US dollars. A call of a model without a price does not count against them, and is told beside them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub dollars: Option<f64>,
    pub per: Period,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, ts_rs::TS)]
#[serde(rename_all = "lowercase")]
pub enum Period {
    Day,
    Month,
}

/// Whose money it is.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum BudgetOf {
    Collection(String),
    /// A gateway key's name.
    Caller(String),
}

/// What calls have taken. One that nobody counted, as it was hung up on or cut off, counts with what it is taken to have
/// taken at least.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Spending {
    /// And of how many calls they are an estimate.
    pub tokens: u64,
    pub tokens_unknown: u64,
    /// Without the calls whose cost nobody knows, and how many those are.
    pub dollars: f64,
    pub cost_unknown: u64,
}

/// What collections and callers have spent in this period and a few before it. Times are ms since 1970.
///
/// Only what has ended counts: calls that are under way when a budget is used up may still go over it.
#[derive(Clone, Debug, Default)]
pub struct Budgets {
    spent: HashMap<BudgetOf, HashMap<Period, BTreeMap<i64, Spending>>>,
}

/// A budget that is used up. Its display is for a person: `the budget of 1000 tokens a day is spent`.
#[derive(Clone, Debug, PartialEq)]
pub struct Over {
    pub budget: Budget,
    /// What was spent, and how many calls were of unknown cost.
    pub spent: Spending,
    /// When the next period begins.
    pub resets_ms: i64,
}

const MOST_DOLLARS: f64 = 1_000_000.0;

/// Periods that are remembered: more than one, for the sake of a clock that is set back.
const KEPT_PERIODS: usize = 4;

impl Budget {
    /// The first field that is wrong.
    pub fn check(&self) -> Result<(), FieldError> {
        if self.tokens.is_none() && self.dollars.is_none() {
            return Err(FieldError::new("budget", "tokens, dollars or both; leave it out for no budget"));
        }
        if self.tokens == Some(0) {
            return Err(FieldError::new("budget.tokens", "at least 1, not 0"));
        }
        // Not `dollars <= 0.0`: a NaN must fail too.
        match self.dollars {
            Some(dollars) if !(dollars > 0.0 && dollars <= MOST_DOLLARS) => Err(FieldError::new(
                "budget.dollars",
                format!("more than 0 and at most {MOST_DOLLARS}, not {dollars}"),
            )),
            _ => Ok(()),
        }
    }

    fn is_spent(&self, spent: &Spending) -> bool {
        self.tokens.is_some_and(|tokens| spent.tokens >= tokens)
            || self.dollars.is_some_and(|dollars| spent.dollars >= dollars)
    }
}

impl Budgets {
    /// What was spent before, a row for each day or less: at start, as far back as the longest period.
    pub fn load(spent: impl IntoIterator<Item = (BudgetOf, i64, Spending)>) -> Budgets {
        let mut budgets = Budgets::default();
        spent.into_iter().for_each(|(of, at_ms, spending)| budgets.spend(&of, spending, at_ms));
        budgets
    }

    /// Nothing of it was counted.
    pub fn forget(&mut self, of: &BudgetOf) {
        self.spent.remove(of);
    }

    /// What was spent before, each in place of what was counted of the same.
    pub fn put(&mut self, loaded: Budgets) {
        self.spent.extend(loaded.spent);
    }

    /// A call that began at that time has ended.
    pub fn spend(&mut self, of: &BudgetOf, spending: Spending, at_ms: i64) {
        let whose = match self.spent.get_mut(of) {
            Some(whose) => whose,
            None => self.spent.entry(of.clone()).or_default(),
        };
        for per in [Period::Day, Period::Month] {
            let periods = whose.entry(per).or_default();
            periods.entry(per.begins(at_ms)).or_default().add(spending);
            if periods.len() > KEPT_PERIODS {
                periods.pop_first();
            }
        }
    }

    /// What was spent in the period that is now.
    pub fn spent(&self, of: &BudgetOf, per: Period, now_ms: i64) -> Spending {
        let periods = self.spent.get(of).and_then(|whose| whose.get(&per));
        periods.and_then(|periods| periods.get(&per.begins(now_ms))).copied().unwrap_or_default()
    }

    /// Whether a budget is used up now.
    pub fn over(&self, of: &BudgetOf, budget: &Budget, now_ms: i64) -> Option<Over> {
        let spent = self.spent(of, budget.per, now_ms);
        budget.is_spent(&spent).then(|| Over {
            budget: budget.clone(),
            spent,
            resets_ms: budget.per.ends(now_ms),
        })
    }
}

impl Spending {
    /// Of one call; what is no number is not known.
    pub fn of_call(tokens: Option<u64>, dollars: Option<f64>) -> Spending {
        let dollars = dollars.filter(|dollars| dollars.is_finite());
        Spending {
            tokens: tokens.unwrap_or(0),
            tokens_unknown: tokens.is_none().into(),
            dollars: dollars.unwrap_or(0.0),
            cost_unknown: dollars.is_none().into(),
        }
    }

    fn add(&mut self, other: Spending) {
        self.tokens = self.tokens.saturating_add(other.tokens);
        self.tokens_unknown = self.tokens_unknown.saturating_add(other.tokens_unknown);
        self.dollars += other.dollars;
        self.cost_unknown = self.cost_unknown.saturating_add(other.cost_unknown);
    }
}

impl Period {
    /// When the period that an instant is in began.
    pub fn begins(self, at_ms: i64) -> i64 {
        match self {
            Period::Day => at_ms.div_euclid(DAY_MS).saturating_mul(DAY_MS),
            Period::Month => month(at_ms).map_or(0, midnight),
        }
    }

    /// When the next one begins.
    pub fn ends(self, at_ms: i64) -> i64 {
        match self {
            Period::Day => self.begins(at_ms).saturating_add(DAY_MS),
            Period::Month => {
                let next = month(at_ms).and_then(|month| month.checked_add(1.month()).ok());
                next.map_or(i64::MAX, midnight)
            }
        }
    }

    fn word(self) -> &'static str {
        match self {
            Period::Day => "day",
            Period::Month => "month",
        }
    }
}

/// An amount as its owner set it: `$2.50`, `$0.005`.
pub fn in_dollars(amount: f64) -> String {
    let cents = amount * 100.0;
    match (cents - cents.round()).abs() < 1e-6 {
        true => format!("${amount:.2}"),
        false => format!("${amount}"),
    }
}

impl fmt::Display for Over {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Over { budget, spent, .. } = self;
        let of_tokens = budget.tokens.filter(|tokens| spent.tokens >= *tokens);
        match (of_tokens, budget.dollars) {
            (Some(tokens), _) => write!(f, "the budget of {tokens} tokens")?,
            (None, dollars) => write!(f, "the budget of {}", in_dollars(dollars.unwrap_or(0.0)))?,
        }
        write!(f, " a {} is spent", budget.per.word())?;
        match (of_tokens, spent.cost_unknown) {
            (Some(_), _) | (None, 0) => Ok(()),
            (None, 1) => write!(f, ", without 1 call whose cost is not known"),
            (None, calls) => write!(f, ", without {calls} calls whose cost is not known"),
        }
    }
}

/// The first of the month that an instant is in.
fn month(at_ms: i64) -> Option<Date> {
    let at = Timestamp::from_millisecond(at_ms).ok()?;
    Some(TimeZone::UTC.to_datetime(at).date().first_of_month())
}

fn midnight(date: Date) -> i64 {
    let at = TimeZone::UTC.to_timestamp(date.at(0, 0, 0, 0));
    at.map_or(i64::MAX, |at| at.as_millisecond())
}

#[cfg(test)]
mod tests {
    use super::in_dollars;

    #[test]
    fn amounts_are_told_as_they_were_set() {
        for (amount, told) in
            [(2.5, "$2.50"), (0.005, "$0.005"), (10.0, "$10.00"), (0.01, "$0.01"), (1.1, "$1.10")]
        {
            assert_eq!(in_dollars(amount), told);
        }
    }
}
