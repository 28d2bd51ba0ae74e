//! A data folder of its own for each test, a clock that stands still, and rows to fill in.

use std::{
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicI64, Ordering},
    },
};

use store::{
    CallRow, ConversationRow, LedgerRow, Now, OpenOptions, Opened, PanelEnd, PanelRow, PlannedSeat, Store,
    StoreError, TurnRow,
};
use tempfile::TempDir;

/// 2026-11-29 15:45:01.250 UTC
pub const START: i64 = 1_795_967_101_250;

pub struct Folder {
    dir: TempDir,
    clock: Arc<AtomicI64>,
}

impl Folder {
    pub fn new() -> Folder {
        Folder { dir: TempDir::new().unwrap(), clock: Arc::new(AtomicI64::new(START)) }
    }

    /// The data folder; it is made by opening it.
    pub fn path(&self) -> PathBuf {
        self.dir.path().join("data")
    }

    pub fn file(&self) -> PathBuf {
        self.path().join("records.sqlite3")
    }

    pub fn backups(&self) -> Vec<PathBuf> {
        files_in(&self.path().join("backups"))
    }

    pub fn options(&self) -> OpenOptions {
        let clock = self.clock.clone();
        let now: Now = Arc::new(move || clock.load(Ordering::SeqCst));
        OpenOptions { path: self.path(), now, max_pages: None }
    }

    pub fn try_open(&self) -> Result<Opened, StoreError> {
        Store::open(self.options())
    }

    pub fn open(&self) -> Store {
        let opened = self.try_open().unwrap();
        assert_eq!(opened.moved_aside, None);
        opened.store
    }

    pub fn advance(&self, ms: i64) -> i64 {
        self.clock.fetch_add(ms, Ordering::SeqCst) + ms
    }

    /// A connection past the store, to look at the file itself.
    pub fn sqlite(&self) -> rusqlite::Connection {
        rusqlite::Connection::open(self.file()).unwrap()
    }

    pub fn assert_sound(&self) {
        let verdict: String =
            self.sqlite().query_row("PRAGMA integrity_check", [], |row| row.get(0)).unwrap();
        assert_eq!(verdict, "ok");
    }
}

pub fn files_in(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = std::fs::read_dir(folder) else { return Vec::new() };
    let mut files: Vec<_> = entries.map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files
}

pub fn names_in(folder: &Path) -> Vec<String> {
    files_in(folder).iter().map(|file| file.file_name().unwrap().to_str().unwrap().to_owned()).collect()
}

pub fn panel(id: &str) -> PanelRow {
    PanelRow {
        id: id.to_owned(),
        at_ms: START,
        collection: "core".to_owned(),
        shape: "general".to_owned(),
        shape_by: "collection".to_owned(),
        reply: "all".to_owned(),
        caller: "local".to_owned(),
        client: "opencode".to_owned(),
        system: "be brief".to_owned(),
        prompt: "why is the sky blue".to_owned(),
        turns: 1,
        request_json: r#"[{"role":"user","text":"why is the sky blue"}]"#.to_owned(),
        skipped_json: r#"[{"seat":"member","alias":"gamma","why":"retired"}]"#.to_owned(),
        lossy_json: "[]".to_owned(),
        practice: false,
        seats: vec![seat(id, 1, "alpha"), seat(id, 2, "beta")],
    }
}

pub fn seat(panel: &str, number: u32, alias: &str) -> PlannedSeat {
    PlannedSeat {
        call: format!("{panel}.member{number}"),
        seat: format!("member{number}"),
        kind: "member".to_owned(),
        alias: alias.to_owned(),
        endpoint: "fake".to_owned(),
        ..PlannedSeat::default()
    }
}

/// A call that answered.
pub fn call(panel: &str, number: u32, alias: &str) -> CallRow {
    CallRow {
        call: format!("{panel}.member{number}"),
        panel: panel.to_owned(),
        seat: format!("member{number}"),
        kind: "member".to_owned(),
        alias: alias.to_owned(),
        endpoint: "fake".to_owned(),
        served: format!("vendor/{alias}-1"),
        served_as: Some(format!("{alias}-1-0815")),
        status: "ok".to_owned(),
        started_ms: START,
        seconds: 1.5,
        first_token_s: Some(0.25),
        tokens_in: Some(120),
        tokens_out: Some(40),
        tokens_reasoning: None,
        cache_read: Some(100),
        cache_write: Some(0),
        answer: "Rayleigh scattering.".to_owned(),
        error: None,
        error_class: None,
        attempts: 1,
        practice: false,
        finish: None,
        cost: None,
        spent: None,
    }
}

pub fn failed_call(panel: &str, number: u32, alias: &str) -> CallRow {
    CallRow {
        status: "error".to_owned(),
        answer: String::new(),
        error: Some("429: slow down".to_owned()),
        error_class: Some("rate_limited".to_owned()),
        first_token_s: None,
        attempts: 2,
        ..call(panel, number, alias)
    }
}

pub fn done(id: &str) -> PanelEnd {
    PanelEnd {
        id: id.to_owned(),
        seconds: 1.75,
        reply: "all".to_owned(),
        failed_over_json: "[]".to_owned(),
        overhead_ms: 3.5,
        ..PanelEnd::default()
    }
}

/// A panel of one call that answered, written.
pub fn write_panel(store: &Store, id: &str, alias: &str) {
    drop(store.panel_started(PanelRow { seats: vec![seat(id, 1, alias)], ..panel(id) }));
    drop(store.call_ended(call(id, 1, alias)));
    store.panel_ended(done(id)).blocking_wait().unwrap();
}

/// A turn that was answered, the first by its model.
pub fn turn(conversation: &str, n: u32, alias: &str) -> TurnRow {
    TurnRow {
        conversation: ConversationRow {
            id: conversation.to_owned(),
            key: "5eed".to_owned(),
            collection: "core".to_owned(),
            shape: "code".to_owned(),
            caller: "local".to_owned(),
            client: "codex_exec".to_owned(),
            title: "mend the parser".to_owned(),
            at_ms: START,
            alias: alias.to_owned(),
            practice: false,
        },
        n,
        at_ms: START + i64::from(n - 1) * 10_000,
        call: format!("{conversation}.{n}"),
        alias: alias.to_owned(),
        endpoint: "fake".to_owned(),
        served: format!("vendor/{alias}-1"),
        served_as: Some(format!("{alias}-1-0815")),
        api: "responses".to_owned(),
        member_api: "anthropic".to_owned(),
        status: "ok".to_owned(),
        seconds: 2.5,
        first_token_s: Some(0.5),
        tool_calls: 2,
        finish: Some("tool_calls".to_owned()),
        tokens_in: Some(1000),
        tokens_out: Some(50),
        tokens_reasoning: None,
        cache_read: Some(900),
        cache_write: Some(0),
        cost: Some(0.25),
        attempts: 1,
        overhead_ms: 0.75,
        error_class: None,
        error: None,
        failed_over_json: "[]".to_owned(),
        skipped_json: r#"[{"seat":"member","alias":"gamma","why":"retired"}]"#.to_owned(),
        lossy_json: "[]".to_owned(),
        why_json: r#"{"by":"best record","candidates":[]}"#.to_owned(),
        question: String::new(),
        answer: String::new(),
        spent: Vec::new(),
    }
}

/// A turn that nobody answered; `alias` was tried last.
pub fn unanswered(conversation: &str, n: u32, alias: &str) -> TurnRow {
    TurnRow {
        call: String::new(),
        status: "error".to_owned(),
        first_token_s: None,
        tool_calls: 0,
        finish: None,
        tokens_in: None,
        tokens_out: None,
        cache_read: None,
        cache_write: None,
        cost: None,
        attempts: 3,
        error_class: Some("rate_limited".to_owned()),
        error: Some("429: slow down".to_owned()),
        failed_over_json: format!(r#"[{{"from":"{alias}","to":"","why":"429"}}]"#),
        ..turn(conversation, n, alias)
    }
}

/// The first shadow of a routed call.
pub fn shadow(of: &str, alias: &str) -> CallRow {
    let (conversation, _) = of.rsplit_once('.').unwrap();
    CallRow {
        call: format!("{of}.s1"),
        seat: "s1".to_owned(),
        kind: "shadow".to_owned(),
        ..call(conversation, 1, alias)
    }
}

/// What a call took, in the ledger.
pub fn spent(call: &CallRow) -> LedgerRow {
    let cached = call.cache_read.unwrap_or(0) + call.cache_write.unwrap_or(0);
    LedgerRow {
        at_ms: call.started_ms,
        alias: call.alias.clone(),
        endpoint: call.endpoint.clone(),
        connection: call.endpoint.clone(),
        served: call.served.clone(),
        served_as: call.served_as.clone(),
        purpose: if call.kind == "shadow" { "shadow" } else { "panel" }.to_owned(),
        call: call.call.clone(),
        turn: None,
        status: call.status.clone(),
        class: call.error_class.clone(),
        http_status: None,
        attempts: call.attempts,
        tokens_fresh: call.tokens_in.map(|tokens| tokens - cached),
        tokens_out: call.tokens_out,
        tokens_reasoning: call.tokens_reasoning,
        cache_read: call.cache_read,
        cache_write: call.cache_write,
        seconds: call.seconds,
        first_token_s: call.first_token_s,
        cost: call.cost,
        caller: "local".to_owned(),
        collection: "core".to_owned(),
        practice: call.practice,
        ..LedgerRow::default()
    }
}

/// What a turn's last call took.
pub fn spent_on(turn: &TurnRow) -> LedgerRow {
    let cached = turn.cache_read.unwrap_or(0) + turn.cache_write.unwrap_or(0);
    LedgerRow {
        at_ms: turn.at_ms,
        alias: turn.alias.clone(),
        endpoint: turn.endpoint.clone(),
        connection: turn.endpoint.clone(),
        served: turn.served.clone(),
        served_as: turn.served_as.clone(),
        purpose: "route".to_owned(),
        call: turn.call.clone(),
        turn: Some(turn.n),
        status: turn.status.clone(),
        class: turn.error_class.clone(),
        http_status: None,
        attempts: turn.attempts,
        tokens_fresh: turn.tokens_in.map(|tokens| tokens - cached),
        tokens_out: turn.tokens_out,
        tokens_reasoning: turn.tokens_reasoning,
        cache_read: turn.cache_read,
        cache_write: turn.cache_write,
        seconds: turn.seconds,
        first_token_s: turn.first_token_s,
        cost: turn.cost,
        caller: turn.conversation.caller.clone(),
        collection: turn.conversation.collection.clone(),
        practice: turn.conversation.practice,
        ..LedgerRow::default()
    }
}
