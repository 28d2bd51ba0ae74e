use std::{borrow::Cow, sync::LazyLock};

use catalog::{FieldError, ModelRole};
use serde::{Deserialize, Serialize};

/// The name of what a task is: `general`, `review`, or a word of the owner's (panel.md §2).
///
/// Any text can be one; whether it is a shape of this set-up is said by `Shapes`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Shape(Cow<'static, str>);

/// The shape a panel is seated for, and how it was chosen, in words: `set on the collection`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChosenShape {
    pub shape: Shape,
    pub by: String,
}

/// One line of the shape table, as the set-up file writes it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ShapeRule {
    pub name: Shape,
    /// What the shape picker is told, at most 300 characters; it never picks a shape without one.
    #[serde(default)]
    pub description: String,
    /// Roles that may take an explorer seat. A member sits whatever the shape.
    pub roles: Vec<ModelRole>,
}

/// The shape table: the built-in shapes, with the owner's in place of those of their name and after them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shapes(Vec<ShapeRule>);

impl Shape {
    pub const GENERAL: Shape = Shape(Cow::Borrowed("general"));
    pub const VISION: Shape = Shape(Cow::Borrowed("vision"));

    pub fn new(name: impl Into<String>) -> Shape {
        Shape(Cow::Owned(name.into()))
    }

    /// As in the set-up file, the record and the API.
    pub fn name(&self) -> &str {
        &self.0
    }
}

impl Shapes {
    pub fn with(own: &[ShapeRule]) -> Shapes {
        let mut rules = BUILT_IN.clone();
        for rule in own {
            match rules.iter_mut().find(|known| known.name == rule.name) {
                Some(known) => *known = rule.clone(),
                None => rules.push(rule.clone()),
            }
        }
        Shapes(rules)
    }

    pub fn iter(&self) -> impl Iterator<Item = &ShapeRule> {
        self.0.iter()
    }

    /// The shape of that name; `None` for any other text, the empty one (automatic) included.
    pub fn get(&self, name: &str) -> Option<&ShapeRule> {
        self.0.iter().find(|rule| rule.name.name() == name)
    }

    /// Roles admitted to explorer seats for a shape. A shape that is no longer in the table admits what
    /// `general` does.
    pub fn roles(&self, shape: &Shape) -> &[ModelRole] {
        let rule = self.get(shape.name()).or_else(|| self.get(Shape::GENERAL.name()));
        rule.map_or(&[], |rule| &rule.roles)
    }

    /// Whether any shape admits the role, or every installation knows it.
    pub fn knows_role(&self, role: &ModelRole) -> bool {
        ModelRole::BUILT_IN.contains(role) || self.0.iter().any(|rule| rule.roles.contains(role))
    }

    /// Refuses a role that no shape admits and not every installation knows.
    pub fn check_role(&self, role: &ModelRole) -> Result<(), FieldError> {
        if self.knows_role(role) {
            return Ok(());
        }
        let roles: Vec<&str> = self.all_roles().into_iter().map(ModelRole::name).collect();
        let message = format!(
            "unknown role \"{}\"; use one of {}, or name it in a shape's roles (shapes)",
            role.name(),
            roles.join(", ")
        );
        Err(FieldError::new("role", message))
    }

    /// Every role a model may have, the built-in ones first.
    pub fn all_roles(&self) -> Vec<&ModelRole> {
        let mut roles: Vec<&ModelRole> = Vec::new();
        for role in BUILT_IN_ROLES.iter().chain(self.0.iter().flat_map(|rule| &rule.roles)) {
            if !roles.contains(&role) {
                roles.push(role);
            }
        }
        roles
    }

    /// `general, design, …`, for a sentence.
    pub fn names(&self) -> String {
        self.0.iter().map(|rule| rule.name.name()).collect::<Vec<_>>().join(", ")
    }
}

impl ShapeRule {
    /// Name, description and roles, in that order; the first that is wrong.
    pub fn check(&self) -> Result<(), FieldError> {
        if !is_word(self.name.name()) {
            let message = "2 to 24 lower-case letters, digits and -, beginning with a letter";
            return Err(FieldError::new("name", message));
        }
        if self.description.chars().count() > LONGEST_DESCRIPTION
            || self.description.contains(char::is_control)
        {
            let message = format!("one line of at most {LONGEST_DESCRIPTION} characters");
            return Err(FieldError::new("description", message));
        }
        if self.roles.is_empty() {
            return Err(FieldError::new("roles", "at least one role"));
        }
        for (at, role) in self.roles.iter().enumerate() {
            let wrong = |message: String| Err(FieldError::new(format!("roles[{at}]"), message));
            if let Err(error) = role.check() {
                return wrong(error.message);
            }
            if !role.sits() && self.name.name() != "image" {
                return wrong(format!("\"{}\" never sits on a panel; leave it out", role.name()));
            }
            if self.roles[..at].contains(role) {
                return wrong(format!("\"{}\" is there twice", role.name()));
            }
        }
        Ok(())
    }
}

const LONGEST_DESCRIPTION: usize = 300;

static BUILT_IN_ROLES: [ModelRole; 6] = ModelRole::BUILT_IN;

fn is_word(text: &str) -> bool {
    // A role is a word by the same rule.
    ModelRole::new(text).check().is_ok()
}

#[expect(
    clippy::expect_used,
    reason = "the file is embedded and a test reads it: it cannot fail in the field"
)]
static BUILT_IN: LazyLock<Vec<ShapeRule>> =
    LazyLock::new(|| read(include_str!("../shapes.toml")).expect("shapes.toml is valid"));

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    shape: Vec<ShapeRule>,
}

fn read(text: &str) -> Result<Vec<ShapeRule>, toml::de::Error> {
    toml::from_str::<File>(text).map(|file| file.shape)
}

/// `""` in JSON is automatic, both ways.
pub(crate) mod or_automatic {
    use serde::{Deserialize, Deserializer, Serializer};

    use super::Shape;

    pub fn serialize<S: Serializer>(shape: &Option<Shape>, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(shape.as_ref().map_or("", Shape::name))
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Shape>, D::Error> {
        let name = Option::<String>::deserialize(deserializer)?;
        Ok(name.filter(|name| !name.is_empty()).map(Shape::new))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rule(name: &str, roles: &[&str]) -> ShapeRule {
        let roles = roles.iter().map(|role| ModelRole::new(*role)).collect();
        ShapeRule { name: Shape::new(name), description: String::new(), roles }
    }

    #[test]
    fn the_built_in_table_is_the_specification_s() {
        let shapes = Shapes::with(&[]);
        let table: Vec<String> = shapes
            .iter()
            .map(|rule| {
                assert_eq!(rule.check(), Ok(()), "{}", rule.name.name());
                let roles: Vec<&str> = rule.roles.iter().map(ModelRole::name).collect();
                format!("{}: {}", rule.name.name(), roles.join(" "))
            })
            .collect();
        assert_eq!(
            table,
            [
                "general: general",
                "design: general",
                "prose: general",
                "review: general code",
                "code: general code",
                "enumeration: general code light",
                "quick: general light",
                "vision: general light vision",
                "image: image",
            ]
        );
        let described: Vec<&str> =
            shapes.iter().filter(|rule| !rule.description.is_empty()).map(|rule| rule.name.name()).collect();
        assert_eq!(described, ["general", "design", "prose", "review", "code", "enumeration", "quick"]);
        assert!(shapes.get("").is_none() && shapes.get("General").is_none());
    }

    #[test]
    fn the_owner_adds_and_replaces() {
        let shapes = Shapes::with(&[rule("law", &["jurist", "general"]), rule("prose", &["writer"])]);
        assert!(shapes.names().ends_with("vision, image, law"), "{}", shapes.names());
        assert_eq!(shapes.roles(&Shape::new("prose")), [ModelRole::new("writer")]);
        assert_eq!(shapes.roles(&Shape::new("law")).len(), 2);
        assert_eq!(shapes.roles(&Shape::new("gone")), [ModelRole::GENERAL]);
        assert!(
            shapes.knows_role(&ModelRole::new("jurist")) && !shapes.knows_role(&ModelRole::new("genral"))
        );
        assert!(shapes.knows_role(&ModelRole::DECISION));
        let roles: Vec<&str> = shapes.all_roles().into_iter().map(ModelRole::name).collect();
        assert_eq!(roles, ["general", "code", "light", "vision", "image", "decision", "writer", "jurist"]);
    }

    #[test]
    fn a_wrong_rule_names_its_field() {
        let cases = [
            (rule("Law", &["general"]), "name: 2 to 24"),
            (ShapeRule { description: "a\nb".into(), ..rule("law", &["general"]) }, "description: one line"),
            (rule("law", &[]), "roles: at least one"),
            (rule("law", &["general", "X"]), "roles[1]: 2 to 24"),
            (rule("law", &["decision"]), "roles[0]: \"decision\" never sits"),
            (rule("law", &["image"]), "roles[0]: \"image\" never sits"),
            (rule("law", &["code", "code"]), "roles[1]: \"code\" is there twice"),
        ];
        for (rule, wanted) in cases {
            let error = rule.check().expect_err(wanted).to_string();
            assert!(error.starts_with(wanted), "{error}");
        }
    }
}
