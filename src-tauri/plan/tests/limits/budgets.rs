use jiff::Timestamp;
use plan::{Budget, BudgetOf, Budgets, Period, Spending};

fn at(time: &str) -> i64 {
    let time: Timestamp = time.parse().unwrap_or_else(|error| panic!("{time}: {error}"));
    time.as_millisecond()
}

fn core() -> BudgetOf {
    BudgetOf::Collection("core".to_owned())
}

fn tokens(tokens: u64, per: Period) -> Budget {
    Budget { tokens: Some(tokens), dollars: None, per }
}

fn dollars(dollars: f64, per: Period) -> Budget {
    Budget { tokens: None, dollars: Some(dollars), per }
}

/// Whether it is over, and when it resets.
fn resets(budgets: &Budgets, budget: &Budget, now: &str) -> Option<String> {
    let over = budgets.over(&core(), budget, at(now))?;
    Some(Timestamp::from_millisecond(over.resets_ms).map(|at| at.to_string()).unwrap_or_default())
}

#[test]
fn periods_are_of_the_calendar_in_utc() {
    let mut budgets = Budgets::default();
    budgets.spend(&core(), Spending::of_call(Some(100), None), at("2028-02-28T23:59:59.999Z"));
    let cases = [
        (tokens(100, Period::Day), "2028-02-28T00:00:00Z", Some("2028-02-29T00:00:00Z")),
        (tokens(101, Period::Day), "2028-02-28T23:59:59Z", None),
        (tokens(100, Period::Day), "2028-02-29T00:00:00Z", None),
        (tokens(100, Period::Month), "2028-02-29T23:59:59.999Z", Some("2028-03-01T00:00:00Z")),
        (tokens(100, Period::Month), "2028-03-01T00:00:00Z", None),
        (tokens(100, Period::Month), "2028-01-31T00:00:00Z", None),
    ];
    for (budget, now, wanted) in cases {
        assert_eq!(resets(&budgets, &budget, now).as_deref(), wanted, "{budget:?} at {now}");
    }
    let december = at("2028-12-31T12:00:00Z");
    assert_eq!(Period::Month.ends(december), at("2029-01-01T00:00:00Z"));
    assert_eq!(Period::Month.begins(december), at("2028-12-01T00:00:00Z"));
    for odd in [i64::MIN, -1, i64::MAX] {
        assert!(Period::Day.begins(odd) <= Period::Day.ends(odd), "{odd}");
        assert!(Period::Month.begins(odd) <= Period::Month.ends(odd), "{odd}");
    }
}

#[test]
fn whoever_spends_pays() {
    let now = at("2026-11-29T15:45:01Z");
    let mut budgets = Budgets::default();
    let caller = BudgetOf::Caller("core".to_owned());
    budgets.spend(&core(), Spending::of_call(Some(60), Some(0.5)), now);
    budgets.spend(&caller, Spending::of_call(Some(7), Some(0.25)), now);
    budgets.spend(&core(), Spending::of_call(Some(40), Some(0.25)), now);
    let spent = budgets.spent(&core(), Period::Day, now);
    assert_eq!(spent, Spending { tokens: 100, dollars: 0.75, ..Spending::default() });
    assert_eq!(budgets.spent(&caller, Period::Month, now).tokens, 7);
    assert_eq!(
        budgets.spent(&BudgetOf::Collection("other".to_owned()), Period::Day, now),
        Spending::default()
    );
    let both = |tokens, dollars| Budget { tokens: Some(tokens), dollars: Some(dollars), per: Period::Day };
    let over = |budget: &Budget| budgets.over(&core(), budget, now).map(|over| over.to_string());
    assert_eq!(over(&both(101, 0.76)), None);
    assert_eq!(over(&both(100, 0.76)).as_deref(), Some("the budget of 100 tokens a day is spent"));
    assert_eq!(over(&both(101, 0.75)).as_deref(), Some("the budget of $0.75 a day is spent"));
}

#[test]
fn a_cost_that_is_not_known_is_not_nothing_and_not_counted() {
    let now = at("2026-11-29T15:45:01Z");
    let mut budgets = Budgets::default();
    let budget = dollars(1.0, Period::Month);
    for cost in [None, Some(f64::NAN), Some(0.75)] {
        budgets.spend(&core(), Spending::of_call(None, cost), now);
    }
    assert_eq!(budgets.over(&core(), &budget, now), None);
    let spent = budgets.spent(&core(), Period::Month, now);
    assert_eq!(spent, Spending { tokens: 0, tokens_unknown: 3, dollars: 0.75, cost_unknown: 2 });
    budgets.spend(&core(), Spending::of_call(Some(1), Some(0.25)), now);
    let over = budgets.over(&core(), &budget, now).unwrap_or_else(|| panic!("a dollar is spent"));
    assert_eq!((over.spent.dollars, over.spent.cost_unknown), (1.0, 2));
    assert_eq!(
        over.to_string(),
        "the budget of $1.00 a month is spent, without 2 calls whose cost is not known"
    );
}

#[test]
fn what_was_spent_before_a_start_counts_and_a_clock_set_back_loses_nothing() {
    let day = |n: i64| at("2026-11-01T12:00:00Z") + n * 24 * 3_600_000;
    let rows = (0..28).map(|n| (core(), day(n), Spending::of_call(Some(10), Some(0.1))));
    let mut budgets = Budgets::load(rows);
    assert_eq!(budgets.spent(&core(), Period::Month, day(27)).tokens, 280);
    assert_eq!(budgets.spent(&core(), Period::Day, day(27)).tokens, 10);
    // A year ahead by mistake, and back.
    budgets.spend(&core(), Spending::of_call(Some(10), None), day(400));
    assert_eq!(budgets.spent(&core(), Period::Month, day(27)).tokens, 280);
    assert_eq!(
        resets(&budgets, &tokens(280, Period::Month), "2026-11-28T12:00:00Z").as_deref(),
        Some("2026-12-01T00:00:00Z")
    );
}

#[test]
fn what_is_loaded_later_stands_in_place_of_what_was_counted_of_the_same() {
    let (core, desk) = (BudgetOf::Collection("core".to_owned()), BudgetOf::Caller("desk".to_owned()));
    let tokens = |tokens| Spending::of_call(Some(tokens), Some(0.0));
    let mut budgets = Budgets::load([(core.clone(), 0, tokens(5)), (desk.clone(), 0, tokens(7))]);
    budgets.put(Budgets::load([(core.clone(), 0, tokens(100))]));
    budgets.spend(&core, tokens(1), 0);
    let spent = |of| budgets.spent(of, Period::Day, 0).tokens;
    assert_eq!((spent(&core), spent(&desk)), (101, 7));
}
