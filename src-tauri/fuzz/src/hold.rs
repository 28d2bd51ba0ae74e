//! What must hold of any bytes.

use serde_json::Value;
use wire::{Content, Dialect, Event, Finish, Reply, Restore, format};

/// A JSON value of two bytes may take a few hundred in memory: a table with one entry, room for four.
const MEMORY_PER_BYTE: u64 = 768;

/// What any decoder may hold before it has read anything, and an error's words.
const MEMORY_AT_LEAST: u64 = 256 * 1024;

/// Runs it, and fails when it held more memory at once than what it reads of `size` bytes is worth.
pub fn bounded<T>(size: usize, run: impl FnOnce() -> T) -> T {
    let mut result = None;
    let info = allocation_counter::measure(|| result = Some(run()));
    let most = MEMORY_AT_LEAST + MEMORY_PER_BYTE * size as u64;
    assert!(info.bytes_max <= most, "{} bytes held at once for {size} bytes read", info.bytes_max);
    result.expect("it was run")
}

/// The events of a reply that came in these pieces, as a caller's encoder gets them, and how many frames of it could
/// not be read.
pub fn decode<'a>(dialect: Dialect, pieces: impl IntoIterator<Item = &'a [u8]>) -> (Vec<Event>, u32) {
    let mut decoder = Restore::default().over(format(dialect).decoder());
    let mut events = Vec::new();
    for piece in pieces {
        decoder.push(piece, &mut events);
    }
    decoder.end(&mut events);
    (events, decoder.skipped())
}

/// The order that every decoder keeps (see [`Event`]).
pub fn assert_in_order(events: &[Event]) {
    let mut open: Vec<bool> = Vec::new();
    for (at, event) in events.iter().enumerate() {
        assert_eq!(event.is_last(), at + 1 == events.len(), "one last event: {events:?}");
        match event {
            Event::CallStart(start) => {
                assert_eq!(start.index, open.len(), "indices are dense: {events:?}");
                assert!(!start.id.is_empty() && !start.name.is_empty(), "{events:?}");
                open.push(true);
            }
            Event::CallArguments { index, delta } => {
                assert!(open[*index] && !delta.is_empty(), "arguments of an open call: {events:?}");
            }
            Event::CallEnd { index } => {
                assert!(std::mem::replace(&mut open[*index], false), "ended once: {events:?}");
            }
            _ => {}
        }
    }
    assert!(!events.is_empty(), "a reply has an end");
}

/// What must be the same after any way through a dialect: the text, what was called with what, how it ended.
pub fn meaning(reply: &Reply) -> (String, Vec<(String, Value)>, Option<Finish>) {
    let calls = reply.parts.iter().filter_map(|part| match &part.content {
        Content::ToolCall(call) => Some(call),
        _ => None,
    });
    let arguments = |text: &str| serde_json::from_str(text).unwrap_or_else(|_| Value::from(text));
    let mut calls: Vec<_> = calls.map(|call| (call.name.clone(), arguments(&call.arguments))).collect();
    // A dialect that gives each call whole gives it when it is, so interleaved calls may change places.
    calls.sort_by_cached_key(|call| format!("{call:?}"));
    // Several dialects tell calls by the calls alone.
    let finish = match reply.finish {
        Some(Finish::Stop | Finish::ToolCalls) => {
            Some(if calls.is_empty() { Finish::Stop } else { Finish::ToolCalls })
        }
        finish => finish,
    };
    // A call that was cut off has no meaning.
    let is_cut = matches!(finish, Some(Finish::Length | Finish::ContentFilter));
    (reply.text(), if is_cut { Vec::new() } else { calls }, finish)
}
