//! `bench settings`: how many models a panel has, and how long things are waited for and kept.

use control::Remote;
use control::dto::Nothing;
use serde_json::{Map, Value};

use crate::args::Settings;
use crate::failure::Failure;
use crate::fields;
use crate::out::Out;
use crate::paint::Look;
use crate::table::Table;

pub async fn settings(remote: &Remote, command: &Settings, out: Out) -> Result<(), Failure> {
    let now = remote.setup(Nothing {}).await?.settings;
    match command {
        Settings::Get { name: None } => show(&fields::of(&now)?, out),
        Settings::Get { name: Some(name) } => {
            let all = fields::of(&now)?;
            let value = all.get(name).ok_or_else(|| unknown(name, &all))?;
            let written = if out.json { out.json(value) } else { out.line(&fields::in_words(value)) };
            Ok(written?)
        }
        Settings::Set { changes } => {
            let mut all = fields::of(&now)?;
            for (name, value) in changes {
                if !all.contains_key(name) {
                    return Err(unknown(name, &all));
                }
                all.insert(name.clone(), fields::value(name, value)?);
            }
            show(&fields::of(&remote.save_settings(fields::read(all)?).await?)?, out)
        }
    }
}

fn unknown(name: &str, all: &Map<String, Value>) -> Failure {
    let names: Vec<&str> = all.keys().map(String::as_str).collect();
    Failure::Usage(format!("there is no setting {name}; there are {}", names.join(", ")))
}

fn show(settings: &Map<String, Value>, out: Out) -> Result<(), Failure> {
    if out.json {
        return Ok(out.json(settings)?);
    }
    let mut table = Table::default();
    for (name, value) in settings {
        table.row([(name.clone(), Look::Plain), (fields::in_words(value), Look::Plain)]);
    }
    Ok(out.painted(&table.text(out.paint))?)
}
