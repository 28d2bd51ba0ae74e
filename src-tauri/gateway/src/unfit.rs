//! What no change of the set-up may do, whoever makes it.

/// Why a change that is well formed was refused.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unfit {
    /// A name that another model had.
    #[error("The alias {0} was another model's, whose record is under it; choose another.")]
    NameGivenUp(String),
    #[error(
        "The alias {alias} stands for {served} at {endpoint}, and its record is under it; give the other model \
         another alias."
    )]
    NameOfAnother { alias: String, endpoint: String, served: String },
    #[error(
        "The alias {alias} has calls under way to {served} at {endpoint}, whose record will be under it; choose \
         another."
    )]
    UnderWay { alias: String, endpoint: String, served: String },
}
