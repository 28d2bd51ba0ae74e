/// One thing a translation dropped or changed. Listed in `x-bench-lossy` and in the request's record.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Notice {
    /// The field in the caller's words: `temperature`, `messages[2].content[0]`.
    pub field: String,
    /// Why, in a few ASCII words: `ignored by a panel`.
    pub reason: String,
}

impl Notice {
    pub fn new(field: impl Into<String>, reason: impl Into<String>) -> Self {
        Notice { field: field.into(), reason: reason.into() }
    }
}
