//! Gateway keys: kept in order, revoked once, used ever later; noted in the audit log without their text.

use store::{AuditEntry, GatewayKeyRow, StoreError};

use crate::harness::Folder;

fn key(name: &str, hash: u8) -> GatewayKeyRow {
    GatewayKeyRow {
        name: name.to_owned(),
        sha256: [hash; 32],
        last4: "AbC_".to_owned(),
        created_ms: 5,
        ..GatewayKeyRow::default()
    }
}

fn entry(action: &str, name: &str) -> AuditEntry {
    AuditEntry {
        actor: "owner".to_owned(),
        action: action.to_owned(),
        subject: format!("gateway key {name}"),
        detail: String::new(),
    }
}

#[test]
fn they_are_there_after_a_restart_in_the_order_they_were_made() {
    let folder = Folder::new();
    let store = folder.open();
    let full = GatewayKeyRow {
        collections_json: Some("[\"core\"]".to_owned()),
        requests_a_minute: Some(60),
        budget_json: Some("{}".to_owned()),
        expires_ms: Some(9),
        ..key("desk", 2)
    };
    let add =
        |row: &GatewayKeyRow| store.add_gateway_key(row.clone(), entry("added", &row.name)).blocking_wait();
    assert_eq!((add(&key("lab", 1)), add(&full)), (Ok(1), Ok(2)));
    // A name may be given again; a text may not.
    assert_eq!(add(&key("lab", 3)), Ok(3));
    assert!(matches!(add(&key("other", 1)), Err(StoreError::Conflict(_))));
    store.close();

    let wanted = [
        GatewayKeyRow { id: 1, ..key("lab", 1) },
        GatewayKeyRow { id: 2, ..full },
        GatewayKeyRow { id: 3, ..key("lab", 3) },
    ];
    let store = folder.open();
    assert_eq!(store.gateway_keys().unwrap(), wanted);
    // Of the one that was refused nothing is there.
    let noted: Vec<_> = store.audit(9).unwrap().into_iter().rev().map(|row| row.entry).collect();
    assert_eq!(noted, [entry("added", "lab"), entry("added", "desk"), entry("added", "lab")]);
}

#[test]
fn one_is_revoked_once_and_its_use_only_moves_on() {
    let folder = Folder::new();
    let store = folder.open();
    store.add_gateway_key(key("lab", 1), entry("added", "lab")).blocking_wait().unwrap();
    for at_ms in [20, 30, 25] {
        store.gateway_key_used(1, at_ms).blocking_wait().unwrap();
    }
    for at_ms in [40, 50] {
        store.revoke_gateway_key(1, at_ms, entry("revoked", "lab")).blocking_wait().unwrap();
    }
    let wanted = GatewayKeyRow { id: 1, used_ms: Some(30), revoked_ms: Some(40), ..key("lab", 1) };
    assert_eq!(store.gateway_keys().unwrap(), [wanted]);
}
