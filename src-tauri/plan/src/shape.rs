use catalog::ModelRole;
use serde::{Deserialize, Serialize};

use crate::Collection;

/// What a task is (panel.md §2).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Shape {
    General,
    Design,
    Prose,
    Review,
    Code,
    Enumeration,
    Quick,
    Vision,
    Image,
}

/// The shape a panel is seated for, and how it was chosen, in words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChosenShape {
    pub shape: Shape,
    pub by: &'static str,
}

/// Which roles a shape admits to its explorer seats. A member sits whatever the shape.
const ADMITTED: [(Shape, &[ModelRole]); 9] = {
    use ModelRole::{Code, General, Image, Light, Vision};
    [
        (Shape::General, &[General]),
        (Shape::Design, &[General]),
        (Shape::Prose, &[General]),
        (Shape::Review, &[General, Code]),
        (Shape::Code, &[General, Code]),
        (Shape::Enumeration, &[General, Code, Light]),
        (Shape::Quick, &[General, Light]),
        (Shape::Vision, &[General, Light, Vision]),
        (Shape::Image, &[Image]),
    ]
};

impl Shape {
    pub const ALL: [Shape; 9] = {
        let mut all = [Shape::General; 9];
        let mut at = 0;
        while at < ADMITTED.len() {
            all[at] = ADMITTED[at].0;
            at += 1;
        }
        all
    };

    /// `general`, `design`, …: as in the set-up file.
    pub fn name(self) -> &'static str {
        match self {
            Shape::General => "general",
            Shape::Design => "design",
            Shape::Prose => "prose",
            Shape::Review => "review",
            Shape::Code => "code",
            Shape::Enumeration => "enumeration",
            Shape::Quick => "quick",
            Shape::Vision => "vision",
            Shape::Image => "image",
        }
    }

    /// The shape of that name; `None` for any other text, the empty one (automatic) included.
    pub fn named(name: &str) -> Option<Shape> {
        Shape::ALL.into_iter().find(|shape| shape.name() == name)
    }

    /// Whether a model of this role may take an explorer seat for this shape.
    pub fn admits(self, role: ModelRole) -> bool {
        ADMITTED.iter().any(|(shape, roles)| *shape == self && roles.contains(&role))
    }

    /// The shape of a panel without explorer seats: there the shape decides nobody's seat, so the shape
    /// picker is never asked.
    pub fn without_explorers(collection: &Collection, has_images: bool) -> ChosenShape {
        match (collection.shape, has_images) {
            (Some(shape), _) => ChosenShape { shape, by: "set on the collection" },
            (None, true) => ChosenShape { shape: Shape::Vision, by: "the request holds an image" },
            (None, false) => ChosenShape { shape: Shape::General, by: "the default" },
        }
    }
}

/// `""` in JSON is automatic, both ways.
pub(crate) mod or_automatic {
    use serde::{Deserialize, Deserializer, Serializer, de};

    use super::Shape;

    pub fn serialize<S: Serializer>(shape: &Option<Shape>, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(shape.map_or("", Shape::name))
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Shape>, D::Error> {
        let Some(name) = Option::<String>::deserialize(deserializer)? else { return Ok(None) };
        if name.is_empty() {
            return Ok(None);
        }
        Shape::named(&name).map(Some).ok_or_else(|| {
            let names = Shape::ALL.map(Shape::name).join(", ");
            de::Error::custom(format!("unknown shape {name:?}; use one of {names}, or \"\" for automatic"))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_the_ones_serde_writes() {
        for shape in Shape::ALL {
            assert_eq!(serde_json::to_value(shape).expect("json"), shape.name());
            assert_eq!(Shape::named(shape.name()), Some(shape));
        }
        assert_eq!(Shape::named(""), None);
        assert_eq!(Shape::named("General"), None);
    }

    #[test]
    fn roles_by_shape() {
        assert!(Shape::Review.admits(ModelRole::Code));
        assert!(!Shape::Prose.admits(ModelRole::Code));
        assert!(Shape::Vision.admits(ModelRole::Vision));
        assert!(!Shape::General.admits(ModelRole::Light));
        for shape in Shape::ALL {
            assert!(!shape.admits(ModelRole::Decision), "{}: a decision model never sits", shape.name());
        }
    }
}
