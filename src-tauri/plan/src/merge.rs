use std::fmt;

use catalog::FieldError;

use crate::{Collection, Setup, SetupError, SetupFile, check_collection};

/// One thing an import did. Its display is a line for a person: `added endpoint groq`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    pub kind: ChangeKind,
    pub subject: Subject,
    /// The item's name; empty for settings.
    pub name: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChangeKind {
    Added,
    Changed,
}

/// What a change is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Subject {
    Endpoint,
    Model,
    Collection,
    Shape,
    Settings,
}

/// The current set-up with a file's items laid over it, and what that changes.
///
/// Additive and idempotent: an item of the file replaces the item of its name whole (a field the file leaves
/// out is back at its default), the `settings` object changes only the settings it names, nothing is removed,
/// and the same file again changes nothing. A file with anything wrong in it changes nothing at all.
///
/// Practice is built in, so a file has no say in it: it cannot name the practice endpoint or replace its
/// models, and practice members of a collection stay where they are.
pub fn merge(current: &Setup, file: SetupFile) -> Result<(Setup, Vec<Change>), SetupError> {
    let mut setup = current.clone();
    let mut changes = Vec::new();

    unique(file.endpoints.iter().map(|endpoint| endpoint.name.as_str()), "endpoints", "name")?;
    for (at, endpoint) in file.endpoints.into_iter().enumerate() {
        endpoint.check().map_err(|error| inside("endpoints", at, &error))?;
        if endpoint.is_practice() || current.is_practice_endpoint(&endpoint.name) {
            let message = format!("\"{}\" is the built-in practice endpoint; leave it out", endpoint.name);
            return Err(SetupError::new(format!("endpoints[{at}].name"), message));
        }
        let name = endpoint.name.clone();
        let change = put(&mut setup.endpoints, endpoint, |known| known.name == name);
        changes.extend(change.map(|kind| Change { kind, subject: Subject::Endpoint, name }));
    }

    setup.settings = file.settings.over(&current.settings);
    setup
        .settings
        .check()
        .map_err(|error| SetupError::new(format!("settings.{}", error.field), error.message))?;

    unique(file.shapes.iter().map(|rule| rule.name.name()), "shapes", "name")?;
    for (at, rule) in file.shapes.into_iter().enumerate() {
        rule.check().map_err(|error| inside("shapes", at, &error))?;
        let name = rule.name.name().to_owned();
        let change = put(&mut setup.shapes, rule, |known| known.name.name() == name);
        changes.extend(change.map(|kind| Change { kind, subject: Subject::Shape, name }));
    }
    let shapes = setup.shapes();

    unique(file.models.iter().map(|model| model.alias.as_str()), "models", "alias")?;
    for (at, model) in file.models.into_iter().enumerate() {
        model.check().map_err(|error| inside("models", at, &error))?;
        if current.is_practice_model(&model.alias) {
            let message = format!("\"{}\" is a practice model; choose another alias", model.alias);
            return Err(SetupError::new(format!("models[{at}].alias"), message));
        }
        shapes.check_role(&model.role).map_err(|error| inside("models", at, &error))?;
        let endpoint = setup.endpoints.iter().find(|endpoint| endpoint.name == model.endpoint);
        if endpoint.is_none_or(|endpoint| endpoint.is_practice()) {
            let message = match endpoint {
                None => format!("no endpoint \"{}\"", model.endpoint),
                Some(_) => "practice models are built in; leave it out".to_owned(),
            };
            return Err(SetupError::new(format!("models[{at}].endpoint"), message));
        }
        let name = model.alias.clone();
        let change = put(&mut setup.models, model, |known| known.alias == name);
        changes.extend(change.map(|kind| Change { kind, subject: Subject::Model, name }));
    }

    unique(file.collections.iter().map(|collection| collection.name.as_str()), "collections", "name")?;
    for (at, mut collection) in file.collections.into_iter().enumerate() {
        keep_practice(current, &mut collection);
        check_collection(&collection, &setup.models, &shapes, &setup.settings, &[]).map_err(|errors| {
            // There is at least one; the first is the first in reading order.
            let (field, message) =
                errors.into_iter().next().map(|error| (error.field, error.message)).unwrap_or_default();
            SetupError::new(format!("collections[{at}].{field}"), message)
        })?;
        let name = collection.name.clone();
        let change = put(&mut setup.collections, collection, |known| known.name == name);
        changes.extend(change.map(|kind| Change { kind, subject: Subject::Collection, name }));
    }

    if setup.settings != current.settings {
        changes.push(Change { kind: ChangeKind::Changed, subject: Subject::Settings, name: String::new() });
    }
    Ok((setup, changes))
}

impl fmt::Display for Change {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = match self.kind {
            ChangeKind::Added => "added",
            ChangeKind::Changed => "changed",
        };
        match self.subject {
            Subject::Endpoint => write!(f, "{kind} endpoint {}", self.name),
            Subject::Model => write!(f, "{kind} model {}", self.name),
            Subject::Collection => write!(f, "{kind} collection {}", self.name),
            Subject::Shape => write!(f, "{kind} shape {}", self.name),
            Subject::Settings => write!(f, "{kind} settings"),
        }
    }
}

/// Replaces the item `same` finds, or appends. `None` when that item was equal already.
fn put<T: PartialEq>(items: &mut Vec<T>, item: T, same: impl Fn(&T) -> bool) -> Option<ChangeKind> {
    match items.iter_mut().find(|known| same(known)) {
        Some(known) if *known == item => None,
        Some(known) => {
            *known = item;
            Some(ChangeKind::Changed)
        }
        None => {
            items.push(item);
            Some(ChangeKind::Added)
        }
    }
}

/// Practice members an existing collection has, put back where they were: an export leaves them out, and
/// importing it again must change nothing.
fn keep_practice(current: &Setup, collection: &mut Collection) {
    let Some(known) = current.collections.iter().find(|known| known.name == collection.name) else { return };
    for (at, alias) in known.members.iter().enumerate() {
        if current.is_practice_model(alias) && !collection.members.contains(alias) {
            collection.members.insert(at.min(collection.members.len()), alias.clone());
        }
    }
    if collection.merger.is_none() {
        collection.merger = known.merger.clone().filter(|alias| current.is_practice_model(alias));
    }
}

fn unique<'a>(names: impl Iterator<Item = &'a str>, section: &str, field: &str) -> Result<(), SetupError> {
    let mut seen = std::collections::HashMap::new();
    for (at, name) in names.enumerate() {
        if let Some(first) = seen.insert(name, at) {
            let message = format!("\"{name}\" is already {section}[{first}]");
            return Err(SetupError::new(format!("{section}[{at}].{field}"), message));
        }
    }
    Ok(())
}

fn inside(section: &str, at: usize, error: &FieldError) -> SetupError {
    SetupError::new(format!("{section}[{at}].{}", error.field), &error.message)
}
