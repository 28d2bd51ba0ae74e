//! What seating a panel costs with many models and a long record.

#![expect(clippy::disallowed_methods, reason = "it measures the real clock")]

use std::{hint::black_box, time::Instant};

use catalog::{Endpoint, Model};
use plan::{ChosenShape, Collection, Evidence, Roster, SeatingInput, Setup, Shape, Unavailable};

const CALLS: usize = 1_000_000;
const ROUNDS: usize = 1_001;

pub fn print() {
    println!("time of one decision, µs (median of {ROUNDS}; {CALLS} calls and verdicts on record)");
    println!("models   record kept, s   panel of 4 + 2   reserve   panel, nobody free");
    for models in [10, 300, 3_000] {
        let setup = setup(models);
        let roster = Roster::new(&setup);
        let begun = Instant::now();
        let evidence = record(&setup);
        let kept = begun.elapsed();
        let collection = Collection::new("core", setup.models[..4].iter().map(|model| model.alias.clone()));
        let chosen = ChosenShape { shape: Shape::new("review"), by: "set".to_owned() };
        let input = |unavailable| SeatingInput {
            collection: &collection,
            roster: &roster,
            settings: &setup.settings,
            evidence: &evidence,
            unavailable,
            has_images: false,
            documents: false,
            audio: false,
            barred: &|_| None,
            estimate_tokens: 10_000,
            nominees: &[],
            now_ms: CALLS as i64 * 1_000,
        };
        let free = input(&|_| None);
        let none = input(&|_| Some(Unavailable::Unlisted));
        let panel = plan::seat(&free, &chosen).map(|seating| seating.seats).unwrap_or_default();
        println!(
            "{models:>6}   {:>14.2}   {:>14.1}   {:>7.1}   {:>18.1}",
            kept.as_secs_f64(),
            median(|| drop(black_box(plan::seat(black_box(&free), &chosen)))),
            median(|| drop(black_box(plan::reserve(black_box(&free), &chosen.shape, &panel, "member1")))),
            median(|| drop(black_box(plan::seat(black_box(&none), &chosen)))),
        );
    }
}

fn setup(models: usize) -> Setup {
    let endpoints: Vec<Endpoint> = (0..20)
        .map(|n| Endpoint { paid: n % 3 == 0, ..Endpoint::new(format!("e{n}"), "https://example.com/v1") })
        .collect();
    let models = (0..models)
        .map(|n| Model::new(format!("model-{n}"), format!("e{}", n % 20), format!("vendor/model-{n}:free")))
        .collect();
    Setup { endpoints, models, ..Setup::default() }
}

/// A million calls, each judged, told one by one as they are when they end. In an order that is no model's.
fn record(setup: &Setup) -> Evidence {
    let shapes = ["general", "review", "code", "prose"].map(Shape::new);
    let mut evidence = Evidence::default();
    for call in 0..CALLS {
        let model = &setup.models[call * 7_919 % setup.models.len()];
        let shape = &shapes[call / 3 % shapes.len()];
        evidence.offload(&model.alias, shape, call as i64 * 1_000);
        evidence.verdict(&model.alias, shape, None, Some(call % 5 < 3));
    }
    evidence
}

fn median(run: impl Fn()) -> f64 {
    let mut times: Vec<f64> = (0..ROUNDS)
        .map(|_| {
            let begun = Instant::now();
            run();
            begun.elapsed().as_secs_f64() * 1e6
        })
        .collect();
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}
