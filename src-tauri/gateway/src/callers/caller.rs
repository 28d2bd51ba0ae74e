//! Who makes a request, and what they may.

use std::sync::Arc;

use plan::BudgetOf;
use wire::{ApiError, Kind, Origin};

use super::{LOCAL, key::Key};
use crate::setup::Snapshot;

/// Whose request it is: a gateway key's, or this machine's.
#[derive(Clone, Debug, Default)]
pub(crate) struct Caller(Option<Arc<Key>>);

impl Caller {
    pub(super) fn of(key: Arc<Key>) -> Caller {
        Caller(Some(key))
    }

    /// As it stands in every record: the key's name, or `local`.
    pub(crate) fn name(&self) -> &str {
        self.0.as_ref().map_or(LOCAL, |key| &key.name)
    }

    pub(crate) fn key(&self) -> Option<&Key> {
        self.0.as_deref()
    }

    /// Whose budget it is; nobody's, without a key.
    pub(crate) fn budget_of(&self) -> Option<BudgetOf> {
        self.0.as_ref().map(|key| BudgetOf::Caller(key.name.clone()))
    }

    /// The only collections it may use; `None` where it may use every one, and every model under its own name.
    pub(crate) fn scope(&self) -> Option<&[String]> {
        self.0.as_ref()?.collections.as_deref()
    }

    /// `collection` without `bench/`; `model/<alias>` is a model under its own name, and in no scope.
    pub(crate) fn may_use(&self, collection: &str) -> bool {
        self.scope().is_none_or(|names| names.iter().any(|name| name == collection))
    }

    /// Errors: 403, naming the key and the collection.
    pub(crate) fn allow(&self, collection: &str) -> Result<(), ApiError> {
        if self.may_use(collection) {
            return Ok(());
        }
        let (name, collection) = (self.name(), wire::redact::shorten(collection, 80));
        Err(self.beyond(format!("the gateway key \"{name}\" may not use bench/{collection}")))
    }

    /// A scoped key may name only models of its collections to be asked beside them: they would be asked alone else.
    ///
    /// Errors: 403, naming the key and the model.
    pub(crate) fn allow_nominees(&self, snapshot: &Snapshot, nominees: &[String]) -> Result<(), ApiError> {
        let Some(names) = self.scope() else { return Ok(()) };
        let collections = || names.iter().filter_map(|name| snapshot.collection(name));
        let is_member = |alias: &String| collections().any(|it| it.members.contains(alias));
        let Some(alias) = nominees.iter().find(|alias| !is_member(alias)) else { return Ok(()) };
        let (name, alias) = (self.name(), wire::redact::shorten(alias, 80));
        let what = format!("with: the gateway key \"{name}\" may not ask the model \"{alias}\" by its name");
        Err(self.beyond(what))
    }

    /// 403, with what it may use instead.
    pub(crate) fn beyond(&self, what: String) -> ApiError {
        let names = self.scope().unwrap_or_default().iter().map(|name| format!("bench/{name}"));
        let names = names.collect::<Vec<_>>().join(", ");
        let way_out = match names.as_str() {
            "" => "its owner has to make a new one".to_owned(),
            names => format!("it may use {names}, and its owner can make one that may use more"),
        };
        ApiError::new(Kind::Permission, Origin::Client, "key_scope", format!("{what}; {way_out}"))
    }

    /// A question counts against the key's requests a minute.
    ///
    /// Errors: 429 with the wait, when there were as many already. It has not counted then.
    pub(crate) fn asks(&self, now_ms: i64) -> Result<(), ApiError> {
        let Some((key, most)) = self.key().and_then(|key| Some((key, key.requests_a_minute?))) else {
            return Ok(());
        };
        let Err(wait) = key.rate.take(most, now_ms) else { return Ok(()) };
        let message = format!(
            "the gateway key \"{}\" may ask {most} times a minute, and has; ask again in {} s",
            key.name,
            wire::wait::whole_seconds(wait).max(1)
        );
        let mut error = ApiError::new(Kind::RateLimit, Origin::Gateway, "key_rate_limit", message);
        error.retry_after = Some(wait);
        Err(error)
    }
}

#[cfg(test)]
mod tests {
    use store::GatewayKeyRow;

    use super::*;

    fn caller(row: GatewayKeyRow) -> Caller {
        Caller::of(Arc::new(Key::of(GatewayKeyRow { name: "desk".to_owned(), ..row })))
    }

    fn scoped(json: &str) -> Caller {
        caller(GatewayKeyRow { collections_json: Some(json.to_owned()), ..GatewayKeyRow::default() })
    }

    #[test]
    fn what_a_key_may_use() {
        let (local, free) = (Caller::default(), caller(GatewayKeyRow::default()));
        let (core, unreadable) = (scoped("[\"core\",\"lab\"]"), scoped("core"));
        for (collection, wanted) in [
            ("core", [true, true, true, false]),
            ("lab", [true, true, true, false]),
            ("other", [true, true, false, false]),
            ("core:all", [true, true, false, false]),
            ("model/alpha", [true, true, false, false]),
            ("", [true, true, false, false]),
        ] {
            let may = [&local, &free, &core, &unreadable].map(|it| it.may_use(collection));
            assert_eq!(may, wanted, "{collection}");
        }
        assert_eq!(
            core.allow("other").unwrap_err().message,
            "the gateway key \"desk\" may not use bench/other; it may use bench/core, bench/lab, and its owner can \
             make one that may use more"
        );
        assert_eq!(
            unreadable.allow("core").unwrap_err().message,
            "the gateway key \"desk\" may not use bench/core; its owner has to make a new one"
        );
    }

    #[test]
    fn a_rate_is_kept_and_its_wait_told() {
        let caller = caller(GatewayKeyRow { requests_a_minute: Some(2), ..GatewayKeyRow::default() });
        assert_eq!((caller.asks(0), caller.asks(500)), (Ok(()), Ok(())));
        let error = caller.asks(1_000).unwrap_err();
        assert_eq!(
            error.message,
            "the gateway key \"desk\" may ask 2 times a minute, and has; ask again in 59 s"
        );
        assert_eq!(
            (error.kind, error.retry_after.map(|wait| wait.as_millis())),
            (Kind::RateLimit, Some(59_000))
        );
        assert_eq!(caller.asks(60_000), Ok(()));
        assert!((0..1_000).all(|_| Caller::default().asks(0).is_ok()));
    }
}
