//! Who made what only its maker may be sent back: signatures and encrypted reasoning by fingerprint, and what a
//! caller's API could not hold, by conversation and tool call. In memory and bounded: after a restart such
//! reasoning is left out and listed, and the conversation goes on.

use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    hash::Hash,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use wire::{Content, Event, Kept, Member, Request, Seal};

/// Fingerprints and calls remembered: some hundred long conversations.
const SEALS: usize = 8_192;
const CALLS: usize = 512;

/// The reasoning kept for a call, in bytes: longer is not kept, half of it would mislead.
const THOUGHT: usize = 16 * 1024;

/// A conversation's id and a tool call's.
type Call = (String, String);

#[derive(Clone)]
pub(crate) struct Origins {
    known: Arc<Mutex<Known>>,
}

struct Known {
    makers: Recent<u64, Member>,
    calls: Recent<Call, (Member, Kept)>,
}

/// What a member is known to have made, and others: [`wire::Target`]'s `made`, `foreign` and `kept`.
#[derive(Default)]
pub(crate) struct Own {
    pub made: BTreeSet<u64>,
    pub foreign: BTreeSet<u64>,
    pub kept: BTreeMap<String, Kept>,
}

impl Origins {
    pub(crate) fn new() -> Origins {
        let known = Known { makers: Recent::new(SEALS), calls: Recent::new(CALLS) };
        Origins { known: Arc::new(Mutex::new(known)) }
    }

    /// What of the request this member made, and what others did; of a seal with an unknown maker nothing is said.
    /// `conversation` is `None` in a panel: it passes on no reasoning and no
    /// calls, so none is kept for it.
    pub(crate) fn own(&self, request: &Request, member: Member, conversation: Option<&str>) -> Own {
        let mut own = Own::default();
        // Nearly every request: nothing to look up, so no lock.
        if !request.parts().any(|part| is_bound(&part.content)) {
            return own;
        }
        let mut known = self.lock();
        for part in request.parts() {
            if let (Content::ToolCall(call), Some(conversation)) = (&part.content, conversation) {
                let key = (conversation.to_owned(), call.id.clone());
                let kept = known.calls.get(&key).filter(|(maker, _)| *maker == member);
                own.kept.extend(kept.map(|(_, kept)| (call.id.clone(), kept.clone())));
            }
            // A mark of ours says who made it; only the others are looked up.
            let seal = part.content.seal().filter(|seal| seal.origin.is_none());
            let Some(print) = seal.map(Seal::fingerprint) else { continue };
            match known.makers.get(&print) {
                Some(maker) if *maker == member => own.made.insert(print),
                Some(_) => own.foreign.insert(print),
                None => false,
            };
        }
        own
    }

    /// Listens to a member's answer in a conversation, event by event.
    pub(crate) fn listen(&self, member: Member, conversation: &str) -> Listening {
        let conversation = conversation.to_owned();
        Listening { origins: self.clone(), member, conversation, thought: String::new() }
    }

    fn lock(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn is_bound(content: &Content) -> bool {
    matches!(content, Content::Thinking(_) | Content::Redacted { .. } | Content::ToolCall(_))
}

/// One answer as it comes.
pub(crate) struct Listening {
    origins: Origins,
    member: Member,
    conversation: String,
    /// Since the last text: what led to the calls that follow.
    thought: String,
}

impl Listening {
    pub(crate) fn hear(&mut self, event: &Event) {
        match event {
            Event::Text(_) => self.thought.clear(),
            // One that is too long stays too long.
            Event::Thinking(text) if self.thought.len() <= THOUGHT => self.thought.push_str(text),
            Event::ThinkingSignature(seal) | Event::Redacted { seal, .. } => self.made(seal),
            Event::CallStart(call) => {
                if let Some(seal) = &call.signature {
                    self.made(seal);
                }
                let own = |seal: &Seal| Seal { data: seal.data.clone(), origin: Some(self.member) };
                let fits = !self.thought.is_empty() && self.thought.len() <= THOUGHT;
                let kept = Kept {
                    signature: call.signature.as_ref().map(own),
                    thinking: fits.then(|| self.thought.clone()),
                };
                if kept != Kept::default() {
                    let call = (self.conversation.clone(), call.id.clone());
                    self.origins.lock().calls.put(call, (self.member, kept));
                }
            }
            _ => {}
        }
    }

    fn made(&self, seal: &Seal) {
        self.origins.lock().makers.put(seal.fingerprint(), self.member);
    }
}

/// The most recently used entries, at most `most`: two halves, of which the older is let go when the younger is
/// full. What is looked up is young again.
struct Recent<K, V> {
    half: usize,
    young: HashMap<K, V>,
    old: HashMap<K, V>,
}

impl<K: Hash + Eq + Clone, V> Recent<K, V> {
    fn new(most: usize) -> Self {
        Recent { half: most / 2, young: HashMap::new(), old: HashMap::new() }
    }

    fn get(&mut self, key: &K) -> Option<&V> {
        if let Some(value) = self.old.remove(key) {
            self.put(key.clone(), value);
        }
        self.young.get(key)
    }

    fn put(&mut self, key: K, value: V) {
        self.old.remove(&key);
        if self.young.len() >= self.half && !self.young.contains_key(&key) {
            self.old = std::mem::take(&mut self.young);
        }
        self.young.insert(key, value);
    }
}

#[cfg(test)]
mod tests {
    use wire::{CallKind, CallStart, Message, Part, Role, Thinking, ToolCall};

    use super::*;

    const A: Member = Member(1);
    const B: Member = Member(2);

    fn assistant(parts: Vec<Content>) -> Request {
        let parts = parts.into_iter().map(Part::new).collect();
        Request { messages: vec![Message::new(Role::Assistant, parts)], ..Request::default() }
    }

    fn thought(data: &str) -> Content {
        Content::Thinking(Thinking { text: "t".to_owned(), signature: Some(Seal::new(data)) })
    }

    fn call(id: &str) -> Content {
        Content::ToolCall(ToolCall {
            id: id.to_owned(),
            name: "f".to_owned(),
            namespace: None,
            arguments: "{}".into(),
            kind: CallKind::Function,
            signature: None,
        })
    }

    fn started(id: &str, signature: Option<&str>) -> Event {
        let signature = signature.map(Seal::new);
        Event::CallStart(CallStart {
            id: id.to_owned(),
            name: "f".to_owned(),
            signature,
            ..CallStart::default()
        })
    }

    #[test]
    fn a_seal_is_its_makers_and_nobody_elses() {
        let origins = Origins::new();
        let mut answer = origins.listen(A, "c");
        answer.hear(&Event::ThinkingSignature(Seal::new("s")));
        answer.hear(&Event::Redacted { seal: Seal::new("r"), id: None });
        answer.hear(&started("x", Some("g")));
        let redacted = Content::Redacted { seal: Seal::new("r"), id: None };
        let request = assistant(vec![thought("s"), redacted, thought("unheard")]);
        let wanted = BTreeSet::from([Seal::new("s").fingerprint(), Seal::new("r").fingerprint()]);
        assert_eq!(origins.own(&request, A, None).made, wanted);
        assert!(origins.own(&request, A, None).foreign.is_empty());
        let others = origins.own(&request, B, None);
        assert_eq!((others.made, others.foreign), (BTreeSet::new(), wanted));
        let mut signed = call("y");
        if let Content::ToolCall(call) = &mut signed {
            call.signature = Some(Seal::new("g"));
        }
        assert_eq!(
            origins.own(&assistant(vec![signed]), A, None).made,
            BTreeSet::from([Seal::new("g").fingerprint()])
        );
    }

    #[test]
    fn what_led_to_a_call_is_kept_for_its_maker_in_its_conversation() {
        let origins = Origins::new();
        let mut answer = origins.listen(A, "c");
        answer.hear(&Event::Thinking("forgotten".to_owned()));
        answer.hear(&Event::Text("said".to_owned()));
        answer.hear(&Event::Thinking("be".to_owned()));
        answer.hear(&Event::Thinking("cause".to_owned()));
        answer.hear(&started("call_0", Some("g")));
        answer.hear(&started("call_1", None));
        origins.listen(A, "d").hear(&started("call_2", None));
        let request = assistant(vec![call("call_0"), call("call_1"), call("call_2"), call("call_9")]);
        let seal = Seal { data: "g".to_owned(), origin: Some(A) };
        let because = Some("because".to_owned());
        let wanted = BTreeMap::from([
            ("call_0".to_owned(), Kept { signature: Some(seal), thinking: because.clone() }),
            ("call_1".to_owned(), Kept { signature: None, thinking: because }),
        ]);
        assert_eq!(origins.own(&request, A, Some("c")).kept, wanted);
        for (member, conversation) in [(B, Some("c")), (A, Some("d")), (A, None)] {
            assert!(origins.own(&request, member, conversation).kept.is_empty());
        }
    }

    #[test]
    fn too_long_a_thought_is_not_kept() {
        let origins = Origins::new();
        let mut answer = origins.listen(A, "c");
        answer.hear(&Event::Thinking("x".repeat(THOUGHT + 1)));
        answer.hear(&started("a", None));
        assert!(origins.own(&assistant(vec![call("a")]), A, Some("c")).kept.is_empty());
    }

    #[test]
    fn what_is_used_stays_and_the_rest_is_let_go() {
        let mut recent = Recent::new(8);
        for key in 0..100 {
            recent.put(key, key);
            assert_eq!(recent.get(&0), Some(&0), "used each time, after {key}");
            assert!(recent.young.len() + recent.old.len() <= 8);
        }
        assert_eq!(recent.get(&50), None);
        assert_eq!(recent.get(&99), Some(&99));
        recent.put(99, 1);
        assert_eq!(recent.get(&99), Some(&1), "the last one counts");
    }
}
