//! Every schema version there ever was is kept as SQL text in `tests/fixtures/` and migrates to the newest.
//!
//! A new version comes with `UPDATE_FIXTURES=1 cargo test -p store`, which writes the fixture of the newest
//! version; those that are there never change.

use std::path::PathBuf;

use rusqlite::Connection;
use store::{
    AuditEntry, CallRow, ClearOutcome, CooldownRow, FactsRow, GatewayKeyRow, LearnedRow, LedgerRow,
    NewVerdict, OnboardingRow, PaidNowRow, PanelRow, PanelState, ProbeRow, QuotaRow, RecordFilter,
    RefreshedRow, SCHEMA_VERSION, SetupChange, SetupItem, SpendBy, Store, StoredPanel, TurnRow,
};

use crate::harness::{
    Folder, call, done, failed_call, panel, seat, shadow, spent, spent_on, turn, unanswered,
};

fn fixture(version: u32) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(format!("tests/fixtures/v{version}.sql"))
}

/// The first version with conversations.
const TURNS: u32 = 4;
/// The first version with a ledger, and with what is learned of models. What was recorded before is in the ledger too.
const LEDGER: u32 = 5;
/// The first version with gateway keys; responses are their callers' from then on.
const KEYS: u32 = 8;

/// What the fixture of a version holds, by the verbs of today.
fn fill(store: &Store, version: u32) {
    let item = SetupItem { kind: "model".to_owned(), name: "alpha".to_owned(), body: "{}".to_owned() };
    let entry = AuditEntry {
        actor: "window".to_owned(),
        action: "added".to_owned(),
        subject: "model alpha".to_owned(),
        detail: "{}".to_owned(),
    };
    drop(store.change_setup(vec![SetupChange::Put(item)], vec![entry]));
    drop(store.panel_started(panel("p1")));
    drop(store.call_ended(with_spent(call("p1", 1, "alpha"))));
    drop(store.call_ended(with_spent(failed_call("p1", 2, "beta"))));
    drop(store.panel_ended(done("p1")));
    let running = PanelRow { practice: true, seats: vec![seat("p2", 1, "quick")], ..panel("p2") };
    drop(store.panel_started(running));
    drop(store.call_ended(with_spent(CallRow { practice: true, ..call("p2", 1, "quick") })));
    for useful in [false, true] {
        let verdict = NewVerdict {
            call: "p1.member1".to_owned(),
            useful,
            note: Some("it's \"good\"".to_owned()),
            real: Some(vec!["it scatters".to_owned()]),
            by: "window".to_owned(),
            ..NewVerdict::default()
        };
        drop(store.give_verdict(verdict));
    }
    let verdict = NewVerdict { call: "p2.member1".to_owned(), useful: true, ..NewVerdict::default() };
    drop(store.give_verdict(verdict));
    let cleared = store.clear_verdict("p2.member1".to_owned(), "window".to_owned()).blocking_wait();
    assert!(matches!(cleared, Ok(ClearOutcome::Cleared(_))), "{cleared:?}");
    if version >= TURNS {
        fill_turns(store);
    }
    if version >= LEDGER {
        fill_limits(store);
    }
    if version >= KEYS {
        fill_keys(store);
    }
}

fn with_spent(row: CallRow) -> CallRow {
    CallRow { spent: Some(spent(&row)), ..row }
}

fn with_spent_on(row: TurnRow) -> TurnRow {
    TurnRow { spent: vec![spent_on(&row)], ..row }
}

fn fill_turns(store: &Store) {
    drop(store.turn_ended(with_spent_on(turn("r1", 1, "alpha"))));
    let call = "r1.1".to_owned();
    let kept =
        TurnRow { question: "[]".to_owned(), answer: "it's done".to_owned(), ..turn("r1", 2, "alpha") };
    drop(store.turn_ended(with_spent_on(TurnRow { call: call.clone(), ..kept })));
    drop(store.turn_ended(with_spent_on(unanswered("r1", 3, "beta"))));
    drop(store.shadow_ended(with_spent(shadow("r1.1", "gamma")), "core".to_owned(), "code".to_owned()));
    let verdict = NewVerdict { call, useful: true, by: "window".to_owned(), ..NewVerdict::default() };
    store.give_verdict(verdict).blocking_wait().unwrap();
}

fn fill_limits(store: &Store) {
    let (endpoint, served) = ("fake".to_owned(), "vendor/alpha-1".to_owned());
    let changes = vec![
        SetupChange::MoveRecord { from: "old".to_owned(), to: "alpha".to_owned() },
        SetupChange::GiveUpName { alias: "gone".to_owned() },
    ];
    drop(store.change_setup(changes, Vec::new()));
    drop(store.spent(LedgerRow {
        purpose: "probe".to_owned(),
        http_status: Some(200),
        cost: Some(0.125),
        ..spent(&CallRow { call: String::new(), ..call("p1", 1, "alpha") })
    }));
    drop(store.onboard(vec![OnboardingRow {
        endpoint: endpoint.clone(),
        served: served.clone(),
        alias: "alpha".to_owned(),
        mode: "quick".to_owned(),
        state: "waiting".to_owned(),
        step: "listed".to_owned(),
        added_ms: 7,
        log_json: "[]".to_owned(),
        ..OnboardingRow::default()
    }]));
    drop(store.probed(ProbeRow {
        endpoint: endpoint.clone(),
        served: served.clone(),
        step: "word".to_owned(),
        at_ms: 8,
        ok: true,
        seconds: Some(0.5),
        tokens_a_s: Some(40.0),
        ..ProbeRow::default()
    }));
    drop(store.keep_facts(vec![FactsRow {
        endpoint: endpoint.clone(),
        served: served.clone(),
        source: "listing".to_owned(),
        body: "{\"tools\":true}".to_owned(),
        at_ms: 9,
    }]));
    drop(store.keep_refreshed(RefreshedRow {
        source: "openrouter".to_owned(),
        at_ms: 10,
        etag: Some("\"e\"".to_owned()),
        body: vec![0x1f, 0x8b, 0],
        ..RefreshedRow::default()
    }));
    drop(store.keep_cooldowns(vec![CooldownRow {
        kind: "connection".to_owned(),
        name: "fake".to_owned(),
        until_ms: 11,
        stated: true,
        ..CooldownRow::default()
    }]));
    drop(store.keep_quotas(vec![QuotaRow {
        connection: "fake".to_owned(),
        metric: "requests".to_owned(),
        window_s: 60,
        allowed: Some(30),
        remaining: Some(29),
        seen_ms: 12,
        ..QuotaRow::default()
    }]));
    drop(store.keep_learned(LearnedRow {
        endpoint: endpoint.clone(),
        served: served.clone(),
        what: "quirks".to_owned(),
        body: "{}".to_owned(),
        at_ms: 13,
    }));
    let price = "{\"input\":1.0}".to_owned();
    let paid = PaidNowRow {
        endpoint: endpoint.clone(),
        served: served.clone(),
        at_ms: 14,
        price,
        allowed_ms: Some(15),
    };
    drop(store.keep_paid_now(paid));
    store.dismiss(endpoint, vec!["vendor/beta-1".to_owned()]).blocking_wait().unwrap();
}

fn fill_keys(store: &Store) {
    let entry = AuditEntry {
        actor: "owner".to_owned(),
        action: "added".to_owned(),
        subject: "gateway key desk".to_owned(),
        detail: String::new(),
    };
    let row = GatewayKeyRow {
        name: "desk".to_owned(),
        sha256: [7; 32],
        last4: "AbC_".to_owned(),
        created_ms: 16,
        collections_json: Some("[\"core\"]".to_owned()),
        requests_a_minute: Some(60),
        budget_json: Some("{\"tokens\":9,\"per\":\"day\"}".to_owned()),
        expires_ms: Some(17),
        used_ms: Some(18),
        ..GatewayKeyRow::default()
    };
    store.add_gateway_key(row, entry).blocking_wait().unwrap();
    let hung_up = LedgerRow {
        purpose: "probe".to_owned(),
        tokens_held: Some(900),
        tokens_spent: Some(70),
        cost_spent: Some(0.25),
        ..LedgerRow::default()
    };
    store.spent(hung_up).blocking_wait().unwrap();
}

/// Everything that can be read of it.
fn everything(store: &Store) -> (Vec<StoredPanel>, String) {
    let spend = |by| [false, true].map(|practice| store.spend(by, 0, practice).unwrap());
    let limits = format!(
        "{:#?}",
        (
            [SpendBy::Model, SpendBy::Collection, SpendBy::Caller, SpendBy::Endpoint, SpendBy::Purpose]
                .map(spend),
            (store.sent(0).unwrap(), store.spend_by_day(0).unwrap()),
            store.failures(&["rate_limited"], 0).unwrap(),
            (store.onboarding().unwrap(), store.probes().unwrap()),
            (store.facts().unwrap(), store.refreshed("openrouter").unwrap()),
            (store.cooldowns().unwrap(), store.quotas().unwrap()),
            (store.learned().unwrap(), store.paid_now().unwrap()),
            (store.names().unwrap(), store.dismissed("fake").unwrap()),
            store.gateway_keys().unwrap(),
        )
    );
    let record = |practice| store.record(RecordFilter { practice, ..RecordFilter::default() }).unwrap();
    let rest = format!(
        "{:#?}",
        (
            store.setup_items().unwrap(),
            store.audit(100).unwrap(),
            store.verdict_history("p1.member1").unwrap(),
            store.verdict_history("p2.member1").unwrap(),
            record(false),
            record(true),
            store.record_by_shape().unwrap(),
            found(store, "sky"),
            found(store, "rayleigh"),
            found(store, "it scatters"),
            store.conversations(None, 100).unwrap(),
            store.turns("r1", None, 100).unwrap(),
        )
    );
    (store.panels(None, 100).unwrap(), rest + &limits)
}

/// Which panels are found, whether by their prompt, and which calls.
fn found(store: &Store, query: &str) -> Vec<(String, bool, Vec<String>)> {
    let hits = store.search(query, None, 10).unwrap();
    hits.into_iter().map(|hit| (hit.panel.row.id, hit.in_prompt, hit.calls)).collect()
}

fn schema(folder: &Folder) -> Vec<(String, String)> {
    let connection = folder.sqlite();
    let mut statement =
        connection.prepare("SELECT name, coalesce(sql, '') FROM sqlite_schema ORDER BY name").unwrap();
    let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?))).unwrap();
    rows.map(Result::unwrap).collect()
}

/// A folder that holds what the fixture of a version does, opened once more since, and what is read of it.
fn filled(version: u32) -> (Folder, (Vec<StoredPanel>, String)) {
    let folder = Folder::new();
    let store = folder.open();
    fill(&store, version);
    store.close();
    let store = folder.open();
    let found = everything(&store);
    store.close();
    (folder, found)
}

#[test]
fn every_version_migrates_to_the_newest() {
    let (fresh, before_turns) = filled(TURNS - 1);
    let (_, with_turns) = filled(LEDGER - 1);
    let (_, with_ledger) = filled(KEYS - 1);
    let (_, with_keys) = filled(SCHEMA_VERSION);
    assert_eq!(
        with_keys.0.iter().map(|panel| panel.state).collect::<Vec<_>>(),
        [PanelState::Interrupted, PanelState::Done]
    );
    if std::env::var_os("UPDATE_FIXTURES").is_some() && !fixture(SCHEMA_VERSION).exists() {
        let blank = Folder::new();
        let store = blank.open();
        fill(&store, SCHEMA_VERSION);
        store.close();
        std::fs::write(fixture(SCHEMA_VERSION), dump(&blank.sqlite())).unwrap();
    }

    for version in 1..=SCHEMA_VERSION {
        let folder = Folder::new();
        std::fs::create_dir_all(folder.path()).unwrap();
        let sql = std::fs::read_to_string(fixture(version))
            .unwrap_or_else(|error| panic!("the fixture of version {version}: {error}"));
        folder.sqlite().execute_batch(&sql).unwrap();
        let found: u32 = folder.sqlite().pragma_query_value(None, "user_version", |row| row.get(0)).unwrap();
        assert_eq!(found, version, "the fixture names its version");

        let store = folder.open();
        let expected = match version {
            ..TURNS => &before_turns,
            TURNS..LEDGER => &with_turns,
            LEDGER..KEYS => &with_ledger,
            KEYS.. => &with_keys,
        };
        assert_eq!(&everything(&store), expected, "version {version}");
        store.close();
        assert_eq!(schema(&folder), schema(&fresh), "version {version} ends at the same schema");
        let backups = folder.backups();
        assert_eq!(backups.len(), usize::from(version < SCHEMA_VERSION), "a backup before migrating");
        let found: u32 = folder.sqlite().pragma_query_value(None, "user_version", |row| row.get(0)).unwrap();
        assert_eq!(found, SCHEMA_VERSION);
        folder.assert_sound();
        assert!(!folder.try_open().unwrap().store.panels(None, 1).unwrap().is_empty());
    }
}

/// A database as SQL text.
fn dump(connection: &Connection) -> String {
    let mut sql = String::new();
    let mut statement = connection
        .prepare("SELECT type, name, sql FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY type DESC, rowid")
        .unwrap();
    let mut objects = statement.query([]).unwrap();
    while let Some(object) = objects.next().unwrap() {
        let (kind, name, create): (String, String, String) =
            (object.get(0).unwrap(), object.get(1).unwrap(), object.get(2).unwrap());
        // The tables behind the search index come with it; of the index itself only their rows can be read.
        match name.strip_prefix("search_") {
            Some(_) => sql += &format!("DELETE FROM {name};\n"),
            None => sql += &format!("{create};\n"),
        }
        if kind == "table" && name != "search" {
            sql += &rows(connection, &name);
        }
    }
    let version: u32 = connection.pragma_query_value(None, "user_version", |row| row.get(0)).unwrap();
    sql + &format!("PRAGMA user_version = {version};\n")
}

fn rows(connection: &Connection, table: &str) -> String {
    let mut statement = connection.prepare(&format!("SELECT * FROM {table}")).unwrap();
    let names: Vec<String> = statement.column_names().map(str::to_owned).collect();
    let quoted: Vec<String> = names.iter().map(|name| format!("quote({name})")).collect();
    statement = connection.prepare(&format!("SELECT {} FROM {table}", quoted.join(", "))).unwrap();
    let mut rows = statement.query([]).unwrap();
    let mut sql = String::new();
    while let Some(row) = rows.next().unwrap() {
        let values: Vec<String> = (0..names.len()).map(|at| row.get(at).unwrap()).collect();
        sql += &format!("INSERT INTO {table} ({}) VALUES ({});\n", names.join(", "), values.join(", "));
    }
    sql
}
