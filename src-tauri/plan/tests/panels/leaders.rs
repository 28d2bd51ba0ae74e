use plan::{Leaders, Shape, Suite, Unavailable, best_records, primary_and_second};

use crate::bench::{Bench, at};

fn leaders(bench: &Bench) -> (Option<String>, Option<String>) {
    let Leaders { primary, second } = bench.input(|input| primary_and_second(input, &Shape::new("review")));
    (primary.map(|it| it.alias), second.map(|it| it.alias))
}

fn found(bench: &mut Bench, alias: &str, verified: u32, tasks: u32, recall: f64) {
    bench.evidence.suite(alias, Suite { verified, tasks, recall });
}

fn both(primary: &str, second: &str) -> (Option<String>, Option<String>) {
    (Some(primary.to_owned()), Some(second.to_owned()))
}

#[test]
fn most_verified_then_recall_then_paid_and_the_stalest_close_second() {
    let mut bench =
        Bench::new().models(["a", "b", "c", "d"]).worked("c", "review", 99, 3).worked("d", "review", 1, 9);
    found(&mut bench, "a", 10, 4, 0.50);
    found(&mut bench, "b", 9, 4, 0.90);
    found(&mut bench, "c", 5, 2, 0.43);
    found(&mut bench, "d", 5, 2, 0.425);
    // 0.85 of 0.50 is 0.425: b, c and d are close; b was never asked.
    assert_eq!(leaders(&bench), both("a", "b"));
    found(&mut bench, "b", 9, 1, 0.90);
    assert_eq!(leaders(&bench), both("a", "d"), "one task is not enough");
    found(&mut bench, "d", 5, 2, 0.42);
    assert_eq!(leaders(&bench), both("a", "c"), "too far behind");
    found(&mut bench, "c", 10, 4, 0.51);
    assert_eq!(leaders(&bench), both("c", "a"), "recall breaks the tie");
    found(&mut bench, "c", 10, 4, 0.50);
    let mut bench = bench.model(at("paid", "p", "x/A"));
    found(&mut bench, "p", 10, 4, 0.50);
    assert_eq!(leaders(&bench), both("p", "c"), "paid breaks the tie, and a is of its family");
    bench.away.insert("p".to_owned(), Unavailable::NoKey);
    assert_eq!(leaders(&bench), both("c", "a"));
}

#[test]
fn without_suites_the_best_record_is_primary_and_nobody_is_second() {
    let bench = Bench::new().models(["a", "b"]).members(["b"]).worked("b", "prose", 1, 1);
    assert_eq!(leaders(&bench), (Some("b".to_owned()), None), "a member may lead");
    assert_eq!(leaders(&Bench::new()), (None, None));
    let nothing = Bench::new().models(["a"]);
    let leaders = nothing.input(|input| primary_and_second(input, &Shape::GENERAL));
    assert_eq!(leaders.primary.map(|it| it.why).as_deref(), Some("no evidence yet"));
}

#[test]
fn best_records_in_order() {
    let bench = Bench::new()
        .models(["c", "a", "b"])
        .worked("a", "review", 1, 1)
        .worked("b", "review", 2, 1)
        .worked("c", "prose", 9, 1);
    let best = bench.input(|input| best_records(input, &Shape::new("review"), 2));
    let order: Vec<String> = best.iter().map(|it| format!("{}: {}", it.alias, it.why)).collect();
    assert_eq!(
        order,
        [
            "b: 2 useful of 2 judged on review, 2 of 2 overall",
            "a: 1 useful of 1 judged on review, 1 of 1 overall"
        ]
    );
}
