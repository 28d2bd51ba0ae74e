//! Gateway keys: what callers sign in with. Of a key's text its hash is kept, and its last four characters.

use rusqlite::{Connection, params};

use crate::{
    error::Fault,
    migrate::Step,
    tables::{known, to_db},
};

/// A name is given again when the key that had it is revoked or expired: all of them stay, in the order they were made.
pub(crate) const STEPS: &[Step] = &[Step {
    version: 8,
    sql: "CREATE TABLE gateway_keys (
        id INTEGER PRIMARY KEY,
        name TEXT NOT NULL,
        sha256 BLOB NOT NULL UNIQUE,
        last4 TEXT NOT NULL,
        created_ms INTEGER NOT NULL,
        collections TEXT,
        requests_a_minute INTEGER,
        budget TEXT,
        expires_ms INTEGER,
        revoked_ms INTEGER,
        used_ms INTEGER
    ) STRICT;",
}];

/// A gateway key. Times are Unix milliseconds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GatewayKeyRow {
    /// Given by the store, in the order they were made; 0 before.
    pub id: i64,
    /// Whose calls they are in every record.
    pub name: String,
    /// Of its text.
    pub sha256: [u8; 32],
    pub last4: String,
    pub created_ms: i64,
    /// A JSON array of names; `None` is every collection, and every model under its own name.
    pub collections_json: Option<String>,
    pub requests_a_minute: Option<u64>,
    /// JSON.
    pub budget_json: Option<String>,
    pub expires_ms: Option<i64>,
    pub revoked_ms: Option<i64>,
    /// When it was last used, as far as that has been written.
    pub used_ms: Option<i64>,
}

/// Gives its id.
pub(crate) fn add(connection: &Connection, row: &GatewayKeyRow) -> Result<i64, Fault> {
    connection
        .prepare_cached(
            "INSERT INTO gateway_keys (name, sha256, last4, created_ms, collections, requests_a_minute, budget,
                 expires_ms, revoked_ms, used_ms)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)",
        )?
        .execute(params![
            row.name,
            row.sha256,
            row.last4,
            row.created_ms,
            row.collections_json,
            row.requests_a_minute.map(to_db),
            row.budget_json,
            row.expires_ms,
            row.revoked_ms,
            row.used_ms,
        ])
        .map_err(|error| Fault::constraint(error, || format!("the key {} was made already", row.name)))?;
    Ok(connection.last_insert_rowid())
}

/// One that is revoked already stays as it is.
pub(crate) fn revoke(connection: &Connection, id: i64, at_ms: i64) -> Result<(), Fault> {
    let sql = "UPDATE gateway_keys SET revoked_ms = ?2 WHERE id = ?1 AND revoked_ms IS NULL";
    connection.prepare_cached(sql)?.execute([id, at_ms])?;
    Ok(())
}

/// Never earlier than what is there.
pub(crate) fn used(connection: &Connection, id: i64, at_ms: i64) -> Result<(), Fault> {
    let sql = "UPDATE gateway_keys SET used_ms = max(coalesce(used_ms, ?2), ?2) WHERE id = ?1";
    connection.prepare_cached(sql)?.execute([id, at_ms])?;
    Ok(())
}

/// In the order they were made.
pub(crate) fn all(connection: &Connection) -> Result<Vec<GatewayKeyRow>, Fault> {
    let mut statement = connection.prepare_cached(
        "SELECT id, name, sha256, last4, created_ms, collections, requests_a_minute, budget, expires_ms, revoked_ms,
             used_ms
         FROM gateway_keys ORDER BY id",
    )?;
    let rows = statement.query_map([], |row| {
        Ok(GatewayKeyRow {
            id: row.get(0)?,
            name: row.get(1)?,
            sha256: row.get(2)?,
            last4: row.get(3)?,
            created_ms: row.get(4)?,
            collections_json: row.get(5)?,
            requests_a_minute: known(row, 6)?,
            budget_json: row.get(7)?,
            expires_ms: row.get(8)?,
            revoked_ms: row.get(9)?,
            used_ms: row.get(10)?,
        })
    })?;
    Ok(rows.collect::<Result<_, _>>()?)
}
