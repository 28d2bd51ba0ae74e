//! `bench model show`: what is known of a model and who says so, and what its last probes found.

use control::dto::{FactSource, FactTold, FactView, ModelSheet, OnboardingLog, OnboardingOutcome};
use serde_json::Value;

use crate::failure::Failure;
use crate::onboard::step;
use crate::out::Out;
use crate::paint::{Look, Painted};
use crate::table::Table;

pub fn show(sheet: &ModelSheet, out: Out) -> Result<(), Failure> {
    if out.json {
        return Ok(out.json(sheet)?);
    }
    out.painted(&shown(sheet, out))?;
    out.line("")?;
    Ok(probed(&sheet.probes)
        .print(out, "never probed; bench model probe ALIAS asks it a few short things")?)
}

fn shown(sheet: &ModelSheet, out: Out) -> Painted {
    let mut table = Table::new(&["fact", "value", "from", "others say"]);
    for fact in &sheet.facts {
        let (value, look) = match &fact.value {
            Value::Null => ("unknown".to_owned(), Look::Dim),
            value => (in_words(value), Look::Plain),
        };
        table.row([
            (fact.name.clone(), Look::Plain),
            (value, look),
            (holding(fact), Look::Plain),
            (others(fact), Look::Dim),
        ]);
    }
    table.text(out.paint)
}

/// The last probe of each kind.
fn probed(probes: &[OnboardingLog]) -> Table {
    let head = ["probe", "when", "result", "seconds", "first token", "tokens/s", "tokens", ""];
    let mut table = Table::new(&head);
    for probe in probes {
        let (result, look) = match probe.outcome {
            OnboardingOutcome::Worked => ("ok", Look::Good),
            OnboardingOutcome::NotSeen => ("not seen", Look::Plain),
            OnboardingOutcome::Failed => ("failed", Look::Bad),
            OnboardingOutcome::Skipped => ("left out", Look::Dim),
        };
        let number = |number: Option<f64>, unit: &str| match number {
            Some(number) => format!("{number:.2}{unit}"),
            None => String::new(),
        };
        let tokens = match (probe.tokens_in, probe.tokens_out) {
            (None, None) => String::new(),
            (read, written) => {
                let count = |count: Option<u64>| count.map_or("?".to_owned(), |count| count.to_string());
                format!("{} in, {} out", count(read), count(written))
            }
        };
        table.row([
            (step(probe.step).to_owned(), Look::Plain),
            (probe.at.replace('T', " ").chars().take(16).collect(), Look::Dim),
            (result.to_owned(), look),
            (number(probe.seconds, " s"), Look::Plain),
            (number(probe.first_token_s, " s"), Look::Plain),
            (number(probe.tokens_a_s, ""), Look::Plain),
            (tokens, Look::Plain),
            (probe.said.clone(), Look::Dim),
        ]);
    }
    table
}

/// Whose word holds, and of when it is.
fn holding(fact: &FactView) -> String {
    let told = fact.told.iter().find(|told| Some(told.source) == fact.source);
    told.map_or_else(String::new, |told| match day(told) {
        Some(day) => format!("{}, {day}", name(told.source)),
        None => name(told.source).to_owned(),
    })
}

/// What the others say, where it is something else.
fn others(fact: &FactView) -> String {
    let other = |told: &&FactTold| Some(told.source) != fact.source && told.value != fact.value;
    let words: Vec<String> = fact
        .told
        .iter()
        .filter(other)
        .map(|told| format!("{}: {}", name(told.source), in_words(&told.value)))
        .collect();
    words.join("; ")
}

fn name(source: FactSource) -> &'static str {
    match source {
        FactSource::Snapshot => "shipped catalog",
        FactSource::Refresh => "refreshed catalog",
        FactSource::Listing => "endpoint's list",
        FactSource::Learned => "learned from calls",
        FactSource::Owner => "you",
    }
}

fn day(told: &FactTold) -> Option<&str> {
    told.at.as_deref().map(|at| at.get(..10).unwrap_or(at))
}

fn in_words(value: &Value) -> String {
    match value {
        Value::Bool(true) => "yes".to_owned(),
        Value::Bool(false) => "no".to_owned(),
        Value::Object(parts) => {
            let parts: Vec<String> = parts.iter().map(|(part, price)| format!("{part} {price}")).collect();
            parts.join(", ")
        }
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn who_says_what() {
        let told = |source, value, at: Option<&str>| FactTold { source, value, at: at.map(str::to_owned) };
        let fact = |value: Value, source, told| FactView { name: "f".to_owned(), value, source, told };
        let window = fact(
            json!(8192),
            Some(FactSource::Learned),
            vec![
                told(FactSource::Snapshot, json!(128_000), Some("2026-08-18")),
                told(FactSource::Listing, json!(8192), Some("2026-11-29T10:00:00Z")),
                told(FactSource::Learned, json!(8192), Some("2026-11-30T10:00:00Z")),
            ],
        );
        assert_eq!(holding(&window), "learned from calls, 2026-11-30");
        assert_eq!(others(&window), "shipped catalog: 128000");
        let price = fact(
            json!({"input": 0.5, "output": 1.5}),
            Some(FactSource::Owner),
            vec![told(FactSource::Owner, json!({"input": 0.5, "output": 1.5}), None)],
        );
        assert_eq!((holding(&price), others(&price)), ("you".to_owned(), String::new()));
        assert_eq!(in_words(&price.value), "input 0.5, output 1.5");
        assert_eq!(in_words(&json!(true)), "yes");
    }

    #[test]
    fn what_the_last_probes_found() {
        let probe: OnboardingLog = serde_json::from_value(json!({
            "step": "tool", "at": "2026-11-30T10:07:09Z", "outcome": "failed", "class": "bad_request",
            "seconds": 0.5, "first_token_s": null, "tokens_a_s": null, "tokens_in": 61, "tokens_out": null,
            "said": "it does not support tools (400)",
        }))
        .unwrap();
        let text = probed(&[probe]).text(crate::paint::Paint(false)).to_string();
        let line: Vec<&str> = text.lines().nth(1).unwrap().split("  ").filter(|it| !it.is_empty()).collect();
        let wanted = ["tool call", "2026-11-30 10:07", "failed", "0.50 s", "61 in, ? out"];
        assert_eq!(line.iter().map(|it| it.trim()).collect::<Vec<_>>()[..5], wanted);
        assert!(text.ends_with("it does not support tools (400)"), "{text}");
    }
}
