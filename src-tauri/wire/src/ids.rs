//! Ids of tool calls where a dialect has none: made from the call's position, so that a resent conversation has
//! the same ids.

use std::collections::VecDeque;

/// The id of the conversation's n-th tool call, counted from 0.
pub(crate) fn nth_call(n: usize) -> String {
    format!("call_{n}")
}

/// Matches results to calls while a conversation without ids is read, in order.
#[derive(Debug, Default)]
pub(crate) struct Matcher {
    calls: usize,
    /// (id, name), oldest first.
    open: VecDeque<(String, String)>,
}

impl Matcher {
    /// The id of the next call: its own, else one by position.
    pub fn call(&mut self, id: Option<&str>, name: &str) -> String {
        let id = id.filter(|id| !id.is_empty()).map_or_else(|| nth_call(self.calls), str::to_owned);
        self.calls += 1;
        self.open.push_back((id.clone(), name.to_owned()));
        id
    }

    /// The id a result belongs to: its own, else the oldest open call of its name, else the oldest open call. A
    /// result that belongs to none keeps the id it has, or gets one that no call has.
    pub fn result(&mut self, id: Option<&str>, name: Option<&str>) -> String {
        let id = id.filter(|id| !id.is_empty());
        let name = name.filter(|name| !name.is_empty());
        let at = match (id, name) {
            (Some(id), _) => self.open.iter().position(|(known, _)| known == id),
            (None, Some(name)) => self.open.iter().position(|(_, known)| known == name),
            (None, None) => (!self.open.is_empty()).then_some(0),
        };
        match at.and_then(|at| self.open.remove(at)) {
            Some((id, _)) => id,
            None => id.map_or_else(|| "call_unknown".to_owned(), str::to_owned),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_find_their_calls() {
        let mut ids = Matcher::default();
        assert_eq!(ids.call(None, "f"), "call_0");
        assert_eq!(ids.call(None, "g"), "call_1");
        assert_eq!(ids.call(None, "f"), "call_2");
        assert_eq!(ids.call(Some("own"), "h"), "own");
        assert_eq!(ids.result(None, Some("f")), "call_0");
        assert_eq!(ids.result(Some("own"), Some("f")), "own");
        assert_eq!(ids.result(None, Some("f")), "call_2");
        assert_eq!(ids.result(None, None), "call_1");
        assert_eq!(ids.result(None, Some("f")), "call_unknown");
        assert_eq!(ids.result(Some("x"), None), "x");
    }
}
