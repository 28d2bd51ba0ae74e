//! What is learned of models and limits, and the queue of models that are taken on.

use store::{
    CooldownRow, FactsRow, LearnedRow, OnboardingRow, PaidNowRow, ProbeRow, QuotaRow, RefreshedRow,
    StoreError,
};

use crate::harness::Folder;

fn waiting(served: &str) -> OnboardingRow {
    OnboardingRow {
        endpoint: "fake".to_owned(),
        served: served.to_owned(),
        alias: served.to_owned(),
        mode: "quick".to_owned(),
        state: "waiting".to_owned(),
        step: "listed".to_owned(),
        log_json: "[]".to_owned(),
        ..OnboardingRow::default()
    }
}

#[test]
fn a_queue_is_there_after_a_restart_and_holds_a_model_once() {
    let folder = Folder::new();
    let store = folder.open();
    let added = store.onboard(vec![waiting("a"), waiting("b"), waiting("a")]).blocking_wait().unwrap();
    assert_eq!(
        added.iter().map(|row| (row.id, row.served.as_str())).collect::<Vec<_>>(),
        [(1, "a"), (2, "b")]
    );
    let running = OnboardingRow {
        state: "running".to_owned(),
        step: "large".to_owned(),
        started_ms: Some(5),
        log_json: r#"["seen"]"#.to_owned(),
        ..added[0].clone()
    };
    store.onboarding_changed(running.clone()).blocking_wait().unwrap();
    store.close();
    let store = folder.open();
    assert_eq!(store.onboarding().unwrap(), [running.clone(), added[1].clone()]);
    assert_eq!(store.onboard(vec![waiting("a")]).blocking_wait(), Ok(Vec::new()), "it is being taken on");

    // What is done may be taken on again, in its own place; what is taken on stays when the rest is cleared.
    let done = OnboardingRow { state: "done".to_owned(), ended_ms: Some(6), ..added[1].clone() };
    store.onboarding_changed(done).blocking_wait().unwrap();
    let again = store.onboard(vec![waiting("b")]).blocking_wait().unwrap();
    assert_eq!(store.onboarding().unwrap(), [running.clone(), again[0].clone()]);
    assert_eq!(store.clear_onboarding(false).blocking_wait(), Ok(0), "nothing is over");
    let failed = OnboardingRow { state: "failed".to_owned(), ..again[0].clone() };
    store.onboarding_changed(failed).blocking_wait().unwrap();
    assert_eq!(store.clear_onboarding(false).blocking_wait(), Ok(1));
    let again = store.onboard(vec![waiting("b"), waiting("c")]).blocking_wait().unwrap();
    assert_eq!(store.clear_onboarding(true).blocking_wait(), Ok(2));
    assert_eq!(store.onboarding().unwrap(), [running]);
    let gone = store.onboarding_changed(again[0].clone()).blocking_wait();
    assert_eq!(gone, Err(StoreError::Conflict(format!("no model {} is in the queue", again[0].id))));
}

#[test]
fn what_is_kept_takes_the_place_of_what_was() {
    let folder = Folder::new();
    let store = folder.open();
    let probe = |ok, seconds| ProbeRow {
        endpoint: "fake".to_owned(),
        served: "a".to_owned(),
        step: "word".to_owned(),
        ok,
        seconds,
        tokens_in: Some(61),
        tokens_out: Some(12),
        said: "it said: ready".to_owned(),
        ..ProbeRow::default()
    };
    let facts = |source: &str, body: &str| FactsRow {
        endpoint: "fake".to_owned(),
        served: "a".to_owned(),
        source: source.to_owned(),
        body: body.to_owned(),
        at_ms: 1,
    };
    let quota = |window_s, remaining| QuotaRow {
        connection: "fake".to_owned(),
        metric: "tokens".to_owned(),
        window_s,
        allowed: Some(u64::MAX),
        remaining,
        ..QuotaRow::default()
    };
    let cooldown = |name: &str| CooldownRow {
        kind: "connection".to_owned(),
        name: name.to_owned(),
        ..CooldownRow::default()
    };
    let learned = |what: &str, body: &str| LearnedRow {
        endpoint: "fake".to_owned(),
        served: "a".to_owned(),
        what: what.to_owned(),
        body: body.to_owned(),
        at_ms: 1,
    };
    let paid = |allowed_ms| PaidNowRow {
        endpoint: "fake".to_owned(),
        served: "a".to_owned(),
        allowed_ms,
        ..PaidNowRow::default()
    };
    let catalog = |body: &[u8]| RefreshedRow {
        source: "models.dev".to_owned(),
        body: body.to_vec(),
        ..RefreshedRow::default()
    };

    drop(store.probed(probe(true, Some(0.5))));
    drop(store.probed(probe(false, Some(f64::NAN))));
    drop(store.keep_facts(vec![facts("listing", "1"), facts("learned", "2")]));
    drop(store.keep_facts(vec![facts("listing", "3")]));
    drop(store.keep_quotas(vec![quota(60, Some(1)), quota(3600, None)]));
    drop(store.keep_quotas(vec![quota(60, Some(0))]));
    drop(store.keep_cooldowns(vec![cooldown("a"), cooldown("b")]));
    drop(store.keep_cooldowns(vec![cooldown("c")]));
    drop(store.keep_learned(learned("quirks", "1")));
    drop(store.keep_learned(learned("quirks", "2")));
    drop(store.keep_learned(learned("limits", "3")));
    drop(store.keep_paid_now(paid(None)));
    drop(store.keep_paid_now(paid(Some(7))));
    drop(store.keep_refreshed(catalog(b"old")));
    drop(store.keep_refreshed(catalog(b"new")));
    store
        .dismiss("fake".to_owned(), vec!["x".to_owned(), "a".to_owned(), "x".to_owned()])
        .blocking_wait()
        .unwrap();
    store.close();

    let store = folder.open();
    assert_eq!(store.probes().unwrap(), [probe(false, Some(0.0))]);
    assert_eq!(store.probes_of("fake", "a").unwrap(), [probe(false, Some(0.0))]);
    assert_eq!(store.probes_of("fake", "b").unwrap(), []);
    assert_eq!(store.facts().unwrap(), [facts("learned", "2"), facts("listing", "3")]);
    let most = |row: QuotaRow| QuotaRow { allowed: Some(i64::MAX as u64), ..row };
    assert_eq!(store.quotas().unwrap(), [most(quota(60, Some(0))), most(quota(3600, None))]);
    assert_eq!(store.cooldowns().unwrap(), [cooldown("c")]);
    assert_eq!(store.learned().unwrap(), [learned("limits", "3"), learned("quirks", "2")]);
    assert_eq!(store.paid_now().unwrap(), [paid(Some(7))]);
    assert_eq!(store.refreshed("models.dev").unwrap(), Some(catalog(b"new")));
    assert_eq!(store.refreshed("openrouter").unwrap(), None);
    assert_eq!(store.dismissed("fake").unwrap(), ["a", "x"]);
    assert_eq!(store.dismissed("other").unwrap(), [""; 0]);

    drop(store.forget_probes("fake".to_owned()));
    drop(store.forget_facts("fake".to_owned(), "listing".to_owned()));
    drop(store.forget_learned("fake".to_owned(), "a".to_owned(), "quirks"));
    drop(store.forget_paid_now("fake".to_owned(), "a".to_owned()));
    store.restore_dismissed("fake".to_owned(), vec!["a".to_owned()]).blocking_wait().unwrap();
    assert_eq!(store.facts().unwrap(), [facts("learned", "2")]);
    assert_eq!(store.probes().unwrap(), []);
    assert_eq!(store.learned().unwrap(), [learned("limits", "3")]);
    assert!(store.paid_now().unwrap().is_empty());
    assert_eq!(store.dismissed("fake").unwrap(), ["x"]);
}
