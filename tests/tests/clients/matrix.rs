//! Which SDK plays which scenario with members of which dialect: `tests/clients/matrix.json`.

use std::{collections::BTreeMap, fs};

use bench_tests::{process::repository, upstream::Api};
use serde_json::Value;

/// By language: the names of its cases, `sdk::upstream::scenario`. The SDK's name begins with its language.
pub type Cases = BTreeMap<String, Vec<String>>;

/// What stands for the upstream of a scenario that none is asked in.
const ANY: &str = "any";

/// Every case: what holds for all, then what an SDK adds, without what its API lacks.
pub fn cases() -> Cases {
    let file = repository().join("tests/clients/matrix.json");
    let matrix: Value = serde_json::from_str(&fs::read_to_string(file).expect("matrix.json")).expect("JSON");
    let sdks = matrix["sdks"].as_object().expect("sdks");
    sdks.iter()
        .map(|(language, sdks)| {
            let sdks = sdks.as_object().expect("SDKs by name");
            let names =
                sdks.iter().flat_map(|(sdk, plays)| cases_of(&matrix, &format!("{language}-{sdk}"), plays));
            (language.clone(), names.collect())
        })
        .collect()
}

fn cases_of(matrix: &Value, sdk: &str, plays: &Value) -> Vec<String> {
    let has = |scenario: &&str| plays["lacks"].get(scenario).is_none();
    let known = words(&matrix["each"]).chain(words(&matrix["once"])).collect::<Vec<_>>();
    for lacking in plays["lacks"].as_object().into_iter().flatten() {
        assert!(
            known.contains(&lacking.0.as_str()),
            "matrix.json: {sdk} lacks {}, which is no scenario",
            lacking.0
        );
    }
    let each = Api::ALL
        .into_iter()
        .flat_map(|api| words(&matrix["each"]).filter(has).map(move |scenario| (api.name(), scenario)));
    let once =
        words(&matrix["once"]).filter(has).chain(words(&plays["also"])).map(|scenario| (ANY, scenario));
    each.chain(once).map(|(upstream, scenario)| format!("{sdk}::{upstream}::{scenario}")).collect()
}

fn words(list: &Value) -> impl Iterator<Item = &str> {
    list.as_array().into_iter().flatten().filter_map(Value::as_str)
}
