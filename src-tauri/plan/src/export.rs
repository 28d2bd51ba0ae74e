use crate::{Collection, Setup};

/// The set-up as a file (setup-file.md): pretty JSON with a last newline, the same bytes for the same set-up.
///
/// Practice is built in and left out: its endpoint, its models, its place in a collection, and a collection
/// with no other member. There is no secret to leave out: a set-up never holds one.
pub fn export(setup: &Setup) -> String {
    let mut shown = setup.clone();
    shown.endpoints.retain(|endpoint| !endpoint.is_practice());
    shown.models.retain(|model| !setup.is_practice_endpoint(&model.endpoint));
    shown.collections =
        setup.collections.iter().filter_map(|collection| without_practice(setup, collection)).collect();
    // Serialising plain data to a string has no way to fail.
    let mut text = serde_json::to_string_pretty(&shown).unwrap_or_default();
    text.push('\n');
    text
}

fn without_practice(setup: &Setup, collection: &Collection) -> Option<Collection> {
    let real = |alias: &String| !setup.is_practice_model(alias);
    let members: Vec<String> = collection.members.iter().filter(|alias| real(alias)).cloned().collect();
    if members.is_empty() {
        return None;
    }
    Some(Collection { members, merger: collection.merger.clone().filter(real), ..collection.clone() })
}
