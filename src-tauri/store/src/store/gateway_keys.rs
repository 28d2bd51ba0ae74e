//! The verbs of gateway keys.

use crate::{
    Ack, AuditEntry, GatewayKeyRow, Store, StoreError,
    job::Waits,
    tables::{audit, calls, gateway_keys},
};

impl Store {
    /// Keeps a new gateway key and notes it in the audit log; gives its id. A conflict where its text was given before.
    /// While recording is stopped it is refused and not made later.
    pub fn add_gateway_key(&self, row: GatewayKeyRow, audit: AuditEntry) -> Ack<i64> {
        let at_ms = self.now();
        self.write(Waits::No, 0, move |connection| {
            audit::insert(connection, &audit, at_ms)?;
            gateway_keys::add(connection, &row)
        })
    }

    /// From that instant on (Unix milliseconds) its text never works again; noted in the audit log. While recording is
    /// stopped it is refused and not made later.
    pub fn revoke_gateway_key(&self, id: i64, at_ms: i64, audit: AuditEntry) -> Ack<()> {
        self.write(Waits::No, 0, move |connection| {
            audit::insert(connection, &audit, at_ms)?;
            gateway_keys::revoke(connection, id, at_ms)
        })
    }

    /// When a key was used last (Unix milliseconds), so far.
    pub fn gateway_key_used(&self, id: i64, at_ms: i64) -> Ack<()> {
        self.write(Waits::Yes, 0, move |connection| gateway_keys::used(connection, id, at_ms))
    }

    /// What a call was asked for, and with it who may look at it: a collection's name, or `model/<alias>`. `None` for a
    /// call that nobody knows.
    pub fn collection_of(&self, call: &str) -> Result<Option<String>, StoreError> {
        self.read(|connection| calls::collection(connection, call))
    }

    /// Every gateway key there ever was, in the order they were made.
    pub fn gateway_keys(&self) -> Result<Vec<GatewayKeyRow>, StoreError> {
        self.read(gateway_keys::all)
    }
}
