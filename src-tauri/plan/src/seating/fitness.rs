//! Whether a model can take what the request holds.

use catalog::{Model, ModelRole};

use super::SeatingInput;

/// Why a member's or nominee's role or facts keep it from this prompt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Unfit {
    Role,
    /// Its API cannot say what the prompt holds.
    Barred(String),
    /// Unknown counts as no: a model that cannot see answers about an image it never had.
    Images(Option<bool>),
    Documents(Option<bool>),
    Audio(Option<bool>),
    NothingToSee,
}

/// The first thing that keeps a model from this prompt, its size aside.
pub(crate) fn unfit(model: &Model, input: &SeatingInput<'_>) -> Option<Unfit> {
    let facts = &model.facts;
    let lacks = |held: bool, fact: Option<bool>| held && fact != Some(true);
    if !model.role.sits() {
        Some(Unfit::Role)
    } else if let Some(why) = (input.barred)(model) {
        Some(Unfit::Barred(why))
    } else if lacks(input.has_images, facts.vision) {
        Some(Unfit::Images(facts.vision))
    } else if lacks(input.documents, facts.pdf) {
        Some(Unfit::Documents(facts.pdf))
    } else if lacks(input.audio, facts.audio) {
        Some(Unfit::Audio(facts.audio))
    } else {
        (model.role == ModelRole::VISION && !input.has_images).then_some(Unfit::NothingToSee)
    }
}

/// A model's window, when the prompt does not fit it.
pub(crate) fn too_small(model: &Model, estimate: u64) -> Option<u64> {
    model.facts.context_window.filter(|window| estimate > *window)
}

impl Unfit {
    pub(crate) fn why(self, model: &Model) -> String {
        let (does_not, not_known, fact, known) = match self {
            Unfit::Role => return format!("its role is {}; such a model never sits", model.role.name()),
            Unfit::Barred(why) => return why,
            Unfit::NothingToSee => return "its role is vision and the request holds no image".to_owned(),
            Unfit::Images(known) => ("does not see images", "not known to see images", "vision", known),
            Unfit::Documents(known) => {
                ("does not read documents", "not known to read documents", "pdf", known)
            }
            Unfit::Audio(known) => ("does not hear audio", "not known to hear audio", "audio", known),
        };
        let what = if known == Some(false) { does_not } else { not_known };
        format!("{what}; if it does, set the fact {fact} on the model")
    }

    /// The code of a refusal for which this is why; `None` when the request is not to blame.
    pub(crate) fn code(&self) -> Option<&'static str> {
        match self {
            Unfit::Role => None,
            Unfit::Barred(_) => Some("content_not_taken"),
            Unfit::Images(_) | Unfit::NothingToSee => Some("images_not_seen"),
            Unfit::Documents(_) => Some("documents_not_read"),
            Unfit::Audio(_) => Some("audio_not_heard"),
        }
    }
}
