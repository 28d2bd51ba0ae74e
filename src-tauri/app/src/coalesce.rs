//! Joins pieces of answers on their way to the web view, so that a fast model costs it a few messages a
//! second instead of hundreds. Order is kept: only pieces that follow one another become one.

use control::view::LiveEvent;

/// Events gathered over a moment, in order.
#[derive(Debug, Default)]
pub(crate) struct Batch {
    events: Vec<LiveEvent>,
}

impl Batch {
    pub(crate) fn push(&mut self, event: LiveEvent) {
        match event {
            LiveEvent::SeatDelta { panel, call, at, text } => self.push_delta(panel, call, at, text),
            other => self.events.push(other),
        }
    }

    /// Appends to the call's last piece, if nothing but other calls' pieces came since and there is no gap.
    fn push_delta(&mut self, panel: String, call: String, at: u32, text: String) {
        for event in self.events.iter_mut().rev() {
            let LiveEvent::SeatDelta { call: last, at: start, text: said, .. } = event else { break };
            if *last == call {
                if u64::from(*start) + utf16_len(said) == u64::from(at) {
                    said.push_str(&text);
                    return;
                }
                break;
            }
        }
        self.events.push(LiveEvent::SeatDelta { panel, call, at, text });
    }

    pub(crate) fn take(&mut self) -> Vec<LiveEvent> {
        std::mem::take(&mut self.events)
    }
}

fn utf16_len(text: &str) -> u64 {
    text.encode_utf16().count() as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn delta(call: &str, at: u32, text: &str) -> LiveEvent {
        LiveEvent::SeatDelta { panel: "p".into(), call: call.into(), at, text: text.into() }
    }

    fn joined(events: Vec<LiveEvent>) -> Vec<String> {
        let mut batch = Batch::default();
        events.into_iter().for_each(|event| batch.push(event));
        let show = |event| match event {
            LiveEvent::SeatDelta { call, at, text, .. } => format!("{call}@{at}:{text}"),
            LiveEvent::SetupChanged {} => "setup".to_owned(),
            other => format!("{other:?}"),
        };
        batch.take().into_iter().map(show).collect()
    }

    #[test]
    fn pieces_of_one_call_become_one() {
        assert_eq!(
            joined(vec![delta("a", 0, "He"), delta("a", 2, "llo"), delta("a", 5, ".")]),
            ["a@0:Hello."]
        );
    }

    #[test]
    fn other_calls_between_them_do_not_matter() {
        let events = vec![delta("a", 0, "x"), delta("b", 7, "1"), delta("a", 1, "y"), delta("b", 8, "2")];
        assert_eq!(joined(events), ["a@0:xy", "b@7:12"]);
    }

    #[test]
    fn length_is_counted_in_utf16_units() {
        assert_eq!(joined(vec![delta("a", 0, "🪑é"), delta("a", 3, "!")]), ["a@0:🪑é!"]);
    }

    #[test]
    fn a_gap_or_a_repeat_is_left_for_the_listener_to_see() {
        assert_eq!(joined(vec![delta("a", 0, "x"), delta("a", 2, "z")]), ["a@0:x", "a@2:z"]);
        assert_eq!(joined(vec![delta("a", 0, "xy"), delta("a", 1, "y")]), ["a@0:xy", "a@1:y"]);
    }

    #[test]
    fn nothing_moves_past_another_event() {
        let events = vec![delta("a", 0, "x"), LiveEvent::SetupChanged {}, delta("a", 1, "y")];
        assert_eq!(joined(events), ["a@0:x", "setup", "a@1:y"]);
    }
}
