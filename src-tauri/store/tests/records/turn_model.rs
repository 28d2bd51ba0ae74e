//! Turns against a plain model: whatever ends in whatever order, whoever answered and whatever is known of it, a
//! conversation and its calls are what a fold over the turns says.

use std::collections::BTreeMap;

use proptest::{collection::vec, option, prelude::*, sample::select};
use store::{AliasRecord, CallRow, OpenConversation, RecordFilter, StoredConversation, Totals, TurnRow};

use crate::harness::{Folder, START, turn};

const ALIASES: [&str; 3] = ["alpha", "beta", "gamma"];

/// A turn of one of two conversations: its number is its place among all, shuffled.
fn some_turn() -> impl Strategy<Value = TurnRow> {
    let tokens = || option::of(0..1000_u64);
    (
        (select(&["r1", "r2"][..]), option::of(0..ALIASES.len()), 0..50_000_i64, 0..8000_u32),
        (tokens(), tokens(), tokens(), option::of(0..8_u32)),
        (select(&["ok", "empty", "error", "cancelled"][..]), 0..4_u32, 1..4_u32, any::<bool>()),
    )
        .prop_map(
            |(
                (id, who, at, ms),
                (tokens_in, tokens_out, cache_read, eighths),
                (status, tools, attempts, moved),
            )| {
                let alias = who.map_or("", |who| ALIASES[who]);
                let mut row = turn(id, 1, alias);
                row.call = who.map_or(String::new(), |who| format!("{id}.{who}"));
                row.at_ms = START + at;
                row.seconds = f64::from(ms) / 1000.0;
                row.first_token_s = (ms % 2 == 0).then_some(f64::from(ms) / 2000.0);
                row.tool_calls = tools;
                row.attempts = attempts;
                row.status = status.to_owned();
                row.error = (status == "error").then(|| format!("failed after {ms} ms"));
                row.conversation.key = format!("key{ms}");
                row.cost = eighths.map(|eighths| f64::from(eighths) / 8.0);
                if moved {
                    row.failed_over_json = r#"[{"from":"delta","to":"","why":"429"}]"#.to_owned();
                }
                TurnRow { tokens_in, tokens_out, cache_read, ..row }
            },
        )
}

fn sum<T: std::ops::Add<Output = T>>(sum: Option<T>, more: Option<T>) -> Option<T> {
    match (sum, more) {
        (Some(sum), Some(more)) => Some(sum + more),
        (sum, more) => sum.or(more),
    }
}

fn end(turn: &TurnRow) -> i64 {
    turn.at_ms + (turn.seconds * 1000.0) as i64
}

fn conversation(turns: &[&TurnRow]) -> StoredConversation {
    let last = turns[turns.len() - 1];
    let mut row = last.conversation.clone();
    row.alias =
        turns.iter().rev().find(|it| !it.alias.is_empty()).map_or(String::new(), |it| it.alias.clone());
    StoredConversation {
        row,
        last_at_ms: turns.iter().map(|it| end(it)).max().unwrap(),
        turns: turns.iter().map(|it| it.n).max().unwrap(),
        totals: Totals {
            tool_calls: turns.iter().map(|it| it.tool_calls).sum(),
            failed_over: turns.iter().filter(|it| !it.call.is_empty() && it.failed_over_json != "[]").count()
                as u32,
            tokens_in: turns.iter().fold(None, |all, it| sum(all, it.tokens_in)),
            tokens_out: turns.iter().fold(None, |all, it| sum(all, it.tokens_out)),
            cost: turns.iter().fold(None, |all, it| sum(all, it.cost)),
            cost_unknown: turns.iter().filter(|it| it.cost.is_none()).count() as u32,
            status: last.status.clone(),
        },
        calls: Vec::new(),
    }
}

/// The calls in the order in which their first turns ended.
fn calls(turns: &[&TurnRow]) -> Vec<(CallRow, i64)> {
    let mut calls: Vec<(CallRow, i64)> = Vec::new();
    for turn in turns.iter().filter(|it| !it.call.is_empty()) {
        let at = calls.iter().position(|(call, _)| call.call == turn.call).unwrap_or_else(|| {
            let first = CallRow {
                call: turn.call.clone(),
                panel: turn.conversation.id.clone(),
                seat: turn.call[3..].to_owned(),
                kind: "route".to_owned(),
                alias: turn.alias.clone(),
                started_ms: turn.at_ms,
                first_token_s: turn.first_token_s,
                ..CallRow::default()
            };
            calls.push((first, i64::MIN));
            calls.len() - 1
        });
        let (call, last) = &mut calls[at];
        *last = end(turn).max(*last);
        call.endpoint = turn.endpoint.clone();
        call.served = turn.served.clone();
        call.served_as = turn.served_as.clone();
        call.status = turn.status.clone();
        call.error = turn.error.clone();
        call.finish = turn.finish.clone();
        call.cost = sum(call.cost, turn.cost);
        call.seconds += turn.seconds;
        call.attempts += turn.attempts;
        call.tokens_in = sum(call.tokens_in, turn.tokens_in);
        call.tokens_out = sum(call.tokens_out, turn.tokens_out);
        call.cache_read = sum(call.cache_read, turn.cache_read);
        call.cache_write = sum(call.cache_write, turn.cache_write);
    }
    calls
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn conversations_and_calls_are_a_fold_over_the_turns(
        (mut turns, order) in vec(some_turn(), 1..24).prop_flat_map(|turns| {
            let order: Vec<u32> = (1..=turns.len() as u32).collect();
            (Just(turns), Just(order).prop_shuffle())
        }),
        reopen_after in 0..24_usize,
    ) {
        for (turn, n) in turns.iter_mut().zip(order) {
            turn.n = n;
        }
        let folder = Folder::new();
        let mut store = folder.open();
        for (at, turn) in turns.iter().enumerate() {
            if at == reopen_after {
                store.close();
                store = folder.open();
            }
            store.turn_ended(turn.clone()).blocking_wait().unwrap();
        }
        let mut records: BTreeMap<String, AliasRecord> = BTreeMap::new();
        for id in ["r1", "r2"] {
            let of_it: Vec<&TurnRow> = turns.iter().filter(|it| it.conversation.id == id).collect();
            let found = store.conversation(id).unwrap();
            if of_it.is_empty() {
                prop_assert_eq!(found, None);
                continue;
            }
            let mut found = found.unwrap();
            let kept = std::mem::take(&mut found.calls);
            let expected = conversation(&of_it);
            prop_assert_eq!(&found, &expected);
            let calls = calls(&of_it);
            let rows: Vec<CallRow> = calls.iter().map(|(row, _)| row.clone()).collect();
            prop_assert_eq!(kept.into_iter().map(|it| it.row).collect::<Vec<_>>(), rows.clone());
            let open = store.open_conversations(0, 10).unwrap();
            let open = open.into_iter().find(|it| it.row.id == id).unwrap();
            prop_assert_eq!(open, OpenConversation {
                totals: expected.totals,
                row: expected.row,
                last_at_ms: expected.last_at_ms,
                turns: expected.turns,
                calls: rows.into_iter().map(|row| (row.call, row.alias)).collect(),
                shadows: 0,
            });
            for (row, last) in calls {
                let given = of_it.iter().filter(|it| it.call == row.call).map(|it| it.n).min();
                prop_assert_eq!(store.turn_of_call(&row.call).unwrap().map(|it| it.n), given);
                let alias = row.alias.clone();
                let record = records.entry(row.alias).or_insert_with(|| AliasRecord {
                    alias,
                    useful: 0,
                    not_useful: 0,
                    judged: 0,
                    offloads: 0,
                    last_at_ms: last,
                });
                record.offloads += 1;
                record.last_at_ms = record.last_at_ms.max(last);
            }
        }
        let records: Vec<AliasRecord> = records.into_values().collect();
        prop_assert_eq!(store.record(RecordFilter::default()).unwrap(), records.clone());
        let by_shape: Vec<_> = store.record_by_shape().unwrap().into_iter().map(|it| it.record).collect();
        prop_assert_eq!(by_shape, records);
    }
}
