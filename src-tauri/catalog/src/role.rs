use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use crate::FieldError;

/// What a model is for: a word. Which roles there are is said by the shapes that admit them, so an owner adds
/// a role by adding it to a shape.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, ts_rs::TS)]
#[ts(type = "string")]
pub struct ModelRole(Cow<'static, str>);

impl ModelRole {
    pub const GENERAL: ModelRole = ModelRole(Cow::Borrowed("general"));
    pub const CODE: ModelRole = ModelRole(Cow::Borrowed("code"));
    pub const LIGHT: ModelRole = ModelRole(Cow::Borrowed("light"));
    /// Sits only when there is something to see.
    pub const VISION: ModelRole = ModelRole(Cow::Borrowed("vision"));
    /// Draws; never sits.
    pub const IMAGE: ModelRole = ModelRole(Cow::Borrowed("image"));
    /// Picks a shape; never sits.
    pub const DECISION: ModelRole = ModelRole(Cow::Borrowed("decision"));

    /// Those every installation knows.
    pub const BUILT_IN: [ModelRole; 6] =
        [Self::GENERAL, Self::CODE, Self::LIGHT, Self::VISION, Self::IMAGE, Self::DECISION];

    /// A role of that name, known or not; `check` says whether it is a word.
    pub fn new(name: impl Into<String>) -> ModelRole {
        ModelRole(Cow::Owned(name.into()))
    }

    pub fn name(&self) -> &str {
        &self.0
    }

    /// Roles `image` and `decision` never sit on a panel.
    pub fn sits(&self) -> bool {
        *self != Self::IMAGE && *self != Self::DECISION
    }

    /// `[a-z][a-z0-9-]{1,23}`
    pub fn check(&self) -> Result<(), FieldError> {
        match is_word(&self.0) {
            true => Ok(()),
            false => Err(FieldError::new(
                "role",
                "2 to 24 lower-case letters, digits and -, beginning with a letter",
            )),
        }
    }
}

fn is_word(text: &str) -> bool {
    (2..=24).contains(&text.len())
        && text.starts_with(|c: char| c.is_ascii_lowercase())
        && text.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-')
}

impl Default for ModelRole {
    fn default() -> Self {
        ModelRole::GENERAL
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_role_is_a_word_however_it_came() {
        let read: ModelRole = serde_json::from_value("general".into()).expect("a role");
        assert_eq!(read, ModelRole::GENERAL);
        assert_eq!(serde_json::to_value(ModelRole::new("judge")).expect("json"), "judge");
        for role in ModelRole::BUILT_IN {
            assert_eq!(role.check(), Ok(()), "{}", role.name());
        }
        for bad in ["", "a", "General", "two words", "1st", "-a", &"a".repeat(25)] {
            assert!(ModelRole::new(bad).check().is_err(), "{bad}");
        }
        assert!(ModelRole::CODE.sits() && ModelRole::new("judge").sits());
        assert!(!ModelRole::new("image").sits() && !ModelRole::DECISION.sits());
    }
}
