//! Responses that are kept: gone on from, looked up, listed, deleted (wire.md §4).

use std::time::Duration;

use axum::response::Response;
use http::StatusCode;
use plan::DAY_MS;
use serde::Deserialize;
use serde_json::{Value, json};
use store::{ResponseChain, ResponseRow, StoreError};
use wire::{
    ApiError, Json, Kind, Origin, Request,
    conversation::{self, Page, Turn},
};

use super::{Call, name, own, reply};
use crate::{gateway::Gateway, guard::BODY_CAP, panel::ON_DISK};

/// The most that is read for one conversation. What is kept holds every answer twice: as text, and by seat.
const MOST_KEPT: usize = 4 * BODY_CAP;
/// How long an id that is not there waits for what is still being written: the reply it came in may have been
/// faster than the disk.
const STILL_WRITING: Duration = Duration::from_secs(5);

/// An id that nobody guesses: who knows it may read the response.
pub(crate) fn fresh_id() -> Result<String, ApiError> {
    let mut bytes = [0_u8; 24];
    getrandom::fill(&mut bytes).map_err(|error| {
        ApiError::new(
            Kind::Internal,
            Origin::Gateway,
            "internal",
            format!("no randomness for an id: {error}"),
        )
    })?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

/// A response that is to be kept when it has ended well. One that failed, or whose caller hung up, is not: nobody
/// goes on from half an answer.
pub(crate) struct Keeping {
    gateway: Gateway,
    row: ResponseRow,
}

impl Keeping {
    /// `None` in other APIs, and where the caller does not want it kept. `body` is the caller's; `id` is the reply's.
    pub(crate) fn of(
        call: &Call<'_>,
        request: &Request,
        body: &Json,
        id: &str,
    ) -> Result<Option<Keeping>, ApiError> {
        if !request.wants_store() {
            return Ok(None);
        }
        let row = ResponseRow {
            id: format!("resp_{id}"),
            at_ms: call.gateway.clock().now_ms(),
            caller: call.caller.name().to_owned(),
            previous: request.previous_response_id(),
            input: conversation::new_input(body)?,
            body: String::new(),
        };
        Ok(Some(Keeping { gateway: call.gateway.clone(), row }))
    }

    /// Kept under the id that the member gave it, and its caller was told.
    pub(crate) fn under(mut self, id: &str) -> Keeping {
        id.clone_into(&mut self.row.id);
        self
    }

    /// Keeps the reply as its caller gets it, JSON. On disk before its last byte goes out, so that the next
    /// question finds it; a disk that is slow or full does not hold the reply back.
    pub(crate) async fn keep(self, reply: String) {
        let tasks = self.gateway.panel_tasks().clone();
        let _ = tokio::time::timeout(ON_DISK, tasks.spawn(self.write(reply))).await;
    }

    async fn write(self, reply: String) {
        let Keeping { gateway, row } = self;
        // Until the vault is open, no key is known that could be masked.
        gateway.vault().wait().await;
        let row = ResponseRow {
            input: without_keys(&gateway, row.input),
            body: without_keys(&gateway, reply),
            ..row
        };
        match gateway.store().keep_response(row).await {
            // That it waits for the disk is told by its own alert.
            Ok(()) | Err(StoreError::RecordingStopped) => {}
            Err(error) => tracing::warn!(%error, "a response was not kept"),
        }
    }
}

/// The caller's body with what it goes on from before its own input.
pub(crate) async fn go_on(call: &Call<'_>, id: &str, body: &Json) -> Result<Vec<u8>, ApiError> {
    let rows = match known(call, id).await? {
        ResponseChain::Known(rows) => rows,
        ResponseChain::Unknown => return Err(nothing_to_go_on_from(&not_kept(call.gateway, id))),
        ResponseChain::Broken => {
            let id = wire::redact::shorten(id, 80);
            let what = format!("a response that \"{id}\" goes on from is not kept any more");
            return Err(nothing_to_go_on_from(&what));
        }
        ResponseChain::TooLarge => return Err(too_large()),
    };
    let joined = conversation::go_on(body, &turns(&rows))?;
    if joined.len() > BODY_CAP { Err(too_large()) } else { Ok(joined) }
}

/// `GET /v1/responses/{id}`
pub(crate) async fn one(call: &Call<'_>, id: &str, query: &str) -> Result<Response, ApiError> {
    if name::query(query, "stream").as_deref() == Some("true") {
        let message = "stream: a response that is kept is not streamed again; leave stream out";
        return Err(ApiError::invalid("no_stream", message));
    }
    Ok(reply::json(StatusCode::OK, kept(call, id).await?))
}

/// A response of the caller's, as it got it.
///
/// Errors: 404; 403 where it may not use its collection.
async fn kept(call: &Call<'_>, id: &str) -> Result<String, ApiError> {
    let (store, wanted, since) = (call.gateway.store().clone(), id.to_owned(), since(call.gateway));
    let caller = call.caller.clone();
    let read = move || store.response(&wanted, caller.name(), since);
    let body = patiently(call.gateway, read, Option::is_none).await?;
    let body = body.ok_or_else(|| not_found(call.gateway, id))?;
    allow(call, id, &body)?;
    Ok(body)
}

/// What a response was answered with is of a collection, which the key that it was kept for may use no more: its name
/// was given to another key since.
///
/// Errors: 403, naming the key and the collection; 404 where none is told.
fn allow(call: &Call<'_>, id: &str, body: &str) -> Result<(), ApiError> {
    #[derive(Deserialize)]
    struct Kept {
        bench: Of,
    }
    #[derive(Deserialize)]
    struct Of {
        collection: String,
    }
    if call.caller.scope().is_none() {
        return Ok(());
    }
    let kept: Kept = serde_json::from_str(body).map_err(|_| not_found(call.gateway, id))?;
    let collection = &kept.bench.collection;
    call.caller.allow(collection.strip_prefix("bench/").unwrap_or(collection))
}

/// `GET /v1/responses/{id}/input_items`
pub(crate) async fn input_items(call: &Call<'_>, id: &str, query: &str) -> Result<Response, ApiError> {
    let page = page(query)?;
    match known(call, id).await? {
        ResponseChain::Known(rows) => {
            Ok(reply::json(StatusCode::OK, conversation::input_items(&turns(&rows), &page)?))
        }
        ResponseChain::TooLarge => Err(too_large()),
        ResponseChain::Unknown | ResponseChain::Broken => Err(not_found(call.gateway, id)),
    }
}

/// `DELETE /v1/responses/{id}`
pub(crate) async fn delete(call: &Call<'_>, id: &str) -> Result<Response, ApiError> {
    if call.caller.scope().is_some() {
        kept(call, id).await?;
    }
    let deleted = call
        .gateway
        .store()
        .delete_response(id.to_owned(), call.caller.name().to_owned(), since(call.gateway))
        .await;
    if !deleted.map_err(|error| own::internal(&error))? {
        return Err(not_found(call.gateway, id));
    }
    let told = json!({"id": id, "object": "response", "deleted": true});
    Ok(reply::json(StatusCode::OK, told.to_string()))
}

/// Responses made before this instant are not kept any more.
pub(crate) fn since(gateway: &Gateway) -> i64 {
    gateway.clock().now_ms() - i64::from(gateway.snapshot().setup.settings.responses_days) * DAY_MS
}

fn turns(rows: &[ResponseRow]) -> Vec<Turn<'_>> {
    rows.iter().map(|row| Turn { id: &row.id, input: &row.input, response: &row.body }).collect()
}

/// A response of the caller's and all that it goes on from.
///
/// Errors: 403 where the caller may not use the collection of one of them.
async fn known(call: &Call<'_>, id: &str) -> Result<ResponseChain, ApiError> {
    let (store, wanted, since) = (call.gateway.store().clone(), id.to_owned(), since(call.gateway));
    let caller = call.caller.clone();
    let read = move || store.response_chain(&wanted, caller.name(), since, MOST_KEPT);
    let found = patiently(call.gateway, read, |found| *found == ResponseChain::Unknown).await?;
    if let ResponseChain::Known(rows) = &found {
        rows.iter().try_for_each(|row| allow(call, id, &row.body))?;
    }
    Ok(found)
}

/// Reads; what is not there is looked for once more when everything that waits is written.
async fn patiently<T: Send + 'static>(
    gateway: &Gateway,
    read: impl Fn() -> Result<T, StoreError> + Clone + Send + 'static,
    is_missing: impl Fn(&T) -> bool,
) -> Result<T, ApiError> {
    let found = own::blocking(read.clone()).await?;
    if !is_missing(&found) {
        return Ok(found);
    }
    match tokio::time::timeout(STILL_WRITING, gateway.store().written()).await {
        Ok(Ok(())) => own::blocking(read).await,
        _ => Ok(found),
    }
}

fn page(query: &str) -> Result<Page, ApiError> {
    let wrong = |what: String| Err(ApiError::invalid("invalid_value", what));
    let limit = match name::query(query, "limit") {
        None => 20,
        Some(limit) => match limit.parse() {
            Ok(limit @ 1..=100) => limit,
            _ => return wrong(format!("limit: 1 to 100, not {}", wire::redact::shorten(&limit, 40))),
        },
    };
    let newest_first = match name::query(query, "order").as_deref() {
        None | Some("desc") => true,
        Some("asc") => false,
        Some(other) => return wrong(format!("order: asc or desc, not {}", wire::redact::shorten(other, 40))),
    };
    Ok(Page { after: name::query(query, "after"), limit, newest_first })
}

/// Masks known keys in what is kept: in its strings, so that it stays the JSON it is, and in names that are more than a
/// word. The API's own words are no keys, whatever a key is called.
fn without_keys(gateway: &Gateway, json: String) -> String {
    let masked = gateway.scrub(&json);
    if masked == json {
        return json;
    }
    match serde_json::from_str(&json) {
        Ok(mut value) => {
            mask(gateway, &mut value);
            value.to_string()
        }
        Err(_) => masked,
    }
}

fn mask(gateway: &Gateway, value: &mut Value) {
    match value {
        Value::String(text) => *text = gateway.scrub(text),
        Value::Array(items) => items.iter_mut().for_each(|item| mask(gateway, item)),
        Value::Object(fields) => {
            gateway.mask_names(fields);
            let spoken = fields
                .iter_mut()
                .filter(|(name, _)| !matches!(name.as_str(), "type" | "role" | "status" | "object"));
            spoken.for_each(|(_, value)| mask(gateway, value));
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

fn not_kept(gateway: &Gateway, id: &str) -> String {
    let days = gateway.snapshot().setup.settings.responses_days;
    let id = wire::redact::shorten(id, 80);
    format!("no response \"{id}\" is kept (responses are kept for {days} days, unless store is false)")
}

fn not_found(gateway: &Gateway, id: &str) -> ApiError {
    ApiError::new(Kind::NotFound, Origin::Client, "response_not_found", not_kept(gateway, id))
}

fn nothing_to_go_on_from(what: &str) -> ApiError {
    let message = format!("previous_response_id: {what}; send the whole conversation as input");
    ApiError::new(Kind::NotFound, Origin::Client, "previous_response_not_found", message)
}

fn too_large() -> ApiError {
    let message = format!(
        "previous_response_id: the conversation is larger than {} MB by now; begin a new one with its newest turns as input",
        BODY_CAP / 1024 / 1024
    );
    ApiError::new(Kind::TooLarge, Origin::Client, "too_large", message)
}

#[cfg(test)]
mod tests {
    use std::sync::{Mutex, mpsc};

    use super::*;
    use crate::{
        callers::{Caller, LOCAL},
        clock::Clock,
        gateway::Options,
    };

    async fn open(folder: &tempfile::TempDir) -> Gateway {
        let data_dir = folder.path().to_owned();
        Gateway::open(Options { data_dir, program: "test".to_owned(), clock: Clock::system() }).await.unwrap()
    }

    fn call(gateway: &Gateway) -> Call<'_> {
        Call { gateway, id: "", dialect: wire::Dialect::Responses, caller: Caller::default() }
    }

    fn row(gateway: &Gateway, id: &str, body: String) -> ResponseRow {
        let at_ms = gateway.clock().now_ms();
        let caller = LOCAL.to_owned();
        ResponseRow { id: id.to_owned(), at_ms, caller, previous: None, input: "[]".to_owned(), body }
    }

    /// A reply may have been faster than the disk: its caller must be able to go on all the same.
    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn what_is_still_being_written_is_waited_for() {
        let folder = tempfile::tempdir().unwrap();
        let gateway = open(&folder).await;
        let store = gateway.store();
        // The writer tells of a full disk that was freed, and is held there.
        let (held, is_held) = mpsc::channel();
        let (go, gone) = mpsc::channel::<()>();
        let gone = Mutex::new(gone);
        store.on_recording_change(move |state| {
            if state == store::RecordingState::Ok {
                let _ = held.send(());
                let _ = gone.lock().unwrap().recv();
            }
        });
        store.limit_pages(Some(1));
        let waits = store.keep_response(row(&gateway, "resp_large", "x".repeat(200_000))).await;
        assert_eq!(waits, Err(StoreError::RecordingStopped));
        store.limit_pages(None);
        tokio::task::spawn_blocking(move || is_held.recv().unwrap()).await.unwrap();

        drop(store.keep_response(row(&gateway, "resp_late", "{}".to_owned())));
        let call = call(&gateway);
        let mut looking = std::pin::pin!(known(&call, "resp_late"));
        let early = tokio::time::timeout(Duration::from_millis(200), &mut looking).await;
        assert!(early.is_err(), "it waits: {early:?}");
        go.send(()).unwrap();
        let found = looking.await.unwrap();
        assert!(matches!(&found, ResponseChain::Known(rows) if rows[0].id == "resp_late"), "{found:?}");
        drop(go);
        assert_eq!(known(&call, "resp_nobody").await.unwrap(), ResponseChain::Unknown);
    }

    #[test]
    fn ids_are_long_and_never_the_same() {
        let ids: std::collections::HashSet<String> = (0..100).map(|_| fresh_id().unwrap()).collect();
        assert_eq!(ids.len(), 100);
        assert!(
            ids.iter().all(|id| id.len() == 48 && id.bytes().all(|byte| byte.is_ascii_hexdigit())),
            "{ids:?}"
        );
    }

    #[test]
    fn pages() {
        let read = |query: &str| {
            page(query).map(|page| (page.limit, page.newest_first, page.after)).map_err(|error| error.message)
        };
        assert_eq!(read(""), Ok((20, true, None)));
        assert_eq!(read("limit=100&order=asc&after=msg_1"), Ok((100, false, Some("msg_1".to_owned()))));
        for (query, wanted) in [
            ("limit=0", "limit: 1 to 100, not 0"),
            ("limit=101", "limit: 1 to 100, not 101"),
            ("limit=x", "limit: 1 to 100, not x"),
            ("limit=-1", "limit: 1 to 100, not -1"),
            ("order=newest", "order: asc or desc, not newest"),
        ] {
            assert_eq!(read(query), Err(wanted.to_owned()), "{query}");
        }
    }
}
