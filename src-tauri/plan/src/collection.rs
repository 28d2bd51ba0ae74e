use std::collections::HashSet;

use catalog::Model;
use serde::{Deserialize, Deserializer, Serialize};
use wire::ReplyMode;

use crate::{Budget, Settings, Shape, Shapes, shape};

/// A named group of members (panel.md §1).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Collection {
    /// `[a-z0-9][a-z0-9-]{1,31}`
    pub name: String,
    /// At most 300 characters; read by orchestrators choosing a collection.
    #[serde(default)]
    pub description: String,
    /// At most 8 of at most 24 characters.
    #[serde(default)]
    pub tags: Vec<String>,
    /// 1 to `max_calls` aliases, unique.
    pub members: Vec<String>,
    /// `None` is automatic, `""` in JSON.
    #[serde(default, with = "shape::or_automatic")]
    pub shape: Option<Shape>,
    #[serde(default = "all")]
    pub reply: ReplyMode,
    /// An alias; `""` in JSON is none too.
    #[serde(default, deserialize_with = "none_if_empty")]
    pub merger: Option<String>,
    #[serde(default)]
    pub when_too_large: WhenTooLarge,
    /// How many other members a routed turn is also put to, once its caller has been answered: 0 to 3.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub shadow: u32,
    /// 0–1: the part of turns that are put to shadows.
    #[serde(default = "every", skip_serializing_if = "is_every")]
    pub shadow_share: f64,
    /// Tokens that shadows may take in a day, in and out together; 0 is no limit.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub shadow_tokens: u64,
    /// What its calls may take; over it, whoever asks is refused until it resets.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub budget: Option<Budget>,
}

/// What becomes of a panel when the prompt does not fit a member's window.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum WhenTooLarge {
    /// The panel is refused, naming each such member.
    #[default]
    Refuse,
    /// The member is left out, and the rest is asked.
    Skip,
}

/// A rule a collection breaks. `field` is its path inside the collection: `members[1]`.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{field}: {message}")]
pub struct CollectionError {
    pub field: String,
    pub message: String,
}

/// Every rule of panel.md §1 that a collection breaks, in the order of its fields.
///
/// `others` are the collections it must not share its name with: all but the one being edited.
pub fn check_collection(
    collection: &Collection,
    models: &[Model],
    shapes: &Shapes,
    settings: &Settings,
    others: &[Collection],
) -> Result<(), Vec<CollectionError>> {
    let mut errors = Vec::new();
    let mut wrong = |field: String, message: String| errors.push(CollectionError { field, message });
    let known = |alias: &str| models.iter().any(|model| model.alias == alias);

    let name = &collection.name;
    if !valid_collection_name(name) {
        wrong(
            "name".into(),
            "2 to 32 lower-case letters, digits and -, beginning with a letter or digit".into(),
        );
    } else if others.iter().any(|other| other.name == *name) {
        wrong("name".into(), format!("there is a collection \"{name}\" already"));
    }

    let length = collection.description.chars().count();
    if length > LONGEST_DESCRIPTION {
        wrong("description".into(), format!("at most {LONGEST_DESCRIPTION} characters, not {length}"));
    } else if collection.description.contains(char::is_control) {
        wrong("description".into(), "one line without control characters".into());
    }

    if collection.tags.len() > MOST_TAGS {
        wrong("tags".into(), format!("at most {MOST_TAGS} tags, not {}", collection.tags.len()));
    }
    let mut seen = HashSet::new();
    for (at, tag) in collection.tags.iter().enumerate() {
        if tag.trim() != tag || tag.is_empty() || tag.contains(char::is_control) {
            wrong(format!("tags[{at}]"), "a tag is a word without spaces at its ends".into());
        } else if tag.chars().count() > LONGEST_TAG {
            wrong(format!("tags[{at}]"), format!("at most {LONGEST_TAG} characters"));
        } else if !seen.insert(tag) {
            wrong(format!("tags[{at}]"), format!("\"{tag}\" is there twice"));
        }
    }

    let members = collection.members.len();
    let most = settings.max_calls as usize;
    if members == 0 {
        wrong("members".into(), "at least one member".into());
    } else if members > most {
        wrong("members".into(), format!("at most {most} members (max_calls), not {members}"));
    }
    let mut seen = HashSet::new();
    for (at, alias) in collection.members.iter().enumerate() {
        if !seen.insert(alias) {
            wrong(format!("members[{at}]"), format!("\"{alias}\" is there twice"));
        } else if !known(alias) {
            wrong(format!("members[{at}]"), format!("no model \"{alias}\""));
        }
    }

    if let Some(shape) = &collection.shape
        && shapes.get(shape.name()).is_none()
    {
        let (name, names) = (shape.name(), shapes.names());
        wrong("shape".into(), format!("unknown shape {name:?}; use one of {names}, or \"\" for automatic"));
    }

    if let Some(merger) = &collection.merger
        && !known(merger)
    {
        wrong("merger".into(), format!("no model \"{merger}\""));
    }
    if collection.shadow > MOST_SHADOWS {
        wrong("shadow".into(), format!("0 to {MOST_SHADOWS}, not {}", collection.shadow));
    }
    if !(0.0..=1.0).contains(&collection.shadow_share) {
        wrong("shadow_share".into(), format!("0 to 1, not {}", collection.shadow_share));
    }
    if let Some(Err(error)) = collection.budget.as_ref().map(Budget::check) {
        wrong(error.field, error.message);
    }
    if errors.is_empty() { Ok(()) } else { Err(errors) }
}

/// `[a-z0-9][a-z0-9-]{1,31}`
pub fn valid_collection_name(name: &str) -> bool {
    let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit();
    (2..=32).contains(&name.len()) && name.starts_with(plain) && name.chars().all(|c| plain(c) || c == '-')
}

const LONGEST_DESCRIPTION: usize = 300;
const MOST_TAGS: usize = 8;
const MOST_SHADOWS: u32 = 3;
const LONGEST_TAG: usize = 24;

fn all() -> ReplyMode {
    ReplyMode::All
}

fn every() -> f64 {
    1.0
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it with a reference")]
fn is_every(share: &f64) -> bool {
    *share == every()
}

fn is_zero<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

fn none_if_empty<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<String>, D::Error> {
    Ok(Option::<String>::deserialize(deserializer)?.filter(|text| !text.is_empty()))
}

impl Collection {
    /// What its turns are counted for: nobody is asked what a turn's shape is.
    pub fn shape_or_general(&self) -> Shape {
        self.shape.clone().unwrap_or(Shape::GENERAL)
    }

    /// A collection of these members with nothing else set.
    pub fn new(name: impl Into<String>, members: impl IntoIterator<Item = impl Into<String>>) -> Collection {
        Collection {
            name: name.into(),
            description: String::new(),
            tags: Vec::new(),
            members: members.into_iter().map(Into::into).collect(),
            shape: None,
            reply: ReplyMode::All,
            merger: None,
            when_too_large: WhenTooLarge::default(),
            shadow: 0,
            shadow_share: 1.0,
            shadow_tokens: 0,
            budget: None,
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::Period;

    fn core() -> Collection {
        Collection::new("core", ["alpha", "beta"])
    }

    fn errors(collection: &Collection) -> Vec<String> {
        let models: Vec<Model> =
            ["alpha", "beta", "gamma"].map(|alias| Model::new(alias, "fake", alias)).into();
        let settings = Settings { max_calls: 3, ..Settings::default() };
        let others = [Collection::new("taken", ["alpha"])];
        match check_collection(collection, &models, &Shapes::with(&[]), &settings, &others) {
            Ok(()) => Vec::new(),
            Err(errors) => errors.iter().map(ToString::to_string).collect(),
        }
    }

    #[test]
    fn every_rule() {
        let members = |members: &[&str]| Collection::new("core", members.iter().copied());
        let tags =
            |tags: Vec<&str>| Collection { tags: tags.into_iter().map(str::to_owned).collect(), ..core() };
        let budget = |tokens, dollars| {
            let per = Period::Day;
            Collection { budget: Some(Budget { tokens, dollars, per }), ..core() }
        };
        let name = |name: &str| Collection { name: name.to_owned(), ..core() };
        let cases: Vec<(Collection, &[&str])> = vec![
            (core(), &[]),
            (name("a1"), &[]),
            (name("0-"), &[]),
            (name(&"a".repeat(32)), &[]),
            (
                name("a"),
                &["name: 2 to 32 lower-case letters, digits and -, beginning with a letter or digit"],
            ),
            (
                name("-a"),
                &["name: 2 to 32 lower-case letters, digits and -, beginning with a letter or digit"],
            ),
            (
                name("Core"),
                &["name: 2 to 32 lower-case letters, digits and -, beginning with a letter or digit"],
            ),
            (
                name("a:all"),
                &["name: 2 to 32 lower-case letters, digits and -, beginning with a letter or digit"],
            ),
            (
                name(&"a".repeat(33)),
                &["name: 2 to 32 lower-case letters, digits and -, beginning with a letter or digit"],
            ),
            (name("taken"), &["name: there is a collection \"taken\" already"]),
            (Collection { description: "ü".repeat(300), ..core() }, &[]),
            (
                Collection { description: "ü".repeat(301), ..core() },
                &["description: at most 300 characters, not 301"],
            ),
            (
                Collection { description: "a\nb".into(), ..core() },
                &["description: one line without control characters"],
            ),
            (tags(vec!["a", "b c", "ü"]), &[]),
            (tags("a b c d e f g h i".split(' ').collect()), &["tags: at most 8 tags, not 9"]),
            (tags(vec![""]), &["tags[0]: a tag is a word without spaces at its ends"]),
            (tags(vec!["x", " a"]), &["tags[1]: a tag is a word without spaces at its ends"]),
            (tags(vec![&"a".repeat(25)]), &["tags[0]: at most 24 characters"]),
            (tags(vec!["a", "a"]), &["tags[1]: \"a\" is there twice"]),
            (members(&[]), &["members: at least one member"]),
            (
                members(&["alpha", "beta", "gamma", "delta"]),
                &["members: at most 3 members (max_calls), not 4", "members[3]: no model \"delta\""],
            ),
            (members(&["alpha", "alpha"]), &["members[1]: \"alpha\" is there twice"]),
            (members(&["nobody"]), &["members[0]: no model \"nobody\""]),
            (Collection { merger: Some("gamma".into()), ..core() }, &[]),
            (Collection { merger: Some("nobody".into()), ..core() }, &["merger: no model \"nobody\""]),
            (Collection { shadow: 3, shadow_share: 0.0, shadow_tokens: u64::MAX, ..core() }, &[]),
            (Collection { shadow: 4, ..core() }, &["shadow: 0 to 3, not 4"]),
            (Collection { shadow_share: -0.1, ..core() }, &["shadow_share: 0 to 1, not -0.1"]),
            (Collection { shadow_share: 1.01, ..core() }, &["shadow_share: 0 to 1, not 1.01"]),
            (Collection { shadow_share: f64::NAN, ..core() }, &["shadow_share: 0 to 1, not NaN"]),
            (budget(Some(1), None), &[]),
            (budget(Some(u64::MAX), Some(0.01)), &[]),
            (budget(None, None), &["budget: tokens, dollars or both; leave it out for no budget"]),
            (budget(Some(0), Some(1.0)), &["budget.tokens: at least 1, not 0"]),
            (budget(None, Some(0.0)), &["budget.dollars: more than 0 and at most 1000000, not 0"]),
            (budget(None, Some(-0.5)), &["budget.dollars: more than 0 and at most 1000000, not -0.5"]),
            (budget(None, Some(f64::NAN)), &["budget.dollars: more than 0 and at most 1000000, not NaN"]),
        ];
        for (collection, wanted) in cases {
            assert_eq!(errors(&collection), wanted, "{collection:?}");
        }
    }

    #[test]
    fn an_empty_shape_and_merger_are_none_both_ways() {
        let read: Collection = serde_json::from_value(json!({
            "name": "core", "description": "everyday second opinions", "tags": ["code"], "members": ["alpha"],
            "shape": "", "reply": "all", "merger": ""
        }))
        .expect("a collection");
        assert_eq!((read.shape.clone(), read.merger.clone()), (None, None));
        let written = serde_json::to_value(&read).expect("json");
        assert_eq!((&written["shape"], &written["merger"]), (&json!(""), &json!(null)));
        let review = Collection { shape: Some(Shape::new("review")), reply: ReplyMode::Merged, ..core() };
        let again: Collection =
            serde_json::from_value(serde_json::to_value(&review).expect("json")).expect("read");
        assert_eq!(again, review);
    }

    #[test]
    fn an_unknown_shape_lists_the_shapes() {
        let poem = Collection { shape: Some(Shape::new("poem")), ..core() };
        assert_eq!(
            errors(&poem),
            [
                "shape: unknown shape \"poem\"; use one of general, design, prose, review, code, enumeration, quick, \
              vision, image, or \"\" for automatic"
            ]
        );
        assert_eq!(errors(&Collection { shape: Some(Shape::new("prose")), ..core() }), [""; 0]);
    }
}
