//! `bench model show`: what is known of a model, and who says so.

use control::dto::{FactSource, FactTold, FactView, ModelSheet};
use serde_json::Value;

use crate::failure::Failure;
use crate::out::Out;
use crate::paint::{Look, Painted};
use crate::table::Table;

pub fn show(sheet: &ModelSheet, out: Out) -> Result<(), Failure> {
    if out.json {
        return Ok(out.json(sheet)?);
    }
    out.painted(&shown(sheet, out))?;
    Ok(())
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
}
