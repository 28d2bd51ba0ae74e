//! What a member has said of a call so far, and what it says that took: all that is known of one that nobody waits for to
//! its end.

use std::sync::{
    Mutex, MutexGuard, PoisonError,
    atomic::{AtomicBool, AtomicU64, Ordering},
};

use wire::{Event, Usage};

/// Told by whoever reads the answer, of a call alone.
#[derive(Default)]
pub(crate) struct Heard {
    /// Of text, reasoning, and calls of tools.
    bytes: AtomicU64,
    /// Its finish has come: no more is said of what it took.
    is_whole: AtomicBool,
    usage: Mutex<Usage>,
}

/// About what a token is, in bytes.
const A_TOKEN: u64 = 4;

impl Heard {
    pub(crate) fn take(&self, event: &Event) {
        let bytes = match event {
            Event::Text(text) | Event::Refusal(text) | Event::Thinking(text) => text.len(),
            Event::CallStart(call) => call.name.len(),
            Event::CallArguments { delta, .. } => delta.len(),
            Event::Usage(usage) => return self.usage().update(*usage),
            Event::Finish { .. } => return self.is_whole.store(true, Ordering::Relaxed),
            _ => return,
        };
        self.take_bytes(bytes as u64);
    }

    /// Of what is told by no event.
    pub(crate) fn take_bytes(&self, bytes: u64) {
        self.bytes.fetch_add(bytes, Ordering::Relaxed);
    }

    /// What was told by no event is told by events now.
    pub(crate) fn forget_bytes(&self) {
        self.bytes.store(0, Ordering::Relaxed);
    }

    /// Whether a word of an answer has come.
    pub(crate) fn has_said(&self) -> bool {
        self.bytes.load(Ordering::Relaxed) > 0
    }

    /// Whether the member has begun to count.
    pub(crate) fn has_counted(&self) -> bool {
        *self.usage() != Usage::default()
    }

    /// What it took, as the member counted it: nothing of that is known before its end.
    pub(crate) fn whole(&self) -> Usage {
        if self.is_whole.load(Ordering::Relaxed) { *self.usage() } else { Usage::default() }
    }

    /// What it has taken at least, by what the member has said of that and by what it has said; `input` is the estimate
    /// of what it was asked.
    pub(crate) fn so_far(&self, input: u64) -> Usage {
        let usage = *self.usage();
        let said = self.bytes.load(Ordering::Relaxed).div_ceil(A_TOKEN);
        let output = match usage.output {
            Some(output) if self.is_whole.load(Ordering::Relaxed) => output,
            output => output.unwrap_or(0).max(said),
        };
        Usage { input: Some(usage.input.unwrap_or(input)), output: Some(output), ..usage }
    }

    fn usage(&self) -> MutexGuard<'_, Usage> {
        self.usage.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use wire::{Finish, Usage};

    use super::*;

    fn usage(input: Option<u64>, output: Option<u64>) -> Usage {
        Usage { input, output, ..Usage::default() }
    }

    #[test]
    fn before_its_end_it_is_what_was_said_and_then_what_was_counted() {
        let heard = Heard::default();
        assert_eq!(heard.so_far(7), usage(Some(7), Some(0)));
        heard.take(&Event::Usage(usage(Some(11), Some(1))));
        assert_eq!(heard.so_far(7), usage(Some(11), Some(1)));
        heard.take(&Event::Thinking("hm, yes".to_owned()));
        heard.take(&Event::Text("and so".to_owned()));
        heard.take(&Event::CallArguments { index: 0, delta: "{}".to_owned() });
        assert_eq!((heard.so_far(7), heard.whole()), (usage(Some(11), Some(4)), Usage::default()));
        heard.take_bytes(4);
        assert_eq!(heard.so_far(7), usage(Some(11), Some(5)));
        heard.take(&Event::Usage(usage(None, Some(3))));
        heard.take(&Event::Finish { reason: Finish::Stop, inferred: false });
        assert_eq!((heard.so_far(7), heard.whole()), (usage(Some(11), Some(3)), usage(Some(11), Some(3))));
    }

    #[test]
    fn an_end_that_counts_nothing_leaves_what_was_said() {
        let heard = Heard::default();
        heard.take(&Event::Text("four and nine".to_owned()));
        heard.take(&Event::Finish { reason: Finish::Stop, inferred: false });
        assert_eq!((heard.so_far(7), heard.whole()), (usage(Some(7), Some(4)), Usage::default()));
        heard.take(&Event::Usage(usage(Some(9), Some(900))));
        assert_eq!(heard.so_far(7), usage(Some(9), Some(900)));
    }
}
