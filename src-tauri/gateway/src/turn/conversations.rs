//! The conversations that may go on, in memory: whose each is, and the calls of its models. Rebuilt from the records
//! at start, so that a restart does not tear an agent's work from its model.

use std::{
    collections::{HashMap, HashSet},
    sync::{Mutex, MutexGuard, PoisonError},
};

use store::{OpenConversation, Store, StoreError};

use crate::{
    clock::rfc3339,
    records::conversations::at_rest,
    view::{ConversationView, RoutedCall, TurnStatus},
};

/// Conversations looked up at start, the newest.
const MOST: u32 = 20_000;
/// So many may be known before those that are over are let go.
const TIDY_AT: usize = 1_024;

/// Its plain lock is held while a turn is placed, never across an await.
#[derive(Default)]
pub(crate) struct Conversations {
    known: Mutex<Known>,
}

#[derive(Default)]
pub(crate) struct Known {
    by_key: HashMap<String, Conversation>,
    tidy_at: usize,
}

/// One conversation.
pub(crate) struct Conversation {
    pub view: ConversationView,
    /// When it began, and when it was last at work: ms since 1970.
    pub at_ms: i64,
    last_ms: i64,
    /// Turns on their way.
    open: u32,
    /// The first choice of a turn that is on its way while nobody has answered yet: a second first turn goes there too.
    leaning: Option<String>,
    /// Calls that the records have.
    recorded: HashSet<String>,
    /// How many shadows it has.
    shadows: u32,
}

impl Conversations {
    /// Blocks.
    pub(crate) fn load(store: &Store, since_ms: i64) -> Result<Conversations, StoreError> {
        let mut known = Known::default();
        for open in store.open_conversations(since_ms, MOST)? {
            // Newest first: an older one with the same key is over.
            known.by_key.entry(open.row.key.clone()).or_insert_with(|| Conversation::of(open));
        }
        Ok(Conversations { known: Mutex::new(known) })
    }

    pub(crate) fn lock(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Known {
    /// The conversation of this key, if it has been at work within `idle_ms`; else a new one.
    pub(crate) fn at_work(
        &mut self,
        key: &str,
        now_ms: i64,
        idle_ms: i64,
        new: impl FnOnce() -> ConversationView,
    ) -> &mut Conversation {
        if self.by_key.len() >= self.tidy_at.max(TIDY_AT) {
            self.by_key.retain(|_, it| !it.is_over(now_ms, idle_ms));
            self.tidy_at = self.by_key.len() * 2;
        }
        let entry = self.by_key.entry(key.to_owned());
        let it = entry.or_insert_with(|| Conversation::new(new(), now_ms));
        it.last_ms = it.last_ms.max(now_ms);
        it
    }

    pub(crate) fn get(&mut self, key: &str) -> Option<&mut Conversation> {
        self.by_key.get_mut(key)
    }

    /// Ends a conversation that nobody has gone on with for `idle_ms`.
    pub(crate) fn end_if_over(&mut self, key: &str, now_ms: i64, idle_ms: i64) {
        if self.by_key.get(key).is_some_and(|it| it.is_over(now_ms, idle_ms)) {
            self.by_key.remove(key);
        }
    }

    /// A model has a new alias: its conversations stay its own.
    pub(crate) fn renamed(&mut self, from: &str, to: &str) {
        for it in self.by_key.values_mut() {
            let of_calls = it.view.calls.iter_mut().map(|call| &mut call.alias);
            let all = of_calls.chain([&mut it.view.alias]).chain(it.leaning.as_mut());
            all.filter(|alias| *alias == from).for_each(|alias| to.clone_into(alias));
        }
    }

    /// Turns on their way.
    pub(crate) fn running(&self) -> usize {
        self.by_key.values().map(|it| it.open as usize).sum()
    }
}

impl Conversation {
    fn new(view: ConversationView, now_ms: i64) -> Conversation {
        Conversation {
            view,
            at_ms: now_ms,
            last_ms: now_ms,
            open: 0,
            leaning: None,
            recorded: HashSet::new(),
            shadows: 0,
        }
    }

    fn of(open: OpenConversation) -> Conversation {
        let OpenConversation { row, last_at_ms, turns, totals, calls, shadows } = open;
        let recorded = calls.iter().map(|(call, _)| call.clone()).collect();
        let call = |(call, alias): (String, String)| RoutedCall {
            call,
            alias,
            endpoint: String::new(),
            shadow: false,
            turn: None,
            status: TurnStatus::Ok,
            answer: String::new(),
            verdict: None,
        };
        let at_ms = row.at_ms;
        let calls = calls.into_iter().map(call).collect();
        let view = ConversationView { calls, ..at_rest(row, last_at_ms, turns, totals) };
        Conversation { at_ms, recorded, shadows, ..Conversation::new(view, last_at_ms) }
    }

    fn is_over(&self, now_ms: i64, idle_ms: i64) -> bool {
        self.open == 0 && now_ms - self.last_ms > idle_ms
    }

    /// Whose it is, or will be when the turn that is on its way goes well.
    pub(crate) fn kept(&self) -> Option<&str> {
        match self.view.alias.as_str() {
            "" => self.leaning.as_deref(),
            alias => Some(alias),
        }
    }

    /// A turn begins, with this member first; its number, from 1.
    pub(crate) fn begin(&mut self, first: &str, now_ms: i64) -> u32 {
        self.open += 1;
        self.leaning = Some(first.to_owned());
        self.view.turns += 1;
        self.view.running = true;
        self.view.last_at = rfc3339(now_ms);
        self.view.turns
    }

    /// A member answers: the conversation is its own from here on. The call of its work in it.
    pub(crate) fn answered(&mut self, alias: &str, endpoint: &str) -> String {
        alias.clone_into(&mut self.view.alias);
        let own = |it: &&RoutedCall| it.alias == alias && !it.shadow;
        if let Some(call) = self.view.calls.iter().find(own) {
            return call.call.clone();
        }
        let nth = self.view.calls.iter().filter(|it| !it.shadow).count() + 1;
        let call = format!("{}.{nth}", self.view.id);
        self.view.calls.push(RoutedCall {
            call: call.clone(),
            alias: alias.to_owned(),
            endpoint: endpoint.to_owned(),
            shadow: false,
            turn: None,
            status: TurnStatus::Running,
            answer: String::new(),
            verdict: None,
        });
        call
    }

    /// The next id of a shadow beside a call.
    pub(crate) fn shadow(&mut self, call: &str) -> String {
        self.shadows += 1;
        format!("{call}.s{}", self.shadows)
    }

    /// A turn is over. Whether its call is a new one for the records.
    pub(crate) fn ended(&mut self, call: &str, now_ms: i64) -> bool {
        self.open = self.open.saturating_sub(1);
        self.view.running = self.open > 0;
        self.view.last_at = rfc3339(now_ms);
        self.last_ms = self.last_ms.max(now_ms);
        if self.open == 0 {
            self.leaning = None;
        }
        !call.is_empty() && self.recorded.insert(call.to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOUR: i64 = 3_600_000;

    fn view(id: &str) -> ConversationView {
        let row = store::ConversationRow { id: id.to_owned(), ..store::ConversationRow::default() };
        let totals = store::Totals::default();
        let open = OpenConversation { row, last_at_ms: 0, turns: 0, totals, calls: Vec::new(), shadows: 0 };
        Conversation::of(open).view
    }

    #[test]
    fn two_first_turns_at_once_share_one_conversation_and_one_model() {
        let mut known = Known::default();
        let first = known.at_work("k", 0, HOUR, || view("a"));
        assert_eq!(first.kept(), None);
        assert_eq!(first.begin("alpha", 0), 1);
        let second = known.at_work("k", 1, HOUR, || view("b"));
        assert_eq!((second.view.id.as_str(), second.kept()), ("a", Some("alpha")));
        assert_eq!(second.begin("alpha", 1), 2);
        assert_eq!(known.running(), 2);
        // The first choice failed: whoever answers has the conversation.
        let it = known.get("k").unwrap();
        assert_eq!(it.answered("beta", "fake"), "a.1");
        assert_eq!(it.kept(), Some("beta"));
        assert_eq!((it.answered("beta", "fake"), it.answered("alpha", "fake")), ("a.1".into(), "a.2".into()));
        assert!(it.ended("a.1", 2), "it is new to the records");
        assert!(!it.ended("a.1", 3), "and then it is not");
        assert_eq!((known.running(), known.get("k").unwrap().view.running), (0, false));
    }

    #[test]
    fn a_turn_that_nobody_answered_leaves_no_model_behind() {
        let mut known = Known::default();
        known.at_work("k", 0, HOUR, || view("a")).begin("alpha", 0);
        let it = known.get("k").unwrap();
        assert!(!it.ended("", 1));
        assert_eq!(it.kept(), None);
    }

    #[test]
    fn an_hour_without_a_turn_ends_it() {
        let mut known = Known::default();
        let it = known.at_work("k", 0, HOUR, || view("a"));
        it.begin("alpha", 0);
        it.answered("alpha", "fake");
        known.end_if_over("k", 2 * HOUR, HOUR);
        assert!(known.get("k").is_some(), "a turn that takes long is no silence");
        known.get("k").unwrap().ended("a.1", 2 * HOUR);
        known.end_if_over("k", 3 * HOUR, HOUR);
        assert!(known.get("k").is_some(), "an hour to the millisecond is still within it");
        known.end_if_over("k", 3 * HOUR + 1, HOUR);
        assert_eq!(known.at_work("k", 3 * HOUR + 1, HOUR, || view("b")).view.id, "b");
    }

    #[test]
    fn those_that_are_over_are_let_go_as_new_ones_come() {
        let mut known = Known::default();
        for n in 0..10_000_i64 {
            known.at_work(&n.to_string(), n * 60_000, HOUR, || view("x"));
        }
        assert!(known.by_key.len() <= TIDY_AT * 2, "{}", known.by_key.len());
        assert!(known.get("9999").is_some() && known.get("9950").is_some());
    }
}
