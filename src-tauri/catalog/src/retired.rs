use serde::{Deserialize, Serialize};

use crate::FieldError;

/// Since when and why a model is never called again.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ts_rs::TS)]
#[serde(deny_unknown_fields)]
pub struct Retired {
    /// A date, `2026-11-29`, or an instant as RFC 3339 writes it.
    pub at: String,
    /// One line of 1 to 300 characters.
    pub why: String,
}

impl Retired {
    /// The date alone, for a sentence: `2026-11-29`.
    pub fn date(&self) -> &str {
        self.at.get(..DATE).unwrap_or(&self.at)
    }

    pub(crate) fn check(&self) -> Result<(), FieldError> {
        // Read by what reads dates; the length keeps out what only begins like one.
        let is_date = self.at.len() == DATE && self.at.parse::<jiff::civil::Date>().is_ok();
        if !is_date && self.at.parse::<jiff::Timestamp>().is_err() {
            let message = "the date it was retired, as 2026-11-29 or 2026-11-29T12:00:00Z";
            return Err(FieldError::new("retired.at", message));
        }
        let length = self.why.chars().count();
        if self.why.trim().is_empty() || length > LONGEST || self.why.contains(char::is_control) {
            return Err(FieldError::new(
                "retired.why",
                format!("why, in one line of 1 to {LONGEST} characters"),
            ));
        }
        Ok(())
    }
}

/// Characters of `YYYY-MM-DD`.
const DATE: usize = 10;

const LONGEST: usize = 300;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_date_and_a_reason() {
        let field = |at: &str, why: &str| {
            Retired { at: at.into(), why: why.into() }.check().err().map(|error| error.field)
        };
        assert_eq!(field("2026-11-29", "went paid"), None);
        assert_eq!(field("2026-11-29T12:00:00Z", "went paid"), None);
        assert_eq!(field("2026-11-29T12:00:00.5+02:00", "ü".repeat(300).as_str()), None);
        for at in ["", "yesterday", "2026-02-30", "29.11.2026", "2026-11-29T12:00:00", "20261129"] {
            assert_eq!(field(at, "x").as_deref(), Some("retired.at"), "{at}");
        }
        for why in ["", " ", "a\nb", "ü".repeat(301).as_str()] {
            assert_eq!(field("2026-11-29", why).as_deref(), Some("retired.why"), "{why}");
        }
        assert_eq!(Retired { at: "2026-11-29T12:00:00Z".into(), why: "x".into() }.date(), "2026-11-29");
    }
}
