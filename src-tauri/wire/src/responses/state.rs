//! What a caller wants kept, and what it goes on from. The gateway serves both.

use crate::{dialect::Dialect, model::Request, raw::Raw};

impl Request {
    /// Whether a response is to be kept so that a later one can go on from it; that is so unless the caller says
    /// otherwise. Always false in other dialects.
    pub fn wants_store(&self) -> bool {
        self.dialect == Dialect::Responses && self.echoed("store").is_none_or(|raw| raw.get() != "false")
    }

    /// The id of the response that this one goes on from (`resp_…`), as the caller sent it. The input has only what
    /// is new.
    pub fn previous_response_id(&self) -> Option<String> {
        serde_json::from_str(self.echoed("previous_response_id")?.get()).ok()
    }

    fn echoed(&self, name: &str) -> Option<&Raw> {
        self.echo.iter().find(|(known, _)| known == name).map(|(_, raw)| raw)
    }
}
