use serde_json::json;

use super::{Reply, replies};

/// What the provider's `/v1/models` answers; the ids are the scripted models'.
#[derive(Clone, Debug)]
pub enum Listing {
    /// `{"object":"list","data":[{"id":…}]}`
    OpenAi,
    /// `[{"id":…}]`, as some do.
    Bare,
    /// 401
    Refused,
    /// A web page.
    Html,
    /// 404
    Missing,
}

impl Listing {
    pub(super) fn reply(&self, mut ids: Vec<String>) -> Reply {
        ids.sort();
        let entries: Vec<_> = ids
            .iter()
            .map(|id| json!({"id": id, "object": "model", "created": 1, "owned_by": "fake"}))
            .collect();
        match self {
            Listing::OpenAi => json_reply(&json!({"object": "list", "data": entries})),
            Listing::Bare => json_reply(&json!(entries)),
            Listing::Refused => replies::refuses_key(),
            Listing::Html => replies::html_page(200),
            Listing::Missing => replies::fails(404, "not_found", "no such page"),
        }
    }
}

fn json_reply(body: &serde_json::Value) -> Reply {
    Reply::whole(200, "application/json", body.to_string())
}
