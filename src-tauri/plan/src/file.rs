use std::collections::BTreeMap;

use catalog::{Endpoint, Model};
use serde::Deserialize;
use serde_json::{Value, error::Category, value::RawValue};

use crate::{
    Collection, Settings, SetupError, ShapeRule,
    setup::{OnHangup, SETUP_VERSION},
};

/// A set-up file as it was read (setup-file.md): well formed, not yet checked against anything.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(
    deny_unknown_fields,
    expecting = "an object with version, endpoints, models, collections, shapes, settings"
)]
pub struct SetupFile {
    pub version: u32,
    #[serde(default)]
    pub endpoints: Vec<Endpoint>,
    #[serde(default)]
    pub models: Vec<Model>,
    #[serde(default)]
    pub collections: Vec<Collection>,
    #[serde(default)]
    pub shapes: Vec<ShapeRule>,
    #[serde(default)]
    pub settings: NamedSettings,
}

/// The settings a file names; the others stay as they are.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default, expecting = "an object of settings")]
pub struct NamedSettings {
    pub max_calls: Option<u32>,
    pub max_explorers: Option<u32>,
    pub reserves: Option<u32>,
    pub seat_seconds: Option<u32>,
    pub idle_seconds: Option<u32>,
    pub explorer_grace: Option<u32>,
    pub panel_on_hangup: Option<OnHangup>,
    pub keep_text_days: Option<u32>,
    pub responses_days: Option<u32>,
    pub rotate: Option<f64>,
    pub conversation_minutes: Option<u32>,
    pub show_reasoning_early: Option<bool>,
    pub route_on_hangup: Option<OnHangup>,
    pub keep_route_text: Option<bool>,
    pub list_models: Option<bool>,
    pub catalog_refresh: Option<bool>,
    pub require_keys: Option<bool>,
}

/// Reads a set-up file. Every section but `version` may be absent.
///
/// A text that is not JSON is reported with line and column, a wrong value with its path
/// (`models[3].endpoint`), an unknown field by its name.
pub fn parse(text: &str) -> Result<SetupFile, SetupError> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    // The version first: a newer file may hold fields this program has no words for, and "unknown field"
    // would be the wrong complaint.
    check_version(text)?;
    let mut deserializer = serde_json::Deserializer::from_str(text);
    let file = serde_path_to_error::deserialize(&mut deserializer)
        .map_err(|error| at_path(&error.path().to_string(), error.inner()))?;
    deserializer.end().map_err(|error| at_path(".", &error))?;
    Ok(file)
}

impl NamedSettings {
    /// `current` with the named settings replaced.
    pub fn over(&self, current: &Settings) -> Settings {
        Settings {
            max_calls: self.max_calls.unwrap_or(current.max_calls),
            max_explorers: self.max_explorers.unwrap_or(current.max_explorers),
            reserves: self.reserves.unwrap_or(current.reserves),
            seat_seconds: self.seat_seconds.unwrap_or(current.seat_seconds),
            idle_seconds: self.idle_seconds.unwrap_or(current.idle_seconds),
            explorer_grace: self.explorer_grace.unwrap_or(current.explorer_grace),
            panel_on_hangup: self.panel_on_hangup.unwrap_or(current.panel_on_hangup),
            keep_text_days: self.keep_text_days.unwrap_or(current.keep_text_days),
            responses_days: self.responses_days.unwrap_or(current.responses_days),
            rotate: self.rotate.unwrap_or(current.rotate),
            conversation_minutes: self.conversation_minutes.unwrap_or(current.conversation_minutes),
            show_reasoning_early: self.show_reasoning_early.unwrap_or(current.show_reasoning_early),
            route_on_hangup: self.route_on_hangup.unwrap_or(current.route_on_hangup),
            keep_route_text: self.keep_route_text.unwrap_or(current.keep_route_text),
            list_models: self.list_models.unwrap_or(current.list_models),
            catalog_refresh: self.catalog_refresh.unwrap_or(current.catalog_refresh),
            require_keys: self.require_keys.unwrap_or(current.require_keys),
        }
    }
}

fn check_version(text: &str) -> Result<(), SetupError> {
    // Only whether it is JSON: what is wrong with a value is said with its place.
    let whole: &RawValue = serde_json::from_str(text).map_err(|error| at_path(".", &error))?;
    if !whole.get().starts_with('{') {
        return Err(SetupError::new("set-up", "expected an object: {\"version\": 1, …}"));
    }
    let fields: BTreeMap<String, &RawValue> =
        serde_json::from_str(whole.get()).map_err(|error| at_path(".", &error))?;
    let version = fields.get("version").map(|version| serde_json::from_str::<Value>(version.get()));
    match version.map(Result::unwrap_or_default) {
        Some(version) if version.as_u64() == Some(SETUP_VERSION.into()) => Ok(()),
        Some(version) if version.as_u64().is_some_and(|version| version > SETUP_VERSION.into()) => {
            Err(SetupError::new(
                "version",
                format!(
                    "{version} is newer than this program reads ({SETUP_VERSION}); update Benchwarmers, then import"
                ),
            ))
        }
        Some(version) => Err(SetupError::new(
            "version",
            format!("{version} is not a version; this program reads {SETUP_VERSION}"),
        )),
        None => {
            Err(SetupError::new("version", format!("missing; this program reads version {SETUP_VERSION}")))
        }
    }
}

fn at_path(path: &str, error: &serde_json::Error) -> SetupError {
    let text = error.to_string();
    // serde_json adds the position to every message; a path says it better, where there is one.
    let position = format!(" at line {} column {}", error.line(), error.column());
    let message = text.strip_suffix(&position).unwrap_or(&text);
    match error.classify() {
        Category::Data if path != "." => SetupError::new(path, message),
        // Written right, and past every number there is.
        Category::Syntax if path != "." && message == "number out of range" => SetupError::new(path, message),
        Category::Data => SetupError::new("set-up", message),
        Category::Syntax | Category::Eof | Category::Io => SetupError::new(
            format!("line {}, column {}", error.line(), error.column()),
            format!("not JSON: {message}"),
        ),
    }
}
